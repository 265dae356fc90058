import { InvalidArgumentError, Option } from 'commander';
import { HumanError } from '../orchestrator/humanError.ts';
import { begunRunIds, isRunId, type RunFiles } from '../orchestrator/run/runFiles.ts';
import { UsageError } from '../orchestrator/usageError.ts';
import { livingLoop, readRun } from './loopEnd.ts';
import { print } from './print.ts';

/** So many runs are named in a message. */
const MAX_NAMED = 5;

/** `--run <id>` of the commands that look at one run. */
export function runOption(): Option {
  return new Option('--run <id>', 'another run than the newest').argParser(value => {
    if (!isRunId(value)) {
      throw new InvalidArgumentError("This is not a run's id.");
    }
    return value;
  });
}

/** The run that a command is about. */
export interface ChosenRun {
  readonly runId: string;
  /** All runs of the folder that have begun, oldest first. */
  readonly ids: readonly string[];
  /** The newest run, where it has no iterations and an older one was taken in its place. */
  readonly passedOver?: string;
}

/**
 * The named run, the one that is going on, or the newest; the newest with iterations where that one has none, as after a
 * run that found no story ready.
 * @throws {UsageError} when there is no run of that id
 * @throws {HumanError} when there has been no run at all
 */
export async function requireRun(files: RunFiles, named: string | undefined): Promise<ChosenRun> {
  const ids = await begunRunIds(files);
  const newest = ids.at(-1);
  if (newest === undefined) {
    throw new HumanError('No run in this folder yet. Start one with "ralph-fresh run".');
  }
  if (named !== undefined) {
    if (!ids.includes(named)) {
      throw new UsageError(`There is no run ${named} in this folder. ${newestOf(ids)}`);
    }
    return { runId: named, ids };
  }
  const living = await livingLoop(files);
  if (living !== undefined) {
    return { runId: living.runId, ids };
  }
  for (const runId of ids.toReversed()) {
    if ((await readRun(files, runId)).iteration > 0) {
      return runId === newest ? { runId, ids } : { runId, ids, passedOver: newest };
    }
  }
  return { runId: newest, ids };
}

/**
 * Says which run is told of where it is not the newest.
 * @param isData standard output is for programs, so it goes to standard error
 */
export function tellPassedOver({ passedOver, runId }: ChosenRun, isData: boolean): void {
  if (passedOver === undefined) {
    return;
  }
  const line = `This is run ${runId}, the newest that has iterations; the newest of all has none (--run ${passedOver}).`;
  if (isData) {
    process.stderr.write(`ralph-fresh: ${line}\n`);
  } else {
    print(line);
  }
}

/** The error for an iteration that a run does not have. */
export function noIteration(
  iteration: number,
  { ids, runId }: ChosenRun,
  known: readonly number[],
): UsageError {
  const has = known.length === 0 ? '; it has none at all.' : `. It has ${ranges(known)}.`;
  const others = ids.length > 1 ? ` ${newestOf(ids)}` : '';
  return new UsageError(`Run ${runId} has no iteration ${iteration}${has}${others}`);
}

function newestOf(ids: readonly string[]): string {
  if (ids.length === 1) {
    return `There is only ${ids[0]}.`;
  }
  return `The newest runs are ${ids.slice(-MAX_NAMED).reverse().join(', ')}; name one with --run.`;
}

/** `1-3, 7`; a run may have a thousand. */
function ranges(numbers: readonly number[]): string {
  const found: [number, number][] = [];
  for (const number of numbers) {
    const last = found.at(-1);
    if (last && number === last[1] + 1) {
      last[1] = number;
    } else {
      found.push([number, number]);
    }
  }
  return found.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
}
