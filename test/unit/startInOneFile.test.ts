import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { startInOneFile } from '../../scripts/lib/startInOneFile.ts';
import { tempDir } from '../support/cleanEnv.ts';

/** An entry, what it needs at once, and two parts that it loads later: each shares something else with the start. */
const SOURCES: Readonly<Record<string, string>> = {
  'start.ts': `
    import { A } from './a.ts';
    import { B } from './b.ts';
    export const known = () => [A, B];
    export const first = () => import('./parts/first.ts');
    export const second = () => import('./parts/second.ts');`,
  'a.ts': 'export class A {}',
  'b.ts': 'export class B {}',
  'parts/first.ts': `
    import { A } from '../a.ts';
    import { shared } from './shared.ts';
    export const one = () => [new A(), shared];`,
  'parts/second.ts': `
    import { A } from '../a.ts';
    import { B } from '../b.ts';
    import { shared } from './shared.ts';
    export const two = () => [new A(), new B(), shared];`,
  'parts/shared.ts': 'export const shared = { loaded: (globalThis.loaded = true) };',
};

async function built(
  folder: string,
  plugins: Parameters<typeof build>[0]['plugins'],
): Promise<{ outfile: string; files: number }> {
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
  return { outfile: path.join(outdir, 'start.mjs'), files: seen.size };
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
