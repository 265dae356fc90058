import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { type Message, say, sentences } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { changedTrackedFiles, currentBranch, HEADS } from './git.ts';
import { asHumanError, isMissingProgram } from './gitErrors.ts';
import { runGit, writeGit } from './runGit.ts';
import { heldElsewhere, worktreeWith } from './worktrees.ts';

export interface BranchCheckOut {
  /**
   * - `unchanged`: the work tree was already on the branch
   * - `checkedOut`: the branch existed, and was checked out
   * - `created`: the branch was created from HEAD
   * - `dirty`: tracked files have uncommitted changes, so nothing was done
   */
  readonly kind: 'unchanged' | 'checkedOut' | 'created' | 'dirty';
  /** The current branch of the work tree; '' if HEAD is detached. */
  readonly branch: string;
}

/** A part is the name of a file or a folder, behind which git writes `.lock`: together at most 255 bytes. */
const MAX_PART_BYTES = 250;

/**
 * Checks out a branch, which is created from HEAD if it does not exist. Untracked and ignored files are unchanged:
 * if the branch has a file of the same name, git refuses. The person's hooks run, as for any switch.
 *
 * @param dir absolute path of a folder in the work tree
 * @param carried absolute paths of files whose changes are carried over to a new branch; `all`: those of every
 * file, to any branch, if git can do that without losing changes
 * @throws {HumanError} if the name is invalid or conflicts with another branch, or git refuses, with git's message;
 * nothing has changed then
 */
export async function checkOutBranch(
  dir: string,
  branchName: string,
  carried: readonly string[] | 'all' = [],
): Promise<BranchCheckOut> {
  await requireBranchName(dir, branchName);
  try {
    const current = await currentBranch(dir);
    if (current === branchName) {
      return { kind: 'unchanged', branch: current };
    }
    const { conflicting, exists } = await branchNamed(dir, branchName);
    if (conflicting !== undefined) {
      const { message, next } = conflictingBranchProblem(branchName, conflicting);
      throw new HumanError(sentences([message, next]));
    }
    if (carried !== 'all' && (await changedFilesBut(dir, exists ? [] : carried)).length > 0) {
      return { kind: 'dirty', branch: current };
    }
    const heldBy = exists ? await worktreeWith(dir, HEADS + branchName) : undefined;
    if (heldBy !== undefined) {
      const { message, next } = heldElsewhere(branchName, heldBy);
      throw new HumanError(sentences([message, next]));
    }
    await switchTo(dir, branchName, exists);
    return { kind: exists ? 'checkedOut' : 'created', branch: branchName };
  } catch (error) {
    throw notCheckedOut(error, branchName);
  }
}

/**
 * Whether a checkout would change files: the branch exists and is not the current one. Changes nothing.
 * @param dir absolute path of a folder in the work tree
 * @throws {HumanError} if the name is invalid, or git refuses
 */
export async function isOnOtherBranch(dir: string, branchName: string): Promise<boolean> {
  await requireBranchName(dir, branchName);
  try {
    return (await currentBranch(dir)) !== branchName && (await hasBranch(dir, branchName));
  } catch (error) {
    throw notCheckedOut(error, branchName);
  }
}

/** The relation of a branch to a work tree. */
export interface BranchPlace {
  /** The branch that is checked out; '' if HEAD is detached. */
  readonly current: string;
  /** Whether the branch exists. */
  readonly exists: boolean;
  /** The folder of the other worktree that has it checked out. */
  readonly heldBy?: string;
  /** An existing branch whose name prevents git from creating this one. */
  readonly conflicting?: string;
}

/**
 * Checks whether a branch could be checked out, considering its name and other worktrees.
 * @param dir absolute path of a folder in the work tree
 * @throws {HumanError} if the name is invalid, or git refuses
 */
export async function lookAtBranch(dir: string, branchName: string): Promise<BranchPlace> {
  await requireBranchName(dir, branchName);
  try {
    const [current, { conflicting, exists }] = await Promise.all([
      currentBranch(dir),
      branchNamed(dir, branchName),
    ]);
    if (current === branchName) {
      return { current, exists };
    }
    const heldBy = exists ? await worktreeWith(dir, HEADS + branchName) : undefined;
    return { current, exists, heldBy, conflicting };
  } catch (error) {
    throw notCheckedOut(error, branchName);
  }
}

/**
 * Whether a branch other than the current one contains a file. Changes nothing.
 * @param dir absolute path of a folder in the work tree
 * @param file relative to that
 * @throws {HumanError} if the name is invalid, or git refuses
 */
export async function isFileOnOtherBranch(
  dir: string,
  branchName: string,
  file: string,
): Promise<boolean> {
  if (!(await isOnOtherBranch(dir, branchName))) {
    return false;
  }
  const object = `${HEADS + branchName}:./${file.split(path.sep).join('/')}`;
  try {
    return (await runGit(dir, 'rev-parse', '--verify', '--quiet', object)) !== '';
  } catch (error) {
    throw asHumanError(error);
  }
}

/**
 * Tracked files with uncommitted changes, relative to the top folder.
 * @param dir absolute path of a folder in the work tree
 * @param except absolute paths of files to ignore
 */
export async function changedFilesBut(dir: string, except: readonly string[]): Promise<string[]> {
  const changed = await changedTrackedFiles(dir);
  if (changed.length === 0 || except.length === 0) {
    return changed;
  }
  // Git's own name for the folder, which may have been reached through a link.
  const prefix = (await runGit(dir, 'rev-parse', '--show-prefix')).replace(/\r?\n$/, '');
  const excepted = except.map(file =>
    path.posix.join(prefix, path.relative(dir, file).split(path.sep).join('/')),
  );
  return changed.filter(file => !excepted.includes(file));
}

/** Names that git has accepted, which it does in every repository. */
const acceptedNames = new Set<string>();

/** @throws {HumanError} if git allows no branch of this name, or cannot store it */
export async function requireBranchName(dir: string, name: string): Promise<void> {
  if (acceptedNames.has(name)) {
    return;
  }
  // Git resolves `@{-1}` to the previous branch; a name in a file must be taken literally.
  const checked = await runGit(dir, 'check-ref-format', '--branch', name).catch(
    (error: unknown) => {
      if (isMissingProgram(error)) {
        throw asHumanError(error);
      }
      return undefined;
    },
  );
  if (checked?.replace(/\r?\n$/, '') !== name || name === 'HEAD' || name === '@') {
    throw new HumanError(
      say(
        '"{0}" is not a valid git branch name. Use another one in the story file: letters, digits, "-", "_" and "/", as in ralph/login.',
        shorten(withVisibleControls(name), 80),
      ),
    );
  }
  // Git accepts the name, and then says that it cannot lock the ref.
  if (name.split('/').some(part => Buffer.byteLength(part) > MAX_PART_BYTES)) {
    throw new HumanError(
      say(
        'The branch name "{0}" is too long for git: each part between slashes may have {1} bytes at most. Use a shorter one in the story file, as in ralph/login.',
        shorten(name, 80),
        MAX_PART_BYTES,
      ),
    );
  }
  acceptedNames.add(name);
}

/** With characters that nobody sees as `\u001b`. */
function withVisibleControls(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    character => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

/** The branch because of which git cannot create another one: it cannot store both `a` and `a/b`. */
export async function branchInTheWay(dir: string, name: string): Promise<string | undefined> {
  return inTheWay(await branchesNextTo(dir, name), name);
}

/** Whether there is a branch, or one because of which git cannot create it. */
async function branchNamed(
  dir: string,
  name: string,
): Promise<Pick<BranchPlace, 'exists' | 'conflicting'>> {
  const branches = await branchesNextTo(dir, name);
  if (branches.includes(name)) {
    return { exists: true };
  }
  const conflicting = inTheWay(branches, name);
  // Where file names have no case, git finds a branch by another spelling, too.
  return { exists: conflicting === undefined && (await hasBranch(dir, name)), conflicting };
}

/** The names of branches that begin with the same part. */
async function branchesNextTo(dir: string, name: string): Promise<string[]> {
  const first = HEADS + (name.split('/')[0] ?? name);
  const refs = (await runGit(dir, 'for-each-ref', '--format=%(refname)', first)).split(/\r?\n/);
  return refs.filter(ref => ref.startsWith(HEADS)).map(ref => ref.slice(HEADS.length));
}

function inTheWay(branches: readonly string[], name: string): string | undefined {
  return branches.find(other => name.startsWith(`${other}/`) || other.startsWith(`${name}/`));
}

/** Why a branch name conflicts with an existing branch, and what to do. */
export function conflictingBranchProblem(
  branch: string,
  other: string,
): { readonly message: Message; readonly next: Message } {
  return {
    message: say(
      'git cannot create the branch {0}, which the story file names, because the branch {1} exists.',
      shorten(branch, 200),
      shorten(other, 200),
    ),
    next: say('Use another name in the story file, or work here with --branch stay.'),
  };
}

/**
 * Whether a branch that is not the current one has a file. Changes nothing.
 * @param dir absolute path of a folder in the work tree
 * @param file relative to `dir`, and in it
 * @throws {HumanError} if the name is invalid, or git refuses
 */
export async function hasOnOtherBranch(
  dir: string,
  branchName: string,
  file: string,
): Promise<boolean> {
  return (
    (await isOnOtherBranch(dir, branchName)) &&
    (await isRevision(dir, `${HEADS}${branchName}:./${file}`))
  );
}

function notCheckedOut(error: unknown, branchName: string): HumanError {
  return asHumanError(
    error,
    say('git cannot check out the branch {0}', branchName),
    say('Fix that, and try again; or work here with --branch stay.'),
  );
}

async function hasBranch(dir: string, name: string): Promise<boolean> {
  return isRevision(dir, HEADS + name);
}

async function isRevision(dir: string, name: string): Promise<boolean> {
  return (await runGit(dir, 'rev-parse', '--verify', '--quiet', name)) !== '';
}

async function switchTo(dir: string, name: string, exists: boolean): Promise<void> {
  let refusal: unknown;
  try {
    await writeGit(dir, [
      // Without --no-overwrite-ignore, git silently overwrites ignored files.
      ...['switch', '--no-overwrite-ignore', '--no-guess', '--no-progress'],
      ...(exists ? [name] : ['--no-track', '--create', name]),
    ]);
  } catch (error) {
    refusal = error;
  }
  // A hook that fails after the switch makes git fail as well, although the branch is checked out.
  if ((await currentBranch(dir)) !== name) {
    throw refusal ?? new Error('it gave no reason.');
  }
}
