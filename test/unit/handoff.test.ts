import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { GitRepository } from '../../src/orchestrator/git/git.ts';
import {
  fitHandoff,
  HANDOFF_MAX_BYTES,
  initHandoff,
  type RalphFreshHandoff,
  refreshHandoffFromFiles,
  writeHandoff,
} from '../../src/orchestrator/iteration/handoff.ts';
import { INITIAL_RUN_STATE, type RunState } from '../../src/orchestrator/journal/runState.ts';
import type { StoryList } from '../../src/orchestrator/stories/story.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { gitRepo, type TempDir, tempDir } from '../support/cleanEnv.ts';
import { sameValue } from '../support/sameValue.ts';

const fresh = initHandoff({
  prompt: 'Build it',
  maxIterations: 20,
  completionPromise: 'TASK_COMPLETE',
});

function storyList(done: readonly boolean[]): StoryList {
  const file = parseStoryFile(
    'prd.json',
    JSON.stringify({
      project: 'Todos',
      branchName: 'ralph/todos',
      description: 'A todo API',
      userStories: done.map((passes, i) => ({
        id: `US-${i + 1}`,
        title: `Story ${i + 1}`,
        passes,
      })),
    }),
  );
  assert.ok(file.kind === 'stories');
  return file;
}

test('it names the last titles that were reported, within its limit', () => {
  const alreadyReported = Array.from({ length: 1_000 }, (_, n) => `${n} ${'鳥'.repeat(200)}`);
  const fitted = fitHandoff({ ...fresh, alreadyReported });
  assert.ok(bytes({ ...fresh, alreadyReported }) <= HANDOFF_MAX_BYTES);
  assert.match(fitted.alreadyReported?.at(-1) ?? '', /^999 鳥/);
  assert.ok((fitted.alreadyReported?.length ?? 0) <= 10);
  assert.equal('alreadyReported' in JSON.parse(JSON.stringify(fitHandoff(fresh))), false);
});

const bytes = (handoff: RalphFreshHandoff) =>
  Buffer.byteLength(`${JSON.stringify(fitHandoff(handoff), null, 2)}\n`);

describe('the handoff in the workspace', () => {
  let temp: TempDir;
  let files: RunFiles;
  const warnings: string[] = [];
  const onWarning = (code: string) => void warnings.push(code);

  beforeEach(async () => {
    temp = await tempDir('handoff-');
    files = new RunFiles(temp.path);
    warnings.length = 0;
  });
  afterEach(() => temp.remove());

  /** Files as a run finds them after some work. */
  async function sources(state: RunState = INITIAL_RUN_STATE) {
    await mkdir(path.join(temp.path, '.omc'), { recursive: true });
    await writeFile(
      path.join(temp.path, '.omc/progress.txt'),
      '## Codebase Patterns\n- Use pnpm\n\n' +
        Array.from(
          { length: 7 },
          (_, i) => `## 2026-01-0${i + 1} - US-${i + 1}\n- Learned ${i + 1}\n`,
        ).join(''),
    );
    await gitRepo(temp.path);
    await writeFile(path.join(temp.path, 'new.txt'), '');
    return {
      stories: storyList([true, false, false]),
      progressFile: path.join(temp.path, '.omc/progress.txt'),
      git: new GitRepository(temp.path),
      state,
      iteration: 4,
      storyId: 'US-2',
    };
  }

  test('has the structure of the whitepaper (7.1), from files, git and the run', async () => {
    const state: RunState = {
      ...INITIAL_RUN_STATE,
      commits: [{ hash: 'c1', subject: 's', at: 'now', iteration: 1, storyId: 'US-1' }],
      lastCompletedStory: 'US-1',
      storyRecords: new Map([
        ['US-1', { stuckFor: 0, failures: 0, iterations: 1, costUsd: 0, doneBy: 'agent' }],
        ['US-2', { stuckFor: 2, failures: 1, iterations: 2, costUsd: 0 }],
      ]),
      storyNotes: new Map([
        [
          'US-2',
          {
            lastIteration: { number: 3, outcome: 'failed' },
            lastError: { iteration: 3, kind: 'api', message: 'bad day' },
          },
        ],
        // Of another story, which is none of its business.
        [
          'US-3',
          {
            lastIteration: { number: 2, outcome: 'blocked' },
            lastError: { iteration: 2, kind: 'api', message: 'worse' },
          },
        ],
      ]),
    };
    const from = await sources(state);
    const handoff = await refreshHandoffFromFiles(fresh, from, onWarning);
    const [head] = await from.git.commits();
    sameValue(handoff, {
      version: '1.0',
      created_at: fresh.created_at,
      iteration: 4,
      max_iterations: 20,
      original_prompt: 'Build it',
      completion_promise: 'TASK_COMPLETE',
      completed: false,
      prd: {
        project: 'Todos',
        branchName: 'ralph/todos',
        description: 'A todo API',
        storiesTotal: 3,
        storiesCompleted: 1,
        nextStoryId: 'US-2',
        incompleteIds: ['US-2', 'US-3'],
      },
      progress: {
        patterns: ['Use pnpm'],
        recentLearnings: ['Learned 3', 'Learned 4', 'Learned 5', 'Learned 6', 'Learned 7'],
        lastCompletedStory: 'US-1',
      },
      git: {
        recentCommits: [{ hash: head?.hash.slice(0, 10), message: 'First commit' }],
        branch: 'main',
        hasUncommittedChanges: true,
      },
      stuckDetection: {
        lastPrdStatus: ['US-2', 'US-3'],
        iterationsOnSameStory: 2,
        lastActionAttempted: 'failed',
      },
      lastError: { iteration: 3, message: 'bad day' },
    });
    assert.ok(Date.parse(handoff.created_at) > 0);
    sameValue(warnings, []);
  });

  test('includes what was done about the last error', async () => {
    const recoveryAttempt = 'called again twice';
    const from = await sources();
    assert.equal((await refreshHandoffFromFiles(fresh, from, onWarning)).lastError, undefined);
    const state: RunState = {
      ...INITIAL_RUN_STATE,
      storyNotes: new Map([
        ['US-2', { lastError: { iteration: 3, kind: 'api', message: 'bad day', recoveryAttempt } }],
      ]),
    };
    sameValue((await refreshHandoffFromFiles(fresh, { ...from, state }, onWarning)).lastError, {
      iteration: 3,
      message: 'bad day',
      recoveryAttempt,
    });
  });

  test('names the first ready story as next if none is given', async () => {
    const { storyId: _storyId, ...rest } = await sources();
    const next = async (done: boolean[]) =>
      (await refreshHandoffFromFiles(fresh, { ...rest, stories: storyList(done) }, onWarning)).prd
        ?.nextStoryId;
    assert.equal(await next([true, true, false]), 'US-3');
    assert.equal(await next([true, true]), null);
  });

  test('omits the story part in free-form mode', async () => {
    const { storyId: _storyId, stories: _stories, ...rest } = await sources();
    const handoff = await refreshHandoffFromFiles(fresh, rest, onWarning);
    assert.equal('prd' in handoff, false);
    sameValue(handoff.stuckDetection, { lastPrdStatus: [], iterationsOnSameStory: 0 });
  });

  test('treats a missing progress log as empty', async () => {
    const from = await sources();
    await rm(from.progressFile);
    const handoff = await refreshHandoffFromFiles(fresh, from, onWarning);
    sameValue(handoff.progress, { patterns: [], recentLearnings: [] });
    sameValue(warnings, []);
  });

  test('works in a repository without commits', async () => {
    const from = await sources();
    await rm(path.join(temp.path, '.git'), { recursive: true });
    await mkdir(path.join(temp.path, '.git/refs'), { recursive: true });
    await mkdir(path.join(temp.path, '.git/objects'), { recursive: true });
    await writeFile(path.join(temp.path, '.git/HEAD'), 'ref: refs/heads/new\n');
    const { git } = await refreshHandoffFromFiles(fresh, from, onWarning);
    sameValue(git, { recentCommits: [], branch: 'new', hasUncommittedChanges: true });
    sameValue(warnings, []);
  });

  test('keeps known values if sources cannot be read, and reports them', async () => {
    const from = await sources();
    const known = await refreshHandoffFromFiles(fresh, from, onWarning);
    await rm(from.progressFile);
    await mkdir(from.progressFile);
    await writeFile(path.join(temp.path, '.git/HEAD'), 'garbage');
    const { stories: _stories, ...rest } = from;
    const after = await refreshHandoffFromFiles(known, { ...rest, iteration: 5 }, onWarning);
    sameValue(after.progress, known.progress);
    sameValue(after.git, known.git);
    sameValue(after.prd, known.prd);
    assert.equal(after.iteration, 5);
    sameValue(warnings.sort(), ['gitUnreadable', 'progressUnreadable']);
  });

  test('does not name an open story with commits as the last completed one', async () => {
    const state: RunState = {
      ...INITIAL_RUN_STATE,
      commits: [{ hash: 'c1', subject: 'half of it', at: 'now', iteration: 1, storyId: 'US-2' }],
    };
    const { progress } = await refreshHandoffFromFiles(fresh, await sources(state), onWarning);
    assert.notEqual(progress.lastCompletedStory, 'US-2');
  });

  test('is written', async () => {
    const size = await writeHandoff(files.handoffFile, fresh);
    const text = await readFile(files.handoffFile, 'utf8');
    assert.equal(Buffer.byteLength(text), size);
    assert.match(text, /^\{\n {2}"version": "1\.0"[\s\S]*\}\n$/);
    sameValue(JSON.parse(text), fresh);
    // Written in one step: no partial file is left next to it.
    sameValue(await readdir(files.stateDir), [path.basename(files.handoffFile)]);
  });
});

async function written(files: RunFiles): Promise<RalphFreshHandoff> {
  return JSON.parse(await readFile(files.handoffFile, 'utf8'));
}

describe('the size of the handoff', () => {
  const many = (count: number, text = '') =>
    Array.from({ length: count }, (_, i) => `US-${String(i).padStart(4, '0')}${text}`);
  const prd = (ids: string[], text = '') => ({
    project: text,
    branchName: text,
    description: text,
    storiesTotal: ids.length,
    storiesCompleted: 0,
    nextStoryId: ids[0] ?? null,
    incompleteIds: ids,
  });

  test('a small handoff is left as it is', () => {
    const handoff = { ...fresh, prd: prd(['US-1', 'US-2'], 'Todos') };
    sameValue(fitHandoff(handoff), handoff);
  });

  test('1,000 stories fit, the next ones by name and the others by number', () => {
    const ids = many(1_000);
    const handoff = {
      ...fresh,
      prd: prd(ids, 'Todos'),
      stuckDetection: { lastPrdStatus: ids, iterationsOnSameStory: 0 },
    };
    assert.ok(bytes(handoff) <= HANDOFF_MAX_BYTES);
    const fitted = fitHandoff(handoff).prd?.incompleteIds ?? [];
    sameValue(fitted.slice(0, 2), ['US-0000', 'US-0001']);
    assert.equal(fitted.at(-1), `…and ${1_000 - fitted.length + 1} more`);
    assert.equal(fitHandoff(handoff).prd?.storiesTotal, 1_000);
  });

  for (const [name, text] of [
    ['long words', 'x'.repeat(100_000)],
    ['words', 'word '.repeat(20_000)],
    ['of four bytes a letter', '😀'.repeat(50_000)],
    ['of three bytes a letter', '漢字'.repeat(50_000)],
    ['control characters', '\u0001'.repeat(100_000)],
    ['quotes and backslashes', '"\\'.repeat(50_000)],
    ['halves of letters', '\uD83D'.repeat(100_000)],
  ] as const) {
    test(`huge texts fit: ${name}`, () => {
      const handoff: RalphFreshHandoff = {
        ...fresh,
        original_prompt: text,
        completion_promise: text,
        completion_message: text,
        prd: prd(many(1_000, text.slice(0, 200)), text),
        progress: {
          patterns: many(200, text.slice(0, 200)),
          recentLearnings: [text, text, text, text, text],
          lastCompletedStory: text,
        },
        git: {
          recentCommits: many(5, text).map(message => ({ hash: 'abcdef1234', message })),
          branch: text,
          hasUncommittedChanges: true,
        },
        stuckDetection: {
          lastPrdStatus: many(1_000, text.slice(0, 200)),
          iterationsOnSameStory: 3,
          lastActionAttempted: 'noProgress',
        },
        lastError: { iteration: 3, message: text },
      };
      assert.ok(bytes(handoff) <= HANDOFF_MAX_BYTES, `${bytes(handoff)}`);
      assert.equal(fitHandoff(handoff).prd?.storiesTotal, 1_000);
    });
  }

  const word = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc
      .tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 5 }), fc.nat(3_000))
      .map(([text, times]) => text.repeat(times)),
  );
  const words = fc.array(word, { maxLength: 30 });

  test('it always fits and can be read back, whatever the files contain', async () => {
    await using temp = await tempDir('handoff-size-');
    const files = new RunFiles(temp.path);
    await fc.assert(
      fc.asyncProperty(
        fc.record({ prompt: word, ids: words, patterns: words, text: word, commits: words }),
        async ({ prompt, ids, patterns, text, commits }) => {
          const handoff: RalphFreshHandoff = {
            ...fresh,
            original_prompt: prompt,
            completion_message: text,
            prd: prd(ids, text),
            progress: { patterns, recentLearnings: patterns, lastCompletedStory: text },
            git: {
              recentCommits: commits.slice(0, 5).map(message => ({ hash: 'abcdef1234', message })),
              branch: text,
              hasUncommittedChanges: false,
            },
            stuckDetection: { lastPrdStatus: ids, iterationsOnSameStory: 0 },
            lastError: { iteration: 1, message: text },
          };
          assert.ok((await writeHandoff(files.handoffFile, handoff)) <= HANDOFF_MAX_BYTES);
          const read = await written(files);
          assert.equal(read.prd?.storiesTotal, ids.length);
        },
      ),
      { numRuns: 100 },
    );
  });

  test('any handoff fits, keeps its numbers and can be read back', async () => {
    await using temp = await tempDir('handoff-any-');
    const files = new RunFiles(temp.path);
    const line = fc.oneof(word, fc.constant('漢字 '.repeat(200)));
    const lines = fc.array(line, { maxLength: 12 });
    const optional = fc.record({ completion_message: line, later: line }, { requiredKeys: [] });
    const errors = fc.record(
      { iteration: fc.nat(), message: line, recoveryAttempt: line },
      { requiredKeys: ['iteration', 'message'] },
    );
    await fc.assert(
      fc.asyncProperty(
        optional,
        lines,
        line,
        fc.nat(),
        errors,
        async (others, many, one, number, error) => {
          const handoff = {
            ...fresh,
            ...others,
            created_at: one,
            iteration: number,
            original_prompt: one,
            prd: { ...prd(many, one), later: one },
            progress: { patterns: many, recentLearnings: many, later: many },
            git: {
              recentCommits: many.map(message => ({ hash: one, message })),
              branch: one,
              hasUncommittedChanges: true,
            },
            stuckDetection: { lastPrdStatus: many, iterationsOnSameStory: number },
            lastError: error,
          } as RalphFreshHandoff;
          assert.ok((await writeHandoff(files.handoffFile, handoff)) <= HANDOFF_MAX_BYTES);
          const fitted = await written(files);
          assert.equal(fitted.iteration, number);
          assert.equal(fitted.lastError?.iteration, error.iteration);
          assert.ok(fitted.progress.recentLearnings.length <= 5);
          assert.ok(fitted.git.recentCommits.length <= 5);
        },
      ),
      { numRuns: 100 },
    );
  });

  test('a long text is cut at a word, with a mark', () => {
    const { progress } = fitHandoff({
      ...fresh,
      progress: { patterns: [], recentLearnings: ['learned words '.repeat(100)] },
    });
    assert.match(progress.recentLearnings[0] ?? '', / (?:learned|words)…$/);
  });

  test('unknown fields that leave no room are omitted', () => {
    const handoff = { ...fresh, later: 'x'.repeat(10_000) };
    sameValue(fitHandoff(handoff), fresh);
  });

  test('many commits and long actions fit too', () => {
    const handoff: RalphFreshHandoff = {
      ...fresh,
      git: {
        recentCommits: many(200).map(message => ({ hash: 'abcdef1234', message })),
        branch: 'main',
        hasUncommittedChanges: false,
      },
      stuckDetection: {
        lastPrdStatus: [],
        iterationsOnSameStory: 0,
        lastActionAttempted: 'x'.repeat(10_000),
      },
    };
    assert.ok(bytes(handoff) <= HANDOFF_MAX_BYTES, `${bytes(handoff)}`);
  });
});
