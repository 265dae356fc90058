import { execFileSync } from 'node:child_process';
import type { Locator } from '@playwright/test';
import type { Step } from '../support/ralph.ts';
import { type ScriptedRun, scriptedRun } from '../support/scriptedRun.ts';
import { expect, test } from '../support/story.ts';
import { type Theme, Workbench } from '../support/workbench.ts';

/** It only ends a test that has failed. */
const RUN_LIMIT = { timeout: 180_000 };
/** A branch and a file can have such names, and a story any. */
const BRANCH = 'ralph/$(alert)<img/src=x>';
const FILE = '$(alert)[q](command:quit).txt';
const TITLE = '<img src=x onerror="hostile=1"> $(alert) [quit](command:workbench.action.quit)';

const writes = (id: string, line: string): readonly Step[] => [
  { write: ['shared.txt', `one\n${line}\nthree\n`] },
  { write: [FILE, `${line}\n`] },
  { tick: id },
  { commit: `feat: ${id} ${TITLE}` },
  { result: [`${id} is done.`] },
];

/** US-001 lands, and US-002 conflicts with it. */
function twoThatConflict(): Promise<ScriptedRun> {
  const stories = ['US-001', 'US-002'].map((id, index) => ({
    ...{ id, title: TITLE, acceptanceCriteria: ['It works'], priority: index + 1, passes: false },
  }));
  const prd = { project: 'todo', branchName: BRANCH, userStories: stories };
  return scriptedRun({
    files: {
      '.omc/prd.json': JSON.stringify(prd, null, 2),
      '.omc/config.json': JSON.stringify({ lanes: 2, verify: ['grep -q FIRST shared.txt'] }),
      'shared.txt': 'one\ntwo\nthree\n',
      [FILE]: 'first\n',
    },
    calls: {
      'US-001': [[{ wait: 'first' }, ...writes('US-001', 'FIRST')]],
      'US-002': [
        [
          { write: ['shared.txt', 'one\nHALF\nthree\n'] },
          ...[{ text: 'Half of it.' }, { wait: 'more' }],
          ...[{ write: ['later.txt', 'later\n'] }, { text: 'More of it.' }, { wait: 'second' }],
          ...writes('US-002', 'SECOND'),
        ],
        [
          ...[{ write: ['again.txt', 'again\n'] }, { commit: `feat: again ${TITLE}` }],
          ...[{ text: 'I begin again.' }, { wait: 'never' }],
        ],
      ],
    },
  });
}

async function screenshots(workbench: Workbench, name: string, ...themes: Theme[]): Promise<void> {
  for (const theme of themes) {
    await workbench.setTheme(theme);
    await workbench.screenshot(`places-${name}-${theme}`);
  }
}

/** Names of others are text on every surface. */
async function expectHarmless({ page }: Workbench): Promise<void> {
  const found = await page.evaluate(() => ({
    hasRun: 'hostile' in globalThis,
    images: document.querySelectorAll('img[src="x"]').length,
    // VS Code's merge editor itself draws an icon that the path of a file names.
    icons: [...document.querySelectorAll('.codicon-alert')].filter(
      icon => icon.closest('.merge-editor') === null,
    ).length,
    links: document.querySelectorAll('[href*="command:"][href*="quit"]').length,
  }));
  expect.soft(found).toEqual({ hasRun: false, images: 0, icons: 0, links: 0 });
}

test('an agent’s place shows its changes, a conflict is settled in the merge editor, and work is discarded', async () => {
  await using run = await twoThatConflict();
  await using workbench = await Workbench.open(run);
  const { dialog, page } = workbench;
  const git = (...args: readonly string[]) =>
    execFileSync('git', [...args], { cwd: run.workspace, encoding: 'utf8', env: run.env });
  const entries = page
    .locator('.quick-input-widget .monaco-list-row')
    .filter({ hasText: /^US-00\d/, visible: true });
  const choose = async (id: string) => {
    await expect(entries).not.toHaveCount(0, RUN_LIMIT);
    // Typed: the hover of a long title would be in the way of a click.
    await page.locator('.quick-input-widget input[type="text"]').fill(id);
    await expect(entries).toHaveCount(1);
    await page.keyboard.press('Enter');
    await expect(entries).toHaveCount(0);
  };
  const heard = async (text: string) =>
    expect
      .poll(async () => JSON.stringify(await run.events()).includes(text), RUN_LIMIT)
      .toBe(true);
  const answer = async (button: string, question: string | RegExp) => {
    await expect(dialog).toContainText(question, RUN_LIMIT);
    await expectHarmless(workbench);
    await dialog.getByRole('button', { name: button, exact: true }).click();
    await expect(dialog).toHaveCount(0);
  };
  await workbench.view('Ralph');
  await workbench.runCommand('Ralph: Start Fresh Run');
  await heard('Half of it.');

  await test.step('the agent’s changes so far are shown and kept up to date', async () => {
    await workbench.runCommand('Ralph: Show Changes So Far');
    await choose('US-002');
    const tab = page.locator('.tab.active');
    await expect(tab).toContainText('US-002 so far (1 file)', RUN_LIMIT);
    const lines = page.locator('.multiDiffEntry .modified .view-line');
    await expect(lines.filter({ hasText: 'HALF' })).toBeVisible(RUN_LIMIT);
    // A reload changes nothing.
    await workbench.kept(text => text.includes('US-002 so far'));
    await workbench.reload();
    await expect(tab).toContainText('US-002 so far (1 file)', RUN_LIMIT);
    await expect(lines.filter({ hasText: 'HALF' })).toBeVisible(RUN_LIMIT);
    // Nothing is taken from a person who writes elsewhere.
    await workbench.runCommand('File: New Untitled Text File');
    await expect(tab).toContainText('Untitled-1');
    await run.release('more');
    await heard('More of it.');
    await workbench.view('Ralph');
    await expect(tab).toContainText('Untitled-1');
    const other = page.locator('.tab', { hasText: 'US-002 so far' });
    await expect(other).toContainText('(1 file)');
    await other.click();
    await expect(tab).toContainText('US-002 so far (2 files)', RUN_LIMIT);
    await expect(lines.filter({ hasText: 'later' })).toBeVisible(RUN_LIMIT);
    await expect(page.locator('.tab', { hasText: 'so far' })).toHaveCount(1);
    await expect(page.locator('.multiDiffEntry .status').filter({ hasText: 'R' })).toHaveCount(0);
    await lines.filter({ hasText: 'later' }).click();
    await page.keyboard.type('x');
    await expect(page.getByText('Editor is read-only').first()).toBeVisible();
    await screenshots(workbench, '1-changes', 'dark', 'hc-dark');
  });

  await test.step('opening the place warns that it belongs to the agent', async () => {
    await workbench.runCommand('Ralph: Open Place in New Window');
    await choose('US-002');
    await expect(dialog).toContainText('An agent works in the place of US-002 now.', RUN_LIMIT);
    await workbench.screenshot('places-2-enter-hc-dark');
    const opened = page.context().waitForEvent('page');
    await answer('Open Place', 'What you change there counts as its work');
    const other = await opened;
    const place = /ralph-fresh\/places\/[^/]+\/lane-\d/;
    await expect.poll(() => decodeURIComponent(other.url()), RUN_LIMIT).toMatch(place);
    await other.close();
  });

  await test.step('nothing is discarded while its agent works', async () => {
    await run.release('first');
    await heard('landing.landed');
    await run.release('second');
    await heard('I begin again.');
    await workbench.runCommand('Ralph: Discard Work…');
    await choose('US-002');
    const refusal = workbench.notification('An agent works on US-002 now. Stop the story first');
    await expect(refusal).toBeVisible(RUN_LIMIT);
  });

  const merge = page.locator('.merge-editor:visible');
  await test.step('its conflict opens in the merge editor', async () => {
    await workbench.setTheme('light');
    await workbench.runCommand('Ralph: Settle Conflict…');
    await choose('US-002');
    await expect(dialog).toContainText('end the agent', RUN_LIMIT);
    await workbench.screenshot('places-3-question-light');
    await answer('End It and Settle', 'An agent works on US-002 now.');
    await expect(merge).toContainText(/settle-us-002-\w+\/shared\.txt/, RUN_LIMIT);
    await expect(merge.locator('.view-line').filter({ hasText: 'SECOND' })).toBeVisible(RUN_LIMIT);
    await expectHarmless(workbench);
    // VS Code's git support does not ask about the repository of the place.
    await expect(workbench.notification(/[Gg]it repository was found/)).toHaveCount(0);
    await screenshots(workbench, '4-merge', 'light', 'hc-light');
  });

  await test.step('saved and closed without a decision, it does not land, and is opened again', async () => {
    await expect(workbench.treeItem(/^US-002 .*, you settle its conflict/)).toBeVisible(RUN_LIMIT);
    await workbench.runCommand('File: Save All Files');
    await workbench.runCommand('View: Close All Editors');
    // VS Code's own question, otherwise for each of them.
    await dialog.getByRole('checkbox').click();
    await dialog.getByRole('button', { name: 'Close with Conflicts' }).click();
    await expect(merge).toHaveCount(0);
    await workbench.runCommand('Ralph: Land Settled Story');
    await answer('Open It', /settled\?Its merge was not completed/);
    await expect(merge).toBeVisible(RUN_LIMIT);
    await expect(
      workbench.notification('US-002 has not landed: a file is not settled yet.'),
    ).toBeVisible();
    await workbench.runCommand('Ralph: Settle Conflict…');
    await choose('US-002');
    await expect(page.locator('.tab', { hasText: 'Merging: ' })).toHaveCount(2, RUN_LIMIT);
  });

  await test.step('it is settled there, and lands through the queue', async () => {
    await solve(workbench, merge);
    await workbench.screenshot('places-5-settled-hc-light');
    const isQueued = async () =>
      (await run.events()).some(event => event.type === 'landing.queued' && event.by === 'person');
    // A busy window loses clicks, and a second one lands nothing twice.
    await expect(async () => {
      if (!(await isQueued())) {
        await page
          .locator('.editor-group-container.active')
          .getByRole('button', { name: 'Land Settled Story' })
          .click({ timeout: 10_000 });
      }
      await expect.poll(isQueued, { timeout: 10_000 }).toBe(true);
    }).toPass(RUN_LIMIT);
  });

  await test.step('the question from before it landed does nothing any more, and says so', async () => {
    await expect(workbench.statusBarItem('Ralph done · 2/2')).toBeVisible(RUN_LIMIT);
    await workbench.openByNotification(
      workbench.notification(/Settle the conflict of US-002/).first(),
      'Give Back',
      workbench.notification(/Nothing was changed: you do not settle this conflict of US-002/),
    );
    const isGivenBack = (await run.events()).some(
      event => event.type === 'story.settling' && !event.settling,
    );
    expect(isGivenBack).toBe(false);
  });

  await test.step('the other agent’s work is discarded after a question', async () => {
    await expect(workbench.statusBarItem('Ralph done · 2/2')).toBeVisible(RUN_LIMIT);
    await expect(merge).toHaveCount(0);
    await expect(workbench.treeItem(/^US-002 .*, verified/)).toBeVisible(RUN_LIMIT);
    expect(git('show', `${BRANCH}:shared.txt`)).toBe('one\nFIRST\nthree\n');
    expect(git('show', `${BRANCH}:${FILE}`)).toBe('SECOND\n');
    await workbench.runCommand('Ralph: Discard Work…');
    await choose('US-002');
    await expect(dialog).toContainText(
      'Discard the work on US-002 that has not landed?',
      RUN_LIMIT,
    );
    await expect(dialog).toContainText('again.txt');
    await workbench.screenshot('places-6-discard-hc-light');
    await answer('Discard Work', 'feat: again <img src=x');
    const told = workbench.notification('For 30 days, this gets it back: git branch rescued refs/');
    await expect(told).toBeVisible(RUN_LIMIT);
    await expectHarmless(workbench);
    expect(git('for-each-ref', 'refs/ralph-fresh/discarded')).toContain('US-002');
    await workbench.runCommand('Ralph: Settle Conflict…');
    await expect(workbench.notification('No story of the newest run has a conflict')).toBeVisible();
  });
  // Refusals are logged, too.
  expect(
    workbench
      .consoleErrors()
      .filter(text => !/^(?:An agent works on|No story of the|US-002 has not landed)/.test(text)),
  ).toEqual([]);
});

/** Takes the agent's version of one file, and what has landed of the other. */
async function solve({ page }: Workbench, merge: Locator): Promise<void> {
  const left = merge.getByText('1 Conflict Remaining');
  for (const [name, button] of [
    [FILE, 'Accept Agent'],
    ['shared.txt', 'Accept Has Landed'],
  ] as const) {
    await page.locator('.tab', { hasText: `Merging: ${name}` }).click();
    await expect(left).toBeVisible(RUN_LIMIT);
    await merge.getByText(button, { exact: true }).last().click();
    await expect(left).toHaveCount(0);
  }
}
