import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';

const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
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
});

/** The editor of story files is loaded by the first one that is open. */
async function untilOffered(document: vscode.TextDocument, resolved: number) {
  for (const started = Date.now(); ; ) {
    const found = await fixesOf(document, resolved);
    if (found.length > 0) {
      return found;
    }
    assert.ok(Date.now() - started < 120_000, 'nothing is offered');
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

/** @param resolved so many of them a person wants */
async function fixesOf(
  document: vscode.TextDocument,
  resolved: number,
): Promise<vscode.CodeAction[]> {
  const whole = new vscode.Range(0, 0, document.lineCount, 0);
  return vscode.commands.executeCommand(
    'vscode.executeCodeActionProvider',
    document.uri,
    whole,
    'source.fixAll.ralphFresh',
    resolved,
  );
}
