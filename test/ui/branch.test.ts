import { gitFolder } from '../support/gitFolder.ts';
import { fakeAgent, openStories, RunningCli, type Step } from '../support/ralph.ts';
import { scriptedRun } from '../support/scriptedRun.ts';
import { expect, test } from '../support/story.ts';
import { Workbench } from '../support/workbench.ts';

/** It only ends a test that has failed. */
const RUN_LIMIT = { timeout: 180_000 };

test('if only the branch of the last run has the story file, the Stories view explains how to get there', async () => {
  await using run = await scriptedRun({ stories: openStories(2), calls: [['work']] });
  const { git } = gitFolder(() => ({
    folder: run.workspace,
    home: run.env['HOME'] ?? run.workspace,
  }));
  const main = await git('branch', '--show-current');
  await git('branch', 'ralph/login');
  await git('rm', '--quiet', '.omc/prd.json');
  await git('commit', '--quiet', '--message', 'No stories here');
  await git('switch', '--quiet', 'ralph/login');

  // VS Code reports no change of the story file then, as it may also miss one; the view follows all the same.
  const settings = { ...run.settings, 'files.watcherExclude': { '**/.omc/**': true } };
  await using workbench = await Workbench.open({ ...run, settings });
  const view = await workbench.view('Ralph');
  const words =
    'The last run worked on the branch ralph/login, which has .omc/prd.json. Go there: git switch --no-overwrite-ignore ralph/login';
  await expect(view.getByText('0 of 2 done')).toBeVisible();
  await workbench.runCommand('Ralph: Start Fresh Run');
  await expect.poll(async () => (await run.events()).at(-1)?.type, RUN_LIMIT).toBe('run.ended');
  await expect(view.getByText('2 of 2 done')).toBeVisible(RUN_LIMIT);

  await git('switch', '--quiet', '--force', main);
  await expect(view.getByText(words)).toBeVisible();
  await expect(view.getByRole('button', { name: 'Create a Story File' })).toHaveCount(0);
  await workbench.screenshot('stories-on-branch');

  await git('switch', '--quiet', 'ralph/login');
  await expect(view.getByText('2 of 2 done')).toBeVisible();
  await expect(view.getByText(words)).toHaveCount(0);
  expect(workbench.consoleErrors()).toEqual([]);
});

test('a mark that the branch with the work would lose is warned of, and one that it has is not', async () => {
  const calls: Step[][] = [[{ commit: 'Work' }, { tick: 'US-001' }, 'work']];
  const prd = { branchName: 'ralph/q', userStories: openStories(1) };
  await using run = await scriptedRun({
    files: { '.omc/prd.json': JSON.stringify(prd, null, 2), '.omc/config.json': '{"lanes": 2}\n' },
    calls: { 'US-001': calls },
  });
  const args = ['run', '--agent', 'claude', '--claude-path', fakeAgent('scripted')];
  const { code, stderr } = await new RunningCli(args, run.workspace, run.env).finished;
  expect([code, stderr]).toEqual([0, '']);

  await using workbench = await Workbench.open(run);
  const view = await workbench.view('Ralph');
  await expect(view.getByText('1 of 1 done')).toBeVisible();
  const box = workbench.checkbox(/^US-001/);
  await box.click();
  await expect(box).toHaveAttribute('aria-checked', 'false');
  const warning = workbench.notification('The mark of US-001 may get lost, or be a conflict');
  await expect(warning).toContainText('landed on the branch ralph/q');
  await expect(view.getByText('next')).toBeVisible();
  await workbench.screenshot('stories-mark-elsewhere');
  await expect(warning.getByRole('button', { name: 'Copy Command' })).toBeVisible();
  await workbench.runCommand('Notifications: Clear All Notifications');
  await box.click();
  await expect(box).toHaveAttribute('aria-checked', 'true');
  await expect(warning).toHaveCount(0);
  expect(workbench.consoleErrors()).toEqual([]);
});
