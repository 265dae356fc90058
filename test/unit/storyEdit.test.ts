import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import {
  access,
  chmod,
  constants,
  lstat,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { HumanError } from '../../src/base/humanError.ts';
import { editStoryDone, setStoryDone } from '../../src/orchestrator/stories/edit/edit.ts';
import { replaceUnchanged } from '../../src/orchestrator/stories/edit/fileEdit.ts';
import { parseStoryFile, readStoryFileOrThrow } from '../../src/orchestrator/stories/storyFile.ts';

const fixtures = join(import.meta.dirname, '../fixtures/stories');
const fixture = (name: string) => readFile(join(fixtures, name), 'utf8');

/** The lines that differ, as `before → after`; fails when lines were added or taken away. */
function changedLines(before: string, after: string): string[] {
  const old = before.split('\n');
  const now = after.split('\n');
  assert.equal(now.length, old.length);
  return old.flatMap((line, i) => (line === now[i] ? [] : [`${line.trim()} → ${now[i]?.trim()}`]));
}

describe('editStoryDone, in the dialect of the file', () => {
  test('passes is changed', async () => {
    const text = await fixture('userStories.json');
    const ticked = editStoryDone(text, { id: 'US-002' }, true);
    assert.deepEqual(changedLines(text, ticked), ['"passes": false, → "passes": true,']);
    assert.equal(editStoryDone(ticked, { id: 'US-002' }, false), text);
  });

  test('a file without ids is edited by position #n', async () => {
    const text = await fixture('rootArray.json');
    const ticked = editStoryDone(text, { id: '#2' }, true);
    assert.equal(ticked, text.replace('"passes": false', '"passes": true'));
  });

  test('tested, completed and a value that is not a boolean are changed', async () => {
    const text = await fixture('items.json');
    assert.equal(
      editStoryDone(text, { id: '2' }, true),
      text.replace('"tested": false', '"tested": true'),
    );
    assert.equal(editStoryDone(text, { id: '#3' }, true), text.replace('"skipped"', 'true'));
    assert.equal(editStoryDone(text, { id: '#3' }, false), text);
  });

  test('status uses the words of the other stories', async () => {
    const text = await fixture('statusTasks.json');
    assert.equal(
      editStoryDone(text, { id: 'T2' }, true),
      text.replace('"status": "in_progress"', '"status": "done"'),
    );
    assert.equal(
      editStoryDone(text, { id: 'T1' }, false),
      text.replace('"status": "done"', '"status": "todo"'),
    );
  });

  test('status without an example uses a natural pair in the same case, and pending when unticked', () => {
    const edit = (status: string | null, done: boolean) =>
      editStoryDone(JSON.stringify([{ id: 1, title: 't', status }]), { id: '1' }, done);
    assert.match(edit('todo', true), /"status":"done"/);
    assert.match(edit('TODO', true), /"status":"DONE"/);
    assert.match(edit('open', true), /"status":"closed"/);
    assert.match(edit('Not started', true), /"status":"Completed"/);
    assert.match(edit(null, true), /"status":"done"/);
    assert.match(edit('done', false), /"status":"pending"/);
  });

  test('a status for work in progress is not used when unticking', () => {
    const text =
      '[{"id":1,"title":"a","status":"done"},{"id":2,"title":"b","status":"in_progress"}]';
    assert.equal(editStoryDone(text, { id: '1' }, false), text.replace('"done"', '"pending"'));
  });

  test('passes and status change together if the file keeps both', async () => {
    const text = await fixture('passesAndStatus.json');
    assert.deepEqual(changedLines(text, editStoryDone(text, { id: 'ui-002' }, true)), [
      '"status": "not-started", → "status": "completed",',
      '"passes": false → "passes": true',
    ]);
    assert.deepEqual(changedLines(text, editStoryDone(text, { id: 'ui-001' }, false)), [
      '"status": "completed", → "status": "not-started",',
      '"passes": true → "passes": false',
    ]);
  });

  test('a word that puts a story aside does not stay on one that is done', () => {
    const text =
      '[{"id":"A","title":"a","passes":false,"status":"skipped"},{"id":"B","title":"b","passes":false}]';
    const ticked = editStoryDone(text, { id: 'A' }, true);
    assert.equal(
      ticked,
      text.replace('"passes":false,"status":"skipped"', '"passes":true,"status":"done"'),
    );
    const usual = text.replace(
      '"B","title":"b","passes":false',
      '"B","title":"b","passes":true,"status":"skipped"',
    );
    assert.equal(
      editStoryDone(usual, { id: 'A' }, true),
      usual.replace('"passes":false', '"passes":true'),
    );
  });

  test('a status about something else is kept', async () => {
    const text = await fixture('alwaysActive.json');
    const ticked = editStoryDone(text, { id: 'docs' }, true);
    assert.equal(ticked, text.replace('"passes": false', '"passes": true'));
    assert.equal(editStoryDone(ticked, { id: 'docs' }, false), text);
  });

  test('two boolean done keys become equal', () => {
    const text =
      '{"tasks":[{"id":"a","passes":false,"completed":false},{"id":"b","completed":"no"}]}';
    const ticked = editStoryDone(text, { id: 'a' }, true);
    assert.equal(ticked, text.replaceAll('false', 'true'));
    assert.equal(editStoryDone(ticked, { id: 'a' }, false), text);
  });

  test('a missing key is added in the format of the story', async () => {
    const text = await fixture('noDoneKey.json');
    assert.equal(
      editStoryDone(text, { id: 'US-001' }, true),
      text.replace('"dependsOn": []\n', '"dependsOn": [],\n      "passes": true\n'),
    );
    assert.equal(editStoryDone(text, { id: 'US-001' }, false), text);
    const edit = (line: string) => editStoryDone(line, { id: 'a' }, true);
    assert.equal(edit('[{"id":"a","name":"b"}]'), '[{"id":"a","name":"b","passes":true}]');
    assert.equal(
      edit('[ { "id" : "a" , "name" : "b" } ]'),
      '[ { "id" : "a" , "name" : "b" , "passes" : true } ]',
    );
    assert.equal(
      edit('{"stories": [{ "id": "a" }]}'),
      '{"stories": [{ "id": "a", "passes": true }]}',
    );
    assert.equal(
      editStoryDone('{"stories":[{}]}', { id: '#1' }, true),
      '{"stories":[{"passes": true}]}',
    );
  });

  test('a story without the key gets the one its neighbors have', () => {
    const text = '[{"id":"a","title":"x","tested":true},{"id":"b","title":"y"}]';
    assert.equal(
      editStoryDone(text, { id: 'b' }, true),
      text.replace('"title":"y"', '"title":"y","tested":true'),
    );
    const words = '[{"id":"a","title":"x","status":"DONE"},{"id":"b","title":"y"}]';
    assert.match(editStoryDone(words, { id: 'b' }, true), /"y","status":"DONE"\}\]$/);
  });

  test('other data under a done key is kept', () => {
    const text = '[{"id":"a","title":"x","tested":["unit"]}]';
    assert.equal(
      editStoryDone(text, { id: 'a' }, true),
      '[{"id":"a","title":"x","tested":["unit"],"passes":true}]',
    );
    assert.throws(
      () => editStoryDone('[{"id":"a","title":"x","passes":[]}]', { id: 'a' }, true),
      HumanError,
    );
  });

  test('keys of criteria and nested objects are not mistaken for those of the story', () => {
    const text =
      '[{"steps":[{"passes":false}],"x":{"passes":false},"p\\u0061sses":false,"id":"a"}]';
    const ticked =
      '[{"steps":[{"passes":false}],"x":{"passes":false},"p\\u0061sses":true,"id":"a"}]';
    assert.equal(editStoryDone(text, { id: 'a' }, true), ticked);
  });

  test('the effective occurrence of a repeated key is edited', () => {
    const text = '[{"id":"a","passes":true,"passes":false}]';
    assert.equal(
      editStoryDone(text, { id: 'a' }, true),
      '[{"id":"a","passes":true,"passes":true}]',
    );
  });

  test('for repeated ids the position decides; without one nothing is guessed', async () => {
    const text = await fixture('duplicates.json');
    const ticked = editStoryDone(text, { id: 'A', position: 1 }, true);
    assert.deepEqual(
      parseStoryFile('', ticked).kind === 'stories' && changedLines(text, ticked).length,
      1,
    );
    assert.match(changedLines(text, ticked)[0] ?? '', /Second A/);
    const both = /2 stories with the id A \(lines 3, 4\): give each an id of its own/;
    assert.throws(() => editStoryDone(text, { id: 'A' }, true), both);
    assert.throws(() => editStoryDone(ticked, { id: 'A' }, false), both);
    assert.equal(editStoryDone(ticked, { id: 'A' }, true), ticked);
    assert.throws(() => editStoryDone(text, { id: 'A', position: 4 }, true), HumanError);
  });

  test('a story that cannot be edited is reported with file, line and fix', async () => {
    await assert.rejects(
      async () => editStoryDone(await fixture('missingComma.json'), { id: 'US-001' }, true),
      /line 4, column 5: .*comma is missing on line 3.*Nothing was written/,
    );
    assert.throws(() => editStoryDone('[{"id":"a","title":"b"}]', { id: 'x' }, true), /no story x/);
  });
});

describe('setStoryDone', () => {
  let folder = '';
  let count = 0;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ralph-edit-'));
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
  });
  async function place(text: string | Uint8Array): Promise<string> {
    const path = join(folder, `prd-${++count}.json`);
    await writeFile(path, text);
    return path;
  }
  const many = (stories: number) =>
    JSON.stringify(
      Array.from({ length: stories }, (_, i) => ({ id: `S${i}`, title: 't', passes: false })),
      null,
      2,
    );

  test('BOM, CRLF, a missing final newline and the mode are kept', async () => {
    const text = `\uFEFF${(await fixture('userStories.json')).trimEnd().replaceAll('\n', '\r\n')}`;
    const path = await place(text);
    await chmod(path, 0o640);
    const result = await setStoryDone(path, { id: 'US-003' }, true);
    const expected = text.replace(
      '31.8,\r\n      "passes": false',
      '31.8,\r\n      "passes": true',
    );
    assert.equal(await readFile(path, 'utf8'), expected);
    const { undo, ...edit } = result;
    assert.notEqual(undo, undefined);
    assert.deepEqual(edit, {
      changed: true,
      hash: createHash('sha256').update(expected).digest('hex'),
    });
    assert.equal((await stat(path)).mode & 0o777, process.platform === 'win32' ? 0o666 : 0o640);
  });

  test('an edit that changes nothing writes nothing', async () => {
    const path = await place(await fixture('userStories.json'));
    const { ino, mtimeMs } = await stat(path);
    const result = await setStoryDone(path, { id: 'US-001' }, true);
    assert.deepEqual(result, { changed: false, hash: (await readStoryFileOrThrow(path)).hash });
    const now = await stat(path);
    assert.deepEqual([now.ino, now.mtimeMs], [ino, mtimeMs]);
  });

  test('a linked file stays a link', async t => {
    const path = await place(many(1));
    const link = join(folder, 'link.json');
    const linked = await symlink(path, link).then(
      () => true,
      () => false,
    );
    if (!linked) {
      t.diagnostic('no symbolic links here, so the file itself was edited');
    }
    await setStoryDone(linked ? link : path, { id: 'S0' }, true);
    assert.match(await readFile(path, 'utf8'), /"passes": true/);
    assert.equal((await lstat(path)).isSymbolicLink(), false);
    assert.equal(linked && (await lstat(link)).isSymbolicLink(), linked);
  });

  test('fifty parallel ticks are all applied, and no temporary file is left', async () => {
    const path = await place(many(50));
    await Promise.all(
      Array.from({ length: 50 }, (_, i) => setStoryDone(path, { id: `S${i}` }, true)),
    );
    assert.equal(await readFile(path, 'utf8'), many(50).replaceAll('false', 'true'));
    assert.deepEqual(
      (await readdir(folder)).filter(name => name.endsWith('.tmp')),
      [],
    );
  });

  test('three processes tick one file without losing a tick', async () => {
    const path = await place(many(30));
    const run = promisify(execFile);
    const ids = Array.from({ length: 30 }, (_, i) => `S${i}`);
    await Promise.all(
      [0, 10, 20].map(from =>
        run(process.execPath, [join(fixtures, 'tickAll.ts'), path, ...ids.slice(from, from + 10)]),
      ),
    );
    assert.equal(await readFile(path, 'utf8'), many(30).replaceAll('false', 'true'));
  });

  test('a temporary file of a crashed process does not prevent a tick', async () => {
    const path = await place(many(1));
    const left = `${path}.ralph-fresh.tmp`;
    await writeFile(left, 'half of it');
    await utimes(left, new Date(0), new Date(0));
    await setStoryDone(path, { id: 'S0' }, true);
    assert.equal(await readFile(path, 'utf8'), many(1).replace('false', 'true'));
    await assert.rejects(stat(left), { code: 'ENOENT' });
  });

  test('a write-protected file is not replaced', async t => {
    const path = await place(many(1));
    await chmod(path, 0o444);
    const isBound = await access(path, constants.W_OK).then(
      () => false,
      () => true,
    );
    if (!isBound) {
      t.diagnostic('this user may write everything, so the edit goes through');
      assert.equal((await setStoryDone(path, { id: 'S0' }, true)).changed, true);
      return;
    }
    await assert.rejects(setStoryDone(path, { id: 'S0' }, true), /check the permissions/);
    assert.equal(await readFile(path, 'utf8'), many(1));
  });

  test('a change made after the list was shown is kept, and the story is found by its id', async () => {
    const path = await place(many(2));
    const { hash } = await readStoryFileOrThrow(path);
    await writeFile(path, many(2).replace('[', '[\n  {"id": "new", "title": "n"},'));
    await setStoryDone(path, { id: 'S1', position: 1 }, true, { expectedHash: hash });
    const file = await readStoryFileOrThrow(path);
    assert.deepEqual(file.kind === 'stories' && file.stories.map(({ id, done }) => [id, done]), [
      ['new', false],
      ['S0', false],
      ['S1', true],
    ]);
  });

  test('a story known only by position is not guessed in a changed file', async () => {
    const path = await place(await fixture('rootArray.json'));
    const { hash } = await readStoryFileOrThrow(path);
    const changed = (await fixture('rootArray.json')).replace('A long press', 'A swipe');
    await writeFile(path, changed);
    await assert.rejects(
      setStoryDone(path, { id: '#2', position: 1 }, true, { expectedHash: hash }),
      /may be another story now: choose it again/,
    );
    assert.equal(await readFile(path, 'utf8'), changed);
  });

  test('a story without an id is found again in a list that changes during the edit', async () => {
    const open = (...titles: string[]) =>
      JSON.stringify(titles.map(title => ({ title, passes: false })));
    const path = await place(open('one', 'two'));
    let looks = 0;
    await setStoryDone(path, { id: '#2', position: 1 }, true, {
      find: stories => {
        looks += 1;
        if (looks === 1) {
          writeFileSync(path, open('new', 'one', 'two'));
        }
        return stories.find(({ title }) => title === 'two');
      },
    });
    const file = await readStoryFileOrThrow(path);
    assert.equal(looks, 2);
    assert.deepEqual(file.kind === 'stories' && file.stories.map(({ done }) => done), [
      false,
      false,
      true,
    ]);
  });

  test('a half-written file is read again', async () => {
    const path = await place(many(3).slice(0, 40));
    const edit = setStoryDone(path, { id: 'S2' }, true);
    await wait(20);
    await writeFile(path, many(3));
    assert.equal((await edit).changed, true);
  });

  test('a broken file is not changed, and the error says where it is broken', async () => {
    const text = await fixture('missingComma.json');
    const path = await place(text);
    await assert.rejects(setStoryDone(path, { id: 'US-001' }, false), error => {
      assert.ok(error instanceof HumanError);
      assert.ok(error.message.startsWith(`${path}, line 4, column 5: `), error.message);
      return true;
    });
    assert.equal(await readFile(path, 'utf8'), text);
  });

  test('a missing file, a missing story and a folder give errors for people', async () => {
    await assert.rejects(setStoryDone(join(folder, 'none.json'), { id: 'a' }, true), HumanError);
    await assert.rejects(setStoryDone(await place('[]'), { id: 'a' }, true), /no story a/);
    await assert.rejects(setStoryDone(folder, { id: 'a' }, true), HumanError);
  });

  test('a file that is gone, or changed, since it was looked at is not replaced', async () => {
    const changed = 'It has just been changed. Look at it again.';
    const replacement = { before: Buffer.from('[]'), after: Buffer.from('[1]'), changed };
    const gone = join(folder, 'gone.json');
    await assert.rejects(replaceUnchanged(gone, replacement), { message: changed });
    await assert.rejects(access(gone), /ENOENT/);
    const other = await place('[2]');
    await assert.rejects(replaceUnchanged(other, replacement), { message: changed });
    assert.equal(await readFile(other, 'utf8'), '[2]');
  });

  test('another writer’s lines survive a hundred ticks', async () => {
    const path = await place(many(2));
    const added: string[] = [];
    // In place, without asking anybody, as agents write.
    const writer = (async () => {
      while (added.length < 40) {
        const text = await readFile(path, 'utf8');
        const id = `N${added.length}`;
        await writeFile(path, `${text.slice(0, -2)},\n  {"id": "${id}", "title": "n"}\n]`);
        added.push(id);
        await wait(7);
      }
    })();
    for (let i = 0; i < 100; i++) {
      await setStoryDone(path, { id: 'S1' }, i % 2 === 0);
    }
    await writer;
    const file = await readStoryFileOrThrow(path);
    assert.equal(file.kind, 'stories');
    const ids = new Set(file.kind === 'stories' ? file.stories.map(story => story.id) : []);
    assert.deepEqual(
      added.filter(id => !ids.has(id)),
      [],
    );
  });
});
