import { discoveriesOf, waitingDiscoveries } from '../../orchestrator/journal/discoveries.ts';
import { runStanding } from '../../orchestrator/journal/runStanding.ts';
import { hasPlace, type RunState, storyNotes } from '../../orchestrator/journal/runState.ts';
import { inWorkOrder } from '../../orchestrator/stories/edit/workOrder.ts';
import { idsWithReports } from '../../orchestrator/stories/reportNote.ts';
import { storyKeys } from '../../orchestrator/stories/select.ts';
import type { Story, StoryFile } from '../../orchestrator/stories/story.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import {
  commitsByStory,
  isAtWork,
  needsUser,
  runsOnFile,
  type StoryState,
  storyStates,
} from '../../presentation/storyState.ts';
import { matchesFilter, type StoryFilter } from './storyFilter.ts';
import {
  type DiscoveredNode,
  type EpicNode,
  type FolderNode,
  type FolderSummary,
  isOpenable,
  type ProblemNode,
  type RootNode,
  type StoryNode,
  type StoryTreeNode,
} from './storyTree.ts';

/** The data that the lines of a folder are created from. */
export interface FolderFacts {
  readonly file: StoryFile | undefined;
  readonly run: WatchedRun;
  /** All runs of the folder, oldest first, the watched one last. */
  readonly states: readonly RunState[];
  readonly filter: StoryFilter;
  /** Whether the folder has a line of its own. */
  readonly hasFolderLine: boolean;
}

/** The result of an update. */
export interface StoryChanges {
  /** Lines were added, removed or moved. */
  readonly isRearranged: boolean;
  /** Existing lines that have changed. */
  readonly changed: readonly (FolderNode | EpicNode | StoryNode | DiscoveredNode)[];
}

/** What the line of a story shows, and what its menu depends on. */
type NodeFacts = Pick<StoryNode, 'commits' | 'menu' | 'state' | 'story'>;

/** The lines of one folder. */
export class StoryNodes {
  readonly line: FolderNode;
  private stories = new Map<string, StoryNode>();
  private epics = new Map<string, EpicNode>();
  /** The state of every story, in work order, including hidden ones. */
  private all: readonly StoryNode[] = [];
  private problem: ProblemNode | undefined;
  private readonly discovered: DiscoveredNode;
  private attention = 0;

  /** @param folder absolute path */
  constructor(folder: string, name: string) {
    const summary = { state: 'none', done: 0, total: 0 } as const;
    this.line = { kind: 'folder', folder, name, children: [], summary };
    this.discovered = { kind: 'discovered', folder, parent: undefined, items: [] };
  }

  /** Lines below the folder, or at the top level if it is the only one. */
  get roots(): readonly RootNode[] {
    return this.line.children;
  }

  /** All stories, in work order, including those that the filter hides. */
  get allStories(): readonly StoryNode[] {
    return this.all;
  }

  /** The visible stories, in work order within their groups. */
  get shown(): readonly StoryNode[] {
    return this.roots.flatMap(node =>
      node.kind === 'epic' ? node.stories : node.kind === 'story' ? [node] : [],
    );
  }

  /** Number of stories and questions that wait for the person. */
  get needingUser(): number {
    return this.attention;
  }

  /** Work that agents have discovered waits for a decision of the person. */
  get hasDiscovered(): boolean {
    return this.discovered.items.length > 0;
  }

  /** Updates the lines. Uses no files and no clock. */
  update(facts: FolderFacts): StoryChanges {
    const changed: (FolderNode | EpicNode | StoryNode | DiscoveredNode)[] = [];
    const before = this.linesInOrder();
    const couldOpen = this.all.some(isOpenable);
    const { file } = facts;
    this.updateStories(facts, changed);
    const shown = this.all.filter(({ story, state }) => matchesFilter(facts.filter, story, state));
    const parent = facts.hasFolderLine ? this.line : undefined;
    if (file?.kind === 'invalid') {
      if (this.problem?.file !== file || this.problem.parent !== parent) {
        this.problem = { kind: 'problem', folder: this.line.folder, parent, file };
      }
      this.line.children = [this.problem];
    } else {
      this.problem = undefined;
      this.line.children = [
        ...this.grouped(shown, parent, changed),
        ...this.found(facts, parent, changed),
      ];
    }
    const summary = this.summarise(facts);
    if (JSON.stringify(summary) !== JSON.stringify(this.line.summary)) {
      this.line.summary = summary;
      changed.push(this.line);
    }
    const after = this.linesInOrder();
    return {
      isRearranged:
        before.length !== after.length ||
        before.some((node, index) => node !== after[index]) ||
        // The first line that can be expanded moves all the others to the right.
        couldOpen !== this.all.some(isOpenable),
      changed,
    };
  }

  private updateStories(facts: FolderFacts, changed: unknown[]): void {
    const { folder } = this.line;
    const { file } = facts;
    if (file?.kind !== 'stories') {
      this.all = [];
      this.attention = 0;
      return;
    }
    const { run, states } = runsOnFile(file.path, folder, facts);
    const storyState = storyStates(file.stories, { run, states });
    const commits = commitsByStory(states);
    const keys = storyKeys(file.stories);
    const hasRun = hasBegun(facts.run);
    const worked = workedOn(states);
    const known = this.stories;
    this.stories = new Map();
    this.all = inWorkOrder(file.stories).map(story => {
      const key = keys.get(story) ?? story.id;
      const state = storyState.get(story) ?? { kind: 'ready' };
      const { conflict, settling } = storyNotes(run.state, story.id);
      const own = commits.get(story.id) ?? [];
      const menu = menuFacts(story, state, {
        // Of the story's folder, which need not be the active one.
        hasRun,
        // Nothing of a done story depends on place and work, so its line need not be drawn again.
        place: !story.done && hasPlace(run.state, story.id),
        work: !story.done && worked.has(story.id),
        // A person can settle it, or does so.
        conflict: (conflict ?? settling) !== undefined,
        commits: own.length > 0,
      });
      const now = { story, state, commits: own, menu };
      const node = known.get(key) ?? newStory(key, folder, now);
      if (!isSame(node, now)) {
        changed.push(node);
      }
      Object.assign(node, now);
      if (node.ref.storyId !== story.id || node.ref.position !== story.position) {
        node.ref = { folder, storyId: story.id, position: story.position };
      }
      this.stories.set(key, node);
      return node;
    });
    const ofStories = this.all.filter(({ state }) =>
      needsUser(state, run.state.stuckThreshold),
    ).length;
    const asksElsewhere =
      isAsking(facts.run) && !this.all.some(({ state }) => state.kind === 'needsYou');
    this.attention = ofStories + (asksElsewhere ? 1 : 0);
  }

  /** Grouped by epic, if the file has more than one group. */
  private grouped(
    shown: readonly StoryNode[],
    parent: FolderNode | undefined,
    changed: unknown[],
  ): RootNode[] {
    const titles = new Set(this.all.map(({ story }) => story.epic));
    if (titles.size < 2) {
      this.epics = new Map();
      for (const node of shown) {
        node.parent = parent;
      }
      return [...shown];
    }
    const known = this.epics;
    this.epics = new Map();
    const counts = countByEpic(this.all);
    const stories = new Map<EpicNode, StoryNode[]>();
    const roots: RootNode[] = [];
    for (const node of shown) {
      const { epic: title } = node.story;
      if (title === undefined) {
        node.parent = parent;
        roots.push(node);
        continue;
      }
      let epic = this.epics.get(title);
      if (epic === undefined) {
        const count = counts.get(title) ?? { done: 0, total: 0 };
        const old = known.get(title);
        epic = old?.parent === parent ? old : undefined;
        if (epic !== undefined && (epic.done !== count.done || epic.total !== count.total)) {
          changed.push(epic);
        }
        epic = Object.assign(epic ?? newEpic(this.line.folder, title, parent, count), count);
        this.epics.set(title, epic);
        stories.set(epic, []);
        roots.push(epic);
      }
      node.parent = epic;
      stories.get(epic)?.push(node);
    }
    for (const [epic, own] of stories) {
      epic.stories = own;
    }
    return roots;
  }

  /** The group of discovered work, if there is any; whatever the filter shows. */
  private found(
    { file, states }: FolderFacts,
    parent: FolderNode | undefined,
    changed: unknown[],
  ): DiscoveredNode[] {
    const { discovered: node, line } = this;
    const stories = file?.kind === 'stories' ? file.stories : [];
    const waiting = waitingDiscoveries(discoveriesOf(states), idsWithReports(stories));
    if (JSON.stringify(waiting) !== JSON.stringify(node.items.map(item => item.discovery))) {
      node.items = waiting.map(discovery => ({
        ...{ kind: 'discovery', folder: line.folder, parent: node, discovery },
        ref: { folder: line.folder, discovery: discovery.id },
      }));
      changed.push(node);
    }
    node.parent = parent;
    return waiting.length === 0 ? [] : [node];
  }

  private summarise({ file, run }: FolderFacts): FolderSummary {
    const done = this.all.filter(isCounted).length;
    const total = this.all.length;
    const isDone = total > 0 && done === total;
    const state =
      file === undefined
        ? 'none'
        : file.kind === 'invalid'
          ? 'broken'
          : this.attention > 0
            ? 'needsYou'
            : run.alive
              ? 'running'
              : isDone
                ? 'done'
                : 'open';
    return { state, done, total };
  }

  private linesInOrder(): readonly StoryTreeNode[] {
    return this.roots.flatMap((node): StoryTreeNode[] =>
      node.kind === 'epic' ? [node, ...node.stories] : [node],
    );
  }
}

/** Whether a run asks the person something; a question about a story of an ended run is shown on the story's line. */
function isAsking(run: WatchedRun): boolean {
  const { isActive, question } = runStanding(run);
  return (
    question !== undefined &&
    (isActive ? run.state.pause?.reason === 'question' : question.storyId === undefined)
  );
}

function hasBegun({ alive, state }: WatchedRun): boolean {
  // A story that was ticked before any run has a journal, too, but without a run.
  return alive || state.startedAt !== undefined;
}

/** Ids of the stories that an agent in a place of its own has worked on, in any run. */
function workedOn(states: readonly RunState[]): ReadonlySet<string> {
  const isolated = states.filter(({ isolated }) => isolated);
  return new Set(
    isolated.flatMap(({ laneStories, storyRecords }) => [
      ...laneStories.values(),
      ...[...storyRecords].flatMap(([id, { iterations }]) => (iterations > 0 ? [id] : [])),
    ]),
  );
}

function newStory(key: string, folder: string, facts: NodeFacts): StoryNode {
  const { id: storyId, position } = facts.story;
  const ref = { folder, storyId, position };
  return { kind: 'story', key, folder, ref, parent: undefined, ...facts };
}

function newEpic(
  folder: string,
  title: string,
  parent: FolderNode | undefined,
  count: { readonly done: number; readonly total: number },
): EpicNode {
  const isOpen = count.done < count.total;
  return { kind: 'epic', folder, title, parent, isOpen, stories: [], ...count };
}

function countByEpic(all: readonly StoryNode[]) {
  const counts = new Map<string, { done: number; total: number }>();
  for (const node of all) {
    const { story } = node;
    if (story.epic !== undefined) {
      const count = counts.get(story.epic) ?? { done: 0, total: 0 };
      count.total += 1;
      count.done += isCounted(node) ? 1 : 0;
      counts.set(story.epic, count);
    }
  }
  return counts;
}

/** Like `countStories`. */
function isCounted({ story, state }: StoryNode): boolean {
  return story.done && !isAtWork(state) && state.kind !== 'unjudged';
}

function isSame(node: StoryNode, now: NodeFacts): boolean {
  return (
    (node.story === now.story || JSON.stringify(node.story) === JSON.stringify(now.story)) &&
    node.menu === now.menu &&
    node.commits.length === now.commits.length &&
    JSON.stringify(node.state) === JSON.stringify(now.state)
  );
}

/** What a story's menu depends on besides its state, in the order of its facts. */
const MENU_WORDS = ['hasRun', 'place', 'work', 'conflict', 'commits'] as const;

/** Facts about a story for the menus. */
export function menuFacts(
  { done }: Pick<Story, 'done'>,
  state: StoryState,
  holds: Readonly<Record<(typeof MENU_WORDS)[number], boolean>>,
): string {
  const agent = state.kind === 'running' ? state.agent : undefined;
  return [
    ...['story', done ? 'done' : 'open', state.kind],
    ...(agent ? [agent.isLast ? 'lane.isLast' : 'lane'] : []),
    ...MENU_WORDS.filter(word => holds[word]),
  ].join('.');
}
