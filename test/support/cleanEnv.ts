import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Settings of a new repository, written at once: a `git config` for each would be a process. */
const CONFIG = `
[user]
\tname = Test Person
\temail = test@example.com
[commit]
\tgpgsign = false
[core]
\tautocrlf = false
[maintenance]
\tauto = false
`;

/** Without these, no program starts on Windows. */
const windowsNeeds = ['SystemRoot', 'SystemDrive', 'ComSpec', 'PATHEXT', 'WINDIR'];

export interface CleanEnvOptions {
  /** A temporary folder; on Linux, its subfolder `tmp` is used for temporary files. */
  readonly home: string;
  /** Folders that precede the system's, for example one with a scripted `claude`. */
  readonly path?: readonly string[];
  readonly extra?: Readonly<Record<string, string>>;
}

/** An environment created from scratch, so that a test does not depend on the machine's own variables. */
export function cleanEnv(options: CleanEnvOptions): Record<string, string> {
  const temp = tempBelow(options.home);
  const env: Record<string, string> = {
    PATH: [path.dirname(process.execPath), ...(options.path ?? []), ...systemPath()].join(
      path.delimiter,
    ),
    HOME: options.home,
    LANG: 'C.UTF-8',
    TMPDIR: temp,
    ...ownGit(options.home),
  };
  if (process.platform === 'win32') {
    for (const name of windowsNeeds) {
      const value = process.env[name];
      if (value !== undefined) {
        env[name] = value;
      }
    }
    Object.assign(env, {
      USERPROFILE: options.home,
      APPDATA: path.join(options.home, 'AppData', 'Roaming'),
      LOCALAPPDATA: path.join(options.home, 'AppData', 'Local'),
      TEMP: temp,
      TMP: temp,
    });
  }
  return { ...env, ...options.extra };
}

/** VS Code leaves sockets in its temporary folder. On systems other than Linux, their path would be too long. */
function tempBelow(home: string): string {
  if (process.platform !== 'linux') {
    return tmpdir();
  }
  const folder = path.join(home, 'tmp');
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Git settings of the user or the machine (signing, hooks, another default branch) must not affect a test. */
function ownGit(home: string): Record<string, string> {
  return {
    GIT_CONFIG_GLOBAL: path.join(home, '.gitconfig'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
  };
}

/** The system's own folders and the one of git; a user's `claude` is usually elsewhere. */
function systemPath(): string[] {
  const own = (process.env['PATH'] ?? '').split(path.delimiter).filter(path.isAbsolute);
  const git = own.find(folder =>
    existsSync(path.join(folder, process.platform === 'win32' ? 'git.exe' : 'git')),
  );
  const system =
    process.platform === 'win32'
      ? [path.join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32')]
      : ['/usr/local/bin', '/usr/bin', '/bin'];
  return [...new Set([...system, ...(git === undefined ? [] : [git])])];
}

export interface TempDir extends AsyncDisposable {
  readonly path: string;
  remove(): Promise<void>;
}

/** Creates a folder and returns its real path: VS Code and git would use a different one if /tmp is a link. */
export async function tempDir(prefix: string): Promise<TempDir> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), prefix)));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 10 });
  return { path: folder, remove, [Symbol.asyncDispose]: remove };
}

/** Makes the folder a repository on `main` with all its files in a first commit, and returns that commit. */
export async function gitRepo(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const git = gitIn(folder);
  // Git's own template has a dozen sample hooks, of which one is enough.
  await git('init', '--quiet', '--initial-branch=main', '--template=');
  const template = {
    ...{ config: CONFIG, 'info/exclude': '' },
    'hooks/pre-commit.sample': '#!/bin/sh\nexit 1 # Git never runs a sample.\n',
  };
  for (const [file, text] of Object.entries(template)) {
    const place = path.join(folder, '.git', file);
    await mkdir(path.dirname(place), { recursive: true });
    await appendFile(place, text, { mode: file.startsWith('hooks/') ? 0o755 : 0o644 });
  }
  await git('add', '--all');
  await git('commit', '--quiet', '--allow-empty', '--message', 'First commit');
  return git('rev-parse', 'HEAD');
}

/**
 * Empties the folder for other files, and forgets its commits. The repository itself stays: a window that has the folder
 * open watches it.
 */
export async function emptyRepo(folder: string): Promise<void> {
  for (const entry of await readdir(folder)) {
    if (entry !== '.git') {
      await rm(path.join(folder, entry), { recursive: true, force: true, maxRetries: 10 });
    }
  }
  const git = gitIn(folder);
  await git('symbolic-ref', 'HEAD', 'refs/heads/main');
  await git('update-ref', '-d', 'HEAD');
  // What runs have kept or landed would be told to the next one.
  const kept = await git('for-each-ref', '--format=%(refname)', 'refs/ralph-fresh');
  for (const ref of kept.split('\n').filter(Boolean)) {
    await git('update-ref', '-d', ref);
  }
}

function gitIn(folder: string): (...args: readonly string[]) => Promise<string> {
  // A git hook that runs the tests passes its own repository on in such variables.
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  const env = { ...Object.fromEntries(inherited), ...ownGit(path.join(folder, '.git')) };
  return async (...args) => {
    const { stdout } = await run('git', [...args], { cwd: folder, env });
    return stdout.trim();
  };
}
