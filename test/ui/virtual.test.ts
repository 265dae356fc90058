import path from 'node:path';
import { cleanEnv, tempDir } from '../support/cleanEnv.ts';
import { expect, test } from '../support/story.ts';
import { Workbench } from '../support/workbench.ts';

const repoRoot = path.resolve(import.meta.dirname, '..', '..');
const memoryFolder = path.join(repoRoot, 'test', 'support', 'fakeExtensions', 'memoryFolder');

test('in a virtual folder, the view explains what does not work and why', async () => {
  await using temp = await tempDir('ralph-fresh-virtual-');
  await using workbench = await Workbench.open({
    ...{ workspace: temp.path, otherExtensions: [memoryFolder] },
    env: cleanEnv({ home: path.join(temp.path, 'home') }),
  });
  const { page } = workbench;
  const address = new URL(page.url());
  address.searchParams.set('folder', 'memory:/');
  await page.goto(address.href);
  const view = await workbench.view('Ralph');
  await expect(view.getByText('Sorry, this does not work here')).toBeVisible();
  await expect(view.getByText('so it needs a folder on a disk')).toBeVisible();
  await expect(view.getByRole('button', { name: 'Open Another Folder' })).toBeVisible();
  await expect(view.getByRole('button', { name: /^(Iterations|Setup) Section/ })).toHaveCount(0);
  await workbench.screenshot('virtual');

  // Nothing is offered that would need a disk.
  await workbench.typeIntoChoice(() => page.keyboard.press('F1'), 'Ralph: ');
  const entries = page.locator('.quick-input-widget:visible .monaco-list-row');
  await expect(entries.filter({ hasText: 'Ralph: Open the Walkthrough' })).toBeVisible();
  for (const command of ['Start Fresh Run', 'Create a Story File', 'Show Progress', 'Run This']) {
    await expect(entries.filter({ hasText: `Ralph: ${command}` })).toHaveCount(0);
  }
  await page.keyboard.press('Escape');
  expect(await workbench.statusBarText()).not.toContain('Ralph');
  expect(workbench.consoleErrors()).toEqual([]);
});
