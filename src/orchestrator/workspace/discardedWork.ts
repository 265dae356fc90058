import { say } from '../../base/say.ts';
import { asHumanError } from '../git/gitErrors.ts';
import { writeGit } from '../git/runGit.ts';
import { readWorkRefs, type WorkRef } from './keptStoryWork.ts';
import { type Ref, readRefs } from './refs.ts';
import type { RunFiles } from './runFiles.ts';
import { discardedRefsOf, workRefsOf } from './workRefs.ts';

/** How long discarded work can be brought back. */
export const DISCARDED_DAYS = 30;

const DAY_MS = 86_400_000;

/** Discarded work, and until when it is held. */
export interface DiscardedRef extends Ref {
  /** ISO 8601, UTC. */
  readonly until: string;
}

/**
 * Moves refs with work of agents to where they are held for {@link DISCARDED_DAYS} days, all of them or none.
 * @param now in ms since the epoch
 * @returns the new refs
 * @throws {HumanError} if git cannot write, or somebody has moved one of them meanwhile
 */
export async function discardWork(
  { workspace }: RunFiles,
  refs: readonly WorkRef[],
  now: number = Date.now(),
): Promise<Ref[]> {
  const time = new Date(now).toISOString().slice(0, 19).replaceAll(':', '-');
  const moved = refs.map(({ commit, name }) => {
    const rest = name.slice(workRefsOf(workspace).length);
    return { old: name, name: `${discardedRefsOf(workspace)}${time}/${rest}`, commit };
  });
  await move(workspace, moved);
  return moved.map(({ commit, name }) => ({ name, commit }));
}

/**
 * Undoes {@link discardWork}.
 * @param refs what it returned
 */
export async function restoreWork({ workspace }: RunFiles, refs: readonly Ref[]): Promise<void> {
  const prefix = discardedRefsOf(workspace);
  const moved = refs.map(({ commit, name }) => {
    const [, rest = ''] = /^[^/]+\/(.+)$/.exec(name.slice(prefix.length)) ?? [];
    return { old: name, name: workRefsOf(workspace) + rest, commit };
  });
  await move(workspace, moved);
}

async function move(
  dir: string,
  moved: readonly { readonly old: string; readonly name: string; readonly commit: string }[],
): Promise<void> {
  const commands = moved.flatMap(({ commit, name, old }) => [
    `create ${name} ${commit}\n`,
    `delete ${old} ${commit}\n`,
  ]);
  try {
    await writeGit(dir, ['update-ref', '--stdin'], { input: commands.join('') });
  } catch (error) {
    throw asHumanError(error, say('git cannot discard the work'));
  }
}

/** Discarded work that can still be brought back, the oldest first. */
export async function discardedRefs({ workspace }: RunFiles): Promise<DiscardedRef[]> {
  const prefix = discardedRefsOf(workspace);
  return (await readRefs(workspace, prefix)).flatMap(({ commit, name }) => {
    const time = timeIn(name.slice(prefix.length));
    return time === undefined
      ? []
      : [{ name, commit, until: new Date(time + DISCARDED_DAYS * DAY_MS).toISOString() }];
  });
}

/**
 * Removes the refs of work that was discarded {@link DISCARDED_DAYS} days ago, and those of old runs whose work has
 * landed. Work that has not landed stays.
 *
 * @param keptRunIds runs that are kept completely
 * @throws {HumanError} if git cannot write
 */
export async function clearWorkRefs(
  files: RunFiles,
  keptRunIds: readonly string[],
  now: number = Date.now(),
): Promise<void> {
  const { workspace } = files;
  const expired = (await discardedRefs(files)).filter(({ until }) => Date.parse(until) < now);
  const { refs } = await readWorkRefs(files);
  const landed = refs.filter(({ isLanded, runId }) => isLanded && !keptRunIds.includes(runId));
  const commands = [...expired, ...landed].map(({ commit, name }) => `delete ${name} ${commit}\n`);
  if (commands.length === 0) {
    return;
  }
  try {
    await writeGit(workspace, ['update-ref', '--stdin'], { input: commands.join('') });
  } catch (error) {
    throw asHumanError(error, say('git cannot remove refs of old runs'));
  }
}

/** In ms since the epoch; `undefined` for a name that is not ours. */
function timeIn(name: string): number | undefined {
  const [, date, time] = /^(\d{4}-\d\d-\d\d)T(\d\d-\d\d-\d\d)\//.exec(name) ?? [];
  const found = Date.parse(`${date}T${time?.replaceAll('-', ':')}Z`);
  return Number.isNaN(found) ? undefined : found;
}
