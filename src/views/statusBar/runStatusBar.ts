import {
  l10n,
  MarkdownString,
  StatusBarAlignment,
  type StatusBarItem,
  ThemeColor,
  window,
} from 'vscode';
import { assertNever } from '../../orchestrator/assertNever.ts';
import type { Disposable } from '../../orchestrator/emitter.ts';
import { phaseOf } from '../../orchestrator/run/runPhase.ts';
import type { RunState, Waiting } from '../../orchestrator/run/runState.ts';
import type { WatchedRun } from '../../orchestrator/run/runWatcher.ts';
import { shorten } from '../../orchestrator/text.ts';
import { clock, outcomeSentence, runEnd, waitingSentence } from '../../presentation/sentences.ts';
import { Command, View } from '../contributions.ts';
import { DisposableStore } from '../disposableStore.ts';
import type { ActiveRun } from '../folders/activeRun.ts';
import type { ActiveStories } from '../folders/activeStories.ts';

/** One item that tells how the run stands; hidden where there has been none. */
export class RunStatusBar implements Disposable {
  private readonly store = new DisposableStore();
  private readonly item: StatusBarItem;
  private readonly stories: ActiveStories;

  constructor(model: ActiveRun, stories: ActiveStories) {
    this.stories = stories;
    this.item = this.store.add(
      window.createStatusBarItem('ralphFresh.run', StatusBarAlignment.Left, 10),
    );
    this.item.name = l10n.t('Ralph Run');
    this.store.add(model.onDidChange(run => this.update(run)));
    this.store.add(stories.onDidChange(() => this.update(model.current)));
  }

  dispose(): void {
    this.store.dispose();
  }

  private update(run: WatchedRun): void {
    const phase = phaseOf(run);
    const state = this.withCurrentCount(run.state);
    const { item } = this;
    if (phase === 'none') {
      item.hide();
      return;
    }
    const running = phase === 'running' || phase === 'stopping';
    const words = running ? runningWords(state, phase) : endedWords(state, phase);
    item.text = `$(${icon(state, phase)}) ${words}`;
    item.accessibilityInformation = { label: words };
    item.command = running ? Command.showTerminal : `${View.stories}.focus`;
    item.backgroundColor = needsPerson(state, running)
      ? new ThemeColor('statusBarItem.errorBackground')
      : undefined;
    item.tooltip = tooltip(state, phase, running);
    item.show();
  }

  /** Counted in the file where it can be: a person may have ticked since the run last looked. */
  private withCurrentCount(state: RunState): RunState {
    const file = this.stories.current;
    if (file?.kind !== 'stories') {
      return state;
    }
    const done = file.stories.filter(story => story.done).length;
    return { ...state, stories: { done, total: file.stories.length } };
  }
}

/** It can only go on when a person does something now. */
function needsPerson({ outcome, waiting }: RunState, running: boolean): boolean {
  return running
    ? waiting?.kind === 'pause' && waiting.reason !== 'person'
    : outcome === 'needsHuman' || outcome === 'error';
}

function runningWords(state: RunState, phase: 'running' | 'stopping'): string {
  if (phase === 'running' && state.waiting) {
    return waitingWords(state.waiting, `${state.stories.done}/${state.stories.total}`);
  }
  const { current, stories, iteration, maxIterations } = state;
  const story = current?.storyId === undefined ? '' : ` ${plain(current.storyId)}`;
  const words = l10n.t(
    'Ralph{0} · {1}/{2} · iteration {3}/{4}',
    story,
    stories.done,
    stories.total,
    iteration,
    maxIterations,
  );
  return phase === 'stopping' ? l10n.t('{0} · stopping', words) : words;
}

function waitingWords(waiting: Waiting, count: string): string {
  if (waiting.kind === 'limit') {
    const until = Date.parse(waiting.until);
    return Number.isNaN(until)
      ? l10n.t('Ralph waits for the usage limit · {0}', count)
      : l10n.t('Ralph waits until {0} · {1}', clock(until, Date.now()), count);
  }
  switch (waiting.reason) {
    case 'person':
      return l10n.t('Ralph paused · {0}', count);
    case 'question':
      return l10n.t('Ralph asks you · {0}', count);
    case 'stuck':
      return l10n.t('Ralph is stuck · {0}', count);
    default:
      return assertNever(waiting.reason);
  }
}

function endedWords(state: RunState, phase: 'ended' | 'interrupted'): string {
  const count = `${state.stories.done}/${state.stories.total}`;
  if (phase === 'interrupted') {
    return l10n.t('Ralph interrupted · {0}', count);
  }
  switch (state.outcome) {
    case 'completed':
      return l10n.t('Ralph done · {0}', count);
    case 'needsHuman':
      return l10n.t('Ralph needs you · {0}', count);
    case 'maxIterations':
      return l10n.t('Ralph at its iteration limit · {0}', count);
    case 'noReadyStory':
      return l10n.t('Ralph has no ready story · {0}', count);
    case 'stuck':
      return l10n.t('Ralph is stuck · {0}', count);
    case 'budget':
      return l10n.t('Ralph at its budget · {0}', count);
    case 'stopped':
      return l10n.t('Ralph stopped · {0}', count);
    case 'interrupted':
      return l10n.t('Ralph interrupted · {0}', count);
    case 'error':
    case undefined:
      return l10n.t('Ralph failed · {0}', count);
    default:
      return assertNever(state.outcome);
  }
}

function icon(state: RunState, phase: 'running' | 'stopping' | 'ended' | 'interrupted'): string {
  if (phase === 'running' || phase === 'stopping') {
    return phase === 'running' && state.waiting ? waitingIcon(state.waiting) : 'sync~spin';
  }
  if (phase === 'interrupted') {
    return 'debug-disconnect';
  }
  switch (state.outcome) {
    case 'completed':
      return 'pass';
    case 'needsHuman':
      return 'bell-dot';
    case 'error':
      return 'error';
    case 'stuck':
      return 'warning';
    default:
      return 'debug-pause';
  }
}

function waitingIcon(waiting: Waiting): string {
  if (waiting.kind === 'limit') {
    return 'watch';
  }
  return waiting.reason === 'person' ? 'debug-pause' : 'bell-dot';
}

function tooltip(state: RunState, phase: string, running: boolean): MarkdownString {
  const text = new MarkdownString();
  text.isTrusted = { enabledCommands: [Command.startRun, Command.stopRun, Command.showTerminal] };
  const { current, waiting } = state;
  if (running && waiting) {
    text.appendText(
      shorten(waitingSentence(waiting, l10n.t, { now: Date.now(), door: 'window' }), 600),
    );
  } else if (running && current?.storyId !== undefined) {
    text.appendMarkdown('**').appendText(`${current.storyId} ${current.storyTitle ?? ''}`);
    text.appendMarkdown('**\n\n').appendText(shorten(current.activity ?? '', 120));
  } else if (state.outcome !== undefined || phase === 'interrupted') {
    const outcome = state.outcome ?? 'interrupted';
    text.appendText(outcomeSentence(runEnd(state, outcome), l10n.t, 'window').text);
  }
  if (state.costUsd > 0) {
    text
      .appendMarkdown('\n\n')
      .appendText(l10n.t('Cost so far: {0}', `$${state.costUsd.toFixed(2)}`));
  }
  text.appendMarkdown('\n\n---\n\n');
  text.appendMarkdown(
    running
      ? `[${l10n.t('Show Terminal')}](command:${Command.showTerminal}) · [${l10n.t('Stop')}](command:${Command.stopRun})`
      : `[${l10n.t('Start Fresh Run')}](command:${Command.startRun})`,
  );
  return text;
}

/** A status bar text draws `$(name)` as an icon; a story's id is not to. */
function plain(text: string): string {
  return shorten(text, 40).replaceAll('$(', '$ (');
}
