import {
  l10n,
  MarkdownString,
  ThemeIcon,
  TreeItem,
  TreeItemCollapsibleState,
  type Command as VsCodeCommand,
} from 'vscode';
import { assertNever } from '../../base/assertNever.ts';
import { titleNextTo } from '../../base/storyTitle.ts';
import { shorten } from '../../base/text.ts';
import type { IterationRow } from '../../orchestrator/journal/iterationRows.ts';
import { reasonWords, rowWord } from '../../presentation/iterationWords.ts';
import { clock, dollars, duration, iterationCount } from '../../presentation/translate.ts';
import { Command } from '../common/contributions.ts';
import { appendWords, heardWords } from '../common/plainText.ts';
import { themeIcon } from '../common/themeIcon.ts';
import { translate } from '../common/translate.ts';
import type {
  DocumentNode,
  GroupNode,
  IterationCommitNode,
  IterationNode,
  IterationTreeNode,
  RunNode,
} from './iterationNodes.ts';

const MAX_LABEL = 200;

const OUTCOME_ICONS: Readonly<
  Record<IterationRow['outcome'], readonly [icon: string, color?: string]>
> = {
  running: ['sync~spin', 'progressBar.background'],
  storyDone: ['pass', 'testing.iconPassed'],
  rejected: ['error', 'testing.iconFailed'],
  failed: ['error', 'testing.iconFailed'],
  progress: ['arrow-right', 'charts.blue'],
  noProgress: ['circle-slash', 'problemsWarningIcon.foreground'],
  blocked: ['circle-slash', 'problemsWarningIcon.foreground'],
  needsHuman: ['bell-dot', 'problemsErrorIcon.foreground'],
  skipped: ['debug-step-over', 'disabledForeground'],
  stopped: ['debug-stop', 'disabledForeground'],
  interrupted: ['debug-disconnect', 'disabledForeground'],
};

/** Its agent is done, and others land first. */
const WAITING_ICON = ['clock', 'disabledForeground'] as const;

/** A line of the view as VS Code shows it; the menus depend on its `contextValue`. */
export function toTreeItem(node: IterationTreeNode): TreeItem {
  switch (node.kind) {
    case 'group':
      return groupItem(node);
    case 'iteration':
      return iterationItem(node);
    case 'commit':
      return commitItem(node);
    case 'document':
      return documentItem(node);
    case 'run':
      return runItem(node);
    default:
      return assertNever(node);
  }
}

function groupItem({ children, folder, group, runId }: GroupNode): TreeItem {
  const looks: Readonly<Record<GroupNode['group'], readonly [label: string, icon: string]>> = {
    running: [l10n.t('Running'), 'run-all'],
    queue: [l10n.t('Landing queue'), 'git-pull-request'],
    finished: [l10n.t('Finished'), 'history'],
  };
  const [label, icon] = looks[group];
  const item = new TreeItem(label, TreeItemCollapsibleState.Expanded);
  item.id = `group:${folder}:${runId}:${group}`;
  item.description = `${children.length}`;
  item.iconPath = new ThemeIcon(icon);
  item.contextValue = `group.${group}`;
  item.accessibilityInformation = {
    label: `${label}, ${iterationCount(children.length, translate)}`,
  };
  return item;
}

function iterationItem({ queued, ref, row }: IterationNode): TreeItem {
  const words = queued ? queued.words : rowWord(row, translate);
  const waits = queued?.isLanding === false;
  const story = row.storyId === undefined ? '' : ` ${shorten(row.storyId, 60)}`;
  const item = new TreeItem(`#${row.number}${story}`, TreeItemCollapsibleState.Collapsed);
  const facts = [words, ...(queued ? [] : timeAndCost(row))];
  item.id = `iteration:${ref.folder}:${ref.runId}:${row.number}`;
  item.description = facts.join(' · ');
  item.iconPath = themeIcon(waits ? WAITING_ICON : OUTCOME_ICONS[row.outcome]);
  const changes = row.commits.length > 0 ? '.commits' : row.landing ? '.landing' : '';
  item.contextValue = `iteration.${row.outcome}${changes}`;
  item.tooltip = tooltip(row, facts);
  item.accessibilityInformation = {
    label: l10n.t('Iteration {0}{1}, {2}', row.number, story, facts.join(', ')),
  };
  return item;
}

function timeAndCost({
  costEstimated,
  costUsd,
  durationMs,
  outcome,
  startedAt,
}: IterationRow): string[] {
  const started = Date.parse(startedAt);
  return [
    ...(outcome === 'running' && !Number.isNaN(started)
      ? [l10n.t('since {0}', clock(started, Date.now(), translate))]
      : []),
    ...(durationMs === undefined ? [] : [duration(durationMs, translate)]),
    ...(costUsd === undefined || costUsd === 0 ? [] : [dollars(costUsd, translate, costEstimated)]),
  ];
}

function tooltip(row: IterationRow, facts: readonly string[]): MarkdownString {
  const text = new MarkdownString();
  const title = [row.storyId, titleNextTo(row.storyId ?? '', row.storyTitle ?? '')]
    .filter(Boolean)
    .join(' ');
  text.appendMarkdown('**').appendText(l10n.t('Iteration {0}', row.number)).appendMarkdown('**');
  if (title !== '') {
    appendWords(text.appendMarkdown('\n\n'), shorten(title, 300));
  }
  appendWords(text.appendMarkdown('\n\n'), facts.join(' · '));
  const reason = row.reason && reasonWords(row.reason, translate);
  if (reason !== undefined) {
    appendWords(text.appendMarkdown('\n\n'), reason);
  }
  return text;
}

function commitItem({ parent, ref, subject }: IterationCommitNode): TreeItem {
  const hash = ref.hash.slice(0, 7);
  const label = shorten(subject, MAX_LABEL) || hash;
  const item = new TreeItem(label, TreeItemCollapsibleState.None);
  item.id = `commit:${parent.ref.runId}:${parent.ref.iteration}:${ref.hash}`;
  item.description = hash;
  item.iconPath = new ThemeIcon('git-commit');
  item.contextValue = 'commit';
  item.tooltip = `${label} (${hash})`;
  item.accessibilityInformation = { label: l10n.t('Commit {0}, {1}', hash, label) };
  item.command = {
    command: Command.openCommit,
    title: l10n.t('Open Changes'),
    arguments: [ref],
  };
  return item;
}

function documentItem({ what, parent, ref }: DocumentNode): TreeItem {
  const { label, icon, command } = documentLook(what, parent);
  const item = new TreeItem(label, TreeItemCollapsibleState.None);
  item.id = `${what}:${ref.folder}:${ref.runId}:${ref.iteration}`;
  item.iconPath = new ThemeIcon(icon);
  item.contextValue = `document.${what}`;
  item.accessibilityInformation = {
    label: l10n.t('{0} of iteration {1}', label, parent.row.number),
  };
  item.command = { ...command, arguments: [ref] };
  return item;
}

function documentLook(
  what: DocumentNode['what'],
  { row }: DocumentNode['parent'],
): {
  readonly label: string;
  readonly icon: string;
  readonly command: VsCodeCommand;
} {
  const looks: Readonly<Record<typeof what, ReturnType<typeof documentLook>>> = {
    landing: {
      label: row.isLanding
        ? l10n.t('Changes that are to land')
        : l10n.t('Changes that did not land'),
      icon: 'diff-multiple',
      command: { command: Command.openIterationChanges, title: l10n.t('Open Changes') },
    },
    prompt: {
      label: l10n.t('Prompt'),
      icon: 'note',
      command: { command: Command.openPrompt, title: l10n.t('Open Prompt') },
    },
    transcript: {
      label: l10n.t('Transcript'),
      icon: 'output',
      command: { command: Command.openTranscript, title: l10n.t('Open Transcript') },
    },
    checks: {
      label: l10n.t('Check output'),
      icon: 'checklist',
      command: { command: Command.openCheckOutput, title: l10n.t('Open Check Output') },
    },
    receipt: {
      label: l10n.t('Receipt'),
      icon: 'credit-card',
      command: { command: Command.showReceipt, title: l10n.t('Show Receipt') },
    },
  };
  return looks[what];
}

function runItem({ folder, runId, state }: RunNode): TreeItem {
  const started = Date.parse(state.startedAt ?? '');
  const label = Number.isNaN(started) ? runId : clock(started, Date.now(), translate);
  const item = new TreeItem(
    l10n.t('Run of {0}', label),
    state.iteration > 0 ? TreeItemCollapsibleState.Collapsed : TreeItemCollapsibleState.None,
  );
  item.id = `run:${folder}:${runId}`;
  item.description = [
    l10n.t('{0} of {1} done', state.stories.done, state.stories.total),
    iterationCount(state.iteration, translate),
    ...(state.costUsd > 0 ? [dollars(state.costUsd, translate, state.costEstimated)] : []),
  ].join(' · ');
  item.accessibilityInformation = { label: `${item.label}, ${heardWords(item.description)}` };
  item.iconPath = new ThemeIcon('history');
  item.contextValue = 'run';
  item.tooltip = shorten(state.task, 300) || runId;
  return item;
}
