import path from 'node:path';
import {
  l10n,
  ThemeIcon,
  TreeItem,
  TreeItemCheckboxState,
  TreeItemCollapsibleState,
  Uri,
} from 'vscode';
import { assertNever } from '../../base/assertNever.ts';
import { idWithTitle } from '../../base/storyTitle.ts';
import { shorten } from '../../base/text.ts';
import { Command } from '../common/contributions.ts';
import { heardWords } from '../common/plainText.ts';
import { themeIcon } from '../common/themeIcon.ts';
import { translate } from '../common/translate.ts';
import { discoveredItem, discoveryItem } from './discoveredItems.ts';
import {
  type CommitNode,
  type CriterionNode,
  type EpicNode,
  type FolderNode,
  isOpenable,
  type ProblemNode,
  type StoryNode,
  type StoryTreeNode,
} from './storyTree.ts';
import { stateIcon, stateWords } from './storyWords.ts';

const MAX_LABEL = 200;

const FOLDER_ICONS: Readonly<
  Record<FolderNode['summary']['state'], readonly [icon: string, color?: string]>
> = {
  none: ['root-folder'],
  open: ['root-folder'],
  broken: ['error', 'problemsErrorIcon.foreground'],
  needsYou: ['bell-dot', 'problemsErrorIcon.foreground'],
  running: ['sync~spin', 'progressBar.background'],
  done: ['pass-filled', 'testing.iconPassed'],
};

/** The line of a node, without its tooltip, which is made on hover. */
export function toTreeItem(node: StoryTreeNode): TreeItem {
  switch (node.kind) {
    case 'folder':
      return folderItem(node);
    case 'epic':
      return epicItem(node);
    case 'story':
      return storyItem(node);
    case 'criterion':
      return criterionItem(node);
    case 'commit':
      return commitItem(node);
    case 'problem':
      return problemItem(node);
    case 'discovered':
      return discoveredItem(node);
    case 'discovery':
      return discoveryItem(node);
    default:
      return assertNever(node);
  }
}

function folderItem({ children, folder, name, summary }: FolderNode): TreeItem {
  const label = shorten(name, MAX_LABEL);
  const item = new TreeItem(
    label,
    children.length > 0 ? TreeItemCollapsibleState.Expanded : TreeItemCollapsibleState.None,
  );
  item.id = `folder:${folder}`;
  item.description = folderWords(summary);
  item.iconPath = themeIcon(FOLDER_ICONS[summary.state]);
  item.contextValue = `folder.${summary.state}`;
  item.tooltip = folder;
  item.accessibilityInformation = {
    label: l10n.t('Folder {0}, {1}', label, heardWords(item.description)),
  };
  return item;
}

function folderWords({ state, done, total }: FolderNode['summary']): string {
  const count = l10n.t('{0} of {1} done', done, total);
  switch (state) {
    case 'none':
      return l10n.t('no stories');
    case 'broken':
      return l10n.t('story file cannot be used');
    case 'needsYou':
      return l10n.t('{0} · needs you', count);
    case 'running':
      return l10n.t('{0} · running', count);
    case 'done':
    case 'open':
      return count;
    default:
      return assertNever(state);
  }
}

function epicItem({ folder, title, isOpen, done, total }: EpicNode): TreeItem {
  const label = shorten(title, MAX_LABEL);
  const item = new TreeItem(
    label,
    isOpen ? TreeItemCollapsibleState.Expanded : TreeItemCollapsibleState.Collapsed,
  );
  item.id = `epic:${folder}:${title}`;
  item.description = l10n.t('{0} of {1} done', done, total);
  item.iconPath =
    done === total ? themeIcon(['pass-filled', 'testing.iconPassed']) : new ThemeIcon('milestone');
  item.contextValue = 'epic';
  item.accessibilityInformation = { label: l10n.t('Group {0}, {1}', label, item.description) };
  return item;
}

function storyItem(node: StoryNode): TreeItem {
  const { folder, key, story, state } = node;
  // Labels of tree items are plain text: neither codicons nor markup in a story's title are rendered.
  const label = shorten(idWithTitle(story.id, story.title), MAX_LABEL);
  const item = new TreeItem(
    label,
    isOpenable(node) ? TreeItemCollapsibleState.Collapsed : TreeItemCollapsibleState.None,
  );
  const words = stateWords(state, Date.now());
  item.id = `story:${folder}:${key}`;
  item.description = words;
  item.iconPath = stateIcon(state);
  item.contextValue = node.menu;
  item.checkboxState = {
    state: story.done ? TreeItemCheckboxState.Checked : TreeItemCheckboxState.Unchecked,
    tooltip: story.done
      ? l10n.t('Done. Untick to have it done again.')
      : l10n.t('Tick when it is done.'),
  };
  const heard = heardWords(words);
  item.accessibilityInformation = {
    label:
      story.priority === undefined
        ? l10n.t('{0}, {1}', label, heard)
        : l10n.t('{0}, {1}, priority {2}', label, heard, story.priority),
  };
  return item;
}

function criterionItem({ parent, index, criterion }: CriterionNode): TreeItem {
  const text = shorten(criterion.text, MAX_LABEL);
  const item = new TreeItem(text, TreeItemCollapsibleState.None);
  item.id = `criterion:${parent.folder}:${parent.key}:${index}`;
  item.contextValue = 'criterion';
  const words =
    criterion.done === undefined
      ? l10n.t('Criterion {0}', text)
      : criterion.done
        ? l10n.t('Criterion {0}, done', text)
        : l10n.t('Criterion {0}, not done', text);
  item.iconPath =
    criterion.done === undefined
      ? themeIcon(['circle-small-filled', 'disabledForeground'])
      : criterion.done
        ? themeIcon(['check', 'testing.iconPassed'])
        : themeIcon(['circle-outline', 'disabledForeground']);
  item.accessibilityInformation = { label: words };
  return item;
}

function commitItem({ parent, commit, ref }: CommitNode): TreeItem {
  const subject = shorten(commit.subject, MAX_LABEL) || commit.hash.slice(0, 7);
  const item = new TreeItem(subject, TreeItemCollapsibleState.None);
  item.id = `commit:${parent.folder}:${parent.key}:${commit.hash}`;
  item.description = commit.hash.slice(0, 7);
  item.iconPath = new ThemeIcon('git-commit');
  item.contextValue = 'commit';
  item.accessibilityInformation = {
    label: l10n.t('Commit {0}, {1}', commit.hash.slice(0, 7), subject),
  };
  item.command = {
    command: Command.openCommit,
    title: l10n.t('Open Changes'),
    arguments: [{ ref, commit: { hash: commit.hash } }],
  };
  return item;
}

function problemItem({ file, folder }: ProblemNode): TreeItem {
  const [problem] = file.problems;
  const item = new TreeItem(
    l10n.t('{0} cannot be used', path.basename(file.path)),
    TreeItemCollapsibleState.None,
  );
  const words = translate.said(problem.message);
  item.id = `problem:${folder}`;
  item.description = l10n.t('line {0}: {1}', problem.line, shorten(words, 300));
  item.iconPath = themeIcon(['error', 'problemsErrorIcon.foreground']);
  item.contextValue = 'problem';
  item.tooltip = words;
  item.accessibilityInformation = { label: `${item.label}, ${item.description}` };
  item.command = {
    command: Command.openStoryFile,
    title: l10n.t('Open the Story File'),
    arguments: [Uri.file(file.path), problem.line, problem.column],
  };
  return item;
}
