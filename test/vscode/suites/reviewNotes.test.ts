import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import * as vscode from 'vscode';
import type { ReviewNote } from '../../../src/views/diff/reviewNote.ts';
import { ReviewNotes } from '../../../src/views/diff/reviewNotes.ts';
import { type TempDir, tempDir } from '../../support/cleanEnv.ts';

const note: ReviewNote = {
  ...{ id: randomUUID(), folder: '/w', commit: 'a'.repeat(40), path: 'src/app.ts' },
  ...{ line: 1, endLine: 1, text: 'Shorter, please', at: '2026-01-01T00:00:00.000Z' },
};

suite('The files of review notes', () => {
  let temp: TempDir;
  let dir: vscode.Uri;
  const open = () => ReviewNotes.open(dir, error => assert.fail(String(error)));
  const files = async () => (await vscode.workspace.fs.readDirectory(dir)).map(([name]) => name);

  setup(async () => {
    temp = await tempDir('ralph-fresh-notes-');
    dir = vscode.Uri.file(path.join(temp.path, 'reviewNotes'));
  });
  teardown(() => temp.remove());

  test('two windows and a command send the same note at once without an error', async () => {
    const notes = await open();
    await notes.set(note);
    const other = await open();
    const told = { ...note, toldIn: 3 };

    await Promise.all([notes, notes, other, other].map(each => each.set(told)));

    assert.deepEqual((await open()).all, [told]);
    assert.deepEqual(await files(), [`${note.id}.json`]);
  });

  test('a note that cannot be moved into place leaves nothing behind', async () => {
    const notes = await open();
    // Something stands there that no file replaces.
    const place = vscode.Uri.joinPath(dir, `${note.id}.json`);
    await vscode.workspace.fs.createDirectory(vscode.Uri.joinPath(place, 'full'));

    await assert.rejects(notes.set(note));

    assert.deepEqual(notes.all, []);
    assert.deepEqual(await files(), [`${note.id}.json`]);
  });
});
