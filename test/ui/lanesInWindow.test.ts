import type { Locator } from '@playwright/test';
import { fakeAgent, openStories, type PrdStory, RunningCli, type Step } from '../support/ralph.ts';
import { limitKnown } from '../support/scenarioSteps.ts';
import { scriptedRun, toolCall } from '../support/scriptedRun.ts';
import { scriptedWindow } from '../support/scriptedWindow.ts';
import { expect, test } from '../support/story.ts';
import { inAll, variants } from '../support/variants.ts';
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
const nothing: readonly Step[] = [{ result: ['I could not do it.'] }];
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
  for (const theme of variants(THEMES, 1, 1)) {
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

/** The element of the progress page in which a person answers. */
interface AnswerForm extends HTMLElement {
  question: { readonly id: string };
  readonly updateComplete: Promise<unknown>;
}

const entries = ({ page }: Workbench): Locator =>
  page.locator('.quick-input-widget:visible .monaco-list-row');

test.describe('several agents in one window', () => {
  const prepared = scriptedWindow();

  test('several agents are started from a choice, controlled individually, and shown at work', async () => {
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

    await test.step('a command asks for the number of agents and suggests one per available story', async () => {
      await workbench.runCommand('Ralph: Start Fresh Run with Several Agents…');
      await expect(entries(workbench).first()).toContainText('2 agents');
      const proposed = entries(workbench).filter({ hasText: /^4 agents/ });
      await expect(proposed).toContainText('suggested');
      await expect(proposed).toHaveClass(/focused/);
      await workbench.screenshot('lanesInWindow-1-start');
      await page.keyboard.press('Enter');
    });

    await test.step('each line says its lane and what its agent does', async () => {
      await line('^US-001 .*, runs tests, lane 1');
      await line('^US-002 .*, edits files, lane 2');
      await line('^US-003 .*, works, lane 3');
      await line('^US-004 .*, reads files, lane 4');
      await line('^US-005 .*, waits for US-001');
      await expect(status('Ralph 4 at work · 0/5')).toBeVisible(RUN_LIMIT);
      await workbench.hover(workbench.treeItem(/^US-001/), 'runs tests · lane 1');
      await workbench.hover(workbench.treeItem(/^US-003/), HOSTILE_TEXT);
      const hover = await workbench.hover(status('Ralph 4 at work'), HOSTILE_TEXT);
      await expect(hover).toContainText(/US-002 Story number 2 · edits files · lane 2/);
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

    await test.step('one of them is paused, resumed, stopped and resumed', async () => {
      await workbench.chooseInMenu(/^US-004/, 'Pause This Story');
      await line('^US-004 .*, reads files, lane 4, (\\d+ min, )?pauses after this');
      const entries = await workbench.menuEntries(/^US-004/);
      expect(entries).toContain('Continue This Story');
      // What is about its place is offered where it has one.
      const ofPlaces = ['Show Changes So Far', 'Open Place in New Window'];
      expect(entries).toEqual(expect.arrayContaining(ofPlaces));
      expect(entries).not.toContain('Run This Story');
      const waiting = await workbench.menuEntries(/^US-005/);
      expect(waiting.filter(entry => [...ofPlaces, 'Discard Work…'].includes(entry))).toEqual([]);
      await workbench.chooseInMenu(/^US-004/, 'Continue This Story');
      await expect(workbench.treeItem(/pauses after this/)).toHaveCount(0, RUN_LIMIT);
      await workbench.chooseInMenu(/^US-004/, 'Stop This Story');
      await line('^US-004 .*, paused');
      await expect(status('Ralph 3 at work · 0/5')).toBeVisible(RUN_LIMIT);
      await workbench.hover(workbench.treeItem(/^US-004/), 'no further agent until you continue');
      await workbench.screenshot('lanesInWindow-4-paused');
      await workbench.chooseInMenu(/^US-004/, 'Continue This Story');
      await line('^US-004 .*, reads files, lane 4');
    });

    await test.step('with fewer agents, the active ones finish, and the status bar says so', async () => {
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

    await test.step('after a stop, work waiting to land is not shown as ready', async () => {
      await workbench.runCommand('Ralph: Stop');
      await expect(status('Ralph stopped · 0/5')).toBeVisible(RUN_LIMIT);
      await line('^US-001 .*, waits to land when the run continues');
      await line('^US-002 .*, waits to land when the run continues');
      expect(await workbench.menuEntries(/^US-002/)).not.toContain('Run This Story');
      await workbench.screenshot('lanesInWindow-6-stopped');
    });

    await test.step('returned work shows the reason', async () => {
      await workbench.runCommand('Ralph: Start Fresh Run with Several Agents…');
      await expect(entries(workbench).filter({ hasText: /^4 agents/ })).toContainText(
        'last choice',
      );
      await entries(workbench)
        .filter({ hasText: /^2 agents/ })
        .click();
      await line('^US-003 .*, works, lane \\d');
      await line('^US-004 .*, reads files, lane \\d');
      await run.release('green');
      // Whichever lands first.
      await line('^US-00[12] .*, verified');
      await line('^US-00[12] .*, returned, conflict');
      const hover = await workbench.hover(
        workbench.treeItem(/^US-.*, returned/),
        'It conflicts with what has landed meanwhile: shared.txt',
      );
      await expect(hover).toContainText('the story is open again');
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

    await test.step('the filter finds returned stories', async () => {
      await workbench.runCommand('Ralph: Filter Stories…');
      const kind = entries(workbench).filter({ hasText: 'returned' });
      await expect(kind).toContainText('2');
      await kind.click();
      await page.keyboard.press('Enter');
      await expect(workbench.treeItem(/^US-00/)).toHaveCount(2);
      await workbench.runCommand('Ralph: Clear the Filter');
      await expect(workbench.treeItem(/^US-00/)).toHaveCount(5);
    });
    // The next story would be told that the loop of this one was killed.
    await workbench.runCommand('Ralph: Stop');
    await expect(status('Ralph stopped')).toBeVisible(RUN_LIMIT);
    expect(workbench.consoleErrors()).toEqual([]);
  });

  test('questions of several agents share one alert and are answered one by one, none of them twice', async () => {
    const ids = ['US-001', 'US-002', 'US-003'];
    const { run, workbench } = await prepared({
      stories: withTitle(openStories(4), 'US-002', HOSTILE),
      files: { '.omc/config.json': '{ "lanes": 4, "stuckThreshold": 2 }\n' },
      calls: {
        ...Object.fromEntries(
          ids.map(id => [
            id,
            [[{ wait: id }, ...asks(`${id}: blue or green?`)], [{ wait: 'never' }]],
          ]),
        ),
        'US-004': [
          [{ wait: 'limit' }, ...limitKnown],
          [{ wait: 'stuck' }, ...nothing],
          nothing,
          [{ wait: 'never' }],
        ],
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
    await test.step('an answer on the page goes to no other question than its own', async () => {
      await workbench.runCommand('Ralph: Show Progress');
      const form = workbench.webview().locator('ralph-answer');
      await expect(form.getByRole('button', { name: 'Send Answer' })).toBeVisible(RUN_LIMIT);
      // As if the page were late: an earlier question was answered elsewhere a moment ago.
      await form.evaluate(async (element: AnswerForm) => {
        element.question = { ...element.question, id: element.question.id.replace(/\d+$/, '99') };
        await element.updateComplete;
        const field = element.querySelector('textarea');
        if (field !== null) {
          field.value = 'Violet';
          field.dispatchEvent(new Event('input'));
        }
        await element.updateComplete;
        element.querySelector('button')?.click();
      });
      const late = workbench.notification('This question is no longer open, so your answer was');
      await expect(late).toBeVisible(RUN_LIMIT);
      await workbench.openByNotification(late, 'Give a Hint…', input);
      await expect(box).toContainText('Hint for the agents of US-001');
      await expect(input).toHaveValue('Violet');
      await input.press('Escape');
      expect(await questions()).toBe(0);
    });
    await test.step('the status bar has its color again when another one asks', async () => {
      const asksYou = workbench.statusBarItem(/Ralph US-001 asks you · /);
      await expect(asksYou).toHaveClass(/warning-kind/);
      await workbench.clickUntil(asksYou, entries(workbench).first());
      await page.keyboard.press('Escape');
      await expect(asksYou).not.toHaveClass(/warning-kind/);
      await run.release('US-002');
      const again = workbench.statusBarItem('Ralph has 2 questions · ');
      await expect(again).toBeVisible(RUN_LIMIT);
      await expect(again).toHaveClass(/warning-kind/);
    });
    await run.release('US-003');
    await expect(workbench.treeItem(/^US-.*, needs you/)).toHaveCount(3, RUN_LIMIT);
    const hover = await workbench.hover(
      workbench.statusBarItem('Ralph has 3 questions · 1 at work · 0/4'),
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

    await test.step('one of them waits for the usage limit, and is tried again while others work', async () => {
      await run.release('limit');
      const waits = workbench.statusBarItem('Ralph 3 at work · 0/4 · 1 waiting for the limit');
      await expect(waits).toBeVisible(RUN_LIMIT);
      await workbench.clickUntil(waits, entries(workbench).filter({ hasText: 'Try Now' }));
      await entries(workbench).filter({ hasText: 'Try Now' }).click();
      await expect(workbench.statusBarItem('Ralph 4 at work · 0/4')).toBeVisible(RUN_LIMIT);
    });

    await test.step('one that is stuck is stopped, and the others work on', async () => {
      await run.release('stuck');
      const stuck = workbench.notification(/US-004 Story number 4 has made no progress for 2 iter/);
      await expect(stuck).toBeVisible(RUN_LIMIT);
      await expect(stuck.getByRole('button', { name: 'Stop', exact: true })).toHaveCount(0);
      await workbench.clickInNotification(stuck, 'Stop This Story');
      await expect(workbench.treeItem(/^US-004 .*, paused/)).toBeVisible(RUN_LIMIT);
      await expect(workbench.statusBarItem('Ralph 3 at work · 0/4')).toBeVisible(RUN_LIMIT);
    });
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
      workbench
        .consoleErrors()
        .filter(text => !/ asks: | have a question|^This question is/.test(text)),
    ).toEqual([]);
  });

  test('a number that is chosen for a run that somebody has just started is not dropped silently', async () => {
    const { run, workbench } = await prepared({
      stories: openStories(3),
      files: { '.omc/config.json': '{ "lanes": 2 }\n' },
      calls: Object.fromEntries(openStories(3).map(({ id }) => [id, [[{ wait: 'never' }]]])),
    });
    await workbench.runCommand('Ralph: Start Fresh Run with Several Agents…');
    const chosen = entries(workbench).filter({ hasText: /^3 agents/ });
    await expect(chosen).toBeVisible();
    const args = ['run', '--detach', '--agent', 'claude', '--claude-path', fakeAgent('scripted')];
    const { code, stderr } = await new RunningCli(args, run.workspace, run.env).finished;
    expect([code, stderr]).toEqual([0, '']);
    await chosen.click();
    const refused = workbench.notification('A run is active already, with another number of');
    await expect(refused).toBeVisible(RUN_LIMIT);
    // The first list of numbers is gone.
    await expect(entries(workbench)).toHaveCount(0);
    const inUse = entries(workbench).filter({ hasText: /^2 agents/ });
    await workbench.openByNotification(refused, 'Change the Number of Agents…', inUse);
    await expect(inUse).toHaveClass(/focused/);
    await chosen.click();
    await expect(workbench.statusBarItem('Ralph 3 at work · 0/3')).toBeVisible(RUN_LIMIT);
    expect(
      workbench.consoleErrors().filter(text => !text.startsWith('A run is active already')),
    ).toEqual([]);
  });

  inAll(test)('sixteen agents on a hundred stories are shown and can be stopped', async () => {
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
      await expect(workbench.treeItem(new RegExp(`, works, lane ${lane}\\b`))).toBeVisible(
        RUN_LIMIT,
      );
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

test('two windows on one run both show and control it, and a question is answered once', async () => {
  const works = (id: string) => [[{ text: `I look at ${id}.` }, { wait: id }, 'work']];
  await using run = await scriptedRun({
    stories: openStories(4),
    files: { '.omc/config.json': '{ "lanes": 3 }\n' },
    calls: {
      'US-001': works('US-001'),
      'US-002': [
        [{ wait: 'US-002' }, ...asks('Blue or green?')],
        [{ text: 'It is green.' }, { wait: 'never' }],
      ],
      'US-003': works('US-003'),
      'US-004': [[{ wait: 'never' }]],
    },
  });
  const { env, settings, workspace } = run;
  await using first = await Workbench.open({ workspace, env, settings });
  await first.view('Ralph');
  await first.runCommand('Ralph: Start Fresh Run');
  await expect(first.statusBarItem('Ralph 3 at work · 0/4')).toBeVisible(RUN_LIMIT);
  const second = await first.anotherWindow();
  await second.view('Ralph');
  const inBoth = async (check: (workbench: Workbench) => Promise<void>): Promise<void> => {
    await check(first);
    await check(second);
  };
  const line = (words: RegExp) =>
    inBoth(workbench => expect(workbench.treeItem(words)).toBeVisible(RUN_LIMIT));
  const status = (words: string | RegExp) =>
    inBoth(workbench => expect(workbench.statusBarItem(words)).toBeVisible(RUN_LIMIT));

  await test.step('the second window shows the agents that the first one started', async () => {
    await status('Ralph 3 at work · 0/4');
    for (const lane of [1, 2, 3]) {
      await line(new RegExp(`^US-00${lane} .*, works, lane ${lane}`));
    }
    // A terminal whose Ctrl-C stops the run is only where a person has asked for it.
    await second.runCommand('Ralph: Show Terminal');
    await expect
      .poll(() => second.terminalText(), RUN_LIMIT)
      .toMatch(/^US-003 │ ● I look at US-003\.$/m);
    await second.screenshot('lanesInWindow-15-second-window');
  });

  await test.step('what one window changes about the agents is shown in the other', async () => {
    await second.chooseInMenu(/^US-003/, 'Pause This Story');
    await line(/^US-003 .*, works, lane 3, (\d+ min, )?pauses after this/);
    await first.chooseInMenu(/^US-003/, 'Continue This Story');
    await inBoth(workbench =>
      expect(workbench.treeItem(/pauses after this/)).toHaveCount(0, RUN_LIMIT),
    );
    await run.release('US-001');
    await line(/^US-001 .*, claimed/);
    await line(/^US-004 .*, works, lane 1/);
    await status('Ralph 3 at work · 1/4');
  });

  await test.step('a question is asked in both windows and answered in one', async () => {
    await run.release('US-002');
    await line(/^US-002 .*, needs you/);
    const alert = (workbench: Workbench) =>
      workbench.notification(/The agent of US-002 Story number 2 asks: Blue or green\?/);
    await inBoth(workbench => expect(alert(workbench)).toBeVisible(RUN_LIMIT));
    const input = second.page.locator('.quick-input-widget input[type="text"]');
    await second.openByNotification(alert(second), 'Answer…', input);
    await input.fill('Green');
    await second.page.keyboard.press('Enter');
    await line(/^US-002 .*, works, lane \d/);
    // The first window still has the alert, whose button has nothing to answer any more.
    await first.openByNotification(
      alert(first),
      'Answer…',
      first.notification(/This question is no longer open/),
    );
    const answers = (await run.events()).filter(({ type }) => type === 'question.answered');
    expect(answers).toMatchObject([{ storyId: 'US-002', answer: 'Green' }]);
  });

  await test.step('closing one window leaves the agents running; the other one stops them', async () => {
    await second.closeWindow();
    await first.runCommand('Ralph: Stop');
    await expect(first.statusBarItem('Ralph stopped · 1/4')).toBeVisible(RUN_LIMIT);
    await expect(first.treeItem(/, lane/)).toHaveCount(0);
  });
  // VS Code writes what an alert says to the console, too.
  expect(first.consoleErrors().filter(text => !text.includes(' asks: '))).toEqual([]);
});
