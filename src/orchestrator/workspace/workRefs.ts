import { createHash } from 'node:crypto';
import { workspaceKey } from '../git/workspaceKey.ts';

/** Longest part of a ref that is made of a name of somebody else, in UTF-16 units. */
const MAX_NAME = 60;
const DIGITS = 12;

/**
 * The ref that holds the commits of an agent until they have landed or a person discards them. It is not below the
 * restore points, which are removed with old runs.
 * @param dir absolute path of the workspace
 */
export function workRef(
  dir: string,
  { iteration, runId, storyId }: { runId: string; storyId: string; iteration: number },
): string {
  return `${workRefsOf(dir)}${runId}/${partOf(storyId)}/${iteration}`;
}

/** Ends the ref that holds what a person has made of the conflict of a {@link workRef}. */
export const SETTLED = '-settled';

/** The prefix of all {@link workRef}s of a workspace. */
export function workRefsOf(dir: string): string {
  return `refs/ralph-fresh/work/${workspaceKey(dir)}/`;
}

/** What a {@link workRef}, or a ref that belongs to it, says; `undefined` for another ref. */
export function partsOfWorkRef(
  dir: string,
  ref: string,
): { readonly runId: string; readonly story: string; readonly iteration: number } | undefined {
  const prefix = workRefsOf(dir);
  const [, runId = '', story = '', iteration] =
    /^([^/]+)\/([^/]+)\/(\d+)(?:-[a-z]|$)/.exec(
      ref.startsWith(prefix) ? ref.slice(prefix.length) : '',
    ) ?? [];
  return iteration === undefined ? undefined : { runId, story, iteration: Number(iteration) };
}

/** The prefix of the refs that hold discarded work for a while, `<time>/` and what follows in {@link workRef}. */
export function discardedRefsOf(dir: string): string {
  return `refs/ralph-fresh/discarded/${workspaceKey(dir)}/`;
}

/** The ref that holds what has landed while the branch cannot follow. */
export function tipRef(dir: string, branch: string): string {
  return `${tipRefsOf(dir)}${partOf(branch)}`;
}

/** The prefix of all {@link tipRef}s of a workspace. */
export function tipRefsOf(dir: string): string {
  return `refs/ralph-fresh/landed/${workspaceKey(dir)}/`;
}

/** The ref that holds the newest commit that is to land. */
export function candidateRef(dir: string): string {
  return `refs/ralph-fresh/candidate/${workspaceKey(dir)}`;
}

/** A name as one part of a ref; different names give different parts, also where the file system ignores case. */
function partOf(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]+/g, '-').slice(0, MAX_NAME);
  return plain === name && plain === plain.toLowerCase()
    ? plain
    : `${plain}-${createHash('sha256').update(name).digest('hex').slice(0, DIGITS)}`;
}
