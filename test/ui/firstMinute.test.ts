import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { cleanEnv, type TempDir } from '../support/cleanEnv.ts';
import { endRuns } from '../support/journals.ts';
import { sampleProject } from '../support/sampleProject.ts';
import { expect, oneWindow, test } from '../support/story.ts';
import { inAll, variants } from '../support/variants.ts';
import { Workbench, type WorkbenchOptions } from '../support/workbench.ts';

const repoRoot = path.resolve(import.meta.dirname, '..', '..');

let temp: TempDir;
let home: string;
let workspace: string;
const prdFile = () => path.join(workspace, '.omc', 'prd.json');

test.beforeEach(async () => {
  ({ temp, home, workspace } = await sampleProject('ralph-fresh-first-'));
});
test.afterEach(async () => {
  // A test that failed in the middle must not leave its run behind.
  await endRuns(workspace);
  await temp.remove();
});

function open(options: Partial<WorkbenchOptions> = {}): Promise<Workbench> {
  return Workbench.open({
    workspace,
    env: cleanEnv({ home }),
    ...options,
  });
}

/** A program that answers `--version` as Claude Code does. */
async function fakeClaude(): Promise<string> {
  const file = path.join(temp.path, 'claude');
  await writeFile(file, '#!/bin/sh\necho "2.9.9 (Claude Code)"\n');
  await chmod(file, 0o755);
  return file;
}

/** The sample chooses the demo agent; here Claude Code is to work. */
async function chooseClaude(): Promise<void> {
  await writeFile(path.join(workspace, '.vscode', 'settings.json'), '{}\n');
}

test('the walkthrough leads from Claude Code to checks, and ticks its steps', {
  tag: '@oldest',
}, async () => {
  await chooseClaude();
  const claudePath = await fakeClaude();
  await using workbench = await open({ settings: { 'ralphFresh.claudePath': claudePath } });
  const { page } = workbench;
  await workbench.runCommand('Ralph: Open the Walkthrough');
  const step = (name: string) => page.locator('.getting-started-step', { hasText: name });
  await expect(step('Find Claude Code')).toBeVisible();
  await expect(page.locator('.getting-started-step')).toHaveCount(5);
  const done = (name: string) =>
    step(name).locator('.codicon-getting-started-step-checked.complete');
  await expect(done('Find Claude Code')).toHaveCount(0);

  await step('Find Claude Code').getByRole('button', { name: 'Find Claude Code' }).click();
  const found = workbench.notification('Claude Code 2.9.9 was found');
  await expect(found).toContainText('The account that is logged in with Claude Code pays.');
  await expect(done('Find Claude Code')).toHaveCount(1);
  await workbench.screenshot('walkthrough-1-claude');

  await workbench.runCommand('Ralph: Choose Checks');
  const picks = page.locator('.quick-input-widget');
  await expect(picks.getByText('npm test', { exact: true })).toBeVisible();
  await workbench.screenshot('walkthrough-choose-checks');
  await picks.getByText('npm test', { exact: true }).click();
  await page.keyboard.press('Enter');
  await expect(workbench.notification('1 check must pass')).toBeVisible();
  const config = await readFile(path.join(workspace, '.omc', 'config.json'), 'utf8');
  expect(JSON.parse(config)).toEqual({ verify: ['npm test'] });
  await step('Choose the checks').click();
  await expect(done('Choose the checks')).toHaveCount(1);
  expect(workbench.consoleErrors()).toEqual([]);
});

inAll(test)('the walkthrough ticks steps that were already done when it opened', async () => {
  await using workbench = await open();
  const view = await workbench.view('Ralph');
  await expect(view.getByText('0 of 5 done')).toBeVisible();
  await workbench.runCommand('Ralph: Open the Walkthrough');
  const step = (name: string) => workbench.page.locator('.getting-started-step', { hasText: name });
  const done = (name: string) =>
    step(name).locator('.codicon-getting-started-step-checked.complete');
  await expect(done('Get a list of stories')).toHaveCount(1);
  await step('Find Claude Code').click();
  await step('Find Claude Code').getByRole('button', { name: 'Find Claude Code' }).click();
  await expect(workbench.notification('The agent "demo" does the work.')).toBeVisible();
  await expect(done('Find Claude Code')).toHaveCount(1);
  await expect(done('Choose the checks')).toHaveCount(0);
  await workbench.screenshot('walkthrough-ticks');
});

test.describe('the walkthrough', () => {
  const walkthrough = oneWindow(async project => {
    const sample = await sampleProject('ralph-fresh-walkthrough-');
    project.use(sample.temp);
    const workbench = await Workbench.open({
      workspace: sample.workspace,
      env: cleanEnv({ home: sample.home }),
      theme: 'light',
    });
    // A narrow window shows no pictures.
    await workbench.page.setViewportSize({ width: 1600, height: 900 });
    return workbench;
  });

  for (const theme of variants(['light', 'dark', 'hc-dark', 'hc-light'] as const, 1)) {
    test(`the walkthrough's pictures in the theme ${theme}`, async () => {
      const workbench = walkthrough();
      await workbench.closeEditors();
      await workbench.setTheme(theme);
      await workbench.runCommand('Ralph: Open the Walkthrough');
      const steps = workbench.page.locator('.getting-started-step');
      for (const [index, name] of ['Find', 'Get a list', 'Choose', 'Start', 'Review'].entries()) {
        await steps.filter({ hasText: new RegExp(`^\\s*${name}`) }).click();
        const picture = workbench.webview().locator('svg');
        await expect(picture).toBeVisible();
        await workbench.screenshot(`walkthrough-${theme}-${index + 1}`);
      }
      expect(workbench.consoleErrors()).toEqual([]);
    });
  }
});

test('everything that prevents a run is shown with the button that fixes it', {
  tag: '@oldest',
}, async () => {
  await chooseClaude();
  await using workbench = await open();
  const { page } = workbench;
  const view = await workbench.view('Ralph');

  await test.step('no Claude Code', async () => {
    const text = view.getByText('Claude Code was not found');
    await expect(text).toBeVisible();
    await workbench.screenshot('welcome-no-claude');
    await workbench.runCommand('Ralph: Start Fresh Run');
    const refused = workbench.notification('Claude Code was not found');
    await expect(refused.getByRole('button', { name: 'Find Claude Code' })).toBeVisible();
    expect(await runs()).toEqual([]);
    // It is installed where installers put it, and found there.
    const place = path.join(home, '.local', 'bin');
    await mkdir(place, { recursive: true });
    await cp(await fakeClaude(), path.join(place, 'claude'));
    await workbench.clickInNotification(refused, 'Find Claude Code');
    await expect(workbench.notification('Claude Code 2.9.9 was found')).toBeVisible();
    await expect(text).toBeHidden();
  });

  await test.step('a broken story file', async () => {
    const original = await readFile(prdFile(), 'utf8');
    await writeFile(prdFile(), original.replace('"US-002",', '"US-002"'));
    await expect(view.getByText('The story file cannot be used')).toBeVisible();
    await workbench.screenshot('welcome-broken');
    await view.getByRole('button', { name: 'Open the Story File' }).click();
    await expect(page.getByRole('tab', { name: /prd\.json/ })).toBeVisible();
  });

  await test.step('no story file', async () => {
    await rm(prdFile());
    await expect(view.getByText('There is no list of stories in this folder yet.')).toBeVisible();
    await expect(view.getByText('convert', { exact: true })).toBeVisible();
    await workbench.screenshot('welcome-none');
    await view.getByRole('button', { name: 'Create a Story File' }).click();
    await expect(workbench.treeItem(/^US-001 One small step/)).toBeVisible();
  });

  await test.step('no folder', async () => {
    const address = new URL(page.url());
    address.searchParams.delete('folder');
    address.searchParams.set('ew', 'true');
    await page.goto(address.href);
    await workbench.view('Ralph');
    await expect(view.getByText('Ralph works through a list of stories')).toBeVisible();
    await expect(view.getByRole('button', { name: 'Open Folder' })).toBeVisible();
    await workbench.screenshot('welcome-no-folder');
  });
  // VS Code repeats error messages there.
  const errors = workbench.consoleErrors();
  expect(errors.filter(text => !text.startsWith('Claude Code was not found'))).toEqual([]);
});

test('Restricted Mode offers trust, and no command starts or writes anything', async () => {
  const before = await filesOf(workspace);
  const serverDataDir = path.join(temp.path, 'server');
  const commands = await commandsOfManifest();
  const keys = await bindKeys(serverDataDir, commands);
  await using workbench = await open({ trusted: false, serverDataDir });
  const { page } = workbench;
  const view = await workbench.view('Ralph');
  await expect(workbench.treeItem(/^US-001/)).toBeVisible();
  await expect(view.getByText('nothing runs until you trust this folder')).toBeVisible();
  await workbench.screenshot('welcome-restricted');
  const hover = await workbench.hover(
    workbench.statusBarItem('Ralph 0/5'),
    'nothing runs until you trust this folder',
  );
  await expect(hover.getByRole('link', { name: 'Manage Workspace Trust' })).toBeVisible();
  await expect(hover).not.toContainText('Start Fresh Run');
  await page.screenshot({ path: 'test-results/screenshots/statusBar-restricted.png' });
  const offered = page.locator('.quick-input-widget .monaco-list-row');
  await workbench.clickUntil(workbench.statusBarItem('Ralph 0/5'), offered.first());
  await expect(offered.first()).toContainText('Manage Workspace Trust');
  await expect(offered.filter({ hasText: 'Start Fresh Run' })).toHaveCount(0);
  await page.keyboard.press('Escape');

  const refusals = workbench.notification('only in a trusted workspace');
  const first = commands.indexOf('ralphFresh.startRun');
  await press(workbench, keys[first]);
  await expect(refusals.first()).toBeVisible();
  for (const key of keys.slice(0, -1)) {
    await press(workbench, key);
    // Some ask for a story first.
    await page.keyboard.press('Escape');
  }
  // The last of them only show something: those before have run.
  await expect(async () => {
    await press(workbench, keys.at(-1));
    await expect(page.locator('.getting-started-step').first()).toBeVisible({ timeout: 5_000 });
  }).toPass({ timeout: 180_000 });
  expect(await runs()).toEqual([]);
  expect(await filesOf(workspace)).toEqual(before);

  await rm(prdFile());
  await expect(view.getByText('it waits until you trust the folder')).toBeVisible();
  await expect(view.getByRole('button', { name: 'Create a Story File' })).toBeHidden();
  await view.getByRole('button', { name: 'Manage Workspace Trust' }).click();
  await expect(page.locator('.workspace-trust-editor')).toBeVisible();
  await workbench.screenshot('welcome-untrusted');
});

/** A person's own edits of a data file, which need no trust. */
const OWN_EDITS = ['ralphFresh.tickStory', 'ralphFresh.untickStory'];
/** Those that open a page of their own, which then has the keys. */
const LAST = ['ralphFresh.showProgress', 'ralphFresh.openWalkthrough'];

async function commandsOfManifest(): Promise<string[]> {
  const manifest = JSON.parse(await readFile(path.join(repoRoot, 'package.json'), 'utf8'));
  const ids: string[] = manifest.contributes.commands.map(
    ({ command }: { command: string }) => command,
  );
  return [...ids.filter(id => ![...OWN_EDITS, ...LAST].includes(id)), ...LAST];
}

/** A key for each command, hidden ones too: those of the palette alone would prove little. */
async function bindKeys(serverDataDir: string, commands: readonly string[]): Promise<string[]> {
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
  const keys = commands.map(
    (_, index) =>
      `ctrl+alt+f${1 + Math.floor(index / letters.length)} ${letters[index % letters.length]}`,
  );
  const file = path.join(serverDataDir, 'data', 'User', 'keybindings.json');
  await mkdir(path.dirname(file), { recursive: true });
  const bindings = commands.map((command, index) => ({ key: keys[index], command }));
  await writeFile(file, JSON.stringify(bindings));
  return keys;
}

async function press(workbench: Workbench, chord = ''): Promise<void> {
  const [prefix = '', letter = ''] = chord.split(' ');
  await workbench.page.keyboard.press(
    prefix.replace('ctrl', 'Control').replace('alt', 'Alt').replace('f', 'F'),
  );
  await workbench.page.keyboard.press(letter);
}

async function runs(): Promise<string[]> {
  return readdir(path.join(workspace, '.omc', 'state', 'runs')).catch(() => []);
}

/** Every file of a folder with its content, those of git too, but for its index, which reading refreshes. */
async function filesOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter(entry => entry.isFile())
    .map(one => path.join(one.parentPath, one.name));
  const contents = await Promise.all(
    files.map(async file => [path.relative(folder, file), await readFile(file, 'base64')] as const),
  );
  return Object.fromEntries(contents.filter(([file]) => file !== path.join('.git', 'index')));
}

test('the extension appears in German and Japanese', async () => {
  const sound = await readFile(prdFile());
  for (const { count, language, problem, start, title } of [
    {
      language: 'de',
      title: 'Storys',
      count: '0 von 5 erledigt',
      problem: 'Das JSON endet, bevor [ aus Zeile 1 geschlossen ist',
      start: 'Ralph: Frischen Lauf starten',
    },
    {
      language: 'ja',
      title: 'ストーリー',
      count: '5 件中 0 件完了',
      problem: '1 行目の [ が閉じる前に JSON が終わっています',
      start: 'Ralph: 新しい実行を開始',
    },
  ] as const) {
    await writeFile(prdFile(), sound);
    await using workbench = await open({ language });
    const view = await workbench.view('Ralph');
    // One is of the manifest, the other of the code.
    await expect(view.getByText(title, { exact: true })).toBeVisible();
    await expect(view.getByText(count)).toBeVisible();
    await workbench.screenshot(`language-${language}`);
    // What the loop and the reader of story files say is English where it is made.
    await writeFile(prdFile(), '{"userStories": [');
    // Above the stories, and in the line of the file.
    await expect(view.getByText(problem).first()).toBeVisible();
    await workbench.runCommand(start);
    await expect(workbench.notification(problem)).toBeVisible();
    await workbench.screenshot(`language-${language}-problem`);
  }
});
