import { openStories } from '../support/ralph.ts';
import { scriptedRun, toolCall } from '../support/scriptedRun.ts';
import { expect, test } from '../support/story.ts';
import { inAll } from '../support/variants.ts';
import { type Theme, TYPED_INTO, Workbench } from '../support/workbench.ts';

/** It only ends a test that has failed. */
const RUN_LIMIT = { timeout: 180_000 };

/** Does something in each theme. Every second time in the opposite order, which saves a change of the theme. */
function inEachTheme(workbench: Workbench) {
  const themes: Theme[] = ['light', 'hc-dark', 'hc-light'];
  return async (look: (theme: Theme) => Promise<unknown>): Promise<void> => {
    for (const theme of themes) {
      await workbench.setTheme(theme);
      await look(theme);
    }
    themes.reverse();
  };
}

inAll(test)(
  'terminal, iterations, diff with a note, question and story file in the themes light, hc-dark and hc-light',
  async () => {
    await using run = await scriptedRun({
      stories: openStories(3).map(story =>
        story.id === 'US-003' ? { ...story, dependsOn: ['US-9'] } : story,
      ),
      files: {
        // Red on the first claim, green from then on.
        '.omc/config.json':
          '{ "verify": ["test -e .checked || { touch .checked; echo one test is red; exit 3; }"], "maxIterations": 3 }\n',
        'src/todo.js': 'export const a = 1;\nexport const b = 2;\n',
      },
      calls: [
        [
          { text: 'I look at the list of todos first.' },
          ...toolCall('Bash', { command: 'npm test' }, 'one\ntwo\nthree\nfour\nfive\nsix'),
          ...toolCall('Grep', { pattern: 'nothing' }, 'No such file', true),
          { append: ['src/todo.js', 'export const c = 3;\n'] },
          'work',
        ],
        [{ text: 'I look around.' }, { result: ['Nothing to do.'] }],
        ['work'],
      ],
    });
    const { env, settings, workspace } = run;
    await using workbench = await Workbench.open({ workspace, env, settings, theme: 'light' });
    const { page } = workbench;
    const inThemes = inEachTheme(workbench);
    await workbench.view('Ralph');
    await workbench.runCommand('Ralph: Start Fresh Run');
    await expect(workbench.statusBarItem('Ralph at its iteration limit · 1/3')).toBeVisible(
      RUN_LIMIT,
    );
    await workbench.runCommand('Notifications: Clear All Notifications');

    await test.step('the terminal and the iterations', async () => {
      await workbench.runCommand('View: Toggle Maximized Panel');
      await expect.poll(() => workbench.terminalText()).toMatch(/Max iterations reached/);
      await workbench.showView('Stories', false);
      await workbench.expand(/^Iteration 1/);
      await expect(workbench.treeItem(/^Commit/)).toBeVisible();
      await inThemes(theme => workbench.screenshot(`themes-${theme}-1-terminal`));
      await workbench.runCommand('View: Toggle Maximized Panel');
      await workbench.runCommand('View: Hide Panel');
    });

    await test.step('a note in the changes of a story', async () => {
      await workbench.treeItem(/^Commit/).click();
      // The cursor may still be on the first line of prd.json, which VS Code leaves out once it knows the changes.
      await expect(
        page
          .locator('.multiDiffEntry')
          .getByText(/^8 hidden lines/)
          .last(),
      ).toBeVisible();
      const note = page.locator('.review-widget');
      await expect(async () => {
        // A second time would be a second note.
        if ((await note.count()) === 0) {
          await workbench.runCommand('Ralph: Tell the Next Agent About This Line…');
        }
        await expect(note.locator(TYPED_INTO)).toBeInViewport({ timeout: 5_000 });
      }).toPass({ timeout: 180_000 });
      await page.keyboard.type('Say it shorter.');
      // What was typed reaches the button some time later.
      await expect(note.getByRole('button', { name: 'Tell the Next Agent' })).not.toHaveClass(
        /disabled/,
      );
      await inThemes(theme => workbench.screenshot(`themes-${theme}-2-writing`));
      await note.locator('.monaco-editor').last().click();
      await page.keyboard.press('Control+Enter');
      await expect(note).toContainText('Goes to the next agent on US-001');
      await workbench.scrollTo(note);
      await note.hover();
      await note.getByRole('button', { name: 'Edit Note' }).click();
      await expect(note.getByRole('button', { name: 'Save' })).toBeVisible();
      await inThemes(theme => workbench.screenshot(`themes-${theme}-3-note`));
      await note.getByRole('button', { name: 'Cancel' }).click();
      await expect(note.getByRole('button', { name: 'Save' })).toHaveCount(0);
    });

    await test.step('the question before a revert', async () => {
      await inThemes(async theme => {
        await workbench.runCommand('Ralph: Revert Iteration…');
        await expect(page.locator('.quick-input-widget:visible')).toContainText('Iteration 3');
        await page.keyboard.press('Enter');
        await expect(workbench.dialog).toContainText('Revert Iteration');
        await workbench.screenshot(`themes-${theme}-4-revert`);
        await workbench.dialog.getByRole('button', { name: 'Cancel' }).click();
        await expect(workbench.dialog).toHaveCount(0);
      });
    });

    await test.step('the story file with its problems', async () => {
      await workbench.runCommand('Ralph: Open the Story File');
      await expect(page.locator('.codelens-decoration').first()).toBeVisible();
      await page.keyboard.press('F8');
      await expect(page.locator('.marker-widget')).toContainText('US-9');
      await page.getByRole('button', { name: /^Stories Section/ }).click();
      await inThemes(theme => workbench.screenshot(`themes-${theme}-5-storyFile`));
    });
    expect(workbench.consoleErrors()).toEqual([]);
  },
);
