import { cp } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from '@playwright/test';
import { cleanEnv, gitRepo, tempDir } from '../support/cleanEnv.ts';
import { Workbench } from '../support/workbench.ts';

const repoRoot = path.resolve(import.meta.dirname, '..', '..');
test('explore', async () => {
  await using home = await tempDir('ralph-fresh-home-');
  await using workspace = await tempDir('ralph-fresh-workspace-');
  await cp(path.join(repoRoot, 'sample'), workspace.path, { recursive: true });
  await gitRepo(workspace.path);
  await using workbench = await Workbench.open({
    workspace: workspace.path,
    extensionPath: repoRoot,
    env: cleanEnv({ home: home.path, extra: { RALPH_FRESH_DEMO_PACE_MS: '20' } }),
  });
  await workbench.view('Ralph');
  await expect(workbench.treeItem(/US-005/)).toBeVisible();
  await workbench.screenshot('x1-stories');
  await workbench.runCommand('Ralph: Start Fresh Run');
  await expect(workbench.statusBarItem(/Ralph US-002/)).toBeVisible({ timeout: 60000 });
  await workbench.screenshot('x2-running');
  console.log(await workbench.statusBarText());
  console.log(await workbench.terminalText());
  await expect(workbench.statusBarItem(/Ralph done/)).toBeVisible({ timeout: 100000 });
  await workbench.screenshot('x3-done');
  await workbench.treeItem(/US-004/).click();
  await workbench.page.keyboard.press('ArrowRight');
  await workbench.screenshot('x4-commits');
  await workbench
    .treeItem(/feat: complete a todo/)
    .first()
    .click();
  await workbench.page.waitForTimeout(3000);
  await workbench.screenshot('x5-diff');
  console.log(await workbench.diffEditorFileNames());
  console.log(workbench.consoleErrors());
});
