import { randomBytes } from 'node:crypto';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Locator } from '@playwright/test';
import { filesIn, writeBacklog } from '../support/backlogFolder.ts';
import { cleanEnv, emptyRepo, gitRepo, tempDir } from '../support/cleanEnv.ts';
import { endRuns, newestJournal } from '../support/journals.ts';
import { expect, oneWindow, test } from '../support/story.ts';
import { variants } from '../support/variants.ts';
import { Workbench } from '../support/workbench.ts';

const repoRoot = path.resolve(import.meta.dirname, '..', '..');
const HOSTILE =
  '$(alert) [quit](command:workbench.action.quit) <img src=x onerror="document.title=1">';

interface Entry {
  readonly id: string;
  readonly [key: string]: unknown;
}

/** The window's folder, the one that its demo agent looks in for stories to wait at, and the home. */
let workspace: string;
let holds: string;
let home: string;

/** The settings and the environment of both windows. */
function open(file: string): Promise<Workbench> {
  return Workbench.open({
    workspace: file,
    env: cleanEnv({
      home,
      extra: { RALPH_FRESH_DEMO_HOLD: holds, RALPH_FRESH_DEMO_PACE_MS: '20' },
    }),
    // Claude Code is not looked for, so that nothing comes in above the list later.
    settings: { 'ralphFresh.agent': 'demo' },
  });
}

async function makeFolders(kept: AsyncDisposableStack): Promise<string> {
  const temp = kept.use(await tempDir('ralph-fresh-view-'));
  [home, holds] = [path.join(temp.path, 'home'), path.join(temp.path, 'holds')];
  await Promise.all([home, holds].map(dir => mkdir(dir)));
  workspace = await folder('shop', temp.path);
  return temp.path;
}

async function folder(name: string, parent: string): Promise<string> {
  const dir = path.join(parent, name);
  await mkdir(dir);
  await writeFile(path.join(dir, 'README.md'), `# ${name}\n`);
  await gitRepo(dir);
  return dir;
}

/** Shows the view, with no hover of its tab over the lines. */
async function showStories(workbench: Workbench): Promise<Locator> {
  const view = await workbench.view('Ralph');
  await workbench.page.mouse.move(640, 2);
  return view;
}

async function write(file: string, entries: readonly Entry[], dir = workspace): Promise<string> {
  const userStories = entries.map(entry => ({
    title: `Story ${entry.id}`,
    acceptanceCriteria: ['It works'],
    passes: false,
    ...entry,
  }));
  const text = `${JSON.stringify({ project: 'Shop', userStories }, null, 2)}\n`;
  await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
  await writeFile(path.join(dir, file), text);
  return text;
}

/** Makes the side bar so wide. */
async function narrow({ page }: Workbench, width: number): Promise<void> {
  const bar = page.locator('.part.sidebar');
  const box = await bar.boundingBox();
  if (box === null) {
    throw new Error('There is no side bar.');
  }
  await page.mouse.move(box.x + box.width, 400);
  await page.mouse.down();
  await page.mouse.move(box.x + width, 400, { steps: 5 });
  await page.mouse.up();
  await expect.poll(async () => Math.round((await bar.boundingBox())?.width ?? 0)).toBe(width);
}

/** A run that has ended, in which two iterations brought nothing but perhaps some commits. */
async function stuckRun(
  dir: string,
  storyId: string,
  storyFile: string,
  hashes: readonly string[] = [],
): Promise<void> {
  const count = { done: 0, total: 2 };
  const iterations = [1, 2].flatMap(iteration => [
    {
      type: 'iteration.started',
      iteration,
      maxIterations: 5,
      storyId,
      stories: count,
      promptBytes: 1,
      handoffBytes: 1,
      stuckFor: iteration - 1,
    },
    {
      type: 'iteration.ended',
      iteration,
      storyId,
      outcome: 'noProgress',
      durationMs: 1000,
      commits: 0,
      stories: count,
    },
  ]);
  // No two runs have the same id.
  const runId = `2026-01-02T03-04-05-006-${randomBytes(3).toString('hex')}`;
  const events = [
    {
      type: 'run.started',
      runId,
      version: '0.2.0',
      pid: 1,
      agent: 'claude',
      mode: 'stories',
      task: '',
      maxIterations: 5,
      stuckThreshold: 2,
      storyFile,
      stories: count,
    },
    ...iterations,
    ...hashes.map(hash => ({
      type: 'commit.recorded',
      iteration: 2,
      storyId,
      hash,
      subject: 'feat: it',
    })),
    { type: 'run.ended', outcome: 'stuck', exitCode: 3, iterations: 2, stories: count },
  ];
  const dirOfRun = path.join(dir, '.omc', 'state', 'runs', runId);
  await mkdir(dirOfRun, { recursive: true });
  await writeFile(
    path.join(dirOfRun, 'journal.jsonl'),
    events
      .map(
        (event, i) =>
          `${JSON.stringify({ seq: i + 1, at: '2026-01-02T03:04:05.006Z', ...event })}\n`,
      )
      .join(''),
  );
}

const SHOP: readonly Entry[] = [
  { id: 'US-001', epic: 'Checkout', title: 'Pay by card', priority: 1, passes: true },
  {
    id: 'US-002',
    epic: 'Checkout',
    title: 'Pay by invoice',
    priority: 2,
    acceptanceCriteria: ['The invoice has a number', { text: 'The sum is right', passes: true }],
  },
  { id: 'US-003', epic: 'Checkout', title: HOSTILE, priority: 3, acceptanceCriteria: [HOSTILE] },
  { id: 'US-004', epic: HOSTILE, title: 'Search by name', priority: 4, dependsOn: ['US-002'] },
  {
    id: 'US-005',
    epic: HOSTILE,
    title: 'Search by colour',
    priority: 5,
    model: 'opus[1m]',
    effort: 'high',
    maxTurns: 150,
  },
];

test.describe('in one folder', () => {
  const shop = oneWindow(async kept => {
    await makeFolders(kept);
    return open(workspace);
  });
  let workbench: Workbench;
  let view: Locator;

  test.beforeEach(async () => {
    workbench = shop();
    view = await showStories(workbench);
    await workbench.tidy();
    if (await view.getByText(/^Filter: /).isVisible()) {
      await workbench.runCommand('Ralph: Clear the Filter');
    }
    await endRuns(workspace);
    await emptyRepo(workspace);
    // What the last story has left is not taken for what this one shows.
    await expect(view.getByText('There is no list of stories in this folder yet.')).toBeVisible();
    await writeFile(path.join(workspace, 'README.md'), '# shop\n');
    await gitRepo(workspace);
  });
  test.afterEach(() => endRuns(workspace));

  // The other stories have the last of them.
  for (const theme of variants(['light', 'hc-dark', 'dark'] as const, 1, 2)) {
    test(`stories are grouped under epics, with criteria below them: ${theme}`, async () => {
      await write('prd.json', SHOP);
      await stuckRun(workspace, 'US-005', 'prd.json');
      await workbench.setTheme(theme);
      await expect(workbench.treeItem(/^Group Checkout, 1 of 3 done/)).toBeVisible();
      await expect(workbench.treeItem(`Group ${HOSTILE}, 0 of 2 done`)).toBeVisible();
      await expect(workbench.treeItem(/^US-001 Pay by card, done, priority 1/)).toBeVisible();
      await expect(workbench.treeItem(/^US-004.*waits for US-002, priority 4/)).toBeVisible();
      await expect(
        workbench.treeItem(/^US-005.*stuck, no progress for 2 iterations/),
      ).toBeVisible();
      await expect(workbench.activityTab('Ralph')).toHaveAccessibleName(/1 story needs you/);

      for (const id of ['US-002', 'US-003']) {
        await workbench.expand(new RegExp(`^${id}`));
      }
      await expect(workbench.treeItem(/^Criterion The invoice has a number$/)).toBeVisible();
      await expect(workbench.treeItem(/^Criterion The sum is right, done$/)).toBeVisible();
      await expect(workbench.treeItem(`Criterion ${HOSTILE}`)).toBeVisible();
      await expect(workbench.treeItem(HOSTILE).locator('a[href], img[src=x]')).toHaveCount(0);
      const hover = await workbench.hover(workbench.treeItem(/^US-004/), 'depends on US-002');
      await expect(hover.locator('a[data-href*="command:"]')).toHaveCount(0);
      await workbench.hover(
        workbench.treeItem(/^US-005/),
        'priority 5 · model opus[1m] · effort high · at most 150 turns',
      );
      await workbench.screenshot(`storiesView-epics-${theme}`);
      expect(workbench.consoleErrors()).toEqual([]);
    });
  }

  test('a story is moved with the mouse and with the keyboard', async () => {
    const file = path.join(workspace, 'prd.json');
    const text = await write(
      'prd.json',
      ['US-001', 'US-002', 'US-003'].map((id, i) => ({ id, priority: i + 1 })),
    );
    const ids = async () => {
      const names = await workbench.treeItem(/^US-/).evaluateAll(rows =>
        rows
          .map(row => ({ top: row.getBoundingClientRect().top, name: row.ariaLabel ?? '' }))
          .sort((a, b) => a.top - b.top)
          .map(({ name }) => name),
      );
      return names.map(name => name.slice(0, 6)).join(' ');
    };
    await expect.poll(ids).toBe('US-001 US-002 US-003');
    await workbench.treeItem(/^US-003/).dragTo(workbench.treeItem(/^US-001/));
    await expect.poll(ids).toBe('US-003 US-001 US-002');
    await expect(workbench.treeItem(/^US-003.*next/)).toBeVisible();
    expect(await readFile(file, 'utf8')).toBe(text.replace('"priority": 3', '"priority": 0'));

    await workbench.treeItem(/^US-003/).click();
    await workbench.page.keyboard.press('Alt+ArrowDown');
    await expect.poll(ids).toBe('US-001 US-003 US-002');
    await workbench.page.keyboard.press('Alt+ArrowDown');
    await expect.poll(ids).toBe('US-001 US-002 US-003');
    await workbench.page.keyboard.press('Alt+ArrowUp');
    await expect.poll(ids).toBe('US-001 US-003 US-002');
    expect(workbench.consoleErrors()).toEqual([]);
  });

  test('a filter hides other stories, says so, and is cleared with one click', async () => {
    await write('prd.json', SHOP);
    await expect(workbench.treeItem(/^US-004/)).toBeVisible();
    await workbench.runCommand('Ralph: Filter Stories…');
    const pick = workbench.page.locator('.quick-input-widget');
    await pick.getByRole('checkbox', { name: 'waiting,' }).click();
    await workbench.screenshot('storiesView-filter-pick');
    await pick.getByRole('button', { name: 'OK' }).click();
    await expect(view.getByText('Filter: waiting · 1 of 5 shown')).toBeVisible();
    await expect(workbench.treeItem(/^US-004/)).toBeVisible();
    await expect(workbench.treeItem(/^US-/)).toHaveCount(1);
    await workbench.screenshot('storiesView-filter');
    await workbench.treeItem(/^US-004/).hover();
    await view.getByRole('button', { name: 'Clear the Filter' }).click();
    await expect(workbench.treeItem(/^US-/)).toHaveCount(5);
    await expect(view.getByText('1 of 5 done', { exact: true })).toBeVisible();

    await workbench.typeIntoChoice(
      () => workbench.runCommand('Ralph: Filter Stories…'),
      'search colour',
    );
    await workbench.page.keyboard.press('Enter');
    await expect(view.getByText('Filter: “search colour” · 1 of 5 shown')).toBeVisible();
    await expect(workbench.treeItem(/^US-005/)).toBeVisible();
  });

  test('a filter survives a reload, and one button clears it if nothing matches', async () => {
    await write('prd.json', SHOP);
    const filterBy = async (words: string) => {
      await workbench.runCommand('Ralph: Filter Stories…');
      const pick = workbench.page.locator('.quick-input-widget');
      // The palette has none, which may still be there.
      await expect(pick.getByRole('checkbox').first()).toBeVisible();
      await pick.locator('input[type="text"]').fill(words);
      await workbench.page.keyboard.press('Enter');
    };
    await expect(workbench.treeItem(/^US-004/)).toBeVisible();
    await filterBy('search colour');
    await expect(workbench.treeItem(/^US-/)).toHaveCount(1);
    await workbench.kept(text => text.includes('search colour'));
    await workbench.reload();
    await showStories(workbench);
    await expect(view.getByText('Filter: “search colour” · 1 of 5 shown')).toBeVisible();
    await expect(workbench.treeItem(/^US-/)).toHaveCount(1);
    await view.getByText('Filter: “search colour”').hover();
    await expect(view.getByRole('button', { name: 'Clear the Filter' })).toBeVisible();

    await filterBy('nothing has this');
    await expect(view.getByText('No story matches the filter.')).toBeVisible();
    await workbench.screenshot('storiesView-filter-empty');
    await view.getByRole('button', { name: 'Clear the Filter' }).last().click();
    await expect(workbench.treeItem(/^US-/)).toHaveCount(5);
    await workbench.kept(text => !text.includes('nothing has this'));
    await workbench.reload();
    await showStories(workbench);
    await expect(workbench.treeItem(/^US-/)).toHaveCount(5);
  });

  test('changes and revert are offered only where a story has commits', async () => {
    await write('prd.json', [{ id: 'US-001' }, { id: 'US-002' }]);
    await stuckRun(workspace, 'US-002', 'prd.json', ['a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4e5f6a1b2']);
    const work = ['Open Story Changes', 'Revert Story…'];
    await expect(workbench.treeItem(/^US-002.*stuck/)).toBeVisible();
    expect(await workbench.menuEntries(/^US-002/)).toEqual(expect.arrayContaining(work));
    const without = await workbench.menuEntries(/^US-001/);
    expect(without).toContain('Run This Story');
    expect(without.filter(entry => work.includes(entry))).toEqual([]);
  });

  test('a person sees the next prompt of a story, and excludes a file from it', async () => {
    await write('prd.json', [{ id: 'US-001', title: 'Read me' }]);
    await expect(workbench.treeItem(/^US-001/)).toBeVisible();
    await workbench.chooseInMenu(/^US-001/, 'Show Next Prompt');
    const prompt = workbench.page.locator('.monaco-editor .view-lines').first();
    await expect(prompt).toContainText('The prompt of US-001 as iteration 1');
    await workbench.page.keyboard.press('Control+End');
    await workbench.screenshot('stories-next-prompt');
    const file = path.join(workspace, '.omc', 'context.json');
    await workbench.runCommand('Ralph: Open the Story File');
    await expect(prompt).toContainText('userStories');
    await workbench.runCommand('Ralph: Bar File from the Prompt of a Story…');
    await expect(
      workbench.page.getByPlaceholder('Whose prompt should not name prd.json?'),
    ).toBeVisible();
    await workbench.page.keyboard.press('Enter');
    await expect
      .poll(async () => JSON.parse(await readFile(file, 'utf8').catch(() => 'null')))
      .toEqual({ stories: { 'US-001': { pinned: [], barred: ['prd.json'] } } });
  });

  test('a person chooses one of several story files, and the window remembers it', async () => {
    await write('prd.json', [{ id: 'US-001', title: 'The usual list' }]);
    await write('packages/api/prd.json', [
      { id: 'API-1', title: 'The other list', passes: true },
      { id: 'API-2' },
    ]);
    await mkdir(path.join(workspace, 'tasks'));
    await writeFile(path.join(workspace, 'tasks', 'prd.json'), '{');
    await expect(workbench.treeItem(/^US-001 The usual list/)).toBeVisible();
    await workbench.runCommand('Ralph: Choose the Story File…');
    const rows = workbench.page.locator('.quick-input-widget .monaco-list-row');
    await expect(rows.filter({ hasText: 'prd.json' }).first()).toContainText(
      '0 of 1 done · shown now',
    );
    await expect(rows.filter({ hasText: 'tasks/prd.json' })).toContainText(
      'cannot be used, line 1',
    );
    await workbench.screenshot('storiesView-choose');
    await rows.filter({ hasText: 'packages/api/prd.json' }).click();
    await expect(workbench.treeItem(/^API-1 The other list, done/)).toBeVisible();
    await expect(view.getByText('packages/api/prd.json')).toBeVisible();
    await workbench.checkbox(/^API-2/).click();
    await expect
      .poll(() => readFile(path.join(workspace, 'packages/api/prd.json'), 'utf8'))
      .not.toContain('"passes": false');

    await workbench.kept(text => text.includes('packages/api/prd.json'));
    await workbench.reload();
    await showStories(workbench);
    await expect(workbench.treeItem(/^API-2.*done by hand/)).toBeVisible();
  });

  test('of two sources, a folder of tasks is chosen; a tick changes the file of its task', async () => {
    const backlog = path.join(workspace, 'backlog');
    const artifacts = path.join(workspace, '_bmad-output', 'implementation-artifacts');
    await mkdir(artifacts, { recursive: true });
    await writeFile(
      path.join(artifacts, 'sprint-status.yaml'),
      'development_status:\n  epic-1: backlog\n  1-1-log-in: ready-for-dev\n',
    );
    await writeBacklog(backlog, [
      { id: 'task-1', title: 'Data model', status: 'Done' },
      { id: 'task-2', title: 'Prices', dependencies: ['task-1'] },
    ]);
    await writeFile(
      path.join(artifacts, '1-1-log-in.md'),
      '# Story 1.1\n\n## Acceptance Criteria\n\n1. **Given** a user\n   **When** the password fits\n2. Others are refused\n',
    );
    await expect(workbench.treeItem(/^1-1-log-in 1\.1 Log in/)).toBeVisible();
    await workbench.expand(/^1-1-log-in/);
    await expect(workbench.treeItem('Criterion Given a user When the password fits')).toBeVisible();
    await expect(workbench.treeItem('Criterion Others are refused')).toBeVisible();
    await workbench.screenshot('storiesView-bmadCriteria');
    // The line is open, and the story file stays as it is.
    await writeFile(
      path.join(artifacts, '1-1-log-in.md'),
      '# Story 1.1\n\n## Acceptance Criteria\n\n1. Others are told why\n',
    );
    await expect(workbench.treeItem('Criterion Others are told why')).toBeVisible();
    await expect(workbench.treeItem('Criterion Others are refused')).toBeHidden();
    await workbench.runCommand('Ralph: Choose the Story File…');
    const rows = workbench.page.locator('.quick-input-widget .monaco-list-row');
    await expect(rows.filter({ hasText: 'sprint-status.yaml' })).toContainText(
      '0 of 1 done · shown now',
    );
    await expect(rows.filter({ hasText: 'backlog' }).last()).toContainText('1 of 2 done');
    await workbench.screenshot('storiesView-chooseSource');
    await rows.filter({ hasText: '1 of 2 done' }).click();
    await expect(workbench.treeItem(/^task-1 Data model, done/)).toBeVisible();

    const before = await filesIn(backlog);
    await workbench.checkbox(/^task-2/).click();
    await expect
      .poll(async () => (await filesIn(backlog))['tasks/task-2 - Prices.md'])
      .toMatch(/^status: Done$/m);
    const ticked = await filesIn(backlog);
    expect(Object.keys(ticked).filter(file => ticked[file] !== before[file])).toEqual([
      'tasks/task-2 - Prices.md',
    ]);
    // Somebody else changes a task.
    const file = path.join(backlog, 'tasks', 'task-1 - Data-model.md');
    await writeFile(file, (await readFile(file, 'utf8')).replace('status: Done', 'status: To Do'));
    await expect(workbench.treeItem(/^task-1 Data model, next/)).toBeVisible();
    await workbench.screenshot('storiesView-backlog');
  });

  test('a run on another list than the visible one is shown, with a button for its stories', async () => {
    await writeFile(path.join(holds, 'US-001'), '');
    await write('tasks/prd.json', [{ id: 'US-001', title: 'Of the other list' }]);
    await cp(path.join(repoRoot, 'sample'), workspace, { recursive: true });
    await gitRepo(workspace);
    await expect(workbench.treeItem(/^US-001 Create a todo/)).toBeVisible();
    await workbench.runCommand('Ralph: Start Fresh Run');
    await expect(workbench.treeItem(/^US-001 Create a todo, running/)).toBeVisible();

    // Its agent has read the list, in which the story is open. Later it would find nothing to do, and end.
    await expect
      .poll(async () => (await newestJournal(workspace)).some(({ type }) => type === 'agent.text'))
      .toBe(true);
    // As its agent claims it: that counts in no place before the iteration is over.
    const prd = path.join(workspace, '.omc', 'prd.json');
    const open001 = await readFile(prd, 'utf8');
    await writeFile(prd, open001.replace('"passes": false', '"passes": true'));
    await workbench.runCommand('Ralph: Choose the Story File…');
    const rows = workbench.page.locator('.quick-input-widget .monaco-list-row');
    await expect(rows.filter({ hasText: '.omc/prd.json' })).toContainText(
      '0 of 5 done · shown now',
    );
    await writeFile(prd, open001);
    await rows.filter({ hasText: 'tasks/prd.json' }).click();
    await expect(workbench.treeItem(/^US-001 Of the other list, next/)).toBeVisible();
    await expect(view.getByText('0 of 1 done · a run works on .omc/prd.json')).toBeVisible();
    await workbench.screenshot('storiesView-otherList');
    await workbench.treeItem(/^US-001/).hover();
    await view.getByRole('button', { name: 'Show the Stories of the Run' }).click();
    await expect(workbench.treeItem(/^US-001 Create a todo, running/)).toBeVisible();
    await expect(view.getByText('a run works on')).toHaveCount(0);
    await workbench.runCommand('Ralph: Stop');
    await expect(workbench.treeItem(/^US-001 Create a todo, next/)).toBeVisible();
  });

  test('5,000 stories are shown, scrolled and ticked like five', async () => {
    await write(
      'prd.json',
      Array.from({ length: 5000 }, (_, i) => ({ id: `S-${i + 1}`, priority: i + 1 })),
    );
    await expect(workbench.treeItem(/^S-1 /)).toBeVisible();
    await expect(view.getByText('0 of 5000 done')).toBeVisible();
    await workbench.treeItem(/^S-1 /).click();
    await workbench.page.keyboard.press('End');
    await expect(workbench.treeItem(/^S-5000 /)).toBeVisible();
    await workbench.checkbox(/^S-5000 /).click();
    await expect(workbench.treeItem(/^S-5000 .*done by hand/)).toBeVisible();
    await expect(view.getByText('1 of 5000 done')).toBeVisible();
    await workbench.screenshot('storiesView-many');
  });

  const title = 'Customers pay by invoice or by card and get a receipt for it';
  // The last of them is about as wide as at first.
  for (const width of variants([200, 250, 300], 1)) {
    test(`in a ${width} pixel side bar the icon shows the state and the hover the rest`, async () => {
      await write(
        'prd.json',
        ['US-001', 'US-002', 'US-003', 'US-004', 'US-005'].map((id, i) => ({
          ...{ id, title, priority: i + 1, passes: i === 0 },
          dependsOn: i === 3 ? ['US-002', 'US-003'] : [],
        })),
      );
      await stuckRun(workspace, 'US-005', 'prd.json');
      await workbench.setTheme(width === 250 ? 'light' : 'dark');
      await expect(workbench.treeItem(/^US-005.*stuck/)).toBeVisible();
      await narrow(workbench, width);
      const icons = new Map<string, string>();
      for (const id of ['US-001', 'US-002', 'US-003', 'US-004', 'US-005']) {
        const icon = workbench
          .treeItem(new RegExp(`^${id}`))
          .locator('.custom-view-tree-node-item-icon');
        const [box, frame] = [await icon.boundingBox(), await view.boundingBox()];
        expect((box?.x ?? 0) + (box?.width ?? 999)).toBeLessThan(
          (frame?.x ?? 0) + (frame?.width ?? 0),
        );
        const look =
          /codicon-(?!modifier)[\w-]+/.exec((await icon.getAttribute('class')) ?? '')?.[0] ?? '';
        icons.set(look, id);
      }
      expect(icons.size).toBe(5);
      await workbench.screenshot(`storiesView-narrow-${width}`);
      await workbench.hover(
        workbench.treeItem(/^US-004/),
        'waiting — these must be done first: US-002, US-003',
      );
      await workbench.hover(
        workbench.treeItem(/^US-005/),
        'stuck · no progress for 2 iterations — its agents made no commit',
      );
      await workbench.page.screenshot({
        path: `test-results/screenshots/storiesView-narrow-hover-${width}.png`,
      });
    });
  }
});

test('each folder of a window has its own stories', async () => {
  await using kept = new AsyncDisposableStack();
  const parent = await makeFolders(kept);
  await write('prd.json', [{ id: 'US-001', passes: true }, { id: 'US-002' }]);
  const second = await folder('docs', parent);
  const text = await write('prd.json', [{ id: 'US-001', title: 'Write the guide' }], second);
  await stuckRun(second, 'US-001', 'prd.json');
  await folder('empty', parent);
  const file = path.join(parent, 'all.code-workspace');
  await writeFile(
    file,
    JSON.stringify({ folders: ['shop', 'docs', 'empty'].map(name => ({ path: name })) }),
  );
  await using workbench = await open(file);
  await showStories(workbench);
  await showStories(workbench);
  await expect(workbench.treeItem(/^Folder shop, 1 of 2 done$/)).toBeVisible();
  await expect(workbench.treeItem(/^Folder docs, 0 of 1 done, needs you$/)).toBeVisible();
  await expect(workbench.treeItem(/^Folder empty, no stories$/)).toBeVisible();
  await workbench.screenshot('storiesView-folders');

  await workbench.checkbox(/^US-001 Write the guide/).click();
  await expect(workbench.treeItem(/^Folder docs, 1 of 1 done$/)).toBeVisible();
  expect(await readFile(path.join(second, 'prd.json'), 'utf8')).toBe(
    text.replace('"passes": false', '"passes": true'),
  );
  // The folder of the last tick is the active one: the palette works in it.
  await workbench.runCommand('Ralph: Open the Story File');
  await expect(
    workbench.page.locator('.breadcrumbs-below-tabs, .tabs-breadcrumbs').first(),
  ).toContainText('docs');
  expect(workbench.consoleErrors()).toEqual([]);
});
