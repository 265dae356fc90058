import { isAncestor } from '../git/isAncestor.ts';
import { gitOutput, gitResult } from '../git/runGit.ts';

/** Why work cannot be brought in as it is. */
export interface Conflict {
  readonly kind: 'conflict';
  /** `unrelated`: the agent has replaced the whole history, so there is nothing to compare with. */
  readonly reason: 'files' | 'unrelated';
  /**
   * The files that both sides have changed, relative to the top folder, without the shared ones; bytes of a name
   * that are not UTF-8 are replaced.
   */
  readonly files: readonly string[];
}

/** What the next agent learns about a conflict: diffs, cut to their limits. */
export interface ConflictDiffs {
  /** What the agent had changed. */
  readonly own: string;
  /** What others have changed meanwhile in the files of the conflict. */
  readonly others: string;
}

export interface ConflictQuestion {
  /** Full hashes: what the work should have come after, the agent's HEAD, and where the agent started. */
  readonly target: string;
  readonly work: string;
  readonly base: string;
  /** The files of the conflict. */
  readonly files: readonly string[];
  /** Files that no diff shows, such as the shared ones. */
  readonly except?: readonly string[];
}

/** In characters. */
export interface ConflictLimits {
  readonly own: number;
  readonly others: number;
}

/** Git is ended if a diff is larger, in bytes. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Maximum length of all file names on a command line, which is short on Windows. */
const MAX_NAMES = 20_000;

/**
 * Describes a conflict for the prompt of the next agent. Binary files are only named, and programs that the
 * repository names for its diffs do not run.
 * @throws git's message
 */
export async function describeConflict(
  root: string,
  { base, except = [], files, target, work }: ConflictQuestion,
  limits: ConflictLimits,
): Promise<ConflictDiffs> {
  const hidden = except.map(file => pathspec(file, 'exclude'));
  const named: string[] = [];
  let length = 0;
  for (const file of files) {
    length += file.length;
    if (length <= MAX_NAMES) {
      named.push(pathspec(file));
    }
  }
  const from = await forkOf(root, { base, target, work });
  const [own, others] = await Promise.all([
    diff(root, from, work, hidden),
    named.length === 0 ? '' : diff(root, from, target, [...named, ...hidden]),
  ]);
  return { own: cutAtLine(own, limits.own), others: cutAtLine(others, limits.others) };
}

/** What both sides come from: earlier work had been joined with what landed until then, which is nobody's news. */
async function forkOf(
  root: string,
  { base, target, work }: Pick<ConflictQuestion, 'base' | 'target' | 'work'>,
): Promise<string> {
  if (!(await isAncestor(root, base, target))) {
    return base;
  }
  const args = ['--no-optional-locks', 'merge-base', target, work];
  const { stdout } = await gitResult(root, args);
  return stdout.toString('utf8').split(/\r?\n/, 1)[0] || base;
}

async function diff(
  root: string,
  from: string,
  to: string,
  pathspecs: readonly string[],
): Promise<string> {
  const output = await gitOutput(
    root,
    [
      ...['--no-optional-locks', '-c', 'core.quotePath=off', 'diff-tree', '-r', '-p'],
      ...['--no-ext-diff', '--no-textconv', '--no-color', '--find-renames', '--submodule=short'],
      ...['--full-index', from, to, '--', ...pathspecs],
    ],
    { maxBytes: MAX_BYTES },
  );
  return output.toString('utf8').replaceAll(/^index [0-9a-f]+\.\.[0-9a-f]+.*\n/gm, '');
}

/** A path that means itself, or all names that differ from it only where bytes were replaced. */
function pathspec(file: string, kind?: 'exclude'): string {
  const magic = ['top', kind].filter(word => word !== undefined).join(',');
  return file.includes('\uFFFD')
    ? `:(${magic},glob)${file.replaceAll(/[\\*?[]/g, '\\$&').replaceAll('\uFFFD', '*')}`
    : `:(${magic},literal)${file}`;
}

/** The first lines of a text, with a note about the others. */
function cutAtLine(text: string, max: number): string {
  if (text.length <= max) {
    return text;
  }
  const shown = text.slice(0, text.lastIndexOf('\n', Math.max(0, max - 1)) + 1);
  const missing = text.slice(shown.length);
  const lines = missing.replace(/\n$/, '').split('\n').length;
  return `${shown}[… ${lines} more lines with ${missing.length} characters are left out]\n`;
}
