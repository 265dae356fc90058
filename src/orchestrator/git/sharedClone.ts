import { copyFile, mkdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Message, say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { gitResult, NO_HOOKS, runGit, writeGit } from './runGit.ts';

/**
 * A git folder that shares the objects of another repository, like the one that `git clone --shared` makes, but
 * without remotes. Its configuration has what commits and files of the other one depend on.
 */

/** The oldest git that can do it, and merge without a work tree. */
const OLDEST_GIT = [2, 38] as const;

/**
 * Options before a git command in a clone of ours: it runs no hook and no file monitor, starts no work in the
 * background, and cares about no submodule.
 */
export const ALONE: readonly string[] = [
  ...[...NO_HOOKS, '-c', 'core.fsmonitor=false'],
  ...['-c', 'gc.auto=0', '-c', 'maintenance.auto=false', '-c', 'submodule.recurse=false'],
  // A split index would be in two files, of which a copy has one; a clone is read through a bare repository.
  ...['-c', 'core.splitIndex=false', '-c', 'safe.bareRepository=all', '-c', 'core.quotepath=off'],
];

/** What is copied of the configuration in effect; all its names are in lower case. */
const COPIED_SECTIONS: ReadonlySet<string> = new Set([
  ...['user', 'author', 'committer', 'gpg', 'i18n', 'filter', 'diff', 'merge'],
]);
const COPIED_KEYS: ReadonlySet<string> = new Set([
  ...['autocrlf', 'eol', 'safecrlf', 'filemode', 'symlinks', 'ignorecase', 'longpaths'].map(
    key => `core.${key}`,
  ),
  ...['precomposeunicode', 'whitespace', 'commentchar', 'attributesfile', 'excludesfile'].map(
    key => `core.${key}`,
  ),
  ...['commit.gpgsign', 'commit.cleanup', 'tag.gpgsign', 'tag.forcesignannotated'],
]);
/** The program that git lacks if Git LFS is configured, but not installed. */
const NO_LFS: readonly (readonly [string, string])[] = [
  ...(['clean', 'smudge', 'process'] as const).map(key => [`filter.lfs.${key}`, ''] as const),
  ['filter.lfs.required', 'false'],
];

/**
 * Why a repository cannot be cloned like this at a commit, with the next step; `undefined` if it can.
 * @param root top folder of its work tree
 * @throws git's message, also if git is missing
 */
export async function problemWithSharing(
  root: string,
  commit: string,
): Promise<Message | undefined> {
  const version = (await runGit(root, 'version')).trim();
  const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(version) ?? []).map(Number);
  if (major < OLDEST_GIT[0] || (major === OLDEST_GIT[0] && minor < OLDEST_GIT[1])) {
    return say(
      'More than one lane needs git {0} or later, and this is {1}. Update git, or work with one lane.',
      OLDEST_GIT.join('.'),
      shorten(version, 80),
    );
  }
  const partial = await runGit(
    root,
    ...['config', '--get-regexp', String.raw`^(extensions\.partialclone|remote\..*\.promisor)$`],
  );
  if (/^extensions\.partialclone |\.promisor (?:true|1|yes|on)$/m.test(partial)) {
    return say(
      'This repository is a partial clone, which lacks objects that more than one lane needs. Make a full clone, or work with one lane.',
    );
  }
  const modules = await gitResult(root, [
    ...['config', '--blob', `${commit}:.gitmodules`, '--get-regexp', String.raw`\.path$`],
  ]);
  if (modules.code === 0 && modules.stdout.length > 0) {
    return say(
      'This repository has submodules, which more than one lane does not support. Work with one lane.',
    );
  }
  return undefined;
}

/**
 * Makes the git folder of a new clone. Its HEAD is on a branch at a commit; there is no index and no file yet.
 *
 * Not copied, as for any clone: hooks, remotes, credentials, and `core.hooksPath` of the repository's own
 * configuration: tools that set it, such as husky, set it again when dependencies are installed.
 *
 * @param root top folder of the work tree whose repository shares its objects
 * @param folder absolute path of a folder that is created, and gets the git folder as `.git`
 * @returns the path of the git folder
 * @throws git's message
 */
export async function makeSharedClone(
  root: string,
  folder: string,
  { branch, commit }: { readonly branch: string; readonly commit: string },
): Promise<string> {
  const [paths, config, tags] = await Promise.all([
    pathsOf(root),
    configOf(root),
    runGit(root, 'for-each-ref', '--format=%(objectname) %(refname)', 'refs/tags'),
  ]);
  await mkdir(folder, { recursive: true });
  // The usual template has nothing but examples of hooks: a dozen files to copy and delete for each agent.
  const template = config.has('init.templatedir') ? [] : ['--template='];
  // A newer git may be configured to store refs in another form than files.
  const moreEnv = { GIT_DEFAULT_REF_FORMAT: 'files' };
  await writeGit(
    folder,
    [
      ...['-c', 'core.fsmonitor=false', 'init', '--quiet', `--object-format=${paths.format}`],
      ...[...template, `--initial-branch=${branch}`],
    ],
    { moreEnv },
  );
  const gitDir = path.join(folder, '.git');
  const info = path.join(gitDir, 'info');
  await mkdir(info, { recursive: true });
  // Scripts of projects put their hooks there without making it.
  await mkdir(path.join(gitDir, 'hooks'), { recursive: true });
  await writeFile(path.join(gitDir, 'objects', 'info', 'alternates'), alternates(paths.objects));
  await writeFile(path.join(gitDir, 'packed-refs'), `${commit} refs/heads/${branch}\n${tags}`);
  await copyIfThere(paths.exclude, path.join(info, 'exclude'));
  await copyIfThere(paths.attributes, path.join(info, 'attributes'));
  await copyIfThere(paths.shallow, path.join(gitDir, 'shallow'));
  const own = copiedConfig(config);
  own.set('core.fsmonitor', 'false');
  own.set('core.splitindex', 'false');
  own.set('gc.auto', '0');
  own.set('maintenance.auto', 'false');
  if (isTrue(config.get('core.sparsecheckout'))) {
    await copyIfThere(paths.sparse, path.join(info, 'sparse-checkout'));
    own.set('core.sparsecheckout', 'true');
    own.set('core.sparsecheckoutcone', config.get('core.sparsecheckoutcone') ?? 'false');
  }
  if (config.has('filter.lfs.clean') || config.has('filter.lfs.process')) {
    if ((await gitResult(root, ['lfs', 'version'])).code === 0) {
      own.set('lfs.storage', lfsFolder(paths.common, config.get('lfs.storage')));
    } else {
      // Otherwise a file that is stored there could not be checked out at all.
      for (const [key, value] of NO_LFS) {
        own.set(key, value);
      }
    }
  }
  const text = [...own].map(([key, value]) => configLine(key, value)).join('');
  await writeFile(path.join(gitDir, 'config'), text, { flag: 'a' });
  return gitDir;
}

/** The content of git's file `objects/info/alternates`. */
export function alternates(...objectFolders: readonly string[]): string {
  return objectFolders.map(folder => `${quoted(folder)}\n`).join('');
}

/** The environment in which a git command also finds the objects of other repositories. */
export function withObjects(...objectFolders: readonly string[]): Record<string, string> {
  const list = objectFolders.map(quoted).join(path.delimiter);
  return { GIT_ALTERNATE_OBJECT_DIRECTORIES: list };
}

/** The absolute path of the folder with a repository's objects. */
export async function objectsOf(root: string): Promise<string> {
  return (await pathsOf(root)).objects;
}

async function pathsOf(root: string) {
  const names = ['objects', 'info/exclude', 'info/attributes', 'info/sparse-checkout', 'shallow'];
  const output = await runGit(
    root,
    ...['rev-parse', '--path-format=absolute', '--show-object-format', '--git-common-dir'],
    ...names.flatMap(name => ['--git-path', name]),
  );
  const [format = '', common = '', ...files] = output.split(/\r?\n/);
  const [objects = '', exclude = '', attributes = '', sparse = '', shallow = ''] = files;
  return { format, common, objects, exclude, attributes, sparse, shallow };
}

/** The configuration in effect: that of the person, too, which may depend on where the repository is. */
async function configOf(root: string): Promise<Map<string, string>> {
  const output = await runGit(root, 'config', '--list', '-z');
  return new Map(
    output
      .split('\0')
      .filter(entry => entry !== '')
      .map(entry => {
        const end = entry.indexOf('\n');
        // A name without a value means true.
        return end === -1 ? [entry, 'true'] : [entry.slice(0, end), entry.slice(end + 1)];
      }),
  );
}

function copiedConfig(config: ReadonlyMap<string, string>): Map<string, string> {
  return new Map(
    [...config].filter(
      ([key]) => COPIED_KEYS.has(key) || COPIED_SECTIONS.has(key.slice(0, key.indexOf('.'))),
    ),
  );
}

function isTrue(value: string | undefined): boolean {
  return value !== undefined && /^(?:true|yes|on|1)$/i.test(value);
}

function lfsFolder(commonDir: string, storage: string | undefined): string {
  return path.resolve(commonDir, storage ?? 'lfs');
}

/** A key with its value as git writes it to a file: `filter.lfs.clean` is in the section `filter "lfs"`. */
function configLine(key: string, value: string): string {
  const first = key.indexOf('.');
  const last = key.lastIndexOf('.');
  const escaped = (text: string) => text.replace(/[\\"]/g, String.raw`\$&`);
  const part = first === last ? '' : ` "${escaped(key.slice(first + 1, last))}"`;
  const words = escaped(value).replaceAll('\n', String.raw`\n`).replaceAll('\t', String.raw`\t`);
  return `[${key.slice(0, first)}${part}]\n\t${key.slice(last + 1)} = "${words}"\n`;
}

/** As git reads paths in lists: in quotes, with escapes as in C, which those of JSON are for a path. */
function quoted(folder: string): string {
  return JSON.stringify(process.platform === 'win32' ? folder.replaceAll('\\', '/') : folder);
}

async function copyIfThere(from: string, to: string): Promise<void> {
  if ((await stat(from).catch(() => undefined))?.isFile() === true) {
    await copyFile(from, to);
  }
}
