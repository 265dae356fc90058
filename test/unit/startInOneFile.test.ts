import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { startInOneFile } from '../../scripts/lib/startInOneFile.ts';
import { tempDir } from '../support/cleanEnv.ts';

/** An entry, what it needs at once, and parts that it loads later: each shares something else with the others. */
const SOURCES: Readonly<Record<string, string>> = {
  'start.ts': `
    import { A } from './a.ts';
    import { B } from './b.ts';
    export const known = () => [A, B];
    export const first = () => import('./parts/first.ts');
    export const second = () => import('./parts/second.ts');
    export const third = () => import('./parts/third.ts');`,
  'a.ts': 'export class A {}',
  'b.ts': 'export class B {}',
  'parts/first.ts': `
    import { A } from '../a.ts';
    import { common } from './common.ts';
    import { shared } from './shared.ts';
    export const one = () => [new A(), shared, common];`,
  'parts/second.ts': `
    import { A } from '../a.ts';
    import { B } from '../b.ts';
    import { shared } from './shared.ts';
    export const two = () => [new A(), new B(), shared];`,
  'parts/third.ts': `
    import { common } from './common.ts';
    export const three = () => common;`,
  'parts/common.ts': 'export const common = {};',
  'parts/shared.ts': 'export const shared = { loaded: (globalThis.loaded = true) };',
};

async function built(
  folder: string,
  plugins: Parameters<typeof build>[0]['plugins'],
): Promise<{ outfile: string; files: number; filesOfFirst: number }> {
  for (const [file, text] of Object.entries(SOURCES)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  }
  const outdir = path.join(folder, 'out');
  await build({
    absWorkingDir: folder,
    entryPoints: ['start.ts'],
    bundle: true,
    splitting: true,
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    outdir,
    plugins,
  });
  const seen = new Set<string>();
  const load = async (file: string): Promise<void> => {
    if (!seen.has(file)) {
      seen.add(file);
      const text = await readFile(path.join(outdir, file), 'utf8');
      for (const [, name = ''] of text.matchAll(/(?:\bfrom|\bimport)\s*"\.\/([^"]+)"/g)) {
        await load(name);
      }
    }
  };
  await load('start.mjs');
  const files = seen.size;
  const first = (await readdir(outdir)).find(name => name.startsWith('first-'));
  await load(first ?? '');
  return { outfile: path.join(outdir, 'start.mjs'), files, filesOfFirst: seen.size - files };
}

test('what the start needs is in one file next to the entry, which parts that are loaded later use again', async () => {
  await using temp = await tempDir('ralph-fresh-one-file-');
  const { files, outfile } = await built(temp.path, [startInOneFile(temp.path, 'start.ts')]);
  assert.equal(files, 2);
  const { first, known, second } = await import(pathToFileURL(outfile).href);
  assert.equal('loaded' in globalThis, false, 'the parts are loaded when they are asked for');
  const [A, B] = known();
  const [a, shared] = (await first()).one();
  const [otherA, b, same] = (await second()).two();
  assert.ok(a instanceof A && otherA instanceof A && b instanceof B);
  assert.equal(shared, same);
  assert.equal(shared.loaded, true);
});

test('without it, the start is divided', async () => {
  await using temp = await tempDir('ralph-fresh-one-file-');
  const { files } = await built(temp.path, []);
  assert.equal(files, 3);
});

test('a part that always follows the start is in one file next to its entry, too', async () => {
  await using temp = await tempDir('ralph-fresh-one-file-');
  const alone = await built(temp.path, [startInOneFile(temp.path, 'start.ts')]);
  assert.equal(alone.filesOfFirst, 3);
  await rm(path.join(temp.path, 'out'), { recursive: true });
  const next = ['parts/first.ts'];
  const { filesOfFirst, outfile } = await built(temp.path, [
    startInOneFile(temp.path, 'start.ts', next),
  ]);
  assert.equal(filesOfFirst, 2);
  const { first, third } = await import(pathToFileURL(outfile).href);
  const [, , common] = (await first()).one();
  assert.equal((await third()).three(), common);
});
