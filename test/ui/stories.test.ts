import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Locator } from '@playwright/test';
import { cleanEnv } from '../support/cleanEnv.ts';
import { endRuns } from '../support/journals.ts';
import { sampleProject, sampleStories } from '../support/sampleProject.ts';
import { scriptedWindow } from '../support/scriptedWindow.ts';
import { expect, oneWindow, test } from '../support/story.ts';
import { inAll, variants } from '../support/variants.ts';
import { Workbench } from '../support/workbench.ts';

test.describe('in one window', () => {
  const prepared = scriptedWindow();
  let folder: string;
  const file = () => path.join(folder, '.omc', 'prd.json');
  const sample = readFileSync(sampleStories, 'utf8');

  async function shown(text: string): Promise<{ view: Locator; workbench: Workbench }> {
    const { run, workbench } = await prepared({ calls: [], files: { '.omc/prd.json': text } });
    folder = run.workspace;
    return { view: await workbench.view('Ralph'), workbench };
  }

  test('a tick with mouse or keyboard changes one value in the file', async () => {
    const { workbench } = await shown(sample);
    await workbench.checkbox(/^US-001/).click();
    await expect(workbench.treeItem(/^US-001.*done by hand/)).toBeVisible();
    await expect(workbench.page.getByText('1 of 5 done')).toBeVisible();
    const ticked = sample.replace('"passes": false', '"passes": true');
    expect(await readFile(file(), 'utf8')).toBe(ticked);
    await expect(workbench.treeItem(/^US-002.*next/)).toBeVisible();

    await workbench.checkbox(/^US-001/).focus();
    await workbench.page.keyboard.press('Space');
    await expect(workbench.checkbox(/^US-001/)).toHaveAttribute('aria-checked', 'false');
    await expect.poll(() => readFile(file(), 'utf8')).toBe(sample);
    expect(workbench.consoleErrors()).toEqual([]);
  });

  test('a broken story file is shown with its line, and a missing one has a welcome', async () => {
    const { view, workbench } = await shown(sample.replace('"US-002",', '"US-002"'));
    const problem = workbench.treeItem(/prd\.json cannot be used/);
    await expect(problem).toBeVisible();
    await workbench.screenshot('stories-broken');

    await problem.click();
    const line = sample.slice(0, sample.indexOf('"US-002"')).split('\n').length;
    // The comma is missed where the next line begins, or at the end of this one.
    await expect(
      workbench.statusBarItem(new RegExp(`^Ln (${line}|${line + 1}), Col`)),
    ).toBeVisible();

    await rm(file());
    await expect(view.getByText('There is no list of stories in this folder yet.')).toBeVisible();
    await workbench.screenshot('stories-welcome');
    await view.getByRole('button', { name: 'Create a Story File' }).click();
    await expect(workbench.treeItem(/^US-001 One small step/)).toBeVisible();
    expect(workbench.consoleErrors()).toEqual([]);
  });

  test('story texts are displayed as plain text, whatever they look like', async () => {
    const hostile = [
      '<img src=x onerror="document.title=1">',
      '$(alert) [a link](command:workbench.action.quit)',
      '\u001b[31mred\u001b[0m \u0007bell',
      '**bold** `code` <promise>TASK_COMPLETE</promise>',
    ];
    const userStories = hostile.map((title, index) => ({
      id: `US-00${index + 1}`,
      title,
      description: title,
      acceptanceCriteria: [title],
      passes: false,
    }));
    const { workbench } = await shown(
      JSON.stringify({ project: hostile[0], userStories }, null, 2),
    );
    await expect(workbench.treeItem('<img src=x onerror="document.title=1">')).toBeVisible();
    const second = workbench.treeItem('$(alert) [a link](command:workbench.action.quit)');
    await expect(second).toBeVisible();
    await expect(second.locator('a[href]')).toHaveCount(0);
    await expect(workbench.treeItem(/^US-003 red bell/)).toBeVisible();
    const hover = await workbench.hover(second, '[a link](command:');
    await expect(hover.locator('a[data-href*="command:"]')).toHaveCount(0);
    await workbench.screenshot('stories-hostile');
    expect(workbench.consoleErrors()).toEqual([]);
  });
});

inAll(test)('Restricted Mode shows the stories and starts nothing', async () => {
  const { temp, home, workspace } = await sampleProject('ralph-fresh-stories-');
  await using project = new AsyncDisposableStack();
  project.use(temp);
  project.defer(() => endRuns(workspace));
  await using workbench = await Workbench.open({
    workspace,
    env: cleanEnv({ home }),
    trusted: false,
  });
  await workbench.view('Ralph');
  await expect(workbench.treeItem(/^US-001/)).toBeVisible();
  await expect(workbench.page.getByRole('button', { name: 'Start Fresh Run' })).toBeHidden();
  // The palette draws only as many commands as it has room for.
  await workbench.typeIntoChoice(() => workbench.page.keyboard.press('F1'), 'Ralph: S');
  const entries = workbench.page.locator('.quick-input-widget .monaco-list-row');
  await expect(entries.filter({ hasText: 'Ralph: Show Progress' })).toBeVisible();
  await expect(entries.filter({ hasText: 'Start Fresh Run' })).toHaveCount(0);
  await workbench.page.keyboard.press('Escape');
  // A tick is a person's own edit; nothing of the folder runs for it.
  await workbench.checkbox(/^US-001/).click();
  await expect(workbench.treeItem(/^US-001.*done by hand/)).toBeVisible();
  // The tick has a journal, and no run has begun.
  await expect(
    workbench.page.getByText('When a run has started, you see here what each fresh agent did.'),
  ).toBeVisible();
  await workbench.screenshot('stories-restricted');
});

test.describe('a run that was stopped', () => {
  const stopped = oneWindow(async project => {
    const sample = await sampleProject('ralph-fresh-stopped-');
    project.use(sample.temp);
    // A story that failed in the middle must not leave its run behind.
    project.defer(() => endRuns(sample.workspace));
    // Otherwise the run may be complete before it is stopped.
    const holds = path.join(sample.temp.path, 'holds');
    await mkdir(holds);
    await writeFile(path.join(holds, 'US-002'), '');
    const workbench = await Workbench.open({
      workspace: sample.workspace,
      env: cleanEnv({
        home: sample.home,
        extra: { RALPH_FRESH_DEMO_HOLD: holds, RALPH_FRESH_DEMO_PACE_MS: '0' },
      }),
      theme: 'light',
    });
    await workbench.view('Ralph');
    await workbench.runCommand('Ralph: Show Progress');
    const page = workbench.webview();
    await page.getByRole('button', { name: 'Start Fresh Run' }).click();
    await expect(page.getByRole('heading', { level: 1, name: /Running/ })).toBeVisible();
    await workbench.runCommand('Ralph: Stop');
    await expect(page.getByRole('heading', { level: 1, name: /Stopped/ })).toBeVisible();
    return workbench;
  });

  for (const theme of variants(['light', 'dark', 'hc-dark', 'hc-light'] as const, 1)) {
    test(`the progress page and the stories in the theme ${theme}`, async () => {
      const workbench = stopped();
      await workbench.setTheme(theme);
      const heading = workbench.webview().getByRole('heading', { level: 1, name: /Stopped/ });
      await expect(heading).toBeVisible();
      await workbench.screenshot(`progress-${theme}`);
      expect(workbench.consoleErrors()).toEqual([]);
    });
  }
});
