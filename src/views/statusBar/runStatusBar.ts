import {
  l10n,
  MarkdownString,
  StatusBarAlignment,
  type StatusBarItem,
  ThemeColor,
  window,
  workspace,
} from 'vscode';
import { shorten } from '../../base/text.ts';
import { atWork } from '../../orchestrator/journal/atWork.ts';
import { runStanding } from '../../orchestrator/journal/runStanding.ts';
import { isAllDone } from '../../orchestrator/loop/isAllDone.ts';
import type { StoryFile } from '../../orchestrator/stories/story.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import {
  completedWords,
  outcomeSentence,
  runEnd,
  waitingSentence,
} from '../../presentation/sentences.ts';
import { withFileCount } from '../../presentation/storyCount.ts';
import { costWords, dollars } from '../../presentation/translate.ts';
import { heldSentence, stepWords } from '../../presentation/workWords.ts';
import { Command } from '../common/contributions.ts';
import { Owner } from '../common/disposableStore.ts';
import { appendWords } from '../common/plainText.ts';
import { translate } from '../common/translate.ts';
import { MANAGE_TRUST } from '../common/workspaceFolder.ts';
import type { ActiveRun } from '../folders/activeRun.ts';
import type { ActiveStories } from '../folders/activeStories.ts';
import { answerLabel, fittingActions, type RunAction } from '../run/fittingActions.ts';
import { statusWords, type Urgency } from './statusWords.ts';

/** The only commands that a link of the tooltip may run. */
const LINKED = [
  Command.startRun,
  Command.stopRun,
  Command.resumeRun,
  Command.answerQuestion,
  Command.openRunChanges,
  Command.showTerminal,
  Command.showProgress,
  MANAGE_TRUST,
];

/** Running stories that the tooltip names. */
const MAX_STORIES = 8;

/** One item that shows the state of the active folder's run, or how many stories wait for one; hidden without any. */
export class RunStatusBar extends Owner {
  private readonly item: StatusBarItem;
  private readonly model: ActiveRun;
  private readonly stories: ActiveStories;
  /** The cause that a person has viewed; it needs no more attention. */
  private seen: string | undefined;

  constructor(model: ActiveRun, stories: ActiveStories) {
    super();
    this.model = model;
    this.stories = stories;
    this.item = this.own(window.createStatusBarItem('ralphFresh.run', StatusBarAlignment.Left, 10));
    this.item.name = l10n.t('Ralph Run');
    this.item.command = Command.showRunActions;
    // The loop reports a usage limit once a minute, which updates the countdown.
    this.own(model.onDidChange(() => this.update()));
    this.own(stories.onDidChange(() => this.update()));
    this.own(workspace.onDidGrantWorkspaceTrust(() => this.update()));
  }

  /** A person has viewed the run: its current state needs no color anymore. */
  noteLook(): void {
    this.seen = this.words()?.cause;
    this.update();
  }

  private words() {
    const { current, folder } = this.model;
    const run = withFileCount(current, this.stories.current, folder?.path ?? '');
    return statusWords(run, translate, Date.now());
  }

  private update(): void {
    const words = this.words();
    const { item } = this;
    if (words === undefined) {
      item.hide();
      return;
    }
    const { cause, heard, icon, text, urgency } = words;
    item.text = `$(${icon}) ${text}`;
    item.accessibilityInformation = { label: spoken(heard, urgency) };
    item.backgroundColor = cause === this.seen ? undefined : background(urgency);
    item.tooltip = tooltip(this.model.current, this.stories.current);
    item.show();
  }
}

/** Adds the meaning of a red or yellow color to the text. */
function spoken(text: string, urgency: Urgency): string {
  switch (urgency) {
    case 'error':
      return l10n.t('{0}, needs you', text);
    case 'warning':
      return l10n.t('{0}, warning', text);
    case 'none':
      return text;
  }
}

function background(urgency: Urgency): ThemeColor | undefined {
  return urgency === 'none'
    ? undefined
    : new ThemeColor(
        urgency === 'error' ? 'statusBarItem.errorBackground' : 'statusBarItem.warningBackground',
      );
}

function tooltip(run: WatchedRun, file: StoryFile | undefined): MarkdownString {
  const { state } = run;
  const text = new MarkdownString();
  text.isTrusted = { enabledCommands: LINKED };
  const { all } = atWork(state);
  for (const current of run.alive ? all.slice(0, MAX_STORIES) : []) {
    if (current.storyId !== undefined) {
      const story = shorten(`${current.storyId} ${current.storyTitle ?? ''}`, 200);
      appendWords(text.appendMarkdown('**'), story).appendMarkdown('**');
      if (all.length > 1) {
        appendWords(text.appendMarkdown(' · '), stepWords(current, state, translate));
      }
      text.appendMarkdown('\n\n');
    }
  }
  if (run.alive && all.length > MAX_STORIES) {
    appendWords(text, l10n.t('and {0} more', all.length - MAX_STORIES)).appendMarkdown('\n\n');
  }
  for (const line of facts(run)) {
    appendWords(text, shorten(line, 600)).appendMarkdown('\n\n');
  }
  if (!workspace.isTrusted) {
    text.appendText(l10n.t('Restricted Mode: nothing runs until you trust this folder.'));
    text.appendMarkdown('\n\n');
  }
  text.appendMarkdown('---\n\n').appendMarkdown(links(run, file).join(' · '));
  return text;
}

function facts(run: WatchedRun): string[] {
  const { state } = run;
  const { budgetUsd, costUnknown, costUsd, iteration, maxIterations } = state;
  const { all } = atWork(state);
  const [only] = all;
  const held = heldSentence(state, run.alive, translate);
  const spent = costWords(state, translate);
  const cost =
    costUnknown && costUsd === 0
      ? l10n.t('Cost: unknown')
      : budgetUsd === undefined || costUnknown
        ? l10n.t('Cost: {0}', spent)
        : l10n.t('Cost: {0} of {1}', spent, dollars(budgetUsd, translate));
  return [
    ...standing(run),
    ...(held === undefined ? [] : [held]),
    ...(run.alive && iteration > 0 && all.length < 2
      ? [l10n.t('Iteration {0} of {1}', only?.number ?? iteration, maxIterations)]
      : []),
    ...(run.alive && all.length < 2 && only?.activity ? [shorten(only.activity, 120)] : []),
    ...(costUsd > 0 || costUnknown || budgetUsd !== undefined ? [cost] : []),
  ];
}

function standing(run: WatchedRun): string[] {
  const { state } = run;
  const { outcome, waiting } = runStanding(run);
  if (run.alive) {
    return waiting
      ? [waitingSentence(waiting, translate, { now: Date.now(), door: 'window' })]
      : [];
  }
  if (outcome === 'completed') {
    return [completedWords(state, translate)];
  }
  return outcome === undefined
    ? []
    : [outcomeSentence(runEnd(state, outcome), translate, 'window').text];
}

/** The few actions that fit now; the Markdown contains only our own text. */
function links(run: WatchedRun, file: StoryFile | undefined): string[] {
  const actions = fittingActions(run, {
    allDone: isAllDone(file, run.state),
    isTrusted: workspace.isTrusted,
    folders: 1,
  });
  const known = linksOf(run);
  return actions.flatMap(action => {
    const [words, command] = known[action] ?? [];
    return command === undefined ? [] : [`[${words}](command:${command})`];
  });
}

function linksOf({ alive }: WatchedRun): { readonly [A in RunAction]?: readonly [string, string] } {
  return {
    trust: [l10n.t('Manage Workspace Trust'), MANAGE_TRUST],
    answer: [answerLabel(!alive, translate), Command.answerQuestion],
    resume: [l10n.t('Resume'), Command.resumeRun],
    tryNow: [l10n.t('Try Now'), Command.resumeRun],
    start: [l10n.t('Start Fresh Run'), Command.startRun],
    goOn: [l10n.t('Start Fresh Run'), Command.startRun],
    stop: [l10n.t('Stop'), Command.stopRun],
    review: [l10n.t('Review Changes'), Command.openRunChanges],
    progress: [l10n.t('Show Progress'), Command.showProgress],
    terminal: [l10n.t('Show Terminal'), Command.showTerminal],
  };
}
