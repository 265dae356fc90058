import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { setUpLine } from '../../scripts/lib/cache.ts';
import { cleanEnv, type TempDir, tempDir } from './cleanEnv.ts';

/** Programs by the Debian package that contains them. */
const PACKAGES: Readonly<Record<string, string>> = {
  orca: '/usr/bin/orca',
  xvfb: '/usr/bin/Xvfb',
  openbox: '/usr/bin/openbox',
  xdotool: '/usr/bin/xdotool',
  'at-spi2-core': '/usr/libexec/at-spi-bus-launcher',
  'dbus-daemon': '/usr/bin/dbus-daemon',
};

const LOOK_MS = 100;
/** After this much silence, it is considered finished. A screen reader cannot be asked whether it has finished. */
const SILENCE_MS = 1_500;
const READY_LIMIT_MS = 30_000;
const END_LIMIT_MS = 3_000;

/** No voice: without a sound card, it would block Orca. The spoken text is in Orca's log anyway. */
const SPEECH_SETTINGS = 'DisableAutoSpawn\n';

/** Orca's own file for customizations, in Python. Orca writes its debug log in large chunks, this one at once. */
const ORCA_CUSTOMIZATIONS = `import logging, os
said = logging.FileHandler(os.path.expanduser('~/said.log'), encoding='utf-8')
logging.getLogger('speech').addHandler(said)
logging.getLogger('speech').setLevel(logging.INFO)
`;

/**
 * Disables reading the name of each pressed key. Orca 43 sometimes mistakes a page in frames, like every webview of an
 * extension, for one in another tab, and would then suppress its announcements.
 */
const ORCA_CHOICES = { enableKeyEcho: false, presentLiveRegionFromInactiveTab: true };
const ORCA_SETTINGS = {
  general: ORCA_CHOICES,
  profiles: { default: { profile: ['Default', 'default'], ...ORCA_CHOICES } },
  pronunciations: {},
  keybindings: {},
};

/** Orca, the screen reader of Linux desktops, on a virtual screen and without audible speech. */
export class ScreenReader implements AsyncDisposable {
  /** With this environment, programs run on the virtual screen and are read. */
  readonly env: Readonly<Record<string, string>>;
  private readonly temp: TempDir;
  private readonly programs: ChildProcess[] = [];
  private read = 0;

  private constructor(temp: TempDir) {
    this.temp = temp;
    this.env = cleanEnv({
      home: temp.path,
      extra: {
        XDG_RUNTIME_DIR: path.join(temp.path, 'run'),
        DBUS_SESSION_BUS_ADDRESS: `unix:path=${path.join(temp.path, 'run', 'bus')}`,
        ACCESSIBILITY_ENABLED: '1',
      },
    });
  }

  /** Installs its dependencies if they are missing, as root on Debian. */
  static async start(say: (line: string) => void): Promise<ScreenReader> {
    await install(say);
    const reader = new ScreenReader(await tempDir('ralph-fresh-orca-'));
    try {
      await reader.begin();
      return reader;
    } catch (error) {
      await reader[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Presses a key like a keyboard does, given by its X name. */
  async press(key: string): Promise<void> {
    await execa('xdotool', ['key', key], { env: this.env, extendEnv: false });
  }

  async type(text: string): Promise<void> {
    await execa('xdotool', ['type', '--delay', '30', text], { env: this.env, extendEnv: false });
  }

  /** Everything that was said since the last call, once it is silent. */
  async said(): Promise<readonly string[]> {
    let all = await this.utterances();
    for (let silent = 0; silent < SILENCE_MS; silent += LOOK_MS) {
      await sleep(LOOK_MS);
      const now = await this.utterances();
      if (now.length > all.length) {
        silent = 0;
      }
      all = now;
    }
    const news = all.slice(this.read);
    this.read = all.length;
    return news;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.programs.toReversed()) {
      await end(program);
    }
    await this.temp.remove();
  }

  private async begin(): Promise<void> {
    const { env, temp } = this;
    const files = {
      '.config/speech-dispatcher/speechd.conf': SPEECH_SETTINGS,
      '.local/share/orca/orca-customizations.py': ORCA_CUSTOMIZATIONS,
      '.local/share/orca/user-settings.conf': JSON.stringify(ORCA_SETTINGS),
    };
    for (const [name, content] of Object.entries(files)) {
      const file = path.join(temp.path, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, content);
    }
    await mkdir(path.join(temp.path, 'run'), { mode: 0o700 });

    // `-noreset`: its first client only queries something, and a reset would follow when it disconnects.
    const screen = this.launch(
      '/usr/bin/Xvfb',
      '-displayfd',
      '3',
      '-noreset',
      '-screen',
      '0',
      '1600x1000x24',
    );
    const [display] = await Promise.race([
      once(screen.stdio[3] as NodeJS.ReadableStream, 'data'),
      once(screen, 'exit').then(() => {
        throw new Error('Xvfb has ended at once.');
      }),
    ]);
    Object.assign(env, { DISPLAY: `:${String(display).trim()}` });

    const bus = env['DBUS_SESSION_BUS_ADDRESS'] ?? '';
    this.launch('/usr/bin/dbus-daemon', '--session', '--nofork', `--address=${bus}`);
    await until('the session bus', () => exists(bus.replace('unix:path=', '')));
    this.launch(
      '/usr/libexec/at-spi-bus-launcher',
      '--launch-immediately',
      '--a11y=1',
      '--screen-reader=1',
    );
    this.launch('/usr/bin/openbox');
    this.launch('/usr/bin/orca');
    await until('Orca', async () => (await this.utterances()).includes('Screen reader on.'));
    await this.said();
  }

  private get logFile(): string {
    return path.join(this.temp.path, 'said.log');
  }

  private launch(program: string, ...args: readonly string[]): ChildProcess {
    const child = spawn(program, args, {
      env: { ...this.env },
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    this.programs.push(child);
    return child;
  }

  private async utterances(): Promise<readonly string[]> {
    const log = (await exists(this.logFile)) ? await readFile(this.logFile, 'utf8') : '';
    // In Python's notation, followed by the voice; the text may have several lines.
    return log
      .split(/^SPEECH OUTPUT: '/m)
      .slice(1)
      .map(part => part.replace(/'(?: ?\{[^{}]*\})?(?: voice=.*)?\s*$/, '').trim());
  }
}

async function install(say: (line: string) => void): Promise<void> {
  const missing: string[] = [];
  for (const [name, file] of Object.entries(PACKAGES)) {
    if (!(await exists(file))) {
      missing.push(name);
    }
  }
  if (missing.length === 0) {
    return;
  }
  const command = ['apt-get', 'install', '-y', '--no-install-recommends', ...missing];
  if (process.getuid?.() !== 0 || !(await exists('/usr/bin/apt-get'))) {
    throw new Error(`Orca needs a Debian with these packages: sudo ${command.join(' ')}`);
  }
  say(setUpLine(`Installing ${missing.join(', ')} …`));
  const options = { env: { DEBIAN_FRONTEND: 'noninteractive' } };
  await execa('apt-get', ['update'], options);
  await execa('apt-get', command.slice(1), options);
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const startedAt = Date.now(); !(await isSo()); await sleep(LOOK_MS)) {
    if (Date.now() - startedAt > READY_LIMIT_MS) {
      throw new Error(`Waited ${READY_LIMIT_MS / 1_000} s for ${what}.`);
    }
  }
}

function exists(file: string): Promise<boolean> {
  return access(file, constants.F_OK).then(
    () => true,
    () => false,
  );
}

/** Including the processes that it has started: each program has its own process group. */
async function end(program: ChildProcess): Promise<void> {
  const { pid } = program;
  if (pid === undefined || program.exitCode !== null || program.signalCode !== null) {
    return;
  }
  const ended = once(program, 'exit');
  process.kill(-pid, 'SIGTERM');
  await Promise.race([ended, sleep(END_LIMIT_MS)]);
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // None of them is left.
  }
  await ended;
}
