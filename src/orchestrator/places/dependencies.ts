import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import {
  cp,
  lstat,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { exists, isFolder } from '../../base/fileKind.ts';
import { type Message, say } from '../../base/say.ts';
import { runGit } from '../git/runGit.ts';
import { ALONE } from '../git/sharedClone.ts';
import { folderIn, hashOf } from './copiedFiles.ts';
import type { PlaceFiles, PlaceRecord } from './placeFiles.ts';
import { runSetup, type Setup } from './placeSetup.ts';

const run = promisify(execFile);

/** Dependency folders that are copied, and the file next to them that makes them such. */
const DEPENDENCY_FOLDERS: readonly { readonly name: string; readonly nextTo: readonly string[] }[] =
  [
    { name: 'node_modules', nextTo: ['package.json'] },
    { name: '.yarn/cache', nextTo: ['package.json'] },
    { name: '.yarn/unplugged', nextTo: ['package.json'] },
    // On Windows, its programs have the path of the user's tree in them.
    ...(process.platform === 'win32'
      ? []
      : ['.venv', 'venv'].map(name => ({ name, nextTo: [`${name}/pyvenv.cfg`] }))),
    { name: 'vendor', nextTo: ['composer.json', 'go.mod', 'Gemfile', 'Cargo.toml'] },
    { name: 'vendor/bundle', nextTo: ['Gemfile'] },
    { name: 'Pods', nextTo: ['Podfile'] },
    { name: 'deps', nextTo: ['mix.exs'] },
  ];

const LOCK_FILES =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.lock|poetry\.lock|uv\.lock|pdm\.lock|Pipfile\.lock|requirements[^/]*\.txt|Cargo\.lock|go\.sum|Gemfile\.lock|composer\.lock|Podfile\.lock|mix\.lock)$/;

/** Files in a dependency folder that an installer writes each time. */
const INSTALLER_NOTES = [
  ...['.package-lock.json', '.modules.yaml', '.yarn-integrity', '.yarn-state.yml'],
  ...['pyvenv.cfg', 'composer/installed.json', 'Manifest.lock'],
];

/** If a setup command makes more than this, only its dependency folders stay. */
const MAX_KEPT_FOLDERS = 500;
const MAX_SCRIPT_BYTES = 1024 * 1024;

type Dependencies = NonNullable<PlaceRecord['dependencies']>;

export interface DependencyOptions {
  readonly files: PlaceFiles;
  /** Top folder of the user's tree. */
  readonly root: string;
  /** As {@link dependencyKey} tells for the place. */
  readonly key: string;
  readonly setup?: Setup;
  /** Files that we put into the place, from its top folder: they are no dependencies. */
  readonly copied: readonly string[];
}

/**
 * A hash of the lock files in an index, and of the setup command: as long as it is the same, so are the
 * dependencies.
 *
 * @param listing what `git ls-files -s -z` prints
 */
export function dependencyKey(listing: string, setup: string | undefined): string {
  const locks = listing
    .split('\0')
    .filter(entry => LOCK_FILES.test(entry.slice(entry.indexOf('\t') + 1)));
  return createHash('sha256')
    .update([...locks, setup ?? ''].join('\0'))
    .digest('hex');
}

/** Whether the dependencies in a place are as they were prepared, as far as installers leave a trace. */
export async function areAsPrepared(top: string, known: Dependencies): Promise<boolean> {
  return (await marksOf(top, known.folders)) === known.marks;
}

/**
 * Prepares the dependencies of a place that has none. They are copied from the user's tree (file systems that can,
 * share the blocks) if its lock files are the same; then the setup command runs, if there is one. Never a link:
 * what an agent installs would change the user's tree.
 *
 * @throws {HumanError} if the setup command fails
 * @throws the reason of the signal, if it was aborted
 */
export async function prepareDependencies(
  options: DependencyOptions,
): Promise<Dependencies & { readonly warnings: readonly Message[] }> {
  const { copied, files, key, root, setup } = options;
  const warnings: Message[] = [];
  const wanted = await dependencyFolders(root);
  const differing = wanted.length === 0 ? [] : await differingLocks(root, files.tree);
  if (differing.length === 0 || setup === undefined) {
    for (const folder of wanted) {
      await copyFolder(path.join(root, folder), files, folder, setup?.signal);
      await rebaseLinks(path.join(files.tree, folder), root, files.tree);
      await rebasePrograms(path.join(files.tree, folder), root, files.tree);
    }
    if (differing.length > 0) {
      warnings.push(
        say(
          'The dependencies in {0} are a copy of yours, but {1} differs there from your folder. Set the command that installs them: placeSetup.',
          files.tree,
          differing[0] ?? '',
        ),
      );
    }
  }
  let folders: readonly string[] = wanted;
  if (setup !== undefined) {
    await runSetup(setup, files);
    // What it made is not made again, so it must stay.
    const made = (await ignoredEntries(files.tree)).filter(name => !copied.includes(name));
    folders = made.length > MAX_KEPT_FOLDERS ? await dependencyFolders(files.tree) : made;
  } else {
    folders = await existing(files.tree, wanted);
  }
  return { key, folders: [...folders], marks: await marksOf(files.tree, folders), warnings };
}

/** Dependency folders that git ignores, from the top folder of a work tree, with forward slashes. */
async function dependencyFolders(root: string): Promise<string[]> {
  const found: string[] = [];
  for (const folder of await ignoredEntries(root)) {
    const match = DEPENDENCY_FOLDERS.find(
      ({ name }) => folder === name || folder.endsWith(`/${name}`),
    );
    const parent = match && path.join(root, folder.slice(0, folder.length - match.name.length));
    const isOne =
      parent !== undefined &&
      (await isFolder(path.join(root, folder))) &&
      (await Promise.all(match?.nextTo.map(name => exists(path.join(parent, name))) ?? [])).some(
        there => there,
      );
    if (isOne) {
      found.push(folder);
    }
  }
  return found;
}

/** What git ignores in a work tree; a folder as a whole where that is possible. */
async function ignoredEntries(root: string): Promise<string[]> {
  const output = await runGit(
    root,
    ...['--no-optional-locks', ...ALONE, 'ls-files', '--others', '--ignored'],
    ...['--exclude-standard', '--directory', '-z'],
  );
  return output
    .split('\0')
    .filter(entry => entry !== '')
    .map(entry => entry.replace(/\/$/, ''));
}

/** The lock files that are not the same in two trees; those in only one of them, too. */
async function differingLocks(root: string, tree: string): Promise<string[]> {
  const [here, there] = await Promise.all([locksIn(root), locksIn(tree)]);
  const differing: string[] = [];
  for (const file of new Set([...here, ...there])) {
    const [one, other] = await Promise.all([root, tree].map(top => hashOf(path.join(top, file))));
    if (one === undefined || one !== other) {
      differing.push(file);
    }
  }
  return differing;
}

/** Tracked or not, but not ignored: nobody can know what an ignored one would be at another commit. */
async function locksIn(root: string): Promise<string[]> {
  const output = await runGit(
    root,
    ...['--no-optional-locks', ...ALONE, 'ls-files', '--cached', '--others'],
    ...['--exclude-standard', '-z'],
  );
  const locks = output.split('\0').filter(file => LOCK_FILES.test(file));
  const there = await Promise.all(locks.map(file => exists(path.join(root, file))));
  return locks.filter((_, index) => there[index]);
}

/** Copies a folder next to the place first, so that a half copy is never in it. */
async function copyFolder(
  from: string,
  files: PlaceFiles,
  folder: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const target = path.join(files.tree, folder);
  if (await exists(target)) {
    // Tracked at this commit, so it has the right content.
    return;
  }
  const half = path.join(await files.newFolder(), 'copy');
  try {
    const args =
      process.platform === 'darwin' ? ['-Rcp', from, half] : ['-a', '--reflink=auto', from, half];
    if (process.platform === 'win32') {
      throw new Error('There is no such program.');
    }
    await run('cp', args, { signal });
  } catch {
    signal?.throwIfAborted();
    // A simple `cp` does not know the option, and macOS cannot share blocks on all file systems.
    await rm(half, { recursive: true, force: true });
    await cp(from, half, {
      ...{ recursive: true, verbatimSymlinks: true, preserveTimestamps: true },
      mode: constants.COPYFILE_FICLONE,
    });
  }
  signal?.throwIfAborted();
  await folderIn(files.tree, path.posix.dirname(folder));
  await rename(half, target);
}

/** Links to packages of the same project, as workspaces have them: an agent would write through them into the user's tree. */
async function rebaseLinks(folder: string, from: string, to: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) {
      const link = path.join(entry.parentPath, entry.name);
      const target = await readlink(link);
      if (target === from || target.startsWith(from + path.sep)) {
        await rm(link);
        await symlink(path.join(to, path.relative(from, target)), link);
      }
    }
  }
}

/**
 * Scripts of a Python environment start with the path of its interpreter, and packages that are being edited are
 * named by their path: a copy would still use the user's tree.
 */
async function rebasePrograms(folder: string, from: string, to: string): Promise<void> {
  if (!(await exists(path.join(folder, 'pyvenv.cfg')))) {
    return;
  }
  const libraries = (await readdir(path.join(folder, 'lib')).catch(() => [])).map(version =>
    path.join(folder, 'lib', version, 'site-packages'),
  );
  for (const place of [folder, path.join(folder, 'bin'), ...libraries]) {
    for (const entry of await readdir(place, { withFileTypes: true }).catch(() => [])) {
      const file = path.join(place, entry.name);
      if (entry.isFile() && (await lstat(file)).size <= MAX_SCRIPT_BYTES) {
        const bytes = await readFile(file);
        const text = bytes.toString('latin1');
        // As bytes: such a file may have any encoding.
        const old = Buffer.from(from).toString('latin1') + path.sep;
        if (!text.includes('\0') && text.includes(old)) {
          const now = text.replaceAll(old, Buffer.from(to).toString('latin1') + path.sep);
          await writeFile(file, Buffer.from(now, 'latin1'));
        }
      }
    }
  }
}

async function marksOf(top: string, folders: readonly string[]): Promise<string> {
  const marks: string[] = [];
  for (const folder of folders) {
    for (const note of ['', ...INSTALLER_NOTES]) {
      const found = await lstat(path.join(top, folder, note)).catch(() => undefined);
      // The time of the folder itself says nothing: tools keep their caches in it.
      if (found !== undefined) {
        marks.push(
          `${folder}/${note} ${found.isDirectory() ? '' : `${found.mtimeMs} ${found.size}`}`,
        );
      }
    }
  }
  return createHash('sha256').update(marks.join('\n')).digest('hex');
}

async function existing(top: string, folders: readonly string[]): Promise<string[]> {
  const there = await Promise.all(folders.map(folder => exists(path.join(top, folder))));
  return folders.filter((_, index) => there[index]);
}
