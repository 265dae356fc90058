import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Step } from '../support/ralph.ts';
import { scriptedWindow } from '../support/scriptedWindow.ts';
import { expect, test } from '../support/story.ts';
import type { Workbench } from '../support/workbench.ts';

const SLOW = { timeout: 180_000 };

let workspace: string;
const prdFile = () => path.join(workspace, '.omc', 'prd.json');
const prdText = () => readFile(prdFile(), 'utf8');

const story = (id: string, change: object = {}) => ({
  id,
  title: `Story ${id}`,
  acceptanceCriteria: ['It works'],
  passes: false,
  ...change,
});
const prd = (...userStories: unknown[]) => ({
  '.omc/prd.json': `${JSON.stringify({ project: 'Todo', userStories }, null, 2)}\n`,
});

const lenses = ({ page }: Workbench) => page.locator('.codelens-decoration');

test.describe('in one window', () => {
  // It is for runs alone, and no reason to refuse a plan.
  const prepared = scriptedWindow({ settings: { 'ralphFresh.maxIterations': 7 } });

  async function openStoryFile(
    files: Readonly<Record<string, string>>,
    calls: readonly (readonly Step[])[] = [],
  ): Promise<Workbench> {
    const { run, workbench } = await prepared({ calls, files });
    workspace = run.workspace;
    await expect(workbench.treeItem(/US-001/).first()).toBeVisible();
    await workbench.runCommand('Ralph: Open the Story File');
    await expect(workbench.page.locator('.monaco-editor .view-lines').first()).toContainText(
      'Todo',
    );
    return workbench;
  }

  test('the Pin is generated, and keeps what a person wrote', async () => {
    const code = ['session', 'token'].map(name => [
      `src/auth/${name}.ts`,
      `export function ${name}Refresh(): void {}\n`,
    ]);
    const workbench = await openStoryFile({
      ...prd(story('US-001')),
      ...Object.fromEntries(code),
    });
    await workbench.runCommand('Ralph: Update the Pin');
    await expect(workbench.page.getByRole('tab', { name: /INDEX\.md/ })).toBeVisible();
    await expect(workbench.page.locator('.monaco-editor .view-lines').first()).toContainText(
      'session',
    );
    await workbench.screenshot('prdEditor-pin');
    const file = path.join(workspace, 'specs', 'INDEX.md');
    const generated = await readFile(file, 'utf8');
    expect(generated).toContain('## src/auth\n');
    await writeFile(file, `${generated}\n## Mine\nKeywords: login\nFiles: src/auth/\n`);
    await workbench.runCommand('Ralph: Update the Pin');
    await expect
      .poll(() => readFile(file, 'utf8'))
      .toContain('## Mine\nKeywords: login\nFiles: src/auth/\nKeywords (generated): ');
  });

  test('problems in the text, fixed with the keyboard', async () => {
    const workbench = await openStoryFile(
      prd(
        story('US-001'),
        story('US-001', { passes: 'true' }),
        story('US-003', { dependsOn: ['us-1'] }),
      ),
    );
    const original = await prdText();
    const { page } = workbench;
    await expect(page.locator('.squiggly-warning')).toHaveCount(3);
    await workbench.screenshot('prdEditor-problems');

    await test.step('the next problem is fixed', async () => {
      await page.keyboard.press('F8');
      await expect(page.locator('.marker-widget')).toContainText('is already used on line');
      await workbench.screenshot('prdEditor-marker');
      await page.keyboard.press('Escape');
      await expect(page.locator('.marker-widget')).toBeHidden();
      const menu = page.locator('.action-widget').first();
      // A key that is pressed while the focus goes back to the text is lost.
      await expect(async () => {
        await page.keyboard.press('Control+.');
        await expect(menu).toContainText('Give it the id US-004', { timeout: 5_000 });
      }).toPass({ timeout: 180_000 });
      await workbench.screenshot('prdEditor-quickFix');
      await page.keyboard.press('Enter');
      await expect(page.locator('.squiggly-warning')).toHaveCount(2);
      await page.keyboard.press('Control+s');
      const second = original.replace(/("US-001"[\s\S]*?)"US-001"/, '$1"US-004"');
      await expect.poll(prdText).toBe(second);
    });

    await test.step('all problems are fixed at once', async () => {
      // VS Code drops the command if the problems are just being drawn again.
      await expect(async () => {
        await workbench.runCommand('Fix All');
        await expect(page.locator('.squiggly-warning')).toHaveCount(0, { timeout: 10_000 });
      }).toPass(SLOW);
      await page.keyboard.press('Control+s');
      await expect.poll(prdText).toBe(
        original
          .replace(/("US-001"[\s\S]*?)"US-001"/, '$1"US-004"')
          .replace('"passes": "true"', '"passes": true')
          .replace('"us-1"', '"US-001"'),
      );
    });

    await test.step('text that is not JSON is reported before it is saved', async () => {
      await page.keyboard.press('Control+Home');
      await page.keyboard.type('[');
      await expect(page.locator('.squiggly-error').first()).toBeVisible();
      await page.keyboard.press('Control+z');
      await expect(page.locator('.squiggly-error')).toHaveCount(0);
    });
    expect(workbench.consoleErrors()).toEqual([]);
  });

  test('an orchestration has fixes, too, at the wrong id itself', async () => {
    const place = '.claude/orchestration/todo.yaml';
    const text = `name: Todo
phases:
  - name: One
    tasks:
      - { id: US-001, name: Create a todo, status: pending }
      - id: US-002
        name: List all todos
        status: pending
        depends_on: [us-1] # the first one
`;
    const workbench = await openStoryFile({ [place]: text });
    const file = path.join(workspace, place);
    const { page } = workbench;
    await expect(page.locator('.squiggly-warning')).toHaveCount(1);
    await page.keyboard.press('F8');
    await expect(page.locator('.marker-widget')).toContainText('waits for us-1');
    await page.keyboard.press('Escape');
    await expect(page.locator('.marker-widget')).toBeHidden();
    const menu = page.locator('.action-widget').first();
    await expect(async () => {
      await page.keyboard.press('Control+.');
      await expect(menu).toContainText('Wait for US-001 instead of us-1', { timeout: 5_000 });
    }).toPass({ timeout: 180_000 });
    await expect(menu).toContainText('Do not wait for us-1');
    await page.keyboard.press('Enter');
    await expect(page.locator('.squiggly-warning')).toHaveCount(0);
    await page.keyboard.press('Control+s');
    await expect.poll(() => readFile(file, 'utf8')).toBe(text.replace('us-1]', 'US-001]'));
  });

  test('actions are shown above each story, and completion follows the schema', async () => {
    const workbench = await openStoryFile(
      prd(
        story('US-001', { title: '$(alert) <img src=x onerror=1> [a](command:b)' }),
        story('$(alert)', { dependsOn: ['US-001'] }),
        story('US-003', { dependsOn: ['$(alert)'] }),
      ),
    );
    const original = await prdText();
    const { page } = workbench;

    await test.step('state and actions of an open story', async () => {
      await expect(lenses(workbench).first()).toHaveText(/next.*Run.*Tick/);
      // No run could leave it alone.
      await expect(lenses(workbench).first()).not.toContainText('Skip');
      await expect(lenses(workbench).nth(2)).toContainText('waits for $ (alert)');
      await expect(lenses(workbench).nth(2)).not.toContainText('Run');
      await expect(lenses(workbench).locator('.codicon-alert')).toHaveCount(0);
      await workbench.screenshot('prdEditor-lenses');
    });

    await test.step('a tick writes the file, including unsaved changes', async () => {
      await page.keyboard.press('Control+End');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Control+Home');
      await workbench.clickLens(lenses(workbench).first(), 'Tick', async () =>
        (await prdText()).includes('"passes": true'),
      );
      expect(await prdText()).toBe(`${original}\n`.replace('"passes": false', '"passes": true'));
      await expect(lenses(workbench).first()).toHaveText(/done by hand.*Untick/);
      await expect(lenses(workbench).nth(1)).toHaveText(/next.*Run/);
    });

    await test.step('completion offers the fields', async () => {
      await workbench.typeIntoChoice(() => page.keyboard.press('Control+g'), '5:1');
      await page.keyboard.press('Enter');
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      await page.keyboard.type('"prio');
      await workbench.runCommand('Trigger Suggest');
      const widget = page.locator('.suggest-widget.visible');
      await expect(widget).toContainText('priority', SLOW);
      await workbench.screenshot('prdEditor-completion');
      await page.keyboard.press('Escape');
    });

    await test.step('the actions can be switched off', async () => {
      await page.keyboard.press('Control+z');
      await mkdir(path.join(workspace, '.vscode'), { recursive: true });
      await writeFile(
        path.join(workspace, '.vscode/settings.json'),
        '{"ralphFresh.codeLens": false}',
      );
      await expect(lenses(workbench)).toHaveCount(0);
    });
    expect(workbench.consoleErrors()).toEqual([]);
  });

  test('a Markdown plan has the same actions and problems', async () => {
    const plan = '# Todo\n\n- [ ] US-001 Create a todo\n- [ ] US-002 List todos\n';
    const workbench = await openStoryFile({ 'PLAN.md': plan });
    const planFile = path.join(workspace, 'PLAN.md');
    const { page } = workbench;
    await expect(lenses(workbench)).toHaveText([/next.*Run.*Tick/, /ready.*Run.*Tick/]);
    const ticked = plan.replace('- [ ] US-002', '- [x] US-002');
    await workbench.clickLens(
      lenses(workbench).nth(1),
      'Tick',
      async () => (await readFile(planFile, 'utf8')) !== plan,
    );
    expect(await readFile(planFile, 'utf8')).toBe(ticked);
    await expect(lenses(workbench).nth(1)).toHaveText(/done by hand.*Untick/);

    await test.step('a snippet adds the next story with its criteria', async () => {
      await page.keyboard.press('Control+End');
      await page.keyboard.type('ralph-story');
      const widget = page.locator('.suggest-widget.visible');
      await expect(async () => {
        await workbench.runCommand('Trigger Suggest');
        await expect(widget).toContainText('ralph-story-criteria', { timeout: 5_000 });
      }).toPass({ timeout: 180_000 });
      await workbench.screenshot('prdEditor-planSnippet');
      await widget.getByText('ralph-story-criteria').first().click();
      await expect(lenses(workbench)).toHaveCount(3);
      await page.keyboard.type('Delete todos');
      await page.keyboard.press('Tab');
      await page.keyboard.type('They are gone');
      await page.keyboard.press('Control+s');
      await expect
        .poll(() => readFile(planFile, 'utf8'))
        .toBe(`${ticked}- [ ] US-003 Delete todos\n  - They are gone\n  - A check that passes`);
      await workbench.screenshot('prdEditor-planStory');
    });

    await page.keyboard.press('Control+Home');
    await page.keyboard.type('```\n');
    await expect(page.locator('.squiggly-error').first()).toBeVisible();
    expect(workbench.consoleErrors()).toEqual([]);
  });

  test('a plan is shown as a diff and written only then', async () => {
    const plan = {
      ...{ project: 'Planned', branchName: 'ralph/planned', description: 'What was asked' },
      userStories: [
        story('US-001', { title: '$(alert) planned', priority: 1 }),
        story('US-002', { priority: 2, dependsOn: ['US-001'] }),
      ],
    };
    const workbench = await openStoryFile(prd(story('US-001')), [
      [{ result: [`\`\`\`json\n${JSON.stringify(plan)}\n\`\`\``] }],
    ]);
    const original = await prdText();
    const { page } = workbench;
    const tab = page.locator('.tab', { hasText: 'prd.json: now ↔ planned' });
    const planIt = async (task: string) => {
      await workbench.runCommand('Ralph: Plan Stories from a Task…');
      await page.getByRole('textbox', { name: /^What should be there/ }).fill(task);
      await workbench.screenshot('prdEditor-planTask');
      await page.keyboard.press('Enter');
      await expect(tab).toBeVisible(SLOW);
    };

    await test.step('discarded with the button above the diff', async () => {
      await planIt('Build it');
      await expect(workbench.notification(/Write these 2 stories to/)).toBeVisible();
      await expect(workbench.notification('Ralph is planning stories…')).toHaveCount(0);
      await expect(page.locator('.monaco-diff-editor .editor.modified')).toContainText('planned');
      await workbench.screenshot('prdEditor-plan');
      expect(await prdText()).toBe(original);
      await page.getByRole('button', { name: 'Discard Plan' }).click();
      await expect(tab).toHaveCount(0);
      expect(await prdText()).toBe(original);
    });

    await test.step('refused if the file has changed in the meantime', async () => {
      await page.keyboard.press('Control+k');
      await workbench.runCommand('Notifications: Clear All Notifications');
      await planIt('Build it');
      await writeFile(prdFile(), `${original} `);
      await page.getByRole('button', { name: 'Write Stories' }).first().click();
      await expect(workbench.notification(/has changed since the plan was made/)).toBeVisible();
      expect(await prdText()).toBe(`${original} `);
      await workbench.runCommand('Notifications: Clear All Notifications');
    });

    await test.step('written, with the old file in the archive', async () => {
      await planIt('Build it');
      await workbench.clickInNotification(
        workbench.notification(/Write these 2 stories/),
        'Write Stories',
      );
      await expect(tab).toHaveCount(0);
      await expect.poll(async () => JSON.parse(await prdText()).originalTask).toBe('Build it');
      const [kept = ''] = await readdir(path.join(workspace, '.omc/archive'));
      expect(await readFile(path.join(workspace, '.omc/archive', kept, 'prd.json'), 'utf8')).toBe(
        `${original} `,
      );
      await expect(workbench.treeItem(/US-002/)).toBeVisible();
      await workbench.screenshot('prdEditor-planned');
    });
    // What a person is told as an error stands in the console, too.
    expect(
      workbench.consoleErrors().filter(text => !/has changed since the plan/.test(text)),
    ).toEqual([]);
  });
});
