import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  appendFile,
  copyFile,
  mkdir,
  open,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { RunEventBody } from '../../src/orchestrator/journal/events.ts';
import { readRunState } from '../../src/orchestrator/journal/foldJournal.ts';
import { keepRunState, readRun } from '../../src/orchestrator/workspace/runCheckpoint.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { tempDir } from '../support/cleanEnv.ts';
import { iterationEnded, iterationStarted, journalOf, runStarted } from '../support/runEvents.ts';
import { sameValue } from '../support/sameValue.ts';

const RUN = 'r1';
const stories = { done: 0, total: 2 };

/** Text of a run of so many iterations, in which the agents say much. */
function journal(iterations: number): string {
  const bodies: RunEventBody[] = [runStarted({ stories })];
  for (let iteration = 1; iteration <= iterations; iteration += 1) {
    bodies.push(
      iterationStarted({ iteration, storyId: 'US-001', stories }),
      ...Array.from(
        { length: 20 },
        (): RunEventBody => ({
          ...{ type: 'agent.text', text: `words of iteration ${iteration} `.repeat(30) },
        }),
      ),
      iterationEnded({ iteration, storyId: 'US-001', outcome: 'progress', stories, costUsd: 0.5 }),
    );
  }
  return journalOf(bodies)
    .map(event => `${JSON.stringify(event)}\n`)
    .join('');
}

async function workspace(t: TestContext, text: string): Promise<RunFiles> {
  const temp = await tempDir('checkpoint-');
  t.after(() => temp.remove());
  const files = new RunFiles(temp.path);
  await mkdir(files.runDir(RUN), { recursive: true });
  await writeFile(path.join(files.stateDir, '.gitignore'), '*\n');
  await writeFile(files.journalFile(RUN), text);
  return files;
}

/** Changes what the checkpoint says without a trace; what is read then tells whether it was believed. */
function mark(files: RunFiles): Promise<void> {
  return edit(files, '"task":"todos"', '"task":"kept"');
}

async function isBelieved(files: RunFiles): Promise<boolean> {
  const { task } = await readRun(files, RUN);
  assert.ok(['todos', 'kept'].includes(task));
  return task === 'kept';
}

describe('the checkpoint of a run', () => {
  test('is written by the first reader and reused by later ones, with appended events', async t => {
    const files = await workspace(t, journal(3));
    const whole = await readRunState(files.journalFile(RUN));
    sameValue(await readRun(files, RUN), whole);
    sameValue(await readRun(files, RUN), whole);
    await mark(files);
    assert.equal(await isBelieved(files), true);
    const more = { type: 'story.ticked', storyId: 'US-002', done: true } as const;
    const seq = whole.lastSeq + 1;
    await appendFile(files.journalFile(RUN), `${JSON.stringify({ seq, at: 'now', ...more })}\n`);
    const state = await readRun(files, RUN);
    sameValue([state.task, state.lastSeq], ['kept', seq]);
    assert.equal(state.storyRecords.get('US-002')?.doneBy, 'hand');
    // Half a line is nothing yet.
    await appendFile(files.journalFile(RUN), '{"seq":');
    assert.equal((await readRun(files, RUN)).lastSeq, seq);
  });

  test('is kept by the loop when it ends', async t => {
    const files = await workspace(t, journal(1));
    await keepRunState(files, RUN, await readRunState(files.journalFile(RUN)));
    await mark(files);
    assert.equal(await isBelieved(files), true);
  });

  test('is not kept for a short journal or where git would see it', async t => {
    const small = await workspace(t, journal(1).slice(0, 2_000));
    await readRun(small, RUN);
    await assert.rejects(stat(small.checkpointFile(RUN)), { code: 'ENOENT' });
    const seen = await workspace(t, journal(3));
    await rm(path.join(seen.stateDir, '.gitignore'));
    await readRun(seen, RUN);
    await assert.rejects(stat(seen.checkpointFile(RUN)), { code: 'ENOENT' });
  });

  const changes: Readonly<Record<string, (files: RunFiles) => Promise<void>>> = {
    'of another fold': files => edit(files, '"fold":', '"fold":9'),
    'with other fields, and their digest': files =>
      edit(files, '"storyNotes":[', '"storyNotes":[7,'),
    'with another offset, and its digest': files => edit(files, '"offset":', '"offset":-0.'),
    'that was changed by hand': async files => {
      const text = await readFile(files.checkpointFile(RUN), 'utf8');
      await writeFile(files.checkpointFile(RUN), text.replace('"iteration":3', '"iteration":"3"'));
    },
    'that was cut off': async files => {
      const { size } = await stat(files.checkpointFile(RUN));
      await truncate(files.checkpointFile(RUN), size - 1);
    },
    'of an older version, without a digest': async files => {
      const text = await readFile(files.checkpointFile(RUN), 'utf8');
      await writeFile(files.checkpointFile(RUN), text.replace(/"digest":"[^"]*",/, ''));
    },
    'that is no JSON': files => writeFile(files.checkpointFile(RUN), '{"fold":1,'),
    'that is empty': files => writeFile(files.checkpointFile(RUN), ''),
    'that is gone': files => rm(files.checkpointFile(RUN)),
    'that is a link': async files => {
      await rename(files.checkpointFile(RUN), `${files.checkpointFile(RUN)}.moved`);
      await symlink(`${files.checkpointFile(RUN)}.moved`, files.checkpointFile(RUN));
    },
    'of a journal that was replaced': async files => {
      const file = files.journalFile(RUN);
      await copyFile(file, `${file}.copy`);
      await rename(`${file}.copy`, file);
    },
    'of a journal that was cut off': async files => {
      const { size } = await stat(files.journalFile(RUN));
      await truncate(files.journalFile(RUN), size - 100);
    },
    'of a journal that was emptied and written again': async files => {
      await truncate(files.journalFile(RUN), 0);
      await appendFile(files.journalFile(RUN), journal(5).replaceAll('US-001', 'US-009'));
    },
    'of a journal that was changed in the middle': async files => {
      const file = files.journalFile(RUN);
      const { mtime } = await stat(file);
      const handle = await open(file, 'r+');
      await handle.write('XXXX', 30_000);
      await handle.close();
      await utimes(file, mtime, mtime);
    },
  };
  for (const [what, change] of Object.entries(changes)) {
    test(`one ${what} is not trusted and is rewritten`, async t => {
      const files = await workspace(t, journal(3));
      await readRun(files, RUN);
      await mark(files);
      await change(files);
      assert.equal(await isBelieved(files), false);
      sameValue(await readRun(files, RUN), await readRunState(files.journalFile(RUN)));
      await mark(files);
      assert.equal(await isBelieved(files), true);
    });
  }

  test('an unwritable checkpoint does not prevent reading', async t => {
    const files = await workspace(t, journal(3));
    await mkdir(path.join(files.checkpointFile(RUN), 'in the way'), { recursive: true });
    assert.equal((await readRun(files, RUN)).iteration, 3);
  });
});

/** Writes the digest of the changed text as well. */
async function edit(files: RunFiles, from: string, to: string): Promise<void> {
  const text = await readFile(files.checkpointFile(RUN), 'utf8');
  const [head = ''] = /^\{"digest":"[^"]*",/.exec(text) ?? [];
  const rest = text.slice(head.length);
  assert.ok(rest.includes(from));
  const changed = rest.replace(from, to);
  const digest = createHash('sha256').update(changed).digest('hex');
  await writeFile(files.checkpointFile(RUN), `{"digest":"${digest}",${changed}`);
}
