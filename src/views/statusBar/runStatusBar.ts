import {
  l10n,
  MarkdownString,
  StatusBarAlignment,
  type StatusBarItem,
  ThemeColor,
  window,
  workspace,
} from 'vscode';
import { idWithTitle } from '../../base/storyTitle.ts';
import { shorten } from '../../base/text.ts';
import { atWork } from '../../orchestrator/journal/atWork.ts';
import { returnedStories } from '../../orchestrator/journal/returnedWork.ts';
import { runStanding } from '../../orchestrator/journal/runStanding.ts';
import { openQuestions, type RunState } from '../../orchestrator/journal/runState.ts';
import { isAllDone } from '../../orchestrator/loop/isAllDone.ts';
import type { StoryFile } from '../../orchestrator/stories/story.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import { runEnd } from '../../presentation/runEnd.ts';
import { completedWords, leftToDo, outcomeSentence } from '../../presentation/sentences.ts';
import { withFileCount } from '../../presentation/storyCount.ts';
import { costWords, dollars } from '../../presentation/translate.ts';
import { waitingSentence } from '../../presentation/waitingWords.ts';
import { laneWords, returnedWords } from '../../presentation/workWords.ts';
import { Command } from '../common/contributions.ts';
import { Owner } from '../common/disposableStore.ts';
import { appendWords } from '../common/plainText.ts';
import { Throttle } from '../common/throttle.ts';
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
  Command.continueStory,
  Command.continueLane,
  Command.answerQuestion,
  Command.openRunChanges,
  Command.showTerminal,
  Command.showProgress,
  MANAGE_TRUST,
];

/** Agents can cause hundreds of changes a second. */
const FOLLOW_MS = 100;
/** Stories that the tooltip names. */
const MAX_STORIES = 10;

/**
 * One item that shows the state of the active folder's run, or how many stories wait for one; hidden without any. It is
 * made when one of them has been read.
 */
export class RunStatusBar extends Owner {
  private readonly item: StatusBarItem;
  private readonly model: ActiveRun;
  private readonly stories: ActiveStories;
  /** The causes that a person has viewed; they need no more attention. */
  private seen: ReadonlySet<string> = new Set();

  constructor(model: ActiveRun, stories: ActiveStories) {
    super();
    this.model = model;
    this.stories = stories;
    this.item = this.own(window.createStatusBarItem('ralphFresh.run', StatusBarAlignment.Left, 10));
    this.item.name = l10n.t('Ralph Run');
    this.item.command = Command.showRunActions;
    const update = this.own(new Throttle(() => this.update(), FOLLOW_MS));
    // The loop reports a usage limit once a minute, which updates the countdown.
    this.own(model.onDidChange(() => update.call()));
    this.own(stories.onDidChange(() => update.call()));
    this.own(workspace.onDidGrantWorkspaceTrust(() => this.update()));
    update.call();
  }

  /** A person has viewed the run: its current state needs no color anymore. */
  noteLook(): void {
    this.seen = new Set(this.words()?.causes);
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
    const { causes, heard, icon, text, urgency } = words;
    item.text = `$(${icon}) ${text}`;
    item.accessibilityInformation = { label: spoken(heard, urgency) };
    item.backgroundColor = causes.every(cause => this.seen.has(cause))
      ? undefined
      : background(urgency);
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
  const text = new MarkdownString();
  text.isTrusted = { enabledCommands: LINKED };
  const workers = run.alive ? workerLines(run, file) : [];
  for (const { story, words } of workers.slice(0, MAX_STORIES)) {
    appendWords(text.appendMarkdown('**'), story).appendMarkdown('**');
    if (words !== '') {
      appendWords(text.appendMarkdown(' · '), words);
    }
    text.appendMarkdown('\n\n');
  }
  if (workers.length > MAX_STORIES) {
    appendWords(text, l10n.t('and {0} more', workers.length - MAX_STORIES)).appendMarkdown('\n\n');
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

/** Who asks, what came back, who works on what, and what lands or waits to land. */
function workerLines(
  { state }: WatchedRun,
  file: StoryFile | undefined,
): { readonly story: string; readonly words: string }[] {
  const { all } = atWork(state);
  const asking = state.isolated ? openQuestions(state) : [];
  const back = returnedStories(state);
  const isOne = asking.length + back.length + all.length < 2;
  const stories = file?.kind === 'stories' ? file.stories : [];
  const nameOf = (id: string, title = stories.find(story => story.id === id)?.title) =>
    shorten(idWithTitle(id, title ?? ''), 200);
  return [
    ...asking.map(({ message, storyId = '' }) => ({
      story: nameOf(storyId),
      words: l10n.t('needs you · {0}', shorten(message, 120)),
    })),
    ...back.map(({ id, work }) => ({ story: nameOf(id), words: returnedWords(work, translate) })),
    ...all.flatMap(current =>
      current.storyId === undefined
        ? []
        : [
            {
              story: nameOf(current.storyId, current.storyTitle ?? ''),
              words: isOne ? '' : laneWords(current, state, Date.now(), translate),
            },
          ],
    ),
  ];
}

function facts(run: WatchedRun): string[] {
  const { state } = run;
  const { budgetUsd, costUnknown, costUsd, iteration, maxIterations } = state;
  const { all } = atWork(state);
  const [only] = all;
  const spent = costWords(state, translate);
  const cost =
    costUnknown && costUsd === 0
      ? l10n.t('Cost: unknown')
      : budgetUsd === undefined || costUnknown
        ? l10n.t('Cost: {0}', spent)
        : l10n.t('Cost: {0} of {1}', spent, dollars(budgetUsd, translate));
  return [
    ...standing(run),
    ...leftToDo(state, run.alive, translate),
    ...(run.alive ? laneFacts(state) : []),
    ...(run.alive && iteration > 0 && all.length < 2
      ? [l10n.t('Iteration {0} of {1}', only?.number ?? iteration, maxIterations)]
      : []),
    ...(run.alive && all.length < 2 && only?.activity ? [shorten(only.activity, 120)] : []),
    ...(costUsd > 0 || costUnknown || budgetUsd !== undefined ? [cost] : []),
  ];
}

/** How many agents there may be, and which stories a person has paused; nothing without lanes. */
function laneFacts(state: RunState): string[] {
  const { isolated, lanes } = state;
  const { limited, working } = atWork(state);
  const agents = working.length + limited.length;
  const paused = [...state.storyRecords].flatMap(([id, record]) => (record.paused ? [id] : []));
  return [
    ...(isolated !== true || (lanes < 2 && agents < 2)
      ? []
      : [
          agents > lanes
            ? l10n.t('Agents at once: {0}, as soon as the others have finished', lanes)
            : l10n.t('Agents at once: {0}', lanes),
        ]),
    ...(paused.length === 0 ? [] : [l10n.t('Paused: {0}', paused.join(', '))]),
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
    : [
        outcomeSentence({ ...runEnd(state, outcome), uncommitted: undefined }, translate, 'window')
          .text,
      ];
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
    continueStory: [l10n.t('Continue a Story…'), Command.continueStory],
    continueLane: [l10n.t('Continue a Lane…'), Command.continueLane],
    tryNow: [l10n.t('Try Now'), Command.resumeRun],
    start: [l10n.t('Start Fresh Run'), Command.startRun],
    continue: [l10n.t('Start Fresh Run'), Command.startRun],
    stop: [l10n.t('Stop'), Command.stopRun],
    review: [l10n.t('Review Changes'), Command.openRunChanges],
    progress: [l10n.t('Show Progress'), Command.showProgress],
    terminal: [l10n.t('Show Terminal'), Command.showTerminal],
  };
}
