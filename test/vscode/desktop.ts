import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { runTests, TestRunFailedError } from '@vscode/test-electron';
import { cacheRoot } from '../../scripts/lib/cache.ts';
import { tempDir } from '../support/cleanEnv.ts';
import { type Counts, prepare, type RunOptions, report } from './run.ts';

/**
 * Runs the suites in a desktop VS Code, which is downloaded once. `VSCODE_VERSION` chooses it: a version, `stable` (the
 * default) or `insiders`. On Linux without a screen, start it under `xvfb-run`.
 */
export async function runOnDesktop(options: RunOptions = {}): Promise<Counts> {
  await using prepared = await prepare(options);
  // Short, as VS Code puts a socket into it, whose path may not be longer than about a hundred characters.
  await using userData = await tempDir('rf-');
  const cachePath = path.join(cacheRoot(), 'vscode');
  await mkdir(cachePath, { recursive: true });
  try {
    await runTests({
      version: process.env['VSCODE_VERSION'] || 'stable',
      cachePath,
      extensionDevelopmentPath: prepared.extensionPath,
      extensionTestsPath: prepared.tests,
      extensionTestsEnv: withoutInherited(prepared.env),
      launchArgs: [
        prepared.workspace,
        '--disable-extensions',
        `--user-data-dir=${path.join(userData.path, 'user')}`,
        `--extensions-dir=${path.join(userData.path, 'extensions')}`,
      ],
    });
  } catch (error) {
    // Failed tests end VS Code with an error code; the counts tell them from a VS Code that did not start.
    if (!(error instanceof TestRunFailedError)) {
      throw error;
    }
  }
  return prepared.counts();
}

/** The launcher adds our variables to its own; a variable that is undefined is left out. */
function withoutInherited(
  env: Readonly<Record<string, string>>,
): Record<string, string | undefined> {
  const screen = [
    'DISPLAY',
    'XAUTHORITY',
    'WAYLAND_DISPLAY',
    'XDG_RUNTIME_DIR',
    'DBUS_SESSION_BUS_ADDRESS',
  ];
  const inherited = Object.keys(process.env).filter(name => !screen.includes(name));
  return { ...Object.fromEntries(inherited.map(name => [name, undefined])), ...env };
}

if (import.meta.main) {
  process.exitCode = report(await runOnDesktop());
}
