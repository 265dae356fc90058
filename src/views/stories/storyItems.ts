import path from 'node:path';
import {
  l10n,
  MarkdownString,
  ThemeColor,
  ThemeIcon,
  TreeItem,
  TreeItemCheckboxState,
  TreeItemCollapsibleState,
  Uri,
} from 'vscode';
import { assertNever } from '../../orchestrator/assertNever.ts';
import type { RecordedCommit } from '../../orchestrator/run/runState.ts';
import type { InvalidStoryFile, Story } from '../../orchestrator/stories/story.ts';
import { shorten } from '../../orchestrator/text.ts';
import { Command } from '../contributions.ts';
import type { StoryState } from './storyState.ts';

const MAX_LABEL = 200;

/** A story, its checkbox and its state. VS Code knows a line by its object, so that one stays and changes. */
export interface StoryNode {
  readonly kind: 'story';
  readonly key: string;
  story: Story;
  state: StoryState;
  commits: readonly RecordedCommit[];
}

/** A commit that an iteration made for a story. */
export interface CommitNode {
  readonly kind: 'commit';
  readonly parent: StoryNode;
  readonly commit: RecordedCommit;
}

/** A story file that cannot be used; stands in place of the stories, so that they never just vanish. */
export interface ProblemNode {
  readonly kind: 'problem';
  readonly file: InvalidStoryFile;
}

export type StoryTreeNode = StoryNode | CommitNode | ProblemNode;

export function toTreeItem(node: StoryTreeNode): TreeItem {
  switch (node.kind) {
    case 'story':
      return storyItem(node);
    case 'commit':
      return commitItem(node);
    case 'problem':
      return problemItem(node);
    default:
      return assertNever(node);
  }
}

function storyItem({ key, story, state, commits }: StoryNode): TreeItem {
  // Labels of tree items are plain text: neither codicons nor markup of a story's title are drawn.
  const label = shorten(`${story.id} ${story.title}`, MAX_LABEL);
  const item = new TreeItem(
    label,
    commits.length > 0 ? TreeItemCollapsibleState.Collapsed : TreeItemCollapsibleState.None,
  );
  const words = stateWords(state);
  item.id = `story:${key}`;
  item.description = words;
  item.iconPath = stateIcon(state);
  item.contextValue = `story.${story.done ? 'done' : 'open'}.${state.kind}`;
  item.checkboxState = {
    state: story.done ? TreeItemCheckboxState.Checked : TreeItemCheckboxState.Unchecked,
    tooltip: story.done
      ? l10n.t('Done. Untick to have it done again.')
      : l10n.t('Tick when it is done.'),
  };
  item.tooltip = storyTooltip(story, state, words);
  item.accessibilityInformation = { label: `${label}, ${words}` };
  return item;
}

function storyTooltip(story: Story, state: StoryState, words: string): MarkdownString {
  const tooltip = new MarkdownString();
  tooltip.appendMarkdown('**').appendText(`${story.id} ${shorten(story.title, 300)}`);
  tooltip.appendMarkdown('**\n\n').appendText(words);
  const means = stateMeaning(state);
  if (means !== undefined) {
    tooltip.appendText(` — ${means}`);
  }
  if (story.description !== '' && story.description !== story.title) {
    tooltip.appendMarkdown('\n\n').appendText(shorten(story.description, 800));
  }
  for (const criterion of story.criteria.slice(0, 12)) {
    tooltip.appendMarkdown('\n- ').appendText(shorten(criterion.text, 200));
  }
  return tooltip;
}

/** What stands behind a state's word, for those that need it. */
function stateMeaning(state: StoryState): string | undefined {
  switch (state.kind) {
    case 'claimed':
      return l10n.t('its agent marked it as done in the story file; nobody else has checked it');
    case 'verified':
      return l10n.t('its agent marked it as done, and the checks passed');
    case 'approved':
      return l10n.t('its agent marked it as done, and a reviewer agreed');
    case 'skipped':
      return state.by === 'person'
        ? l10n.t('left alone in this run, as you asked')
        : l10n.t('left alone in this run, since it did not get on');
    default:
      return undefined;
  }
}

function commitItem({ parent, commit }: CommitNode): TreeItem {
  const subject = shorten(commit.subject, MAX_LABEL) || commit.hash.slice(0, 7);
  const item = new TreeItem(subject, TreeItemCollapsibleState.None);
  item.id = `commit:${parent.key}:${commit.hash}`;
  item.description = commit.hash.slice(0, 7);
  item.iconPath = new ThemeIcon('git-commit');
  item.contextValue = 'commit';
  item.tooltip = l10n.t(
    '{0} · iteration {1} · {2}',
    subject,
    commit.iteration,
    new Date(commit.at).toLocaleString(),
  );
  item.accessibilityInformation = {
    label: l10n.t('Commit {0}, {1}', commit.hash.slice(0, 7), subject),
  };
  item.command = {
    command: Command.openCommit,
    title: l10n.t('Open Changes'),
    arguments: [commit.hash],
  };
  return item;
}

function problemItem({ file }: ProblemNode): TreeItem {
  const [problem] = file.problems;
  const item = new TreeItem(
    l10n.t('{0} cannot be used', path.basename(file.path)),
    TreeItemCollapsibleState.None,
  );
  item.id = 'problem';
  item.description = l10n.t('line {0}: {1}', problem.line, shorten(problem.message, 300));
  item.iconPath = new ThemeIcon('error', new ThemeColor('problemsErrorIcon.foreground'));
  item.contextValue = 'problem';
  item.tooltip = problem.message;
  item.accessibilityInformation = { label: `${item.label}, ${item.description}` };
  item.command = {
    command: Command.openStoryFile,
    title: l10n.t('Open the Story File'),
    arguments: [Uri.file(file.path), problem.line, problem.column],
  };
  return item;
}

/** A story's state in words, for the line's description and the screen reader. */
export function stateWords(state: StoryState): string {
  switch (state.kind) {
    case 'running':
      return state.step === 'gate'
        ? l10n.t('checking · iteration {0}', state.iteration)
        : state.step === 'review'
          ? l10n.t('reviewing · iteration {0}', state.iteration)
          : l10n.t('running · iteration {0}', state.iteration);
    case 'done':
      return l10n.t('done');
    case 'doneByHand':
      return l10n.t('done by hand');
    case 'claimed':
      return l10n.t('claimed');
    case 'verified':
      return l10n.t('verified');
    case 'approved':
      return l10n.t('approved');
    case 'skipped':
      return state.by === 'person' ? l10n.t('skipped') : l10n.t('skipped · stuck');
    case 'needsYou':
      return l10n.t('needs you · {0}', shorten(state.message, 120));
    case 'blocked':
      return l10n.t('blocked · {0}', shorten(state.message, 120));
    case 'failed':
      return state.times === 1 ? l10n.t('failed once') : l10n.t('failed {0} times', state.times);
    case 'stuck':
      return l10n.t('stuck · no progress for {0} iterations', state.iterations);
    case 'waiting':
      return l10n.t('waits for {0}', shorten(state.for.join(', '), 80));
    case 'next':
      return l10n.t('next');
    case 'ready':
      return l10n.t('ready');
    default:
      return assertNever(state);
  }
}

function stateIcon(state: StoryState): ThemeIcon {
  switch (state.kind) {
    case 'running':
      return new ThemeIcon('sync~spin', new ThemeColor('progressBar.background'));
    case 'done':
      return new ThemeIcon('pass-filled', new ThemeColor('testing.iconPassed'));
    case 'doneByHand':
      return new ThemeIcon('check', new ThemeColor('testing.iconPassed'));
    case 'claimed':
      return new ThemeIcon('pass', new ThemeColor('testing.iconPassed'));
    case 'verified':
      return new ThemeIcon('verified', new ThemeColor('testing.iconPassed'));
    case 'approved':
      return new ThemeIcon('verified-filled', new ThemeColor('testing.iconPassed'));
    case 'skipped':
      return new ThemeIcon('debug-step-over', new ThemeColor('disabledForeground'));
    case 'needsYou':
      return new ThemeIcon('bell-dot', new ThemeColor('problemsErrorIcon.foreground'));
    case 'blocked':
      return new ThemeIcon('circle-slash', new ThemeColor('problemsWarningIcon.foreground'));
    case 'failed':
      return new ThemeIcon('error', new ThemeColor('testing.iconFailed'));
    case 'stuck':
      return new ThemeIcon('warning', new ThemeColor('problemsWarningIcon.foreground'));
    case 'waiting':
      return new ThemeIcon('clock', new ThemeColor('disabledForeground'));
    case 'next':
      return new ThemeIcon('circle-large-outline', new ThemeColor('charts.blue'));
    case 'ready':
      return new ThemeIcon('circle-large-outline');
    default:
      return assertNever(state);
  }
}
