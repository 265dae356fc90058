import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Locator } from '@playwright/test';
import type { Step } from '../support/ralph.ts';
import { type ScriptedRun, scriptedRun, toolCall } from '../support/scriptedRun.ts';
import { expect, test } from '../support/story.ts';
import { TYPED_INTO, Workbench } from '../support/workbench.ts';

/** It only ends a test that has failed. */
const RUN_LIMIT = { timeout: 180_000 };

/** Markup, an icon, a link and terminal escapes: a colour, and another title for the window. */
const TITLE =
  '<img src=x onerror="hostile=1"> $(alert) [quit](command:workbench.action.quit) \u001b[31mred\u001b]0;owned\u0007';
/** As a person can type it. */
const TITLE_PLAIN = `${TITLE.slice(0, TITLE.indexOf('\u001b'))}red`;
/** An id is any text, too, and stands where there is less room. */
const ID = '<img src=x onerror=hostile=1>$(alert)[q](command:quit)\u001b[31m';
/** How they may be read: as they are, except that a space may break an icon or a link, and without the escapes. */
const TITLE_TEXT =
  /<img\ssrc=x\sonerror="hostile=1">\s\$\s?\(alert\)\s\[quit\]\s?\(command:workbench\.action\.quit\)\sred/;
const ID_TEXT = /<img\ssrc=x\sonerror=hostile=1>\$\s?\(alert\)\[q\]\s?\(command:quit\)/;
/** Where the room is short, the beginning alone. */
const ID_START = /<img\ssrc=x\sonerror=host/;

const stories = [
  { id: ID, title: TITLE, description: TITLE, acceptanceCriteria: [TITLE], epic: TITLE },
  { id: 'US-002', title: 'The second story', acceptanceCriteria: ['It works'], dependsOn: [ID] },
].map((story, index) => ({ ...story, priority: index + 1, passes: false }));

const PLAN = {
  ...{ project: TITLE, branchName: 'ralph/planned', description: TITLE },
  userStories: stories.map(({ epic: _, ...story }, index) => ({
    ...story,
    id: `US-00${index + 1}`,
    dependsOn: [],
  })),
};

function open(run: ScriptedRun): Promise<Workbench> {
  const { env, settings, workspace } = run;
  return Workbench.open({ workspace, env, settings });
}

/** Nothing of the text has become more than text, in no part of the window. */
async function expectHarmless({ page }: Workbench): Promise<void> {
  for (const frame of page.frames()) {
    const found = await frame.evaluate(() => {
      const count = (selector: string) => document.querySelectorAll(selector).length;
      // As they are, and as an editor draws them.
      const control = /[^\P{Cc}\n\t]|[\u2400-\u2421]/u;
      const words = [...document.querySelectorAll('[aria-label], [title]')].flatMap(element => [
        element.getAttribute('aria-label') ?? '',
        element.getAttribute('title') ?? '',
      ]);
      return {
        hasRun: 'hostile' in globalThis,
        images: count('img[src="x"]'),
        icons: count('.codicon-alert'),
        links: count(
          '[href*="command:"][href*="quit"], [data-href*="command:"][data-href*="quit"]',
        ),
        escapes: [document.title, ...document.body.innerText.split('\n'), ...words]
          .filter(text => control.test(text))
          .map(text => encodeURI(text)),
      };
    });
    expect.soft(found).toEqual({ hasRun: false, images: 0, icons: 0, links: 0, escapes: [] });
  }
}

/** A part of the window shows the text as text. */
async function expectText(
  workbench: Workbench,
  where: Locator,
  text: RegExp = TITLE_TEXT,
): Promise<void> {
  await expect(where).toContainText(text, RUN_LIMIT);
  await expectHarmless(workbench);
}

async function expectHover(workbench: Workbench, at: Locator, text: RegExp): Promise<void> {
  await workbench.hover(at, text);
  await expectHarmless(workbench);
}

test('text from outside is displayed as plain text everywhere in a run', async () => {
  const asks: Step = { result: [`${TITLE}\n<promise>NEEDS_HUMAN: ${TITLE}</promise>`] };
  await using run = await scriptedRun({
    stories,
    files: {
      '.omc/config.json': '{ "verify": ["cat hostile.txt; exit 3"], "maxIterations": 2 }\n',
      'hostile.txt': `${TITLE}\n`,
      'src/todo.js': 'export const a = 1;\n',
    },
    calls: [
      [
        { text: TITLE },
        ...toolCall('Bash', { command: TITLE }, TITLE),
        { append: ['src/todo.js', 'export const b = 2;\n'] },
        { commit: TITLE },
        { wait: 'ask' },
        asks,
      ],
      [{ tick: ID }, { commit: TITLE }, { result: [TITLE] }],
      [{ result: [JSON.stringify(PLAN)] }],
    ],
  });
  await using workbench = await open(run);
  const { page } = workbench;
  const input = page.locator('.quick-input-widget:visible');
  await workbench.view('Ralph');

  await test.step('the list of stories, its groups, criteria and tooltips', async () => {
    await expect(workbench.treeItem(/^US-002/)).toBeVisible();
    const story = workbench.treeItem(/^<img src=x onerror=hostile=1>/);
    await expectText(workbench, story, ID_TEXT);
    await expectText(workbench, story);
    await expectText(workbench, workbench.treeItem(/^Group /));
    await expectText(workbench, workbench.treeItem(/^US-002/), /waits for <img\ssrc=x/);
    await expectHover(workbench, story, TITLE_TEXT);
    await workbench.expand(/^<img src=x onerror=hostile=1>/);
    await expectText(workbench, workbench.treeItem(/^Criterion/));
    await expectHover(workbench, workbench.treeItem(/^Criterion/), TITLE_TEXT);
    await expectHover(workbench, workbench.treeItem(/^Group /), TITLE_TEXT);
    await workbench.screenshot('hostile-stories');
  });

  await test.step('the story picker', async () => {
    await workbench.runCommand('Ralph: Run This Story');
    await expectText(workbench, input, ID_TEXT);
    await expectText(workbench, input);
    // It waits for the first one, so a run of it would end before its first agent.
    await expect(input).not.toContainText('US-002');
    await workbench.screenshot('hostile-pick');
    await page.keyboard.press('Escape');
  });

  await test.step('the terminal', async () => {
    await workbench.runCommand('Ralph: Start Fresh Run');
    await expect.poll(() => workbench.terminalText(), RUN_LIMIT).toMatch(/● Bash\(/);
    const text = await workbench.terminalText();
    for (const words of [ID_TEXT, TITLE_TEXT]) {
      expect(text).toMatch(words);
    }
    expect(text).not.toMatch(/[^\P{Cc}\n]/u);
    expect(text).not.toContain('owned');
    await expectHarmless(workbench);
    await workbench.screenshot('hostile-terminal');
  });

  await test.step('the status bar and its tooltip', async () => {
    const item = workbench.statusBarItem(/^\s*Ralph <img/).last();
    await expectText(workbench, item, /Ralph <img\ssrc=x\sonerror=/);
    await expectHover(workbench, item, TITLE_TEXT);
    await expectHover(workbench, item, ID_TEXT);
    await workbench.screenshot('hostile-statusBar');
  });

  await test.step('the progress page', async () => {
    await workbench.runCommand('Ralph: Show Progress');
    const body = workbench.webview().locator('body');
    await expectText(workbench, body);
    await expectText(workbench, body, ID_TEXT);
    await expectText(workbench, workbench.webview().getByRole('region', { name: 'Activity' }));
    await workbench.screenshot('hostile-progress');
  });

  await test.step('an alert and its answer box', async () => {
    await run.release('ask');
    const alert = workbench.notification(/The agent of/);
    await expectText(workbench, alert, ID_START);
    await expectText(workbench, alert);
    await workbench.screenshot('hostile-alert');
    await workbench.clickInNotification(alert, 'Answer and Continue…');
    await expectText(workbench, input);
    const item = workbench.statusBarItem('Ralph needs you').last();
    await expectHover(workbench, item, TITLE_TEXT);
    await expectText(workbench, input, ID_START);
    await expectText(workbench, workbench.webview().locator('body'));
    await workbench.screenshot('hostile-question');
    // On a busy machine, VS Code gives the focus of a notification that closes to the editor, and so takes it from here.
    const answer = input.locator('input[type="text"]');
    await answer.fill('Continue');
    await answer.press('Enter');
    await expect(workbench.statusBarItem('Ralph at its iteration limit · 0/2')).toBeVisible(
      RUN_LIMIT,
    );
    await workbench.runCommand('Notifications: Clear All Notifications');
  });

  await test.step('iterations with their tooltips and documents', async () => {
    await workbench.showView('Stories', false);
    const row = workbench.treeItem(/^Iteration 2/);
    await expectText(workbench, row, ID_START);
    await expectHover(workbench, row, TITLE_TEXT);
    await workbench.expand(/^Iteration 1/);
    const commit = workbench.treeItem(/^Commit/);
    await expectText(workbench, commit);
    await expectHover(workbench, commit, TITLE_TEXT);
    await workbench.screenshot('hostile-iterations');

    const editor = page.locator('.editor-instance:visible .view-lines').first();
    const shows = async (command: string, iteration: string, words: RegExp) => {
      await workbench.runCommand(command);
      await expectText(workbench, input, ID_START);
      await page.keyboard.type(iteration);
      await page.keyboard.press('Enter');
      await expectText(workbench, editor, words);
    };
    await shows('Ralph: Open Transcript', 'Iteration 1', TITLE_TEXT);
    await workbench.screenshot('hostile-transcript');
    await shows('Ralph: Open Check Output', 'Iteration 2', TITLE_TEXT);
    await workbench.screenshot('hostile-checks');
    await shows('Ralph: Open Prompt', 'Iteration 1', ID_START);
    await workbench.screenshot('hostile-prompt');
    await workbench.runCommand('Ralph: Show Receipt');
    await expectText(workbench, editor, ID_START);
  });

  await test.step('the title of a diff', async () => {
    await workbench.treeItem(/^Commit/).click();
    const tab = page.locator('.editor-group-container.active .tab.active');
    await expectText(workbench, tab, /<img\ssrc=x\sonerror="hostile=1">\s\$\(alert\)/);
    await expectHover(workbench, tab, /<img\ssrc=x\sonerror="hostile=1">\s\$\(alert\)/);
    await workbench.screenshot('hostile-diff');
  });

  await test.step('a revert with its choice and question', async () => {
    await workbench.runCommand('Ralph: Revert Iteration…');
    await expectText(workbench, input, ID_TEXT);
    await page.keyboard.press('Escape');
    await workbench.runCommand('Ralph: Revert Story…');
    await expectText(workbench, input);
    await expectText(workbench, input, ID_TEXT);
    await page.keyboard.press('Enter');
    await expectText(workbench, workbench.dialog, ID_START);
    await expectText(
      workbench,
      workbench.dialog,
      /[0-9a-f]{7}\s+<img\ssrc=x\sonerror="hostile=1">/,
    );
    await workbench.screenshot('hostile-revert');
    await workbench.dialog.getByRole('button', { name: 'Cancel' }).click();
  });

  await test.step('a plan, as a diff', async () => {
    await workbench.runCommand('Ralph: Plan Stories from a Task…');
    await page.getByRole('textbox', { name: /^What should be there/ }).fill('Build it');
    await page.keyboard.press('Enter');
    await expect(workbench.notification(/Write these 2 stories/)).toBeVisible(RUN_LIMIT);
    await expectText(
      workbench,
      page.locator('.monaco-diff-editor .editor.modified .view-lines').first(),
      /\$\(alert\)/,
    );
    await workbench.screenshot('hostile-plan');
    await page.getByRole('button', { name: 'Discard Plan' }).click();
  });
  // What a person is told as an error stands in the console, too.
  expect(workbench.consoleErrors().filter(text => !text.includes(' asks: <img'))).toEqual([]);
});

test('text from outside is displayed as plain text in a story file, its problems and diff notes', async () => {
  const nowhere = TITLE.replace('red', 'nowhere');
  await using run = await scriptedRun({
    stories: [
      ...stories,
      { id: 'US-003', title: 'The third story', passes: false, dependsOn: [nowhere] },
      { id: ID, title: TITLE, passes: false },
    ],
    files: { 'src/todo.js': 'export const a = 1;\n' },
    calls: [
      [
        { append: ['src/todo.js', 'export const b = 2;\n'] },
        { commit: TITLE },
        { result: [`${TITLE}\n<promise>BLOCKED: ${TITLE}</promise>`] },
      ],
    ],
    settings: { 'ralphFresh.maxIterations': 1 },
  });
  await using workbench = await open(run);
  const { page } = workbench;
  await workbench.view('Ralph');

  await test.step('actions above the stories', async () => {
    await expect(workbench.treeItem(/^US-003/)).toBeVisible();
    await workbench.runCommand('Ralph: Open the Story File');
    const lenses = page.locator('.codelens-decoration');
    await expect(lenses.first()).toContainText('next');
    await expectText(workbench, lenses.nth(1), /waits for <img\ssrc=x/);
    await workbench.screenshot('hostile-lenses');
  });

  await test.step('problems in the text and in their list, and their fixes', async () => {
    await page.keyboard.press('Escape');
    await page.locator('.monaco-editor .view-lines').first().click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('F8');
    const marker = page.locator('.marker-widget');
    await expectText(workbench, marker, /<img\ssrc=x/);
    await workbench.screenshot('hostile-marker');
    await page.keyboard.press('Escape');
    await expect(marker).toBeHidden();
    const menu = page.locator('.action-widget').first();
    await expect(async () => {
      await page.keyboard.press('Control+.');
      await expect(menu).toContainText('Do not wait for', { timeout: 5_000 });
    }).toPass({ timeout: 180_000 });
    await expectText(workbench, menu, /Do not wait for <img\ssrc=x/);
    await workbench.screenshot('hostile-quickFix');
    await page.keyboard.press('Escape');
    await expect(menu).toBeHidden();
    const hover = page.locator('.monaco-hover:visible').last();
    // The keys are lost while the focus is on its way back from the menu.
    await expect(async () => {
      await page.keyboard.press('Control+k');
      await page.keyboard.press('Control+i');
      await expect(hover).toBeVisible({ timeout: 5_000 });
    }).toPass({ timeout: 180_000 });
    await expectText(workbench, hover, /<img\ssrc=x/);
    await workbench.screenshot('hostile-problemHover');
    await workbench.runCommand('Problems: Focus on Problems View');
    await expectText(workbench, page.locator('.markers-panel'), /<img\ssrc=x/);
    await workbench.screenshot('hostile-problems');
    await workbench.runCommand('View: Hide Panel');
  });

  await test.step('the end of a run', async () => {
    await workbench.runCommand('Ralph: Start Fresh Run');
    await expect(workbench.statusBarItem('Ralph at its iteration limit')).toBeVisible(RUN_LIMIT);
    await expectHarmless(workbench);
    await workbench.runCommand('Notifications: Clear All Notifications');
    await workbench.runCommand('View: Hide Panel');
  });

  await test.step('a note on a line', async () => {
    await workbench.runCommand('Ralph: Open Story Changes');
    await expectText(workbench, page.locator('.quick-input-widget:visible'), ID_TEXT);
    await page.keyboard.press('Enter');
    await expect(page.locator(`.multiDiffEntry ${TYPED_INTO}`)).toHaveCount(1);
    await expectHarmless(workbench);
    const note = page.locator('.review-widget');
    await expect(async () => {
      await workbench.runCommand('Ralph: Tell the Next Agent About This Line…');
      await expect(note.locator(TYPED_INTO)).toHaveCount(1, { timeout: 5_000 });
    }).toPass({ timeout: 180_000 });
    await page.keyboard.type(TITLE_PLAIN);
    // What was typed reaches the button some time later.
    await expect(note.getByRole('button', { name: 'Tell the Next Agent' })).not.toHaveClass(
      /disabled/,
    );
    await page.keyboard.press('Control+Enter');
    await expectText(workbench, note, /Goes to the next agent on <img\ssrc=x/);
    await expectText(workbench, note);
    await workbench.runCommand('Comments: Focus on Comments View');
    await expectText(workbench, page.locator('.comments-panel'));
    await workbench.screenshot('hostile-note');
  });

  await test.step('an unusable story file', async () => {
    const file = path.join(run.workspace, '.omc', 'prd.json');
    await writeFile(file, `{ "userStories": [ ${TITLE} ] }\n`);
    const problem = workbench.treeItem(/prd\.json cannot be used/);
    await expect(problem).toBeVisible();
    await expectHover(workbench, problem, /\S/);
    await workbench.screenshot('hostile-broken');
  });
  expect(workbench.consoleErrors()).toEqual([]);
});
