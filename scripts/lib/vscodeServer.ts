import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { execa } from 'execa';
import { parse } from 'jsonc-parser';
import { ensure, type Say } from './cache.ts';

interface TestedVsCode {
  /** The version of the npm package `code-server`. */
  readonly server: string;
  /**
   * Versions of further parts that this server needs: its Node, and ripgrep, which an install script would have
   * installed.
   */
  readonly parts?: { readonly node: string; readonly ripgrep: string };
}

export const vsCodeVersions = {
  /** VS Code 1.139.1, on Node 24. */
  newest: { server: '4.139.1' },
  /** VS Code 1.103.2, on its Node: on Node 24 its extension host hangs. */
  oldest: { server: '4.103.2', parts: { node: '22.17.0', ripgrep: '1.18.0' } },
} satisfies Readonly<Record<string, TestedVsCode>>;

/** The VS Code that the tests run on: the newest, unless `RALPH_FRESH_VSCODE` is `oldest`. */
export const testedVsCode = chosenVersion(process.env['RALPH_FRESH_VSCODE'] || 'newest');

function chosenVersion(name: string): keyof typeof vsCodeVersions {
  if (name === 'newest' || name === 'oldest') {
    return name;
  }
  throw new Error(`RALPH_FRESH_VSCODE is ${name}. Set it to newest or oldest, or unset it.`);
}

const startLimitMs = 60_000;
const politeStopMs = 3_000;
const stopLimitMs = 10_000;
const logTailChars = 8_000;

/** Settings that a workbench without an account, a marketplace and a welcome page needs. */
const defaultSettings: Readonly<Record<string, unknown>> = {
  'chat.disableAIFeatures': true,
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'extensions.ignoreRecommendations': true,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'telemetry.telemetryLevel': 'off',
  'window.autoDetectColorScheme': false,
  // This window must not react to servers that an agent starts.
  'remote.autoForwardPorts': false,
};

export interface VsCodeServerOptions {
  /** The folder with the extension's package.json; the extension must have been built. */
  readonly extensionPath: string;
  /** Folders of further installed extensions; none by default. */
  readonly otherExtensions?: readonly string[];
  /** Kept if given; otherwise a new folder is created, and removed by `stop()`. */
  readonly serverDataDir?: string;
  /** The whole environment of the server and of the extension host; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** If false, folders open in Restricted Mode until the user trusts them. */
  readonly trusted: boolean;
  /** Machine settings; they override ours and those in `serverDataDir`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /**
   * If true, the extension is loaded as one under development, and a page can run `extensionTestsPath` in its host. VS
   * Code then shows no notification toasts, so leave it false for people, and for tests that check what people see.
   */
  readonly forTests?: boolean;
  /** 0, the default, selects a free port. The browser stores the layout of the workbench per port. */
  readonly port?: number;
  /**
   * How long the extension host of a closed window waits for a reconnection; three hours by default. A closed tab
   * cannot say that it will not reconnect.
   */
  readonly reconnectionGraceSeconds?: number;
  readonly say?: Say;
}

export interface VsCodeServer {
  readonly port: number;
  readonly dataDir: string;
  /**
   * Address of a workbench with that folder or `.code-workspace` file. It contains the secret that the server requires.
   */
  url(folder: string, payload?: ReadonlyArray<readonly [string, string]>): string;
  /**
   * Replaces the machine settings and the environment of extension hosts, like the options at the start, for windows
   * that are opened from now on. Not on Windows.
   */
  configure(options: Pick<VsCodeServerOptions, 'env' | 'settings'>): Promise<void>;
  /** The end of the server's output. */
  logTail(): string;
  /**
   * Ends the extension hosts of closed windows, which otherwise wait for a reconnection. Without effect if processes
   * cannot be listed.
   */
  endExtensionHosts(): Promise<void>;
  /** Ends the server and all processes in its group, and waits for their end. Can be called twice. */
  stop(): Promise<void>;
}

export interface InstalledServer {
  /** The folder of the server's `package.json`. */
  readonly folder: string;
  /** The program that runs it. */
  readonly node: string;
}

/** Installs the server if it is missing. */
export async function ensureVsCodeServer(say: Say): Promise<InstalledServer> {
  const { server, parts }: TestedVsCode = vsCodeVersions[testedVsCode];
  const installed = await ensure(
    { folder: 'vscode-server', title: 'the VS Code server', size: 'about 600 MB' },
    server,
    async target => {
      await writeFile(path.join(target, 'package.json'), '{ "private": true }\n');
      // Without install scripts, no compiler is needed; only integrated shell terminals lack their native part.
      await npmInstall(target, `code-server@${server}`);
      const vscode = serverFolder(target);
      await npmInstall(vscode, '--omit=dev');
      // TypeScript for the built-in extension; without it, every opened .ts file causes an error message.
      await npmInstall(path.join(vscode, 'extensions'), '--omit=dev');
      if (parts !== undefined) {
        await installParts(target, parts);
      }
    },
    say,
  );
  return {
    folder: serverFolder(installed),
    node: parts === undefined ? process.execPath : ownNode(installed),
  };
}

async function installParts(
  target: string,
  { node, ripgrep }: NonNullable<TestedVsCode['parts']>,
): Promise<void> {
  const ripgrepPackage = `@vscode/ripgrep-${process.platform}-${process.arch}`;
  await npmInstall(target, `${nodePackage()}@${node}`, `${ripgrepPackage}@${ripgrep}`);
  await cp(
    path.join(target, 'node_modules', ripgrepPackage, 'bin'),
    path.join(serverFolder(target), 'node_modules', '@vscode', 'ripgrep', 'bin'),
    { recursive: true },
  );
}

function ownNode(installed: string): string {
  const folder = path.join(installed, 'node_modules', nodePackage(), 'bin');
  return path.join(folder, process.platform === 'win32' ? 'node.exe' : 'node');
}

/** The package with Node for this system; an install script of the package `node` would copy it from there. */
function nodePackage(): string {
  const { platform, arch } = process;
  const prefix = platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node';
  return `${prefix}-${platform === 'win32' ? 'win' : platform}-${arch}`;
}

/** Starts VS Code's server with the extension on 127.0.0.1, ready for a browser. */
export async function startVsCodeServer(options: VsCodeServerOptions): Promise<VsCodeServer> {
  if (Number(process.versions.node.split('.')[0]) !== 24) {
    throw new Error(
      `The VS Code server needs Node 24, this is ${process.version}. Start it through an npm script: npm start, npm test.`,
    );
  }
  const vscode = await ensureVsCodeServer(options.say ?? (() => {}));
  const dataDir =
    options.serverDataDir ?? (await mkdtemp(path.join(tmpdir(), 'ralph-fresh-server-')));
  const removeDataDir = async (): Promise<void> => {
    if (options.serverDataDir === undefined) {
      await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
    }
  };
  let running: RunningServer | undefined;
  try {
    await writeMachineSettings(dataDir, options.settings ?? {});
    await linkExtensions(dataDir, [
      ...(options.forTests ? [] : [options.extensionPath]),
      ...(options.otherExtensions ?? []),
    ]);
    const token = randomBytes(24).toString('hex');
    const tokenFile = path.join(dataDir, 'connection-token');
    await writeFile(tokenFile, token, { mode: 0o600 });

    running = new RunningServer(
      vscode.node,
      [
        path.join(vscode.folder, 'out', 'server-main.js'),
        '--host=127.0.0.1',
        `--port=${options.port ?? 0}`,
        `--connection-token-file=${tokenFile}`,
        '--accept-server-license-terms',
        `--server-data-dir=${dataDir}`,
        '--disable-telemetry',
        ...(options.reconnectionGraceSeconds === undefined
          ? []
          : [`--reconnection-grace-time=${options.reconnectionGraceSeconds}`]),
        ...(options.trusted ? ['--disable-workspace-trust'] : []),
        ...(options.forTests ? ['--enable-smoke-test-driver'] : []),
      ],
      options.env,
    );
    const port = await running.listening();
    const server = running;
    return {
      port,
      dataDir,
      url: (folder, payload = []) =>
        workbenchUrl(port, token, folder, [
          ...(options.forTests
            ? [['extensionDevelopmentPath', remoteUri(port, options.extensionPath)] as const]
            : []),
          ['skipWelcome', 'true'],
          ...payload,
        ]),
      configure: async ({ env, settings }) => {
        await replaceMachineSettings(dataDir, { ...defaultSettings, ...settings });
        await server.takeEnv(env);
      },
      logTail: () => server.logTail,
      endExtensionHosts: () => server.endExtensionHosts(),
      stop: async () => {
        await server.stop();
        await removeDataDir();
      },
    };
  } catch (error) {
    await running?.stop();
    await removeDataDir();
    throw error;
  }
}

/** The URI of a path in the workbench in the browser, for example for the payload `extensionTestsPath`. */
export function remoteUri(port: number, file: string): string {
  return `vscode-remote://localhost:${port}${pathToFileURL(file).pathname}`;
}

function workbenchUrl(
  port: number,
  token: string,
  folder: string,
  payload: ReadonlyArray<readonly [string, string]>,
): string {
  // Not an IP address: webviews need a secure context, and over plain HTTP only `localhost` is one.
  const url = new URL(`http://localhost:${port}/`);
  url.searchParams.set('tkn', token);
  const kind = folder.endsWith('.code-workspace') ? 'workspace' : 'folder';
  url.searchParams.set(kind, decodeURIComponent(pathToFileURL(folder).pathname));
  url.searchParams.set('payload', JSON.stringify(payload));
  return url.href;
}

async function writeMachineSettings(
  dataDir: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<void> {
  const text = await readFile(machineSettings(dataDir), 'utf8').catch(() => '{}');
  const earlier: unknown = parse(text);
  const kept = typeof earlier === 'object' && earlier !== null ? earlier : {};
  await replaceMachineSettings(dataDir, { ...defaultSettings, ...kept, ...settings });
}

function machineSettings(dataDir: string): string {
  return path.join(dataDir, 'data', 'Machine', 'settings.json');
}

async function replaceMachineSettings(dataDir: string, settings: object): Promise<void> {
  const file = machineSettings(dataDir);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(settings, undefined, 2)}\n`);
}

/**
 * Installs extensions as links, so that the build itself runs. Loading one as an extension under development would need
 * the smoke-test driver, with which VS Code shows no notification toasts.
 */
async function linkExtensions(dataDir: string, extensionPaths: readonly string[]): Promise<void> {
  const extensions = path.join(dataDir, 'extensions');
  await mkdir(extensions, { recursive: true });
  for (const extensionPath of extensionPaths) {
    await linkExtension(dataDir, extensions, extensionPath);
  }
}

async function linkExtension(
  dataDir: string,
  extensions: string,
  extensionPath: string,
): Promise<void> {
  const manifest: unknown = JSON.parse(
    await readFile(path.join(extensionPath, 'package.json'), 'utf8'),
  );
  const { publisher, name, version } = manifest as Record<string, unknown>;
  const id = `${publisher}.${name}`;
  for (const entry of await readdir(extensions)) {
    if (entry.startsWith(`${id}-`)) {
      await rm(path.join(extensions, entry), { recursive: true, force: true });
    }
  }
  // The server uses these lists without reading the manifests again, and recreates them if they are missing.
  for (const list of [
    'extensions/extensions.json',
    'extensions/.obsolete',
    'data/CachedProfilesData',
  ]) {
    await rm(path.join(dataDir, list), { recursive: true, force: true });
  }
  await symlink(
    extensionPath,
    path.join(extensions, `${id}-${version}`),
    process.platform === 'win32' ? 'junction' : 'dir',
  );
}

function serverFolder(installed: string): string {
  return path.join(installed, 'node_modules', 'code-server', 'lib', 'vscode');
}

/** `--prefix` in addition to the working directory: npm passes its own prefix to the scripts it runs. */
async function npmInstall(folder: string, ...args: readonly string[]): Promise<void> {
  const npmScript = process.env['npm_execpath'];
  const isNpm = npmScript !== undefined && /^npm-cli\.[cm]?js$/.test(path.basename(npmScript));
  const [command, first] = isNpm ? [process.execPath, [npmScript]] : ['npm', []];
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const result = await execa(
    command,
    [...first, 'install', ...args, ...options, '--prefix', folder],
    { cwd: folder, all: true, stdin: 'ignore', reject: false },
  );
  if (result.failed) {
    throw new Error(
      `npm could not install the VS Code server (${result.shortMessage ?? 'no reason given'}):\n${result.all.slice(-logTailChars)}`,
    );
  }
}

/**
 * Runs first in the server: if this process is killed, the pipe between them closes, and the server ends its group
 * instead of staying forever. It removes itself from `execArgv`, which the server passes on to the extension host,
 * together with the environment, which may differ for each window.
 */
function endWithParent(): void {
  process.execArgv.splice(0);
  process.once('disconnect', () => process.kill(-process.pid, 'SIGKILL'));
  let taken: object = {};
  process.on('message', (env: Record<string, string>) => {
    for (const name of Object.keys(taken)) {
      delete process.env[name];
    }
    Object.assign(process.env, env);
    taken = env;
    process.send?.('taken');
  });
}

class RunningServer {
  logTail = '';
  private readonly child: ChildProcess;
  private readonly pid: number | undefined;
  private readonly ended: Promise<string>;
  private stopping: Promise<void> | undefined;

  constructor(node: string, args: readonly string[], env: Readonly<Record<string, string>>) {
    const posix = process.platform !== 'win32';
    const preload = `data:text/javascript,${encodeURIComponent(`(${endWithParent.toString()})()`)}`;
    this.child = spawn(node, [...(posix ? ['--import', preload] : []), ...args], {
      env: { ...env },
      detached: posix,
      windowsHide: true,
      stdio: ['ignore', 'pipe', 'pipe', ...(posix ? (['ipc'] as const) : [])],
    });
    this.pid = this.child.pid;
    this.ended = new Promise(resolve => {
      this.child.once('error', error => resolve(error.message));
      this.child.once('exit', (code, signal) =>
        resolve(`it ended with ${signal ?? `code ${code}`}`),
      );
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.logTail = (this.logTail + text).slice(-logTailChars);
      });
    }
  }

  async listening(): Promise<number> {
    const limit = new AbortController();
    const port = new Promise<number>(resolve => {
      let printed = '';
      const look = (text: string): void => {
        printed += text;
        const found = /Extension host agent listening on (\d+)/.exec(printed);
        if (found !== null) {
          this.child.stdout?.off('data', look);
          resolve(Number(found[1]));
        }
      };
      this.child.stdout?.on('data', look);
    });
    const failed = Promise.race([
      this.ended,
      sleep(startLimitMs, `it was not ready after ${startLimitMs / 1_000} s`, {
        signal: limit.signal,
      }),
    ]).then(reason => {
      throw new Error(`The VS Code server did not start: ${reason}.\n${this.logTail}`);
    });
    failed.catch(() => {});
    try {
      return await Promise.race([port, failed]);
    } finally {
      limit.abort();
    }
  }

  async takeEnv(env: Readonly<Record<string, string>>): Promise<void> {
    const taken = once(this.child, 'message');
    this.child.send({ ...env });
    await taken;
  }

  async endExtensionHosts(): Promise<void> {
    const hosts = process.platform === 'linux' ? await extensionHostsOf(this.pid) : [];
    for (const pid of hosts) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
  }

  stop(): Promise<void> {
    this.stopping ??= this.endTree();
    return this.stopping;
  }

  private async endTree(): Promise<void> {
    if (this.pid === undefined) {
      return;
    }
    if (process.platform === 'win32') {
      await execa('taskkill', ['/T', '/F', '/PID', String(this.pid)], { reject: false });
      await this.ended;
      return;
    }
    const started = Date.now();
    let signal: NodeJS.Signals = 'SIGTERM';
    signalGroup(this.pid, signal);
    while (await groupLives(this.pid)) {
      const waited = Date.now() - started;
      if (waited > stopLimitMs) {
        throw new Error(`Processes of the VS Code server's group ${this.pid} do not end.`);
      }
      if (waited > politeStopMs && signal !== 'SIGKILL') {
        signal = 'SIGKILL';
        signalGroup(this.pid, signal);
      }
      await sleep(30);
    }
    await this.ended;
  }
}

function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // All of them have ended.
  }
}

/** The child processes of a server that run extensions; others watch files. Linux only. */
async function extensionHostsOf(server: number | undefined): Promise<number[]> {
  const file = `/proc/${server}/task/${server}/children`;
  const children = (await readFile(file, 'utf8').catch(() => '')).split(' ').filter(Boolean);
  const commands = await Promise.all(
    children.map(pid => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return children.flatMap((pid, at) =>
    commands[at]?.includes('--type=extensionHost') ? [Number(pid)] : [],
  );
}

async function groupLives(group: number): Promise<boolean> {
  try {
    process.kill(-group, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') {
    return true;
  }
  // In a container whose init process does not reap children, the zombies of a group remain visible forever.
  for (const entry of await readdir('/proc')) {
    const text = /^\d+$/.test(entry)
      ? await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '')
      : '';
    const [state, , processGroup] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    if (processGroup === String(group) && state !== 'Z' && state !== 'X') {
      return true;
    }
  }
  return false;
}
