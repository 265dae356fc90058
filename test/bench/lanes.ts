import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ensureClaudeCode } from '../../scripts/lib/claudeCode.ts';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { readJournal } from '../../src/orchestrator/journal/journal.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { fakeAgent } from '../support/ralph.ts';
import { ScriptedModel, storyScript } from '../support/scriptedModel.ts';
import { type BenchStory, benchStories, benchWorkspace } from './benchWorkspace.ts';
import { lanePlaces } from './lanePlaces.ts';
import { memoryOfLanes } from './memory.ts';
import { CLI, NODE_FLAGS } from './product.ts';
import { median, type Row } from './row.ts';

const LANES = 4;
const STORIES = 20;
const AGENT_MS = 10_000;
const IDEAL_MS = (STORIES * AGENT_MS) / LANES;
/** Total time against the ideal. */
const MAX_RATIO = 1.2;
/** Stories that land one by one, in a repository with so many files. */
const LANDINGS = 12;
const FILES = 1_000;
const MAX_LANDING_MS = 150;
const REAL_STORIES = 8;
const REAL_ROUNDS = 2;

/** Several agents at once: what they save, and what their places and landings cost. */
export async function lanes(): Promise<Row[]> {
  return [
    ...(await withIdealAgents()),
    ...(await landings()),
    ...(await lanePlaces()),
    ...(await withClaudeCode()),
    ...(await memoryOfLanes(LANES)),
  ];
}

/** 20 stories of 10 s on four lanes take 50 s if everything else takes no time. */
async function withIdealAgents(): Promise<Row[]> {
  const stories = benchStories(STORIES);
  const { events, ms } = await timeOf({
    ...{ stories, agent: path.join(import.meta.dirname, 'agents', 'takesTime.mjs') },
    ...{ lanes: LANES, env: { BENCH_AGENT_MS: String(AGENT_MS) } },
  });
  const ratio = ms / IDEAL_MS;
  const gaps = gapsOf(events);
  return [
    {
      what: `${STORIES} stories on ${LANES} lanes, agents that take ${AGENT_MS / 1_000} s (ideal: ${IDEAL_MS / 1_000} s)`,
      budget: `≤ ${MAX_RATIO.toFixed(2)}`,
      value: `${(ms / 1_000).toFixed(1)} s`,
      ratio: ratio.toFixed(2),
      isWithin: ratio <= MAX_RATIO,
      // The ideal is no measurement: on a busy machine, everything but the sleep takes longer.
      decides: false,
    },
    {
      what: 'the same, between two agents of a lane (median)',
      budget: '–',
      value: `${median(gaps).toFixed(0)} ms`,
      isWithin: true,
      decides: false,
    },
  ];
}

/** Stories that wait for each other, so that nothing else happens while one of them lands. */
async function landings(): Promise<Row[]> {
  const stories = benchStories(LANDINGS).map((story, i, all) => ({
    ...story,
    dependsOn: i === 0 ? [] : [all[i - 1]?.id],
  }));
  const setup = { stories, agent: fakeAgent('succeeds'), lanes: LANES, files: FILES };
  const { events } = await timeOf(setup);
  const ms = median(landingsIn(events));
  const checked = await timeOf({ ...setup, args: ['--verify', 'exit 0'] });
  return [
    {
      what: `landing a story, ${FILES} files, without checks (median of ${LANDINGS})`,
      budget: `≤ ${MAX_LANDING_MS} ms`,
      value: `${ms.toFixed(0)} ms`,
      isWithin: ms <= MAX_LANDING_MS,
      decides: false,
    },
    {
      what: 'the same, with a check that does nothing, without the check itself',
      budget: '–',
      value: `${median(landingsIn(checked.events)).toFixed(0)} ms`,
      isWithin: true,
      decides: false,
    },
  ];
}

/** The same stories on four lanes and on one, around the real Claude Code with a model that answers at once. */
async function withClaudeCode(): Promise<Row[]> {
  const agent = await ensureClaudeCode(line => console.log(`[bench] ${line}`));
  const stories = benchStories(REAL_STORIES);
  await using model = await ScriptedModel.start(
    storyScript(stories, {
      storyOf: prompt => /\*\*WORK\*\* on story (US-\d+)/.exec(prompt)?.[1],
    }),
  );
  const run = async (count: number): Promise<number> =>
    (await timeOf({ stories, agent, lanes: count, model })).ms;
  const rounds: { readonly one: number; readonly several: number }[] = [];
  for (let round = 0; round < REAL_ROUNDS; round += 1) {
    rounds.push({ one: await run(1), several: await run(LANES) });
  }
  const seconds = (of: (round: (typeof rounds)[number]) => number) =>
    `${(median(rounds.map(of)) / 1_000).toFixed(1)} s`;
  return [
    {
      what: `Claude Code with a model that answers at once, ${REAL_STORIES} stories on ${LANES} lanes, against one`,
      budget: '–',
      value: `${seconds(({ several }) => several)} (${seconds(({ one }) => one)})`,
      ratio: median(rounds.map(({ one, several }) => several / one)).toFixed(2),
      isWithin: true,
      decides: false,
    },
  ];
}

interface Setup {
  readonly stories: readonly BenchStory[];
  /** The program that is called as `claude`. */
  readonly agent: string;
  readonly lanes: number;
  /** More arguments of the run. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Answers the real Claude Code. */
  readonly model?: ScriptedModel;
  /** Number of other files in the repository. */
  readonly files?: number;
}

/** Runs all stories as a process, in a fresh workspace. */
async function timeOf(
  setup: Setup,
): Promise<{ readonly ms: number; readonly events: readonly RunEvent[] }> {
  const { agent, args = [], env, files = 0, lanes: count, model, stories } = setup;
  await using workspace = await benchWorkspace(stories, folder => fill(folder, files));
  const { folder, root } = workspace;
  const home = path.join(root, 'home');
  await mkdir(home, { recursive: true });
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    [
      ...[...NODE_FLAGS, CLI, 'run', '--agent', 'claude', '--claude-path', agent],
      ...['--max-iterations', String(2 * stories.length), '--lanes', String(count), ...args],
    ],
    {
      cwd: folder,
      env: { ...(model?.env(home) ?? workspace.env), ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const [code] = await once(child, 'close');
  const ms = performance.now() - startedAt;
  if (code !== 0) {
    throw new Error(`The run with ${count} lanes ended with ${code}`);
  }
  const runFiles = new RunFiles(folder);
  const [runId = ''] = await readdir(runFiles.runsDir);
  const events = await readJournal(runFiles.journalFile(runId));
  const landed = events.filter(({ type }) => type === 'landing.landed').length;
  if (count > 1 && landed !== stories.length) {
    throw new Error(`${landed} of ${stories.length} stories have landed.`);
  }
  return { ms, events };
}

/** Files as a project has them, in folders. */
async function fill(folder: string, files: number): Promise<void> {
  for (let i = 0; i < files; i += 1) {
    const dir = path.join(folder, 'src', `part${i % 25}`);
    await mkdir(dir, { recursive: true });
    await writeFile(path.join(dir, `module${i}.ts`), `export const value = ${i};\n`.repeat(60));
  }
}

/** Between the end of an agent and the start of the next one in the same lane, in ms. */
function gapsOf(events: readonly RunEvent[]): number[] {
  const laneOf = new Map<number, number>();
  const endedAt = new Map<number, number>();
  const gaps: number[] = [];
  for (const event of events) {
    const at = Date.parse(event.at);
    if (event.type === 'iteration.started') {
      laneOf.set(event.iteration, event.lane ?? 1);
    } else if (event.type === 'agent.started') {
      const before = endedAt.get(laneOf.get(event.iteration ?? 0) ?? 0);
      gaps.push(...(before === undefined ? [] : [at - before]));
    } else if (event.type === 'agent.ended') {
      endedAt.set(laneOf.get(event.iteration ?? 0) ?? 0, at);
    }
  }
  return gaps;
}

/** How long each story took from the queue to the end of its iteration, without its checks, in ms. */
function landingsIn(events: readonly RunEvent[]): number[] {
  const queuedAt = new Map<number, number>();
  const checksMs = new Map<number, number>();
  return events.flatMap(event => {
    const at = Date.parse(event.at);
    if (event.type === 'landing.queued') {
      queuedAt.set(event.iteration, at);
    } else if (event.type === 'check.ended') {
      const before = checksMs.get(event.iteration) ?? 0;
      checksMs.set(event.iteration, before + event.durationMs);
    } else if (event.type === 'iteration.ended') {
      const { iteration } = event;
      const queued = queuedAt.get(iteration);
      return queued === undefined ? [] : [at - queued - (checksMs.get(iteration) ?? 0)];
    }
    return [];
  });
}
