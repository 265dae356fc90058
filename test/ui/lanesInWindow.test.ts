import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Locator } from '@playwright/test';
import { openStories, type PrdStory, type Step } from '../support/ralph.ts';
import { type Scene, type ScriptedRun, scriptedRun, toolCall } from '../support/scriptedRun.ts';
import { scriptedWindow } from '../support/scriptedWindow.ts';
import { expect, test } from '../support/story.ts';
import { type Theme, Workbench } from '../support/workbench.ts';

/** It only ends a test that has failed. */
const RUN_LIMIT = { timeout: 180_000 };
const THEMES = ['light', 'dark', 'hc-dark', 'hc-light'] as const satisfies readonly Theme[];
const HOSTILE =
  '<img src=x onerror=hostile=1> $(alert) [q](command:workbench.action.quit) \u001b[31mred\u202e end';
const HOSTILE_TEXT = /<img\ssrc=x\sonerror=hostile=1>/;

/** Changes the file that all of them change, and says that the story is done. */
const writes = (id: string, name: string, text: string): readonly Step[] => [
  { write: [name, text] },
  { tick: id },
  { commit: `feat: ${id}` },
  { result: [`${id} is done.`] },
];
const asks = (question: string): readonly Step[] => [
  { result: [`<promise>NEEDS_HUMAN: ${question}</promise>`] },
];
const withTitle = (stories: readonly PrdStory[], id: string, title: string): PrdStory[] =>
  stories.map(story => (story.id === id ? { ...story, title } : story));

/** Gives the side bar a width in pixels. */
async function widen({ page }: Workbench, width: number): Promise<void> {
  const bar = page.locator('.part.sidebar');
  await expect(async () => {
    const box = await bar.boundingBox();
    if (box === null) {
      throw new Error('There is no side bar.');
    }
    await page.mouse.move(box.x + box.width, 400);
    await page.mouse.down();
    await page.mouse.move(box.x + width, 400, { steps: 5 });
    await page.mouse.up();
    expect(Math.abs(((await bar.boundingBox())?.width ?? 0) - width)).toBeLessThan(5);
  }).toPass(RUN_LIMIT);
}

/** Where the mouse is, so that a hover stays. */
async function picture(workbench: Workbench, name: string): Promise<void> {
  await workbench.page.screenshot({
    path: `test-results/screenshots/${name}.png`,
    animations: 'disabled',
  });
}

async function inAllThemes(workbench: Workbench, name: string): Promise<void> {
  for (const theme of THEMES) {
    await workbench.setTheme(theme);
    await workbench.screenshot(`${name}-${theme}`);
  }
}

/** Foreign text has become nothing but text. */
async function expectHarmless({ page }: Workbench): Promise<void> {
  expect(
    await page.evaluate(() => ({
      hasRun: 'hostile' in globalThis,
      images: document.querySelectorAll('img[src="x"]').length,
      icons: document.querySelectorAll('.codicon-alert').length,
      escapes: ['\u001b', '\u202e'].some(mark => document.body.innerText.includes(mark)),
    })),
  ).toEqual({ hasRun: false, images: 0, icons: 0, escapes: false });
}

const entries = ({ page }: Workbench): Locator =>
  page.locator('.quick-input-widget:visible .monaco-list-row');

test.describe('several agents in one window', () => {
  const prepared = scriptedWindow();

  test('are started by a choice, steered one by one, and what they do is seen', async () => {
    const { run, workbench } = await prepared({
      stories: [
        ...withTitle(openStories(4), 'US-003', HOSTILE),
        ...openStories(5)
          .slice(4)
          .map(story => ({ ...story, dependsOn: ['US-001'] })),
      ],
      files: {
        'shared.txt': 'one\ntwo\n',
        '.omc/config.json': JSON.stringify({
          verify: [
            'until [ -f "$FAKE_AGENT_NOTES/green" ]; do sleep 0.05; done; if [ -f bad.txt ]; then echo "3 tests"; echo "expected <b>3</b>, got 4"; exit 1; fi',
          ],
        }),
      },
      calls: {
        'US-001': [
          [
            ...toolCall('Bash', { command: 'npm test' }, 'ok'),
            { wait: 'one' },
            ...writes('US-001', 'shared.txt', 'one\nFIRST\n'),
          ],
        ],
        'US-002': [
          [
            ...toolCall('Edit', { file_path: 'shared.txt' }, 'ok'),
            { wait: 'two' },
            ...writes('US-002', 'shared.txt', 'one\nSECOND\n'),
          ],
        ],
        'US-003': [[{ text: HOSTILE }, { wait: 'three' }, ...writes('US-003', 'bad.txt', 'bad\n')]],
        'US-004': [[...toolCall('Read', { file_path: 'shared.txt' }, 'ok'), { wait: 'never' }]],
      },
    });
    const { page } = workbench;
    const line = (words: string) =>
      expect(workbench.treeItem(new RegExp(words))).toBeVisible(RUN_LIMIT);
    const status = (text: string | RegExp) => workbench.statusBarItem(text);

    await test.step('a command asks how many, and proposes as many as have a story', async () => {
      await workbench.runCommand('Ralph: Start Fresh Run with Several Agents…');
      await expect(entries(workbench).first()).toContainText('2 agents');
      const proposed = entries(workbench).filter({ hasText: /^4 agents/ });
      await expect(proposed).toContainText('suggested');
      await expect(proposed).toHaveClass(/focused/);
      await workbench.screenshot('lanesInWindow-1-start');
      await page.keyboard.press('Enter');
    });

    await test.step('each line says its lane and what its agent does', async () => {
      await line('^US-001 .*, lane 1, runs tests');
      await line('^US-002 .*, lane 2, edits files');
      await line('^US-003 .*, lane 3, works');
      await line('^US-004 .*, lane 4, reads files');
      await line('^US-005 .*, waits for US-001');
      await expect(status('Ralph 4 at work · 0/5')).toBeVisible(RUN_LIMIT);
      await workbench.hover(workbench.treeItem(/^US-001/), 'lane 1 · runs tests');
      await workbench.hover(workbench.treeItem(/^US-003/), HOSTILE_TEXT);
      const hover = await workbench.hover(status('Ralph 4 at work'), HOSTILE_TEXT);
      await expect(hover).toContainText(/US-002 Story number 2 · lane 2 · edits files/);
      await expect(hover).toContainText('Agents at once: 4');
      await expectHarmless(workbench);
      await picture(workbench, 'lanesInWindow-2-hover');
      await inAllThemes(workbench, 'lanesInWindow-3-four');
      await widen(workbench, 200);
      await workbench.screenshot('lanesInWindow-3-four-narrow');
      await page.setViewportSize({ width: 1900, height: 1000 });
      await widen(workbench, 600);
      await workbench.screenshot('lanesInWindow-3-four-wide');
      await page.setViewportSize({ width: 1280, height: 800 });
      await widen(workbench, 420);
    });

    await test.step('one of them is paused, continued, stopped and continued', async () => {
      await workbench.chooseInMenu(/^US-004/, 'Pause This Story');
      await line('^US-004 .*, lane 4, reads files, (\\d+ min, )?pauses after this');
      expect(await workbench.menuEntries(/^US-004/)).toContain('Continue This Story');
      await workbench.chooseInMenu(/^US-004/, 'Continue This Story');
      await expect(workbench.treeItem(/pauses after this/)).toHaveCount(0, RUN_LIMIT);
      await workbench.chooseInMenu(/^US-004/, 'Stop This Story');
      await line('^US-004 .*, paused');
      await expect(status('Ralph 3 at work · 0/5')).toBeVisible(RUN_LIMIT);
      await workbench.hover(workbench.treeItem(/^US-004/), 'no further agent until you continue');
      await workbench.screenshot('lanesInWindow-4-paused');
      await workbench.chooseInMenu(/^US-004/, 'Continue This Story');
      await line('^US-004 .*, lane 4, reads files');
    });

    await test.step('fewer agents: those at work finish, and the status bar says so', async () => {
      await workbench.runCommand('Ralph: Change the Number of Agents…');
      await expect(entries(workbench).filter({ hasText: /^4 agents/ })).toHaveClass(/focused/);
      await entries(workbench)
        .filter({ hasText: /^1 agent/ })
        .click();
      const hover = await workbench.hover(status('Ralph 4 at work · 0/5'), 'Agents at once: 1');
      await expect(hover).toContainText('as soon as the others have finished');
    });

    await test.step('one lands, another one waits', async () => {
      await run.release('one');
      await line('^US-001 .*, landing, checks run');
      await run.release('two');
      await line('^US-002 .*, waits to land');
      await expect(status('Ralph 2 at work · 0/5 · 2 landing')).toBeVisible(RUN_LIMIT);
      await inAllThemes(workbench, 'lanesInWindow-5-landing');
    });

    await test.step('after a stop, what waited to land is not ready', async () => {
      await workbench.runCommand('Ralph: Stop');
      await expect(status('Ralph stopped · 0/5')).toBeVisible(RUN_LIMIT);
      await line('^US-001 .*, waits to land when the run continues');
      await line('^US-002 .*, waits to land when the run continues');
      expect(await workbench.menuEntries(/^US-002/)).not.toContain('Run This Story');
      await workbench.screenshot('lanesInWindow-6-stopped');
    });

    await test.step('what comes back says why', async () => {
      await workbench.runCommand('Ralph: Start Fresh Run with Several Agents…');
      await expect(entries(workbench).filter({ hasText: /^4 agents/ })).toContainText(
        'last choice',
      );
      await entries(workbench)
        .filter({ hasText: /^2 agents/ })
        .click();
      await line('^US-003 .*, lane \\d, works');
      await line('^US-004 .*, lane \\d, reads files');
      await run.release('green');
      // Whichever lands first.
      await line('^US-00[12] .*, verified');
      await line('^US-00[12] .*, returned, conflict');
      const hover = await workbench.hover(
        workbench.treeItem(/^US-.*, returned/),
        'It conflicts with what has landed meanwhile: shared.txt',
      );
      await expect(hover).toContainText('it gets a fresh agent');
      await picture(workbench, 'lanesInWindow-7-conflict');
      await workbench.runCommand('Ralph: Change the Number of Agents…');
      await entries(workbench)
        .filter({ hasText: /^1 agent/ })
        .click();
      await run.release('three');
      await line('^US-003 .*, returned, checks failed');
      await workbench.hover(workbench.treeItem(/^US-003/), 'expected <b>3</b>, got 4');
      await picture(workbench, 'lanesInWindow-8-checks');
      const item = await workbench.hover(status(/Ralph US-004/), 'returned · checks failed');
      await expect(item).toContainText(/US-00[12] Story number \d · returned · conflict/);
      await expectHarmless(workbench);
      await inAllThemes(workbench, 'lanesInWindow-9-returned');
    });

    await test.step('the filter knows them', async () => {
      await workbench.runCommand('Ralph: Filter Stories…');
      const kind = entries(workbench).filter({ hasText: 'returned' });
      await expect(kind).toContainText('2');
      await kind.click();
      await page.keyboard.press('Enter');
      await expect(workbench.treeItem(/^US-00/)).toHaveCount(2);
      await workbench.runCommand('Ralph: Clear the Filter');
      await expect(workbench.treeItem(/^US-00/)).toHaveCount(5);
    });
    expect(workbench.consoleErrors()).toEqual([]);
  });

  test('their questions are one alert, answered one after the other, and none is asked twice', async () => {
    const ids = ['US-001', 'US-002', 'US-003'];
    const { run, workbench } = await prepared({
      stories: withTitle(openStories(4), 'US-002', HOSTILE),
      files: { '.omc/config.json': '{ "lanes": 4 }\n' },
      calls: {
        ...Object.fromEntries(
          ids.map(id => [
            id,
            [[{ wait: id }, ...asks(`${id}: blue or green?`)], [{ wait: 'never' }]],
          ]),
        ),
        'US-004': [[{ wait: 'never' }]],
      },
    });
    const { page } = workbench;
    const input = page.locator('.quick-input-widget input[type="text"]');
    const box = page.locator('.quick-input-widget:visible');
    const questions = async () =>
      (await run.events()).filter(({ type }) => type === 'question.answered').length;
    await workbench.runCommand('Ralph: Start Fresh Run');
    await expect(workbench.statusBarItem('Ralph 4 at work · 0/4')).toBeVisible(RUN_LIMIT);

    await run.release('US-001');
    const first = workbench.notification(/The agent of US-001 Story number 1 asks: US-001: blue/);
    await expect(first).toBeVisible(RUN_LIMIT);
    await run.release('US-002');
    await run.release('US-003');
    await expect(workbench.treeItem(/^US-.*, needs you/)).toHaveCount(3, RUN_LIMIT);
    const hover = await workbench.hover(
      workbench.statusBarItem('Ralph asks you · US-004 · 0/4'),
      'US-003 Story',
    );
    await expect(hover).toContainText(/needs you · US-002: blue or green\?/);
    await expectHarmless(workbench);
    // The other two wait until the first one is out of the way.
    expect(await workbench.notifications()).toHaveLength(1);
    await workbench.runCommand('Notifications: Clear All Notifications');
    const others = workbench.notification(/2 agents have a question: US-00\d .*US-00\d/);
    await expect(others).toBeVisible(RUN_LIMIT);
    await expect(others).toContainText(HOSTILE_TEXT);
    await expect(others).not.toContainText('US-001');
    await inAllThemes(workbench, 'lanesInWindow-10-questions');

    await workbench.openByNotification(others, 'Answer…', entries(workbench).first());
    await expect(entries(workbench)).toHaveCount(3);
    await workbench.screenshot('lanesInWindow-11-pick');
    await entries(workbench).filter({ hasText: 'US-003' }).click();
    await expect(box).toContainText('(1/3)');
    await expect(box).toContainText('US-003: blue or green?');
    await workbench.screenshot('lanesInWindow-12-answer');
    await input.fill('Green');
    await page.keyboard.press('Enter');
    await expect(entries(workbench)).toHaveCount(2, RUN_LIMIT);
    await entries(workbench).filter({ hasText: 'US-002' }).click();
    await expect(box).toContainText('(2/3)');
    await input.fill('Blue');
    await page.keyboard.press('Enter');
    await expect(box).toContainText('US-001: blue or green?', RUN_LIMIT);
    await input.fill('Red');
    await page.keyboard.press('Enter');
    await expect.poll(questions, RUN_LIMIT).toBe(3);
    await expect(workbench.statusBarItem('Ralph 4 at work · 0/4')).toBeVisible(RUN_LIMIT);
    expect(await workbench.notifications()).toEqual([]);
    await expectHarmless(workbench);
    expect(
      (await run.events()).flatMap(event =>
        event.type === 'question.answered' ? [[event.storyId, event.answer]] : [],
      ),
    ).toEqual([
      ['US-003', 'Green'],
      ['US-002', 'Blue'],
      ['US-001', 'Red'],
    ]);
    // VS Code writes what an alert says to the console, too.
    expect(
      workbench.consoleErrors().filter(text => !/ asks: | have a question/.test(text)),
    ).toEqual([]);
  });

  test('sixteen of them on a hundred stories are seen, and stop', async () => {
    const { run, workbench } = await prepared({
      stories: openStories(100),
      files: { '.omc/config.json': '{ "lanes": 16, "maxIterations": 100 }\n' },
      calls: Object.fromEntries(
        openStories(100).map(({ id }) => [id, [[{ text: `I look at ${id}.` }, { wait: 'never' }]]]),
      ),
    });
    await workbench.runCommand('Ralph: Start Fresh Run');
    await expect(workbench.statusBarItem('Ralph 16 at work · 0/100')).toBeVisible(RUN_LIMIT);
    for (const lane of [1, 8, 16]) {
      await expect(workbench.treeItem(new RegExp(`, lane ${lane}, works`))).toBeVisible(RUN_LIMIT);
    }
    await expect(workbench.treeItem(/, ready/).first()).toBeVisible();
    const hover = await workbench.hover(workbench.statusBarItem('Ralph 16 at work'), 'and 6 more');
    await expect(hover).toContainText('Agents at once: 16');
    await picture(workbench, 'lanesInWindow-13-sixteen-hover');
    await inAllThemes(workbench, 'lanesInWindow-14-sixteen');
    await workbench.page.setViewportSize({ width: 1900, height: 1150 });
    await workbench.screenshot('lanesInWindow-14-sixteen-wide');
    await workbench.page.setViewportSize({ width: 1280, height: 800 });
    await workbench.runCommand('Ralph: Stop');
    await expect(workbench.statusBarItem('Ralph stopped · 0/100')).toBeVisible(RUN_LIMIT);
    await expect(workbench.treeItem(/, lane/)).toHaveCount(0);
    expect((await run.events()).filter(({ type }) => type === 'iteration.started')).toHaveLength(
      16,
    );
    expect(workbench.consoleErrors()).toEqual([]);
  });
});

test('two folders with several agents each: nothing of one is taken for the other', async () => {
  const scene = (name: string, stories: number): Scene => ({
    stories: openStories(stories).map(story => ({ ...story, title: `${name} ${story.title}` })),
    files: { '.omc/config.json': '{ "lanes": 2 }\n' },
    // Both folders have agents of the same names; those of the first one are called first.
    calls: {
      'US-001': [
        [...toolCall('Bash', { command: 'npm test' }, 'ok'), { wait: 'never' }],
        [...toolCall('Edit', { file_path: 'a.ts' }, 'ok'), { wait: 'ask' }, ...asks('Which one?')],
      ],
      'US-002': [[{ wait: 'never' }]],
    },
  });
  await using shop = await scriptedRun(scene('Shop', 3));
  await using docs = await scriptedRun(scene('Docs', 2));
  const file = path.join(path.dirname(shop.workspace), 'both.code-workspace');
  const folders = [
    { path: shop.workspace, name: 'shop' },
    { path: docs.workspace, name: 'docs' },
  ];
  await writeFile(file, JSON.stringify({ folders }));
  const { env, settings } = shop;
  await using workbench = await Workbench.open({ workspace: file, env, settings });
  const line = (words: RegExp) => expect(workbench.treeItem(words)).toBeVisible(RUN_LIMIT);
  const start = async (story: RegExp) => {
    // Its folder is the one that commands work in.
    await workbench.treeItem(story).click();
    await workbench.runCommand('Ralph: Start Fresh Run');
  };
  await workbench.view('Ralph');
  await line(/^US-001 Docs/);
  await start(/^US-001 Shop/);
  await line(/^US-001 Shop .*, lane 1, runs tests/);
  await line(/^US-002 Shop .*, lane 2, works/);
  await line(/^US-001 Docs .*, next/);
  await expect(workbench.statusBarItem('Ralph 2 at work · 0/3')).toBeVisible(RUN_LIMIT);

  await start(/^US-001 Docs/);
  await line(/^US-001 Docs .*, lane 1, edits files/);
  await line(/^US-001 Shop .*, lane 1, runs tests/);
  await line(/^Folder shop, 0 of 3 done, running/);
  await line(/^Folder docs, 0 of 2 done, running/);
  // The terminal of the other folder stays as it is, and nobody asks whether to end it.
  await expect.poll(() => workbench.terminalText(), RUN_LIMIT).toMatch(/US-002: Docs Story/);
  await expect(workbench.page.locator('.quick-input-widget:visible')).toHaveCount(0);
  const item = workbench.statusBarItem('Ralph 2 at work · 0/2');
  await expect(item).toBeVisible(RUN_LIMIT);
  await expect(await workbench.hover(item, 'US-001 Docs')).not.toContainText('Shop');
  await workbench.screenshot('lanesInWindow-15-folders');

  await workbench.chooseInMenu(/^US-002 Docs/, 'Pause This Story');
  await line(/^US-002 Docs .*, pauses after this/);
  await line(/^US-002 Shop .*, lane 2, works/);
  expect((await shop.events()).filter(({ type }) => type === 'story.paused')).toEqual([]);

  await workbench.treeItem(/^US-001 Shop/).click();
  await expect(workbench.statusBarItem('Ralph 2 at work · 0/3')).toBeVisible(RUN_LIMIT);
  await shop.release('ask');
  const alert = workbench.notification(/docs: The agent of US-001 Docs Story number 1 asks: Which/);
  await expect(alert).toBeVisible(RUN_LIMIT);
  await line(/^Folder docs, 0 of 2 done, needs you/);
  await line(/^Folder shop, 0 of 3 done, running/);
  await expect(workbench.statusBarItem('Ralph 2 at work · 0/3')).toBeVisible();
  const input = workbench.page.locator('.quick-input-widget input[type="text"]');
  await workbench.openByNotification(alert, 'Answer…', input);
  await input.fill('The second one');
  await workbench.page.keyboard.press('Enter');
  const answers = async (run: ScriptedRun) =>
    (await run.events()).filter(({ type }) => type === 'question.answered').length;
  await expect.poll(() => answers(docs), RUN_LIMIT).toBe(1);
  expect(await answers(shop)).toBe(0);
  // VS Code writes what an alert says to the console, too.
  expect(workbench.consoleErrors().filter(text => !text.includes(' asks: '))).toEqual([]);
});
