import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { inflateSync } from 'node:zlib';

/**
 * Reads HEAD and young commits from git's own files, as git wrote them, without a process. Only what is plain:
 * whenever anything is unusual the answer is `undefined`, and git must be asked.
 */

/** A commit as it is in the object store. */
export interface RawCommit {
  readonly hash: string;
  /** Full hashes. */
  readonly parents: readonly string[];
  readonly subject: string;
  readonly author: string;
  /** ISO 8601, in the author's time zone. */
  readonly at: string;
}

/** HEAD of a work tree, and the folder where it and its commits are. */
export interface Head {
  /** Absolute path of the repository's common folder. */
  readonly commonDir: string;
  /** '' when HEAD is detached. */
  readonly branch: string;
  /** Full hash. */
  readonly hash: string;
}

const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** A branch by git's rules, and not the one that stands for a repository that keeps its refs elsewhere. */
const BRANCH = /^ref: refs\/heads\/(?!\.)((?!.*(?:\.\.|\/\.|\/\/|@\{))[^\p{Cc} \\:?*[~^]+)$/u;
/** A larger commit is left to git. */
const MAX_COMMIT_BYTES = 1 << 20;
/** Tens of thousands of refs. */
const MAX_FILE_BYTES = 8 << 20;
const AUTHOR = /^([^<>\n]*?) ?<[^<>\n]*> (\d{1,12}) ([+-])(\d\d)(\d\d)$/;

/**
 * @param dir absolute path of a folder in the work tree
 * @returns `undefined` when the files do not tell: no commit yet, no repository, another way to keep refs
 */
export function readHead(dir: string): Head | undefined {
  return unlessUnusual(() => {
    const gitDir = findGitDir(dir);
    if (gitDir === undefined) {
      return undefined;
    }
    const commonDir = commonDirOf(gitDir);
    if (!existsSync(path.join(commonDir, 'objects'))) {
      return undefined;
    }
    const head = readWhole(path.join(gitDir, 'HEAD')).toString().trimEnd();
    if (HASH.test(head)) {
      return { commonDir, branch: '', hash: head };
    }
    const [, branch] = BRANCH.exec(head) ?? [];
    const hash = branch === undefined ? undefined : readBranch(commonDir, branch);
    return branch === undefined || hash === undefined ? undefined : { commonDir, branch, hash };
  });
}

/**
 * The newest commits from HEAD on, newest first, as long as each has one parent.
 * @param known hash of a commit to stop at, which is left out
 * @param limit so many at most
 * @returns `undefined` when not all of them can be read, there is a merge, or history is not what it seems
 */
export function readCommits(
  { commonDir, hash }: Head,
  known: string | undefined,
  limit: number,
): RawCommit[] | undefined {
  return unlessUnusual(() => {
    if (hash !== known && hasOtherHistory(commonDir)) {
      return undefined;
    }
    const commits: RawCommit[] = [];
    for (let next: string | undefined = hash; next !== known && commits.length < limit; ) {
      const commit: RawCommit | undefined =
        next === undefined ? undefined : readCommit(commonDir, next);
      if (commit === undefined || commit.parents.length > 1) {
        return undefined;
      }
      commits.push(commit);
      [next] = commit.parents;
      if (next === undefined) {
        break;
      }
    }
    return commits;
  });
}

/** git's folder for the work tree that a folder is in; throws for what is no file of git's. */
export function findGitDir(dir: string): string | undefined {
  for (let folder = dir; ; folder = path.dirname(folder)) {
    const place = path.join(folder, '.git');
    if (existsSync(place)) {
      return existsSync(path.join(place, 'HEAD')) ? place : linkedGitDir(folder, place);
    }
    if (path.dirname(folder) === folder) {
      return undefined;
    }
  }
}

/** Of a work tree or a submodule whose `.git` is a file. */
function linkedGitDir(folder: string, file: string): string | undefined {
  const [, dir] = /^gitdir: (.+)\n?$/.exec(readWhole(file).toString()) ?? [];
  return dir === undefined ? undefined : path.resolve(folder, dir);
}

/** Where a repository with several work trees keeps what they share. */
export function commonDirOf(gitDir: string): string {
  const file = path.join(gitDir, 'commondir');
  return existsSync(file) ? path.resolve(gitDir, readWhole(file).toString().trimEnd()) : gitDir;
}

/** The file of its own first: git removes it only after the packed one is in its place. */
function readBranch(commonDir: string, branch: string): string | undefined {
  const file = path.join(commonDir, 'refs', 'heads', ...branch.split('/'));
  if (existsSync(file)) {
    const hash = readWhole(file).toString().trimEnd();
    return HASH.test(hash) ? hash : undefined;
  }
  const packed = readWhole(path.join(commonDir, 'packed-refs')).toString();
  const line = packed.split('\n').find(text => text.endsWith(` refs/heads/${branch}`));
  const [hash = ''] = line?.split(' ') ?? [];
  return HASH.test(hash) ? hash : undefined;
}

/** Shallow clones, grafts and replaced objects: what a commit says of its parents is not what git says then. */
function hasOtherHistory(commonDir: string): boolean {
  const place = (...names: string[]) => path.join(commonDir, ...names);
  const packed = place('packed-refs');
  return (
    existsSync(place('shallow')) ||
    existsSync(place('info', 'grafts')) ||
    (existsSync(place('refs', 'replace')) && readdirSync(place('refs', 'replace')).length > 0) ||
    (existsSync(packed) && readWhole(packed).toString().includes(' refs/replace/'))
  );
}

function readCommit(commonDir: string, hash: string): RawCommit | undefined {
  const file = path.join(commonDir, 'objects', hash.slice(0, 2), hash.slice(2));
  if (!existsSync(file)) {
    return undefined;
  }
  const bytes = inflateSync(readWhole(file), { maxOutputLength: MAX_COMMIT_BYTES });
  const text = bytes.toString();
  const start = text.indexOf('\0') + 1;
  if (!text.startsWith('commit ') || start === 0 || text.includes('\0', start)) {
    return undefined;
  }
  const end = text.indexOf('\n\n', start);
  const headers = text.slice(start, end === -1 ? text.length : end).split('\n');
  const valuesOf = (name: string) =>
    headers.flatMap(line => (line.startsWith(`${name} `) ? [line.slice(name.length + 1)] : []));
  const [author = ''] = valuesOf('author');
  const [, name = '', seconds, sign, hours, minutes] = AUTHOR.exec(author) ?? [];
  const parents = valuesOf('parent');
  if (seconds === undefined || valuesOf('encoding').length > 0 || !parents.every(isHash)) {
    return undefined;
  }
  const east = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  const local = new Date((Number(seconds) + east * 60) * 1_000).toISOString().slice(0, 19);
  return {
    hash,
    parents,
    subject: end === -1 ? '' : subjectOf(text.slice(end + 2)),
    author: name.trim(),
    at: `${local}${sign}${hours}:${minutes}`,
  };
}

function isHash(text: string): boolean {
  return HASH.test(text);
}

/** The first paragraph in one line, as git's `%s`. */
function subjectOf(message: string): string {
  const lines = message.split('\n').map(line => line.replace(/[ \t\v\f\r]+$/, ''));
  const first = lines.findIndex(line => line !== '');
  if (first === -1) {
    return '';
  }
  const end = lines.indexOf('', first);
  return lines.slice(first, end === -1 ? undefined : end).join(' ');
}

/** @throws for what is no file: a pipe would be waited for */
function readWhole(file: string): Buffer {
  const found = statSync(file);
  if (!found.isFile() || found.size > MAX_FILE_BYTES) {
    throw new Error(`${file} is not what git writes there.`);
  }
  return readFileSync(file);
}

/** A file may be gone or half written in this moment; git knows how to wait, and how to say what is wrong. */
function unlessUnusual<T>(read: () => T | undefined): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
