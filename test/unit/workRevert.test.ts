import assert from 'node:assert/strict';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { englishOf, type Message } from '../../src/base/say.ts';
import type { RunEventBody } from '../../src/orchestrator/journal/events.ts';
import { foldRun } from '../../src/orchestrator/journal/foldRun.ts';
import { JournalWriter, readJournal } from '../../src/orchestrator/journal/journal.ts';
import { AlreadyRunningError } from '../../src/orchestrator/loop/exclusiveWork.ts';
import type { Revertible } from '../../src/orchestrator/revert/recordedWork.ts';
import {
  planWorkRevert,
  revertMessage,
  revertWork,
} from '../../src/orchestrator/revert/workRevert.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { acquireRunLock } from '../../src/orchestrator/workspace/runLock.ts';
import { gitRepo, type TempDir, tempDir } from '../support/cleanEnv.ts';
import { gitFolder } from '../support/gitFolder.ts';

const RUN = '2026-11-22T05-00-00-000-abcdef';
const STORY_TWO: Revertible = { kind: 'story', storyId: 'US-002' };

const unexpected = (warning: Message) => assert.fail(englishOf(warning));

describe('reverting a story or an iteration', () => {
  let temp: TempDir;
  let folder: string;
  let files: RunFiles;
  let done: string[];
  const storyFile = () => path.join(folder, '.omc', 'prd.json');

  beforeEach(async () => {
    temp = await tempDir('work-revert-');
    // The workspace is below the root of its repository.
    folder = path.join(temp.path, 'repository', 'packages', 'app');
    files = new RunFiles(folder);
    done = [];
    await mkdir(path.join(files.stateDir), { recursive: true });
    await write('.omc/state/.gitignore', '*\n');
    await write('.omc/prd.json', prd());
    await write('.omc/progress.txt', 'Patterns\n');
  });
  afterEach(() => temp.remove());

  const { git, read } = gitFolder(() => ({ folder, home: temp.path }));

  const write = (file: string, text: string) => writeFile(path.join(folder, file), text);

  function prd(): string {
    const userStories = ['US-001', 'US-002', 'US-003'].map(id => ({
      id,
      title: `Title of ${id}`,
      passes: done.includes(id),
    }));
    return `${JSON.stringify({ userStories }, null, 2)}\n`;
  }

  /** Each story in one iteration and one commit, as an agent does it. */
  async function run(): Promise<void> {
    await gitRepo(path.join(temp.path, 'repository'));
    const stories = { done: 0, total: 3 };
    const events: RunEventBody[] = [
      {
        type: 'run.started',
        runId: RUN,
        ...{ version: '1', pid: 1, agent: 'x', mode: 'stories', task: '' },
        ...{ maxIterations: 9, stuckThreshold: 3, stories },
      },
    ];
    for (const [i, storyId] of ['US-001', 'US-002', 'US-003'].entries()) {
      const iteration = i + 1;
      done.push(storyId);
      await write('.omc/prd.json', prd());
      await write(
        '.omc/progress.txt',
        `${await read('.omc/progress.txt')}\n## ${storyId}\nDid it\n`,
      );
      await write(`${storyId}.txt`, 'work\n');
      await git('add', '--all');
      await git('commit', '--quiet', '--message', `feat: ${storyId}`);
      events.push(
        {
          type: 'iteration.started',
          ...{ iteration, maxIterations: 9, storyId, stories },
          ...{ promptBytes: 1, handoffBytes: 1, stuckFor: 0 },
        },
        {
          type: 'commit.recorded',
          ...{ iteration, storyId, subject: `feat: ${storyId}` },
          hash: await git('rev-parse', 'HEAD'),
        },
        { type: 'story.changed', storyId, done: true, by: 'agent', iteration },
      );
    }
    events.push({ type: 'run.ended', outcome: 'completed', exitCode: 0, stories, iterations: 3 });
    await mkdir(files.runDir(RUN), { recursive: true });
    const journal = await JournalWriter.open(files.journalFile(RUN));
    for (const event of events) {
      journal.append(event);
    }
    journal.close();
  }

  async function plan(of: Revertible) {
    const states = [foldRun(await readJournal(files.journalFile(RUN)))];
    return planWorkRevert(files, { of, states, storyFile: storyFile() });
  }

  /** The work on a list without ids, whose items have moved by one since. */
  async function runOnNumbers(): Promise<(of: Revertible) => ReturnType<typeof planWorkRevert>> {
    await rm(storyFile());
    const list = path.join(folder, 'PLAN.md');
    await writeFile(list, '- [x] Red\n- [x] Blue\n');
    await gitRepo(path.join(temp.path, 'repository'));
    const stories = { done: 0, total: 2 };
    await mkdir(files.runDir(RUN), { recursive: true });
    const journal = await JournalWriter.open(files.journalFile(RUN));
    journal.append({
      ...{ type: 'run.started', runId: RUN, version: '1', pid: 1, agent: 'x', mode: 'stories' },
      ...{ task: '', maxIterations: 9, stuckThreshold: 3, stories },
    });
    for (const [index, storyTitle] of ['Red', 'Blue'].entries()) {
      const [iteration, storyId] = [index + 1, `#${index + 1}`];
      await write(`${storyTitle}.txt`, 'work\n');
      await git('add', '--all');
      await git('commit', '--quiet', '--message', storyTitle);
      journal.append({
        ...{ type: 'iteration.started', iteration, storyId, storyTitle, stories, stuckFor: 0 },
        ...{ maxIterations: 9, promptBytes: 1, handoffBytes: 1 },
      });
      const hash = await git('rev-parse', 'HEAD');
      journal.append({ type: 'commit.recorded', iteration, storyId, hash, subject: storyTitle });
      journal.append({ type: 'story.changed', storyId, done: true, by: 'agent', iteration });
    }
    journal.close();
    await writeFile(list, '- [ ] New\n- [x] Red\n- [x] Blue\n');
    const states = [foldRun(await readJournal(files.journalFile(RUN)))];
    return of => planWorkRevert(files, { of, states, storyFile: list });
  }

  async function ticked(): Promise<unknown[]> {
    const events = await readJournal(files.journalFile(RUN));
    return events.flatMap(event =>
      event.type === 'story.ticked' ? [[event.storyId, event.done]] : [],
    );
  }

  test('the number of a story without an id means the one that has it now', async () => {
    const planOf = await runOnNumbers();
    const shown = async (of: Revertible) => {
      const { commits, reopens } = await planOf(of);
      return [...commits.map(({ subject }) => subject), ...reopens.map(({ title }) => title)];
    };
    assert.deepEqual(await shown({ kind: 'story', storyId: '#2' }), ['Red', 'Red']);
    assert.deepEqual(await shown({ kind: 'story', storyId: '#3' }), ['Blue', 'Blue']);
    assert.deepEqual(await shown({ kind: 'iteration', runId: RUN, iteration: 1 }), ['Red', 'Red']);
    await assert.rejects(planOf({ kind: 'story', storyId: '#1' }), {
      message: `#1 is "New" now, but was "Red" when a run worked on it. To revert that, name the iteration: ralph-fresh revert --iteration 1 --run ${RUN}`,
    });
  });

  test('a title with its id, as a plan has it, is the title of the same story', async () => {
    await run();
    const { commits } = (await plan(STORY_TWO)).plan;
    await write('.omc/prd.json', prd().replaceAll('"Title of US-', '"US-002: Title of US-'));
    assert.deepEqual((await plan(STORY_TWO)).plan.commits, commits);
  });

  test('a title with its id stands once in the message', async () => {
    await run();
    const planned = await plan(STORY_TWO);
    for (const title of ['US-002: Named one', 'Named one']) {
      assert.match(revertMessage(planned, title), /^Revert US-002: Named one \(1 commit\)\n/);
    }
    assert.match(revertMessage(planned, 'US-002'), /^Revert US-002 \(1 commit\)\n/);
  });

  test('a story in the middle: its work and tick are reverted, notes and everything else stay', async () => {
    await run();
    const progress = await read('.omc/progress.txt');
    const planned = await plan(STORY_TWO);
    assert.deepEqual(
      planned.reopens.map(({ id }) => id),
      ['US-002'],
    );
    const made = await revertWork(
      files,
      planned,
      revertMessage(planned, 'Title of US-002'),
      unexpected,
    );
    assert.equal(await git('log', '-1', '--format=%H'), made);
    const message = await git('log', '-1', '--format=%B');
    assert.match(
      message,
      /^Revert US-002: Title of US-002 \(1 commit\)\n\nThis takes back:\n[0-9a-f]{40} feat: US-002$/,
    );
    done = ['US-001', 'US-003'];
    assert.equal(await read('.omc/prd.json'), prd());
    assert.equal(await read('.omc/progress.txt'), progress);
    assert.equal(await git('status', '--porcelain'), '');
    assert.equal(await git('ls-files', '*.txt'), '.omc/progress.txt\nUS-001.txt\nUS-003.txt');
    assert.deepEqual(await ticked(), [['US-002', false]]);
  });

  test('a story file that is untracked or changed is edited in place', async () => {
    await writeFile(path.join(temp.path, 'repository', '.gitignore'), '.omc\n');
    await run();
    await revertWork(files, await plan(STORY_TWO), 'Revert it', unexpected);
    done = ['US-001', 'US-003'];
    assert.equal(await read('.omc/prd.json'), prd());
    assert.equal(await git('ls-files', '*.txt'), 'US-001.txt\nUS-003.txt');
    assert.deepEqual(await ticked(), [['US-002', false]]);
    // The rest is open now; only the tick that a person makes is there to take back.
    await assert.rejects(
      plan({ kind: 'iteration', runId: RUN, iteration: 9 }),
      /Iteration 9 made no commit.*"git status"/,
    );
  });

  test('a story file behind a link is part of the commit, and the link stays', async () => {
    await rename(storyFile(), path.join(folder, 'stories.json'));
    await symlink('../stories.json', storyFile());
    await run();
    await revertWork(files, await plan(STORY_TWO), 'Revert it', unexpected);
    done = ['US-001', 'US-003'];
    assert.equal(await read('stories.json'), prd());
    assert.equal(await git('status', '--porcelain'), '');
    assert.match(await git('ls-files', '--stage', '.omc/prd.json'), /^120000 /);
  });

  test('a story file keeps unrelated changes', async () => {
    await run();
    const changed = prd().replace('Title of US-001', 'Another title');
    await write('.omc/prd.json', changed);
    await revertWork(files, await plan(STORY_TWO), 'Revert it', unexpected);
    assert.equal(await read('.omc/prd.json'), changed.replace(/(US-002"[^}]*)true/s, '$1false'));
    assert.equal(await git('status', '--porcelain'), 'M packages/app/.omc/prd.json');
  });

  test('reverting an iteration removes the tick of the story it finished', async () => {
    await run();
    const planned = await plan({ kind: 'iteration', runId: RUN, iteration: 3 });
    await revertWork(files, planned, revertMessage(planned, undefined), unexpected);
    assert.equal(await git('log', '-1', '--format=%s'), 'Revert iteration 3 (1 commit)');
    assert.deepEqual(await ticked(), [['US-003', false]]);
    // Done again by hand, it is not the iteration's doing any more.
    await rm(path.join(folder, 'US-001.txt'));
    const journal = await JournalWriter.open(files.journalFile(RUN));
    journal.append({ type: 'story.ticked', storyId: 'US-001', done: true });
    journal.close();
    await git('checkout', '--quiet', '--', 'US-001.txt');
    assert.deepEqual((await plan({ kind: 'iteration', runId: RUN, iteration: 1 })).reopens, []);
  });

  test('nothing is reverted while a run is active', async () => {
    await run();
    const planned = await plan(STORY_TWO);
    const attempt = await acquireRunLock(files, RUN);
    assert.equal(attempt.kind, 'acquired');
    const before = await git('rev-parse', 'HEAD');
    await assert.rejects(revertWork(files, planned, 'Revert it', unexpected), AlreadyRunningError);
    assert.equal(await git('rev-parse', 'HEAD'), before);
    assert.equal(await read('.omc/prd.json'), prd());
    await (attempt.kind === 'acquired' ? attempt.lock.release() : undefined);
  });

  test('an error is reported outside a repository', async () => {
    const states = [foldRun([])];
    await assert.rejects(
      planWorkRevert(files, { of: STORY_TWO, states, storyFile: storyFile() }),
      /not in a git repository/,
    );
  });
});
