import path from 'node:path';
import { commands, type LogOutputChannel, l10n, window } from 'vscode';
import { HumanError } from '../../base/humanError.ts';
import { sentence } from '../../base/text.ts';
import { lackOf, runStanding } from '../../orchestrator/journal/runStanding.ts';
import { isAllDone } from '../../orchestrator/loop/isAllDone.ts';
import { requireWritableState } from '../../orchestrator/preconditions/state.ts';
import { readStoryList } from '../../orchestrator/stories/storyFile.ts';
import { launchRun } from '../../orchestrator/workspace/launch.ts';
import { livingRun } from '../../orchestrator/workspace/livingRun.ts';
import { runEnd } from '../../presentation/runEnd.ts';
import { leftToDo, nothingToRun, outcomeSentence } from '../../presentation/sentences.ts';
import type { ConfigValue } from '../common/configValue.ts';
import { Command, View } from '../common/contributions.ts';
import { FixableError } from '../common/errors.ts';
import { plainSentence } from '../common/plainText.ts';
import { translate } from '../common/translate.ts';
import { requireTrust } from '../common/workspaceFolder.ts';
import type { Folder } from '../folders/folder.ts';
import type { RunSettings } from '../settings/runSettings.ts';
import { runEnvironment } from '../setup/githubSession.ts';
import { runArguments } from './runArguments.ts';
import { storyFileOf } from './storyFileOf.ts';

/**
 * Starts a run, or continues the last one if it was interrupted. Does nothing if one is running as it was asked for.
 * @param onlyStories ids of the stories to work on; all if absent
 * @param lanes number of agents at once; as set if absent
 * @returns whether a run is running now; if not, the person has been told why
 * @throws {HumanError} if it cannot start, with the next step
 */
export type StartRun = (
  folder: Folder,
  onlyStories?: readonly string[],
  lanes?: number,
) => Promise<boolean>;

/**
 * Starts the loop, which is a separate process that outlives this window.
 * @param program `dist/cli.js` of this extension
 * @param requireAgent throws an error with a button if the agent is not available
 */
export function runStarter(
  settings: RunSettings,
  onLastWindowClosed: ConfigValue<'onLastWindowClosed'>,
  program: string,
  requireAgent: (folder: Folder) => Promise<void>,
  log: LogOutputChannel,
): StartRun {
  /** Pending starts, so that two clicks cause one start. */
  const starting = new Map<Folder, { readonly wish: string; readonly result: Promise<boolean> }>();

  async function launch(
    folder: Folder,
    onlyStories: readonly string[] | undefined,
    lanes: number | undefined,
  ): Promise<boolean> {
    requireTrust();
    const { files } = folder;
    if ((await livingRun(files)) !== undefined) {
      await folder.runs.refresh();
      requireAsWished(folder, onlyStories, lanes);
      return true;
    }
    const storyFile = await storyFileOf(folder);
    if (storyFile.path === undefined) {
      throw new FixableError(
        l10n.t(
          'There is no list of stories in this folder: no prd.json, no plan, and no list of another tool.',
        ),
        l10n.t('Create a Story File'),
        Command.createStoryFile,
        { folder: folder.path },
      );
    }
    if (onlyStories === undefined && (await isNothingLeft(storyFile.path, folder))) {
      return false;
    }
    await requireAgent(folder);
    const storyFilePath = storyFile.path;
    const args = runArguments(settings.runArguments(folder.path), {
      onLastWindow: onLastWindowClosed.value,
      file: storyFile.isChosen ? path.relative(folder.path, storyFile.path) : undefined,
      lanes: lanes ?? (onlyStories === undefined ? chosenLanes(folder) : undefined),
      onlyStories,
    });
    log.info(`Starting a run in ${folder.path}: ${args.join(' ')}`);
    const launched = await window.withProgress({ location: { viewId: View.stories } }, async () => {
      await requireWritableState(files);
      const env = await runEnvironment(folder.path, storyFilePath);
      return launchRun({ files, program, args, env });
    });
    await folder.runs.refresh();
    if (launched.kind === 'nothingToDo') {
      // Somebody has ticked the stories that were open a moment ago.
      void window.showInformationMessage(
        l10n.t('The stories to run are already done. Mark them as not done, and start again.'),
      );
      return false;
    }
    if (launched.kind === 'ended') {
      // It ended before its first agent, so there is no running loop to show.
      const { state } = launched;
      const end = { ...runEnd(state, state.outcome ?? 'error'), uncommitted: undefined };
      const { good, text } = outcomeSentence(end, translate, 'window');
      if (!good || lackOf(state) !== undefined) {
        throw new HumanError([sentence(text), ...leftToDo(state, false, translate)].join(' '));
      }
    }
    log.info(`Run ${launched.runId} has started`);
    return true;
  }

  /** Informs the person if there is nothing left to do. */
  async function isNothingLeft(storyFile: string, { runs }: Folder): Promise<boolean> {
    const file = await readStoryList(storyFile);
    const { state } = runs.current;
    if (file === undefined || !isAllDone(file, state)) {
      return false;
    }
    const open = l10n.t('Open the Story File');
    void window
      .showInformationMessage(plainSentence(nothingToRun(file, state, translate)), open)
      .then(choice =>
        choice === open ? commands.executeCommand(Command.openStoryFile) : undefined,
      );
    return true;
  }

  return async (folder, onlyStories, lanes) => {
    const wish = JSON.stringify([onlyStories, lanes]);
    for (;;) {
      const before = starting.get(folder);
      if (before === undefined) {
        break;
      }
      if (before.wish === wish) {
        return before.result;
      }
      // What it started is compared with this wish then. Its failure is told where it was asked for.
      await before.result.catch(() => undefined);
    }
    const result = launch(folder, onlyStories, lanes).finally(() => starting.delete(folder));
    starting.set(folder, { wish, result });
    return result;
  };
}

/** The number of agents that a person has chosen for a run which continues: more recent than the setting. */
function chosenLanes({ runs }: Folder): number | undefined {
  const { lanesChosen, outcome } = runs.current.state;
  return outcome === 'completed' ? undefined : lanesChosen;
}

/** @throws {HumanError} if the active run is not the one that a person has chosen to start, with the next step */
function requireAsWished(
  folder: Folder,
  onlyStories: readonly string[] | undefined,
  lanes: number | undefined,
): void {
  if (onlyStories !== undefined) {
    throw new HumanError(
      l10n.t('A run is active in this folder. Stop it first, then run this story.'),
    );
  }
  const { current } = folder.runs;
  const { isolated, lanes: now } = current.state;
  if (lanes === undefined || lanes === now || !runStanding(current).isActive) {
    return;
  }
  if (isolated !== true) {
    throw new HumanError(
      l10n.t(
        'A run with one agent in your work tree is active. Stop it first, then start with several agents.',
      ),
    );
  }
  throw new FixableError(
    l10n.t('A run is active already, with another number of agents than you chose.'),
    l10n.t('Change the Number of Agents…'),
    Command.changeLanes,
    { folder: folder.path },
  );
}
