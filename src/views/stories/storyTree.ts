import type { KnownDiscovery } from '../../orchestrator/journal/discoveries.ts';
import type { RecordedCommit } from '../../orchestrator/journal/runState.ts';
import type { Criterion, InvalidStoryFile, Story } from '../../orchestrator/stories/story.ts';
import type { StoryState } from '../../presentation/storyState.ts';
import type { CommitRef, DiscoveryRef, StoryRef } from '../common/refs.ts';

/*
 * The lines of the Stories view as data, without VS Code. VS Code identifies a line by its object, so the objects of
 * folders, epics and stories are kept and modified. Lines below a story are created when it is expanded.
 */

/** A folder of a window that has several. */
export interface FolderNode {
  readonly kind: 'folder';
  readonly folder: string;
  readonly name: string;
  children: readonly RootNode[];
  summary: FolderSummary;
}

/** Summary of a folder. */
export interface FolderSummary {
  readonly state: 'none' | 'broken' | 'running' | 'needsYou' | 'done' | 'open';
  readonly done: number;
  readonly total: number;
}

/** A group in the story file. */
export interface EpicNode {
  readonly kind: 'epic';
  readonly folder: string;
  readonly title: string;
  readonly parent: FolderNode | undefined;
  /** Initial state; later, the person expands and collapses it. */
  readonly isOpen: boolean;
  stories: readonly StoryNode[];
  /** Of all its stories, including those that a filter hides. */
  done: number;
  total: number;
}

/** A story, its checkbox and its state. */
export interface StoryNode {
  readonly kind: 'story';
  readonly key: string;
  readonly folder: string;
  ref: StoryRef;
  parent: EpicNode | FolderNode | undefined;
  story: Story;
  state: StoryState;
  commits: readonly RecordedCommit[];
  /** What its menu depends on, see `menuFacts`. */
  menu: string;
}

/** A condition for a story to be done. */
export interface CriterionNode {
  readonly kind: 'criterion';
  readonly parent: StoryNode;
  readonly index: number;
  readonly criterion: Criterion;
}

/** A commit that an iteration made for a story. */
export interface CommitNode {
  readonly kind: 'commit';
  readonly parent: StoryNode;
  readonly ref: CommitRef;
  readonly commit: RecordedCommit;
}

/** A story file that is not usable; replaces the stories, so that they never just disappear. */
export interface ProblemNode {
  readonly kind: 'problem';
  readonly folder: string;
  readonly parent: FolderNode | undefined;
  readonly file: InvalidStoryFile;
}

/** Work that agents found outside of their stories, below the stories. */
export interface DiscoveredNode {
  readonly kind: 'discovered';
  readonly folder: string;
  parent: FolderNode | undefined;
  items: readonly DiscoveryNode[];
}

/** Work that an agent found, and that waits for a person. */
export interface DiscoveryNode {
  readonly kind: 'discovery';
  readonly folder: string;
  readonly ref: DiscoveryRef;
  readonly parent: DiscoveredNode;
  readonly discovery: KnownDiscovery;
}

/** A line at the top of its folder. */
export type RootNode = EpicNode | StoryNode | ProblemNode | DiscoveredNode;
export type StoryTreeNode = FolderNode | RootNode | CriterionNode | CommitNode | DiscoveryNode;

/**
 * The lines below a line. Created each time, since they are not kept.
 * @param details criteria of a story that stand in a file of its own
 */
export function childrenOf(
  node: StoryTreeNode,
  details: readonly Criterion[] = [],
): StoryTreeNode[] {
  switch (node.kind) {
    case 'folder':
      return [...node.children];
    case 'epic':
      return [...node.stories];
    case 'discovered':
      return [...node.items];
    case 'story':
      return [
        ...[...node.story.criteria, ...details].map(
          (criterion, index): CriterionNode => ({
            kind: 'criterion',
            parent: node,
            index,
            criterion,
          }),
        ),
        ...node.commits.map(
          (commit): CommitNode => ({
            kind: 'commit',
            parent: node,
            ref: { folder: node.folder, hash: commit.hash },
            commit,
          }),
        ),
      ];
    default:
      return [];
  }
}

/** Matches the story that a ref identifies. */
export function isNamedBy({ storyId, position }: StoryRef): (story: Story) => boolean {
  return story => story.id === storyId && (position === undefined || position === story.position);
}

/** Whether a story's line may have lines below it; a file of its own is only read when somebody looks. */
export function isOpenable({ story, commits }: StoryNode): boolean {
  return story.criteria.length > 0 || commits.length > 0 || hasDetails(story);
}

/** Whether a file of its own describes the story. BMAD writes it when the story leaves its backlog. */
export function hasDetails({ details, status }: Story): boolean {
  return details !== undefined && status !== 'backlog';
}
