import { Disposable } from 'vscode';
import { runStanding } from '../../orchestrator/journal/runStanding.ts';
import { isAllDone } from '../../orchestrator/loop/isAllDone.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import { ContextKeyValue } from '../common/contextKey.ts';
import { ContextKey } from '../common/contributions.ts';
import type { ActiveRun } from '../folders/activeRun.ts';
import type { ActiveStories } from '../folders/activeStories.ts';

/** Sets the context keys for the state of the active folder's run, so that only fitting commands are offered. */
export function runContextKeys(runs: ActiveRun, stories: ActiveStories): Disposable {
  const anyRun = new ContextKeyValue<'none' | 'some'>(ContextKey.runs);
  const running = new ContextKeyValue<boolean>(ContextKey.running);
  const runState = new ContextKeyValue<string>(ContextKey.runState);
  const pauseRequested = new ContextKeyValue<boolean>(ContextKey.pauseRequested);
  const lanes = new ContextKeyValue<boolean>(ContextKey.lanes);
  const hasQuestion = new ContextKeyValue<boolean>(ContextKey.question);
  const isolated = new ContextKeyValue<boolean>(ContextKey.isolated);
  const settling = new ContextKeyValue<boolean>(ContextKey.settling);
  const allDone = new ContextKeyValue<boolean>(ContextKey.allDone);

  function update(run: WatchedRun): void {
    // A story that was ticked before any run has a journal, too, but without a run.
    const hasBegun = run.alive || run.state.startedAt !== undefined;
    const { isActive, phase, question, waiting } = runStanding(run);
    anyRun.set(hasBegun ? 'some' : 'none');
    running.set(run.alive);
    runState.set(isActive ? (phase === 'running' && waiting ? 'waiting' : phase) : 'idle');
    pauseRequested.set(run.alive && run.state.pauseRequested);
    lanes.set(isActive && run.state.isolated === true);
    isolated.set(run.state.isolated === true);
    settling.set([...run.state.storyNotes.values()].some(notes => notes.settling !== undefined));
    hasQuestion.set(question !== undefined);
  }

  const updateAllDone = () => allDone.set(isAllDone(stories.current, runs.current.state));
  return Disposable.from(
    runs.onDidChange(run => {
      update(run);
      updateAllDone();
    }),
    stories.onDidChange(updateAllDone),
  );
}
