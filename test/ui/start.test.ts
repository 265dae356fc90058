import { spawn } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { chromium } from '@playwright/test';
import { cacheRoot } from '../../scripts/lib/cache.ts';
import { chromiumArgs, ensureChromium } from '../../scripts/lib/chromium.ts';
import { cleanEnv, tempDir } from '../support/cleanEnv.ts';
import { expect, test } from '../support/story.ts';

const root = path.resolve(import.meta.dirname, '..', '..');

test('npm start serves an untouched copy in a browser, and Ctrl-C ends everything', async () => {
  await using temp = await tempDir('npm-start-');
  const scratch = path.join(temp.path, 's');
  await mkdir(scratch);
  const child = spawn(process.execPath, ['scripts/bootstrap.mjs', 'scripts/start.ts'], {
    cwd: root,
    env: cleanEnv({
      home: temp.path,
      extra: { TMPDIR: scratch, RALPH_FRESH_DEMO_PACE_MS: '0', RALPH_FRESH_CACHE: cacheRoot() },
    }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', text => {
    said += text;
  });
  const ended = new Promise<number | null>(resolve => child.once('close', resolve));
  try {
    await expect.poll(() => said, { timeout: 180_000 }).toMatch(/http:\/\/localhost:\d+\S*\n/);
    expect(said).toMatch(/COMPLETE after 5 iterations/);
    const [url = ''] = /http:\/\/localhost:\d+\S*/.exec(said) ?? [];

    const executablePath = await ensureChromium(line => console.log(line));
    const browser = await chromium.launch({ executablePath, args: [...chromiumArgs] });
    try {
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
      await page.goto(url, { timeout: 180_000 });
      await page
        .locator('.part.activitybar')
        .getByRole('tab', { name: /^Ralph/ })
        .click({ timeout: 180_000 });
      // Where a container has several views, the buttons of one show while the mouse is over it.
      await page.getByRole('treeitem', { name: /^US-001/ }).hover({ timeout: 180_000 });
      await page.getByRole('button', { name: 'Start Fresh Run' }).click({ timeout: 180_000 });
      const first = page.getByRole('treeitem', { name: /^US-001/ }).getByRole('checkbox');
      await expect(first).toHaveAttribute('aria-checked', 'true', { timeout: 180_000 });
      await page.screenshot({ path: path.join(root, 'test-results/screenshots/npm-start.png') });
    } finally {
      await browser.close();
    }
    // In the middle of the run that was started in the window.
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(await readdir(scratch)).toEqual([]);
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
});
