// npm run pictures: takes the pictures of the README from a real run of the demo agent in a real VS Code.
import { copyFile, cp, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { expect } from '@playwright/test';
import { cleanEnv, gitRepo, tempDir } from '../test/support/cleanEnv.ts';
import { Workbench } from '../test/support/workbench.ts';

const root = path.resolve(import.meta.dirname, '..');
const RUN_LIMIT = { timeout: 120_000 };

await using temp = await tempDir('ralph-fresh-pictures-');
const workspace = path.join(temp.path, 'todo-api');
const home = path.join(temp.path, 'home');
await mkdir(home);
await cp(path.join(root, 'sample'), workspace, { recursive: true });
await gitRepo(workspace);

await using workbench = await Workbench.open({
  workspace,
  env: cleanEnv({ home, extra: { RALPH_FRESH_DEMO_PACE_MS: '400' } }),
  theme: 'dark',
});
await workbench.view('Ralph');
await workbench.runCommand('Ralph: Start Fresh Run');
await expect(workbench.treeItem(/^US-004.*running/)).toBeVisible(RUN_LIMIT);
await workbench
  .treeItem(/^US-001/)
  .locator('.monaco-tl-twistie')
  .click();
await workbench.treeItem(/feat: create a todo/).click();
await expect.poll(() => workbench.diffEditorFileNames(), RUN_LIMIT).toContain('src/app.ts');
await expect.poll(() => workbench.terminalText(), RUN_LIMIT).toMatch(/All 2\d tests pass/);
await keep('workbench');

await workbench.runCommand('Ralph: Show Progress');
await expect(
  workbench
    .webview()
    .getByText(/US-004/)
    .first(),
).toBeVisible(RUN_LIMIT);
await workbench.runCommand('View: Hide Panel');
await keep('progress');

await expect(workbench.statusBarItem(/Ralph done/)).toBeVisible(RUN_LIMIT);
await workbench.runCommand('View: Close All Editors');
await workbench.runCommand("Ralph: Review the Run's Changes");
await expect.poll(() => workbench.diffEditorFileNames(), RUN_LIMIT).toContain('src/app.ts');
await keep('changes');

/** Saves a screenshot of the window for the README. */
async function keep(name: string): Promise<void> {
  const target = path.join(root, 'media', 'readme', `${name}.png`);
  await mkdir(path.dirname(target), { recursive: true });
  await copyFile(await workbench.screenshot(`readme-${name}`), target);
  console.log(`Made ${path.relative(root, target)}`);
}
