import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { describe, test } from 'node:test';
import { vsCodeVersions } from '../../scripts/lib/vscodeServer.ts';
import * as contributions from '../../src/views/common/contributions.ts';
import { allImports, importsOf, offending, sources, src } from '../support/imports.ts';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string) => readFile(path.join(root, file), 'utf8');

describe('imports go one way', () => {
  test('this test detects imports', async () => {
    const seen = await importsOf('orchestrator/loop/freshRun.ts');
    assert.ok(seen.includes('orchestrator/loop/policy.ts'));
    assert.ok(seen.includes('orchestrator/journal/runState.ts'));
    assert.ok((await importsOf('orchestrator/process/startTree.ts')).includes('execa'));
    assert.ok((await importsOf('cli.ts')).includes('base/node20.ts'));
    assert.ok((await importsOf('views/folders/runModel.ts')).includes('vscode'));
    assert.ok((await sources('orchestrator')).length > 30);
  });

  test('only the extension and its views know VS Code', async () => {
    const files = (await sources('.')).filter(file => !/^(views\/|extension\.ts$)/.test(file));
    assert.deepEqual(
      offending(await allImports(files), imported => imported !== 'vscode'),
      [],
    );
  });

  test('error class names are never shown: people get messageOf(error)', async () => {
    const told: string[] = [];
    for (const file of await sources('')) {
      const text = await readFile(path.join(src, file), 'utf8');
      // The log of a window is for developers.
      const bare = text
        .replaceAll(/log\.\w+\([^;]*String\(error\)\)/g, '')
        .match(/String\((?:error|cause|reason)\)|\$\{(?:error|cause)\}/);
      if (bare !== null && file !== 'base/messageOf.ts') {
        told.push(`${file}: ${bare[0]}`);
      }
    }
    // Words of an API, no errors; and one that only becomes an Error.
    const known = [
      `orchestrator/agents/claude/streamJson.ts: $${'{error}'}`,
      'views/common/remember.ts: String(error)',
    ];
    assert.deepEqual(told.sort(), known);
  });

  test('a view starts no process and writes no file', async () => {
    const imports = await allImports(await sources('views'));
    assert.deepEqual(
      offending(imports, imported => !/^(node:child_process|execa)$/.test(imported)),
      [],
    );
  });

  test("Node's own modules are imported with the node: prefix", async () => {
    const files = await sources('.');
    assert.deepEqual(
      offending(await allImports(files), imported => !builtinModules.includes(imported)),
      [],
    );
  });

  test('every import of ours refers to an existing file', async () => {
    const files = await sources('.');
    const known = new Set(files);
    assert.deepEqual(
      offending(
        await allImports(files),
        imported =>
          known.has(imported) ||
          !/^(base|orchestrator|presentation|views|webview)\/|^(cli|extension)\.ts$/.test(
            imported,
          ) ||
          !imported.endsWith('.ts'),
      ),
      [],
    );
  });
});

test('extension.ts only connects objects', async () => {
  assert.ok((await read('src/extension.ts')).split('\n').length < 120);
});

describe('package.json', async () => {
  const text = await read('package.json');
  const manifest = JSON.parse(text);
  const { commands, views, menus, viewsWelcome, taskDefinitions } = manifest.contributes;
  const sorted = (values: Iterable<string>) => [...values].sort();
  const commandIds = sorted(Object.values(contributions.Command));
  const viewIds: string[] = Object.values(contributions.View);

  test('allows no VS Code older than the oldest tested one', async () => {
    const oldest = vsCodeVersions.oldest.server.replace(/^4\.(\d+)\..*/, '1.$1.0');
    assert.match(oldest, /^1\.\d+\.0$/);
    assert.equal(manifest.engines.vscode, `^${oldest}`);
    assert.equal(manifest.devDependencies['@types/vscode'], oldest);
    assert.ok((await read('.github/workflows/ci.yml')).includes(`vscode: [${oldest}, stable]`));
    const [, readme] = /VS Code (\S+) or later/.exec(await read('README.md')) ?? [];
    assert.equal(`${readme}.0`, oldest);
  });

  test('contributes exactly the commands of contributions.ts', () => {
    assert.deepEqual(
      sorted(commands.map(({ command }: { command: string }) => command)),
      commandIds,
    );
  });

  test('contributes exactly the views of contributions.ts', () => {
    const ids = Object.values<{ id: string }[]>(views).flatMap(list => list.map(({ id }) => id));
    assert.deepEqual(sorted(ids), sorted(viewIds));
  });

  test('names no missing command, view or context key', () => {
    const used = [
      ...Object.values<{ command: string; when?: string }[]>(menus).flat(),
      ...viewsWelcome,
    ];
    for (const { command, view, when = '' } of used) {
      assert.ok(command === undefined || commandIds.includes(command), command);
      assert.ok(view === undefined || viewIds.includes(view), view);
      const ids: string[] = [...when.matchAll(/ralphFresh\.\w+/g)].map(([id]) => id);
      const known: string[] = [
        ...viewIds,
        ...Object.values<string>(contributions.ContextKey),
        contributions.REVIEW_CONTROLLER,
      ];
      assert.deepEqual(
        ids.filter(id => !known.includes(id)),
        [],
      );
    }
    for (const { enablement = '' } of commands) {
      const ids: string[] = [...enablement.matchAll(/ralphFresh\.\w+/g)].map(([id]) => id);
      const known: string[] = Object.values(contributions.ContextKey);
      assert.deepEqual(
        ids.filter(id => !known.includes(id)),
        [],
      );
    }
  });

  test('uses the task type and file system of contributions.ts', () => {
    assert.deepEqual(
      taskDefinitions.map(({ type }: { type: string }) => type),
      [contributions.TASK_TYPE],
    );
    assert.ok(manifest.activationEvents.includes(`onTaskType:${contributions.TASK_TYPE}`));
    for (const scheme of [
      contributions.GIT_SCHEME,
      contributions.PLACE_SCHEME,
      contributions.SETTLE_SCHEME,
    ]) {
      assert.ok(manifest.activationEvents.includes(`onFileSystem:${scheme}`), scheme);
    }
  });

  test('has every text in package.nls.json, and every text there is used', async () => {
    const nls = JSON.parse(await read('package.nls.json'));
    const used = new Set([...text.matchAll(/"%([\w.-]+)%"/g)].map(([, key]) => key ?? ''));
    assert.deepEqual(sorted(used), sorted(Object.keys(nls)));
    assert.ok(Object.values<string>(nls).every(value => value.trim() !== ''));
  });

  test('links to no missing command, and no activation event waits for one', async () => {
    const places = text + (await read('package.nls.json'));
    const named = [...places.matchAll(/\b(?:onCommand|command):(ralphFresh\.\w+)/g)];
    assert.ok(named.length > 5);
    assert.deepEqual(
      named.map(([, id = '']) => id).filter(id => !commandIds.includes(id)),
      [],
    );
    const keys: string[] = Object.values(contributions.ContextKey);
    for (const [, expression = ''] of text.matchAll(/onContext:([^"]+)/g)) {
      for (const [key] of expression.matchAll(/ralphFresh\.\w+/g)) {
        assert.ok(keys.includes(key), key);
      }
    }
  });

  test('contains no text for people', () => {
    const inManifest = [
      ...commands.map(({ title }: { title: string }) => title),
      ...Object.values<{ name: string }[]>(views).flatMap(list => list.map(({ name }) => name)),
      ...viewsWelcome.map(({ contents }: { contents: string }) => contents),
    ];
    for (const value of inManifest) {
      assert.match(value, /^%[\w.-]+%$/);
    }
  });
});

test('no text or document names a missing command of ralph-fresh', async () => {
  const files = (await sources('.')).map(file => `src/${file}`);
  const documents = (await readdir(path.join(root, 'docs'))).filter(name => name.endsWith('.md'));
  const places = ['README.md', ...documents.map(name => `docs/${name}`), ...files];
  const texts = await Promise.all(places.map(async file => [file, await read(file)] as const));
  const isCommand = new Set(
    texts
      .filter(([file]) => file.startsWith('src/cli/'))
      .flatMap(([, text]) => [...text.matchAll(/\.command\((?:done \? '(tick)' : )?'([a-z]+)/g)])
      .flatMap(([, ...names]) => names),
  );
  const unknown = texts.flatMap(([file, text]) =>
    [...text.matchAll(/\bralph-fresh ([a-z]+)\b/g)]
      .map(([, name = '']) => name)
      .filter(name => !isCommand.has(name))
      .map(name => `${file} names ${name}`),
  );
  assert.deepEqual(unknown, []);
});
