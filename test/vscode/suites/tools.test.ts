import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import type { RalphFreshApi } from '../../../src/views/tools/api.ts';

const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
const prdFile = path.join(folder, '.omc', 'prd.json');

suite('The tools for language models', () => {
  let api: RalphFreshApi;
  let original: string;

  suiteSetup(async () => {
    original = await readFile(prdFile, 'utf8');
    const extension = vscode.extensions.getExtension<RalphFreshApi>('ralph-fresh.ralph-fresh');
    assert.ok(extension);
    api = await extension.activate();
  });
  suiteTeardown(() => writeFile(prdFile, original));

  test('exist under the names that chat offers', () => {
    const extension = vscode.extensions.getExtension('ralph-fresh.ralph-fresh');
    const declared: { name: string; toolReferenceName: string }[] =
      extension?.packageJSON.contributes.languageModelTools;
    assert.deepEqual(
      declared.map(({ toolReferenceName }) => toolReferenceName),
      ['get_run_status', 'list_stories', 'start_run'],
    );
    const known = vscode.lm.tools.map(({ name }) => name);
    assert.deepEqual(
      declared.map(({ name }) => name).filter(name => !known.includes(name)),
      [],
    );
  });

  test('list the stories of the folder', async () => {
    await writeFile(prdFile, original.replaceAll('"passes": true', '"passes": false'));
    const { total, done, stories } = await invoke('ralph_list_stories', { state: 'open' });
    assert.deepEqual({ total, done }, { total: 5, done: 0 });
    assert.equal((stories as { id: string }[])[0]?.id, 'US-001');
    assert.deepEqual((await invoke('ralph_list_stories', { state: 'done' }))['stories'], []);
  });

  test('explain what to do if there is no such folder', async () => {
    await assert.rejects(
      Promise.resolve(invoke('ralph_get_run_status', { folder: '/nowhere' })),
      /no folder "\/nowhere".*There are:/,
    );
  });

  test('start a run once after confirmation and report its state', async () => {
    const started = await invoke('ralph_start_run', {});
    assert.equal(started['started'], true);
    assert.equal(started['agent'], 'demo');
    await assert.rejects(Promise.resolve(invoke('ralph_start_run', {})), /already active/);
    const status = await invoke('ralph_get_run_status', { folder });
    assert.equal(status['phase'], 'running');
    assert.equal(status['run'], started['run']);
    await vscode.commands.executeCommand('ralphFresh.stopRun');
    assert.equal(api.run.current.alive, false);
    assert.equal((await invoke('ralph_get_run_status', {}))['outcome'], 'stopped');
  });
});

async function invoke(name: string, input: object): Promise<Record<string, unknown>> {
  const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined });
  const [part] = content;
  assert.ok(part instanceof vscode.LanguageModelTextPart);
  return JSON.parse(part.value);
}
