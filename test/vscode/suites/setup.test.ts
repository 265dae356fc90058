import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';

const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';

suite('The set-up inside VS Code', () => {
  suiteSetup(async () => {
    await vscode.extensions.getExtension('ralph-fresh.ralph-fresh')?.activate();
  });

  test('every setting has its default, and a run uses only those that were set', () => {
    const extension = vscode.extensions.getExtension('ralph-fresh.ralph-fresh');
    const groups: { properties: Record<string, { default: unknown }> }[] =
      extension?.packageJSON.contributes.configuration;
    const found = groups.flatMap(({ properties }) => Object.entries(properties));
    assert.ok(found.length > 20);
    for (const [id, { default: fallback }] of found) {
      const { defaultValue } = vscode.workspace.getConfiguration().inspect(id) ?? {};
      assert.deepEqual(defaultValue, fallback, id);
    }
  });

  test('a file with checkboxes becomes an unsaved prd.json', async () => {
    const prd = path.join(folder, '.omc', 'prd.json');
    const kept = await readFile(prd);
    const plan = path.join(folder, 'IMPLEMENTATION_PLAN.md');
    await rm(prd);
    await writeFile(plan, '# Plan\n\n- [x] First step\n- [ ] Second step\n');
    try {
      // The quick pick's first entry is the only source there is.
      const converting = vscode.commands.executeCommand('ralphFresh.convertStories');
      await accept(converting);
      const { document } = vscode.window.activeTextEditor ?? {};
      assert.equal(document?.isUntitled, true);
      assert.ok(document?.fileName.endsWith(path.join('.omc', 'prd.json')), document?.fileName);
      const { userStories } = JSON.parse(document?.getText() ?? '');
      assert.deepEqual(
        userStories.map(({ title, passes }: { title: string; passes: boolean }) => [title, passes]),
        [
          ['First step', true],
          ['Second step', false],
        ],
      );
      await assert.rejects(readFile(prd), /ENOENT/);
    } finally {
      await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
      await rm(plan);
      await writeFile(prd, kept);
    }
  });
});

/** Accepts the quick pick that a command shows: as soon as it is there, this ends the command. */
async function accept(command: Thenable<unknown>): Promise<void> {
  let isOver = false;
  const over = Promise.resolve(command).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');
    await Promise.race([over, new Promise(resolve => setTimeout(resolve, 50))]);
  }
}
