import type { RunEvent } from '../../orchestrator/journal/events.ts';
import { type IterationRow, iterationRows } from '../../orchestrator/journal/iterationRows.ts';
import { laneHistory } from '../../orchestrator/journal/laneHistory.ts';
import type { RunState } from '../../orchestrator/journal/runState.ts';
import { queueWords } from '../../presentation/queueWords.ts';
import type { Translate } from '../../presentation/translate.ts';
import type { CommitRef, IterationRef } from '../common/refs.ts';

/** An iteration. VS Code identifies a line by its object, so the object is kept and its row changes. */
export interface IterationNode {
  readonly kind: 'iteration';
  readonly ref: IterationRef;
  row: IterationRow;
  /** Number of its checks. */
  checks: number;
  queued?: QueuedFacts | undefined;
}

/** What waits to land. */
interface QueuedFacts {
  /** Its place in the queue, from 0. */
  readonly index: number;
  readonly isLanding: boolean;
  /** What it waits for. */
  readonly words: string;
}

/** What several agents at once do: what runs, what waits to land, and what is over. */
export interface GroupNode {
  readonly kind: 'group';
  readonly group: 'running' | 'queue' | 'finished';
  readonly folder: string;
  readonly runId: string;
  children: readonly IterationNode[];
}

/** A document of an iteration; `landing`: the changes that are to land, or did not. */
export interface DocumentNode {
  readonly kind: 'document';
  readonly what: 'landing' | 'prompt' | 'transcript' | 'checks' | 'receipt';
  readonly parent: IterationNode;
  readonly ref: IterationRef;
}

export interface IterationCommitNode {
  readonly kind: 'commit';
  readonly parent: IterationNode;
  readonly subject: string;
  readonly ref: CommitRef;
}

/** A run before the newest one; its iterations are read when it is expanded. */
export interface RunNode {
  readonly kind: 'run';
  readonly folder: string;
  readonly runId: string;
  readonly state: RunState;
}

export type IterationTreeNode =
  | GroupNode
  | IterationNode
  | DocumentNode
  | IterationCommitNode
  | RunNode;

type Group = GroupNode['group'];
const GROUPS: readonly Group[] = ['running', 'queue', 'finished'];

/** Iterations of a run as lines. Unchanged lines keep their objects. */
export class IterationNodes {
  private readonly t: Translate;
  private readonly folder: string;
  private readonly runId: string;
  private known = new Map<number, IterationNode>();
  private readonly groups: ReadonlyMap<Group, GroupNode>;

  constructor(folder: string, runId: string, t: Translate) {
    this.t = t;
    this.folder = folder;
    this.runId = runId;
    this.groups = new Map(
      GROUPS.map(group => [group, { kind: 'group', group, folder, runId, children: [] }]),
    );
  }

  /**
   * @param alive whether the run's loop is alive
   * @returns the lines, newest first, and the existing ones that have changed
   */
  update(
    events: readonly RunEvent[],
    alive: boolean,
  ): { readonly nodes: readonly IterationNode[]; readonly changed: readonly IterationNode[] } {
    const checks = new Map<number, number>();
    for (const event of events) {
      if (event.type === 'gate.started') {
        // If a claim is checked again, only the last time counts.
        checks.delete(event.iteration);
      } else if (event.type === 'check.ended') {
        checks.set(event.iteration, (checks.get(event.iteration) ?? 0) + 1);
      }
    }
    const known = new Map<number, IterationNode>();
    const changed: IterationNode[] = [];
    const places = alive ? this.queued(events) : new Map<number, QueuedFacts>();
    for (const row of iterationRows(events, { alive })) {
      const queued = places.get(row.number);
      const facts = { row, checks: checks.get(row.number) ?? 0, queued };
      const before = this.known.get(row.number);
      if (before === undefined) {
        const ref = { folder: this.folder, runId: this.runId, iteration: row.number };
        known.set(row.number, { kind: 'iteration', ref, ...facts });
        continue;
      }
      known.set(row.number, before);
      if (
        before.checks !== facts.checks ||
        JSON.stringify([before.row, before.queued]) !== JSON.stringify([facts.row, facts.queued])
      ) {
        Object.assign(before, facts);
        changed.push(before);
      }
    }
    this.known = known;
    return { nodes: [...known.values()].reverse(), changed };
  }

  /** By iteration. The words say all that a line shows of the queue, so that the queue need not be compared. */
  private queued(events: readonly RunEvent[]): ReadonlyMap<number, QueuedFacts> {
    const { queue } = laneHistory(events);
    return new Map(
      queue.map(({ isLanding, work: { iteration } }, index) => [
        iteration,
        { index, isLanding, words: queueWords(queue, iteration, this.t) },
      ]),
    );
  }

  /**
   * The same lines in groups: what runs, in the order of the numbers; what waits to land, in its order; what is over, the
   * newest first. Groups without lines are left out.
   * @param nodes the newest lines
   * @returns the groups, and those whose lines are others than before
   */
  grouped(nodes: readonly IterationNode[]): {
    readonly groups: readonly GroupNode[];
    readonly changed: readonly GroupNode[];
  } {
    const lines: Readonly<Record<Group, readonly IterationNode[]>> = {
      running: nodes.filter(node => groupOf(node) === 'running').reverse(),
      queue: nodes
        .filter(node => groupOf(node) === 'queue')
        .sort((a, b) => (a.queued?.index ?? 0) - (b.queued?.index ?? 0)),
      finished: nodes.filter(node => groupOf(node) === 'finished'),
    };
    const changed: GroupNode[] = [];
    for (const [name, group] of this.groups) {
      const after = lines[name];
      if (
        after.length !== group.children.length ||
        after.some((node, index) => node !== group.children[index])
      ) {
        group.children = after;
        changed.push(group);
      }
    }
    return { groups: [...this.groups.values()].filter(hasLines), changed };
  }
}

function groupOf({ queued, row }: IterationNode): Group {
  return queued !== undefined ? 'queue' : row.outcome === 'running' ? 'running' : 'finished';
}

function hasLines({ children }: GroupNode): boolean {
  return children.length > 0;
}

/** Commits first, then documents. */
export function childrenOf(node: IterationNode): (IterationCommitNode | DocumentNode)[] {
  const { ref, row, checks } = node;
  const documents: readonly DocumentNode['what'][] = [
    ...(row.landing === undefined ? [] : (['landing'] as const)),
    'prompt',
    'transcript',
    ...(checks > 0 ? (['checks'] as const) : []),
    ...(row.outcome === 'running' ? [] : (['receipt'] as const)),
  ];
  return [
    ...row.commits.map(
      ({ hash, subject }): IterationCommitNode => ({
        kind: 'commit',
        parent: node,
        subject,
        ref: { folder: ref.folder, hash },
      }),
    ),
    ...documents.map((what): DocumentNode => ({ kind: 'document', what, parent: node, ref })),
  ];
}
