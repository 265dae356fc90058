import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { codePointers } from '../../src/orchestrator/context/codePointers.ts';
import { LiveIndex } from '../../src/orchestrator/context/liveIndex.ts';
import { SymbolMemory } from '../../src/orchestrator/context/symbolMemory.ts';
import { treeFiles } from '../../src/orchestrator/git/treeFiles.ts';
import { gitRepo, tempDir } from '../support/cleanEnv.ts';
import { gitFolder } from '../support/gitFolder.ts';

/** A repository of files, each of which defines one function of its name, and a constant. */
async function projectIn(temp: string, names: readonly string[]) {
  const folder = path.join(temp, 'project');
  await mkdir(folder);
  const project = gitFolder(() => ({ folder, home: temp }));
  for (const name of names) {
    await project.write(
      `${name}.ts`,
      `const key = 'secret';\nexport function ${name}(text: string) { return key; }\n`,
    );
  }
  const files = await treeFiles(folder, await gitRepo(folder));
  return { ...project, folder, files };
}

describe('what files define, remembered', () => {
  test('is the same with a full, a small and no memory, whatever was asked before', async () => {
    await using temp = await tempDir('symbol-memory-');
    const names = Array.from({ length: 12 }, (_, i) => `word${i}`);
    const { files, folder } = await projectIn(temp.path, names);
    const [full, small] = [new SymbolMemory(), new SymbolMemory(500)];
    const reversed = files.toReversed();
    for (const asked of [files, reversed, files.slice(3, 6), [...reversed, ...files], files]) {
      const anew = await new SymbolMemory().definitionsOf(folder, asked);
      assert.deepEqual(
        anew.map(([one, ...others]) => [one?.name, others.length]),
        asked.map(file => [path.parse(file.path).name, 0]),
      );
      for (const memory of [full, small]) {
        assert.deepEqual(await memory.definitionsOf(folder, asked), anew);
      }
      // Another query may push out what this one has found.
      const both = await Promise.all([asked, files].map(some => small.definitionsOf(folder, some)));
      assert.deepEqual(both[0], anew);
    }
    assert.ok(small.size > 300 && small.size <= 500, `${small.size}`);
    assert.ok(full.size > 500);
  });

  test('does not change the answer of a query', async () => {
    await using temp = await tempDir('symbol-memory-query-');
    const { commit, folder, write } = await projectIn(temp.path, ['word', 'other']);
    // A module under another address has a memory of its own.
    const cold = async (at: string): Promise<typeof codePointers> =>
      (await import(`../../src/orchestrator/context/codePointers.ts?cold=${at}`)).codePointers;
    for (const changed of ['word', 'changed', 'word', 'others']) {
      await write('word.ts', `export function ${changed}(text: string) {}\n`);
      const at = await commit(`the ${changed}`);
      const index = await new LiveIndex(undefined).at(folder, at);
      for (const title of ['word', 'changed', 'other']) {
        const query = { dir: folder, commit: at, title, text: '', pinned: ['word.ts'], barred: [] };
        const [warm, anew] = await Promise.all(
          [codePointers, await cold(`${at}-${title}`)].map(ask => ask(index, query, [], '')),
        );
        assert.deepEqual(warm, anew);
        assert.deepEqual(warm?.files[0]?.signatures, [`export function ${changed}(text: string)`]);
      }
    }
  });

  test('has a limit by its size, and keeps no values of constants', async () => {
    await using temp = await tempDir('symbol-memory-size-');
    const { commit, folder, write } = await projectIn(temp.path, []);
    const functions = Array.from({ length: 5_000 }, (_, i) => `function word${i}() {}\n`).join('');
    for (let i = 0; i < 12; i++) {
      await write(`dense${i}.ts`, `// ${i}\n${functions}`);
    }
    await write('values.ts', "export const secret = 'value';\n".repeat(1_000));
    const files = await treeFiles(folder, await commit());
    const memory = new SymbolMemory();
    const definitions = await memory.definitionsOf(folder, files);
    assert.deepEqual(
      definitions.map(({ length }) => length),
      [...Array.from({ length: 12 }, () => 5_000), 0],
    );
    assert.ok(memory.size > 3_000_000 && memory.size <= 4_000_000, `${memory.size}`);
    const values = new SymbolMemory();
    await values.definitionsOf(folder, files.slice(-1));
    assert.ok(values.size < 100, `${values.size}`);
  });

  test('does not count what git could not give', async () => {
    await using temp = await tempDir('symbol-memory-partial-');
    const origin = await projectIn(temp.path, ['one', 'two']);
    await origin.git('config', 'uploadpack.allowFilter', 'true');
    const folder = path.join(temp.path, 'clone');
    await mkdir(folder);
    const { git } = gitFolder(() => ({ folder, home: temp.path }));
    const { href } = pathToFileURL(origin.folder);
    await git('clone', '--quiet', '--filter=blob:none', '--no-checkout', href, '.');
    await git('remote', 'set-url', 'origin', `${href}-nowhere`);
    const memory = new SymbolMemory();
    assert.deepEqual(await memory.definitionsOf(folder, origin.files), [[], []]);
    assert.equal(memory.size, 0);
    await git('remote', 'set-url', 'origin', href);
    const found = await memory.definitionsOf(folder, origin.files);
    assert.deepEqual(
      found.flat().map(({ name }) => name),
      ['one', 'two'],
    );
  });
});
