import type { Disposable } from '../../base/emitter.ts';
import { runStanding } from '../../orchestrator/journal/runStanding.ts';
import { isAllDone } from '../../orchestrator/loop/isAllDone.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import { ContextKeyValue } from '../common/contextKey.ts';
import { ContextKey } from '../common/contributions.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import type { ActiveRun } from '../folders/activeRun.ts';
import type { ActiveStories } from '../folders/activeStories.ts';

/** Sets the context keys for the state of the active folder's run, so that only fitting commands are offered. */
export class RunContextKeys implements Disposable {
  private readonly store = new DisposableStore();
  private readonly runs = new ContextKeyValue<'none' | 'some'>(ContextKey.runs);
  private readonly running = new ContextKeyValue<boolean>(ContextKey.running);
  private readonly runState = new ContextKeyValue<string>(ContextKey.runState);
  private readonly pauseRequested = new ContextKeyValue<boolean>(ContextKey.pauseRequested);
  private readonly question = new ContextKeyValue<boolean>(ContextKey.question);
  private readonly allDone = new ContextKeyValue<boolean>(ContextKey.allDone);

  constructor(runs: ActiveRun, stories: ActiveStories) {
    const updateAllDone = () => this.allDone.set(isAllDone(stories.current, runs.current.state));
    this.store.add(
      runs.onDidChange(run => {
        this.update(run);
        updateAllDone();
      }),
    );
    this.store.add(stories.onDidChange(updateAllDone));
  }

  dispose(): void {
    this.store.dispose();
  }

  private update(run: WatchedRun): void {
    // A story that was ticked before any run has a journal, too, but without a run.
    const hasBegun = run.alive || run.state.startedAt !== undefined;
    const { isActive, phase, question, waiting } = runStanding(run);
    this.runs.set(hasBegun ? 'some' : 'none');
    this.running.set(run.alive);
    this.runState.set(isActive ? (phase === 'running' && waiting ? 'waiting' : phase) : 'idle');
    this.pauseRequested.set(run.alive && run.state.pauseRequested);
    this.question.set(question !== undefined);
  }
}
