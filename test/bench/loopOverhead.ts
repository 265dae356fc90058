import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fakeAgent } from '../support/ralph.ts';
import { benchStories, benchWorkspace } from './benchWorkspace.ts';
import { CLI, NODE_FLAGS } from './product.ts';
import { median, type Row } from './row.ts';

const STORIES = 20;
const ROUNDS = 5;
const MAX_RATIO = 1.3;
const MAX_MS = 25;

/**
 * The loop against a bare `while` loop around the same agent with the same kind of prompt, both as processes of their
 * own, in turns.
 */
export async function loopOverhead(): Promise<Row[]> {
  const agent = fakeAgent('succeeds');
  const bare: number[] = [];
  const ralph: number[] = [];
  const runs = [
    () =>
      timeOf([path.join(import.meta.dirname, './bareLoop.mjs'), agent]).then(ms => bare.push(ms)),
    () =>
      timeOf([
        ...[CLI, 'run', '--agent', 'claude', '--claude-path', agent],
        ...['--max-iterations', String(STORIES + 1)],
      ]).then(ms => ralph.push(ms)),
  ];
  for (let round = 0; round < ROUNDS; round++) {
    // Neither always comes first.
    for (const run of round % 2 === 0 ? runs : runs.toReversed()) {
      await run();
    }
  }
  const ratio = median(ralph) / median(bare);
  const extraMs = (median(ralph) - median(bare)) / STORIES;
  const bareMs = median(bare) / STORIES;
  return [
    {
      what: `loop overhead, ${STORIES} stories, against a bare loop (${bareMs.toFixed(0)} ms an iteration)`,
      budget: `≤ ${MAX_RATIO.toFixed(2)}`,
      value: `${(median(ralph) / STORIES).toFixed(0)} ms an iteration`,
      ratio: ratio.toFixed(2),
      isWithin: ratio <= MAX_RATIO,
      decides: true,
    },
    {
      what: 'the same, what the loop adds',
      budget: `about ${MAX_MS} ms`,
      value: `${extraMs.toFixed(0)} ms an iteration`,
      isWithin: extraMs <= MAX_MS,
      decides: false,
    },
  ];
}

/** Runs it in a fresh workspace until all stories are done. @returns ms */
async function timeOf(args: readonly string[]): Promise<number> {
  await using workspace = await benchWorkspace(benchStories(STORIES));
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...NODE_FLAGS, ...args], {
    cwd: workspace.folder,
    env: workspace.env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'close');
  const ms = performance.now() - startedAt;
  if (code !== 0) {
    throw new Error(`${args[0]} ended with ${code}`);
  }
  return ms;
}
