import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Locator } from '@playwright/test';
import { filesIn, writeBacklog } from '../support/backlogFolder.ts';
import { cleanEnv, emptyRepo, gitRepo, tempDir } from '../support/cleanEnv.ts';
import { expect, oneWindow, test } from '../support/story.ts';
import { variants } from '../support/variants.ts';
import { Workbench } from '../support/workbench.ts';

/** A list with two open stories, Alpha and Beta, as its tool writes it. */
interface Source {
  readonly file: string;
  readonly entries: readonly [alpha: string, beta: string];
  /** The text with both entries in this order. */
  readonly text: (first: string, second: string) => string;
  /** What of an entry a tick replaces. */
  readonly tick: readonly [from: string, to: string];
  /** What of Beta is replaced to give it a problem, mostly a state that nobody knows. */
  readonly odd: readonly [from: string, to: string];
  /** What the first quick fix replaces then; without it, the fix takes the problem back. */
  readonly fixed?: readonly [from: string, to: string];
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
/** A list of objects within others. */
const inJson = (wrap: (list: readonly unknown[]) => unknown) => (first: string, second: string) =>
  json(wrap([JSON.parse(first), JSON.parse(second)]));
const objects = (make: (title: string, n: number) => unknown) =>
  [JSON.stringify(make('Alpha', 1), null, 2), JSON.stringify(make('Beta', 2), null, 2)] as const;
const lines = (make: (title: string, n: number) => unknown) =>
  [JSON.stringify(make('Alpha', 1)), JSON.stringify(make('Beta', 2))] as const;
const inLines = (first: string, second: string) => `${first}\n${second}\n`;
const inMarkdown = (head: string) => (first: string, second: string) =>
  `${head}\n\n${first}\n${second}\n`;
const marks = { tick: ['[ ]', '[x]'], odd: ['[ ]', '[?]'] } as const;
const words = (open: string, done: string) =>
  ({ tick: [`"${open}"`, `"${done}"`], odd: [`"${open}"`, '"maybe"'] }) as const;
const values = {
  tick: ['"passes": false', '"passes": true'],
  odd: ['"passes": false', '"passes": "no"'],
} as const;

const SOURCES: Readonly<Record<string, Source>> = {
  'a prd.json': {
    file: 'prd.json',
    entries: objects((title, n) => ({
      ...{ id: `S-${n}`, title, acceptanceCriteria: ['It works'], passes: false },
    })),
    text: inJson(userStories => ({ project: 'Shop', userStories })),
    ...values,
  },
  'a feature list': {
    file: 'feature_list.json',
    entries: objects(description => ({
      ...{ category: 'functional', description, steps: ['Try it'], passes: false },
    })),
    text: inJson(list => list),
    ...values,
  },
  'a task graph': {
    file: '.ralph/tasks.jsonl',
    entries: lines((title, n) => ({ id: `T-${n}`, status: 'ready', title })),
    text: inLines,
    ...words('ready', 'done'),
  },
  'Task Master': {
    file: '.taskmaster/tasks/tasks.json',
    entries: objects((title, id) => ({
      ...{ id, title, description: '', status: 'pending', dependencies: [], subtasks: [] },
    })),
    text: inJson(tasks => ({ master: { tasks } })),
    ...words('pending', 'done'),
  },
  Beads: {
    file: '.beads/issues.jsonl',
    entries: lines((title, n) => ({ id: `bd-${n}`, title, status: 'open', priority: 2 })),
    text: inLines,
    ...words('open', 'closed'),
  },
  'ralph-orchestrator': {
    file: '.ralph/agent/tasks.jsonl',
    entries: lines((title, n) => ({
      ...{ id: `task-100${n}`, title, status: 'open', priority: 1, blocked_by: [] },
    })),
    text: inLines,
    ...words('open', 'closed'),
  },
  'a Markdown plan': {
    file: 'IMPLEMENTATION_PLAN.md',
    entries: ['- [ ] T1: Alpha', '- [ ] T2: Beta'],
    text: inMarkdown('# Shop'),
    ...marks,
  },
  OpenSpec: {
    file: 'openspec/changes/add-prices/tasks.md',
    entries: ['- [ ] 1.1 Alpha', '- [ ] 1.2 Beta'],
    text: inMarkdown('## 1. Prices'),
    ...marks,
  },
  'Spec Kit': {
    file: 'specs/001-shop/tasks.md',
    entries: ['- [ ] T001 Alpha', '- [ ] T002 [P] Beta'],
    text: inMarkdown('# Tasks: Shop'),
    ...marks,
  },
  Kiro: {
    file: '.kiro/specs/shop/tasks.md',
    entries: ['- [ ] 1. Alpha\n  - _Requirements: 1.1_', '- [ ] 2. Beta'],
    text: inMarkdown('# Implementation Plan'),
    ...marks,
  },
  'an index of specifications': {
    file: 'specs/INDEX.md',
    entries: ['- [ ] Alpha', '- [ ] Beta'],
    text: inMarkdown('# Specifications'),
    ...marks,
  },
  'an orchestration': {
    file: '.claude/orchestration/shop.yaml',
    entries: [
      '      # The first one\n      - id: S-1\n        name: Alpha\n        status: pending',
      '      - id: S-2\n        name: Beta\n        status: pending # later',
    ],
    text: (first, second) =>
      `name: Shop\nphases:\n  - name: One\n    tasks:\n${first}\n${second}\n`,
    tick: ['status: pending', 'status: completed'],
    odd: ['status: pending', 'status: maybe'],
  },
  ralphy: {
    file: '.ralphy/tasks.yaml',
    entries: [
      '  - title: Alpha\n    completed: false',
      '  - title: Beta\n    completed: false # later',
    ],
    text: (first, second) => `tasks:\n${first}\n${second}\n`,
    tick: ['completed: false', 'completed: true'],
    odd: ['completed: false # later', 'completed: false # later\n    depends_on: [Alpa]'],
    fixed: ['[Alpa]', '[Alpha]'],
  },
  BMAD: {
    file: '_bmad-output/implementation-artifacts/sprint-status.yaml',
    entries: ['  1-1-alpha: ready-for-dev', '  1-2-beta: ready-for-dev # needs its file'],
    text: (first, second) =>
      `project: Shop\n\ndevelopment_status:\n  epic-1: in-progress\n${first}\n${second}\n  epic-1-retrospective: optional\n`,
    tick: ['ready-for-dev', 'done'],
    odd: ['ready-for-dev', 'maybe'],
  },
};

let workspace: string;
const window = oneWindow(async kept => {
  const temp = kept.use(await tempDir('ralph-fresh-sources-'));
  const home = path.join(temp.path, 'home');
  workspace = path.join(temp.path, 'shop');
  await Promise.all([home, workspace].map(dir => mkdir(dir)));
  await gitRepo(workspace);
  return Workbench.open({
    workspace,
    env: cleanEnv({ home }),
    // Claude Code is not looked for, so that nothing comes in above the list later.
    settings: { 'ralphFresh.agent': 'demo' },
  });
});
let workbench: Workbench;
let view: Locator;
let lenses: Locator;

test.beforeEach(async () => {
  workbench = window();
  view = await workbench.view('Ralph');
  // With no hover of its tab over the lines.
  await workbench.page.mouse.move(640, 2);
  await workbench.tidy();
  lenses = workbench.page.locator('.codelens-decoration');
  await emptyRepo(workspace);
  // What the last story has left is not taken for what this one shows.
  await expect(view.getByText('There is no list of stories in this folder yet.')).toBeVisible();
  await writeFile(path.join(workspace, 'README.md'), '# shop\n');
  await gitRepo(workspace);
});

async function write(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(workspace, file)), { recursive: true });
  await writeFile(path.join(workspace, file), text);
}

/** Takes the first choice of the quick fixes of the only problem, and saves. */
async function fixTheProblem(): Promise<void> {
  const { page } = workbench;
  const problems = page.locator('.squiggly-warning');
  const menu = page.locator('.action-widget').first();
  // A key that is pressed while the focus or the problems change has no effect, or one on the text.
  await expect(async () => {
    // VS Code may also miss changes in a folder that has just been created.
    await workbench.runCommand('File: Revert File');
    await expect(problems).toHaveCount(1, { timeout: 10_000 });
    await workbench.runCommand('View: Focus Active Editor Group');
    await page.keyboard.press('F8');
    await expect(page.locator('.marker-widget')).toContainText(/maybe|"no"|Alpa|"\?"/, {
      timeout: 5_000,
    });
    await page.keyboard.press('Escape');
    await expect(page.locator('.marker-widget')).toBeHidden({ timeout: 5_000 });
    await page.keyboard.press('Control+.');
    await expect(menu).toBeVisible({ timeout: 5_000 });
    await page.keyboard.press('Enter');
    await expect(problems).toHaveCount(0, { timeout: 10_000 });
  }).toPass({ timeout: 180_000 });
  await workbench.runCommand('File: Save');
}

for (const [name, source] of variants(Object.entries(SOURCES), 4, 11)) {
  test(`${name}: stories are ticked, dragged and fixed in the window`, async () => {
    const { entries, file, fixed, odd, text, tick } = source;
    const [alpha, beta] = entries;
    const original = text(alpha, beta);
    const wrong = beta.replace(...odd);
    const right = fixed ? wrong.replace(...fixed) : beta;
    const now = () => readFile(path.join(workspace, file), 'utf8');
    await write(file, original);
    await expect(workbench.treeItem(/Beta/)).toBeVisible();

    await test.step('a tick and an untick', async () => {
      await workbench.checkbox(/Alpha/).click();
      await expect.poll(now).toBe(text(alpha.replace(...tick), beta));
      await expect(workbench.treeItem(/Alpha, done by hand/)).toBeVisible();
      await workbench.runCommand('Ralph: Open the Story File');
      // In the order of the page, the lines may come in any order.
      await expect(lenses.filter({ hasText: /next.*Run.*Tick/ })).toHaveCount(1);
      await workbench.screenshot(`sources-${name.replaceAll(' ', '-')}`);
      const done = lenses.filter({ hasText: /done by hand.*Untick/ });
      await workbench.clickLens(done, 'Untick', async () => (await now()) === original);
      await expect(workbench.treeItem(/Alpha, next/)).toBeVisible();
    });

    await test.step('a move', async () => {
      await workbench.treeItem(/Beta/).dragTo(workbench.treeItem(/Alpha/));
      await expect.poll(now).toBe(text(beta, alpha));
      await expect(workbench.treeItem(/Beta, next/)).toBeVisible();
    });

    await test.step('a problem with a quick fix', async () => {
      await write(file, text(alpha, wrong));
      await fixTheProblem();
      await expect.poll(now).toBe(text(alpha, right));
    });

    await test.step('a tick above the text', async () => {
      const next = lenses.filter({ hasText: /next.*Run.*Tick/ });
      const ticked = text(alpha.replace(...tick), right);
      // Before the text changed, Beta was the next one, and what is above the text follows a moment later.
      await expect(workbench.treeItem(/Alpha, next/)).toBeVisible();
      const other = lenses.filter({ hasNotText: 'next' });
      const heightOf = async (lens: Locator) => (await lens.first().boundingBox())?.y ?? 0;
      await expect
        .poll(async () => (await heightOf(next)) < (await heightOf(other)), { timeout: 180_000 })
        .toBe(true);
      await workbench.clickLens(next, 'Tick', async () => (await now()) === ticked);
      await expect(workbench.treeItem(/Alpha, done by hand/)).toBeVisible();
    });
    expect(workbench.consoleErrors()).toEqual([]);
  });
}

test('Backlog.md: tasks are ticked in their files and dragged', async () => {
  const { page } = workbench;
  const backlog = path.join(workspace, 'backlog');
  await writeBacklog(backlog, [
    { id: 'task-1', title: 'Alpha' },
    { id: 'task-2', title: 'Beta' },
  ]);
  await workbench.treeItem(/^task-2/).click();
  await workbench.runCommand('Ralph: Open the Story File');
  await workbench.screenshot('sources-backlogFolder');
  await workbench.typeIntoChoice(() => page.keyboard.press('Control+p'), 'task-2 - Beta.md');
  await expect(page.locator('.quick-input-widget .monaco-list-row').first()).toContainText('Beta');
  await page.keyboard.press('Enter');
  await expect(lenses).toHaveText([/ready.*Run.*Tick/]);
  const beta = async () => (await filesIn(backlog))['tasks/task-2 - Beta.md'] ?? '';
  const original = await beta();
  await workbench.clickLens(lenses, 'Tick', async () => /^status: Done$/m.test(await beta()));
  await expect(lenses).toHaveText([/done by hand.*Untick/]);
  await workbench.screenshot('sources-backlog');
  await workbench.clickLens(lenses, 'Untick', async () => (await beta()) === original);
  await workbench.view('Ralph');
  await workbench.treeItem(/Beta/).dragTo(workbench.treeItem(/Alpha/));
  await expect(workbench.treeItem(/Beta, next/)).toBeVisible();
  expect(await beta()).toMatch(/^ordinal: \d+$/m);
  expect(workbench.consoleErrors()).toEqual([]);
});
