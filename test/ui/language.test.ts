import { expect, test } from '@playwright/test';
import { cleanEnv, type TempDir } from '../support/cleanEnv.ts';
import { sampleProject } from '../support/sampleProject.ts';
import { Workbench, type WorkbenchOptions } from '../support/workbench.ts';

const SLOW = { timeout: 60_000 };

let temp: TempDir;
let home: string;
let workspace: string;

test.beforeEach(async () => {
  ({ temp, home, workspace } = await sampleProject('ralph-fresh-language-'));
});
test.afterEach(() => temp.remove());

function open(options: Partial<WorkbenchOptions>): Promise<Workbench> {
  return Workbench.open({ workspace, env: cleanEnv({ home }), ...options });
}

for (const { explained, language, offered, trusted } of [
  {
    ...{ language: 'de', trusted: true, offered: 'Neue Story' },
    explained: 'Die Storys, in der Reihenfolge, in der gleiche Prioritäten laufen.',
  },
  {
    ...{ language: 'ja', trusted: false, offered: '新しいストーリー' },
    explained: 'ストーリー。優先度が同じ場合はこの順に実行します。',
  },
]) {
  const folder = trusted ? 'a trusted' : 'an untrusted';
  test(`prd.json is explained in the language ${language}, in ${folder} folder`, async () => {
    await using workbench = await open({ language, trusted });
    const { page } = workbench;
    await workbench.view('Ralph');
    await expect(workbench.treeItem(/^US-001/)).toBeVisible();
    await workbench.runCommand('Go to File...');
    await page.keyboard.type('prd.json');
    await expect(page.locator('.quick-input-list .monaco-list-row').first()).toContainText(
      'prd.json',
    );
    await page.keyboard.press('Enter');
    const key = page.locator('.monaco-editor .view-line span', { hasText: /^"userStories"$/ });
    await expect(async () => {
      await page.mouse.move(5, 5);
      await key.last().hover();
      await expect(page.locator('.monaco-hover:visible')).toContainText(explained, {
        timeout: 5_000,
      });
    }).toPass(SLOW);
    await workbench.page.screenshot({
      path: `test-results/screenshots/schema-hover-${language}.png`,
    });

    // Between the first story and the second.
    await page.locator('.monaco-editor .view-line', { hasText: '"US-002",' }).click();
    for (const press of ['ArrowUp', 'ArrowUp', 'End', 'Enter']) {
      await page.keyboard.press(press);
    }
    await workbench.runCommand('Trigger Suggest');
    await expect(page.locator('.suggest-widget.visible')).toContainText(offered, SLOW);
    await workbench.screenshot(`schema-completion-${language}`);
    expect(workbench.consoleErrors()).toEqual([]);
  });
}
