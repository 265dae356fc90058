import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { describe, test } from 'node:test';
import { vsCodeVersions } from '../../scripts/lib/vscodeServer.ts';
import * as contributions from '../../src/views/contributions.ts';

const root = path.resolve(import.meta.dirname, '../..');
const src = path.join(root, 'src');
const read = (file: string) => readFile(path.join(root, file), 'utf8');

/** TypeScript files below a folder, relative to `src`, with forward slashes. */
async function sources(folder: string): Promise<string[]> {
  const entries = await readdir(path.join(src, folder), { recursive: true, withFileTypes: true });
  return (
    entries
      .filter(entry => entry.isFile() && /\.tsx?$/.test(entry.name))
      .map(entry => path.relative(src, path.join(entry.parentPath, entry.name)))
      .map(file => file.split(path.sep).join('/'))
      // What the demo agent writes into the sample project is text to us.
      .filter(file => !file.startsWith('orchestrator/agents/demo/work/'))
  );
}

/** Everything a file imports: ours as paths relative to `src`, others by their names. */
async function importsOf(file: string): Promise<string[]> {
  const text = await readFile(path.join(src, file), 'utf8');
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^'";]*?from\s*'([^']+)'|(?:^|\n)\s*import\s*'([^']+)'|\bimport\(\s*['"`]([^'"`]+)['"`]|\brequire\(\s*['"`]([^'"`]+)['"`]/g,
  );
  return [...found]
    .map(([, ...names]) => names.find(name => name !== undefined) ?? '')
    .map(name => (name.startsWith('.') ? path.posix.join(path.posix.dirname(file), name) : name));
}

interface Import {
  readonly file: string;
  readonly imported: string;
}

async function allImports(files: readonly string[]): Promise<Import[]> {
  const lists = await Promise.all(
    files.map(async file => (await importsOf(file)).map(imported => ({ file, imported }))),
  );
  return lists.flat();
}

const offending = (imports: readonly Import[], isAllowed: (imported: string) => boolean) =>
  imports
    .filter(({ imported }) => !isAllowed(imported))
    .map(({ file, imported }) => `${file} imports ${imported}`);

describe('imports run one way', () => {
  test('this test sees imports at all', async () => {
    const seen = await importsOf('orchestrator/loop/freshRun.ts');
    assert.ok(seen.includes('orchestrator/loop/policy.ts'));
    assert.ok(seen.includes('orchestrator/journal/runState.ts'));
    assert.ok((await importsOf('orchestrator/proof/checks/gate.ts')).includes('execa'));
    assert.ok((await importsOf('cli.ts')).includes('base/node20.ts'));
    assert.ok((await importsOf('views/run/runModel.ts')).includes('vscode'));
    assert.ok((await sources('orchestrator')).length > 30);
  });

  test('the orchestrator, the presentation and the command line know nothing of VS Code', async () => {
    const files = [
      ...(await sources('orchestrator')),
      ...(await sources('presentation')),
      'cli.ts',
    ];
    const imports = await allImports(files);
    assert.deepEqual(
      offending(
        imports,
        imported => imported !== 'vscode' && !/^(views|webview|extension)\b/.test(imported),
      ),
      [],
    );
  });

  test('the orchestrator knows nothing of its doors', async () => {
    assert.deepEqual(
      offending(
        await allImports(await sources('orchestrator')),
        imported => !/^(presentation|cli)\b/.test(imported),
      ),
      [],
    );
  });

  /** Files that know nothing of runs and stories themselves. */
  const leaves = [
    'assertNever',
    'codeFence',
    'editDistance',
    'emitter',
    'humanError',
    'lineSplitter',
    'messageOf',
    'once',
    'say',
    'systemRefusal',
    'text',
  ].map(name => `orchestrator/${name}.ts`);
  for (const folder of ['orchestrator/run', 'orchestrator/stories']) {
    test(`${folder} imports nothing above it but leaves`, async () => {
      const imports = await allImports(await sources(folder));
      assert.deepEqual(
        offending(
          imports,
          imported =>
            imported.startsWith(`${folder}/`) ||
            leaves.includes(imported) ||
            !/^(orchestrator|presentation|views|webview|cli|extension)\b/.test(imported),
        ),
        [],
      );
    });
  }

  test('the leaves import no file of ours but leaves', async () => {
    assert.deepEqual(
      offending(
        await allImports(leaves),
        imported => imported.startsWith('node:') || leaves.includes(imported),
      ),
      [],
    );
  });

  test('nobody is told the class of an error: what goes to people is messageOf(error)', async () => {
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
      `orchestrator/agents/streamJson.ts: $${'{error}'}`,
      'views/remember.ts: String(error)',
    ];
    assert.deepEqual(told.sort(), known);
  });

  test('a view starts no process and writes no file', async () => {
    const imports = await allImports(await sources('views'));
    assert.deepEqual(
      offending(
        imports,
        imported => !/^(node:child_process|execa|simple-git|write-file-atomic)$/.test(imported),
      ),
      [],
    );
  });

  test("Node's own modules are named as such", async () => {
    const files = await sources('.');
    assert.deepEqual(
      offending(await allImports(files), imported => !builtinModules.includes(imported)),
      [],
    );
  });

  test('every import of ours is a file that exists', async () => {
    const files = await sources('.');
    const known = new Set(files);
    assert.deepEqual(
      offending(
        await allImports(files),
        imported =>
          known.has(imported) ||
          !/^(orchestrator|presentation|views|webview)\/|^(cli|extension)\.ts$/.test(imported) ||
          !imported.endsWith('.ts'),
      ),
      [],
    );
  });
});

test('extension.ts wires and does no work', async () => {
  assert.ok((await read('src/extension.ts')).split('\n').length < 120);
});

describe('package.json', async () => {
  const text = await read('package.json');
  const manifest = JSON.parse(text);
  const { commands, views, menus, viewsWelcome, taskDefinitions } = manifest.contributes;
  const sorted = (values: Iterable<string>) => [...values].sort();
  const commandIds = sorted(Object.values(contributions.Command));
  const viewIds: string[] = Object.values(contributions.View);

  test('allows no VS Code older than the oldest that is tested', async () => {
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

  test('names no command, view or context key that does not exist', () => {
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

  test('task type and file system are those of contributions.ts', () => {
    assert.deepEqual(
      taskDefinitions.map(({ type }: { type: string }) => type),
      [contributions.TASK_TYPE],
    );
    assert.ok(manifest.activationEvents.includes(`onTaskType:${contributions.TASK_TYPE}`));
    assert.ok(manifest.activationEvents.includes(`onFileSystem:${contributions.GIT_SCHEME}`));
  });

  test('every text is in package.nls.json, and every text there is used', async () => {
    const nls = JSON.parse(await read('package.nls.json'));
    const used = new Set([...text.matchAll(/"%([\w.-]+)%"/g)].map(([, key]) => key ?? ''));
    assert.deepEqual(sorted(used), sorted(Object.keys(nls)));
    assert.ok(Object.values<string>(nls).every(value => value.trim() !== ''));
  });

  test('links to no command of ours, and waits for none, that does not exist', async () => {
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

  test('no text for people stands in package.json itself', () => {
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

test('no text and no document names a command of ralph-fresh that does not exist', async () => {
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

describe('the code map', () => {
  /** Folders of `src` that the map in docs/ARCHITECTURE.md names, each with the files that are named in it. */
  async function readMap(): Promise<Map<string, Set<string>>> {
    const [, block = ''] = (await read('docs/ARCHITECTURE.md')).split('```');
    const named = new Map([['', new Set<string>()]]);
    const within: string[] = [];
    const lines = block.slice(block.indexOf('src/\n') + 'src/\n'.length).split('\n');
    // Other folders of the repository are not indented.
    const end = lines.findIndex(line => /^\S/.test(line));
    for (const line of lines.slice(0, end).filter(line => line !== '')) {
      const [, indent = '', head] = /^( *)(?:(\w+)\/(?=\s|$))?/.exec(line) ?? [];
      within.splice(indent.length / 2 - 1);
      if (head !== undefined) {
        within.push(head);
      }
      const folder = within.join('/');
      const files = named.get(folder) ?? new Set<string>();
      named.set(folder, files);
      const rest = head === undefined ? line : line.trimStart().slice(head.length + 1);
      for (const [, beside] of rest.matchAll(/(?<=\s)(\w+)\/(?=\s|$)/g)) {
        const place = head === undefined ? folder : within.slice(0, -1).join('/');
        const there = [path.posix.join(place, beside ?? ''), path.posix.join(folder, beside ?? '')];
        named.set(
          there.find(dir => existsSync(path.join(src, dir))) ?? (there[0] as string),
          new Set(),
        );
      }
      for (const [, file = ''] of rest.matchAll(/(?<=\s)(\w+\.ts)\b/g)) {
        files.add(file);
      }
    }
    return named;
  }

  test('names every folder, and of a folder whose files it names all of them; all it names is there', async () => {
    const named = await readMap();
    const files = await sources('');
    const folders = new Set(
      files.map(file => path.posix.dirname(file)).map(dir => (dir === '.' ? '' : dir)),
    );
    // What the demo agent writes is text to us, and the map says where it is.
    named.delete('orchestrator/agents/demo/work');
    assert.deepEqual([...named.keys()].sort(), [...folders].sort());
    const told: string[] = [];
    for (const [folder, inMap] of named) {
      const inFolder = files
        .filter(
          file => (path.posix.dirname(file) === '.' ? '' : path.posix.dirname(file)) === folder,
        )
        .map(file => path.posix.basename(file));
      const gone = [...inMap].filter(file => !inFolder.includes(file));
      // The map tells of all these in one line.
      const missing = inFolder.filter(file => !inMap.has(file) && !file.endsWith('OnDemand.ts'));
      told.push(...gone.map(file => `${folder}/${file} is not there`));
      told.push(...(inMap.size === 0 ? [] : missing).map(file => `${folder}/${file} is not named`));
    }
    assert.deepEqual(told, []);
  });
});
