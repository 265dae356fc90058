import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import type { WatchedRun } from '../../../src/orchestrator/workspace/runWatcher.ts';
import type { StoryTreeNode } from '../../../src/views/stories/storyTree.ts';
import type { RalphFreshApi } from '../../../src/views/tools/api.ts';

const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
const prdFile = path.join(folder, '.omc', 'prd.json');

suite('Ralph Fresh inside VS Code', () => {
  let api: RalphFreshApi;
  let original: string;

  suiteSetup(async () => {
    original = await readFile(prdFile, 'utf8');
    const extension = vscode.extensions.getExtension<RalphFreshApi>('ralph-fresh.ralph-fresh');
    assert.ok(extension, 'the extension is installed');
    api = await extension.activate();
  });

  test('activates and registers every command of its manifest', async () => {
    const extension = vscode.extensions.getExtension('ralph-fresh.ralph-fresh');
    const declared: { command: string }[] = extension?.packageJSON.contributes.commands;
    const registered = new Set(await vscode.commands.getCommands(true));
    assert.deepEqual(
      declared.map(({ command }) => command).filter(command => !registered.has(command)),
      [],
    );
  });

  test('shows the stories with their states in words', async () => {
    const items = await storyItems();
    assert.deepEqual(
      items.map(({ label, description }) => [label, description]),
      [
        ['US-001 Create a todo', 'next'],
        ['US-002 List all todos', 'waits for US-001'],
        ['US-003 Refuse invalid todos', 'waits for US-002'],
        ['US-004 Complete a todo', 'waits for US-003'],
        ['US-005 Delete a todo', 'waits for US-004'],
      ],
    );
    assert.ok(items.every(item => checked(item) === false));
  });

  test('a tick changes one value in the file, and the story is shown as done by hand', async () => {
    const [first] = await storyNodes();
    assert.ok(first);
    await vscode.commands.executeCommand('ralphFresh.tickStory', first);
    assert.equal(
      await readFile(prdFile, 'utf8'),
      original.replace('"passes": false', '"passes": true'),
    );
    await until(async () => (await storyItems())[0]?.description === 'done by hand');
    assert.equal(checked((await storyItems())[0]), true);

    const [ticked] = await storyNodes();
    await vscode.commands.executeCommand('ralphFresh.untickStory', ticked);
    assert.equal(await readFile(prdFile, 'utf8'), original);
    await until(async () => (await storyItems())[0]?.description === 'next');
  });

  test('follows changes of the file and shows the line of an error', async () => {
    await writeFile(prdFile, original.replace('"passes": false', '"passes": true'));
    await until(async () => checked((await storyItems())[0]) === true);

    await writeFile(prdFile, '{\n  "userStories": [\n    { "id": }\n  ]\n}\n');
    await until(async () => (await storyItems())[0]?.contextValue === 'problem');
    const [problem] = await storyItems();
    assert.match(String(problem?.description), /^line 3: /);

    await writeFile(prdFile, original);
    await until(async () => (await storyItems()).length === 5);
  });

  test('starts a run, shows it as a background task, and stops it completely', async () => {
    await vscode.commands.executeCommand('ralphFresh.startRun');
    const run = await untilRun(
      ({ alive, state }) => alive && state.running[0]?.agentPid !== undefined,
    );
    assert.equal(run.state.agent, 'demo');
    const execution = vscode.tasks.taskExecutions.find(
      ({ task }) => task.definition['type'] === 'ralphFresh',
    );
    assert.equal(execution?.task.isBackground, true);
    assert.equal(`${execution.task.source}: ${execution.task.name}`, 'Ralph: Fresh Run');

    await vscode.commands.executeCommand('ralphFresh.stopRun');
    const { state, alive } = api.run.current;
    assert.equal(alive, false);
    assert.equal(state.outcome, 'stopped');
    assert.equal(state.exitCode, 130);
    for (const pid of [run.state.pid, run.state.running[0]?.agentPid]) {
      assert.ok(pid !== undefined);
      await until(async () => !(await isRunning(pid)));
    }
  });

  test('a second start continues from the files until every story is done', async () => {
    await vscode.commands.executeCommand('ralphFresh.startRun');
    await untilRun(({ alive, state }) => !alive && state.phase === 'ended', 540_000);
    assert.equal(api.run.current.state.outcome, 'completed');
    // The list follows the run a moment later.
    await until(async () =>
      (await storyItems()).every(item => checked(item) === true && item.description === 'claimed'),
    );
    assert.equal((await storyItems()).length, 5);
    const [first] = await storyNodes();
    const children = (await api.stories.getChildren(first)) ?? [];
    assert.equal(children[0]?.kind, 'criterion');
    assert.ok(children.some(({ kind }) => kind === 'commit'));
  });

  test('a commit opens from the context menu of its line', async () => {
    const [first] = await storyNodes();
    const children = (await api.stories.getChildren(first)) ?? [];
    const newest = children.find(node => node.kind === 'commit');
    assert.ok(newest);
    await vscode.commands.executeCommand('ralphFresh.openCommit', newest);
    await until(async () =>
      Boolean(
        vscode.window.tabGroups.activeTabGroup.activeTab?.label.startsWith(
          newest.commit.hash.slice(0, 7),
        ),
      ),
    );
  });

  test('a run does not redraw stories that it does not change', async () => {
    const changed: unknown[] = [];
    const listener = api.stories.onDidChangeTreeData?.(node => changed.push(node));
    const before = await storyNodes();
    await vscode.commands.executeCommand('ralphFresh.refreshStories');
    assert.deepEqual(changed, []);
    await vscode.commands.executeCommand('ralphFresh.untickStory', before[4]);
    await until(async () => changed.length > 0);
    const after = await storyNodes();
    assert.ok(after.every((node, index) => node === before[index]));
    await vscode.commands.executeCommand('ralphFresh.tickStory', after[4]);
    listener?.dispose();
  });

  test('a commit opens as a diff of its files', async () => {
    const [first] = await storyNodes();
    const commits = (await api.stories.getChildren(first)) ?? [];
    const feature = commits.find(
      node => node.kind === 'commit' && node.commit.subject.startsWith('feat:'),
    );
    assert.ok(feature);
    const item = await api.stories.getTreeItem(feature);
    assert.ok(item.command);
    await vscode.commands.executeCommand(item.command.command, ...(item.command.arguments ?? []));
    await until(async () => vscode.window.tabGroups.activeTabGroup.activeTab !== undefined);
    assert.match(
      vscode.window.tabGroups.activeTabGroup.activeTab?.label ?? '',
      /feat: create a todo/,
    );
  });

  test('the terminal of a run that was stopped shows it, and never starts it again', async () => {
    // Otherwise the run may be complete before it is stopped.
    const holds = process.env['RALPH_FRESH_DEMO_HOLD'];
    assert.ok(holds);
    const hold = path.join(holds, 'US-005');
    await writeFile(hold, '');
    await using cleanUp = new AsyncDisposableStack();
    cleanUp.defer(() => rm(hold));
    const last = (await storyNodes())[4];
    await vscode.commands.executeCommand('ralphFresh.untickStory', last);
    // Unlike the command, it opens no terminal.
    await vscode.lm.invokeTool('ralph_start_run', { input: {}, toolInvocationToken: undefined });
    await vscode.commands.executeCommand('ralphFresh.stopRun');
    const { runId, state } = api.run.current;
    assert.equal(state.outcome, 'stopped');
    const runs = path.join(folder, '.omc', 'state', 'runs');
    const journal = path.join(runs, runId ?? '', 'journal.jsonl');
    const before = await readFile(journal, 'utf8');
    // That of the last run, which the task opens again.
    assert.ok(vscode.window.terminals.some(({ name }) => name.includes('Fresh Run')));

    let isOver = false;
    const listener = vscode.tasks.onDidEndTask(({ execution: { task } }) => {
      isOver ||= task.definition['type'] === 'ralphFresh';
    });
    cleanUp.defer(() => listener.dispose());
    const showing = Promise.all(
      [1, 2].map(() => vscode.commands.executeCommand('ralphFresh.showTerminal')),
    );
    const isShown = until(async () => {
      // While it fetches the tasks for the Tasks menu, VS Code executes the one of the menu in place of ours.
      await vscode.tasks.fetchTasks({ type: 'ralphFresh' });
      return isOver || api.run.current.alive;
    });
    await Promise.all([showing, isShown]);
    assert.equal(await readFile(journal, 'utf8'), before);
    assert.equal(api.run.current.alive, false);
    assert.equal(api.run.current.runId, runId);
    await vscode.commands.executeCommand('ralphFresh.tickStory', (await storyNodes())[4]);
  });

  async function storyNodes(): Promise<StoryTreeNode[]> {
    return (await api.stories.getChildren()) ?? [];
  }

  async function storyItems(): Promise<vscode.TreeItem[]> {
    return Promise.all((await storyNodes()).map(async node => api.stories.getTreeItem(node)));
  }

  /** Resolves with the first state of the run that the condition is true for. */
  function untilRun(
    condition: (run: WatchedRun) => boolean,
    limitMs = 50_000,
  ): Promise<WatchedRun> {
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => {
        listener.dispose();
        reject(new Error(`The run did not get there: ${JSON.stringify(api.run.current.state)}`));
      }, limitMs);
      const look = (run: WatchedRun) => {
        if (condition(run)) {
          clearTimeout(limit);
          listener.dispose();
          resolve(run);
        }
      };
      const listener = api.run.onDidChange(look);
      look(api.run.current);
    });
  }
});

function checked(item: vscode.TreeItem | undefined): boolean | undefined {
  const state = item?.checkboxState;
  const value = typeof state === 'object' ? state.state : state;
  return value === undefined ? undefined : value === vscode.TreeItemCheckboxState.Checked;
}

/** Looks again until it is so; the limit only ends a test that has failed. */
async function until(condition: () => Promise<boolean>, limitMs = 120_000): Promise<void> {
  for (const started = Date.now(); !(await condition()); ) {
    assert.ok(Date.now() - started < limitMs, `did not come true: ${condition}`);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // Nobody may be there to take note of its end; then it is dead all the same.
  return !/^\d+ \(.*\) Z/s.test(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''));
}
