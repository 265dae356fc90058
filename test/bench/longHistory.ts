import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { newRunId, RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { runIds } from '../../src/orchestrator/workspace/runIds.ts';
import { fakeAgent } from '../support/ralph.ts';
import {
  type BenchWorkspace,
  benchStories,
  benchWorkspace,
  storyFileText,
} from './benchWorkspace.ts';
import { CLI, NODE_FLAGS } from './product.ts';
import { median, type Row } from './row.ts';

const OUTPUT_BYTES = 200e6;
const RUNS = 50;
const ITERATIONS = 40;
const COMMANDS = ['status', 'stories', 'next'] as const;
/** Of each command, after one warm-up run. */
const ROUNDS = 9;
const MAX_MS = 300;
/** Compared with `node -e 0`. */
const MAX_RATIO = 3;
/** The same; each run that was kept takes a part of a millisecond (ADR 0096). */
const MAX_HISTORY_RATIO = 4;
/** The ratio of the same command differs by this from one run of the bench to the next. */
const NOISE = 0.3;
const MAX_MB = 120;
/** Run by the measured process itself when it exits; the system records the peak. */
const TELL_MEMORY = `import{readFileSync,writeSync}from'node:fs';process.on('exit',()=>writeSync(3,readFileSync('/proc/self/status','utf8')))`;

/**
 * The cost of `status`, `stories` and `next` after one run, and in a folder with a run whose agent printed 200 MB and
 * 2,000 iterations in 50 runs. The product creates the first run and one of 40 iterations, whose journal is then copied.
 */
export async function longHistory(): Promise<Row[]> {
  await using workspace = await benchWorkspace(benchStories(ITERATIONS));
  await run(workspace, 'succeeds', '--max-iterations', String(ITERATIONS));
  const rows = await commandRows(workspace, `after a run of ${ITERATIONS} iterations`, MAX_RATIO);
  await repeatRun(workspace);
  await writeFile(workspace.storyFile, storyFileText(benchStories(1)));
  await run(workspace, path.join(import.meta.dirname, 'agents', 'floods.mjs'), '--new');
  const history = `after 200 MB of output and ${RUNS * ITERATIONS} iterations in ${RUNS} runs`;
  return [...rows, ...(await commandRows(workspace, history, MAX_HISTORY_RATIO))];
}

async function commandRows(
  workspace: BenchWorkspace,
  when: string,
  maxRatio: number,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const command of COMMANDS) {
    const args = [...NODE_FLAGS, CLI, command];
    await timeOf(args, workspace);
    const rounds: { bare: number; own: number }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      rounds.push({
        bare: await timeOf(['-e', '0'], workspace),
        own: await timeOf(args, workspace),
      });
    }
    const own = median(rounds.map(round => round.own));
    const bare = median(rounds.map(round => round.bare));
    const ratio = median(rounds.map(round => round.own / round.bare));
    rows.push({
      what: `\`${command}\` ${when} (node -e 0: ${bare.toFixed(0)} ms)`,
      budget: `≤ ${MAX_MS} ms, ≤ ${maxRatio}`,
      value: `${own.toFixed(0)} ms`,
      ratio: ratio.toFixed(1),
      isWithin: ratio <= maxRatio,
      decides: ratio > maxRatio + NOISE,
    });
    const megabytes = await memoryOf(args, workspace);
    if (megabytes !== undefined) {
      rows.push({
        what: 'the same, memory, highest',
        budget: `≤ ${MAX_MB} MB`,
        value: `${megabytes.toFixed(0)} MB`,
        isWithin: megabytes <= MAX_MB,
        decides: true,
      });
    }
  }
  return rows;
}

/** @param agent a fake of the tests, or a path of one */
async function run(workspace: BenchWorkspace, agent: string, ...args: string[]): Promise<void> {
  const program = path.isAbsolute(agent) ? agent : fakeAgent(agent);
  const given = ['run', '--quiet', '--agent', 'claude', '--claude-path', program, ...args];
  const env = { ...workspace.env, BENCH_BYTES: String(OUTPUT_BYTES) };
  await ended([...NODE_FLAGS, CLI, ...given], { ...workspace, env });
}

/** Creates 49 more runs from one: its journal with other ids, each older than the one before. */
async function repeatRun({ folder }: BenchWorkspace): Promise<void> {
  const files = new RunFiles(folder);
  const [first = ''] = await runIds(files);
  const text = await readFile(files.journalFile(first), 'utf8');
  const day = 24 * 60 * 60 * 1_000;
  for (let number = 1; number < RUNS; number += 1) {
    const id = newRunId(new Date(Date.now() - number * day));
    await mkdir(files.runDir(id));
    await writeFile(files.journalFile(id), text.replaceAll(first, id));
  }
}

async function timeOf(args: readonly string[], workspace: BenchWorkspace): Promise<number> {
  const startedAt = performance.now();
  await ended(args, workspace);
  return performance.now() - startedAt;
}

/** In MB; `undefined` if the system does not report it. */
async function memoryOf(
  args: readonly string[],
  workspace: BenchWorkspace,
): Promise<number | undefined> {
  if (process.platform !== 'linux') {
    return undefined;
  }
  const preload = `--import=data:text/javascript,${encodeURIComponent(TELL_MEMORY)}`;
  const status = await ended([preload, ...args], workspace);
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? [];
  return (Number(kibibytes) * 1_024) / 1e6;
}

/** @returns what the process wrote to its fourth stream */
async function ended(
  args: readonly string[],
  { env, folder }: Pick<BenchWorkspace, 'env' | 'folder'>,
): Promise<string> {
  const child = spawn(process.execPath, args, {
    ...{ cwd: folder, env },
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  let told = '';
  child.stdio[3]?.on('data', (data: Buffer) => {
    told += data.toString('utf8');
  });
  const [code] = await once(child, 'close');
  if (code !== 0) {
    throw new Error(`${args.join(' ')} ended with ${code}`);
  }
  return told;
}
