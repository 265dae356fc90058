// npm start: runs the loop on a scratch copy of the sample with the demo agent, then opens a second, untouched copy in
// VS Code with the extension. `npm start -- --headless` ends after the loop.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import path from 'node:path';
import { findProgram } from '../src/orchestrator/process/findProgram.ts';
import { endProcessesWith } from './lib/endProcesses.ts';
import { startVsCodeServer, type VsCodeServer } from './lib/vscodeServer.ts';
import { makeScratch } from './scratch.ts';

const root = path.resolve(import.meta.dirname, '..');
const cli = path.join(root, 'dist', 'cli.js');

/** Cleanup of everything that must not outlive this script, in order of creation; run in reverse order. */
const undo: (() => Promise<void>)[] = [];
let interruptedBy: NodeJS.Signals | undefined;
const interruption = new Promise<NodeJS.Signals>(resolve => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // A second signal only waits, too: the first one is being handled.
    process.on(signal, () => {
      interruptedBy ??= signal;
      resolve(signal);
    });
  }
});

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  const unknown = args.find(arg => arg !== '--headless');
  if (unknown !== undefined) {
    console.error(`npm start does not know ${unknown}. It knows: npm start -- --headless`);
    return 64;
  }
  const scratch = await mkdtemp(path.join(tmpdir(), 'ralph-fresh-start-'));
  undo.push(() => rm(scratch, { recursive: true, force: true, maxRetries: 10 }));

  say('Building …');
  const built = await run(process.execPath, [path.join(root, 'scripts', 'build.ts')]);
  if (built !== 0) {
    return built;
  }

  const first = await makeScratch(path.join(scratch, 'todo-api'));
  say(`A fresh agent for every story of ${first}:\n`);
  const code = await run(process.execPath, [cli, 'run', '--agent=demo', `--cwd=${first}`]);
  if (args.includes('--headless') || interruptedBy !== undefined || code !== 0) {
    return code;
  }

  const second = await makeScratch(path.join(scratch, 'todo-api-in-vscode'));
  // A run that is started there outlives its window by design, but must not outlive this demonstration.
  undo.push(async () => {
    const stop = [cli, 'stop', '--now', `--cwd=${second}`];
    await exitOf(spawn(process.execPath, stop, { cwd: root, stdio: 'ignore' }));
  });
  const desktop = await findProgram('code', {
    env: process.env,
    home: process.env['HOME'] ?? process.env['USERPROFILE'] ?? '',
    platform: process.platform,
  });
  return desktop === undefined ? inBrowser(second, scratch) : onDesktop(desktop, second, scratch);
}

async function onDesktop(code: string, folder: string, scratch: string): Promise<number> {
  say('\nNow you: VS Code opens an untouched copy. Click the Ralph icon, then "Start Fresh Run".');
  say('Close that window, or press Ctrl-C here, to end.');
  const userData = path.join(scratch, 'vscode');
  // `code` only hands over to VS Code, which would keep running if just `code` itself were ended.
  undo.push(() => endProcessesWith(userData));
  const ended = run(code, [
    '--new-window',
    '--wait',
    '--disable-workspace-trust',
    `--extensionDevelopmentPath=${root}`,
    `--user-data-dir=${userData}`,
    `--extensions-dir=${path.join(scratch, 'extensions')}`,
    folder,
  ]);
  return Promise.race([ended, interruption.then(() => 0)]);
}

async function inBrowser(folder: string, scratch: string): Promise<number> {
  // VS Code leaves sockets in its temporary folder. On systems other than Linux, their path would be too long there.
  const temp = path.join(scratch, 'tmp');
  await mkdir(temp);
  const server: VsCodeServer = await startVsCodeServer({
    extensionPath: root,
    env: {
      ...definedOnly(process.env),
      ...(process.platform === 'linux' ? { TMPDIR: temp } : {}),
    },
    trusted: true,
    say,
  });
  undo.push(() => server.stop());
  say('\nNow you: an untouched copy of the sample is open in VS Code, served to your browser:\n');
  say(`  ${server.url(folder)}\n`);
  say('Click the Ralph icon, then "Start Fresh Run". Ctrl-C here ends everything.');
  await interruption;
  return 0;
}

/** Runs a program to its end; a signal that reaches only this script is forwarded to it. */
function run(command: string, args: readonly string[]): Promise<number> {
  const child = spawn(command, args, {
    cwd: root,
    stdio: 'inherit',
    shell: /\.(cmd|bat)$/i.test(command),
  });
  void interruption.then(signal => child.exitCode === null && child.kill(signal));
  return exitOf(child);
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function say(text: string): void {
  console.log(text);
}

let exitCode = 1;
try {
  exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
} finally {
  for (const step of undo.reverse()) {
    try {
      await step();
    } catch (error) {
      console.error(`[clean-up] ${error instanceof Error ? error.message : error}`);
      exitCode ||= 1;
    }
  }
}
process.exit(exitCode);
