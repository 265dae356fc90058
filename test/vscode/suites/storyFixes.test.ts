import assert from 'node:assert/strict';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { writeBacklog } from '../../support/backlogFolder.ts';

const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
const FIX_ALL = 'source.fixAll.ralphFresh';
const prdFile = path.join(folder, '.omc', 'prd.json');

suite('Fixes of a story file', () => {
  test('the fix for all problems is computed on request, from the current text', async () => {
    const original = await readFile(prdFile, 'utf8');
    // Whether or not a run has done the story before.
    const done = /"passes": (?:true|false)/;
    const broken = original.replace(done, '"passes": "true"');
    await writeFile(prdFile, broken);
    try {
      await vscode.extensions.getExtension('ralph-fresh.ralph-fresh')?.activate();
      const document = await vscode.workspace.openTextDocument(prdFile);
      await vscode.window.showTextDocument(document);
      const [offered] = await untilOffered(document, 0);
      assert.equal(offered?.edit, undefined);
      const [wanted] = await untilOffered(document, 1);
      assert.ok(wanted?.edit);
      await vscode.workspace.applyEdit(wanted.edit);
      assert.equal(document.getText(), original.replace(done, '"passes": true'));
      assert.deepEqual(await fixesOf(document, 1), []);
    } finally {
      await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
      await writeFile(prdFile, original);
    }
  });

  test('a task of a folder has its problems and their fixes in its own file, also before it is saved', async () => {
    const backlog = path.join(folder, 'backlog');
    const aside = path.join(folder, 'aside.json');
    // The editor must not write the file again.
    await vscode.workspace.saveAll(false);
    const tasks = [
      { id: 'task-1', title: 'A' },
      { id: 'task-2', title: 'B', dependencies: ['task_1'] },
    ];
    try {
      await rename(prdFile, aside);
      await writeBacklog(backlog, tasks);
      const file = path.join(backlog, 'tasks', 'task-2 - B.md');
      const document = await vscode.workspace.openTextDocument(file);
      const editor = await vscode.window.showTextDocument(document);
      const fixes = await untilOffered(document, 0, 'quickfix');
      assert.deepEqual(
        fixes.map(({ title }) => title),
        ['Wait for task-1 instead of task_1', 'Do not wait for task_1'],
      );
      const original = document.getText();
      const status = document.positionAt(original.indexOf('To Do'));
      assert.equal(await editor.edit(edit => edit.insert(status, 'Not ')), true);
      const wish = 'Set "status" to "To Do"';
      const now = await untilOffered(document, 0, 'quickfix', wish);
      const wanted = now.find(({ title }) => title === wish);
      assert.ok(wanted?.edit);
      await vscode.workspace.applyEdit(wanted.edit);
      assert.equal(document.getText(), original);
      await until(() => problemsIn(document).length === 1);
      const [problem] = problemsIn(document);
      assert.equal(problem && document.getText(problem.range), 'task_1');
    } finally {
      await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
      await rm(backlog, { recursive: true, force: true });
      await rename(aside, prdFile);
    }
  });
});

function problemsIn({ uri }: vscode.TextDocument): vscode.Diagnostic[] {
  return vscode.languages.getDiagnostics(uri).filter(({ source }) => source === 'Ralph');
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

/**
 * The editor of story files is loaded by the first one that is open.
 * @param wish title of a fix that is waited for; otherwise any
 */
async function untilOffered(
  document: vscode.TextDocument,
  resolved: number,
  kind = FIX_ALL,
  wish?: string,
) {
  for (const started = Date.now(); ; ) {
    // A change of the document cancels the request.
    const found = await fixesOf(document, resolved, kind).catch(() => []);
    if (found.some(({ title }) => wish === undefined || title === wish)) {
      return found;
    }
    const titles = found.map(({ title }) => title).join(', ');
    assert.ok(Date.now() - started < 120_000, `${wish ?? 'A fix'} is not offered: ${titles}`);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

/** @param resolved so many of them a person wants */
async function fixesOf(
  document: vscode.TextDocument,
  resolved: number,
  kind = FIX_ALL,
): Promise<vscode.CodeAction[]> {
  const whole = new vscode.Range(0, 0, document.lineCount, 0);
  return await vscode.commands.executeCommand(
    'vscode.executeCodeActionProvider',
    document.uri,
    whole,
    kind,
    resolved,
  );
}
