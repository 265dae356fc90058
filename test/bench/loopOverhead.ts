import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { ensureClaudeCode } from '../../scripts/lib/claudeCode.ts';
import { claudeArgs } from '../../src/orchestrator/agents/claude/claude.ts';
import { fakeAgent } from '../support/ralph.ts';
import { ScriptedModel, storyScript } from '../support/scriptedModel.ts';
import { type BenchWorkspace, benchStories, benchWorkspace } from './benchWorkspace.ts';
import { CLI, NODE_FLAGS } from './product.ts';
import { median, type Row } from './row.ts';

const STORIES = 20;
const ROUNDS = 25;
const REAL_STORIES = 5;
const REAL_ROUNDS = 5;
/** With the real Claude Code. */
const MAX_RATIO = 1.1;
/** With the scripted agent, per iteration. */
const MAX_MS = 40;

/** Configuration of both loops. */
interface Setup {
  readonly stories: number;
  readonly rounds: number;
  /** The program that is called as `claude`. */
  readonly agent: string;
  /** Its arguments in the bare loop; the product has its own. */
  readonly args: readonly string[];
  readonly env: (workspace: BenchWorkspace) => Promise<Record<string, string>>;
}

/** The total time of both runs in a round, in ms. */
interface Round {
  readonly bare: number;
  readonly ralph: number;
}

/** The loop compared with a bare `while` loop around the same scripted agent, which does next to nothing. */
export async function loopOverhead(): Promise<Row[]> {
  const rounds = await measure({
    ...{ stories: STORIES, rounds: ROUNDS, agent: fakeAgent('succeeds'), args: [] },
    env: async workspace => workspace.env,
  });
  const extraMs = median(rounds.map(({ bare, ralph }) => (ralph - bare) / STORIES));
  return [
    ratioRow('loop overhead', STORIES, rounds, undefined),
    {
      what: 'the same, what the loop adds',
      budget: `≤ ${MAX_MS} ms`,
      value: `${extraMs.toFixed(0)} ms an iteration`,
      isWithin: extraMs <= MAX_MS,
      decides: false,
    },
  ];
}

/** Like {@link loopOverhead}, with the real Claude Code, whose model is a local script that answers at once. */
export async function claudeOverhead(): Promise<Row[]> {
  const agent = await ensureClaudeCode(line => console.log(`[bench] ${line}`));
  const stories = benchStories(REAL_STORIES);
  await using model = await ScriptedModel.start(
    storyScript(stories, {
      storyOf: prompt => /\*\*WORK\*\* on story (US-\d+)/.exec(prompt)?.[1],
    }),
  );
  const rounds = await measure({
    ...{ stories: REAL_STORIES, rounds: REAL_ROUNDS, agent },
    args: claudeArgs({}, { cwd: '', prompt: '', maxTurns: 100, env: {} }),
    env: async ({ root }) => {
      const home = path.join(root, 'home');
      await mkdir(home, { recursive: true });
      return model.env(home);
    },
  });
  return [ratioRow('loop overhead with Claude Code', REAL_STORIES, rounds, MAX_RATIO)];
}

/**
 * The median over the rounds, since both runs of a round see the same load of the machine.
 * @param max budget; `undefined` if the value is only informative
 */
function ratioRow(
  what: string,
  stories: number,
  rounds: readonly Round[],
  max: number | undefined,
): Row {
  const ratio = median(rounds.map(({ bare, ralph }) => ralph / bare));
  const bare = median(rounds.map(round => round.bare));
  const ralph = median(rounds.map(round => round.ralph));
  return {
    what: `${what}, ${stories} stories, against a bare loop (${(bare / stories).toFixed(0)} ms an iteration)`,
    budget: max === undefined ? '–' : `≤ ${max.toFixed(2)}`,
    value: `${(ralph / stories).toFixed(0)} ms an iteration`,
    ratio: ratio.toFixed(2),
    isWithin: max === undefined || ratio <= max,
    decides: max !== undefined,
  };
}

/** Runs both loops as separate processes, alternating, around the same agent with the same kind of prompt. */
async function measure(setup: Setup): Promise<Round[]> {
  const { agent, args, rounds, stories } = setup;
  const bareLoop = path.join(import.meta.dirname, './bareLoop.mjs');
  const loop = [
    ...[CLI, 'run', '--agent', 'claude', '--claude-path', agent],
    ...['--max-iterations', String(stories + 1)],
  ];
  // Removed after all measurements: deletion keeps the file system busy even after it has returned.
  await using workspaces = new AsyncDisposableStack();
  const runBare = () => timeOf(setup, workspaces, [bareLoop, agent, ...args]);
  const runRalph = () => timeOf(setup, workspaces, loop);
  // The first run after a build compiles the program, and finds neither git nor Node in the file cache.
  await runRalph();
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    // Alternates which one comes first.
    if (round % 2 === 0) {
      const bare = await runBare();
      measured.push({ bare, ralph: await runRalph() });
    } else {
      const ralph = await runRalph();
      measured.push({ bare: await runBare(), ralph });
    }
  }
  return measured;
}

/** Runs it in a fresh workspace until all stories are done. @returns ms */
async function timeOf(
  { env, stories }: Setup,
  workspaces: AsyncDisposableStack,
  args: readonly string[],
): Promise<number> {
  const workspace = workspaces.use(await benchWorkspace(benchStories(stories)));
  const childEnv = await env(workspace);
  if (process.platform === 'linux') {
    // Flushes pending writes of the previous run and of the setup, which must not count.
    spawnSync('sync');
  }
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...NODE_FLAGS, ...args], {
    cwd: workspace.folder,
    env: childEnv,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'close');
  const ms = performance.now() - startedAt;
  if (code !== 0) {
    throw new Error(`${args[0]} ended with ${code}`);
  }
  return ms;
}
