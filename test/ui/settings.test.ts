import { openStories } from '../support/ralph.ts';
import { scriptedRun } from '../support/scriptedRun.ts';
import { expect, test } from '../support/story.ts';
import { Workbench } from '../support/workbench.ts';

/** It only ends a test that has failed. */
const RUN_LIMIT = { timeout: 180_000 };

test('settings are in groups, and the window takes precedence over the file', async () => {
  await using run = await scriptedRun({
    stories: openStories(3),
    calls: [['work']],
    files: { '.omc/config.json': '{ "maxIterations": 3, "verify": ["exit 0"] }\n' },
    settings: { 'ralphFresh.maxIterations': 2 },
  });
  const { env, settings, workspace } = run;
  await using workbench = await Workbench.open({
    ...{ workspace, env, settings },
  });
  const { page } = workbench;
  await workbench.runCommand('Preferences: Open Settings (UI)');
  const editor = page.locator('.settings-editor');
  await expect(editor).toBeVisible();
  // It takes the keys by itself.
  await page.keyboard.type('@ext:ralph-fresh.ralph-fresh');
  // Those of this machine alone stand on a page of their own.
  await expect(editor.getByText('27 Settings Found').first()).toBeVisible();
  for (const group of [
    ...['Agent', 'Checks and Review', 'Limits and Budgets', 'Git'],
    ...['Several Agents at Once', 'Window'],
  ]) {
    await expect(workbench.treeItem(`${group}, group`)).toBeVisible();
  }
  await workbench.screenshot('settings');
  // In newer versions the settings stand above the window.
  await workbench.closeEditors();
  await expect(editor).toBeHidden();

  await workbench.view('Ralph');
  await workbench.runCommand('Ralph: Start Fresh Run');
  await expect(workbench.statusBarItem('Ralph at its iteration limit · 2/3')).toBeVisible(
    RUN_LIMIT,
  );
  const checks = (await run.events()).filter(({ type }) => type === 'check.ended');
  expect(checks, 'what the window leaves alone comes from the file').toHaveLength(2);
  expect(workbench.consoleErrors()).toEqual([]);
});
