// Runs inside the extension host of a real VS Code; test/bench/extensionHost.ts starts it and reads the figures.
import assert from 'node:assert/strict';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import type { RalphFreshApi } from '../../../src/views/api.ts';
import { benchStories, storyFileText } from '../benchWorkspace.ts';
import { type HostFigures, resultsVariable } from '../hostFigures.ts';

const STORIES = 5_000;
const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
const prd = path.join(folder, '.omc', 'prd.json');

suite('figures', () => {
  test('activation, and the tree of many stories', async () => {
    const file = process.env[resultsVariable];
    assert.ok(file);
    const extension = vscode.extensions.getExtension<RalphFreshApi>('ralph-fresh.ralph-fresh');
    assert.ok(extension);
    assert.equal(extension.isActive, false, 'nothing in an empty folder activates it');
    const before = performance.now();
    const { stories } = await extension.activate();
    const activationMs = performance.now() - before;

    await mkdir(path.dirname(prd), { recursive: true });
    await writeFile(prd, storyFileText(benchStories(STORIES, STORIES / 2)));
    const asked = performance.now();
    const nodes = (await stories.getChildren()) ?? [];
    for (const node of nodes) {
      await stories.getTreeItem(node);
    }
    const treeMs = performance.now() - asked;
    assert.equal(nodes.length, STORIES);

    // One story ticked in its file: how many lines are drawn anew?
    const changed = new Promise<number>(resolve => {
      const listener = stories.onDidChangeTreeData?.(what => {
        listener?.dispose();
        resolve(
          what === undefined || what === null ? STORIES : Array.isArray(what) ? what.length : 1,
        );
      });
    });
    const text = await readFile(prd, 'utf8');
    const at = text.lastIndexOf('"passes": false');
    const ticked = `${text.slice(0, at)}"passes": true${text.slice(at + '"passes": false'.length)}`;
    // In one step, as editors and agents do: half a file is another file.
    await writeFile(`${prd}.new`, ticked);
    await rename(`${prd}.new`, prd);
    await vscode.commands.executeCommand('ralphFresh.refreshStories');
    const figures: HostFigures = { activationMs, treeMs, redrawn: await changed };
    await writeFile(file, JSON.stringify(figures));
  });
});
