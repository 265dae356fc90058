import { access, constants } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { cacheRoot, type Say, setUpLine } from './cache.ts';

const commandNames = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
];
const aptGet = '/usr/bin/apt-get';
const versionLimitMs = 30_000;
const downloadLimitMs = 10 * 60_000;

/**
 * Returns a Chromium that starts: the system's, otherwise Playwright's, otherwise (as root on Debian) the
 * distribution's.
 */
export async function ensureChromium(say: Say): Promise<string> {
  const chosen = process.env['RALPH_FRESH_CHROMIUM'];
  if (chosen) {
    if (await starts(chosen)) {
      return chosen;
    }
    throw new Error(
      `RALPH_FRESH_CHROMIUM names ${chosen}, which does not start. Name a Chromium or Chrome program, or unset it.`,
    );
  }
  return (
    (await systemChromium()) ??
    (await playwrightChromium(say)) ??
    (await debianChromium(say)) ??
    noChromium()
  );
}

/**
 * Switches for a Chromium that shows only local pages. The sandbox needs user namespaces, which root and many
 * containers do not have.
 */
export const chromiumArgs: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

function noChromium(): never {
  const remedies: Partial<Record<NodeJS.Platform, string>> = {
    linux: 'install the package chromium (Debian, Ubuntu: sudo apt-get install chromium)',
    darwin: 'install Google Chrome (brew install --cask google-chrome)',
    win32: 'install Google Chrome (winget install Google.Chrome)',
  };
  const remedy = remedies[process.platform] ?? 'install the package chromium';
  throw new Error(
    `No Chromium was found, and none could be installed. Please ${remedy}, or set RALPH_FRESH_CHROMIUM to one, then run the same command again.`,
  );
}

async function systemChromium(): Promise<string | undefined> {
  for (const candidate of [...onPath(), ...usualPlaces()]) {
    if ((await isExecutable(candidate)) && (await starts(candidate))) {
      return candidate;
    }
  }
  return undefined;
}

function onPath(): string[] {
  if (process.platform === 'win32') {
    return [];
  }
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter(path.isAbsolute);
  return commandNames.flatMap(name => folders.map(folder => path.join(folder, name)));
}

function usualPlaces(): string[] {
  if (process.platform === 'darwin') {
    return ['/Applications', path.join(homedir(), 'Applications')].flatMap(folder =>
      ['Chromium', 'Google Chrome', 'Microsoft Edge'].map(name =>
        path.join(folder, `${name}.app`, 'Contents', 'MacOS', name),
      ),
    );
  }
  if (process.platform === 'win32') {
    return ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA']
      .flatMap(variable => process.env[variable] ?? [])
      .flatMap(folder => [
        path.join(folder, 'Google', 'Chrome', 'Application', 'chrome.exe'),
        path.join(folder, 'Chromium', 'Application', 'chrome.exe'),
        path.join(folder, 'Microsoft', 'Edge', 'Application', 'msedge.exe'),
      ]);
  }
  return [];
}

async function playwrightChromium(say: Say): Promise<string | undefined> {
  const env = {
    PLAYWRIGHT_BROWSERS_PATH: path.join(cacheRoot(), 'playwright'),
    PLAYWRIGHT_SKIP_BROWSER_GC: '1',
    // If the download is not reachable, waiting does not help, and the next option should not be delayed by minutes.
    PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT: '15000',
  };
  const where = 'import("@playwright/test").then(m => console.log(m.chromium.executablePath()))';
  const asked = await execa(process.execPath, ['--eval', where], {
    cwd: import.meta.dirname,
    env,
    reject: false,
  });
  const executable = asked.stdout.trim();
  if (executable === '') {
    return undefined;
  }
  if (!(await isExecutable(executable))) {
    say(setUpLine('Downloading Chromium (about 180 MB, once) …'));
    const cli = fileURLToPath(import.meta.resolve('@playwright/test/cli'));
    const installed = await execa(process.execPath, [cli, 'install', '--no-shell', 'chromium'], {
      env,
      stdin: 'ignore',
      all: true,
      reject: false,
      timeout: downloadLimitMs,
    });
    if (installed.failed) {
      say(setUpLine('Chromium could not be downloaded.'));
      return undefined;
    }
  }
  return (await starts(executable)) ? executable : undefined;
}

async function debianChromium(say: Say): Promise<string | undefined> {
  if (!(await isExecutable(aptGet)) || process.getuid?.() !== 0) {
    return undefined;
  }
  say(setUpLine("Installing Debian's package chromium (about 300 MB, once) …"));
  const options = {
    env: { DEBIAN_FRONTEND: 'noninteractive' },
    stdin: 'ignore',
    all: true,
    reject: false,
  } as const;
  await execa(aptGet, ['update'], options);
  const installed = await execa(aptGet, ['install', '-y', 'chromium'], options);
  if (installed.failed) {
    say(
      setUpLine(
        `apt-get could not install chromium: ${installed.all?.slice(-500) || installed.shortMessage}`,
      ),
    );
  }
  return systemChromium();
}

/**
 * Checks that it runs: a name in the PATH may be a stub that only says what to install, or a library may be missing.
 */
async function starts(executable: string): Promise<boolean> {
  if (process.platform === 'win32') {
    // On this platform, `--version` opens a window.
    return isExecutable(executable);
  }
  const result = await execa(executable, ['--version'], {
    stdin: 'ignore',
    reject: false,
    timeout: versionLimitMs,
  });
  return !result.failed && /chrom|edge/i.test(result.stdout);
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
