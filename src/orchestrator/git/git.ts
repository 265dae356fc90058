import { existsSync } from 'node:fs';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { type Message, say, sentences } from '../../base/say.ts';
import { asHumanError, isMissingProgram } from './gitErrors.ts';
import { gitResult, runGit } from './runGit.ts';

/** What the full name of a branch begins with. */
export const HEADS = 'refs/heads/';
/** Options before the git command. */
const READ_ONLY = ['--no-optional-locks', '-c', 'core.quotepath=off'];
const STATUS = 'status --porcelain=v2 --branch --no-ahead-behind --no-renames -z'.split(' ');

export interface Commit {
  readonly hash: string;
  readonly subject: string;
  readonly author: string;
  /** ISO 8601. */
  readonly at: string;
}

interface CommitQuestion {
  readonly limit?: number;
  readonly since?: string;
  readonly at?: string;
}

/** Commits that only one of two histories contains. */
interface Difference {
  readonly added: readonly Commit[];
  readonly gone: readonly Commit[];
}

/** Where HEAD is. */
export interface Head {
  /** Full hash; absent before the first commit. */
  readonly head?: string;
  /** '' if HEAD is detached. */
  readonly branch: string;
}

/** What a folder is to git. */
export interface GitFolder {
  /** The work tree's top folder; absent outside of a work tree. */
  readonly root?: string;
  /** Whether it is part of a repository without files: a bare one, or the `.git` folder of another one. */
  readonly isBare: boolean;
}

export interface WorkTreeStatus extends Head {
  /** Whether the work tree differs from HEAD; untracked files count, ignored ones do not. */
  readonly hasUncommittedChanges: boolean;
  /** Changed paths, relative to the repository's root; a completely new folder ends with a slash. */
  readonly changed: readonly string[];
}

/**
 * Reads a git repository. Never writes, takes no optional lock (an agent may be committing), and does not run
 * external diff or text conversion programs from the repository's configuration.
 */
export class GitRepository {
  private readonly dir: string;
  private lastDifference: (Difference & { readonly range: string }) | undefined;
  private lastRecent: { readonly at: string; readonly commits: readonly Commit[] } | undefined;

  /** @param dir absolute path of a folder in the work tree */
  constructor(dir: string) {
    this.dir = dir;
  }

  /**
   * @returns the work tree's top folder, or `undefined` outside a work tree
   * @throws {HumanError} if git is missing or rejects the repository, with git's message
   */
  async root(): Promise<string | undefined> {
    return (await this.folder()).root;
  }

  /**
   * {@link root}, and whether there are no files at all, with one process.
   * @throws {HumanError} if git is missing or rejects the repository, with git's message
   */
  async folder(): Promise<GitFolder> {
    const asked = ['--is-bare-repository', '--is-inside-git-dir', '--show-toplevel'];
    try {
      const { code, stderr, stdout } = await gitResult(this.dir, ['rev-parse', ...asked]);
      const [isBare, isInGitDir, ...root] = stdout.toString('utf8').split(/\r?\n/);
      // In both, git fails at the last question.
      if (isBare === 'true' || isInGitDir === 'true') {
        return { isBare: true };
      }
      if (code !== 0) {
        throw new Error(stderr);
      }
      return { root: root.slice(0, -1).join('\n'), isBare: false };
    } catch (error) {
      // Git's message is localized, so the files are checked instead.
      if (!isMissingProgram(error) && !hasGitAbove(this.dir)) {
        return { isBare: false };
      }
      throw asHumanError(error);
    }
  }

  /**
   * @returns the full hash of HEAD, or `undefined` before the first commit
   * @throws {HumanError} if the repository cannot be read, or lacks the commit of HEAD
   */
  async head(): Promise<string | undefined> {
    try {
      // With --quiet, a branch without commits gives an empty answer, not an error.
      const ask = async (name: string) =>
        (await this.run('rev-parse', '--verify', '--quiet', name)).trim();
      const hash = await ask('HEAD^{commit}');
      if (hash !== '') {
        return hash;
      }
      const named = await ask('HEAD');
      if (named === '') {
        // Damage gives the same empty answer. Here, git refuses a branch whose file holds no hash.
        await currentRef(this.dir);
        return undefined;
      }
      // The first commit may have been made meanwhile.
      const late = await ask('HEAD^{commit}');
      if (late === '') {
        throw new HumanError(
          say(
            'The git repository of {0} is damaged: its current commit {1} is missing. Restore the folder .git, from a backup or from a clone of the same repository, then try again; "git fsck" lists what is missing.',
            this.dir,
            named.slice(0, 10),
          ),
        );
      }
      return late;
    } catch (error) {
      throw asHumanError(error);
    }
  }

  /** @returns the branch's name; '' if HEAD is detached */
  async branch(): Promise<string> {
    try {
      return await currentBranch(this.dir);
    } catch {
      return '';
    }
  }

  /**
   * {@link head} and {@link branch} with one process, unless there is no commit yet.
   * @param since a full hash: how HEAD differs from it is asked at the same time, for {@link difference}
   * @throws {HumanError} if the repository cannot be read, or has no files there (`core.bare`)
   */
  async headAndBranch(since?: string): Promise<Head> {
    const [now, difference] = await Promise.all([
      this.headNow(),
      // Whoever needs the difference asks again after a failure.
      since && this.differenceNow(since, 'HEAD').catch(() => undefined),
    ]);
    // HEAD may have moved between the two answers.
    if (difference && difference.added[0]?.hash === now.head) {
      this.lastDifference = { ...difference, range: rangeOf(since ?? '', now.head ?? '') };
    }
    return now;
  }

  private async headNow(): Promise<Head> {
    const output = await this.run(
      'rev-parse',
      '--is-bare-repository',
      'HEAD^{commit}',
      '--symbolic-full-name',
      'HEAD',
    ).catch(() => undefined);
    if (output === undefined) {
      const head = await this.head();
      return { head, branch: await this.branch() };
    }
    const [isBare, head = '', ref = ''] = output.split('\n');
    if (isBare === 'true') {
      const { message, next } = declaredBareProblem(this.dir);
      throw new HumanError(sentences([message, next]));
    }
    // Empty if a branch or a tag is called HEAD, too.
    return { head, branch: ref === '' ? await this.branch() : branchIn(ref) };
  }

  /**
   * Commits reachable from HEAD, or from `at`, newest first.
   * @param options.since exclude commits reachable from there
   */
  async commits({ at = 'HEAD', limit, since }: CommitQuestion = {}): Promise<Commit[]> {
    const limits = limit === undefined ? [] : [`--max-count=${limit}`];
    const found = await this.log(since === undefined ? at : `${since}..${at}`, limits);
    return found.map(({ commit }) => commit);
  }

  /**
   * How the history of two commits differs, newest first. One process, and none if the same two are asked for again:
   * what commits contain never changes.
   * @param from a full hash, like `to`
   */
  async difference(from: string, to: string): Promise<Difference> {
    const range = rangeOf(from, to);
    if (this.lastDifference?.range !== range) {
      this.lastDifference = { ...(await this.differenceNow(from, to)), range };
    }
    return this.lastDifference;
  }

  private async differenceNow(from: string, to: string): Promise<Difference> {
    const found = await this.log(rangeOf(from, to), ['--left-right']);
    const of = (mark: string) =>
      found.flatMap(entry => (entry.mark === mark ? [entry.commit] : []));
    return { added: of('>'), gone: of('<') };
  }

  /**
   * The newest commits of a history, newest first. No process if only the commits of the last {@link difference} are
   * new.
   * @param at a full hash
   */
  async recentCommits(at: string, limit: number): Promise<readonly Commit[]> {
    const { lastDifference: last, lastRecent: known } = this;
    if (known?.at === at) {
      return known.commits;
    }
    const isContinued =
      last?.gone.length === 0 &&
      last.range === rangeOf(known?.at ?? '', at) &&
      // A merge may bring in older ones.
      Date.parse(last.added.at(-1)?.at ?? '') >= Date.parse(known?.commits[0]?.at ?? '');
    const commits = isContinued
      ? [...last.added, ...(known?.commits ?? [])].slice(0, limit)
      : await this.commits({ limit, at });
    this.lastRecent = { at, commits };
    return commits;
  }

  private async log(
    range: string,
    options: readonly string[],
  ): Promise<{ readonly mark: string; readonly commit: Commit }[]> {
    const output = await this.run(
      'log',
      // Names and subjects cannot contain a NUL, so they cannot imitate another commit.
      '-z',
      '--format=%m%x00%H%x00%s%x00%an%x00%aI',
      '--no-show-signature',
      ...options,
      '--end-of-options',
      range,
      '--',
    );
    const fields = output.split('\0');
    const found = [];
    for (let i = 0; i + 4 < fields.length; i += 5) {
      const [mark = '', hash = '', subject = '', author = '', at = ''] = fields.slice(i, i + 5);
      found.push({ mark, commit: { hash, subject, author, at } });
    }
    return found;
  }

  /** The status of HEAD and the work tree, with one process. */
  async status(): Promise<WorkTreeStatus> {
    const output = await this.run(...STATUS);
    const entries = output.split('\0').filter(entry => entry !== '');
    const fact = (name: string) =>
      entries.find(entry => entry.startsWith(`# ${name} `))?.slice(name.length + 3) ?? '';
    const head = fact('branch.oid');
    const branch = fact('branch.head');
    return {
      head: /^[0-9a-f]+$/.test(head) ? head : undefined,
      branch: branch === '(detached)' ? '' : branch,
      hasUncommittedChanges: entries.some(entry => !entry.startsWith('# ')),
      changed: entries.flatMap(entry => changedPath(entry) ?? []),
    };
  }

  /**
   * A file's content in a commit.
   * @param path relative to the repository's root, with forward slashes
   * @throws git's error if the commit has no such file
   */
  async fileAt(hash: string, path: string): Promise<Buffer> {
    const { code, stderr, stdout } = await gitResult(this.dir, [
      ...['--no-optional-locks', 'show', '--no-textconv', '--end-of-options'],
      `${hash}:${path}`,
    ]);
    if (code !== 0) {
      throw new Error(stderr);
    }
    return stdout;
  }

  /** @throws {HumanError} if the repository has no such commit */
  async resolveCommit(hash: string): Promise<string> {
    if (!/^[0-9a-f]{4,64}$/i.test(hash)) {
      throw new HumanError(say('"{0}" is not a commit hash.', hash));
    }
    try {
      return (await this.run('rev-parse', '--verify', `${hash}^{commit}`)).trim();
    } catch {
      throw new HumanError(
        say(
          'The repository has no commit {0} (any more). It may have been removed by a rebase or a reset.',
          hash.slice(0, 10),
        ),
      );
    }
  }

  private run(...args: string[]): Promise<string> {
    return runGit(this.dir, ...READ_ONLY, ...args);
  }
}

/** What is wrong with a work tree that the setting `core.bare` declares to be none, and what to do. */
export function declaredBareProblem(dir: string): {
  readonly message: Message;
  readonly next: Message;
} {
  return {
    message: say(
      'The git setting core.bare declares that {0} has no files to work on, so git refuses to commit there.',
      dir,
    ),
    next: say('Take it back with "git config --unset core.bare".'),
  };
}

/** @returns the name of the branch that is checked out; '' if HEAD is detached */
export async function currentBranch(dir: string): Promise<string> {
  return branchIn(await currentRef(dir));
}

async function currentRef(dir: string): Promise<string> {
  // Not --short, which returns `heads/x` if a tag of that name exists.
  return (await runGit(dir, 'symbolic-ref', '--quiet', 'HEAD')).trim();
}

function branchIn(ref: string): string {
  return ref.startsWith(HEADS) ? ref.slice(HEADS.length) : '';
}

function rangeOf(from: string, to: string): string {
  return `${from}...${to}`;
}

/** The path in an entry of `status --porcelain=v2`: the last field, which may contain spaces. */
function changedPath(entry: string): string | undefined {
  const fields = { '1': 8, u: 10, '?': 1 }[entry.split(' ', 1)[0] ?? ''];
  return fields === undefined ? undefined : entry.split(' ').slice(fields).join(' ');
}

/**
 * Tracked files that differ from HEAD or the index, relative to the top folder; untracked files are not included.
 */
export async function changedTrackedFiles(dir: string): Promise<string[]> {
  const output = await runGit(
    dir,
    ...['--no-optional-locks', 'status', '--porcelain', '-z'],
    // The work tree of a submodule is not checked; no switch and no merge changes it.
    ...['--untracked-files=no', '--no-renames', '--ignore-submodules=dirty'],
  );
  return output
    .split('\0')
    .filter(entry => entry !== '')
    .map(entry => entry.slice(3));
}

/** All files that git neither tracks nor ignores, relative to the top folder. */
export async function untrackedFiles(dir: string): Promise<string[]> {
  const output = await runGit(
    dir,
    ...['--no-optional-locks', 'ls-files', '--others', '--exclude-standard', '--full-name', '-z'],
    ...['--', ':/'],
  );
  return output.split('\0').filter(file => file !== '');
}

function hasGitAbove(dir: string): boolean {
  for (let folder = dir; ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, '.git'))) {
      return true;
    }
    if (path.dirname(folder) === folder) {
      return false;
    }
  }
}
