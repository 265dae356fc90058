import { Disposable, type LogOutputChannel, type Memento, workspace } from 'vscode';
import { Command } from '../common/contributions.ts';
import { OnDemand } from '../common/onDemand.ts';
import type { Folders } from '../folders/folders.ts';
import type { StoriesView } from '../stories/storiesView.ts';
import type { Steering } from './steering.ts';

/**
 * Starting and controlling runs, loaded by the first command, or when a feature needs to know about Claude Code.
 * @param program `dist/cli.js` of this extension
 * @param onLook called when a person has viewed the state of a run
 * @param state the workspace's state
 */
export function steeringOnDemand(
  folders: Folders,
  program: string,
  onLook: () => void,
  state: Memento,
  log: LogOutputChannel,
): OnDemand<Steering> {
  return new OnDemand(
    [
      Command.startRun,
      Command.startLanes,
      Command.changeLanes,
      Command.runStory,
      Command.stopRun,
      Command.stopAfterIteration,
      Command.pauseRun,
      Command.resumeRun,
      Command.stopStory,
      Command.pauseStory,
      Command.continueStory,
      Command.continueLane,
      Command.skipStory,
      Command.resetStory,
      Command.giveHint,
      Command.answerQuestion,
      Command.showRunActions,
      Command.openWalkthrough,
      Command.checkClaude,
      Command.chooseChecks,
      Command.createStoryFile,
      Command.convertStories,
      Command.useGithubIssues,
    ],
    async () => {
      const { steering } = await import('./steering.ts');
      return () => steering(folders, program, onLook, state, log);
    },
    log,
  );
}

/** Searches for Claude Code when a person sees the stories and the workspace is trusted, now or later. */
export function claudeWhenSeen(
  stories: StoriesView,
  steering: OnDemand<Steering>,
  log: LogOutputChannel,
): Disposable {
  const look = () => {
    if (stories.isVisible && workspace.isTrusted) {
      steering.get().then(
        ({ claude }) => claude.lookSoon(),
        (error: unknown) => log.error(String(error)),
      );
    }
  };
  return Disposable.from(
    stories.onDidChangeVisibility(look),
    workspace.onDidGrantWorkspaceTrust(look),
  );
}
