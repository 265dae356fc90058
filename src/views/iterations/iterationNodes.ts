import type { RunEvent } from '../../orchestrator/journal/events.ts';
import { type IterationRow, iterationRows } from '../../orchestrator/journal/iterationRows.ts';
import type { RunState } from '../../orchestrator/journal/runState.ts';
import type { CommitRef, IterationRef } from '../common/refs.ts';

/** An iteration. VS Code knows a line by its object, so that one stays and its row changes. */
export interface IterationNode {
  readonly kind: 'iteration';
  readonly ref: IterationRef;
  row: IterationRow;
  /** Checks that ran in it. */
  checks: number;
}

/** What an iteration has left to read. */
export interface DocumentNode {
  readonly kind: 'document';
  readonly what: 'prompt' | 'transcript' | 'checks' | 'receipt';
  readonly parent: IterationNode;
  readonly ref: IterationRef;
}

export interface IterationCommitNode {
  readonly kind: 'commit';
  readonly parent: IterationNode;
  readonly subject: string;
  readonly ref: CommitRef;
}

/** A run before the newest one; its iterations are read when it is opened. */
export interface RunNode {
  readonly kind: 'run';
  readonly folder: string;
  readonly runId: string;
  readonly state: RunState;
}

export type IterationTreeNode = IterationNode | DocumentNode | IterationCommitNode | RunNode;

/** Iterations of a run as lines. Lines that say the same as before stay the same objects. */
export class IterationNodes {
  private readonly folder: string;
  private readonly runId: string;
  private known = new Map<number, IterationNode>();

  constructor(folder: string, runId: string) {
    this.folder = folder;
    this.runId = runId;
  }

  /**
   * @param alive the run's loop lives
   * @returns the newest first, and those of before that say something else now
   */
  update(
    events: readonly RunEvent[],
    alive: boolean,
  ): { readonly nodes: readonly IterationNode[]; readonly changed: readonly IterationNode[] } {
    const checks = new Map<number, number>();
    for (const event of events) {
      if (event.type === 'gate.started') {
        // A claim that is checked again counts as it is checked last.
        checks.delete(event.iteration);
      } else if (event.type === 'check.ended') {
        checks.set(event.iteration, (checks.get(event.iteration) ?? 0) + 1);
      }
    }
    const known = new Map<number, IterationNode>();
    const changed: IterationNode[] = [];
    for (const row of iterationRows(events, { alive })) {
      const facts = { row, checks: checks.get(row.number) ?? 0 };
      const before = this.known.get(row.number);
      if (before === undefined) {
        const ref = { folder: this.folder, runId: this.runId, iteration: row.number };
        known.set(row.number, { kind: 'iteration', ref, ...facts });
        continue;
      }
      known.set(row.number, before);
      if (
        before.checks !== facts.checks ||
        JSON.stringify(before.row) !== JSON.stringify(facts.row)
      ) {
        Object.assign(before, facts);
        changed.push(before);
      }
    }
    this.known = known;
    return { nodes: [...known.values()].reverse(), changed };
  }
}

/** Commits first, then what there is to read. */
export function childrenOf(node: IterationNode): (IterationCommitNode | DocumentNode)[] {
  const { ref, row, checks } = node;
  const documents: readonly DocumentNode['what'][] = [
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
