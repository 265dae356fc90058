import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { readFile, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openStories, type Step, until } from '../support/ralph.ts';
import { scriptedRun } from '../support/scriptedRun.ts';
import { scriptedWindow } from '../support/scriptedWindow.ts';
import { expect, test } from '../support/story.ts';
import { Workbench } from '../support/workbench.ts';

/** It only ends a test that has failed. */
const RUN_LIMIT = { timeout: 180_000 };

const asks = (question: string): Step => ({
  result: [`I need a decision.\n\n<promise>NEEDS_HUMAN: ${question}</promise>`],
});
const nothing: Step = { result: ['I could not do it.'] };

test.describe('in one window', () => {
  const prepared = scriptedWindow();

  test('a question is answered in an input box and reaches the next agent; the end offers the review', async () => {
    const question = 'Blue or $(alert) [green](command:workbench.action.quit)?';
    const { run, workbench } = await prepared({
      theme: 'hc-dark',
      stories: openStories(1),
      calls: [[asks(question)], [{ wait: 'go' }, 'work']],
    });
    const { page } = workbench;
    const statusBar = (text: string) => workbench.statusBarItem(text).last();
    await workbench.runCommand('Ralph: Start Fresh Run');

    const alert = workbench.notification(/The agent of US-001 asks: Blue or/);
    await expect(alert).toBeVisible(RUN_LIMIT);
    await expect(alert.locator('a', { hasText: 'green' })).toHaveCount(0);
    await expect(statusBar('Ralph needs you · 0/1')).toHaveClass(/error-kind/);
    await workbench.screenshot('alerts-1-question');
    const input = page.locator('.quick-input-widget input[type="text"]');
    await workbench.openByNotification(alert, 'Answer and Continue…', input);
    await expect(page.locator('.quick-input-widget')).toContainText('Blue or $ (alert) [green]');
    await expect(page.locator('.quick-input-message a')).toHaveCount(0);
    await input.fill('Blue, and dark');
    await workbench.screenshot('alerts-2-answer');
    await page.keyboard.press('Escape');

    // By keyboard, and what was begun is still there.
    await statusBar('Ralph needs you · 0/1').locator('a').focus();
    await page.keyboard.press('Enter');
    const actions = page.locator('.quick-input-widget .monaco-list-row');
    await expect(actions.first()).toContainText('Answer and Continue…');
    await expect(statusBar('Ralph needs you · 0/1')).not.toHaveClass(/error-kind/);
    await workbench.screenshot('alerts-3-actions');
    await page.keyboard.press('Enter');
    await expect(input).toHaveValue('Blue, and dark');
    await page.keyboard.press('Enter');
    await expect(statusBar('Ralph US-001 0/1')).toBeVisible(RUN_LIMIT);
    const prompt = await until('the prompt', () => run.prompt(2).catch(() => undefined));
    expect(prompt).toContain('Blue, and dark');
    await run.release('go');

    const done = workbench.notification('Ralph is done: 1 of 1 stories.');
    await expect(done).toBeVisible(RUN_LIMIT);
    await expect(done.getByRole('button', { name: 'Review Changes' })).toBeVisible();
    await expect(done.getByRole('button', { name: 'Show Stories' })).toBeVisible();
    await workbench.screenshot('alerts-4-done');
    await workbench.clickInNotification(done, 'Review Changes');
    await expect.poll(() => workbench.diffEditorFileNames(), RUN_LIMIT).toContain('US-001.txt');
    // VS Code writes what an alert says to the console, too.
    expect(workbench.consoleErrors().filter(text => !text.includes(' asks: Blue or '))).toEqual([]);
  });

  test('a question is closed when a person finishes its story in the file after the end', async () => {
    const { run, workbench } = await prepared({
      stories: openStories(1),
      calls: [[asks('Blue or green?')]],
    });
    await workbench.runCommand('Ralph: Start Fresh Run');
    const alert = workbench.notification(/The agent of US-001 asks: Blue or green/);
    await expect(alert).toBeVisible(RUN_LIMIT);
    // The question is shown before that; a run that is not over would count the story.
    await expect.poll(async () => (await run.events()).at(-1)?.type, RUN_LIMIT).toBe('run.ended');
    const file = path.join(run.workspace, '.omc/prd.json');
    const prd = await readFile(file, 'utf8');
    await writeFile(file, prd.replace('"passes": false', '"passes": true'));
    const item = workbench.statusBarItem('Ralph stopped · 1/1').last();
    await expect(item).toBeVisible(RUN_LIMIT);
    await expect(item).not.toHaveClass(/error-kind/);
    await workbench.clickInNotification(alert, 'Answer and Continue…');
    const told = 'This question is no longer open. Nothing was done.';
    await expect(workbench.notification(told)).toBeVisible(RUN_LIMIT);
    // A slip is taken back.
    await writeFile(file, prd);
    await expect(workbench.statusBarItem('Ralph needs you · 0/1').last()).toBeVisible(RUN_LIMIT);
  });

  test('a completed run that leaves changes uncommitted is no good news until they are committed', async () => {
    const { run, workbench } = await prepared({
      stories: openStories(1),
      calls: [[{ write: ['a.txt', 'work\n'] }, { tick: 'US-001' }, { result: ['Done.'] }]],
    });
    await workbench.runCommand('Ralph: Start Fresh Run');
    const alert = workbench.notification(/1 of 1 stories\. US-001 is done, but .*: a\.txt\./);
    await expect(alert).toBeVisible(RUN_LIMIT);
    await expect(alert.getByRole('button', { name: 'Source Control' })).toBeVisible();
    const item = workbench.statusBarItem('Ralph done, but not committed · 1/1').last();
    await expect(item).toHaveClass(/warning-kind/);
    for (const args of [
      ['add', '--all'],
      ['commit', '--quiet', '--message', 'feat: a file'],
    ]) {
      execFileSync('git', args, { cwd: run.workspace, env: run.env });
    }
    await expect(workbench.statusBarItem('Ralph done · 1/1').last()).toBeVisible(RUN_LIMIT);
    // Later looks at the files of the run and at the stories do not take it back.
    const [journal = ''] = globSync('.omc/state/runs/*/journal.jsonl', { cwd: run.workspace });
    await utimes(path.join(run.workspace, journal), new Date(), new Date());
    const file = path.join(run.workspace, '.omc/prd.json');
    const prd = JSON.parse(await readFile(file, 'utf8'));
    const [story] = prd.userStories;
    prd.userStories.push({ ...story, id: 'US-002' });
    await writeFile(file, JSON.stringify(prd));
    await expect(workbench.statusBarItem('Ralph done · 2/2').last()).toBeVisible(RUN_LIMIT);
  });

  test('a completed run is no good news until its branch has everything that has landed', async () => {
    const writes: Step = { write: ['a.txt', 'of the agent\n'] };
    const { run, workbench } = await prepared({
      stories: openStories(1),
      files: { '.omc/config.json': '{ "lanes": 2 }\n', 'a.txt': 'before\n' },
      calls: {
        'US-001': [[writes, { tick: 'US-001' }, { commit: 'feat' }, { result: ['Done.'] }]],
      },
    });
    await writeFile(path.join(run.workspace, 'a.txt'), 'of the person\n');
    await workbench.runCommand('Ralph: Start Fresh Run');
    const alert = workbench.notification(/1 of 1 stories\. .* did not have everything/);
    await expect(alert).toBeVisible(RUN_LIMIT);
    await expect(alert.getByRole('button', { name: 'Source Control' })).toBeVisible();
    const item = workbench.statusBarItem(/Ralph done, but not on \w+ · 1\/1/).last();
    await expect(item).toHaveClass(/warning-kind/);
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: run.workspace, env: run.env });
    const ref = git('for-each-ref', '--format=%(refname)', 'refs/ralph-fresh/landed/');
    git('checkout', '--quiet', 'a.txt');
    git('merge', '--quiet', '--autostash', String(ref).trim());
    await expect(workbench.statusBarItem('Ralph done · 1/1').last()).toBeVisible(RUN_LIMIT);
  });

  test('a stuck story raises a warning and is skipped from the alert', async () => {
    const { run, workbench } = await prepared({
      theme: 'light',
      stories: openStories(2).map(story => ({ ...story, title: '[x](command:quit) $(alert) <b>' })),
      files: { '.omc/config.json': '{ "stuckThreshold": 1, "budgetUsd": 50 }\n' },
      calls: [[nothing], [{ wait: 'never' }], [{ wait: 'go' }, 'work']],
    });
    await workbench.runCommand('Ralph: Start Fresh Run');

    const alert = workbench.notification(/US-001 has made no progress for 1 iteration\./);
    await expect(alert).toBeVisible(RUN_LIMIT);
    const item = workbench.statusBarItem('Ralph US-001 0/2 · $0.25/$50.00');
    await expect(item).toHaveClass(/warning-kind/);
    for (const name of ['Hint…', 'Skip', 'Split…', 'Transcript', 'Stop']) {
      await expect(alert.getByRole('button', { name, exact: true })).toBeVisible();
    }
    await workbench.screenshot('alerts-5-stuck');
    await workbench.clickInNotification(alert, 'Skip');
    await expect(workbench.statusBarItem('Ralph US-002 0/2')).toBeVisible(RUN_LIMIT);
    await expect(workbench.statusBarItem('Ralph US-002 0/2')).not.toHaveClass(/warning-kind/);
    const skipped = (await run.events()).find(({ type }) => type === 'story.skipped');
    expect(skipped).toMatchObject({ storyId: 'US-001', by: 'person' });

    await test.step('a hint for one story is added to its next prompt', async () => {
      await workbench.runCommand('Ralph: Hint for the Next Agent…');
      const input = workbench.page.locator('.quick-input-widget input[type="text"]');
      await input.fill('Mind the umlauts');
      await workbench.page.keyboard.press('Enter');
      await expect
        .poll(async () => (await run.events()).some(({ type }) => type === 'hint.given'))
        .toBe(true);
    });

    await test.step('a reload repeats no announcement', async () => {
      await workbench.kept(text => text.includes('alerts.told'));
      await workbench.reload();
      await expect(workbench.statusBarItem('Ralph US-002 0/2')).toBeVisible(RUN_LIMIT);
      expect(await workbench.notifications()).toEqual([]);
    });
    await run.release('go');
    await expect(workbench.notification(/No story is ready\. Left: US-001/)).toBeVisible(RUN_LIMIT);
    expect(workbench.consoleErrors()).toEqual([]);
  });

  test('a single story is run from the list; when all are done, nothing can be started', async () => {
    const { workbench } = await prepared({ stories: openStories(2), calls: [['work']] });
    const row = workbench.treeItem(/^US-002/);
    await row.hover();
    await row.getByRole('button', { name: 'Run This Story' }).click();
    await expect(workbench.notification('Ralph is done with US-002.')).toBeVisible(RUN_LIMIT);
    await expect(workbench.checkbox(/^US-001/)).toHaveAttribute('aria-checked', 'false');
    await workbench.checkbox(/^US-001/).click();
    await expect(workbench.treeItem(/^US-001.*done by hand/)).toBeVisible();
    await expect(workbench.page.getByRole('button', { name: 'Start Fresh Run' })).toHaveCount(0);
    await workbench.statusBarItem('Ralph done · 2/2').click();
    const actions = workbench.page.locator('.quick-input-widget .monaco-list-row');
    await expect(actions.first()).toContainText('Review Changes');
    await expect(actions.filter({ hasText: 'Start Fresh Run' })).toHaveCount(0);
    await workbench.page.keyboard.press('Escape');

    await workbench.runCommand('Ralph: Show Progress');
    const button = (name: string) => workbench.webview().getByRole('button', { name, exact: true });
    await expect(workbench.webview().getByText('Ralph is done with US-002.')).toBeVisible();
    await expect(button('Review Changes')).toBeVisible();
    await expect(button('Start Fresh Run')).toHaveCount(0);
    await workbench.checkbox(/^US-001/).click();
    await expect(button('Start Fresh Run')).toBeVisible();
    expect(workbench.consoleErrors()).toEqual([]);
  });

  test('a run that ended stuck offers to split the story or give a hint', async () => {
    const { workbench } = await prepared({
      stories: openStories(2),
      files: { '.omc/config.json': '{ "stuckThreshold": 1, "onStuck": "stop" }\n' },
      calls: [[nothing]],
    });
    await workbench.runCommand('Ralph: Start Fresh Run');
    const alert = workbench.notification(/Stuck: no progress on US-001/);
    await expect(alert).toBeVisible(RUN_LIMIT);
    for (const name of ['Split…', 'Show Stories', 'Start Again']) {
      await expect(alert.getByRole('button', { name, exact: true })).toBeVisible();
    }
    await workbench.clickInNotification(alert, 'Hint…');
    await expect(workbench.page.locator('.quick-input-widget')).toContainText(
      'Hint for the agents of US-001',
    );
    expect(workbench.consoleErrors()).toEqual([]);
  });

  test('a story is split with the planner, and the draft is shown before it is written', async () => {
    const parts = ['Store todos', 'List <b>todos</b> $(alert)'].map((title, at) => ({
      ...{ title, acceptanceCriteria: ['It works'], after: at === 0 ? [] : [1] },
    }));
    const { workbench } = await prepared({
      stories: openStories(2),
      calls: [[{ result: [JSON.stringify({ parts })] }]],
    });
    const { page } = workbench;
    await expect(workbench.treeItem(/^US-001/)).toBeVisible();
    await workbench.runCommand('Ralph: Split Story with the Planner…');
    await page.locator('.quick-input-widget .monaco-list-row', { hasText: 'US-001' }).click();
    await expect(page.locator('.quick-input-widget')).toContainText('An agent reads the project');
    await page.keyboard.press('Enter');
    const question = workbench.notification('Replace US-001 with these 2 stories?');
    await expect(question).toBeVisible(RUN_LIMIT);
    await expect(page.locator('.monaco-diff-editor')).toBeVisible();
    await workbench.screenshot('alerts-6-split');
    await expect(workbench.treeItem(/^US-001 Story number 1/)).toBeVisible();
    await question.getByRole('button', { name: 'Write Stories' }).click();
    await expect(workbench.treeItem(/^US-001\.1 Store todos/)).toBeVisible();
    await expect(workbench.treeItem('US-001.2 List <b>todos</b> $(alert)')).toBeVisible();
    await expect(workbench.treeItem(/^US-002/)).toBeVisible();
    expect(workbench.consoleErrors()).toEqual([]);
  });
});

test('when the last of two windows closes, the run stops after its iteration; a reload does not count', async () => {
  await using run = await scriptedRun({
    stories: openStories(3),
    calls: [
      [{ wait: 'first' }, 'work'],
      [{ wait: 'second' }, 'work'],
    ],
    env: { RALPH_FRESH_WINDOW_GRACE_SECONDS: '8' },
    settings: { 'ralphFresh.onLastWindowClosed': 'stopAfterIteration' },
  });
  const stops = async () => (await run.events()).filter(({ type }) => type === 'stop.requested');
  const { env, settings, workspace } = run;
  await using workbench = await Workbench.open({ workspace, env, settings });
  await workbench.view('Ralph');
  await workbench.runCommand('Ralph: Start Fresh Run');
  await expect(workbench.statusBarItem('Ralph US-001 0/3')).toBeVisible(RUN_LIMIT);

  const second = await workbench.page.context().newPage();
  await second.goto(workbench.page.url());
  const inSecond = (text: string) =>
    second.locator('.part.statusbar .statusbar-item').filter({ hasText: text });
  await expect(inSecond('Ralph US-001 0/3')).toBeVisible(RUN_LIMIT);
  await workbench.reload();
  await expect(workbench.statusBarItem('Ralph US-001 0/3')).toBeVisible(RUN_LIMIT);
  await run.release('first');
  await expect(workbench.statusBarItem('Ralph US-002 1/3')).toBeVisible(RUN_LIMIT);
  await expect(inSecond('Ralph US-002 1/3')).toBeVisible(RUN_LIMIT);
  expect(await stops()).toEqual([]);

  await second.close();
  await workbench.closeWindow();
  const [stop] = await until('the stop', async () => {
    const found = await stops();
    return found.length > 0 && found;
  });
  expect(stop).toMatchObject({ by: 'window', mode: 'afterIteration' });
  await run.release('second');
  await expect
    .poll(async () => (await run.events()).at(-1), RUN_LIMIT)
    .toMatchObject({ type: 'run.ended', outcome: 'stopped', stories: { done: 2, total: 3 } });

  // The next window finds it stopped, and says nothing: that was asked for.
  await workbench.openWindow();
  await expect(workbench.statusBarItem('Ralph stopped · 2/3')).toBeVisible(RUN_LIMIT);
  expect(await workbench.notifications()).toEqual([]);
});
