import { strict as assert } from 'node:assert';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  folderParts,
  isFolderPath,
  isFolderText,
  packFolder,
  unpackFolder,
} from '../../src/orchestrator/stories/formats/folderText.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';

const MARK = '=== ralph-fresh ';
const name = fc
  .string({ minLength: 1, maxLength: 12 })
  .map(text => `tasks/${text}.md`)
  .filter(isFolderPath);
/** Any bytes, and texts that look like what stands between the files. */
const content = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map(bytes => Buffer.from(bytes)),
  fc
    .array(
      fc.constantFrom(
        MARK,
        `${MARK}file tasks/x.md`,
        `\\${MARK}`,
        '\n',
        '\r',
        '\\',
        '---',
        'a',
        ' ',
      ),
      { maxLength: 12 },
    )
    .map(parts => Buffer.from(parts.join(''))),
);
const folder = fc.record({
  files: fc.uniqueArray(fc.tuple(name, content), { maxLength: 8, selector: ([own]) => own }),
  completed: fc.uniqueArray(
    fc.constantFrom('task-1 - a.md', 'task-10 - b.md', 'task-2 - c.md', 'x.md'),
  ),
});

suite('A folder as one text', () => {
  test('every byte of every file comes back, whatever it is', () => {
    fc.assert(
      fc.property(folder, ({ completed, files }) => {
        const bytes = packFolder({ files: new Map(files), completed, unread: [] });
        const again = unpackFolder(bytes);

        assert.deepEqual(new Map([...again.files]), new Map(files));
        assert.deepEqual([...again.completed].sort(), [...completed].sort());
        assert.ok(isFolderText(bytes));
        assert.ok(packFolder(again).equals(bytes));
      }),
    );
  });

  test('the order in which files are found does not matter', () => {
    fc.assert(
      fc.property(folder, ({ completed, files }) => {
        const one = packFolder({ files: new Map(files), completed, unread: [] });
        const other = packFolder({
          files: new Map(files.toReversed()),
          completed: completed.toReversed(),
          unread: [],
        });

        assert.ok(one.equals(other));
      }),
    );
  });

  test('any bytes can be read: stories, or a problem with a line', () => {
    fc.assert(
      fc.property(folder, fc.uint8Array({ maxLength: 40 }), ({ completed, files }, tail) => {
        const bytes = packFolder({ files: new Map(files), completed, unread: ['tasks/link.md'] });
        for (const any of [bytes, Buffer.concat([bytes, Buffer.from(tail)]), Buffer.from(tail)]) {
          const file = parseStoryFile('/w/backlog', any);

          assert.ok(file.problems.every(({ line }) => line >= 1));
        }
      }),
    );
  });

  test('files are in the order of their numbers', () => {
    const files = ['task-10', 'task-2', 'task-2.10', 'task-2.9', 'task-1'].map(
      id => [`tasks/${id} - x.md`, Buffer.from('')] as const,
    );
    const parts = folderParts(
      packFolder({ files: new Map(files), completed: [], unread: [] }).toString(),
    );

    assert.deepEqual(
      parts.filter(({ kind }) => kind === 'file').map(part => part.name),
      ['task-1', 'task-2', 'task-2.9', 'task-2.10', 'task-10'].map(id => `tasks/${id} - x.md`),
    );
  });

  test('a forged text cannot name a file elsewhere', () => {
    const forged = Buffer.from(
      `${MARK}folder\n${MARK}file ../../.bashrc\nevil\n${MARK}file tasks/../../x.md\nevil\n${MARK}file tasks/a.md\nok\n`,
    );

    assert.deepEqual([...unpackFolder(forged).files.keys()], ['tasks/a.md']);
  });
});
