import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { cleanEnv, gitRepo, tempDir } from '../support/cleanEnv.ts';
import { endRuns, isRunning, newestJournal, pidsOf } from '../support/journals.ts';
import { fakeAgent } from '../support/ralph.ts';
import { expect, test } from '../support/story.ts';
import { Workbench } from '../support/workbench.ts';

/** It only ends a test that has failed. */
const RUN_LIMIT = { timeout: 180_000 };
/** The stories of each folder. Both folders have the same name. */
const STORIES = { bank: ['B-1', 'B-2'], shop: ['S-1', 'S-2'] } as const;
type Parent = keyof typeof STORIES;

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
      script[id] = [[{ text: `I look at ${id}.` }, { wait: id }, 'work']];
    }
  }
  await writeFile(path.join(notes, 'script.json'), JSON.stringify(script));
  const workspace = path.join(temp.path, 'all.code-workspace');
  const folders = Object.keys(STORIES).map(parent => ({ path: `${parent}/api` }));
  await writeFile(workspace, JSON.stringify({ folders }));
  return {
    window: {
      workspace,
      env: cleanEnv({ home, extra: { FAKE_AGENT_NOTES: notes } }),
      settings: { 'ralphFresh.claudePath': fakeAgent('scripted') },
    },
    release: (id: string) => writeFile(path.join(notes, id), ''),
    events: (parent: Parent) => newestJournal(path.join(temp.path, parent, 'api')),
  };
}

test('two folders of the same name, a run with lanes in each: nothing of one is taken for the other', async () => {
  await using kept = new AsyncDisposableStack();
  const { events, release, window } = await twoFolders(kept);
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

  await test.step('each is started where the last selection was, in a terminal with its name', async () => {
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
        workbench.treeItem(new RegExp(`^${id} Work of the ${parent}, lane \\d, `)),
      ).toBeVisible();
    }
    await workbench.screenshot('multiRoot-1-running');
  });

  await test.step('Show Terminal shows the one of the active folder', async () => {
    await select('bank');
    await workbench.runCommand('Ralph: Show Terminal');
    await terminalShows('bank', 'shop');
    await expect(terminalTab('bank')).toHaveCount(1);
  });

  await test.step('the page shows the folder that is chosen on it', async () => {
    await workbench.runCommand('Ralph: Show Progress');
    const progress = workbench.webview();
    const choice = progress.locator('.folder-choice select');
    await expect(choice.locator('option')).toHaveText(['api (bank)', 'api (shop)']);
    for (const parent of ['shop', 'bank'] as const) {
      await choice.selectOption({ label: `api (${parent})` });
      const atWorkNow = progress.locator('.lane-now .story-name');
      await expect(atWorkNow).toContainText([...STORIES[parent]]);
      await expect(atWorkNow).toHaveCount(STORIES[parent].length);
    }
    await workbench.screenshot('multiRoot-2-page');
  });

  await test.step('a closed terminal speaks of its own run, also when another folder is active', async () => {
    await select('shop');
    await workbench.runCommand('Terminal: Focus Terminal');
    await terminalShows('bank', 'shop');
    await workbench.runCommand('Terminal: Kill the Active Terminal Instance');
    const told = workbench.notification('The run in api (bank) continues without the terminal.');
    await expect(told).toBeVisible();
    await workbench.clickInNotification(told, 'Stop Run');
    await expect(folderLine('bank', '0 of 2 done')).toBeVisible(RUN_LIMIT);
    for (const pid of pidsOf(await events('bank'))) {
      await expect.poll(() => isRunning(pid)).toBe(false);
    }
    const [loop] = pidsOf(await events('shop'));
    expect(loop !== undefined && (await isRunning(loop))).toBe(true);
    await expect(folderLine('shop', '0 of 2 done, running')).toBeVisible();
  });

  await test.step('an alert names its folder, and lands nowhere else', async () => {
    await select('bank');
    await release('S-2');
    await release('S-1');
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
  expect(workbench.consoleErrors()).toEqual([]);
});
