import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { isWithin } from '../base/isWithin.ts';
import { shellWord } from '../base/shellWord.ts';
import { UsageError } from '../base/usageError.ts';
import { knownSources } from '../orchestrator/stories/knownSources.ts';
import { workTreeRoot } from '../orchestrator/stories/outsideLinks.ts';
import { keptReceipts, RECEIPT_NAME } from '../orchestrator/workspace/keptReceipts.ts';
import { readNewestRun, readRun } from '../orchestrator/workspace/runCheckpoint.ts';
import { isRunId, RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { begunRunIds, runIds } from '../orchestrator/workspace/runIds.ts';
import { activeRun, livingLoop } from './loopEnd.ts';
import { print, tell } from './print.ts';

/** Maximum number of runs named in a message. */
const MAX_NAMED = 5;

/** `--run <id>` of the commands that inspect one run. */
export function runOption(): Option {
  return new Option('--run <id>', 'id of a run; default: the newest').argParser(value => {
    if (!isRunId(value)) {
      throw new InvalidArgumentError('This is not a run id. Leave out --run for the newest one.');
    }
    return value;
  });
}

/** The message that there has been no run here. If a folder above has runs, the person is in the wrong folder. */
export async function noRunHere(files: RunFiles): Promise<string> {
  const { workspace } = files;
  const lost = (await lostRuns(files, [])).at(-1);
  if (lost !== undefined) {
    return damagedJournal(files, lost);
  }
  const above = folderAboveWithRuns(workspace);
  return above === undefined
    ? 'No run in this folder yet. Start one with "ralph-fresh run".'
    : `No run in this folder yet, but in ${above}. Go there, or name it: --cwd ${shellWord(above)}`;
}

function folderAboveWithRuns(workspace: string): string | undefined {
  for (let dir = workspace; dir !== path.dirname(dir); ) {
    dir = path.dirname(dir);
    if (existsSync(new RunFiles(dir).runsDir)) {
      return dir;
    }
  }
  return undefined;
}

/**
 * For commands about what runs leave or read, which would otherwise find or reach nobody in the wrong folder.
 * @throws {HumanError} if this folder has neither runs nor stories, and one above in its repository has runs
 */
export async function requireRunsHere(files: RunFiles): Promise<void> {
  const { runsDir, workspace } = files;
  const root = workTreeRoot(workspace);
  const above = folderAboveWithRuns(workspace);
  if (
    !existsSync(runsDir) &&
    above !== undefined &&
    isWithin(root, above) &&
    (await knownSources(workspace)).length === 0
  ) {
    throw new HumanError(await noRunHere(files));
  }
}

/**
 * Where the ticks of a story file are recorded: in this folder, or, if it has no runs, in the project above it whose run
 * or earlier ticks are about this file. Otherwise a tick could not be taken back exactly from a subfolder.
 */
export async function filesForTicks(files: RunFiles, storyFile: string): Promise<RunFiles> {
  const { runsDir, workspace } = files;
  const above = existsSync(runsDir) ? undefined : folderAboveWithRuns(workspace);
  if (above === undefined || !isWithin(workTreeRoot(workspace), above)) {
    return files;
  }
  const filesAbove = new RunFiles(above);
  return (await areTicksAbove(filesAbove, workspace, storyFile)) ? filesAbove : files;
}

/** Ids repeat between files, so a run must not be told of a tick in another one. */
async function areTicksAbove(
  above: RunFiles,
  workspace: string,
  storyFile: string,
): Promise<boolean> {
  const file = await realFile(path.resolve(workspace, storyFile));
  const run = (await activeRun(above)) ?? (await readNewestRun(above));
  if (run?.storyFile !== undefined) {
    return (await realFile(path.resolve(above.workspace, run.storyFile))) === file;
  }
  // Ticks from before the first run name no file; the list of this folder is not the one of the folder above.
  const [realAbove, here] = await Promise.all([realFile(above.workspace), realFile(workspace)]);
  return run?.phase === 'idle' && isWithin(realAbove, file) && !isWithin(here, file);
}

function realFile(file: string): Promise<string> {
  return realpath(file).catch(() => file);
}

/** The run that a command is about. */
export interface ChosenRun {
  readonly runId: string;
  /** All started runs of the folder, oldest first. */
  readonly ids: readonly string[];
  /** The newest run, if it has no iterations and an older one was chosen instead. */
  readonly passedOver?: string;
}

/**
 * The named run, the running one, or the newest. If the newest has no iterations, for example because no story was
 * ready, the newest run with iterations.
 * @throws {UsageError} if there is no run with that id
 * @throws {HumanError} if there has been no run at all
 */
export async function requireRun(files: RunFiles, named: string | undefined): Promise<ChosenRun> {
  const ids = await begunRunIds(files);
  const newest = ids.at(-1);
  const lost = await lostRuns(files, ids);
  const lostOne = named ?? (newest === undefined ? lost.at(-1) : undefined);
  if (lostOne !== undefined && lost.includes(lostOne)) {
    throw new HumanError(await damagedJournal(files, lostOne));
  }
  if (newest === undefined) {
    throw new HumanError(await noRunHere(files));
  }
  if (named !== undefined) {
    if (!ids.includes(named)) {
      throw new UsageError(`There is no run ${named} in this folder. ${newestOf(ids)}`);
    }
    return { runId: named, ids };
  }
  const newestLost = lost.at(-1);
  if (newestLost !== undefined && newestLost > newest) {
    // An agent may have put it there, so it must not hide the readable runs.
    tell(
      `The journal of run ${newestLost}, which is newer, is empty or damaged; --run ${newestLost} shows what is left of it.`,
    );
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
 * Says which run is shown if it is not the newest.
 * @param isData standard output is for programs, so this goes to standard error
 */
export function tellPassedOver({ passedOver, runId }: ChosenRun, isData: boolean): void {
  if (passedOver === undefined) {
    return;
  }
  const line = `This is run ${runId}, the newest one with iterations; the newest of all has none (--run ${passedOver}).`;
  if (isData) {
    tell(line);
  } else {
    print(line);
  }
}

/** Runs with ended iterations whose journals do not start as a loop writes them; oldest first. */
async function lostRuns(files: RunFiles, begun: readonly string[]): Promise<string[]> {
  const lost: string[] = [];
  for (const runId of await runIds(files)) {
    if (!begun.includes(runId) && (await keptReceipts(files, runId)).length > 0) {
      lost.push(runId);
    }
  }
  return lost;
}

/** What is wrong with the journal of a run with iterations, which other records exist, and the next step. */
async function damagedJournal(files: RunFiles, runId: string): Promise<string> {
  return `The journal of run ${runId} is empty or damaged: ${files.journalFile(runId)}. ${whereReceiptsAre(files, runId, await keptReceipts(files, runId))} Restore the journal from a backup, or start the next run with "ralph-fresh run --new".`;
}

/**
 * Reports that a run's journal lacks the end of ended iterations: it was truncated.
 * @param ended iterations whose end the journal contains
 */
export async function cutOffJournal(
  files: RunFiles,
  runId: string,
  ended: readonly number[],
): Promise<string | undefined> {
  const missing = (await keptReceipts(files, runId)).filter(number => !ended.includes(number));
  return missing.length === 0
    ? undefined
    : `The journal of run ${runId} is damaged or truncated: ${files.journalFile(runId)}. ${whereReceiptsAre(files, runId, missing)} Restore the journal from a backup to see everything.`;
}

function whereReceiptsAre(files: RunFiles, runId: string, iterations: readonly number[]): string {
  const [first = 1] = iterations;
  const place = path.join(files.iterationDir(runId, first), RECEIPT_NAME);
  return iterations.length === 1
    ? `For iteration ${first} there is still ${place}.`
    : `For iterations ${ranges(iterations)} there is still a ${RECEIPT_NAME} each, the first at ${place}.`;
}

/**
 * The error for an unknown iteration of a run.
 * @param withoutCommit iterations to which a rollback cannot go back
 */
export function noIteration(
  iteration: number,
  { ids, runId }: ChosenRun,
  known: readonly number[],
  withoutCommit: readonly number[] = [],
): UsageError {
  const isFirst = withoutCommit.length > 0;
  const has = known.length === 0 ? '; it has none at all.' : `. It has ${ranges(known)}.`;
  const before = `Iteration${withoutCommit.length > 1 ? 's' : ''} ${ranges(withoutCommit)} began before the first commit, so there is nothing to go back to.`;
  const others = ids.length > 1 ? ` ${newestOf(ids)}` : '';
  return new UsageError(
    `Run ${runId} has no iteration ${iteration}${isFirst && known.length === 0 ? '.' : has}${isFirst ? ` ${before}` : ''}${others}`,
  );
}

function newestOf(ids: readonly string[]): string {
  if (ids.length === 1) {
    return `There is only ${ids[0]}.`;
  }
  return `The newest runs are ${ids.slice(-MAX_NAMED).reverse().join(', ')}; name one with --run.`;
}

/** `1-3, 7`, because a run may have a thousand iterations. */
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
