import path from 'node:path';
import { openStories } from '../support/ralph.ts';
import { scriptedRun } from '../support/scriptedRun.ts';
import { expect, test } from '../support/story.ts';
import { Workbench } from '../support/workbench.ts';

const repoRoot = path.resolve(import.meta.dirname, '..', '..');
const fakeChat = path.join(repoRoot, 'test', 'support', 'fakeExtensions', 'chat');
/** It only ends a test that has failed. */
const RUN_LIMIT = { timeout: 180_000 };

test('chat reports the run, lists the stories, and starts a run only after confirmation', async () => {
  await using run = await scriptedRun({
    stories: openStories(2).map((story, at) =>
      at === 0 ? { ...story, title: '<img src=x> $(alert) [x](command:quit)' } : story,
    ),
    files: { '.omc/config.json': '{ "lanes": 3 }\n' },
    calls: { 'US-001': [['stay']], 'US-002': [['stay']] },
  });
  const { env, settings, workspace } = run;
  await using workbench = await Workbench.open({
    ...{ workspace, env, otherExtensions: [fakeChat] },
    settings: { ...settings, 'chat.disableAIFeatures': false },
    // Only those who are part of VS Code may answer what nobody is asked by name.
    payload: [['enableProposedApi', 'true']],
  });
  const { page } = workbench;
  await workbench.view('Ralph');
  await workbench.runCommand('Chat: Open Chat');
  const chat = page.locator('.part.auxiliarybar');
  await expect(chat.getByText('Fake Model')).toBeVisible(RUN_LIMIT);
  const ask = async (words: string) => {
    await chat.locator('.interactive-input-editor .view-lines').click();
    await page.keyboard.type(`@fake ${words}`);
    await expect(chat.locator('.interactive-input-editor')).toContainText(words);
    await chat.getByRole('button', { name: /^Send/ }).click();
  };
  const answer = chat.locator('.interactive-response').last();

  await test.step('reading needs no confirmation', async () => {
    await ask('ralph_get_run_status');
    await expect(answer).toContainText(/"phase":\s"none"/, RUN_LIMIT);
    await ask('ralph_list_stories {"state":"open"}');
    await expect(answer).toContainText(/"id":\s"US-002"/, RUN_LIMIT);
    await workbench.screenshot('chat-1-stories');
  });

  await test.step('a start that is denied', async () => {
    await ask('ralph_start_run');
    await expect(chat).toContainText('Start a Ralph run?', RUN_LIMIT);
    await expect(chat).toContainText(
      'Agents will work on the 2 open stories of todo, change its files and commit to git.',
    );
    await expect(chat).toContainText('Up to 3 agents work at once.');
    await expect(chat).toContainText('No budget is set');
    await workbench.screenshot('chat-2-question');
    await chat.getByRole('button', { name: 'Skip' }).click();
    await expect(answer).toContainText('chose to skip the tool call', RUN_LIMIT);
    expect(await run.events()).toEqual([]);
  });

  await test.step('a start that is allowed', async () => {
    await ask('ralph_start_run');
    await chat.getByRole('button', { name: 'Allow' }).last().click();
    await expect(workbench.statusBarItem('Ralph 2 at work · 0/2')).toBeVisible(RUN_LIMIT);
    await expect(answer).toContainText(/"started":\strue/, RUN_LIMIT);
    await workbench.screenshot('chat-3-started');
    await ask('ralph_get_run_status');
    await expect(answer).toContainText(/"phase":\s"running"/, RUN_LIMIT);
    await workbench.runCommand('Ralph: Stop');
    await expect(workbench.statusBarItem('Ralph stopped · 0/2')).toBeVisible(RUN_LIMIT);
  });
  expect(workbench.consoleErrors()).toEqual([]);
});
