import assert from 'node:assert/strict';
import { appendFile, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { HumanError } from '../../src/base/humanError.ts';
import {
  addPendingHint,
  pendingHints,
  removePendingHints,
  rewordPendingHint,
} from '../../src/orchestrator/workspace/pendingHints.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { toldHints } from '../../src/orchestrator/workspace/toldHints.ts';
import { hintOf } from '../../src/views/diff/reviewNote.ts';
import { type TempDir, tempDir } from '../support/cleanEnv.ts';
import { recorded } from '../support/recordedJournals.ts';
import { sameValue } from '../support/sameValue.ts';

describe('pending hints', () => {
  let temp: TempDir;
  let files: RunFiles;
  const texts = async () => (await pendingHints(files)).map(({ text }) => text);

  beforeEach(async () => {
    temp = await tempDir('hints-');
    files = new RunFiles(path.join(temp.path, 'workspace'));
    await mkdir(files.workspace);
  });
  afterEach(() => temp.remove());

  test('are kept in order and can be changed and withdrawn', async () => {
    sameValue(await pendingHints(files), []);
    const one = await addPendingHint(files, { text: 'One\n"x" ü', storyId: 'US-001' });
    const two = await addPendingHint(files, { text: 'Two' });
    sameValue(await pendingHints(files), [one, two]);
    assert.equal(await rewordPendingHint(files, one.id, 'Other'), true);
    assert.equal(await rewordPendingHint(files, 'unknown', 'Other'), false);
    sameValue(await pendingHints(files), [{ ...one, text: 'Other' }, two]);
    await removePendingHints(files, new Set([one.id, 'unknown']));
    sameValue(await texts(), ['Two']);
    await removePendingHints(files, new Set([two.id]));
    await assert.rejects(stat(files.hintsFile));
    assert.equal(await readFile(path.join(files.stateDir, '.gitignore'), 'utf8'), '*\n');
  });

  test('are not lost with many parallel writers', async () => {
    const all = Array.from({ length: 20 }, (_, i) => `hint ${i}`);
    await Promise.all(all.map(text => addPendingHint(files, { text })));
    sameValue((await texts()).sort(), all.sort());
  });

  test('an unwritable hint gives an error for people', async () => {
    await mkdir(files.hintsFile, { recursive: true });
    await assert.rejects(addPendingHint(files, { text: 'Two' }), HumanError);
  });

  test('invalid hints are omitted; a link is not followed', async () => {
    const one = await addPendingHint(files, { text: 'One' });
    await appendFile(files.hintsFile, '{"id":7}\nnot JSON\n{"id":"x","text":""}\n{"id":"half');
    sameValue(await pendingHints(files), [one]);
    const elsewhere = path.join(temp.path, 'elsewhere');
    await writeFile(elsewhere, await readFile(files.hintsFile));
    await removePendingHints(files, new Set([one.id]));
    await symlink(elsewhere, files.hintsFile);
    sameValue(await pendingHints(files), []);
    await addPendingHint(files, { text: 'Two' });
    sameValue(await texts(), ['Two']);
    assert.match(await readFile(elsewhere, 'utf8'), /One/);
  });
});

test('a hint is delivered in the iteration that starts after it was given', () => {
  const events = recorded('hintsWaited');
  const ids = events.flatMap(event =>
    event.type === 'hint.given' && event.id !== undefined ? [event.id] : [],
  );
  assert.equal(ids.length, 2);
  sameValue(
    [...toldHints(events)],
    ids.map(id => [id, { iteration: 1, storyId: 'US-001' }]),
  );
  const given = recorded('hintsWaited', { type: 'hint.given', text: 'Look at the tests' });
  sameValue([...toldHints(given)], []);
});

test('a review note names the place, the comment and the code', () => {
  const note = {
    folder: '/w',
    commit: 'abcdef0123456789',
    path: 'src/a \u001b[31m.ts',
    ...{ line: 4, endLine: 4, text: ' Name it better. ' },
  };
  assert.equal(
    hintOf({ ...note, storyId: 'US-003' }, ['  const x = 1;']),
    'Review note on src/a .ts:5 (commit abcdef0, US-003): Name it better.\nThe code there:\n      const x = 1;',
  );
  const long = hintOf({ ...note, endLine: 99 }, new Array(95).fill('y'.repeat(999)));
  assert.match(long, /^Review note on src\/a \.ts:5-100 \(commit abcdef0\): /);
  assert.ok(long.length < 2_500);
});
