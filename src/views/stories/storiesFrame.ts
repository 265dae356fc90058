import path from 'node:path';
import { l10n, type TreeView } from 'vscode';
import { shellWord } from '../../base/shellWord.ts';
import { shorten } from '../../base/text.ts';
import type { LeftOnBranch } from '../../orchestrator/workspace/leftOnBranch.ts';
import { countStories } from '../../presentation/storyCount.ts';
import { ContextKeyValue } from '../common/contextKey.ts';
import { ContextKey } from '../common/contributions.ts';
import { plainSentence } from '../common/plainText.ts';
import { translate } from '../common/translate.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';
import { isFiltering, type StoryFilter } from './storyFilter.ts';
import type { StoryNodes } from './storyNodes.ts';
import type { StoryTreeNode } from './storyTree.ts';
import { kindName } from './storyWords.ts';

/** What the Stories view knows of a folder. */
interface Lines {
  nodesOf(folder: Folder): StoryNodes;
  /** If no story file was found: the last run's, on its branch. */
  leftOf(folder: Folder): LeftOnBranch | undefined;
  /** Whether its stories have been read. */
  knows(folder: Folder): boolean;
}

/**
 * What is around the list of stories: the sentences above it, the file name and the badge of the view, and the context
 * keys that decide which welcome an empty list shows.
 */
export class StoriesFrame {
  private readonly storyFileKey = new ContextKeyValue<'none' | 'broken' | 'ready'>(
    ContextKey.storyFile,
  );
  private readonly discoveredKey = new ContextKeyValue<boolean>(ContextKey.discovered);
  private readonly otherListKey = new ContextKeyValue<boolean>(ContextKey.otherList);
  private readonly view: TreeView<StoryTreeNode>;
  private readonly folders: Folders;
  private readonly lines: Lines;

  constructor(view: TreeView<StoryTreeNode>, folders: Folders, lines: Lines) {
    this.view = view;
    this.folders = folders;
    this.lines = lines;
  }

  update(filter: StoryFilter): void {
    const { lines } = this;
    const { active, all } = this.folders;
    const file = active?.stories.current;
    if (active !== undefined && lines.knows(active)) {
      this.storyFileKey.set(
        file === undefined ? 'none' : file.kind === 'invalid' ? 'broken' : 'ready',
      );
    }
    const message = storiesMessage(this.folders, filter, lines);
    // Setting even the same message lays out the whole list again, and closes an open hover.
    if (this.view.message !== message) {
      this.view.message = message;
    }
    this.discoveredKey.set(all.some(folder => lines.nodesOf(folder).hasDiscovered));
    this.otherListKey.set(all.some(folder => folder.otherStoryFile !== undefined));
    const description =
      all.length === 1 && active && file && active.stories.knownFiles.length > 1
        ? path.relative(active.path, file.path)
        : '';
    if (this.view.description !== description) {
      this.view.description = description;
    }
    this.showBadge(all.reduce((sum, folder) => sum + lines.nodesOf(folder).needingUser, 0));
  }

  private showBadge(count: number): void {
    if (this.view.badge?.value !== (count || undefined)) {
      this.view.badge =
        count === 0
          ? undefined
          : {
              value: count,
              tooltip:
                count === 1 ? l10n.t('1 story needs you') : l10n.t('{0} stories need you', count),
            };
    }
  }
}

/** The sentences above the stories: how many, and what is in the way. */
function storiesMessage(
  { active, all }: Folders,
  filter: StoryFilter,
  { nodesOf, leftOf }: Lines,
): string {
  const warnings = [
    ...problemSentence(active),
    ...branchSentence(active && leftOf(active)),
    ...all.flatMap(otherFileSentence),
  ];
  const first = isFiltering(filter)
    ? filterSentence(filter, all.map(nodesOf), warnings.length > 0)
    : all.length === 1
      ? countSentence(active)
      : [];
  return [...first, ...warnings].join(' · ');
}

/**
 * If nothing is left, the welcome of the empty view says so, with the button that clears the filter. There is no
 * welcome while the view has a message.
 */
function filterSentence(
  { states, text }: StoryFilter,
  lists: readonly StoryNodes[],
  hasMessage: boolean,
): string[] {
  const sum = (count: (nodes: StoryNodes) => number) =>
    lists.reduce((total, nodes) => total + count(nodes), 0);
  const shown = sum(nodes => nodes.shown.length);
  const all = sum(nodes => nodes.allStories.length);
  if (all === 0 || (shown === 0 && lists.length === 1 && !hasMessage)) {
    return [];
  }
  const words = [
    ...[...states].map(kindName),
    ...(text.trim() === '' ? [] : [`“${plainSentence(text.trim())}”`]),
  ];
  return [l10n.t('Filter: {0} · {1} of {2} shown', words.join(', '), shown, all)];
}

function countSentence(folder: Folder | undefined): string[] {
  const file = folder?.stories.current;
  if (folder === undefined || file?.kind !== 'stories') {
    return [];
  }
  const { done, total } = countStories(file, folder.path, folder.runs.current);
  return [
    total === 0
      ? l10n.t('{0} contains no stories yet', plainSentence(path.basename(file.path)))
      : l10n.t('{0} of {1} done', done, total),
  ];
}

function problemSentence(folder: Folder | undefined): string[] {
  const file = folder?.stories.current;
  // Hints are in the editor only.
  const problem = file?.problems.find(({ severity }) => severity !== 'info');
  // In full, since the line of a broken file is usually too short.
  return file === undefined || problem === undefined
    ? []
    : [
        l10n.t(
          '{0}, line {1}: {2}',
          plainSentence(path.basename(problem.file ?? file.path)),
          problem.line,
          plainSentence(translate.said(problem.message)),
        ),
      ];
}

/** Replaces the welcome, which offers to create another file. */
function branchSentence(left: LeftOnBranch | undefined): string[] {
  return left === undefined
    ? []
    : [
        l10n.t(
          'The last run worked on the branch {0}, which has {1}. Go there: git switch --no-overwrite-ignore {2}',
          plainSentence(shorten(left.branch, 200)),
          plainSentence(shorten(left.file, 200)),
          plainSentence(shellWord(left.branch)),
        ),
      ];
}

/** A run works on other stories than the visible ones. */
function otherFileSentence(folder: Folder): string[] {
  const other = folder.otherStoryFile;
  if (other === undefined) {
    return [];
  }
  return [l10n.t('a run works on {0}', plainSentence(path.relative(folder.path, other)))];
}
