import { commands, l10n, window } from 'vscode';
import type { Disposable } from '../../orchestrator/emitter.ts';
import type { RunOutcome } from '../../orchestrator/run/events.ts';
import { phaseOf } from '../../orchestrator/run/runPhase.ts';
import type { WatchedRun } from '../../orchestrator/run/runWatcher.ts';
import { outcomeSentence, runEnd } from '../../presentation/sentences.ts';
import { Command, View } from '../contributions.ts';
import { DisposableStore } from '../disposableStore.ts';
import type { ActiveRun } from '../folders/activeRun.ts';
import { plainSentence } from '../plainSentence.ts';

/** Ends that are neither good nor a fault. */
const WARNINGS: ReadonlySet<RunOutcome> = new Set(['maxIterations', 'budget', 'stuck']);

/** Tells that a run has ended, once, and only when this window saw it running. */
export class RunNotifications implements Disposable {
  private readonly store = new DisposableStore();
  /** The run that was seen running. */
  private seenRunning: string | undefined;

  constructor(model: ActiveRun) {
    this.store.add(model.onDidChange(run => void this.update(run)));
  }

  dispose(): void {
    this.store.dispose();
  }

  private async update(run: WatchedRun): Promise<void> {
    const phase = phaseOf(run);
    if (phase === 'running' || phase === 'stopping') {
      this.seenRunning = run.runId;
      return;
    }
    if (phase === 'none' || run.runId === undefined || run.runId !== this.seenRunning) {
      return;
    }
    this.seenRunning = undefined;
    const { state } = run;
    const outcome = phase === 'interrupted' ? 'interrupted' : (state.outcome ?? 'error');
    if (outcome === 'stopped') {
      // The person who stopped it knows.
      return;
    }
    const { stories } = state;
    const sentence =
      outcome === 'completed'
        ? l10n.t('Ralph is done: {0} of {1} stories.', stories.done, stories.total)
        : outcomeSentence(runEnd(state, outcome), l10n.t, 'window').text;
    const message = plainSentence(sentence);
    const showStories = l10n.t('Show Stories');
    const runAgain = l10n.t('Run Again');
    const choice =
      outcome === 'completed'
        ? await window.showInformationMessage(message, showStories)
        : WARNINGS.has(outcome)
          ? await window.showWarningMessage(message, runAgain, showStories)
          : await window.showErrorMessage(message, runAgain, showStories);
    if (choice === showStories) {
      await commands.executeCommand(`${View.stories}.focus`);
    } else if (choice === runAgain) {
      await commands.executeCommand(Command.startRun);
    }
  }
}
