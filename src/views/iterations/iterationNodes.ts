import type { RunEvent } from '../../orchestrator/journal/events.ts';
import { type IterationRow, iterationRows } from '../../orchestrator/journal/iterationRows.ts';
import type { RunState } from '../../orchestrator/journal/runState.ts';
import type { CommitRef, IterationRef } from '../common/refs.ts';

/** An iteration. VS Code identifies a line by its object, so the object is kept and its row changes. */
export interface IterationNode {
  readonly kind: 'iteration';
  readonly ref: IterationRef;
  row: IterationRow;
  /** Number of its checks. */
  checks: number;
}

/** A document of an iteration. */
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

/** A run before the newest one; its iterations are read when it is expanded. */
export interface RunNode {
  readonly kind: 'run';
  readonly folder: string;
  readonly runId: string;
  readonly state: RunState;
}

export type IterationTreeNode = IterationNode | DocumentNode | IterationCommitNode | RunNode;

/** Iterations of a run as lines. Unchanged lines keep their objects. */
export class IterationNodes {
  private readonly folder: string;
  private readonly runId: string;
  private known = new Map<number, IterationNode>();

  constructor(folder: string, runId: string) {
    this.folder = folder;
    this.runId = runId;
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

/** Commits first, then documents. */
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
