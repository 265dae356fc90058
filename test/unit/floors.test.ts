import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { allImports, importsOf, sources, src } from '../support/imports.ts';

/** A line of the table of folders in docs/ARCHITECTURE.md. */
interface Room {
  /** Relative to `src`. */
  readonly folder: string;
  /** Folders it may import from besides itself; of a part of another room, what that room may. */
  readonly imports: readonly string[];
  /** The room that the folder is a part of; else the folder itself. */
  readonly room: string;
}

/** Reads the table: `| folder | what it holds | imports |`, the lowest floor first. */
async function readTable(): Promise<readonly Room[]> {
  const text = await readFile(path.join(src, '../docs/ARCHITECTURE.md'), 'utf8');
  const lines = text.matchAll(/^\| `([\w/]+)\/` \| [^|]+ \| ([^|]*) \|$/gm);
  return [...lines].map(([, folder = '', cell = '']) => {
    const names = [...cell.matchAll(/`([\w/]+)`/g)].map(([, name = '']) => fullName(name));
    const isPart = cell.startsWith('part of ');
    return { folder, imports: isPart ? [] : names, room: isPart ? (names[0] ?? '') : folder };
  });
}

/** In the cells a folder of the orchestrator goes by its own name. */
function fullName(name: string): string {
  return /^(base|presentation|cli|views|webview)\b/.test(name) ? name : `orchestrator/${name}`;
}

const folderOf = (file: string) => (file.includes('/') ? path.posix.dirname(file) : '');

describe('the table of folders in docs/ARCHITECTURE.md', async () => {
  const table = await readTable();
  const byFolder = new Map(table.map(room => [room.folder, room]));
  const files = (await sources('')).filter(file => file.includes('/'));

  test('has exactly one line for each folder with files', () => {
    const folders = new Set(files.map(folderOf));
    assert.deepEqual(table.map(({ folder }) => folder).sort(), [...folders].sort());
  });

  test('points upwards: a folder imports only folders above its line', () => {
    const seen = new Set<string>();
    for (const { folder, imports, room } of table) {
      for (const imported of room === folder ? imports : [room]) {
        assert.ok(
          seen.has(imported),
          `${folder} imports ${imported}, which does not stand above it`,
        );
      }
      seen.add(folder);
    }
  });

  test('lists exactly the imports of each folder, including types', async () => {
    const roomOf = (file: string) => byFolder.get(folderOf(file))?.room ?? '';
    const allowed = new Map(table.map(({ folder, imports }) => [folder, new Set(imports)]));
    const unused = new Map(table.map(({ folder, imports }) => [folder, new Set(imports)]));
    const forbidden: string[] = [];
    for (const { file, imported } of await allImports(files)) {
      const [from, to] = [roomOf(file), roomOf(imported)];
      if (to === '' || from === to) {
        continue;
      }
      if (!allowed.get(from)?.has(to)) {
        forbidden.push(`${file} > ${imported}`);
      }
      unused.get(from)?.delete(to);
    }
    assert.deepEqual(forbidden, []);
    assert.deepEqual(
      [...unused].flatMap(([folder, names]) => [...names].map(name => `${folder} > ${name}`)),
      [],
    );
  });
});

test('no import cycle between files', async () => {
  const edges = new Map<string, string[]>();
  for (const file of await sources('')) {
    edges.set(
      file,
      (await importsOf(file)).filter(imported => /\.tsx?$/.test(imported)),
    );
  }
  // A file that imports nothing of what is left is in no circle; what remains in the end is in one, or above one.
  for (let removed = true; removed; ) {
    removed = false;
    for (const [file, imports] of edges) {
      if (!imports.some(imported => edges.has(imported))) {
        edges.delete(file);
        removed = true;
      }
    }
  }
  assert.deepEqual([...edges.keys()], []);
});

test('no file is directly in src/orchestrator or src/views', async () => {
  const loose = (await sources('')).filter(file => /^(orchestrator|views)\/[^/]+$/.test(file));
  assert.deepEqual(loose, []);
});
