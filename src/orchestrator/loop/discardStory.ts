import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { runningIn, storyNotes, storyRecord } from '../journal/runState.ts';
import { discardWork, restoreWork } from '../workspace/discardedWork.ts';
import { type KeptStoryWork, keptStoryWork, type WorkRef } from '../workspace/keptStoryWork.ts';
import { livingRun } from '../workspace/livingRun.ts';
import type { Ref } from '../workspace/refs.ts';
import { readRun } from '../workspace/runCheckpoint.ts';
import { isRunId, type RunFiles } from '../workspace/runFiles.ts';
import { newestRunId } from '../workspace/runIds.ts';
import { exclusively } from './exclusiveWork.ts';
import { named } from './settlementPlace.ts';

/** The refs with work on a story that has not landed. */
export function openRefs({ refs }: KeptStoryWork): readonly WorkRef[] {
  return refs.filter(({ isLanded }) => !isLanded);
}

/**
 * Discards the work on a story that has not landed.
 * @param shown the work as a person has seen it before deciding
 * @returns the refs that hold it for a while
 * @throws {HumanError} if it has changed since, or somebody works on the story, or may begin with the work
 */
export async function discardStory(files: RunFiles, shown: KeptStoryWork): Promise<readonly Ref[]> {
  return (await activeRun(files)) === undefined
    ? exclusively(files, async () => discardWork(files, await sameWork(files, shown)))
    : discardDuringRun(files, shown);
}

/**
 * An active run may continue with its other stories. Its loop notes that the story may be worked on before it looks for
 * earlier work; so if the story is still held back after the work has been moved, no agent has got it.
 */
async function discardDuringRun(files: RunFiles, shown: KeptStoryWork): Promise<readonly Ref[]> {
  const moved = await discardWork(files, await sameWork(files, shown));
  try {
    await requireIdle(files, shown);
  } catch (error) {
    await restoreWork(files, moved);
    throw error;
  }
  return moved;
}

async function sameWork(files: RunFiles, shown: KeptStoryWork): Promise<readonly WorkRef[]> {
  const { storyId } = shown;
  const work = (await keptStoryWork(files)).find(kept => kept.storyId === storyId);
  await requireIdle(files, work ?? shown);
  const now = work === undefined ? [] : openRefs(work);
  const namesOf = (refs: readonly WorkRef[]) =>
    refs.map(({ commit, name }) => `${name} ${commit}`).join();
  if (namesOf(now) !== namesOf(openRefs(shown))) {
    throw new HumanError(
      say(
        'Nothing was discarded, because the work on {0} has changed meanwhile. Look at it again ("Discard Work…" in VS Code, or "ralph-fresh places"), then try again.',
        named(storyId),
      ),
    );
  }
  return now;
}

/**
 * Whether the work on a story can be discarded now.
 * @throws {HumanError} while an agent or a person works on the story, or may begin with the work, or it waits to land
 */
export async function requireIdle(files: RunFiles, work: KeptStoryWork): Promise<void> {
  const { storyId } = work;
  const id = named(storyId);
  const active = await activeRun(files);
  const runId = active ?? (await newestRunId(files));
  if (runId === undefined) {
    return;
  }
  const state = await readRun(files, runId);
  if (storyNotes(state, storyId).settling !== undefined) {
    throw new HumanError(
      say(
        'You settle the conflict of {0} now. Give it back first ("Give Conflict Back" in VS Code, or "ralph-fresh places settle {0} --cancel"), then try again.',
        id,
      ),
    );
  }
  if (active === undefined) {
    return;
  }
  const current = runningIn(state, storyId);
  if (current !== undefined) {
    throw new HumanError(
      current.queued
        ? say(
            '{0} is landing now. Skip it first to take it back ("Skip Story" in VS Code, or "ralph-fresh skip {0}"), then try again.',
            id,
          )
        : say(
            'An agent works on {0} now. Stop the story first ("Stop This Story" in VS Code, or "ralph-fresh stop {0}"), then try again.',
            id,
          ),
    );
  }
  const { landed, paused, skipped } = storyRecord(state, storyId);
  const isContinued = openRefs(work).some(ref => ref.runId === runId);
  if (isContinued && !landed && !paused && skipped !== 'person') {
    throw new HumanError(
      say(
        'A run is active, and its next agent for {0} would continue this work. Pause the story first ("Pause This Story" in VS Code, or "ralph-fresh pause {0}"), then try again.',
        id,
      ),
    );
  }
}

async function activeRun(files: RunFiles): Promise<string | undefined> {
  const runId = (await livingRun(files))?.runId;
  return runId !== undefined && isRunId(runId) ? runId : undefined;
}
