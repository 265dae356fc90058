import { type LogOutputChannel, workspace } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import type { OnDemand } from '../common/onDemand.ts';
import type { StoriesView } from '../stories/storiesView.ts';
import type { Steering } from './steering.ts';

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
  const store = new DisposableStore();
  store.add(stories.onDidChangeVisibility(look));
  store.add(workspace.onDidGrantWorkspaceTrust(look));
  return store;
}
