// Creates a scratch copy of the sample with its own git repository, for experiments:
// node scripts/scratch.ts [FOLDER]. Prints the folder.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { RunFiles } from '../src/orchestrator/workspace/runFiles.ts';
import { livingLockOwner } from '../src/orchestrator/workspace/runLock.ts';

const exec = promisify(execFile);
const sample = path.resolve(import.meta.dirname, '..', 'sample');
/** Leftovers of a run or an install in the sample, which are not copied. */
const leftOut: ReadonlySet<string> = new Set(['node_modules', '.git', path.join('.omc', 'state')]);
/** In the copy's own git configuration: this folder was created here, so it may be replaced. */
const MARK = 'ralphfresh.scratch';

/**
 * Copies the sample to `target` and makes it a repository with one commit; the demo agent refuses to work inside
 * another one. An earlier scratch copy is replaced, unless a run is still active in it: then it is not changed. Any
 * other folder must be empty.
 *
 * @returns the folder's real path, which git and VS Code use
 * @throws if `target` contains something else, or git fails
 */
export async function makeScratch(target: string): Promise<string> {
  await mkdir(target, { recursive: true });
  const folder = await realpath(target);
  if ((await readdir(folder)).length > 0) {
    if (!(await isScratch(folder))) {
      throw new Error(`${folder} holds something else. Name an empty or a new folder.`);
    }
    if ((await livingLockOwner(new RunFiles(folder))) !== undefined) {
      return folder;
    }
    // The folder itself is kept: a window that shows it stays valid, and Windows would not remove it.
    for (const name of await readdir(folder)) {
      await rm(path.join(folder, name), { recursive: true, force: true, maxRetries: 10 });
    }
  }
  await cp(sample, folder, {
    recursive: true,
    filter: source => !leftOut.has(path.relative(sample, source)),
  });
  await git(folder, 'init', '--quiet', '--initial-branch=main');
  for (const [name, value] of [
    ['user.name', 'Ralph Fresh Sample'],
    ['user.email', 'sample@ralph-fresh.invalid'],
    // Nobody is there to enter a passphrase.
    ['commit.gpgsign', 'false'],
    // The demo agent identifies the sample's files by their content, on Windows too.
    ['core.autocrlf', 'false'],
    [MARK, 'true'],
  ] as const) {
    await git(folder, 'config', name, value);
  }
  await git(folder, 'add', '--all');
  await git(folder, 'commit', '--quiet', '--message', 'Start of the sample');
  return folder;
}

/** Whether the folder is the root of a repository that {@link makeScratch} created. */
async function isScratch(folder: string): Promise<boolean> {
  try {
    // Reads only this folder's own configuration, so that a folder inside such a repository does not count.
    const config = path.join(folder, '.git', 'config');
    return (await git(folder, 'config', '--file', config, '--get', MARK)).trim() === 'true';
  } catch {
    return false;
  }
}

/**
 * Runs git with the folder's own settings only: the user's hooks, templates and signing must not affect a scratch copy.
 */
async function git(folder: string, ...args: readonly string[]): Promise<string> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  const { stdout } = await exec('git', [...args], {
    cwd: folder,
    env: {
      ...Object.fromEntries(inherited),
      GIT_CONFIG_GLOBAL: devNull,
      GIT_CONFIG_NOSYSTEM: '1',
    },
  });
  return stdout;
}

if (import.meta.main) {
  try {
    const target = process.argv[2] ?? (await mkdtemp(path.join(tmpdir(), 'ralph-fresh-sample-')));
    console.log(await makeScratch(target));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
