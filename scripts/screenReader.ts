// npm run screenreader: lets Orca read the extension in a real VS Code, controlled by keyboard, and prints what it
// says.
import { expect } from '@playwright/test';
import { openStories } from '../test/support/ralph.ts';
import { ScreenReader } from '../test/support/screenReader.ts';
import { scriptedRun, toolCall } from '../test/support/scriptedRun.ts';
import { Workbench } from '../test/support/workbench.ts';

const RUN_LIMIT = { timeout: 60_000 };

await using reader = await ScreenReader.start(line => console.log(line));
await using run = await scriptedRun({
  stories: openStories(3),
  files: {
    '.omc/config.json': '{ "verify": ["echo all green"], "maxIterations": 8 }\n',
    'src/todo.js': 'export const a = 1;\nexport const b = 2;\n',
  },
  calls: [
    [
      { text: 'I look at the list of todos first.' },
      ...toolCall('Bash', { command: 'npm test' }, 'one\ntwo'),
      { wait: 'one' },
      { append: ['src/todo.js', 'export const c = 3;\n'] },
      'work',
    ],
    [{ wait: 'two' }, { result: ['Nothing to do.'] }],
    [{ wait: 'three' }, { result: ['Nothing to do.'] }],
    [{ wait: 'four' }, { result: ['Nothing to do.'] }],
    [
      { wait: 'five' },
      { result: ['A decision, please.\n<promise>NEEDS_HUMAN: Blue or green?</promise>', {}] },
    ],
    [{ wait: 'six' }, 'work'],
    [{ wait: 'seven' }, 'work'],
  ],
  settings: { 'ralphFresh.onQuestion': 'wait', 'editor.accessibilitySupport': 'on' },
});
const { env, settings, workspace } = run;
await using workbench = await Workbench.open({ workspace, env, settings, screen: reader.env });
const page = workbench.webview();
const heading = (name: string | RegExp, level = 1) => page.getByRole('heading', { name, level });

await workbench.view('Ralph');
await showPage();
await expect(heading('No run yet')).toBeVisible();
await reader.said();
title('The page before the first run: Tab to the button, then all of it from its heading on');
await press('Tab', '1', 'KP_Add');

title('Start, by the button; then the panel with the terminal is hidden');
await page.getByRole('button', { name: 'Start Fresh Run' }).focus();
await press('Return');
await expect(heading('Running')).toBeVisible(RUN_LIMIT);
await heard('');
await workbench.runCommand('View: Hide Panel');
await showPage();
await reader.said();
title('All of the page while an agent works');
await press('Tab', '1', 'KP_Add');
title('Its clock runs for five seconds');
await page
  .getByText(/^(1\d|[2-9]\d) s$/)
  .first()
  .waitFor();
await heard('');
title('The first agent makes progress; the next three do not, and the story is stuck');
for (const [index, note] of ['one', 'two', 'three', 'four'].entries()) {
  await run.release(note);
  await expect(heading(`Iteration ${index + 2}: Running`, 3)).toBeVisible(RUN_LIMIT);
  await heard(`iteration ${index + 1} ends`);
}

title('The Stories tree');
await workbench.runCommand('Ralph: Focus on Stories View');
await reader.said();
await press('Down', 'Down', 'Down', 'Up', 'Up', 'Right', 'Down', 'Down', 'Tab');
title('The Iterations tree');
await workbench.runCommand('Ralph: Focus on Iterations View');
await reader.said();
await press('Down', 'Down', 'Right', 'Down', 'Down');
title('The status bar');
await workbench.runCommand('View: Focus Status Bar');
await heard('');

title('Headings and landmarks of the page');
await showPage();
await press('Tab');
await press('1', 'h', 'h', 'h', 'h', 'h', 'h', 'h', '1', 'm', 'm', 'm', 'm', 'm');
title('The charts and their table');
await press('1', '2', '2', 'g', 'g', 'g', 't', 'Down', 'Down', 'Down', 'Down', 'Down');

title('An agent asks');
await showPage();
await reader.said();
await run.release('five');
await expect(heading('Needs you')).toBeVisible(RUN_LIMIT);
await heard('');
title('From the heading to the answer');
await press('1', 'KP_Add');
await page.getByRole('textbox').focus();
await heard('focus on the answer');
await reader.type('Green');
await heard('typed: Green');
await press('Tab', 'Return');
await expect(page.getByRole('textbox')).toHaveCount(0, RUN_LIMIT);
await expect(heading('Iteration 6: Running', 3)).toBeVisible(RUN_LIMIT);
await heard('');
title('The end');
await run.release('six');
await expect(heading('Iteration 7: Running', 3)).toBeVisible(RUN_LIMIT);
await heard('iteration 6 ends');
await run.release('seven');
await expect(heading('Complete')).toBeVisible(RUN_LIMIT);
await heard('');
title('All of the page after the run');
await press('1', 'KP_Add');

title('A note on a line of a change');
await workbench.treeItem(/^US-001/).click();
await workbench.page.keyboard.press('ArrowRight');
await workbench.treeItem(/^Commit/).click();
await expect(workbench.page.locator('.multiDiffEntry').first()).toBeVisible(RUN_LIMIT);
await reader.said();
await workbench.runCommand('Ralph: Tell the Next Agent About This Line…');
await heard('Tell the Next Agent About This Line');
await reader.type('Say it shorter');
await heard('typed: Say it shorter');
await press('ctrl+Return');

async function showPage(): Promise<void> {
  await workbench.runCommand('Ralph: Show Progress');
}

function title(words: string): void {
  console.log(`\n# ${words}`);
}

/** Presses one key after the other, and prints what is said for each. */
async function press(...keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    await reader.press(key);
    await heard(key);
  }
}

/** Prints what was said since the last call. */
async function heard(after: string): Promise<void> {
  const said = await reader.said();
  if (after !== '') {
    console.log(`[${after}]`);
  }
  for (const words of said) {
    console.log(`  ${words.replaceAll('\n', '\n  ')}`);
  }
  if (said.length === 0) {
    console.log('  (nothing)');
  }
}
