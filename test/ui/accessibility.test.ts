import type { FrameLocator } from '@playwright/test';
import { frameOf, heard, listen, readingOrder, violations } from '../support/accessibility.ts';
import { openStories } from '../support/ralph.ts';
import { type ScriptedRun, scriptedRun, toolCall } from '../support/scriptedRun.ts';
import { expect, oneWindow, test } from '../support/story.ts';
import { variants } from '../support/variants.ts';
import { type Theme, Workbench } from '../support/workbench.ts';

/** It only ends a test that has failed. */
const RUN_LIMIT = { timeout: 180_000 };
const THEMES: readonly Theme[] = ['light', 'dark', 'hc-dark', 'hc-light'];

/** A story that is done, and one whose agent asks and is then done. Each agent waits until it may continue. */
function project(): Promise<ScriptedRun> {
  return scriptedRun({
    stories: openStories(2),
    files: { '.omc/config.json': '{ "verify": ["echo all green"], "maxIterations": 9 }\n' },
    calls: [
      [
        { text: 'I look at the list first.' },
        ...toolCall('Bash', { command: 'npm test' }, 'one\ntwo'),
        { wait: 'one' },
        'work',
      ],
      [
        { wait: 'two' },
        { result: ['A decision, please.\n<promise>NEEDS_HUMAN: Blue or green?</promise>', {}] },
      ],
      [{ wait: 'three' }, 'work'],
    ],
    settings: { 'ralphFresh.onQuestion': 'wait' },
  });
}

async function showPage(workbench: Workbench): Promise<FrameLocator> {
  await workbench.runCommand('Ralph: Show Progress');
  return workbench.webview();
}

const status = (page: FrameLocator, name: string) => page.getByRole('heading', { name, level: 1 });
const button = (page: FrameLocator, name: string) =>
  page.getByRole('button', { name, exact: true });

test.describe('axe-core', () => {
  let run: ScriptedRun;
  const audited = oneWindow(async kept => {
    run = kept.use(await project());
    const { env, settings, workspace } = run;
    return Workbench.open({ workspace, env, settings, theme: 'light' });
  });

  for (const theme of variants(THEMES, 2)) {
    test(`axe-core finds no problem on the progress page in the theme ${theme}`, async () => {
      const workbench = audited();
      await workbench.closeEditors();
      await run.startAgain();
      await workbench.setTheme(theme);
      const page = await showPage(workbench);
      const audit = async () => expect(await violations(await frameOf(page))).toEqual([]);

      await expect(status(page, 'No run yet')).toBeVisible();
      await audit();
      await button(page, 'Start Fresh Run').click();
      await expect(status(page, 'Running')).toBeVisible(RUN_LIMIT);
      await expect(page.getByText('I look at the list first.')).toBeVisible(RUN_LIMIT);
      await workbench.runCommand('View: Hide Panel');
      await audit();
      await run.release('one');
      await run.release('two');
      await expect(status(page, 'Needs you')).toBeVisible(RUN_LIMIT);
      await page.getByText('Show as table').click();
      await audit();
      await page.getByLabel('Your answer').fill('Green.');
      await audit();
      await button(page, 'Send Answer').click();
      await run.release('three');
      await expect(status(page, 'Complete')).toBeVisible(RUN_LIMIT);
      await audit();
      await workbench.screenshot(`accessibility-${theme}`);
    });
  }
});

test('a screen reader gets the page in a sensible order, and each announcement once', async () => {
  await using run = await project();
  const { env, workspace } = run;
  await using workbench = await Workbench.open({
    ...{ workspace, env },
    settings: { ...run.settings, 'editor.accessibilitySupport': 'on' },
  });
  const page = await showPage(workbench);
  const lines = async () => (await readingOrder(await frameOf(page))).map(withoutFigures);
  await expect(status(page, 'No run yet')).toBeVisible();
  await listen(page);

  await test.step('before the first run', async () => {
    expect(await lines()).toEqual([
      '(main)',
      'heading 1: No run yet',
      'Ralph works through the stories in prd.json, with a fresh agent for each iteration. Its progress appears here.',
      '(group: Control the run)',
      'button: Start Fresh Run',
      '(log: Updates of the run)',
    ]);
  });

  await test.step('during it', async () => {
    await button(page, 'Start Fresh Run').click();
    await expect(status(page, 'Running')).toBeVisible(RUN_LIMIT);
    await expect(page.getByText('Bash(npm test)')).toBeVisible(RUN_LIMIT);
    await expect
      .poll(async () => part(await lines(), '(main)', '(region: Activity)'))
      .toEqual([
        '(main)',
        'heading 1: Running',
        '(group: Control the run)',
        ...[
          'Pause After Iteration',
          'Stop After Iteration',
          'Stop',
          'Skip Story',
          'Show Terminal',
        ].map(name => `button: ${name}`),
        ...['US-001', 'Story number 1', 'Iteration 1 of 9', ',', 'the agent works', ',', 'TIME'],
        '0 of 2 stories done',
      ]);
    const told = await lines();
    expect(told.filter(line => line.startsWith('heading'))).toEqual([
      'heading 1: Running',
      'heading 2: Activity',
      'heading 2: Over the iterations',
      'heading 2: What the last prompt contained',
      'heading 2: This run',
      'heading 2: Iterations',
      'heading 3: Iteration 1: Running',
    ]);
    const activity = part(told, '(region: Activity)', '(region: Over the iterations)');
    expect(activity).toContain('I look at the list first.');
    // Marks for the eye would be said as "black circle" and "equals".
    expect(activity.join(' ')).not.toMatch(/[●└✅]|==/);
    expect(told).toContain('button: Task: N tokens, N% of the prompt');
  });

  await test.step('when it asks the person', async () => {
    await run.release('one');
    await expect(page.getByRole('heading', { name: 'Iteration 2: Running' })).toBeVisible(
      RUN_LIMIT,
    );
    await run.release('two');
    await expect(status(page, 'Needs you')).toBeVisible(RUN_LIMIT);
    await expect
      .poll(async () => part(await lines(), 'button: Show Terminal', '(region: Activity)').slice(1))
      .toEqual([
        'Waiting before the next iteration',
        '(blockquote)',
        'Blue or green?',
        'The run waits for your answer.',
        'Your answer',
        'textbox: Your answer',
        'button: Send Answer',
        'The next agent is told the question and your answer.',
        ...['1 of 2 stories done', ',', '$0.50 spent'],
      ]);
    const told = await lines();
    // The figures of the charts, without a key pressed.
    expect(part(told, '(figure)', '(region: What the last prompt contained)')).toEqual([
      ...['(figure)', 'Stories left', 'image: 2 stories left at the start, 1 after 2 iterations.'],
      ...['(figure)', 'Total cost', 'image: $0.50 in total up to iteration 2.'],
      ...['(figure)', 'Cost per iteration', 'image: $0.25 per iteration on average.'],
      ...['(group)', 'Show as table', '(table: Over the iterations)'],
      ...['Iteration', 'Stories left', 'Cost', 'Total cost'].map(name => `columnheader: ${name}`),
      ...['rowheader: 0', '2', '$0.00'],
      ...['rowheader: 1', '1', '$0.25', '$0.25'],
      ...['rowheader: 2', '1', '$0.25', '$0.50'],
    ]);
  });

  await test.step('after it', async () => {
    await page.getByLabel('Your answer').fill('Green.');
    await button(page, 'Send Answer').click();
    // An agent that is done at once is no news: the page shows how things stand, and then it has ended already.
    await expect(page.getByRole('heading', { name: 'Iteration 3: Running' })).toBeVisible(
      RUN_LIMIT,
    );
    await run.release('three');
    await expect(status(page, 'Complete')).toBeVisible(RUN_LIMIT);
    await expect
      .poll(async () =>
        part(
          await lines(),
          'heading 3: Iteration 3: Story done',
          'heading 3: Iteration 2: Needs you',
        ),
      )
      .toEqual([
        'heading 3: Iteration 3: Story done',
        ...['TIME', ',', 'N tokens', ',', '$0.25', 'US-002', 'Story number 2'],
        ...['(list)', 'echo all green', 'passed', ',', 'TIME'],
        ...['(list)', 'button: Open the changes of commit HASH: feat: US-002'],
        ...['Changes', 'Prompt', 'Transcript', 'Check output'].map(
          name => `button: ${name} of iteration 3`,
        ),
      ]);
  });

  await test.step('what was announced', async () => {
    // They are on the page for a moment only.
    const brief = ['Preparing the first iteration…', 'the checks run'];
    await expect
      .poll(async () => (await heard(page)).filter(line => !brief.includes(line)))
      .toEqual([
        'Iteration 1 of 9: US-001 Story number 1',
        'Iteration 1: Story done.',
        'Iteration 2 of 9: US-002 Story number 2',
        'Iteration 2: Needs you.',
        'Needs you. The run waits for your answer.',
        'Iteration 3 of 9: US-002 Story number 2',
        'Iteration 3: Story done.',
        'Complete. All stories are done, after 3 iterations.',
      ]);
  });
});

/** Of two runs of the test these differ. */
function withoutFigures(line: string): string {
  return line
    .replace(/^(?:\d+ min )?\d+ s$|^\d+:\d\d(?::\d\d)?\s[AP]M$/, 'TIME')
    .replace(/\d+ tokens/, 'N tokens')
    .replace(/\d+% of/, 'N% of')
    .replace(/commit [0-9a-f]{7}/, 'commit HASH');
}

/** From one line to before another. */
function part(lines: readonly string[], from: string, to: string): readonly string[] {
  const start = lines.indexOf(from);
  return lines.slice(start, lines.indexOf(to, start));
}
