// npm run pictures: takes the pictures of the README from real runs in a real VS Code. The agent is the demo agent; where
// several work at once, it is the scripted fake agent of the tests, since the stories of the sample build on each other.
// Only some of them: npm run pictures -- lanes
import { copyFile, cp, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { expect } from '@playwright/test';
import { cleanEnv, gitRepo, tempDir } from '../test/support/cleanEnv.ts';
import type { Step } from '../test/support/ralph.ts';
import { scriptedRun, toolCall } from '../test/support/scriptedRun.ts';
import { Workbench } from '../test/support/workbench.ts';

const root = path.resolve(import.meta.dirname, '..');
const RUN_LIMIT = { timeout: 120_000 };

const asked = process.argv.slice(2);
if (asked.length === 0 || asked.includes('demo')) {
  await oneAgent();
}
if (asked.length === 0 || asked.includes('lanes')) {
  await severalAgents();
}

/** The demo agent on the sample. */
async function oneAgent(): Promise<void> {
  await using temp = await tempDir('ralph-fresh-pictures-');
  const workspace = path.join(temp.path, 'todo-api');
  const home = path.join(temp.path, 'home');
  await mkdir(home);
  await cp(path.join(root, 'sample'), workspace, { recursive: true });
  await gitRepo(workspace);

  await using workbench = await Workbench.open({
    workspace,
    env: cleanEnv({ home, extra: { RALPH_FRESH_DEMO_PACE_MS: '400' } }),
    theme: 'dark',
  });
  await workbench.view('Ralph');
  await workbench.runCommand('Ralph: Start Fresh Run');
  await expect(workbench.treeItem(/^US-004.*running/)).toBeVisible(RUN_LIMIT);
  await workbench
    .treeItem(/^US-001/)
    .locator('.monaco-tl-twistie')
    .click();
  await workbench.treeItem(/feat: create a todo/).click();
  await expect.poll(() => workbench.diffEditorFileNames(), RUN_LIMIT).toContain('src/app.ts');
  await expect.poll(() => workbench.terminalText(), RUN_LIMIT).toMatch(/All 2\d tests pass/);
  await keep('workbench', workbench);

  await workbench.runCommand('Ralph: Show Progress');
  await expect(
    workbench
      .webview()
      .getByText(/US-004/)
      .first(),
  ).toBeVisible(RUN_LIMIT);
  await workbench.runCommand('View: Hide Panel');
  await keep('progress', workbench);

  await expect(workbench.statusBarItem(/Ralph done/)).toBeVisible(RUN_LIMIT);
  await workbench.runCommand('View: Close All Editors');
  await workbench.runCommand("Ralph: Review the Run's Changes");
  await expect.poll(() => workbench.diffEditorFileNames(), RUN_LIMIT).toContain('src/app.ts');
  await keep('changes', workbench);
}

/** Three agents at once: one waits to land, one has landed, others work. */
async function severalAgents(): Promise<void> {
  const titles = [
    'Log in with a password',
    'Search orders',
    'Export orders as CSV',
    'Show the history of an order',
    'Reset a forgotten password',
    'Print an invoice',
  ];
  const stories = titles.map((title, at) => ({
    ...{ id: `US-00${at + 1}`, title, acceptanceCriteria: ['It works'], priority: at + 1 },
    ...{ passes: false, dependsOn: at === 4 ? ['US-001'] : [] },
  }));
  const work = (at: number, file: string, does: readonly Step[], release = 'never'): Step[][] => [
    [
      ...toolCall(
        'Read',
        { file_path: 'src/app.ts' },
        '    1\timport { orders } from "./orders.ts";',
      ),
      { text: `I start with a failing test for "${titles[at]}".` },
      ...toolCall('Edit', { file_path: file }, 'The file has been updated.'),
      ...does,
      { wait: release },
      { write: [file, `// ${titles[at]}\n`] },
      { tick: `US-00${at + 1}` },
      { commit: `feat: ${titles[at]?.toLowerCase()}` },
      { result: ['The story is done; all tests pass.'] },
    ],
  ];
  const tests = toolCall('Bash', { command: 'npm test' }, 'tests 31\npass 31\nfail 0');
  await using run = await scriptedRun({
    stories,
    files: {
      'src/app.ts': 'export {};\n',
      '.omc/config.json': JSON.stringify({
        lanes: 3,
        verify: [
          '[ "$(ls src | wc -l)" -lt 3 ] || until [ -f "$FAKE_AGENT_NOTES/never" ]; do sleep 0.2; done',
        ],
      }),
    },
    calls: {
      'US-001': work(0, 'src/logIn.ts', tests, 'first'),
      'US-002': work(1, 'src/search.ts', tests, 'second'),
      'US-003': work(2, 'src/csv.ts', [{ text: 'A row for each order; quotes are doubled.' }]),
      'US-004': work(3, 'src/history.ts', tests),
      'US-005': work(4, 'src/reset.ts', []),
    },
  });
  const { env, settings, workspace: folder } = run;
  await using window = await Workbench.open({ workspace: folder, env, settings, theme: 'dark' });
  const line = (words: RegExp) => expect(window.treeItem(words)).toBeVisible(RUN_LIMIT);
  await window.view('Ralph');
  await window.runCommand('Ralph: Start Fresh Run');
  await line(/^US-003 .*, lane 3/);
  await run.release('first');
  await line(/^US-001 .*, verified/);
  await line(/^US-004 .*, runs tests, lane 1/);
  await run.release('second');
  await line(/^US-002 .*, landing, checks run/);
  await line(/^US-005 .*, edits files, lane 2/);
  await window.runCommand('Ralph: Show Progress');
  await expect(window.webview().getByRole('region', { name: 'Landing queue' })).toBeVisible();
  await keep('lanes', window);
}

/** Saves a screenshot of the window for the README. */
async function keep(name: string, of: Workbench): Promise<void> {
  const target = path.join(root, 'media', 'readme', `${name}.png`);
  await mkdir(path.dirname(target), { recursive: true });
  await copyFile(await of.screenshot(`readme-${name}`), target);
  console.log(`Made ${path.relative(root, target)}`);
}
