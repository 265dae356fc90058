import type { Page } from '@playwright/test';
import { openStories } from '../support/ralph.ts';
import { scriptedRun } from '../support/scriptedRun.ts';
import { expect, test } from '../support/story.ts';
import { Workbench } from '../support/workbench.ts';

/** It only ends a test that has failed. */
const RUN_LIMIT = { timeout: 180_000 };
/** After this, a command of the palette is called again. */
const TRY_MS = 10_000;

/** Where the pages opened from now on keep what they have said of an empty folder, if only for a moment. */
declare global {
  interface Window {
    shownWelcomes?: string[];
  }
}

/** @returns what ends it: later stories share the browser context */
function keepWelcomes(page: Page): Promise<AsyncDisposable> {
  return page.context().addInitScript(() => {
    const shown: string[] = [];
    window.shownWelcomes = shown;
    new MutationObserver(() => {
      for (const welcome of document.querySelectorAll<HTMLElement>(
        '.welcome-view, ralph-progress .empty',
      )) {
        const text = welcome.innerText.trim();
        if (text !== '' && !shown.includes(text)) {
          shown.push(text);
        }
      }
    }).observe(document, { childList: true, subtree: true, characterData: true });
  });
}

test('a run that ends while the window is closed has its complete terminal in the next window', async () => {
  await using run = await scriptedRun({
    stories: openStories(2),
    calls: [[{ text: 'I look at the list first.' }, { wait: 'first' }, 'work'], ['work']],
  });
  await using workbench = await Workbench.open(run);
  const terminalHolds = async (text: string | RegExp) => {
    await expect(workbench.page.locator('.terminal-wrapper:visible')).toBeVisible(RUN_LIMIT);
    await expect.poll(() => workbench.terminalText(), RUN_LIMIT).toMatch(text);
  };
  // There is this one while there is one terminal; else there is a list of them.
  const tab = () => workbench.page.locator('.part.panel .single-terminal-tab');
  await workbench.view('Ralph');
  await workbench.runCommand('Ralph: Start Fresh Run');
  await terminalHolds('I look at the list');

  await workbench.runCommand('Ralph: Show Progress');
  // A window that is left while the page loads its files reports an error of VS Code's own.
  const pageIsThere = () =>
    expect(workbench.webview().getByRole('heading', { name: 'Running', level: 1 })).toBeVisible(
      RUN_LIMIT,
    );
  await pageIsThere();

  await using _welcomes = await keepWelcomes(workbench.page);
  await test.step('a reload restores the terminal without an empty shell', async () => {
    // The window keeps that the panel is open, and starts a shell in it by itself.
    await workbench.reload();
    await expect(workbench.statusBarItem('Ralph US-001 0/2')).toBeVisible(RUN_LIMIT);
    await expect(tab()).toHaveText(/Ralph: Fresh Run/);
    await terminalHolds('I look at the list');
    await pageIsThere();
  });

  await test.step('the next window restores it, too, although the run has ended', async () => {
    await workbench.kept(text => text.includes('alone'));
    await workbench.closeWindow();
    await run.release('first');
    await expect.poll(async () => (await run.events()).at(-1)?.type, RUN_LIMIT).toBe('run.ended');
    await workbench.openWindow();
    await expect(workbench.statusBarItem('Ralph done · 2/2')).toBeVisible(RUN_LIMIT);
    await expect(tab()).toHaveText(/Ralph: Fresh Run/);
    await terminalHolds(/COMPLETE after 2 iter/);
    expect(await workbench.terminalText()).toMatch(
      /Starting fresh-context orchestration[\s\S]*I look at the list[\s\S]*Iteration 2: story done/,
    );
    await expect(workbench.webview().getByRole('heading', { name: 'Complete' })).toBeVisible();
    await workbench.screenshot('reload-1-ended');
    const welcomes = await Promise.all(
      workbench.page.frames().map(frame => frame.evaluate(() => window.shownWelcomes ?? [])),
    );
    expect(welcomes.flat(), 'Nothing false is said before the folder is known.').toEqual([]);
  });

  await test.step('after closing it by hand, the palette and the status bar reopen it', async () => {
    for (const show of [
      () => workbench.runCommand('Ralph: Show Terminal'),
      async () => {
        const entry = workbench.page.locator('.quick-input-widget .monaco-list-row', {
          hasText: 'Show Terminal',
        });
        await workbench.clickUntil(workbench.statusBarItem('Ralph done · 2/2'), entry);
        await entry.click();
      },
    ]) {
      await expect(async () => {
        // A busy window may not have made the terminal the active one yet.
        await workbench.runCommand('Terminal: Kill the Active Terminal Instance');
        await expect(workbench.page.locator('.terminal-wrapper:visible')).toHaveCount(0, {
          timeout: TRY_MS,
        });
      }).toPass(RUN_LIMIT);
      await show();
      await terminalHolds(/COMPLETE after 2 iter/);
    }
    // It is one of the window's own, and shown again it is not made again.
    await workbench.runCommand('Ralph: Show Terminal');
    await expect(tab()).toHaveText(/Ralph: Fresh Run/);
  });
  expect(workbench.consoleErrors()).toEqual([]);
});
