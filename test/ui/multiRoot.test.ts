import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { cleanEnv, gitRepo, tempDir } from '../support/cleanEnv.ts';
import { endRuns, isRunning, newestJournal, pidsOf } from '../support/journals.ts';
import { fakeAgent, type Step } from '../support/ralph.ts';
import { expect, test } from '../support/story.ts';
import { Workbench } from '../support/workbench.ts';

/** It only ends a test that has failed. */
const RUN_LIMIT = { timeout: 180_000 };
/** The stories of each folder. Both folders have the same name. */
const STORIES = { bank: ['B-1', 'B-2'], shop: ['S-1', 'S-2'] } as const;
type Parent = keyof typeof STORIES;
const ASKS: readonly Step[] = [{ result: ['<promise>NEEDS_HUMAN: Which one?</promise>'] }];

/** A window with `bank/api` and `shop/api`, two lanes in each; each agent waits for the name of its story. */
async function twoFolders(kept: AsyncDisposableStack) {
  const temp = kept.use(await tempDir('ralph-fresh-folders-'));
  const [home, notes] = [path.join(temp.path, 'home'), path.join(temp.path, 'notes')];
  await Promise.all([home, notes].map(dir => mkdir(dir)));
  const script: Record<string, unknown> = {};
  for (const [parent, ids] of Object.entries(STORIES)) {
    const folder = path.join(temp.path, parent, 'api');
    await mkdir(path.join(folder, '.omc'), { recursive: true });
    const userStories = ids.map(id => ({ id, title: `Work of the ${parent}`, passes: false }));
    await writeFile(path.join(folder, '.omc/prd.json'), JSON.stringify({ userStories }, null, 2));
    await writeFile(path.join(folder, '.omc/config.json'), '{ "lanes": 2 }');
    await gitRepo(folder);
    kept.defer(() => endRuns(folder));
    for (const id of ids) {
      const works: readonly Step[] = [{ text: `I look at ${id}.` }, { wait: id }, 'work'];
      script[id] = [
        ...(id === 'S-2' ? [[...works.slice(0, 1), { wait: 'ask' }, ...ASKS]] : []),
        works,
      ];
    }
  }
  await writeFile(path.join(notes, 'script.json'), JSON.stringify(script));
  const workspace = path.join(temp.path, 'all.code-workspace');
  const setFolders = (...parents: readonly string[]) =>
    writeFile(
      workspace,
      JSON.stringify({ folders: parents.map(parent => ({ path: `${parent}/api` })) }),
    );
  await setFolders(...Object.keys(STORIES));
  return {
    setFolders,
    window: {
      workspace,
      env: cleanEnv({ home, extra: { FAKE_AGENT_NOTES: notes } }),
      settings: { 'ralphFresh.claudePath': fakeAgent('scripted') },
    },
    release: (id: string) => writeFile(path.join(notes, id), ''),
    events: (parent: Parent) => newestJournal(path.join(temp.path, parent, 'api')),
  };
}

test('runs with lanes in two folders of the same name are kept apart', async () => {
  await using kept = new AsyncDisposableStack();
  const { events, release, setFolders, window } = await twoFolders(kept);
  await using workbench = await Workbench.open(window);
  const { page } = workbench;
  const folderLine = (parent: Parent, words: string) =>
    workbench.treeItem(new RegExp(`^Folder api \\(${parent}\\), ${words}$`));
  /** Not the line of the folder, which a click closes. */
  const select = (parent: Parent) =>
    workbench.treeItem(new RegExp(`^${STORIES[parent][0]} `)).click();
  const atWork = workbench.statusBarItem('Ralph 2 at work · 0/2');
  const terminalShows = async (shown: Parent, other: Parent) => {
    for (const id of STORIES[shown]) {
      await expect
        .poll(() => workbench.terminalText(), RUN_LIMIT)
        .toMatch(new RegExp(`^${id} │ ● I look at ${id}\\.$`, 'm'));
    }
    for (const id of STORIES[other]) {
      expect(await workbench.terminalText()).not.toContain(id);
    }
  };
  const terminalTab = (parent: Parent) =>
    page.locator('.terminal-tabs-entry').filter({ hasText: `Fresh Run (api (${parent}))` });
  await workbench.view('Ralph');

  await test.step('each starts in the last selected folder, in a terminal with its name', async () => {
    for (const parent of ['bank', 'shop'] as const) {
      await select(parent);
      await workbench.runCommand('Ralph: Start Fresh Run');
      await expect(folderLine(parent, '0 of 2 done, running')).toBeVisible(RUN_LIMIT);
      await expect(atWork).toBeVisible(RUN_LIMIT);
      await terminalShows(parent, parent === 'bank' ? 'shop' : 'bank');
    }
    await expect(terminalTab('bank')).toHaveCount(1);
    await expect(terminalTab('shop')).toHaveCount(1);
    for (const [id, parent] of [
      ['B-1', 'bank'],
      ['S-2', 'shop'],
    ] as const) {
      await expect(
        workbench.treeItem(new RegExp(`^${id} Work of the ${parent}, .*lane \\d`)),
      ).toBeVisible();
    }
    await workbench.screenshot('multiRoot-1-running');
  });

  await test.step('Show Terminal shows that of the active folder', async () => {
    await select('bank');
    await workbench.runCommand('Ralph: Show Terminal');
    await terminalShows('bank', 'shop');
    await expect(terminalTab('bank')).toHaveCount(1);
  });

  await test.step('the page shows the folder chosen on it', async () => {
    await workbench.runCommand('Ralph: Show Progress');
    const progress = workbench.webview();
    const choice = progress.locator('.folder-choice select');
    await expect(choice.locator('option')).toHaveText(['api (bank)', 'api (shop)']);
    for (const parent of ['shop', 'bank'] as const) {
      const bar = await progress.locator('.meter.stories meter').elementHandle();
      await choice.selectOption({ label: `api (${parent})` });
      const atWorkNow = progress.locator('.lane-now .story-name');
      await expect(atWorkNow).toContainText([...STORIES[parent]]);
      await expect(atWorkNow).toHaveCount(STORIES[parent].length);
      // A bar that stays would move from one folder's share to the other's.
      expect(await bar?.evaluate(one => one.isConnected)).toBe(false);
    }
    await workbench.screenshot('multiRoot-2-page');
  });

  await test.step('a paused story and a question belong to one folder', async () => {
    const count = async (parent: Parent, wanted: RunEvent['type']) =>
      (await events(parent)).filter(({ type }) => type === wanted).length;
    await workbench.chooseInMenu(/^B-2/, 'Pause This Story');
    await expect(workbench.treeItem(/^B-2 .*, pauses after this/)).toBeVisible(RUN_LIMIT);
    await expect(workbench.treeItem(/pauses after this/)).toHaveCount(1);
    expect(await count('shop', 'story.paused')).toBe(0);
    await select('bank');
    await release('ask');
    const alert = workbench.notification(/api \(shop\): The agent of S-2 .* asks: Which one\?/);
    await expect(alert).toBeVisible(RUN_LIMIT);
    await expect(folderLine('shop', '0 of 2 done, needs you')).toBeVisible(RUN_LIMIT);
    await expect(folderLine('bank', '0 of 2 done, running')).toBeVisible();
    await expect(atWork).toBeVisible();
    const input = page.locator('.quick-input-widget input[type="text"]');
    await workbench.openByNotification(alert, 'Answer…', input);
    await input.fill('The second one');
    await page.keyboard.press('Enter');
    await expect(folderLine('shop', '0 of 2 done, running')).toBeVisible(RUN_LIMIT);
    expect(await count('shop', 'question.answered')).toBe(1);
    expect(await count('bank', 'question.answered')).toBe(0);
  });

  await test.step('a closed terminal refers to its own run, even if another folder is active', async () => {
    await select('shop');
    await workbench.runCommand('Terminal: Focus Terminal');
    await terminalShows('bank', 'shop');
    await workbench.runCommand('Terminal: Kill the Active Terminal Instance');
    const told = workbench.notification('The run in api (bank) continues without the terminal.');
    await expect(told).toBeVisible();
    await workbench.clickInNotification(told, 'Stop');
    await expect(folderLine('bank', '0 of 2 done')).toBeVisible(RUN_LIMIT);
    for (const pid of pidsOf(await events('bank'))) {
      await expect.poll(() => isRunning(pid)).toBe(false);
    }
    const [loop] = pidsOf(await events('shop'));
    expect(loop !== undefined && (await isRunning(loop))).toBe(true);
    await expect(folderLine('shop', '0 of 2 done, running')).toBeVisible();
  });

  await test.step('the button of an error acts in the folder that it is about', async () => {
    await release('S-1');
    await expect(workbench.treeItem(/^S-1 .*, claimed/)).toBeVisible(RUN_LIMIT);
    await workbench.chooseInMenu(/^S-1/, 'Revert Story…');
    const error = workbench.notification('A run is active in this folder');
    await expect(error).toBeVisible(RUN_LIMIT);
    await select('bank');
    await workbench.clickInNotification(error, 'Stop');
    await expect(folderLine('shop', '1 of 2 done')).toBeVisible(RUN_LIMIT);
    await select('shop');
    await workbench.runCommand('Ralph: Start Fresh Run');
    await expect(folderLine('shop', '1 of 2 done, running')).toBeVisible(RUN_LIMIT);
  });

  await test.step('a folder that is removed during its run leaves nothing behind, and comes back with it', async () => {
    const loops = async () =>
      (await events('shop')).filter(({ type }) => /^run\.(started|resumed|ended)$/.test(type));
    // A loop counts as running before its first event is written.
    await expect
      .poll(async () => (await loops()).map(({ type }) => type), RUN_LIMIT)
      .toEqual(['run.started', 'run.ended', 'run.resumed']);
    const before = await loops();
    await select('shop');
    await expect.poll(() => workbench.terminalText(), RUN_LIMIT).toContain('Resuming run');
    await terminalShows('shop', 'bank');
    await setFolders('bank');
    const told = workbench.notification(
      'The folder api (shop) is not in this window any more. Its run continues',
    );
    await expect(told).toBeVisible(RUN_LIMIT);
    await expect(workbench.treeItem(/^B-1 /)).toBeVisible(RUN_LIMIT);
    await expect(workbench.treeItem(/^S-2 /)).toHaveCount(0);
    await expect(page.locator('.part.panel .terminal-wrapper')).toHaveCount(0);
    await workbench.screenshot('multiRoot-4-removed');
    await expect(workbench.notification(/Add it again/)).toHaveCount(0);
    await setFolders('bank', 'shop');
    await expect(folderLine('shop', '1 of 2 done, running')).toBeVisible(RUN_LIMIT);
    expect(await loops()).toEqual(before);
    await select('shop');
    await workbench.runCommand('Ralph: Show Terminal');
    await terminalShows('shop', 'bank');
  });

  await test.step('an alert names its folder and applies only there', async () => {
    await select('bank');
    await release('S-2');
    const done = workbench.notification('api (shop): Ralph is done: 2 of 2 stories.');
    await expect(done).toBeVisible(RUN_LIMIT);
    await expect(folderLine('shop', '2 of 2 done')).toBeVisible();
    await expect(folderLine('bank', '0 of 2 done')).toBeVisible();
    await workbench.screenshot('multiRoot-3-done');
    await workbench.clickInNotification(done, 'Review Changes');
    await expect
      .poll(() => workbench.diffEditorFileNames(), RUN_LIMIT)
      .toEqual(expect.arrayContaining(['S-1.txt', 'S-2.txt']));
    const landed = await events('bank');
    expect(landed.some(({ type }) => type === 'landing.landed')).toBe(false);
  });
  // VS Code writes what an alert says to the console, too.
  expect(workbench.consoleErrors().filter(text => !/ asks: |^A run is active/.test(text))).toEqual(
    [],
  );
});
