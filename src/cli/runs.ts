import { InvalidArgumentError, Option } from 'commander';
import { HumanError } from '../orchestrator/humanError.ts';
import { isRunId, type RunFiles, runIds } from '../orchestrator/run/runFiles.ts';
import { UsageError } from '../orchestrator/usageError.ts';
import { livingLoop } from './loopEnd.ts';

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

/**
 * The run that a command is about: the named one, the one that is going on, or the newest.
 * @throws {UsageError} when there is no run of that id
 * @throws {HumanError} when there has been no run at all
 */
export async function requireRunId(files: RunFiles, named: string | undefined): Promise<string> {
  const ids = await runIds(files);
  const newest = ids.at(-1);
  if (newest === undefined) {
    throw new HumanError('No run in this folder yet. Start one with "ralph-fresh run".');
  }
  if (named === undefined) {
    return (await livingLoop(files))?.runId ?? newest;
  }
  if (!ids.includes(named)) {
    throw new UsageError(
      `There is no run ${named} in this folder. The newest are ${ids.slice(-MAX_NAMED).reverse().join(', ')}.`,
    );
  }
  return named;
}

/** The error for an iteration that a run does not have. */
export function noIteration(
  iteration: number,
  runId: string,
  known: readonly number[],
): UsageError {
  return new UsageError(
    known.length === 0
      ? `Run ${runId} has no iteration ${iteration}; it has none at all.`
      : `Run ${runId} has no iteration ${iteration}. It has ${ranges(known)}.`,
  );
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
