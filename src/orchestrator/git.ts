import { existsSync } from 'node:fs';
import path from 'node:path';
import { type SimpleGit, simpleGit } from 'simple-git';
import { HumanError } from './humanError.ts';
import { shorten } from './text.ts';

export interface Commit {
  readonly hash: string;
  readonly subject: string;
  readonly author: string;
  /** ISO 8601. */
  readonly at: string;
}

/** One file of a commit, against its first parent. */
export interface ChangedFile {
  readonly status: 'added' | 'modified' | 'deleted' | 'renamed';
  /** Relative to the repository's root, with forward slashes; of a deleted file its last path. */
  readonly path: string;
  /** Of a renamed file its path before. */
  readonly oldPath?: string;
}

/**
 * Reads one git repository. Never writes, takes no optional lock (an agent may be committing), and runs no
 * external diff or text conversion that the repository's configuration names.
 */
export class GitRepository {
  private readonly git: SimpleGit;
  private readonly dir: string;

  /** @param dir absolute path of a folder in the work tree */
  constructor(dir: string) {
    this.dir = dir;
    this.git = simpleGit({ baseDir: dir, trimmed: false }).env(gitEnv());
  }

  /**
   * @returns the work tree's top folder, or `undefined` outside a repository
   * @throws {HumanError} when git is absent or refuses the repository, in its own words
   */
  async root(): Promise<string | undefined> {
    try {
      return (await this.run('rev-parse', '--show-toplevel')).replace(/\r?\n$/, '');
    } catch (error) {
      // Git says it in the person's language, so the files decide.
      if (!isMissingProgram(error) && !hasGitAbove(this.dir)) {
        return undefined;
      }
      throw asHumanError(error);
    }
  }

  /**
   * @returns the full hash of HEAD, or `undefined` before the first commit
   * @throws {HumanError} when the repository cannot be read
   */
  async head(): Promise<string | undefined> {
    try {
      // With --quiet a branch without commits is an empty answer, not an error.
      const hash = await this.run('rev-parse', '--verify', '--quiet', 'HEAD^{commit}');
      return hash.trim() || undefined;
    } catch (error) {
      throw asHumanError(error);
    }
  }

  /** @returns the branch's name; '' when HEAD is detached */
  async branch(): Promise<string> {
    try {
      return (await this.run('symbolic-ref', '--short', '--quiet', 'HEAD')).trim();
    } catch {
      return '';
    }
  }

  /**
   * Commits reachable from HEAD, or from `at`, newest first.
   * @param options.since leave out what is reachable from there
   */
  async commits(options: { limit?: number; since?: string; at?: string } = {}): Promise<Commit[]> {
    const { at = 'HEAD' } = options;
    const range = options.since === undefined ? at : `${options.since}..${at}`;
    const output = await this.run(
      'log',
      // No name or subject can hold a NUL, so nothing in them can look like another commit.
      '-z',
      '--format=%H%x00%s%x00%an%x00%aI',
      ...(options.limit === undefined ? [] : [`--max-count=${options.limit}`]),
      '--end-of-options',
      range,
      '--',
    );
    const fields = output.split('\0');
    const commits: Commit[] = [];
    for (let i = 0; i + 3 < fields.length; i += 4) {
      const [hash = '', subject = '', author = '', at = ''] = fields.slice(i, i + 4);
      commits.push({ hash, subject, author, at });
    }
    return commits;
  }

  /** Whether the work tree differs from HEAD; untracked files count, ignored ones do not. */
  async hasUncommittedChanges(): Promise<boolean> {
    return (await this.run('status', '--porcelain', '--no-renames', '-z')).length > 0;
  }

  /**
   * The files of a commit against its first parent (against nothing for a root commit).
   * @throws {HumanError} when there is no such commit
   */
  async changedFiles(hash: string): Promise<ChangedFile[]> {
    const commit = await this.resolveCommit(hash);
    const parent = await this.parent(commit);
    const output = await this.run(
      'diff-tree',
      '-r',
      '-z',
      '--no-commit-id',
      '--name-status',
      '--find-renames',
      '--no-ext-diff',
      ...(parent === undefined ? ['--root', commit] : [parent, commit]),
    );
    const fields = output.split('\0');
    const files: ChangedFile[] = [];
    for (let i = 0; i + 1 < fields.length; ) {
      const letter = fields[i++]?.[0];
      const first = fields[i++] ?? '';
      if (letter === 'R' || letter === 'C') {
        const newPath = fields[i++] ?? '';
        files.push(
          letter === 'R'
            ? { status: 'renamed', path: newPath, oldPath: first }
            : { status: 'added', path: newPath },
        );
      } else {
        const status = letter === 'A' ? 'added' : letter === 'D' ? 'deleted' : 'modified';
        files.push({ status, path: first });
      }
    }
    return files;
  }

  /** @returns the first parent's full hash; `undefined` for a root commit */
  async parent(hash: string): Promise<string | undefined> {
    const commit = await this.resolveCommit(hash);
    const [, parent] = (await this.run('rev-list', '--parents', '--max-count=1', commit))
      .trim()
      .split(' ');
    return parent;
  }

  /**
   * A file's bytes as of a commit.
   * @param path relative to the repository's root, with forward slashes
   * @throws git's error when the commit has no such file
   */
  async fileAt(hash: string, path: string): Promise<Buffer> {
    return this.git.showBuffer(['--no-textconv', '--end-of-options', `${hash}:${path}`]);
  }

  /** @throws {HumanError} when the repository has no such commit */
  async resolveCommit(hash: string): Promise<string> {
    if (!/^[0-9a-f]{4,64}$/i.test(hash)) {
      throw new HumanError(`"${hash}" is not a commit's hash.`);
    }
    try {
      return (await this.run('rev-parse', '--verify', `${hash}^{commit}`)).trim();
    } catch {
      throw new HumanError(
        `The repository has no commit ${hash.slice(0, 10)} (any more). It may have been removed by a rebase or a reset.`,
      );
    }
  }

  private async run(...args: string[]): Promise<string> {
    return this.git.raw(['--no-optional-locks', '-c', 'core.quotepath=off', ...args]);
  }
}

/** Without what would point git to another repository, or what simple-git refuses to pass on. */
function gitEnv(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || /^(GIT_.*|PAGER|EDITOR|VISUAL|SSH_ASKPASS|PREFIX)$/i.test(name)
        ? []
        : [[name, value]],
    ),
  );
}

function isMissingProgram(error: unknown): boolean {
  return /spawn git\S* ENOENT/.test(String(error));
}

function asHumanError(error: unknown): HumanError {
  return isMissingProgram(error)
    ? new HumanError(
        'git was not found on the PATH. Install it (https://git-scm.com) and try again.',
        {
          cause: error,
        },
      )
    : new HumanError(`git cannot read this repository: ${shorten(String(error), 600)}`, {
        cause: error,
      });
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
