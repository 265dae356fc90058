import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Locator } from '@playwright/test';
import { pendingHints } from '../../src/orchestrator/workspace/pendingHints.ts';
import { newRunId, RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { cleanEnv, emptyRepo, gitRepo, tempDir } from '../support/cleanEnv.ts';
import { gitFolder } from '../support/gitFolder.ts';
import { endRuns, newestJournal } from '../support/journals.ts';
import { fakeAgent } from '../support/ralph.ts';
import { expect, oneWindow, test } from '../support/story.ts';
import { TYPED_INTO, Workbench } from '../support/workbench.ts';

const LINES = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`);
const HOSTILE =
  '<img src=x onerror="document.title=1"> $(alert) [x](command:workbench.action.quit)';
const HOSTILE_FILE = '$(bell) [a](command:b) <i>.txt';
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let home: string;
let workspace: string;
let files: RunFiles;
let workbench: Workbench;

/** A window on a folder whose agents succeed. */
function windowWith(settings: Readonly<Record<string, unknown>>): () => Workbench {
  return oneWindow(async kept => {
    const temp = kept.use(await tempDir('ralph-fresh-diffs-'));
    workspace = path.join(temp.path, 'todo-api');
    files = new RunFiles(workspace);
    home = path.join(temp.path, 'home');
    const notes = path.join(temp.path, 'notes');
    await Promise.all([home, notes].map(dir => mkdir(dir)));
    await gitRepo(workspace);
    return Workbench.open({
      workspace,
      env: cleanEnv({ home, extra: { FAKE_AGENT_NOTES: notes } }),
      settings: { 'ralphFresh.claudePath': fakeAgent('succeeds'), ...settings },
    });
  });
}

const { git, read, write } = gitFolder(() => ({
  folder: workspace,
  home,
}));

async function commit(subject: string): Promise<string> {
  await git('add', '--all');
  await git('commit', '--quiet', '--message', subject);
  return git('rev-parse', 'HEAD');
}

const prd = (isDone: boolean) =>
  `${JSON.stringify(
    {
      project: 'todo',
      userStories: [
        { id: 'US-001', title: `Add todos ${HOSTILE}`, passes: isDone },
        { id: 'US-002', title: 'List todos', passes: false },
      ],
    },
    null,
    2,
  )}\n`;

/**
 * A run of two iterations on US-001, with a person's commit between them.
 * @param last a story that a third iteration worked on
 * @returns the run's first commit
 */
async function recordedRun(last?: string): Promise<string> {
  await write('.omc/prd.json', prd(false));
  await write('src/app.mjs', `${LINES.join('\n')}\n`);
  await write('docs/old.md', `${LINES.map(line => `# ${line}`).join('\n')}\n`);
  await write('removed.txt', 'removed\n');
  await write('logo.png', PIXEL);
  const start = await gitRepo(workspace);
  await write('src/app.mjs', `${LINES.join('\n')}\nmore\n`);
  await write('src/new.mjs', 'export const first = 1;\n');
  await rename(path.join(workspace, 'docs/old.md'), path.join(workspace, 'docs/new.md'));
  await rm(path.join(workspace, 'removed.txt'));
  await write('logo.png', Buffer.concat([PIXEL, Buffer.from([0, 1, 2])]));
  const one = await commit(`feat: ${HOSTILE} \u001b[31mred`);
  await write('person.txt', 'A person was here.\n');
  await commit('A person');
  await write('src/new.mjs', 'export const first = 1;\nexport const second = 2;\n');
  await write(HOSTILE_FILE, 'hostile\n');
  await write('.omc/prd.json', prd(true));
  const two = await commit('feat: the second half');
  const third = async (storyId: string) => {
    await write('src/new.mjs', `${await read('src/new.mjs')}export const third = 3;\n`);
    return { storyId, hash: await commit(`feat: ${storyId}`) };
  };
  const three = last === undefined ? undefined : await third(last);
  const runId = newRunId();
  // Put in place as a whole: the window looks once more only when something is added.
  const made = new RunFiles(path.join(home, 'made'));
  await mkdir(made.runDir(runId), { recursive: true });
  await writeFile(path.join(made.stateDir, '.gitignore'), '*\n');
  const stories = { done: 0, total: 2 };
  const iteration = (
    number: number,
    hash: string,
    subject: string,
    outcome: string,
    storyId = 'US-001',
  ) => [
    {
      type: 'iteration.started',
      iteration: number,
      maxIterations: 5,
      ...{ storyId, storyTitle: `Add todos ${HOSTILE}`, stories },
      ...{ promptBytes: 1, handoffBytes: 1, stuckFor: 0 },
    },
    { type: 'commit.recorded', iteration: number, storyId, hash, subject },
    ...(outcome === 'storyDone'
      ? [{ type: 'story.changed', storyId: 'US-001', done: true, by: 'agent', iteration: number }]
      : []),
    {
      type: 'iteration.ended',
      iteration: number,
      storyId,
      outcome,
      durationMs: 1_000,
      commits: 1,
      stories,
    },
  ];
  const events = [
    {
      type: 'run.started',
      runId,
      ...{ version: '0.2.0', pid: 1, agent: 'claude', mode: 'stories', task: '' },
      ...{ maxIterations: 5, stuckThreshold: 3, storyFile: '.omc/prd.json', stories },
      startCommit: start,
    },
    ...iteration(1, one, `feat: ${HOSTILE}`, 'progress'),
    ...iteration(2, two, 'feat: the second half', 'storyDone'),
    ...(three === undefined
      ? []
      : iteration(3, three.hash, `feat: ${three.storyId}`, 'progress', three.storyId)),
    { type: 'run.ended', outcome: 'maxIterations', exitCode: 1, stories, iterations: 2 },
  ].map((event, i) => ({ seq: i + 1, at: new Date().toISOString(), ...event }));
  const journal = events.map(event => `${JSON.stringify(event)}\n`).join('');
  await writeFile(made.journalFile(runId), journal);
  await rename(made.stateDir, files.stateDir);
  return one;
}

const tab = (workbench: Workbench): Locator =>
  workbench.page.locator('.editor-group-container.active .tab.active');

/** Until the dialog is there: a menu ignores what comes in the moment in which it opens. */
async function askToRevert(workbench: Workbench): Promise<void> {
  await expect(async () => {
    await workbench.treeItem(/^US-001/).click({ button: 'right' });
    await workbench.page.getByRole('menuitem', { name: 'Revert Story…' }).hover();
    await workbench.page.keyboard.press('Enter');
    await expect(workbench.dialog).toBeVisible({ timeout: 5_000 });
  }).toPass({ timeout: 180_000 });
}

/** Chooses the first entry that has these words. */
async function pick(workbench: Workbench, words: string): Promise<void> {
  const row = workbench.page.locator('.quick-input-widget .monaco-list-row', { hasText: words });
  await row.first().click();
}

/** Writes a note on the line that has these words. */
async function addNote({ page }: Workbench, words: string, text: string): Promise<void> {
  const line = page.locator('.multiDiffEntry .modified .view-line', { hasText: words });
  const plus = page
    .locator('.multiDiffEntry .comment-range-glyph.line-hover')
    .filter({ visible: true })
    .first();
  const note = page.locator('.review-widget');
  // The lines that can be commented become known some time after they are shown.
  await expect(async () => {
    await page.mouse.move(640, 2);
    await line.hover();
    await expect(plus).toBeVisible({ timeout: 1_000 });
  }).toPass({ timeout: 180_000 });
  await plus.click();
  await note.locator('.monaco-editor').last().click();
  await page.keyboard.type(text);
  const tell = note.getByRole('button', { name: 'Tell the Next Agent' });
  const taken = note.filter({ hasText: 'Goes to the next agent' });
  // VS Code enables it some time after the text was typed; Playwright does not know how it looks when disabled.
  await expect(async () => {
    if ((await taken.count()) === 0) {
      await expect(tell).not.toHaveClass(/disabled/, { timeout: 5_000 });
      await tell.click({ timeout: 5_000 });
    }
    await expect(taken).toHaveCount(1, { timeout: 10_000 });
  }).toPass({ timeout: 180_000 });
}

/** Remembers whether a mouse was used in the window. */
async function withoutMouse({ page }: Workbench): Promise<() => Promise<void>> {
  await page.evaluate(() => {
    document.body.removeAttribute('data-mouse');
    const note = () => document.body.setAttribute('data-mouse', '');
    document.addEventListener('pointerdown', note, true);
  });
  return () => expect(page.locator('body[data-mouse]')).toHaveCount(0);
}

/** Runs a command from the palette without the mouse. */
async function typeCommand({ page }: Workbench, title: string): Promise<void> {
  const found = page.locator('.quick-input-widget:visible .monaco-list-row.focused');
  await expect(async () => {
    await page.keyboard.press('F1');
    await page.keyboard.type(title);
    await expect(found).toContainText(title, { timeout: 5_000 });
  }).toPass({ timeout: 180_000 });
  await page.keyboard.press('Enter');
  await expect(found.filter({ hasText: title })).toHaveCount(0);
}

const focusedRow = ({ page }: Workbench, words: string): Locator =>
  page.locator('.sidebar .monaco-list:focus .monaco-list-row.focused', { hasText: words });

/** A view that is still being drawn does not take the focus. */
async function focusFirstRow(workbench: Workbench, view: string, words: string): Promise<void> {
  await expect(async () => {
    await typeCommand(workbench, `Ralph: Focus on ${view} View`);
    await workbench.page.keyboard.press('Home');
    await expect(focusedRow(workbench, words)).toHaveCount(1, { timeout: 3_000 });
  }).toPass({ timeout: 180_000 });
}

/** Presses a key until something has the focus. */
async function pressUntil(
  { page }: Workbench,
  key: string,
  target: Locator,
  timeout = 180_000,
): Promise<void> {
  await expect(async () => {
    if ((await target.count()) === 0) {
      await page.keyboard.press(key);
    }
    await expect(target).toHaveCount(1, { timeout: 300 });
  }).toPass({ timeout, intervals: [0] });
}

/** Leaves nothing of the last story to this one. */
async function startAgain(): Promise<void> {
  const view = await workbench.view('Ralph');
  await workbench.tidy();
  await endRuns(workspace);
  await emptyRepo(workspace);
  await expect(view.getByText('There is no list of stories in this folder yet.')).toBeVisible();
}

test.describe('without the git extension', () => {
  const withoutGit = windowWith({ 'git.enabled': false });
  test.beforeEach(() => {
    workbench = withoutGit();
  });

  test('shows the changes of a commit, an iteration, a story and the run without the git extension', async () => {
    const one = await recordedRun();
    await workbench.view('Ralph');
    await workbench.expand(/^US-001/);
    const opened = tab(workbench).filter({ hasText: `${one.slice(0, 7)} feat: <img src=x` });
    await workbench.clickUntil(workbench.treeItem(/feat: <img/).first(), opened);
    await expect(tab(workbench)).toContainText('$(alert)');
    expect([...(await workbench.diffEditorFileNames())].sort()).toEqual([
      'docs/new.md',
      'logo.png',
      'removed.txt',
      'src/app.mjs',
      'src/new.mjs',
    ]);
    await workbench.screenshot('diff-commit');

    await workbench.runCommand('Ralph: Open Iteration Changes');
    await pick(workbench, 'Iteration 2');
    await expect(tab(workbench)).toContainText('Iteration 2 · 1 commit');
    expect([...(await workbench.diffEditorFileNames())].sort()).toEqual([
      HOSTILE_FILE,
      '.omc/prd.json',
      'src/new.mjs',
    ]);

    await workbench.runCommand('Ralph: Open Story Changes');
    await workbench.screenshot('diff-choose-story');
    await pick(workbench, 'US-001');
    await expect(tab(workbench)).toContainText('US-001 · 2 commits (7 files)');
    expect([...(await workbench.diffEditorFileNames())].sort()).toEqual([
      HOSTILE_FILE,
      '.omc/prd.json',
      'docs/new.md',
      'logo.png',
      'removed.txt',
      'src/app.mjs',
      'src/new.mjs',
    ]);
    await workbench.screenshot('diff-story');
    await workbench.runCommand("Ralph: Review the Run's Changes");
    await expect(tab(workbench)).toContainText(/Run of .* · 2 commits \(7 files\)/);
    expect(workbench.consoleErrors()).toEqual([]);
  });
});

/** A recorded run, as soon as the window shows the story with its commits. */
async function shownRun(last?: string): Promise<void> {
  await recordedRun(last);
  await expect(workbench.treeItem(/^US-001/)).toHaveAttribute('aria-expanded', 'false');
}

test.describe('with the git extension', () => {
  const withGit = windowWith({});
  test.beforeEach(async () => {
    workbench = withGit();
    await startAgain();
  });
  test.afterEach(() => endRuns(workspace));

  test('a review note is written, changed and deleted with the keyboard only', async () => {
    await shownRun();
    await workbench.view('Explorer');
    const { page } = workbench;
    const { keyboard } = page;
    const expectNoMouse = await withoutMouse(workbench);
    const note = page.locator('.review-widget');

    await expect(async () => {
      // Again from the start: a view that is drawn anew may lose a key, and with it the focus.
      await focusFirstRow(workbench, 'Stories', 'US-001');
      await keyboard.press('ArrowRight');
      await expect(workbench.treeItem(/^Commit .*feat: <img/)).toBeVisible({ timeout: 20_000 });
      await pressUntil(workbench, 'ArrowDown', focusedRow(workbench, 'feat: <img'), 20_000);
      await keyboard.press('Enter');
      const typedInto = page.locator(`.multiDiffEntry .modified ${TYPED_INTO}`);
      await expect(typedInto).toHaveCount(1, { timeout: 40_000 });
    }).toPass({ timeout: 300_000 });
    const cursor = workbench.statusBarItem(/^Ln (?!1,)\d+, Col 1/);
    await pressUntil(workbench, 'ArrowDown', cursor);

    await test.step('with the command', async () => {
      await expect(async () => {
        // A second time would be a second note.
        if ((await note.count()) === 0) {
          await typeCommand(workbench, 'Ralph: Tell the Next Agent About This Line…');
        }
        await expect(note.locator(TYPED_INTO)).toHaveCount(1, { timeout: 5_000 });
      }).toPass({ timeout: 180_000 });
      await keyboard.type('Say it shorter.');
      // What was typed reaches the button some time later.
      await expect(note.getByRole('button', { name: 'Tell the Next Agent' })).not.toHaveClass(
        /disabled/,
      );
      await keyboard.press('Control+Enter');
      await expect(note).toContainText('Goes to the next agent on US-001');
      expect((await pendingHints(files)).map(({ text }) => text)).toEqual([
        expect.stringMatching(/^Review note on docs\/new\.md:(?!1 )\d+ .*: Say it shorter\./),
      ]);
    });
    await test.step('changed', async () => {
      await typeCommand(workbench, 'Ralph: Edit Note');
      await expect(note.locator(`.edit-container ${TYPED_INTO}`)).toHaveCount(1);
      await keyboard.press('Control+a');
      await keyboard.type('Name it better.');
      await keyboard.press('Control+Enter');
      await expect
        .poll(async () => (await pendingHints(files))[0]?.text)
        .toContain('Name it better.');
      await workbench.screenshot('review-note-keys');
    });
    await test.step('deleted', async () => {
      await typeCommand(workbench, 'Ralph: Delete Note');
      await expect(note).toHaveCount(0);
      await expect.poll(() => pendingHints(files)).toEqual([]);
    });
    await test.step("with VS Code's key for comments", async () => {
      await typeCommand(workbench, 'View: Focus First Editor Group');
      await keyboard.press('Control+k');
      await keyboard.press('Control+Alt+c');
      await expect(note.locator(TYPED_INTO)).toHaveCount(1);
    });
    await expectNoMouse();
  });

  test('a note on the changes of a run goes to the story that wrote the line', async () => {
    await shownRun('US-002');
    await workbench.runCommand("Ralph: Review the Run's Changes");
    await expect(tab(workbench)).toContainText(/Run of .* · 3 commits/);
    await workbench.inHighWindow(() => addNote(workbench, 'second = 2', 'Two.'));
    // VS Code may have hidden it by now.
    await expect
      .poll(async () => (await workbench.notifications()).map(({ message }) => message).join('\n'))
      .toContain('US-001 is done, so no agent works on it.');
    const [hint] = await pendingHints(files);
    expect(hint).toMatchObject({ storyId: 'US-001' });
    expect(hint?.text).toContain('    export const second = 2;');

    // It stands there again when the window comes back, before any diff is opened.
    await workbench.reload();
    await workbench.runCommand('Comments: Focus on Comments View');
    await expect(workbench.page.locator('.comments-panel')).toContainText('Two.');
    expect(workbench.consoleErrors()).toEqual([]);
  });

  test('an iteration and a story are reverted with the keyboard only', async () => {
    await shownRun();
    await workbench.view('Explorer');
    const { dialog, page } = workbench;
    const { keyboard } = page;
    const expectNoMouse = await withoutMouse(workbench);
    const choose = async (entry: string) => {
      const item = page.locator('.monaco-menu .action-item.focused', { hasText: entry });
      await expect(async () => {
        await keyboard.press('Escape');
        await keyboard.press('Home');
        await keyboard.press('Shift+F10');
        await expect(page.locator('.monaco-menu')).toBeVisible({ timeout: 3_000 });
        for (let tries = 0; tries < 20 && (await item.count()) === 0; tries += 1) {
          await keyboard.press('ArrowUp');
        }
        await expect(item).toHaveCount(1, { timeout: 1_000 });
        await keyboard.press('Enter');
        await expect(dialog).toBeVisible({ timeout: 5_000 });
      }).toPass({ timeout: 180_000 });
    };
    const before = await git('rev-parse', 'HEAD');

    await focusFirstRow(workbench, 'Iterations', '#2 US-001');
    await choose('Revert Iteration…');
    await expect(dialog).toContainText('Revert Iteration 2?');
    await keyboard.press('Escape');
    await expect(dialog).toHaveCount(0);
    expect(await git('rev-parse', 'HEAD')).toBe(before);
    await choose('Revert Iteration…');
    await keyboard.press('Enter');
    await expect(workbench.notification('is reverted by commit')).toBeVisible();
    expect(await git('rev-parse', 'HEAD^')).toBe(before);

    await focusFirstRow(workbench, 'Stories', 'US-001');
    await choose('Revert Story…');
    await expect(dialog).toContainText('Revert US-001 Add todos');
    await keyboard.press('Enter');
    await expect(workbench.notification('is reverted by commit')).toHaveCount(2);
    expect(await git('rev-parse', 'HEAD~2')).toBe(before);
    expect((await git('ls-files')).split('\n')).not.toContain('src/new.mjs');
    await expectNoMouse();
    expect(workbench.consoleErrors()).toEqual([]);
  });

  test('a story is reverted by one commit, after one question', { tag: '@oldest' }, async () => {
    await shownRun();
    await write('untracked.txt', 'mine\n');
    await workbench.setTheme('light');
    await askToRevert(workbench);
    const { dialog } = workbench;
    await expect(dialog).toContainText('Revert US-001 Add todos <img src=x');
    await expect(dialog).toContainText('One new commit reverts 2 commits, in 7 files');
    await expect(dialog).toContainText('US-001 is set to not done in prd.json');
    await expect(dialog.locator('a[href], img')).toHaveCount(0);
    await workbench.screenshot('revert-story');
    const before = await git('rev-parse', 'HEAD');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await git('rev-parse', 'HEAD')).toBe(before);

    await askToRevert(workbench);
    await dialog.getByRole('button', { name: 'Revert 2 Commits' }).click();
    await expect(workbench.notification('is reverted by commit')).toBeVisible();
    expect(await git('rev-parse', 'HEAD^')).toBe(before);
    expect(await git('log', '-1', '--format=%s')).toMatch(
      /^Revert US-001: Add todos .*\(2 commits\)$/,
    );
    expect(await git('status', '--porcelain')).toBe('?? untracked.txt');
    const files = (await git('ls-files')).split('\n').sort();
    expect(files).toEqual([
      '.omc/prd.json',
      'docs/old.md',
      'logo.png',
      'person.txt',
      'removed.txt',
      'src/app.mjs',
    ]);
    expect(await readFile(path.join(workspace, '.omc/prd.json'), 'utf8')).toBe(prd(false));
    expect(await readFile(path.join(workspace, 'logo.png'))).toEqual(PIXEL);
    await expect(workbench.treeItem(/^US-001/).getByRole('checkbox')).toHaveAttribute(
      'aria-checked',
      'false',
    );
    const [ticked] = (await newestJournal(workspace)).filter(({ type }) => type === 'story.ticked');
    expect(ticked).toMatchObject({ storyId: 'US-001', done: false });
    await workbench.clickInNotification(
      workbench.notification('is reverted by commit'),
      'Open Changes',
    );
    await expect(tab(workbench)).toContainText('Revert US-001');
    await workbench.screenshot('revert-story-done');
    expect(workbench.consoleErrors()).toEqual([]);
  });

  test('review notes reach the next agent on that story', async () => {
    await shownRun();
    const { page } = workbench;
    const openCommit = async () => {
      await workbench.view('Ralph');
      await workbench.expand(/^US-001/);
      await workbench
        .treeItem(/feat: the second half/)
        .first()
        .click();
    };
    await openCommit();
    const note = page.locator('.review-widget');
    await addNote(workbench, 'second = 2', 'Say it with a [word](command:x), not a **number**.');
    await expect(note).toContainText('Goes to the next agent on US-001');
    await expect(note).toContainText('[word](command:x), not a **number**');
    await workbench.screenshot('review-note');
    const [hint] = await pendingHints(files);
    expect(hint).toMatchObject({ storyId: 'US-001' });
    expect(hint?.text).toMatch(
      /^Review note on src\/new\.mjs:2 \(commit [0-9a-f]{7}, US-001\): Say it with a \[word\]/,
    );
    expect(hint?.text).toContain('    export const second = 2;');

    const reopen = workbench.notification('US-001 is done, so no agent works on it.');
    await workbench.clickInNotification(reopen, 'Set to Not Done');
    await expect(workbench.checkbox(/^US-001/)).toHaveAttribute('aria-checked', 'false');

    // It is there again in the next window, and can still be changed.
    await workbench.reload();
    await openCommit();
    await expect(note).toContainText('Goes to the next agent on US-001');
    await workbench.scrollTo(note);
    await note.hover();
    await note.getByRole('button', { name: 'Edit Note' }).click();
    await note.locator('.edit-container .monaco-editor').filter({ visible: true }).first().click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('Name it better.');
    await note.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(async () => (await pendingHints(files))[0]?.text)
      .toContain('Name it better.');
    // The note takes the focus once more when it is drawn anew, which would close the palette.
    await expect(note.getByRole('button', { name: 'Save' })).toHaveCount(0);

    await workbench.runCommand('Ralph: Start Fresh Run');
    await expect(note).toContainText('Delivered in iteration 1');
    await expect(note.getByRole('button', { name: 'Edit Note' })).toHaveCount(0);
    await workbench.screenshot('review-note-told');
    const [newest = ''] = (await readdir(files.runsDir)).sort().reverse();
    const prompt = await readFile(path.join(files.iterationDir(newest, 1), 'prompt.md'), 'utf8');
    expect(prompt).toContain('Review note on src/new.mjs:2');
    expect(prompt).toContain('Name it better.');
    expect(prompt).not.toContain('Say it with');
    await expect
      .poll(async () => (await newestJournal(workspace)).some(({ type }) => type === 'run.ended'))
      .toBe(true);
    expect(existsSync(files.hintsFile)).toBe(false);
  });
});
