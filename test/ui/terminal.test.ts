import { isRunning, pidsOf } from '../support/journals.ts';
import { openStories } from '../support/ralph.ts';
import { type ScriptedRun, scriptedRun, toolCall } from '../support/scriptedRun.ts';
import { expect, test } from '../support/story.ts';
import { Workbench } from '../support/workbench.ts';

/** It only ends a test that has failed. */
const RUN_LIMIT = { timeout: 180_000 };

function open(run: ScriptedRun, theme: 'dark' | 'light' | 'hc-dark' = 'dark'): Promise<Workbench> {
  const { env, settings, workspace } = run;
  return Workbench.open({ workspace, env, settings, theme });
}

const output = Array.from({ length: 40 }, (_, index) => `output line ${index + 1}`).join('\n');
const hostile =
  '\u001b[2J\u001b]8;;file:///etc/passwd\u0007$(alert) [quit](command:workbench.action.quit)\u001b[31m <img onerror=x>';

test('the terminal reads like Claude Code, its paths open, and Ctrl-C stops in two steps', {
  tag: '@oldest',
}, async () => {
  await using run = await scriptedRun({
    stories: openStories(3).map((story, at) => (at === 0 ? { ...story, title: hostile } : story)),
    files: { 'src/todo.js': 'export const a = 1;\nexport const b = 2;\nexport const c = 3;\n' },
    calls: [
      [
        {
          text: 'I look at the list of todos first, and at what the tests say about it; then I shall change only what the story asks for, in src/todo.js and in nothing else.',
        },
        ...toolCall('Bash', { command: 'npm test' }, output),
        ...toolCall('Read', { file_path: 'src/todo.js' }, 'a\nb\nc'),
        ...toolCall('Edit', { file_path: 'src/todo.js:2' }, 'The file has been updated.'),
        ...toolCall('Grep', { pattern: 'nothing' }, `No such file\n${hostile}`, true),
        { commit: 'feat: half of it' },
        { wait: 'first' },
        'work',
      ],
      ['stay'],
    ],
  });
  await using workbench = await open(run);
  await workbench.view('Ralph');
  await workbench.runCommand('Ralph: Start Fresh Run');

  await test.step('tool calls with a summary, folded results, failures with their lines', async () => {
    await expect
      .poll(() => workbench.terminalText(), RUN_LIMIT)
      .toMatch(/● Grep\(nothing\)\n {2}└ {2}No such file\n/);
    const text = await workbench.terminalText();
    expect(text).toMatch(
      /● Bash\(npm test\)\n {2}└ {2}output line 1\n {5}output line 2\n {5}output line 3\n {5}… 37 more lines \(transcript of iteration 1\)\n/,
    );
    expect(text).toMatch(/● Read\(src\/todo\.js\)\n {2}└ {2}Read 3 lines\n● Edit/);
    // Wrapped at words, and continued below the text.
    expect(text).toMatch(/\n● I look at the list of todos first,.*\n {2}\S/);
    expect(text).toContain('$(alert) [quit](command:workbench.action.quit) <img onerror=x>');
    expect(text).not.toContain('\u001b');
    await workbench.screenshot('terminal-1-tools');
  });

  await test.step('a path opens the file at its line, the link for a transcript opens it', async () => {
    // What a path is, is found a moment after the mouse comes to it.
    await expect(async () => {
      const place = await workbench.terminalPlace('src/todo.js:2');
      await workbench.page.mouse.move(place.x, place.y);
      await workbench.page.keyboard.down('Control');
      await workbench.page.mouse.move(place.x + 6, place.y);
      await workbench.page.mouse.click(place.x + 6, place.y);
      await workbench.page.keyboard.up('Control');
      await expect(workbench.page.getByRole('tab', { name: /todo\.js/ })).toBeVisible({
        timeout: 5_000,
      });
    }).toPass({ timeout: 180_000 });
    await expect(workbench.statusBarItem(/^Ln 2, Col 1/)).toBeVisible();
    await workbench.screenshot('terminal-2-link');
  });

  await test.step('Ctrl-C once stops after the iteration, twice at once', async () => {
    await workbench.page.locator('.terminal-wrapper:visible .xterm-screen').click();
    await workbench.page.keyboard.press('Control+c');
    await expect
      .poll(() => workbench.terminalText(), RUN_LIMIT)
      .toContain('Stops after this iteration. Ctrl-C again stops now.');
    await expect(workbench.statusBarItem(/Ralph US-001 0\/3 · stopping/)).toBeVisible();
    const [loop] = pidsOf(await run.events());
    expect(loop !== undefined && (await isRunning(loop))).toBe(true);
    await workbench.page.keyboard.press('Control+c');
    await expect(workbench.statusBarItem('Ralph stopped · 0/3')).toBeVisible(RUN_LIMIT);
    const stops = (await run.events()).filter(({ type }) => type === 'stop.requested');
    expect(stops.map(stop => 'mode' in stop && stop.mode)).toEqual(['afterIteration', 'end']);
    for (const pid of pidsOf(await run.events())) {
      await expect.poll(() => isRunning(pid)).toBe(false);
    }
  });
  expect(workbench.consoleErrors()).toEqual([]);
});

test('closing the terminal does not end the run, and says so', async () => {
  await using run = await scriptedRun({
    stories: openStories(2),
    calls: [[{ wait: 'first' }, 'work'], ['stay']],
  });
  await using workbench = await open(run, 'light');
  await workbench.view('Ralph');
  await workbench.runCommand('Ralph: Start Fresh Run');
  await expect.poll(() => workbench.terminalText(), RUN_LIMIT).toMatch(/Spawning a fresh agent/);
  await workbench.runCommand('Terminal: Kill the Active Terminal Instance');
  const told = workbench.notification('The run continues without the terminal.');
  await expect(told).toBeVisible();
  await workbench.screenshot('terminal-3-closed');
  const [loop] = pidsOf(await run.events());
  expect(loop !== undefined && (await isRunning(loop))).toBe(true);
  await workbench.clickInNotification(told, 'Show Terminal');
  await expect.poll(() => workbench.terminalText(), RUN_LIMIT).toMatch(/Spawning a fresh agent/);

  // Once for each run is enough.
  await workbench.runCommand('Terminal: Kill the Active Terminal Instance');
  await run.release('first');
  await expect(workbench.statusBarItem(/Ralph US-002 1\/2/)).toBeVisible(RUN_LIMIT);
  expect(await workbench.notifications()).toEqual([]);
  await workbench.runCommand('Ralph: Stop');
  await expect(workbench.statusBarItem('Ralph stopped · 1/2')).toBeVisible(RUN_LIMIT);
  expect(workbench.consoleErrors()).toEqual([]);
});
