import { assertNever } from '../../base/assertNever.ts';
import type { RecordedCommit, RunState } from '../journal/runState.ts';

/** Whose commits: of all runs of a folder, or of one run. */
export type CommitsOf =
  | { readonly kind: 'story'; readonly storyId: string }
  | { readonly kind: 'iteration'; readonly runId: string; readonly iteration: number }
  | { readonly kind: 'run'; readonly runId: string };

/**
 * The commits recorded in the journals, oldest first, each once. Pure.
 * @param states of all runs of a folder, the oldest first
 */
export function recordedCommits(states: readonly RunState[], of: CommitsOf): RecordedCommit[] {
  const found = new Map<string, RecordedCommit>();
  for (const { commits, runId } of states) {
    for (const commit of commits) {
      if (isOf(of, commit, runId) && !found.has(commit.hash)) {
        found.set(commit.hash, commit);
      }
    }
  }
  return [...found.values()];
}

function isOf(of: CommitsOf, commit: RecordedCommit, runId: string | undefined): boolean {
  switch (of.kind) {
    case 'story':
      return commit.storyId === of.storyId;
    case 'iteration':
      return runId === of.runId && commit.iteration === of.iteration;
    case 'run':
      return runId === of.runId;
    default:
      return assertNever(of);
  }
}
