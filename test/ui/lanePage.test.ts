import { appendFile, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { FrameLocator } from '@playwright/test';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { frameOf, heard, listen, violations } from '../support/accessibility.ts';
import { openStories, type Step } from '../support/ralph.ts';
import { LONG_JOURNALS } from '../support/recordedJournals.ts';
import { scriptedWindow } from '../support/scriptedWindow.ts';
import { expect, test } from '../support/story.ts';
import { inAll, variants } from '../support/variants.ts';
import type { Theme, Workbench } from '../support/workbench.ts';

/** It only ends a test that has failed. */
const RUN_LIMIT = { timeout: 180_000 };
const THEMES: readonly Theme[] = ['light', 'dark', 'hc-dark', 'hc-light'];
const HOSTILE = '<img src=x onerror="document.title=1"> $(alert) [a](command:b)';
/** Git allows such a name. */
const BRANCH = 'ralph/<b>$(alert)</b>';
/** Waits for as long as there is a file with this name among the agents' notes. */
const CHECK = 'while [ -e "$FAKE_AGENT_NOTES/hold" ]; do sleep 0.05; done';

/** Says where it is, waits until it may continue, and changes a line that others change, too. */
const shared = (id: string, name = id): readonly Step[] => [
  { text: `I begin ${id}.` },
  { wait: name },
  { write: ['shared.txt', `one\n${name}\nthree\n`] },
  { tick: id },
  { commit: `feat: ${id}` },
  { result: [`${id} is done.`] },
];

const scene = {
  stories: [],
  files: {
    '.omc/prd.json': JSON.stringify({
      ...{ project: 'todo', description: 'A list of todos', branchName: BRANCH },
      userStories: openStories(6).map(story =>
        story.id === 'US-002' ? { ...story, title: HOSTILE } : story,
      ),
    }),
    '.omc/config.json': JSON.stringify({
      ...{ lanes: 4, budgetUsd: 20, verify: [CHECK] },
      // On a busy machine, they wait for minutes.
      idleLimitMinutes: 60,
    }),
    'shared.txt': 'one\ntwo\nthree\n',
  },
  calls: {
    'US-001': [shared('US-001')],
    'US-002': [shared('US-002'), shared('US-002', 'US-002 again')],
    ...Object.fromEntries(
      ['US-003', 'US-004', 'US-005', 'US-006'].map(id => [
        id,
        [[{ text: `I begin ${id}.` }, { wait: id }, 'work'] as const],
      ]),
    ),
  },
};

const button = (page: FrameLocator, name: string) =>
  page.getByRole('button', { name, exact: true });
const lane = (page: FrameLocator, number: number) =>
  page.getByRole('group', { name: `Lane ${number}`, exact: true });
const region = (page: FrameLocator, name: string) =>
  page.getByRole('region', { name, exact: true });

/** In each theme, wide and narrow, without anything that is wider than the page, and without a problem for axe-core. */
async function look(
  workbench: Workbench,
  page: FrameLocator,
  name: string,
  themes: readonly Theme[] = THEMES,
): Promise<void> {
  for (const theme of variants(themes, 1, 1)) {
    await workbench.setTheme(theme);
    await workbench.page.setViewportSize({ width: 1900, height: 1150 });
    await workbench.screenshot(`lanePage-${name}-${theme}-wide`);
    if (theme.startsWith('hc-')) {
      expect(await page.locator('body').evaluate(faintEdges)).toEqual([]);
    }
    expect(await violations(await frameOf(page))).toEqual([]);
    await workbench.page.setViewportSize({ width: 900, height: 1150 });
    await workbench.screenshot(`lanePage-${name}-${theme}-narrow`);
    expect(
      await page.locator('html').evaluate(html => html.scrollWidth - html.clientWidth),
    ).toBeLessThanOrEqual(0);
  }
  await expect(page.locator('[style]:not(html, body)')).toHaveCount(0);
  await workbench.page.setViewportSize({ width: 1280, height: 900 });
}

/**
 * Runs in the page. A high-contrast theme promises 3 : 1 for what must be seen (WCAG 1.4.11), which axe-core checks only
 * for text.
 * @returns the looks of bars whose edge has less than that against the page
 */
function faintEdges(body: HTMLElement): string[] {
  const luminance = (color: string) => {
    if (!color.startsWith('rgb(')) {
      throw new Error(`The color "${color}" is of a kind that is not compared.`);
    }
    const [r = 0, g = 0, b = 0] = (color.match(/[\d.]+/g) ?? []).map(part => {
      const share = Number(part) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = luminance(getComputedStyle(body).backgroundColor);
  const faint = [...body.querySelectorAll('.bar')].filter(bar => {
    const edge = bar.querySelector('.edge');
    const color = edge === null ? ground : luminance(getComputedStyle(edge).fill);
    return (Math.max(color, ground) + 0.05) / (Math.min(color, ground) + 0.05) < 3;
  });
  return [...new Set(faint.map(bar => bar.classList.value))];
}

/** The same work ten times more, each an hour later. */
function tenMore(journal: string): string {
  const events = journal
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as RunEvent);
  const work = events.filter(({ type }) => type !== 'run.started' && type !== 'run.ended');
  return Array.from({ length: 10 }, (_, round) => work.map(event => ({ event, round: round + 1 })))
    .flat()
    .map(({ event, round }, index) => ({
      ...event,
      ...('iteration' in event && { iteration: Number(event.iteration) + 200 * round }),
      at: new Date(Date.parse(event.at) + round * 3_600_000).toISOString(),
      seq: events.length + index + 1,
    }))
    .map(event => `${JSON.stringify(event)}\n`)
    .join('');
}

test.describe('in one window', () => {
  const prepared = scriptedWindow();

  test('four lanes: who works on what, what waits, what has landed, and what came back', async () => {
    const { run, workbench } = await prepared(scene);
    const notes = run.env['FAKE_AGENT_NOTES'] ?? '';
    await workbench.runCommand('Ralph: Show Progress');
    const page = workbench.webview();
    await expect(page.getByRole('heading', { name: 'No run yet' })).toBeVisible();

    await test.step('each lane shows its story', async () => {
      await button(page, 'Start Fresh Run').click();
      await expect(workbench.page.locator('.terminal-wrapper:visible')).toBeVisible(RUN_LIMIT);
      await workbench.runCommand('View: Hide Panel');
      for (const number of [1, 2, 3, 4]) {
        await expect(lane(page, number)).toContainText(`US-00${number}`, RUN_LIMIT);
        await expect(lane(page, number)).toContainText('the agent works');
      }
      await expect(lane(page, 2)).toContainText(HOSTILE);
      await expect(page.locator('.now')).toContainText('4 at work');
      await expect(
        page.getByText(/^\$0\.00 of \$20\.00 spent; \$\d+\.\d\d set aside for agents at work/),
      ).toBeVisible();
      await expect(region(page, 'This run')).toContainText(BRANCH);
      await listen(page);
    });

    await test.step('with fewer lanes and one paused, both finish their story', async () => {
      await button(page, 'One agent fewer at once').click();
      await expect(page.getByText('3 agents at once', { exact: true })).toBeVisible(RUN_LIMIT);
      await expect(lane(page, 4)).toContainText('the agent works, then the lane is closed');
      await button(page, 'Pause lane 3').press('Enter');
      await expect(lane(page, 3)).toContainText(
        'the agent works, then the lane is paused',
        RUN_LIMIT,
      );
      await expect(button(page, 'Continue lane 3')).toBeFocused();
    });

    await test.step('finished work waits in the queue in order', async () => {
      await run.release('hold');
      await run.release('US-001');
      const queue = region(page, 'Landing queue');
      await expect(queue).toContainText(/US-001.*is being checked/s, RUN_LIMIT);
      await run.release('US-002');
      await expect(queue).toContainText(/waits for US-001, which is being checked/, RUN_LIMIT);
      await run.release('US-004');
      await expect(queue).toContainText(/US-004.*waits for US-001 and 1 more/s, RUN_LIMIT);
      // Lane 4 is closed, lane 3 is paused after US-003.
      await expect(lane(page, 4)).toContainText('closed');
      await expect(lane(page, 1)).toContainText('US-005');
      await expect(lane(page, 2)).toContainText('US-006');
      // The agents wait meanwhile; the other themes are looked at below.
      await look(workbench, page, '1-queue', ['light', 'hc-dark']);
    });

    await test.step('the Iterations view groups the iterations', async () => {
      const line = (name: RegExp) => workbench.treeItem(name);
      await expect(line(/^Running, 3 iterations/)).toBeVisible();
      await expect(line(/^Landing queue, 3 iterations/)).toBeVisible();
      await expect(line(/^Iteration 1 US-001, is being checked/)).toBeVisible();
      await expect(
        line(/^Iteration 2 US-002, waits for US-001, which is being checked/),
      ).toBeVisible();
      await workbench.screenshot('lanePage-2-iterations');
    });

    await test.step('a reload restores everything', async () => {
      await workbench.reload();
      await expect(region(page, 'Landing queue')).toContainText(
        /waits for US-001, which is being checked/,
        RUN_LIMIT,
      );
      await expect(page.getByText('3 agents at once', { exact: true })).toBeVisible();
      await expect(lane(page, 3)).toContainText('then the lane is paused');
      await listen(page);
    });

    await test.step('one lands, one comes back with the reason', async () => {
      await rm(path.join(notes, 'hold'));
      const queue = region(page, 'Landing queue');
      await expect(queue).toContainText('2 stories have landed', RUN_LIMIT);
      await expect(queue.getByRole('list', { name: 'Came back' })).toContainText(
        'It conflicts with what has landed meanwhile: shared.txt',
      );
      await expect(queue.getByRole('list', { name: 'Came back' })).toContainText(HOSTILE);
      await expect(queue).toContainText('Nothing waits to land.');
      await workbench.screenshot('lanePage-3-returned');
    });

    await test.step('returned work can be inspected', async () => {
      await button(page, 'Changes of iteration 2').first().click();
      await expect(
        workbench.page.getByRole('tab', { name: /Iteration 2 · did not land/ }),
      ).toBeVisible(RUN_LIMIT);
      expect(await workbench.diffEditorFileNames()).toContain('shared.txt');
      await workbench.screenshot('lanePage-4-changes');
      await workbench.page.getByRole('tab', { name: /Ralph Progress/ }).click();
      await expect(page.getByRole('heading', { name: 'Running', level: 1 })).toBeVisible();
      await listen(page);
    });

    await test.step('the keyboard reaches each bar and shows its details', async () => {
      const bar = (name: RegExp) => page.getByRole('img', { name });
      await button(page, 'Continue lane 3').focus();
      await workbench.page.keyboard.press('Tab');
      await workbench.page.keyboard.press('Shift+Tab');
      await bar(/^US-001 .*: Landed\. · Iteration 1, worked for/).focus();
      await expect(page.locator('.bar-words')).toContainText('US-001 Story number 1: Landed.');
      await workbench.page.keyboard.press('ArrowRight');
      await expect(bar(/^US-005 .*: Running/)).toBeFocused();
      await workbench.page.keyboard.press('ArrowDown');
      await expect(page.locator('.bar-words')).toContainText(/^US-00\d/);
      await workbench.screenshot('lanePage-5-keyboard');
      await page.getByText('Show as table').first().click();
      await expect(
        page
          .getByRole('table', { name: 'Lanes', exact: true })
          .getByRole('row', { name: /US-001/ }),
      ).toContainText('Landed');
    });

    await test.step('the others land, too, and so does the returned story with its second agent', async () => {
      await button(page, 'Continue lane 3').press('Enter');
      await expect(button(page, 'Pause lane 3')).toBeFocused(RUN_LIMIT);
      for (const name of ['US-003', 'US-005', 'US-006', 'US-002 again']) {
        await run.release(name);
      }
      await expect(page.getByRole('heading', { name: 'Complete', level: 1 })).toBeVisible(
        RUN_LIMIT,
      );
      await expect(region(page, 'Landing queue')).toContainText('6 stories have landed');
      await expect(page.getByRole('list', { name: 'Came back' })).toHaveCount(0);
      await workbench.screenshot('lanePage-6-done');
    });

    await test.step('a screen reader announced each thing once', async () => {
      const ends = [3, 5, 6].map(number => `Iteration ${number}, US-00${number}: Story done.`);
      await expect
        .poll(() => heard(page))
        .toEqual(
          expect.arrayContaining([
            ...ends,
            'Iteration 7, US-002: Story done.',
            'Complete. All stories are done, after 7 iterations.',
          ]),
        );
      const news = await heard(page);
      expect(news.filter((text, index) => news.indexOf(text) !== index)).toEqual([]);
    });
    expect(await workbench.page.title()).not.toBe('1');
    expect(workbench.consoleErrors()).toEqual([]);
  });

  test('one agent in a place of its own has one lane, and one more can be added', async () => {
    const { run, workbench } = await prepared({
      stories: openStories(3),
      files: { '.omc/config.json': '{ "isolate": true }\n' },
      calls: Object.fromEntries(
        openStories(3).map(({ id }) => [id, [[{ text: `I begin ${id}.` }, { wait: id }, 'work']]]),
      ),
    });
    await workbench.runCommand('Ralph: Show Progress');
    const page = workbench.webview();
    await button(page, 'Start Fresh Run').click();
    await expect(workbench.page.locator('.terminal-wrapper:visible')).toBeVisible(RUN_LIMIT);
    await workbench.runCommand('View: Hide Panel');
    await expect(lane(page, 1)).toContainText('US-001', RUN_LIMIT);
    await expect(page.locator('.lane:not(.axis):not(.of-landings)')).toHaveCount(1);
    await expect(page.getByText('1 agent at once', { exact: true })).toBeVisible();
    await expect(button(page, 'One agent fewer at once')).toHaveAttribute('aria-disabled', 'true');
    await look(workbench, page, '8-one', ['light', 'hc-dark']);
    await button(page, 'One more agent at once').press('Enter');
    await expect(lane(page, 2)).toContainText('US-002', RUN_LIMIT);
    for (const { id } of openStories(3)) {
      await run.release(id);
    }
    await expect(page.getByRole('heading', { name: 'Complete', level: 1 })).toBeVisible(RUN_LIMIT);
    expect(workbench.consoleErrors()).toEqual([]);
  });

  inAll(test)('sixteen lanes and a hundred stories: one bar per agent, one tab stop', async () => {
    const runId = '2026-03-01T12-00-00-000-aaaaaa';
    const journal = await readFile(path.join(LONG_JOURNALS, 'manyLanes.jsonl'), 'utf8');
    const file = path.relative('/', new RunFiles('/').journalFile(runId));
    const { run, workbench } = await prepared({
      stories: openStories(100).map(story => ({ ...story, passes: true })),
      calls: [],
      files: { [file]: journal.replaceAll('"runId":"r1"', `"runId":"${runId}"`) },
    });
    await workbench.runCommand('Ralph: Show Progress');
    const page = workbench.webview();
    await expect(page.getByRole('heading', { name: 'Complete', level: 1 })).toBeVisible();
    await expect(page.locator('.lane:not(.axis)')).toHaveCount(17);
    expect(await page.locator('[data-bar]').count()).toBeLessThanOrEqual(16 * 25 + 120);
    await expect(page.locator('[data-bar][tabindex="0"]')).toHaveCount(1);
    await expect(region(page, 'Landing queue')).toContainText('100 stories have landed');
    await page.getByText('Show as table').first().click();
    await expect(
      page.getByRole('table', { name: 'Lanes', exact: true }).getByRole('row'),
    ).toHaveCount(101);
    await page.getByText('Show as table').first().click();
    await expect(page.locator('.lane .bar.returned').first()).toBeVisible();
    await look(workbench, page, '7-sixteen');

    await test.step('a bar that is merged with others keeps the keyboard focus', async () => {
      await page.locator('[data-bar]').nth(1).focus();
      await expect(page.locator('.bar-words')).toContainText('Landed.');
      await appendFile(path.join(run.workspace, file), tenMore(journal));
      await expect(page.locator('[data-bar].several').first()).toBeVisible(RUN_LIMIT);
      await expect(page.locator('[data-bar].several:focus')).toHaveCount(1);
      await expect(page.locator('.bar-words')).toContainText('have landed.');
    });
    expect(workbench.consoleErrors()).toEqual([]);
  });
});
