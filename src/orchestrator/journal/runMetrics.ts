import type { RunEvent } from './events.ts';
import { usesFile } from './usedFiles.ts';

/** What can be counted of a run, for the table that the context engine is judged by. */
export interface RunMetrics {
  readonly runId: string;
  readonly startedAt: string;
  /** Iterations that have ended. */
  readonly iterations: number;
  readonly storiesDone: number;
  /** Iterations whose prompt named files of the code, and whose agent used files. */
  readonly led: number;
  /** Of these, iterations whose agent used at least one of the named files. */
  readonly hits: number;
  /** Files that agents of these iterations used, and how many of them the prompt had named. */
  readonly usedFiles: number;
  readonly namedFiles: number;
  /** New functions and files that were compared with the code before, and how many of them repeat some of it. */
  readonly newCode: number;
  readonly repeated: number;
  /** Iterations in which an agent's context became full, so that it condensed its conversation. */
  readonly overflows: number;
  /** Mean tokens of a prompt, and of each of its sections over all prompts. */
  readonly promptTokens: number;
  readonly sections: Readonly<Record<string, number>>;
  /** Ids of the stories in the order in which they were done. */
  readonly done: readonly string[];
}

/** Counts a run's journal. Pure and total. */
export function runMetrics(events: readonly RunEvent[]): RunMetrics | undefined {
  const [first] = events;
  if (first?.type !== 'run.started') {
    return undefined;
  }
  const named = new Map<number, ReadonlySet<string>>();
  const used = new Map<number, Set<string>>();
  const sections: Record<string, number> = {};
  const done: string[] = [];
  let prompts = 0;
  let iterations = 0;
  const full = new Set<number>();
  let newCode = 0;
  let repeated = 0;
  for (const event of events) {
    if (event.type === 'iteration.started') {
      named.set(event.iteration, new Set(event.code?.map(({ path }) => path)));
      prompts += 1;
      for (const { name, tokens } of event.promptSections ?? []) {
        sections[name] = (sections[name] ?? 0) + tokens;
      }
    } else if (event.type === 'agent.tool' && event.iteration !== undefined && usesFile(event)) {
      const own = used.get(event.iteration) ?? new Set();
      used.set(event.iteration, own.add(event.gist));
    } else if (event.type === 'agent.compacted' && event.iteration !== undefined) {
      full.add(event.iteration);
    } else if (event.type === 'duplicates.found') {
      newCode += event.looked;
      repeated += event.duplicates.length;
    } else if (event.type === 'iteration.ended') {
      iterations += 1;
      if (event.outcome === 'storyDone' && event.storyId !== undefined) {
        done.push(event.storyId);
      }
    }
  }
  const led = [...used].filter(([iteration]) => (named.get(iteration)?.size ?? 0) > 0);
  const namedIn = ([iteration, files]: (typeof led)[number]): number =>
    [...files].filter(file => named.get(iteration)?.has(file)).length;
  const sum = (values: readonly number[]): number =>
    values.reduce((total, value) => total + value, 0);
  const means = Object.entries(sections).map(
    ([name, tokens]) => [name, Math.round(tokens / prompts)] as const,
  );
  return {
    runId: first.runId,
    startedAt: first.at,
    iterations,
    storiesDone: new Set(done).size,
    led: led.length,
    hits: led.filter(one => namedIn(one) > 0).length,
    usedFiles: sum(led.map(([, files]) => files.size)),
    namedFiles: sum(led.map(namedIn)),
    newCode,
    repeated,
    overflows: full.size,
    promptTokens: Math.round(sum(Object.values(sections)) / (prompts || 1)),
    sections: Object.fromEntries(means),
    done,
  };
}

/**
 * Stories that agents finished before a story that they depend on.
 * @param done in order, of all runs
 * @param stories with what they depend on
 */
export function orderViolations(
  done: readonly string[],
  stories: readonly { readonly id: string; readonly dependsOn: readonly string[] }[],
): { readonly story: string; readonly dependency: string }[] {
  return stories.flatMap(({ dependsOn, id }) => {
    const at = done.indexOf(id);
    return at < 0
      ? []
      : dependsOn
          .filter(dependency => done.indexOf(dependency) > at)
          .map(dependency => ({ story: id, dependency }));
  });
}
