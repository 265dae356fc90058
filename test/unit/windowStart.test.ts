import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { tempDir } from '../support/cleanEnv.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** `zod`, of which every call fails, and a `vscode` that has everything and does nothing. */
const stubs: Plugin = {
  name: 'stubs',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^(?:vscode|zod)$/ }, ({ path: name }) => ({
      path: name,
      namespace: 'stub',
    }));
    onLoad({ filter: /^zod$/, namespace: 'stub' }, () => ({
      contents: anything("() => { throw new Error('z.' + String(name) + ' is called'); }"),
    }));
    onLoad({ filter: /^vscode$/, namespace: 'stub' }, () => ({
      contents: anything('class {}'),
    }));
  },
};

/** A module that has every name; the bundler looks for them among what the exports inherit. */
function anything(value: string): string {
  return `module.exports = Object.create(new Proxy({}, { get: (_, name) => ${value} }));`;
}

/** As a window loads it: what comes by an `import()` does not run yet. */
async function load(source: string): Promise<Record<string, unknown>> {
  await using temp = await tempDir('ralph-fresh-start-');
  const outfile = path.join(temp.path, 'start.cjs');
  await build({
    stdin: { contents: source, resolveDir: root, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    mainFields: ['module', 'main'],
    plugins: [stubs],
    logLevel: 'silent',
  });
  return await import(pathToFileURL(outfile).href);
}

test('loading the extension creates no schema', async () => {
  const { activate } = await load("export { activate } from './src/extension.ts';");
  assert.equal(typeof activate, 'function');
});

test('this test detects a schema created too early', async () => {
  await assert.rejects(
    load("import * as z from 'zod'; export const schema = z.object({});"),
    /z\.object is called/,
  );
});
