import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { scriptedWindow } from '../support/scriptedWindow.ts';
import { expect, test } from '../support/story.ts';
import { variants } from '../support/variants.ts';

const THEMES = variants(['hc-dark', 'dark', 'light'] as const, 1, 2);

test.describe('in one window', () => {
  const prepared = scriptedWindow();

  test('stories are converted, and losses are shown first', async () => {
    const stories = [
      { id: 'US-001', title: 'List the todos', acceptanceCriteria: ['Tests pass'], passes: true },
      { id: 'US-002', title: 'Filter them', dependsOn: ['US-001'], estimate: 3, passes: false },
    ];
    const prd = `${JSON.stringify({ project: 'Todo', userStories: stories }, null, 2)}\n`;
    const { run, workbench } = await prepared({
      calls: [],
      files: { '.omc/prd.json': prd },
      theme: 'light',
    });
    const { dialog, page } = workbench;
    const plan = path.join(run.workspace, 'IMPLEMENTATION_PLAN.md');
    await expect(workbench.treeItem(/US-001/).first()).toBeVisible();

    const choose = async (target: string) => {
      await workbench.runCommand('Ralph: Convert Stories…');
      const input = page.locator('.quick-input-widget input[type="text"]');
      for (const [question, entry] of [
        ['Where are the stories now?', 'prd.json'],
        ['Which format should they have?', target],
      ] as const) {
        await expect(input).toHaveAttribute('placeholder', question);
        // The mouse would be stopped by the explanation of the entry below it.
        await input.fill(entry);
        await page.keyboard.press('Enter');
      }
    };
    for (const theme of THEMES) {
      await workbench.setTheme(theme);
      await choose('Markdown plan');
      await expect(dialog).toContainText('IMPLEMENTATION_PLAN.md cannot hold everything');
      await expect(dialog).toContainText('what they wait for: US-002');
      await expect(dialog).toContainText('other keys (estimate): US-002');
      await workbench.screenshot(`convert-loss-${theme}`);
      await page.keyboard.press('Escape');
      await expect(dialog).toBeHidden();
    }
    await choose('Markdown plan');
    await dialog.getByRole('button', { name: 'Convert' }).click();
    const lines = page.locator('.monaco-editor .view-lines').first();
    await expect(lines).toContainText('US-002: Filter them');
    expect(existsSync(plan)).toBe(false);
    await page.keyboard.press('Control+s');
    await expect
      .poll(() => readFile(plan, 'utf8').catch(() => ''))
      .toContain('- [x] US-001: List the todos\n');

    await test.step('a file that exists is only replaced after a question', async () => {
      const before = await readFile(plan, 'utf8');
      await choose('Markdown plan');
      await expect(dialog).toContainText('IMPLEMENTATION_PLAN.md exists. Replace its text?');
      await workbench.screenshot('convert-exists');
      await page.keyboard.press('Escape');
      await expect(dialog).toBeHidden();
      expect(await readFile(plan, 'utf8')).toBe(before);
    });
    expect(await readFile(path.join(run.workspace, '.omc', 'prd.json'), 'utf8')).toBe(prd);
    expect(workbench.consoleErrors()).toEqual([]);
  });

  test('an orchestration has its stories, actions and problems in the editor', async () => {
    const file = '.claude/orchestration/work.yaml';
    const text = `name: Login
phases:
  - name: Form
    tasks:
      - id: T1.1
        name: Validate the form
        done_criteria: Tests pass
        status: completed
        commits: []
      - id: T1.2
        name: Show the errors
        status: pending
        depends_on: [T1.9]
        commits: []
      - id: T1.3
        name: Send it
        status: pendign
      - just a text
`;
    const { run, workbench } = await prepared({
      calls: [],
      files: { [file]: text },
      theme: 'light',
    });
    const { page } = workbench;
    await expect(workbench.treeItem(/Show the errors/).first()).toBeVisible();
    await workbench.runCommand('Ralph: Open the Story File');
    await expect(page.locator('.monaco-editor .view-lines').first()).toContainText('T1.1');
    await expect(page.locator('.squiggly-warning')).toHaveCount(3);
    await expect(page.locator('.codelens-decoration').first()).toContainText('done | Untick');
    for (const theme of THEMES) {
      await workbench.setTheme(theme);
      await workbench.screenshot(`convert-orchestration-${theme}`);
    }
    const done = page.locator('.codelens-decoration', { hasText: /done.*Untick/ });
    const unticked = text.replace('completed', 'pending');
    await workbench.clickLens(
      done,
      'Untick',
      async () => (await readFile(path.join(run.workspace, file), 'utf8')) === unticked,
    );
    expect(workbench.consoleErrors()).toEqual([]);
  });
});
