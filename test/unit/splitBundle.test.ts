import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { buildSplit } from '../../scripts/lib/splitBundle.ts';
import { tempDir } from '../support/cleanEnv.ts';

/** Two parts are loaded later; each shares something with the start, and they share something with each other. */
const SOURCES = {
  'main.ts': `
    import { Counter, count } from './counter.ts';
    import { words } from './words.ts';
    export const counter = new Counter();
    export const read = () => words(count);
    export const first = () => import('./first.ts');
    export const second = () => import('./second.ts');`,
  'counter.ts': `
    export let count = 0;
    export class Counter { add() { count += 1; } }`,
  'words.ts': "export const words = (count: number) => ['counted', count].join(' ');",
  'both.ts': "export const both = { name: 'shared by both' };",
  'first.ts': `
    import { both } from './both.ts';
    import { Counter, count } from './counter.ts';
    export { both };
    export const isCounter = (value: unknown) => value instanceof Counter;
    export const read = () => count;`,
  'second.ts': `
    import { both } from './both.ts';
    import { words } from './words.ts';
    export { both };
    export const className = () => class Named {}.name;
    export const read = () => words(1);`,
};

async function bundled(folder: string, minify: boolean): Promise<string> {
  const src = path.join(folder, 'src');
  const outdir = path.join(folder, 'dist');
  await mkdir(src);
  await mkdir(outdir);
  // Node takes the files for what they are by this.
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
  for (const [name, text] of Object.entries(SOURCES)) {
    await writeFile(path.join(src, name), text);
  }
  await buildSplit('src/main.ts', outdir, {
    absWorkingDir: folder,
    bundle: true,
    format: 'esm',
    keepNames: true,
    logLevel: 'warning',
    minify,
    platform: 'node',
    sourcemap: minify ? false : 'linked',
  });
  return outdir;
}

/** A file and all that it loads before it runs. */
async function loadedBy(folder: string, file: string, found = new Set<string>()) {
  if (!found.has(file)) {
    found.add(file);
    const text = await readFile(path.join(folder, file), 'utf8');
    for (const [, name = ''] of text.matchAll(/\b(?:from|import)\s*"\.\/([^"]+)"/g)) {
      await loadedBy(folder, name, found);
    }
  }
  return found;
}

for (const minify of [false, true]) {
  describe(`a bundle in parts, ${minify ? 'minified' : 'to be read'}`, () => {
    test('loads one file at its start, and has everything once', async () => {
      await using temp = await tempDir('ralph-fresh-split-');
      const outdir = await bundled(temp.path, minify);
      assert.deepEqual([...(await loadedBy(outdir, 'main.js'))], ['main.js', 'main-start.js']);

      const main = await import(pathToFileURL(path.join(outdir, 'main.js')).href);
      const first = await main.first();
      const second = await main.second();
      assert.equal(first.isCounter(main.counter), true);
      main.counter.add();
      assert.equal(first.read(), 1, 'what changes at the start is seen by what was loaded later');
      assert.equal(main.read(), 'counted 1');
      assert.equal(second.read(), 'counted 1');
      assert.equal(first.both, second.both);
      assert.equal(second.className(), 'Named');
    });

    test('leaves nothing of its making', async () => {
      await using temp = await tempDir('ralph-fresh-split-');
      const names = await readdir(await bundled(temp.path, minify));
      assert.deepEqual(
        names.filter(
          name => !/^main(?:-(?:start|chunk|first|second)[\w-]*)?\.js(?:\.map)?$/.test(name),
        ),
        [],
      );
      assert.equal(
        names.some(name => name.endsWith('.map')),
        !minify,
      );
    });
  });
}
