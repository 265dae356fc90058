import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { openStories, type Step } from '../support/ralph.ts';
import { scriptedWindow } from '../support/scriptedWindow.ts';
import { expect, test } from '../support/story.ts';

/** It only ends a test that has failed. */
const RUN_LIMIT = { timeout: 180_000 };
const HOSTILE = 'Red $(alert) [q](command:workbench.action.quit)';

const reports: readonly Step[] = [
  { tick: 'US-001' },
  { commit: 'feat: US-001' },
  {
    result: [
      [
        'US-001 is done.',
        '<discovered>Limit the log in | five tries per minute are enough</discovered>',
        '<discovered>Rotate the keys</discovered>',
        `<discovered>${HOSTILE}</discovered>`,
      ].join('\n'),
    ],
  },
];

test.describe('in one window', () => {
  const prepared = scriptedWindow();

  test('discovered work waits below the stories, and is accepted, edited or dropped there', async () => {
    const { run, workbench } = await prepared({
      theme: 'light',
      stories: openStories(1),
      calls: [reports],
    });
    const { page } = workbench;
    await expect(workbench.treeItem(/US-001/)).toBeVisible();
    await workbench.expectCommands('discovered', []);
    const prd = () => readFile(path.join(run.workspace, '.omc/prd.json'), 'utf8');
    await workbench.runCommand('Ralph: Start Fresh Run');
    const group = workbench.treeItem(/^Group Discovered, 3/);
    const line = (title: string) => workbench.treeItem(new RegExp(`^Discovered work: ${title}`));
    await expect(group).toBeVisible(RUN_LIMIT);
    await expect(line('Red')).toContainText('Red $(alert) [q](command:workbench.action.quit)');
    await expect(line('Limit the log in')).toContainText('from US-001');
    await expect(workbench.notification(/Ralph is done/)).toBeVisible(RUN_LIMIT);
    await workbench.tidy();
    const hover = await workbench.hover(line('Limit the log in'), /five tries per minute/);
    await expect(hover).toContainText('Discovered during US-001, iteration 1');
    await workbench.screenshot('discovered-1-light');
    await page.keyboard.press('Escape');
    await workbench.expectCommands('discovered', [
      'Ralph: Accept Discovered Work',
      'Ralph: Drop Discovered Work',
      'Ralph: Edit Discovered Work…',
    ]);

    await test.step('one is accepted in its menu and becomes a story', async () => {
      const before = await prd();
      await workbench.chooseInMenu(/^Discovered work: Limit the log in/, 'Accept Discovered Work');
      await expect(workbench.treeItem(/DISC-\d+-1-1 Limit the log in/)).toBeVisible(RUN_LIMIT);
      await expect(line('Limit the log in')).toHaveCount(0);
      const after = await prd();
      const added = JSON.parse(after).userStories[1];
      expect([added.title, added.passes, added.discoveredFrom]).toEqual([
        ...['Limit the log in', false, 'US-001'],
      ]);
      expect(after.startsWith(before.slice(0, before.lastIndexOf(']')).trimEnd())).toBe(true);
    });

    await test.step('one is edited by the palette', async () => {
      await workbench.runCommand('Ralph: Edit Discovered Work…');
      const rows = page.locator('.quick-input-widget .monaco-list-row');
      await expect(rows).toHaveCount(2);
      await rows.filter({ hasText: 'Rotate the keys' }).click();
      const input = page.locator('.quick-input-widget input[type="text"]');
      await expect(input).toHaveValue('Rotate the keys');
      await input.fill('Rotate the keys monthly');
      await page.keyboard.press('Enter');
      await expect(line('Rotate the keys monthly')).toBeVisible(RUN_LIMIT);
    });

    await test.step('one is dropped in its menu', async () => {
      await workbench.chooseInMenu(/^Discovered work: Red/, 'Drop Discovered Work');
      await expect(line('Red')).toHaveCount(0, RUN_LIMIT);
      await expect(workbench.treeItem(/^Group Discovered, 1/)).toBeVisible();
    });
    await workbench.setTheme('dark');
    await workbench.screenshot('discovered-2-dark');
    await test.step('the palette offers nothing once all is decided', async () => {
      await workbench.chooseInMenu(/^Discovered work: Rotate/, 'Drop Discovered Work');
      await expect(line('Rotate')).toHaveCount(0, RUN_LIMIT);
      await workbench.expectCommands('discovered', []);
    });
    expect(workbench.consoleErrors()).toEqual([]);
  });
});
