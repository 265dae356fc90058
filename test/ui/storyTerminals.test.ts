import { existsSync } from 'node:fs';
import { appendFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { newestRunId } from '../../src/orchestrator/workspace/runIds.ts';
import { openStories, type Step } from '../support/ralph.ts';
import { type ScriptedRun, scriptedRun } from '../support/scriptedRun.ts';
import { expect, test } from '../support/story.ts';
import { variants } from '../support/variants.ts';
import { type Theme, Workbench } from '../support/workbench.ts';

/** It only ends a test that has failed. */
const RUN_LIMIT = { timeout: 180_000 };
const THEMES = ['light', 'hc-light', 'hc-dark', 'dark'] as const satisfies Theme[];
/** An icon, a link, the bar behind a story and the mark behind a subagent. */
const HOSTILE = 'US-2$(alert)[q](command:x)│›';
/** As it stands before its lines: the bar would end it. */
const HOSTILE_PREFIX = 'US-2$(alert)[q](command… │ ';

const uses = (id: string, name: string, input: object, parent: string | null): Step => ({
  event: {
    type: 'assistant',
    message: { content: [{ type: 'tool_use', id, name, input }] },
    parent_tool_use_id: parent,
  },
});
const gets = (id: string, content: string, parent: string | null): Step => ({
  event: {
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: id, content }] },
    parent_tool_use_id: parent,
  },
});
const ends = (id: string, summary: string): Step => ({
  event: {
    ...{ type: 'system', subtype: 'task_notification', tool_use_id: id, status: 'completed' },
    ...{ summary, usage: { total_tokens: 12_345, tool_uses: 1, duration_ms: 61_000 } },
  },
});
const denies = (tool: string): Step => ({
  event: {
    ...{ type: 'system', subtype: 'permission_denied', tool_name: tool },
    message: `Claude requested permissions to use ${tool}, but you haven't granted it yet.`,
  },
});

/** The number in the terminal's palette of the first letter of the first line with this text. */
function colorOf({ page }: Workbench, text: string): Promise<number | undefined> {
  const wrapper = page.locator('.terminal-wrapper:visible').first();
  return wrapper.evaluate((element, wanted) => {
    interface Line {
      translateToString(): string;
      getCell(column: number): { getFgColor(): number } | undefined;
    }
    interface Terminal {
      readonly buffer: {
        readonly active: { readonly length: number; getLine(index: number): Line | undefined };
      };
    }
    const active = (element as unknown as { xterm?: Terminal }).xterm?.buffer.active;
    for (let index = 0; index < (active?.length ?? 0); index++) {
      const line = active?.getLine(index);
      // Stories are padded to the longest one at work.
      if (line?.translateToString().replace(/ +│ /, ' │ ').includes(wanted)) {
        return line.getCell(0)?.getFgColor();
      }
    }
    return undefined;
  }, text);
}

/** An agent that says more than a window keeps. */
async function talkLong(run: ScriptedRun, storyId: string): Promise<void> {
  const events = await run.events();
  const start = events.findLast(
    event => event.type === 'iteration.started' && event.storyId === storyId,
  );
  const first = (events.at(-1)?.seq ?? 0) + 1;
  const lines = Array.from({ length: 25_000 }, (_, at) =>
    JSON.stringify({
      ...{ seq: first + at, at: new Date().toISOString(), type: 'agent.text', text: 'I continue.' },
      iteration: start && 'iteration' in start ? start.iteration : 0,
    }),
  );
  const files = new RunFiles(run.workspace);
  const journal = files.journalFile((await newestRunId(files)) ?? '');
  await appendFile(journal, `${lines.join('\n')}\n`);
}

test("with several agents, the terminal shows each line's story and subagent; a denied tool can be allowed", async () => {
  await using run = await scriptedRun({
    stories: openStories(3).map((story, at) => (at === 1 ? { ...story, id: HOSTILE } : story)),
    files: { '.omc/config.json': JSON.stringify({ lanes: 2 }) },
    calls: {
      'US-001': [
        [
          { text: 'I send two helpers.' },
          uses('a', 'Agent', { description: 'Look at the list' }, null),
          uses('b', 'Agent', { description: 'Look at $(alert) ›\u001b[31m' }, null),
          uses('a1', 'Read', { file_path: 'src/todo.js' }, 'a'),
          uses('b1', 'Bash', { command: 'npm test' }, 'b'),
          gets('a1', 'a\nb\nc', 'a'),
          gets('b1', 'all passed', 'b'),
          ends('a', 'The list is there.'),
          { write: ['new.js', 'one\ntwo\n'] },
          uses('c', 'Edit', { file_path: 'new.js:2' }, null),
          { wait: 'never' },
        ],
      ],
      [HOSTILE]: [
        [
          { text: 'I look something up. Allow Bash From Now On' },
          ...[denies('WebFetch'), denies('WebFetch')],
          { wait: 'second' },
          'work',
        ],
      ],
      'US-003': [[{ text: 'I am the third.' }, { wait: 'third' }, 'work']],
    },
  });
  await using workbench = await Workbench.open(run);
  const { page } = workbench;
  const holds = async (text: string | RegExp) => {
    await expect(page.locator('.terminal-wrapper:visible')).toBeVisible(RUN_LIMIT);
    const lines = async () => (await workbench.terminalText()).replaceAll(/ +│ /g, ' │ ');
    const shown = expect.poll(lines, RUN_LIMIT);
    await (typeof text === 'string' ? shown.toContain(text) : shown.toMatch(text));
  };
  const pick = async (entry: string) => {
    await workbench.runCommand('Ralph: Show Only One Story in the Terminal…');
    const row = page
      .locator('.quick-input-widget .monaco-list-row')
      .filter({ hasText: entry, visible: true });
    await expect(row).toHaveCount(1, RUN_LIMIT);
    await row.click();
    await expect(row).toHaveCount(0);
  };
  // What a link is, is found a moment after the mouse comes to it.
  const clickLink = async (text: string) => {
    const { x, y } = await workbench.terminalPlace(text);
    await page.mouse.move(x, y);
    await page.keyboard.down('Control');
    await page.mouse.move(x + 6, y);
    await page.mouse.click(x + 6, y);
    await page.keyboard.up('Control');
  };
  const pressCtrlC = async () => {
    await page.locator('.terminal-wrapper:visible .xterm-screen').click();
    await page.keyboard.press('Control+c');
  };
  await workbench.view('Ralph');
  await workbench.runCommand('Ralph: Start Fresh Run');

  await test.step('lines name their story, and nested ones their subagent', async () => {
    await holds('US-001 │   Look at the list ›   └  done · 1 min 1 s · 12.3K tokens · 1 tool call');
    await holds('US-001 │   Look at the list › ● Read(src/todo.js)');
    await holds('US-001 │   Look at $(alert) > ›   └  all passed');
    await holds(`${HOSTILE_PREFIX}  Not allowed: WebFetch · Allow WebFetch From Now On`);
    const text = await workbench.terminalText();
    expect(text.match(/Not allowed/g)).toHaveLength(1);
    // Cyan and magenta, in the order of the lanes.
    const lanes = [
      await colorOf(workbench, 'US-001 │ ● I send'),
      await colorOf(workbench, `${HOSTILE_PREFIX}● I look`),
    ];
    expect(lanes.toSorted()).toEqual([5, 6]);
    expect(await colorOf(workbench, 'US-001 │   Look at the list › ● Read')).toBe(lanes[0]);
    for (const theme of variants(THEMES, 1, 3)) {
      await workbench.setTheme(theme);
      await workbench.screenshot(`storyTerminals-1-all-${theme}`);
    }
  });

  await test.step('a path leads to the file of the agent, which nobody else has yet', async () => {
    expect(existsSync(path.join(run.workspace, 'new.js'))).toBe(false);
    await expect(async () => {
      await clickLink('new.js:2');
      await expect(page.getByRole('tab', { name: /new\.js/ })).toBeVisible({ timeout: 5_000 });
    }).toPass({ timeout: 180_000 });
    await expect(workbench.statusBarItem(/^Ln 2, Col 1/)).toBeVisible();
    await workbench.closeEditors();
  });

  await test.step('a single story, even after a reload', async () => {
    await pick('Story number 2');
    await holds('[Ralph Fresh] Only the lines of US-2$(alert)[q](command:x)│›, and of the run');
    await holds(`${HOSTILE_PREFIX}● I look something up.`);
    expect(await workbench.terminalText()).not.toMatch(/US-001 +│/);
    await expect(page.locator('.codicon-alert')).toHaveCount(0);
    const title = page.getByText(/Fresh Run · US-2/).first();
    await expect(title).toBeVisible();
    await workbench.screenshot('storyTerminals-2-one');
    const loaded = page.waitForEvent('load');
    await workbench.runCommand('Developer: Reload Window');
    await loaded;
    await holds(`${HOSTILE_PREFIX}● I look something up.`);
    expect(await workbench.terminalText()).not.toMatch(/US-001 +│/);
    await expect(title).toBeVisible();
  });

  await test.step("a denied tool is allowed only in the person's own settings", async () => {
    const told =
      'Your settings now allow WebFetch. It takes effect with the next agent that starts.';
    await expect(async () => {
      await clickLink('Allow WebFetch From Now On');
      await expect
        .poll(() => workbench.terminalText(), { timeout: 5_000 })
        .toContain(`[Ralph Fresh] ${told}`);
    }).toPass({ timeout: 180_000 });
    await expect(workbench.statusBarItem(told)).toBeVisible();
    expect(await workbench.notifications()).toEqual([]);
    await workbench.screenshot('storyTerminals-3-allowed');
    await workbench.runCommand('Preferences: Open User Settings (JSON)');
    const editor = page.locator('.monaco-editor .view-lines').first();
    await expect(editor).toContainText(/"ralphFresh\.allowedTools":\s*\[/, RUN_LIMIT);
    for (const tool of ['Read', 'Glob', 'WebFetch']) {
      await expect(editor).toContainText(`"${tool}"`);
    }
    await workbench.screenshot('storyTerminals-4-settings');
    expect(existsSync(path.join(run.workspace, '.vscode'))).toBe(false);
    const config = await readFile(path.join(run.workspace, '.omc', 'config.json'), 'utf8');
    expect(JSON.parse(config)).toEqual({ lanes: 2 });
    await workbench.closeEditors();
  });

  await test.step('all stories again', async () => {
    await pick('All Stories');
    await holds('US-001 │ ● I send two helpers.');
    await holds(`${HOSTILE_PREFIX}● I look something up.`);
    await expect(page.getByText(/Fresh Run · US-2/)).toHaveCount(0);
  });

  await test.step('the terminal of one story, where Ctrl-C stops that story', async () => {
    await workbench.view('Ralph');
    await workbench.chooseInMenu(/^US-001/, 'Show Terminal of This Story');
    await holds(/^ {2}Look at the list › ● Read\(src\/todo\.js\)$/m);
    expect(await workbench.terminalText()).not.toContain('I look something up');
    await pressCtrlC();
    await holds('[Ralph Fresh] Ctrl-C again stops the agent of US-001.');
    await expect(workbench.statusBarItem('Ralph 2 at work · 0/3')).toBeVisible();
    await pressCtrlC();
    await holds('[Ralph Fresh] Stopping the agent.');
    await expect(workbench.treeItem(/^US-003 .*, lane \d/)).toBeVisible(RUN_LIMIT);
    await expect(workbench.treeItem(/^US-001 .*, lane \d/)).toHaveCount(0);
    await expect(workbench.treeItem(/^US-2.*, lane \d/)).toBeVisible();
    const stops = (await run.events()).filter(({ type }) => type === 'story.paused');
    expect(stops.map(stop => 'storyId' in stop && stop.storyId)).toEqual(['US-001']);
    await pressCtrlC();
    await holds('No agent works on US-001 now, so there is none to stop.');
    await workbench.screenshot('storyTerminals-5-stopped');
  });

  await test.step('the next agent may use the tool', async () => {
    const notes = path.join(run.env['FAKE_AGENT_NOTES'] ?? '', 'agents.jsonl');
    const calls = (await readFile(notes, 'utf8'))
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { readonly story?: string; readonly allowed?: string });
    const allowed = (story: string) => calls.find(call => call.story === story)?.allowed;
    expect(allowed('US-001')).toBe('Read,Edit,Write,Bash,Glob,Grep');
    expect(allowed('US-003')).toBe('Read,Edit,Write,Bash,Glob,Grep,WebFetch');
  });

  await test.step('a long run says what is left out, and a story has all of its lines', async () => {
    await talkLong(run, 'US-003');
    await pick('Story number 2');
    await holds('[Ralph Fresh] Older lines of agents are left out above.');
    expect(await workbench.terminalText()).not.toContain('I look something up.');
    await workbench.screenshot('storyTerminals-6-long');
    await workbench.runCommand('Ralph: Allow a Denied Tool…');
    await expect(
      page.locator('.quick-input-widget .monaco-list-row').filter({ hasText: 'WebFetch' }),
    ).toHaveCount(1, RUN_LIMIT);
    await page.keyboard.press('Escape');
    await workbench.chooseInMenu(/^US-2/, 'Show Terminal of This Story');
    await holds('● I look something up.');
    expect(await workbench.terminalText()).not.toContain('left out above');
  });
  expect(workbench.consoleErrors()).toEqual([]);
});
