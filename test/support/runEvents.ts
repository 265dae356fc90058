import type { RunEvent, RunEventBody } from '../../src/orchestrator/journal/events.ts';

type RunStarted = Extract<RunEventBody, { type: 'run.started' }>;
type IterationStarted = Extract<RunEventBody, { type: 'iteration.started' }>;
type IterationEnded = Extract<RunEventBody, { type: 'iteration.ended' }>;

/** The time of all events, in tests that do not depend on it. */
export const AT = '2026-03-01T12:00:00.000Z';

/** Numbers the events like a journal. */
export function journalOf(
  bodies: readonly RunEventBody[],
  at: (index: number) => string = () => AT,
): RunEvent[] {
  return bodies.map((body, index) => ({ seq: index + 1, at: at(index), ...body }));
}

/** The first event of a run on a story file. */
export function runStarted(more: Partial<RunStarted> & Pick<RunStarted, 'stories'>): RunStarted {
  return {
    type: 'run.started',
    runId: 'r1',
    version: '0.1.0',
    pid: 1,
    agent: 'claude',
    mode: 'stories',
    task: 'todos',
    maxIterations: 20,
    stuckThreshold: 3,
    ...more,
  };
}

/** The start of an iteration, without problems of its story. */
export function iterationStarted(
  more: Partial<IterationStarted> & Pick<IterationStarted, 'iteration' | 'stories'>,
): IterationStarted {
  return {
    type: 'iteration.started',
    maxIterations: 20,
    promptBytes: 1,
    handoffBytes: 1,
    stuckFor: 0,
    ...more,
  };
}

/** Its end, by default without a commit. */
export function iterationEnded(
  more: Partial<IterationEnded> & Pick<IterationEnded, 'iteration' | 'outcome' | 'stories'>,
): IterationEnded {
  return { type: 'iteration.ended', durationMs: 1_000, commits: 0, ...more };
}
