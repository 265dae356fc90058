import { fakeAgent, openStories, Workspace } from '../support/ralph.ts';
import { expect, test } from '../support/story.ts';
import { Workbench } from '../support/workbench.ts';

/** Removes what was made, the last first. */
class CleanUp implements AsyncDisposable {
  private readonly actions: (() => Promise<void> | void)[] = [];

  after(action: () => Promise<void> | void): void {
    this.actions.push(action);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const action of this.actions.reverse()) {
      await action();
    }
  }
}

test('each iteration has its outcome, commits, prompt, transcript, checks and receipt', {
  tag: '@oldest',
}, async () => {
  await using cleanUp = new CleanUp();
  const [first, second] = openStories(2);
  const workspace = await Workspace.create(cleanUp, {
    stories: [
      { ...first, title: '<img src=x onerror="document.title=1"> $(alert) [a](command:b)' },
      second,
    ].filter(story => story !== undefined) as never,
  });
  // Red on the first claim, green from then on.
  const check = 'test -e .checked || { touch .checked; echo "one test is red"; exit 3; }';
  const run = workspace.script(
    [['work'], [{ text: 'I look around.' }, { result: ['Nothing to do.', {}] }], ['work']],
    ...['--verify', check, '--max-iterations', '3'],
  );
  expect((await run.finished).stderr).toBe('');

  await using workbench = await Workbench.open({
    workspace: workspace.folder,
    env: workspace.env,
    settings: { 'ralphFresh.claudePath': fakeAgent('scripted') },
  });
  await workbench.view('Ralph');
  const iteration = (name: RegExp) => workbench.treeItem(name);
  await expect(iteration(/^Iteration 3 US-001, story done/)).toBeVisible();
  await expect(iteration(/^Iteration 2 US-001, no progress/)).toBeVisible();
  await expect(iteration(/^Iteration 1 US-001, claim refused/)).toBeVisible();
  const tops = await Promise.all(
    [/^Iteration 3/, /^Iteration 2/, /^Iteration 1/].map(
      async name => (await iteration(name).boundingBox())?.y ?? 0,
    ),
  );
  expect(tops).toEqual([...tops].sort((a, b) => a - b));

  // What is offered fits the iteration: the second one has no commit to show or take back.
  const work = ['Open Iteration Changes', 'Revert Iteration…'];
  expect(await workbench.menuEntries(/^Iteration 3/)).toEqual(expect.arrayContaining(work));
  const without = await workbench.menuEntries(/^Iteration 2/);
  expect(without).not.toEqual([]);
  expect(without.filter(entry => work.includes(entry))).toEqual([]);

  // Room for the lines below an iteration.
  await workbench.showView('Stories', false);
  await workbench.expand(/^Iteration 1/);
  await expect(workbench.treeItem(/^Commit .*US-001/)).toBeVisible();
  await workbench.screenshot('iterations');

  const editor = workbench.page.locator('.editor-instance .view-lines');
  const tab = (title: string) =>
    workbench.page.getByRole('tab', { name: new RegExp(`^${title}`), selected: true });
  const open = async (name: string, words: RegExp, title = `${name} of iteration 1`) => {
    await workbench.clickUntil(workbench.treeItem(`${name} of iteration 1`), tab(title));
    await expect(editor).toContainText(words);
  };
  await open('Prompt', /US-001/);
  await open('Check output', /one.test.is.red/, 'Checks of iteration 1');
  await expect(editor).toContainText(/failed.after.*exit.code.3/);
  await open('Transcript', /Iteration.1\/3/);
  await workbench.screenshot('iterations-transcript');
  await open('Receipt', /Iteration.1:.claim.refused/);

  await workbench.runCommand('Ralph: Show Receipt');
  await expect(tab('Receipt of run')).toBeVisible();
  await expect(editor).toContainText(/total/);
  await workbench.runCommand('Ralph: Open Transcript');
  const pick = workbench.page.locator('.quick-input-widget .monaco-list-row:visible');
  await pick.filter({ hasText: 'Iteration 2' }).click();
  await expect(editor).toContainText(/I.look.around/);
  expect(workbench.consoleErrors()).toEqual([]);
});
