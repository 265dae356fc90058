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
      contents: `${FAKE} ${anything('fake()')}`,
    }));
  },
};

/** Anything that is called, created and asked for members, which are the same; and no folder, document or tab. */
const FAKE = `
  const lists = { all: [], textDocuments: [], workspaceFolders: [] };
  const members = { get: (of, name) => Reflect.get(of, name) ?? lists[name] ?? (typeof name === 'symbol' ? undefined : fake()) };
  const fake = () => new Proxy(class {}, {
    ...members,
    set: () => true,
    apply: () => fake(),
    construct: (of, args, made) => new Proxy(Reflect.construct(of, args, made), members),
  });`;

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

test('loading the extension and activating it creates no schema, in a window that remembers nothing', async () => {
  const { activate } = await load("export { activate } from './src/extension.ts';");
  const state = { get: (_key: string, otherwise: unknown) => otherwise };
  const context = {
    ...{ extensionPath: root, subscriptions: [] },
    ...{ globalState: state, workspaceState: state },
  };
  assert.ok(typeof activate === 'function');
  activate(context);
  assert.ok(context.subscriptions.length > 0);
});

test('this test detects a schema created too early', async () => {
  await assert.rejects(
    load("import * as z from 'zod'; export const schema = z.object({});"),
    /z\.object is called/,
  );
});
