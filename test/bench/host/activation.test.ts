// Runs inside the extension host of a real VS Code; test/bench/extensionHost.ts starts it and reads the results.
import assert from 'node:assert/strict';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import * as vscode from 'vscode';
import type { RalphFreshApi } from '../../../src/views/tools/api.ts';
import { benchStories, storyFileText } from '../benchWorkspace.ts';
import { type HostFigures, resultsVariable } from '../hostFigures.ts';

const STORIES = 5_000;
/** The host must be idle for some polls in a row before the measurement, which starts after a maximum in any case. */
const LOOK_MS = 100;
const CALM_LOOKS = 5;
const MAX_LOOKS = 100;
const MAX_BUSY = 0.1;
const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
const prd = path.join(folder, '.omc', 'prd.json');

/** The marks that VS Code records for its own overview of running extensions, in ms. */
interface HostMarks {
  getMarks(): readonly { readonly name: string; readonly startTime: number }[];
}

/** Duration of a step of the extension's activation, as measured by VS Code. */
function took(step: 'LoadExtensionCode' | 'ActivateExtension'): number {
  const { MonacoPerformanceMarks: marks } = globalThis as { MonacoPerformanceMarks?: HostMarks };
  const at = (when: 'will' | 'did') => {
    const name = `code/extHost/${when}${step}/ralph-fresh.ralph-fresh`;
    const mark = marks?.getMarks().find(known => known.name === name);
    assert.ok(mark, `VS Code makes a mark ${name}`);
    return mark.startTime;
  };
  return at('did') - at('will');
}

/** Waits until the host has finished its own start: the activation of other extensions is not part of ours. */
async function untilIdle(): Promise<void> {
  let calm = 0;
  for (let look = 0; calm < CALM_LOOKS && look < MAX_LOOKS; look++) {
    const before = performance.eventLoopUtilization();
    await new Promise(resolve => setTimeout(resolve, LOOK_MS));
    const { utilization } = performance.eventLoopUtilization(before);
    calm = utilization < MAX_BUSY ? calm + 1 : 0;
  }
}

suite('figures', () => {
  test('activation and the tree of many stories', async () => {
    const file = process.env[resultsVariable];
    assert.ok(file);
    const extension = vscode.extensions.getExtension<RalphFreshApi>('ralph-fresh.ralph-fresh');
    assert.ok(extension);
    assert.equal(extension.isActive, false, 'nothing in an empty folder activates it');
    await mkdir(path.dirname(prd), { recursive: true });
    await writeFile(prd, storyFileText(benchStories(STORIES, STORIES / 2)));
    await untilIdle();
    const before = performance.now();
    const { stories } = await extension.activate();
    const askedMs = performance.now() - before;
    const activationMs = took('LoadExtensionCode') + took('ActivateExtension');

    const asked = performance.now();
    const nodes = (await stories.getChildren()) ?? [];
    for (const node of nodes) {
      await stories.getTreeItem(node);
    }
    const treeMs = performance.now() - asked;
    assert.equal(nodes.length, STORIES);

    // One story is ticked in its file. How many lines are redrawn?
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
    // Atomic, as editors and agents write: half a file is a different file.
    await writeFile(`${prd}.new`, ticked);
    await rename(`${prd}.new`, prd);
    await vscode.commands.executeCommand('ralphFresh.refreshStories');
    const figures: HostFigures = { activationMs, askedMs, treeMs, redrawn: await changed };
    await writeFile(file, JSON.stringify(figures));
  });
});
