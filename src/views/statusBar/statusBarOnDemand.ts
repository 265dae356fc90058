import type { LogOutputChannel } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import { OnDemand } from '../common/onDemand.ts';
import type { ActiveRun } from '../folders/activeRun.ts';
import type { ActiveStories } from '../folders/activeStories.ts';

interface StatusBar extends Disposable {
  /** A person has viewed the run. */
  noteLook(): void;
}

/** The status bar, loaded when a run or a story file has been read: before that, it has nothing to show. */
export function statusBarOnDemand(
  runs: ActiveRun,
  stories: ActiveStories,
  log: LogOutputChannel,
): StatusBar {
  const store = new DisposableStore();
  const bar = store.add(
    new OnDemand(
      [],
      async () => {
        const { RunStatusBar } = await import('./runStatusBar.ts');
        return () => new RunStatusBar(runs, stories);
      },
      log,
    ),
  );
  store.add(runs.onDidChange(() => bar.getSoon()));
  store.add(stories.onDidChange(() => bar.getSoon()));
  return {
    dispose: () => store.dispose(),
    noteLook: () => {
      bar.get().then(
        shown => shown.noteLook(),
        (error: unknown) => log.error(String(error)),
      );
    },
  };
}
