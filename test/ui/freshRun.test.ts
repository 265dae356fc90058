import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ensureClaudeCode } from '../../scripts/lib/claudeCode.ts';
import { cleanEnv, gitRepo, type TempDir, tempDir } from '../support/cleanEnv.ts';
import { endRuns, isRunning, newestJournal, pidsOf } from '../support/journals.ts';
import { sampleProject } from '../support/sampleProject.ts';
import { commitSubject, ScriptedModel, storyScript } from '../support/scriptedModel.ts';
import { expect, test } from '../support/story.ts';
import { variants } from '../support/variants.ts';
import { Workbench } from '../support/workbench.ts';

/** For a whole run; it only ends a test that has failed. */
const RUN_LIMIT = { timeout: 180_000 };

/** A project and an agent that a test can hold at a story and let go. */
interface Stage extends AsyncDisposable {
  readonly workspace: string;
  readonly env: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly storyCount: number;
  /** Commit of the first story, and the files that its diff shows. */
  readonly commit: RegExp;
  readonly files: readonly string[];
  /** The agent's own words in the terminal. */
  readonly words: RegExp;
  /** A tool call in the terminal. */
  readonly tool: RegExp;
  /** Lets the agent finish the story it is held at. */
  release(storyId: string): Promise<void>;
}

const agents = [
  ['the real Claude Code and a scripted model', claudeStage, []],
  ['the demo agent', demoStage, ['@oldest']],
] as const;
for (const [name, makeStage, tag] of variants(agents, 1)) {
  test(`a person runs ${name} from the Stories view`, { tag: [...tag] }, async () => {
    await using stage = await makeStage();
    await using workbench = await Workbench.open({
      workspace: stage.workspace,
      env: stage.env,
      settings: stage.settings,
    });
    const shot = (moment: string) =>
      workbench.screenshot(`freshRun-${name.replaceAll(/\W+/g, '-')}-${moment}`);
    const total = stage.storyCount;

    await test.step('opens the view', async () => {
      const view = await workbench.view('Ralph');
      await expect(view.getByText(`0 of ${total} done`)).toBeVisible();
      await expect(workbench.checkbox(/^US-001/)).toHaveAttribute('aria-checked', 'false');
      await shot('1-stories');
    });

    await test.step('starts from the command palette', async () => {
      await workbench.runCommand('Ralph: Start Fresh Run');
      await expect(workbench.checkbox(/^US-001/)).toHaveAttribute(
        'aria-checked',
        'true',
        RUN_LIMIT,
      );
      await expect(workbench.statusBarItem(`Ralph US-002 1/${total}`)).toBeVisible(RUN_LIMIT);
      await expect(workbench.treeItem(/^US-002.*running, iteration 2/)).toBeVisible();
      await expect
        .poll(() => workbench.terminalText(), RUN_LIMIT)
        .toMatch(/=== Iteration 2\/20 ===/);
      const text = await workbench.terminalText();
      expect(text).toMatch(/Starting fresh-context orchestration/);
      expect(text).toMatch(/PRD Status: 1\/\d stories complete/);
      expect(text).toMatch(stage.words);
      expect(text).toMatch(stage.tool);
      expect(text).toMatch(/Iteration 1: story done · .* 1?\d turns · <?\$\d+\.\d\d/);
      await shot('2-running');
    });

    await test.step('reloads the window in the middle, and the run is found again', async () => {
      const [loop] = pidsOf(await newestJournal(stage.workspace));
      await workbench.reload();
      await workbench.view('Ralph');
      await expect(workbench.statusBarItem(`Ralph US-002 1/${total}`)).toBeVisible(RUN_LIMIT);
      await expect(workbench.treeItem(/^US-002.*running, iteration 2/)).toBeVisible();
      expect(loop !== undefined && (await isRunning(loop))).toBe(true);
      await workbench.runCommand('Ralph: Show Terminal');
      await expect.poll(() => workbench.terminalText()).toMatch(/=== Iteration 2\/20 ===/);
      expect(await workbench.terminalText()).toMatch(/Starting fresh-context orchestration/);
      await shot('3-reloaded');
    });

    await test.step('closes the window: the run continues, and the next window finds it', async () => {
      await workbench.closeWindow();
      await stage.release('US-002');
      await expect
        .poll(
          async () =>
            (await newestJournal(stage.workspace)).some(
              event => event.type === 'iteration.started' && event.iteration === 3,
            ),
          RUN_LIMIT,
        )
        .toBe(true);
      await workbench.openWindow();
      await workbench.view('Ralph');
      await expect(workbench.statusBarItem(`Ralph US-003 2/${total}`)).toBeVisible(RUN_LIMIT);
    });

    await test.step('watches three stories get ticked', async () => {
      await expect(workbench.checkbox(/^US-002/)).toHaveAttribute(
        'aria-checked',
        'true',
        RUN_LIMIT,
      );
      await stage.release('US-003');
      await expect(workbench.checkbox(/^US-003/)).toHaveAttribute(
        'aria-checked',
        'true',
        RUN_LIMIT,
      );
      await expect(workbench.page.getByText(`3 of ${total} done`)).toBeVisible();
      await expect(workbench.treeItem(/^US-001.*claimed/)).toBeVisible();
      await expect(workbench.treeItem(/^US-004.*running/)).toBeVisible(RUN_LIMIT);
    });

    await test.step('clicks a commit and sees its diff', async () => {
      await workbench
        .treeItem(/^US-001/)
        .locator('.monaco-tl-twistie')
        .click();
      await workbench.treeItem(stage.commit).click();
      await expect.poll(() => workbench.diffEditorFileNames(), RUN_LIMIT).toEqual([...stage.files]);
      await shot('4-diff');
    });

    await test.step('stops the run, and no process is left', async () => {
      await workbench.runCommand('Ralph: Stop');
      await expect(workbench.statusBarItem(`Ralph stopped · 3/${total}`)).toBeVisible(RUN_LIMIT);
      const events = await newestJournal(stage.workspace);
      const ended = events.at(-1);
      expect(ended?.type === 'run.ended' && ended.outcome).toBe('stopped');
      const pids = pidsOf(events);
      expect(pids).toHaveLength(5);
      for (const pid of pids) {
        await expect.poll(() => isRunning(pid)).toBe(false);
      }
      await expect(workbench.treeItem(/^US-004/)).not.toHaveAccessibleName(/running/);
      await expect(workbench.checkbox(/^US-004/)).toHaveAttribute('aria-checked', 'false');
      await shot('5-stopped');
    });

    await test.step('starts again, and the run continues to the end', async () => {
      await workbench.runCommand('Ralph: Start Fresh Run');
      for (let number = 4; number <= total; number++) {
        await stage.release(`US-00${number}`);
      }
      // If it ended in another way, or not at all, its last event says more than a window without words.
      await expect
        .poll(async () => (await newestJournal(stage.workspace)).at(-1), RUN_LIMIT)
        .toMatchObject({ type: 'run.ended', outcome: 'completed' });
      await expect(workbench.statusBarItem(`Ralph done · ${total}/${total}`)).toBeVisible(
        RUN_LIMIT,
      );
      await expect(
        workbench.notification(`Ralph is done: ${total} of ${total} stories.`),
      ).toBeVisible();
      await expect.poll(() => workbench.terminalText()).toMatch(/COMPLETE after \d iterations?/);
      await shot('6-done');
    });

    expect(workbench.consoleErrors()).toEqual([]);
  });
}

/** The sample, its stories from the second on held by a file each. */
async function demoStage(): Promise<Stage> {
  const { temp, home, workspace } = await sampleProject('ralph-fresh-demo-');
  const holds = path.join(temp.path, 'holds');
  await mkdir(holds);
  for (const storyId of ['US-002', 'US-003', 'US-004', 'US-005']) {
    await writeFile(path.join(holds, storyId), '');
  }
  return {
    workspace,
    env: cleanEnv({
      home,
      extra: { RALPH_FRESH_DEMO_HOLD: holds, RALPH_FRESH_DEMO_PACE_MS: '20' },
    }),
    settings: {},
    storyCount: 5,
    commit: /feat: create a todo/,
    files: ['src/app.ts', 'src/todoStore.ts', 'test/createTodo.test.ts'],
    words: /All 6 tests pass\./,
    tool: /● Write\(test\/createTodo\.test\.ts\)/,
    release: async storyId => {
      expect(existsSync(path.join(holds, storyId))).toBe(true);
      await rm(path.join(holds, storyId));
    },
    [Symbol.asyncDispose]: () => endAndRemove(temp, workspace),
  };
}

/** Four stories for Claude Code, whose model does not answer for a story before it is released. */
async function claudeStage(): Promise<Stage> {
  const claudePath = await ensureClaudeCode(line => console.log(line));
  const temp = await tempDir('ralph-fresh-claude-');
  const workspace = path.join(temp.path, 'todo');
  const home = path.join(temp.path, 'home');
  const stories = ['Add a todo', 'List all todos', 'Remove a todo', 'Rename a todo'].map(
    (title, index) => ({ id: `US-00${index + 1}`, title }),
  );
  await mkdir(home);
  await mkdir(path.join(workspace, '.omc'), { recursive: true });
  const userStories = stories.map(story => ({ ...story, passes: false }));
  await writeFile(
    path.join(workspace, '.omc', 'prd.json'),
    `${JSON.stringify({ project: 'todo', userStories }, null, 2)}\n`,
  );
  await gitRepo(workspace);
  const gates = new Map(
    stories.slice(1).map(({ id }) => [id, Promise.withResolvers<void>()] as const),
  );
  const play = storyScript(stories);
  const model = await ScriptedModel.start(async turn => {
    const storyId = /Next story: (US-\d+)/.exec(turn.prompt)?.[1] ?? '';
    await gates.get(storyId)?.promise;
    return play(turn);
  });
  return {
    workspace,
    env: model.env(home),
    settings: { 'ralphFresh.claudePath': claudePath },
    storyCount: stories.length,
    commit: new RegExp(commitSubject({ id: 'US-001', title: 'Add a todo' })),
    files: ['.omc/prd.json', '.omc/progress.txt', 'src/us-001.mjs'],
    words: /US-001 is done: Add a todo\./,
    tool: /● Write\(src\/us-001\.mjs\)/,
    release: async storyId => gates.get(storyId)?.resolve(),
    [Symbol.asyncDispose]: async () => {
      await endAndRemove(temp, workspace);
      await model.close();
    },
  };
}

/** A test that failed in the middle must not leave its run behind. */
async function endAndRemove(temp: TempDir, workspace: string): Promise<void> {
  await endRuns(workspace);
  await temp.remove();
}
