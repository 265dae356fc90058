import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { claudeAgent } from '../../src/orchestrator/agents/claude/claude.ts';
import { CodeSearch } from '../../src/orchestrator/context/codeSearch.ts';
import { Briefer } from '../../src/orchestrator/iteration/briefing.ts';
import { HANDOFF_MAX_BYTES, writeHandoff } from '../../src/orchestrator/iteration/handoff.ts';
import type { RunEventBody } from '../../src/orchestrator/journal/events.ts';
import { JournalWriter } from '../../src/orchestrator/journal/journal.ts';
import { openRun } from '../../src/orchestrator/loop/openRun.ts';
import { decide } from '../../src/orchestrator/loop/policy.ts';
import { userTree } from '../../src/orchestrator/places/place.ts';
import { readSnapshot } from '../../src/orchestrator/places/snapshot.ts';
import { DEFAULT_CONFIG } from '../../src/orchestrator/settings/config.ts';
import { newRunId, RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { StopSwitch } from '../../src/orchestrator/workspace/stopSwitch.ts';
import {
  type BenchWorkspace,
  benchStories,
  benchWorkspace,
  storyFileText,
} from './benchWorkspace.ts';
import type { Row } from './row.ts';

const STORIES = 1_000;
const MAX_GROWTH = 1.05;
/** Commits before the run; a run seldom starts in an empty repository. */
const HISTORY = 10;

/**
 * The prompt of an agent at iteration 1,000 of 1,000, compared with iteration 2. Stories, log, commits and journal
 * are real.
 */
export async function thousandth(): Promise<Row[]> {
  const second = await briefingAt(2);
  const last = await briefingAt(STORIES);
  const growth = last.promptBytes / second.promptBytes;
  return [
    {
      what: `handoff at iteration ${STORIES} with ${STORIES} stories`,
      budget: `≤ ${HANDOFF_MAX_BYTES} bytes`,
      value: `${last.handoffBytes} bytes`,
      isWithin: last.handoffBytes <= HANDOFF_MAX_BYTES,
      decides: true,
    },
    {
      what: `prompt at iteration ${STORIES} against iteration 2`,
      budget: `≤ ${MAX_GROWTH.toFixed(2)}`,
      value: `${last.promptBytes} bytes (${second.promptBytes})`,
      ratio: growth.toFixed(2),
      isWithin: growth <= MAX_GROWTH,
      decides: true,
    },
    {
      what: 'the time to make it',
      budget: '–',
      value: `${last.ms.toFixed(0)} ms (${second.ms.toFixed(0)})`,
      isWithin: true,
      decides: false,
    },
  ];
}

/** The workspace after every earlier iteration has done its story, and the briefing of this iteration. */
async function briefingAt(
  iteration: number,
): Promise<{ promptBytes: number; handoffBytes: number; ms: number }> {
  const before = iteration - 1;
  const stories = benchStories(STORIES, before);
  await using workspace = await benchWorkspace(benchStories(STORIES));
  const commits = await makeCommits(workspace, stories.slice(0, before));
  await writeFile(workspace.storyFile, storyFileText(stories));
  await writeFile(path.join(workspace.folder, '.omc', 'progress.txt'), progressLog(before));
  const files = new RunFiles(workspace.folder);
  const runId = newRunId();
  const journal = await JournalWriter.open(files.journalFile(runId));
  try {
    for (const event of eventsBefore(runId, iteration, commits)) {
      journal.append(event);
    }
    const place = userTree(workspace.folder, workspace.storyFile);
    const config = { ...DEFAULT_CONFIG, maxIterations: STORIES + 100, contextTokens: 0 };
    const snapshot = await readSnapshot(workspace.storyFile, place.git);
    const run = openRun(
      {
        ...{ files, runId, config, storyFile: workspace.storyFile, env: {}, version: '0' },
        // None is started here.
        agent: claudeAgent(),
        stop: new StopSwitch(),
      },
      journal,
      {
        code: new CodeSearch(undefined, { wait: true }),
        look: async () => undefined,
        followStories: async () => undefined,
        resume: () => new AbortController().signal,
      },
    );
    const decision = decide({
      ...{ state: run.state(), config, stopRequested: false },
      ...(snapshot.stories && { stories: snapshot.stories.stories }),
    });
    const start = decision.kind === 'start' ? decision.starts[0] : undefined;
    if (start?.iteration !== iteration) {
      throw new Error(`Iteration ${iteration} would not come next: ${JSON.stringify(decision)}`);
    }
    const startedAt = performance.now();
    const { handoff, prompt } = await new Briefer(run, undefined, snapshot).brief({
      ...{ iteration, place, before: snapshot },
      ...(start.story && { story: start.story }),
    });
    const handoffBytes = await writeHandoff(files.handoffFile, handoff);
    const ms = performance.now() - startedAt;
    return { promptBytes: Buffer.byteLength(prompt), handoffBytes, ms };
  } finally {
    journal.close();
  }
}

/**
 * Creates the commits of the repository before the run, and one for each story, with one git process.
 * @returns the hashes of the stories' commits, oldest first
 */
async function makeCommits(
  { env, folder }: BenchWorkspace,
  stories: readonly { readonly id: string; readonly title: string }[],
): Promise<string[]> {
  const subjects = [
    ...Array.from(
      { length: HISTORY },
      (_, i) => `feat: Show group ${i + 1} in the overview of last week`,
    ),
    ...stories.map(({ id, title }) => `feat: ${id} - ${title}`),
  ];
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const stream = subjects.map((subject, i) =>
    [
      'commit refs/heads/main\n',
      `committer Test Person <test@example.com> ${1_760_000_000 + i * 600} +0000\n`,
      data(subject),
      i === 0 ? 'from refs/heads/main^0\n' : '',
      `M 644 inline src/${i}.txt\n${data(`The work of commit ${i}.`)}`,
    ].join(''),
  );
  await run('git', ['fast-import', '--quiet'], stream.join(''));
  await run('git', ['reset', '--quiet', '--hard']);
  const log = await run('git', [
    'log',
    '--reverse',
    '--format=%H',
    `--max-count=${stories.length}`,
  ]);
  return log.trim().split('\n');

  async function run(program: string, args: readonly string[], input = ''): Promise<string> {
    const child = spawn(program, args, { cwd: folder, env, stdio: ['pipe', 'pipe', 'inherit'] });
    // A git that reads nothing may have ended by now; its exit code says why.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const [code] = await once(child, 'close');
    if (code !== 0) {
      throw new Error(`${program} ${args[0]} ended with ${code}`);
    }
    return output;
  }
}

/** As agents write it, iteration by iteration. */
function progressLog(iterations: number): string {
  const patterns = [
    ...[
      'Rows of the overview come from `src/overview/rows.ts`',
      'Every total goes through `sum()`',
    ],
    ...[
      'Tests build their data with `aGroup()`',
      'Dates are kept as ISO text and shown by `day()`',
    ],
  ];
  const entries = Array.from({ length: iterations }, (_, i) =>
    [
      `## 2026-01-01 10:00 - US-${String(i + 1).padStart(4, '0')}`,
      `- Added the row of group ${i + 1} with its total, and tests for it`,
      `- Files changed: src/overview/rows.ts, test/overview/group${i + 1}.test.ts`,
      '- **Learnings for future iterations:**',
      `  - Group ${i + 1} has entries without a date; the sum leaves them out`,
      '  - The overview is sorted by name, so a new row needs no place of its own',
      '  - Snapshots of the overview must be made anew after a row was added',
      '  - The type check finds a missing translation, the tests do not',
      '  - An empty group has a total of 0, not none',
      '---',
    ].join('\n'),
  );
  return `# Ralph Progress Log\n\n## Codebase Patterns\n${patterns.map(text => `- ${text}`).join('\n')}\n\n---\n\n${entries.join('\n')}\n`;
}

/** The content of the journal after all earlier iterations have done their stories. */
function* eventsBefore(
  runId: string,
  iteration: number,
  commits: readonly string[],
): Generator<RunEventBody> {
  const stories = benchStories(STORIES);
  yield {
    ...{ type: 'run.started', runId, version: '0', pid: process.pid, agent: 'claude' },
    ...{ mode: 'stories', task: 'Measure it', maxIterations: STORIES + 100, stuckThreshold: 3 },
    ...{ storyFile: '.omc/prd.json', stories: { done: 0, total: STORIES }, branch: 'main' },
  };
  for (let n = 1; n < iteration; n++) {
    const { id: storyId = '', title: storyTitle = '' } = stories[n - 1] ?? {};
    const count = (done: number) => ({ done, total: STORIES });
    yield {
      ...{
        type: 'iteration.started',
        iteration: n,
        maxIterations: STORIES + 100,
        storyId,
        storyTitle,
      },
      ...{ stories: count(n - 1), promptBytes: 4_000, handoffBytes: 3_000, stuckFor: 0 },
    };
    yield { type: 'agent.started', iteration: n, pid: 10_000 + n };
    for (let step = 0; step < 20; step++) {
      const id = `toolu_${n}_${step}`;
      yield { type: 'agent.text', text: `Step ${step}: looking at what the overview needs next.` };
      yield { type: 'agent.tool', id, name: 'Edit', gist: `src/overview/rows${step}.ts` };
    }
    yield {
      ...{ type: 'agent.ended', iteration: n, reason: 'exited', exitCode: 0, durationMs: 60_000 },
      ...{ leftovers: 0, costUsd: 0.25, turns: 20 },
    };
    yield {
      ...{ type: 'commit.recorded', iteration: n, storyId, hash: commits[n - 1] ?? '' },
      subject: `feat: ${storyId} - ${storyTitle}`,
    };
    yield { type: 'story.changed', storyId, done: true, by: 'agent', iteration: n };
    yield {
      ...{
        type: 'iteration.ended',
        iteration: n,
        storyId,
        outcome: 'storyDone',
        durationMs: 60_100,
      },
      ...{ commits: 1, progress: true, stories: count(n), costUsd: 0.25 },
    };
  }
}
