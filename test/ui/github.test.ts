import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { FakeGithub } from '../support/fakeGithub.ts';
import { scriptedRun } from '../support/scriptedRun.ts';
import { expect, test } from '../support/story.ts';
import { Workbench } from '../support/workbench.ts';

const fakeSession = path.join(import.meta.dirname, '../support/fakeExtensions/githubSession');
/** It only ends a test that has failed. */
const LIMIT = { timeout: 180_000 };

test('issues on GitHub become the stories of a window, with the account of VS Code, and are commented on', async () => {
  await using github = await FakeGithub.start('octo/garden', [
    { number: 1, title: 'Plant a tree', labels: ['ralph'] },
    {
      number: 2,
      title: 'Secret of a stranger',
      labels: ['ralph'],
      association: 'NONE',
      login: 'mallory',
    },
  ]);
  await using run = await scriptedRun({
    calls: { 'GH-1': [[{ shell: 'env > "$FAKE_AGENT_NOTES/env"' }, 'work']] },
    env: { FAKE_GITHUB_SESSION: github.token },
  });
  const { env, settings, workspace } = run;
  const own = path.join(env['HOME'] ?? '', '.config', 'ralph-fresh');
  await mkdir(own, { recursive: true });
  await writeFile(path.join(own, 'config.json'), JSON.stringify({ githubUrl: github.url }));
  await using workbench = await Workbench.open({
    ...{ workspace, env, otherExtensions: [fakeSession] },
    // The account of VS Code for github.com is not used for another server.
    settings: { ...settings, 'github-enterprise.uri': github.url },
  });
  const { page } = workbench;
  await workbench.view('Ralph');
  await workbench.runCommand('Ralph: Use GitHub Issues as Stories…');
  const input = page.locator('.quick-input-widget input');
  await expect(page.locator('.quick-input-widget')).toContainText('as owner/name', LIMIT);
  await input.fill('octo/garden');
  await page.keyboard.press('Enter');
  await expect(page.locator('.quick-input-widget')).toContainText(
    'Only issues with this label',
    LIMIT,
  );
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Allow' }).click(LIMIT);
  const story = page.getByRole('treeitem', { name: /^GH-1/ });
  await expect(story).toBeVisible(LIMIT);
  await expect(page.getByRole('treeitem', { name: /mallory/ })).toBeVisible(LIMIT);
  await expect(page.getByText('Secret of a stranger')).toHaveCount(0);
  await workbench.screenshot('github-1-stories');

  await story.hover();
  await page.getByRole('button', { name: 'Start Fresh Run' }).click(LIMIT);
  await expect(story.getByRole('checkbox')).toHaveAttribute('aria-checked', 'true', LIMIT);
  await expect.poll(() => github.comments.get(1)?.length, LIMIT).toBe(1);
  expect(github.requests.every(({ token }) => token === github.token)).toBe(true);
  await workbench.screenshot('github-2-done');
});
