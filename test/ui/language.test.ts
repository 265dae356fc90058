import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Language } from '../../scripts/lib/l10nStrings.ts';
import { JournalWriter } from '../../src/orchestrator/journal/journal.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { cleanEnv, type TempDir } from '../support/cleanEnv.ts';
import { EnglishTexts } from '../support/englishTexts.ts';
import { everyEvent } from '../support/everyEvent.ts';
import type { PrdStory } from '../support/ralph.ts';
import { sampleProject } from '../support/sampleProject.ts';
import { scriptedRun } from '../support/scriptedRun.ts';
import { expect, test } from '../support/story.ts';
import { inAll, variants } from '../support/variants.ts';
import { Workbench, type WorkbenchOptions } from '../support/workbench.ts';

const SLOW = { timeout: 180_000 };

let temp: TempDir;
let home: string;
let workspace: string;

test.beforeEach(async () => {
  ({ temp, home, workspace } = await sampleProject('ralph-fresh-language-'));
});
test.afterEach(() => temp.remove());

function open(options: Partial<WorkbenchOptions>): Promise<Workbench> {
  return Workbench.open({ workspace, env: cleanEnv({ home }), ...options });
}

const explanations = [
  {
    ...{ language: 'de', trusted: true, offered: 'Neue Story' },
    explained: 'Die Storys, in der Reihenfolge, in der gleiche Prioritäten laufen.',
  },
  {
    ...{ language: 'ja', trusted: false, offered: '新しいストーリー' },
    explained: 'ストーリー。優先度が同じ場合はこの順に実行します。',
  },
];
for (const { explained, language, offered, trusted } of variants(explanations, 1, 1)) {
  const folder = trusted ? 'a trusted' : 'an untrusted';
  test(`prd.json is explained in ${language}, in ${folder} folder`, async () => {
    await using workbench = await open({ language, trusted });
    const { page } = workbench;
    await workbench.view('Ralph');
    await expect(workbench.treeItem(/^US-001/)).toBeVisible();
    await workbench.typeIntoChoice(() => workbench.runCommand('Go to File...'), 'prd.json');
    await expect(page.locator('.quick-input-list .monaco-list-row').first()).toContainText(
      'prd.json',
    );
    await page.keyboard.press('Enter');
    const key = page.locator('.monaco-editor .view-line span', { hasText: /^"userStories"$/ });
    await workbench.hover(key.last(), explained);
    await workbench.page.screenshot({
      path: `test-results/screenshots/schema-hover-${language}.png`,
    });

    // Between the first story and the second. By number: actions above a story, when they come, move its lines
    // away from under the mouse.
    const lines = (await readFile(path.join(workspace, '.omc', 'prd.json'), 'utf8')).split('\n');
    const endOfFirst = lines.findIndex(line => line.includes('"US-002",')) - 1;
    await workbench.typeIntoChoice(
      () => workbench.runCommand('Go to Line/Column...'),
      `${endOfFirst}:999`,
    );
    await page.keyboard.press('Enter');
    await expect(
      workbench.statusBarItem(new RegExp(`^(Ln|Zeile|行) ?${endOfFirst}\\b`)),
    ).toBeVisible();
    await page.keyboard.press('Enter');
    await workbench.runCommand('Trigger Suggest');
    await expect(page.locator('.suggest-widget.visible')).toContainText(offered, SLOW);
    await workbench.screenshot(`schema-completion-${language}`);
    expect(workbench.consoleErrors()).toEqual([]);
  });
}

const REFUSED_DRAFT = { project: 7, branchName: 'n7', description: '№', userStories: [] };

/** Its words are in no language of the product. */
function aStory(number: number, more: object = {}): PrdStory {
  return {
    ...{ id: `US-00${number}`, title: `№ ${number}`, acceptanceCriteria: ['№'], priority: number },
    ...{ passes: false, ...more },
  };
}

/** A run that has ended, in which everything has happened. */
async function writeEveryEvent(folder: string): Promise<void> {
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: folder, encoding: 'utf8' });
  const files = new RunFiles(folder);
  const runId = '2026-03-01T12-00-00-000-aaaaaa';
  await mkdir(files.runDir(runId), { recursive: true });
  const writer = await JournalWriter.open(files.journalFile(runId));
  for (const event of everyEvent(commit.trim())) {
    writer.append(event);
  }
  writer.close();
}

for (const language of ['de', 'ja'] as const satisfies readonly Language[]) {
  inAll(test)(`no text of the extension is English in a window in ${language}`, async () => {
    const texts = await EnglishTexts.of(language);
    const t = (english: string) => texts.in(english);
    await using run = await scriptedRun({
      stories: [aStory(1, { epic: '№' }), aStory(2, { dependsOn: ['US-001'] }), aStory(3)],
      calls: [
        ['work'],
        [{ wait: 'go' }, { result: ['<promise>NEEDS_HUMAN: № 7?</promise>', {}] }],
        // Of a planner, whose answer is refused three times.
        [{ result: [`\`\`\`json\n${JSON.stringify(REFUSED_DRAFT)}\n\`\`\``, {}] }],
      ],
      settings: { 'ralphFresh.onQuestion': 'wait' },
    });
    await writeEveryEvent(run.workspace);
    const { env, settings, workspace: folder } = run;
    await using workbench = await Workbench.open({ workspace: folder, env, settings, language });
    const { page } = workbench;
    await page.setViewportSize({ width: 1900, height: 1150 });
    const prdFile = path.join(folder, '.omc', 'prd.json');
    const write = (...stories: unknown[]) =>
      writeFile(prdFile, `${JSON.stringify({ userStories: stories }, null, 2)}\n`);
    const nothingIsEnglish = async (where: string) => {
      await page.screenshot({ path: `test-results/screenshots/${language}-${where}.png` });
      expect.soft(await texts.shownBy(page), where).toEqual([]);
    };
    const ralph = (command: string) => workbench.runCommand(`Ralph: ${t(command)}`);
    const picks = page.locator('.quick-input-widget');
    const hover = page.locator('.monaco-hover:visible');

    await test.step('the views, their hovers and menus', async () => {
      await workbench.view('Ralph');
      await expect(workbench.treeItem(/^US-001/)).toBeVisible();
      await expect(workbench.treeItem(/^Iteration 9|^イテレーション 9/)).toBeVisible();
      await nothingIsEnglish('views');
      for (const [index, row] of [/^US-002/, /^(?:Iteration|イテレーション) 8/].entries()) {
        await workbench.hover(workbench.treeItem(row), index === 0 ? '№ 2' : '№ 7');
        await nothingIsEnglish(`hover-${index}`);
        await workbench.treeItem(row).click({ button: 'right' });
        const entry = index === 0 ? 'Skip Story' : 'Open Transcript';
        await expect(page.getByRole('menuitem', { name: t(entry) })).toBeVisible();
        await nothingIsEnglish(`menu-${index}`);
        await page.keyboard.press('Escape');
      }
      await workbench.statusBarItem('Ralph').first().hover();
      await expect(hover.getByRole('link').first()).toBeVisible();
      await nothingIsEnglish('status-bar');
      await workbench.statusBarItem('Ralph').first().click();
      await expect(picks.locator('.monaco-list-row').first()).toBeVisible();
      await nothingIsEnglish('actions');
      await page.keyboard.press('Escape');
    });

    await test.step('the documents of a run, and its page', async () => {
      const lines = page.locator('.editor-instance .view-lines');
      await ralph('Open Transcript');
      await expect(picks.locator('.monaco-list-row').first()).toBeVisible();
      await nothingIsEnglish('which-iteration');
      await page.keyboard.press('Enter');
      await expect(lines).toContainText('Ralph');
      await nothingIsEnglish('transcript');
      await ralph('Show Receipt');
      await expect(lines).toContainText('US-001');
      await nothingIsEnglish('receipt');
      await ralph('Show Progress');
      await expect(workbench.webview().getByRole('heading', { level: 1 })).toBeVisible();
      await workbench.webview().locator('summary').click();
      await nothingIsEnglish('progress');
    });

    await test.step('input boxes and questions', async () => {
      for (const [index, command] of [
        ...['Hint for the Next Agent…', 'Plan Stories from a Task…', 'Filter Stories…'],
        ...['Skip Story', 'Split Story with the Planner…', 'Revert Iteration…', 'Choose Checks'],
      ].entries()) {
        await ralph(command);
        await expect(picks.or(workbench.notification(/./)).first()).toBeVisible();
        await nothingIsEnglish(`asked-${index}`);
        await page.keyboard.press('Escape');
      }
    });

    await test.step('a story file with problems', async () => {
      await ralph('Open the Story File');
      await expect(page.locator('.codelens-decoration').first()).toBeVisible();
      await nothingIsEnglish('lenses');
      const four = aStory(4, { dependsOn: ['US-005'] });
      const five = aStory(5, { dependsOn: ['US-004'], priority: '№', passes: 'true' });
      await write(aStory(1), aStory(1, { acceptanceCriteria: [] }), aStory(3), four, five, {
        id: '№',
      });
      await workbench.runCommand('Problems: Focus on Problems View');
      await expect(page.locator('.markers-panel .monaco-list-row')).not.toHaveCount(0);
      await nothingIsEnglish('problems');
      await write(aStory(1), aStory(2, { dependsOn: ['US-001'] }), aStory(3));
    });

    await test.step('the messages of a loop that cannot start', async () => {
      const config = path.join(folder, '.omc', 'config.json');
      await writeFile(config, '{ "maxIterations": 0, "onStuck": "№" }');
      await ralph('Start Fresh Run');
      const refused = workbench.notification('config.json');
      await expect(refused).toContainText(t('a whole number from {0}').replace('{0}', '1'));
      await nothingIsEnglish('refused');
      await rm(config);
    });

    await test.step('a run, its terminal and its questions', async () => {
      await ralph('Start Fresh Run');
      await expect(workbench.statusBarItem('Ralph US-002').first()).toBeVisible(SLOW);
      await nothingIsEnglish('running');
      await run.release('go');
      const asked = workbench.notification('№ 7?');
      await expect(asked).toBeVisible(SLOW);
      await nothingIsEnglish('alert');
      await workbench.clickInNotification(asked, t('Answer…'));
      await expect(picks).toBeVisible();
      await nothingIsEnglish('answer');
      await picks.locator('input[type="text"]').press('Escape');
      expect(texts.among((await workbench.terminalText()).split('\n'))).toEqual([]);
      await ralph('Stop');
      await expect.poll(async () => (await run.events()).at(-1)?.type, SLOW).toBe('run.ended');
      await nothingIsEnglish('stopped');
      await ralph("Review the Run's Changes");
      await expect(page.locator('.multiDiffEntry').first()).toBeVisible();
      await nothingIsEnglish('changes');
    });

    await test.step('problems in the draft of a planning agent', async () => {
      await ralph('Plan Stories from a Task…');
      await page.locator('.quick-input-widget input[type="text"]').fill('№');
      await page.keyboard.press('Enter');
      const refused = workbench.notification(t('must be a text'));
      await expect(refused).toContainText(t('must not be empty'), SLOW);
      await nothingIsEnglish('draft');
    });

    await test.step('the walkthrough', async () => {
      await ralph('Open the Walkthrough');
      for (const step of await page.locator('.getting-started-step').all()) {
        await step.click();
        await expect(step).toHaveClass(/expanded/);
        await nothingIsEnglish('walkthrough');
      }
    });
  });
}
