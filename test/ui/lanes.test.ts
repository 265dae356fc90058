import { isRunning, pidsOf } from '../support/journals.ts';
import { openStories, type Step } from '../support/ralph.ts';
import { type ScriptedRun, scriptedRun } from '../support/scriptedRun.ts';
import { expect, test } from '../support/story.ts';
import { inAll, variants } from '../support/variants.ts';
import { type Theme, Workbench } from '../support/workbench.ts';

/** It only ends a test that has failed. */
const RUN_LIMIT = { timeout: 180_000 };
const THEMES = ['light', 'dark', 'hc-dark', 'hc-light'] as const satisfies Theme[];
const IDS = ['US-001', 'US-002', 'US-003', 'US-004'] as const;

/** Says where it is, waits, and then does its story. */
const waits = (id: string, name: string): readonly Step[] => [
  { text: `I look at ${id}.` },
  { wait: name },
  'work',
];

/** Four stories on four lanes. The repository says so, since the window has no setting for it. */
async function fourLanes(check?: string): Promise<ScriptedRun> {
  return scriptedRun({
    stories: openStories(4),
    files: {
      '.omc/config.json': JSON.stringify({
        lanes: 4,
        ...(check !== undefined && { verify: [check] }),
      }),
    },
    calls: Object.fromEntries(IDS.map(id => [id, [waits(id, id)]])),
  });
}

async function screenshots(workbench: Workbench, name: string): Promise<void> {
  for (const theme of variants(THEMES, 1, 1)) {
    await workbench.setTheme(theme);
    await workbench.screenshot(`lanes-${name}-${theme}`);
  }
}

inAll(test)(
  'four parallel agents in tree, status bar, terminal and page; reload, stop, continue',
  {
    tag: '@oldest',
  },
  async () => {
    await using run = await fourLanes();
    await using workbench = await Workbench.open(run);
    const terminalHolds = async (text: string | RegExp) => {
      await expect(workbench.page.locator('.terminal-wrapper:visible')).toBeVisible(RUN_LIMIT);
      await expect.poll(() => workbench.terminalText(), RUN_LIMIT).toMatch(text);
    };
    const allRun = async () => {
      for (const id of IDS) {
        await expect(workbench.treeItem(new RegExp(`^${id} .*, works, lane \\d`))).toBeVisible(
          RUN_LIMIT,
        );
      }
      await expect(workbench.statusBarItem('Ralph 4 at work · 0/4')).toBeVisible(RUN_LIMIT);
    };
    await workbench.view('Ralph');
    await workbench.runCommand('Ralph: Start Fresh Run');

    await test.step('each active story is shown as running, and terminal lines name their story', async () => {
      await allRun();
      for (const id of IDS) {
        await terminalHolds(new RegExp(`^${id} │ ● I look at ${id}\\.$`, 'm'));
      }
      const hover = await workbench.hover(workbench.statusBarItem('Ralph 4 at work'), 'US-003');
      await expect(hover).toContainText(/US-004 Story number 4 · works · lane \d/);
      await screenshots(workbench, '1-four');
    });

    await test.step('the page lists them', async () => {
      await workbench.runCommand('Ralph: Show Progress');
      const page = workbench.webview();
      await expect(page.locator('.now')).toContainText('4 at work', RUN_LIMIT);
      await expect(page.locator('.lane-now .story-name')).toHaveCount(4);
      await expect(page.getByRole('button', { name: 'Skip a Story…' })).toBeVisible();
      await screenshots(workbench, '2-page');
    });

    await test.step('a skip asks which story to skip', async () => {
      const entries = workbench.page
        .locator('.quick-input-widget .monaco-list-row')
        .filter({ hasText: /^US-00\d/, visible: true });
      // In a busy window, the focus may go back to the page late, which closes the question.
      await expect(async () => {
        await workbench.runCommand('Ralph: Skip Story');
        await expect(entries).toHaveCount(4, { timeout: 20_000 });
      }).toPass(RUN_LIMIT);
      await workbench.screenshot('lanes-3-skip');
      await workbench.page.keyboard.press('Escape');
      await expect(entries).toHaveCount(0);
    });

    await test.step('a reload restores everything', async () => {
      const loaded = workbench.page.waitForEvent('load');
      await workbench.runCommand('Developer: Reload Window');
      await loaded;
      await allRun();
      await terminalHolds(/^US-004 │ ● I look at US-004\.$/m);
      await expect(workbench.webview().locator('.lane-now .story-name')).toHaveCount(4, RUN_LIMIT);
      await workbench.screenshot('lanes-4-reloaded');
    });

    await test.step('after a stop, no process is left and no story runs', async () => {
      const pids = pidsOf(await run.events());
      expect(pids).toHaveLength(5);
      await workbench.runCommand('Ralph: Stop');
      await expect(workbench.statusBarItem('Ralph stopped · 0/4')).toBeVisible(RUN_LIMIT);
      for (const pid of pids) {
        await expect.poll(() => isRunning(pid)).toBe(false);
      }
      await expect(workbench.treeItem(/^US-001 .*, next/)).toBeVisible(RUN_LIMIT);
      await expect(workbench.treeItem(/, lane/)).toHaveCount(0);
      await screenshots(workbench, '5-stopped');
    });

    await test.step('after it continues, one lands while the others work, then all land', async () => {
      // Their agents have been called once already, and do the same again.
      await workbench.runCommand('Ralph: Start Fresh Run');
      await allRun();
      await run.release('US-002');
      await expect(workbench.statusBarItem('Ralph 3 at work · 1/4')).toBeVisible(RUN_LIMIT);
      await expect(workbench.treeItem(/^US-002 .*, claimed/)).toBeVisible(RUN_LIMIT);
      await screenshots(workbench, '6-landed');
      for (const id of ['US-001', 'US-003']) {
        await run.release(id);
      }
      // The last one is shown as it is without lanes.
      await expect(workbench.statusBarItem('Ralph US-004 3/4')).toBeVisible(RUN_LIMIT);
      await run.release('US-004');
      await expect(workbench.statusBarItem('Ralph done · 4/4')).toBeVisible(RUN_LIMIT);
      await expect(workbench.treeItem(/^US-00\d .*, claimed/)).toHaveCount(4);
      await terminalHolds(/US-004 │ \[Ralph Fresh\] US-004 has landed/);
      await screenshots(workbench, '7-done');
    });
    expect(workbench.consoleErrors()).toEqual([]);
  },
);
