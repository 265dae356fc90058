import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { FrameLocator } from '@playwright/test';
import type { RunEventBody } from '../../src/orchestrator/journal/events.ts';
import { JournalWriter } from '../../src/orchestrator/journal/journal.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { newestRunId } from '../../src/orchestrator/workspace/runIds.ts';
import { frameOf, violations } from '../support/accessibility.ts';
import { cleanEnv, gitRepo, tempDir } from '../support/cleanEnv.ts';
import { isRunning, newestJournal, pidsOf } from '../support/journals.ts';
import { fakeAgent } from '../support/ralph.ts';
import type { Scene } from '../support/scriptedRun.ts';
import { scriptedWindow } from '../support/scriptedWindow.ts';
import { expect, oneWindow, test } from '../support/story.ts';
import { variants } from '../support/variants.ts';
import { Workbench } from '../support/workbench.ts';

/** For a whole iteration; it only ends a test that has failed. */
const RUN_LIMIT = { timeout: 180_000 };

const HOSTILE =
  '<img src=x onerror="document.title=1"> $(alert) [a](command:workbench.action.quit)';
const TITLES = ['List todos', HOSTILE, 'Remove a todo', 'Rename a todo', '\u001b[31mred\u001b[0m'];

const userStories = TITLES.map((title, index) => ({
  id: `US-00${index + 1}`,
  title,
  priority: index + 1,
  passes: false,
}));

const button = (page: FrameLocator, name: string | RegExp) =>
  page.getByRole('button', { name, exact: true });

const answerField = (page: FrameLocator) => page.getByLabel('Your answer', { exact: true });

/** Without the alert that an agent asks: the workbench logs what it shows as an error. */
const errorsOf = (workbench: Workbench) =>
  workbench.consoleErrors().filter(text => !/asks: Blue or green\?/.test(text));

async function showPage(workbench: Workbench): Promise<FrameLocator> {
  await workbench.runCommand('Ralph: Show Progress');
  return workbench.webview();
}

test.describe('in one window', () => {
  const prepared = scriptedWindow();
  function open(calls: Scene['calls'], onQuestion: string) {
    const config = `${JSON.stringify({ onQuestion })}\n`;
    return prepared({ stories: userStories, calls, files: { '.omc/config.json': config } });
  }

  test('a run is watched and controlled on the page, and restored after a reload', {
    tag: '@oldest',
  }, async () => {
    const { run, workbench } = await open(
      [
        [{ text: `I read ${HOSTILE}.` }, { wait: 'one' }, 'work'],
        [
          { wait: 'two' },
          { result: ['A decision, please.\n<promise>NEEDS_HUMAN: Blue or green?</promise>', {}] },
        ],
        [{ wait: 'never' }],
        [{ wait: 'three' }, 'work'],
        [{ wait: 'never' }],
      ],
      'wait',
    );
    const { release, workspace } = run;
    const page = await showPage(workbench);
    const heading = (name: string | RegExp) => page.getByRole('heading', { name, level: 1 });
    const region = (name: string | RegExp) => page.getByRole('region', { name });

    await test.step('starts, and shows what happens', async () => {
      await expect(heading('No run yet')).toBeVisible();
      await button(page, 'Start Fresh Run').click();
      await expect(heading('Running')).toBeVisible(RUN_LIMIT);
      await expect(page.getByText('Iteration 1 of 20', { exact: true })).toBeVisible();
      await expect(page.getByText('the agent works', { exact: true })).toBeVisible();
      await expect(region('Activity').getByText(HOSTILE)).toBeVisible(RUN_LIMIT);
      await workbench.runCommand('View: Hide Panel');
      await workbench.screenshot('progress-running');
    });

    await test.step('has no animations for people who prefer reduced motion', async () => {
      const motion = () =>
        heading('Running')
          .locator('.glyph.running')
          .evaluate(glyph => getComputedStyle(glyph).animationName);
      await expect.poll(motion).toBe('none');
      await workbench.page.emulateMedia({ reducedMotion: 'no-preference' });
      await expect.poll(motion).toBe('turn');
      await workbench.page.emulateMedia({ reducedMotion: 'reduce' });
    });

    await test.step('pauses after the iteration, and continues', async () => {
      await button(page, 'Pause After Iteration').click();
      await expect(
        page
          .getByRole('main')
          .getByText('The run will pause after this iteration.', { exact: true }),
      ).toBeVisible();
      await expect(button(page, 'Do Not Pause')).toBeVisible();
      await release('one');
      await expect(heading('Paused')).toBeVisible(RUN_LIMIT);
      await expect(page.getByRole('heading', { name: 'Iteration 1: Story done' })).toBeVisible();
      await expect(
        page.getByRole('img', { name: '5 stories left at the start, 4 after' }),
      ).toBeVisible();
      await expect(page.getByText('1 of 5 stories done', { exact: true })).toBeVisible();
      // A screen reader hears of it once, in one place.
      await expect(page.getByRole('log')).toHaveText(/Paused\. The next iteration starts when/);
      await button(page, 'Resume').click();
      await expect(page.getByText('Iteration 2 of 20', { exact: true })).toBeVisible(RUN_LIMIT);
      await expect(page.getByText(HOSTILE).first()).toBeVisible();
    });

    await test.step('keeps a half-written answer while it is hidden, and sends it to the next agent', async () => {
      await release('two');
      await expect(heading('Needs you')).toBeVisible(RUN_LIMIT);
      await expect(page.getByText('Blue or green?').first()).toBeVisible();
      await answerField(page).fill('Green, <b>please</b>.');
      await workbench.screenshot('progress-question');
      await button(page, 'Transcript of iteration 1').click();
      await expect(workbench.page.getByRole('tab', { name: /Transcript/ })).toBeVisible();
      await workbench.page.getByRole('tab', { name: /Ralph Progress/ }).click();
      await expect(answerField(page)).toHaveValue('Green, <b>please</b>.');
      await workbench.reload();
      await expect(heading('Needs you')).toBeVisible(RUN_LIMIT);
      await answerField(page).fill('Green, <b>please</b>.');
      await answerField(page).press('Control+Enter');
      await expect(page.getByText('Iteration 3 of 20', { exact: true })).toBeVisible(RUN_LIMIT);
      await expect(answerField(page)).toHaveCount(0);
      const files = new RunFiles(workspace);
      const runId = (await newestRunId(files)) ?? '';
      const prompt = await readFile(path.join(files.iterationDir(runId, 3), 'prompt.md'), 'utf8');
      expect(prompt).toContain('Green, <b>please</b>.');
    });

    await test.step('opens the last prompt at the line of a section', async () => {
      const xray = region('What the last prompt contained');
      await expect(
        xray.getByText(/^Iteration 3: about [\d,]+ tokens in \d+ sections\.$/),
      ).toBeVisible();
      await xray
        .getByRole('button', { name: /^Your answers: \d+ tokens, \d+% of the prompt$/ })
        .click();
      await expect(workbench.page.locator('.monaco-editor .view-lines').first()).toContainText(
        'Answers From the Person',
      );
      await workbench.screenshot('progress-prompt-section');
    });

    await test.step('shows what earlier prompts contained', async () => {
      await workbench.page.getByRole('tab', { name: /Ralph Progress/ }).click();
      const last = region('What the last prompt contained');
      const earlier = region('What an earlier prompt contained');
      await last.getByRole('button', { name: 'Earlier prompt of iteration 2' }).press('Enter');
      await expect(earlier.getByText(/^Iteration 2: about [\d,]+ tokens in /)).toBeVisible();
      await earlier.getByRole('button', { name: 'Earlier prompt of iteration 1' }).press('Enter');
      await expect(earlier.getByText(/^Iteration 1: about [\d,]+ tokens in /)).toBeVisible();
      await expect(earlier.getByRole('button', { name: 'Earlier prompt' })).toBeFocused();
      await expect(earlier.getByRole('button', { name: /^Your answers/ })).toHaveCount(0);
      await workbench.screenshot('progress-earlier-prompt');
      await earlier.getByRole('button', { name: /^Story: / }).click();
      await expect(workbench.page.locator('.monaco-editor .view-lines').first()).toContainText(
        'Your Story',
      );
      await workbench.page.getByRole('tab', { name: /Ralph Progress/ }).click();
      await earlier.getByRole('button', { name: 'Later prompt of iteration 2' }).click();
      await earlier.getByRole('button', { name: 'Later prompt of iteration 3' }).click();
      await expect(last.getByRole('button', { name: /^Your answers/ })).toBeVisible();
    });

    await test.step('shows how well agents are guided', async () => {
      await workbench.page.getByRole('tab', { name: /Ralph Progress/ }).click();
      const measures = page.getByRole('table', { name: 'How well agents are led' });
      await expect(
        measures.getByRole('row', { name: 'Stories per iteration 0.50 at least 1' }),
      ).toBeVisible();
      await measures.scrollIntoViewIfNeeded();
      await workbench.screenshot('progress-measures');
    });

    await test.step('shows the next prompt', async () => {
      await workbench.page.getByRole('tab', { name: /Ralph Progress/ }).click();
      const xray = region('What the last prompt contained');
      await xray.getByRole('button', { name: 'Show the next prompt…' }).click();
      await expect(workbench.page.getByPlaceholder('Whose prompt?')).toBeVisible();
      await workbench.page.keyboard.press('Enter');
      const shown = workbench.page.locator('.monaco-editor .view-lines').first();
      await expect(shown).toContainText('The prompt of US-002 as iteration 4');
      await workbench.screenshot('progress-next-prompt');
    });

    await test.step('is up to date after being hidden', async () => {
      await workbench.page.getByRole('tab', { name: /Ralph Progress/ }).click();
      await button(page, 'Skip Story').click();
      await expect(page.getByText('Iteration 4 of 20', { exact: true })).toBeVisible(RUN_LIMIT);
      await expect(page.getByRole('heading', { name: 'Iteration 3: Skipped' })).toBeVisible();
      await button(page, 'Transcript of iteration 1').click();
      await expect(workbench.page.getByRole('tab', { name: /Transcript/ })).toBeVisible();
      await release('three');
      await expect
        .poll(async () => (await newestJournal(workspace)).at(-1)?.type, RUN_LIMIT)
        .toBe('agent.init');
      await expect
        .poll(
          async () =>
            (await newestJournal(workspace)).findLast(({ type }) => type === 'iteration.started'),
          RUN_LIMIT,
        )
        .toMatchObject({ iteration: 5 });
      await workbench.page.getByRole('tab', { name: /Ralph Progress/ }).click();
      await expect(page.getByText('Iteration 5 of 20', { exact: true })).toBeVisible();
      await expect(page.getByRole('heading', { name: 'Iteration 4: Story done' })).toBeVisible();
      await expect(page.getByText('2 of 5 stories done', { exact: true })).toBeVisible();
    });

    await test.step('stops', async () => {
      await button(page, 'Stop').click();
      await expect(heading('Stopped')).toBeVisible(RUN_LIMIT);
      // The keyboard stays among the buttons.
      await expect(button(page, 'Review Changes')).toBeFocused();
      for (const pid of pidsOf(await newestJournal(workspace))) {
        await expect.poll(() => isRunning(pid)).toBe(false);
      }
      await workbench.screenshot('progress-stopped');
    });
    expect(await workbench.page.title()).not.toBe('1');
    expect(errorsOf(workbench)).toEqual([]);
  });

  test('an answer after the end continues the run and reaches the agent', async () => {
    const { workbench } = await open(
      [[{ result: ['<promise>NEEDS_HUMAN: Blue or green?</promise>', {}] }], [{ wait: 'never' }]],
      'end',
    );
    const page = await showPage(workbench);
    await button(page, 'Start Fresh Run').click();
    await expect(page.getByRole('heading', { name: 'Needs you', level: 1 })).toBeVisible(RUN_LIMIT);
    await expect(button(page, 'Start Fresh Run')).toBeVisible(RUN_LIMIT);
    await answerField(page).fill('Green.');
    await workbench.screenshot('progress-question-ended');
    await button(page, 'Answer and Continue').click();
    await expect(page.getByText('Iteration 2 of 20', { exact: true })).toBeVisible(RUN_LIMIT);
    const section = page.getByRole('button', { name: /^Your answers:/ });
    await expect(section).toBeVisible();
    await button(page, 'Stop').click();
    await expect(page.getByRole('heading', { name: 'Stopped', level: 1 })).toBeVisible(RUN_LIMIT);
    expect(errorsOf(workbench)).toEqual([]);
  });
});

test.describe('a long run', () => {
  const longRun = oneWindow(async project => {
    const own = project.use(await tempDir('ralph-fresh-long-'));
    const folder = path.join(own.path, 'todo-api');
    await mkdir(path.join(own.path, 'home'));
    await mkdir(path.join(folder, '.omc'), { recursive: true });
    const prd = `${JSON.stringify({ project: 'todos', userStories }, null, 2)}\n`;
    await writeFile(path.join(folder, '.omc', 'prd.json'), prd);
    await gitRepo(folder);
    await writeLongRun(folder);
    return Workbench.open({
      workspace: folder,
      env: cleanEnv({ home: path.join(own.path, 'home') }),
      settings: { 'ralphFresh.claudePath': fakeAgent('scripted') },
      theme: 'light',
    });
  });

  for (const theme of variants(['light', 'dark', 'hc-dark', 'hc-light'] as const, 1)) {
    test(`a long run in the theme ${theme}, wide and narrow, with the keyboard`, async () => {
      const workbench = longRun();
      // Then the page is one that nobody has touched yet.
      await workbench.closeEditors();
      await workbench.setTheme(theme);
      await workbench.page.setViewportSize({ width: 1900, height: 1150 });
      const page = await showPage(workbench);
      await expect(page.getByRole('heading', { name: 'Budget used up', level: 1 })).toBeVisible();
      await expect(page.getByText('≈ $6.30 of $6.00 spent')).toBeVisible();
      await expect(page.getByRole('img', { name: /^40 stories left at the start/ })).toBeVisible();
      await expect(page.getByRole('img', { name: /of the budget of \$6\.00/ })).toBeVisible();
      // Lines begin with the start of the run, bars with the first iterations.
      const scales = page.locator('.scale.iterations span:first-child');
      await expect(scales).toHaveText(['0', '0', '1–3']);
      // Black, where a theme has no such colour, is the ground of one of them.
      const ground = await page
        .locator('body')
        .evaluate(body => getComputedStyle(body).backgroundColor);
      const fills = await page
        .locator('.swatch > *')
        .evaluateAll(all => all.map(one => getComputedStyle(one).fill));
      expect(fills.length).toBeGreaterThan(6);
      expect(fills).not.toContain(ground);
      await workbench.screenshot(`progress-${theme}-wide`);
      expect(await violations(await frameOf(page))).toEqual([]);

      // Every button says what it does, and no two in different rows say the same.
      const names = await page
        .getByRole('button')
        .evaluateAll(all =>
          all.map(one => one.getAttribute('aria-label') ?? one.textContent?.trim()),
        );
      expect(names.filter(name => name === '' || name === undefined)).toEqual([]);
      expect(new Set(names).size).toBe(names.length);
      await expect(page.locator('[style]:not(html, body)')).toHaveCount(0);

      await workbench.page.setViewportSize({ width: 900, height: 1150 });
      await workbench.screenshot(`progress-${theme}-narrow`);
      // Nothing is wider than the page.
      expect(
        await page.locator('html').evaluate(html => html.scrollWidth - html.clientWidth),
      ).toBeLessThanOrEqual(0);

      // From the head down: start, the setting of the budget, review, the table of the charts, the sections of the prompt, the iterations.
      await button(page, 'Start Fresh Run').focus();
      await workbench.page.keyboard.press('Tab');
      await expect(button(page, 'Open Settings')).toBeFocused();
      await workbench.page.keyboard.press('Tab');
      await expect(button(page, 'Review Changes')).toBeFocused();
      await workbench.page.keyboard.press('Tab');
      await expect(page.getByText('Show as table')).toBeFocused();
      await workbench.page.keyboard.press('Enter');
      await expect(page.getByRole('columnheader', { name: 'Stories left' })).toBeVisible();
      await workbench.page.keyboard.press('Tab');
      await expect(button(page, /^Heading: /)).toBeFocused();
      await workbench.screenshot(`progress-${theme}-keyboard`);

      await button(page, 'Show older').press('Enter');
      await expect(page.getByText('Iterations 1 to 26 of 126')).toBeVisible();
      await expect(page.getByRole('heading', { name: /^Iteration 1: / })).toBeVisible();
      await button(page, 'Show newer').press('Enter');
      await expect(page.getByRole('heading', { name: /^Iteration 126: / })).toBeVisible();

      await button(page, 'Open Settings').press('Enter');
      const setting = workbench.page.locator('.settings-editor .setting-item-label');
      await expect(setting.filter({ hasText: /Budget Usd/ }).first()).toBeVisible();
      expect(workbench.consoleErrors()).toEqual([]);
    });
  }
});

/** A run of 126 iterations that used up its budget, with everything a timeline can tell. */
async function writeLongRun(folder: string): Promise<void> {
  const files = new RunFiles(folder);
  const runId = '2026-03-01T12-00-00-000-aaaaaa';
  await mkdir(files.runDir(runId), { recursive: true });
  const writer = await JournalWriter.open(files.journalFile(runId));
  const total = 40;
  const add = (event: RunEventBody) => writer.append(event);
  add({
    type: 'run.started',
    runId,
    version: '0.1.0',
    pid: 1,
    startId: 'gone',
    agent: 'claude',
    model: 'fake-model',
    mode: 'stories',
    task: 'todos',
    maxIterations: 200,
    stuckThreshold: 3,
    budgetUsd: 6,
    payer: 'login',
    verify: ['npm test', 'npm run lint'],
    storyFile: '.omc/prd.json',
    stories: { done: 0, total },
    branch: 'main',
  });
  for (let number = 1; number <= 126; number++) {
    addIteration(add, number, Math.floor((number - 1) / 4), Math.floor(number / 4), total);
  }
  add({
    type: 'run.ended',
    outcome: 'budget',
    exitCode: 1,
    stories: { done: 31, total },
    iterations: 126,
  });
  writer.close();
}

function addIteration(
  add: (event: RunEventBody) => unknown,
  iteration: number,
  before: number,
  done: number,
  total: number,
): void {
  const title = TITLES[iteration % TITLES.length] ?? '';
  const storyId = `US-${String(before + 1).padStart(3, '0')}`;
  const isDone = done > before;
  add({
    type: 'iteration.started',
    iteration,
    maxIterations: 200,
    storyId,
    storyTitle: title,
    stories: { done: before, total },
    promptBytes: 9_000,
    promptSections: [
      { name: 'heading', tokens: 61 },
      { name: 'task', tokens: 240 },
      { name: 'failedCheck', tokens: 410 },
      { name: 'hints', tokens: 96 },
      { name: 'story', tokens: 830 },
      { name: 'state', tokens: 1_204 },
      { name: 'mission', tokens: 512 },
      { name: 'rules', tokens: 333 },
    ],
    handoffBytes: 1_000,
    stuckFor: 0,
  });
  add({ type: 'agent.started', iteration, purpose: 'story', pid: 1, startId: 'gone' });
  add({ type: 'agent.text', text: `I look at ${HOSTILE} first.` });
  add({ type: 'agent.tool', id: `t${iteration}`, name: 'Bash', gist: 'npm test' });
  if (iteration % 3 === 0 || isDone) {
    add({ type: 'gate.started', iteration, commands: ['npm test', 'npm run lint'], storyId });
    for (const command of ['npm test', 'npm run lint']) {
      const ok = isDone || command === 'npm test';
      add({ type: 'check.started', iteration, command, pid: 1, startId: 'gone' });
      add({
        type: 'check.ended',
        iteration,
        command,
        ok,
        ...(!ok && { exitCode: 1 }),
        timedOut: false,
        durationMs: 8_400,
        outputTail: ok ? '' : 'src/app.ts:3 unused variable',
      });
    }
    add({ type: 'gate.ended', iteration, green: isDone, storyId });
    if (isDone) {
      add({ type: 'review.ended', iteration, storyId, approved: true, objections: [] });
    }
  }
  if (iteration % 2 === 0) {
    const hash = iteration.toString(16).padStart(4, '0').padEnd(40, 'a');
    add({ type: 'commit.recorded', iteration, storyId, hash, subject: `feat: ${title}` });
  }
  add({
    type: 'iteration.ended',
    iteration,
    storyId,
    outcome: isDone
      ? 'storyDone'
      : iteration % 3 === 0
        ? 'rejected'
        : iteration % 2 === 0
          ? 'progress'
          : 'noProgress',
    durationMs: 95_000 + iteration * 1_000,
    costUsd: 0.05,
    ...(iteration === 125 && { costEstimated: true }),
    turns: 4,
    usage: { input: 1_000, output: 2_000, cacheRead: 38_000, cacheWrite: 500 },
    commits: iteration % 2 === 0 ? 1 : 0,
    progress: isDone,
    stories: { done, total },
  });
}
