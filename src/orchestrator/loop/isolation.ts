import { HumanError } from '../../base/humanError.ts';
import { isWithin } from '../../base/isWithin.ts';
import { agentEnv } from '../agents/agentEnv.ts';
import type { GitRepository } from '../git/git.ts';
import type { RunState } from '../journal/runState.ts';
import { Target } from '../landing/target.ts';
import { ClonePlaces } from '../places/clonePlaces.ts';
import { placesFolder } from '../places/placesFolder.ts';
import type { Snapshot } from '../places/snapshot.ts';
import { landsOn, problemWithLanes } from '../preconditions/lanes.ts';
import { sentenceOf } from '../preconditions/precondition.ts';
import { modeOf, progressFileOf, relativePath } from '../run/runWork.ts';
import { realPlace } from '../stories/outsideLinks.ts';
import { tipRef, workRef } from '../workspace/workRefs.ts';
import type { Isolation } from './laneWork.ts';
import type { RunOptions } from './runOptions.ts';

/**
 * Whether the agents of a run work in places of their own: because there are several, because the person wants it, or
 * because the run had begun so and has work there.
 */
export function isIsolated(options: RunOptions, earlier?: RunState): boolean {
  const { isolate, lanes } = options.config;
  const hasPlaces = [...(earlier?.cutOff ?? []), ...(earlier?.running ?? [])].some(
    ({ lane, settled }) => lane !== undefined || settled === true,
  );
  return modeOf(options) === 'stories' && (lanes > 1 || isolate || hasPlaces);
}

/**
 * Opens the branch that work lands on, which is created if it does not exist, and the places of a run. The user's tree
 * stays on the branch that it is on.
 * @throws {HumanError} if agents cannot work in places of their own here
 */
export async function openIsolation(
  options: RunOptions,
  git: GitRepository,
  { branch: current, head, stories }: Snapshot,
  earlier?: RunState,
): Promise<Isolation> {
  const { config, env, files, storyFile } = options;
  const { workspace } = files;
  // A run that continues lands where it has landed, whatever is checked out meanwhile.
  const before = earlier?.isolated ? earlier.workBranch : undefined;
  const branch = landsOn(config.branch, stories, before ?? current);
  // Without a repository there is no HEAD either, which is the problem then.
  const root = (await git.root()) ?? workspace;
  // Asked before the run starts, too, but its stories may have been planned since.
  const problem = await problemWithLanes({ root, head, branch, storyFile, stories });
  if (problem !== undefined) {
    throw new HumanError(sentenceOf({ level: 'refuses', ...problem }));
  }
  const progressFile = progressFileOf(options);
  return {
    target: await Target.open({
      ...{ root, branch, tipRef: tipRef(workspace, branch) },
      storyFile: inRepository(root, storyFile),
      progressFile: inRepository(root, progressFile),
    }),
    places: new ClonePlaces({
      ...{ workspace, root, storyFile, progressFile, runId: options.runId },
      ...{ env: agentEnv(env), setup: config.placeSetup },
      folder: placesFolder(env, process.platform, workspace),
      workRef: left => workRef(workspace, left),
    }),
  };
}

/** The path of a file from the top folder of a repository; `undefined` outside. */
export function inRepository(root: string, file: string | undefined): string | undefined {
  const [top, real] = [root, file].map(place => place && (realPlace(place) ?? place));
  return top && real && isWithin(top, real) ? relativePath(top, real) : undefined;
}
