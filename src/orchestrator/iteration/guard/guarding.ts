import { copyFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HumanError } from '../../../base/humanError.ts';
import { saidOf } from '../../../base/messageOf.ts';
import { writePlainFile } from '../../../base/plainFile.ts';
import { withTexts } from '../../../base/say.ts';
import { shorten } from '../../../base/text.ts';
import { handledIn, runningIteration, storyNotes } from '../../journal/runState.ts';
import type { Run } from '../../run/run.ts';
import { relativePath } from '../../run/runWork.ts';
import type { Scope } from '../../run/scope.ts';
import { warn } from '../../run/warn.ts';
import { isFolderText } from '../../stories/formats/folderText.ts';
import { outsideProblem } from '../../stories/outsideLinks.ts';
import type { Story, StoryList } from '../../stories/story.ts';
import { parseStoryFile, readStoryBytes, readStoryFile } from '../../stories/storyFile.ts';
import { idsNow } from '../../stories/storyMatching.ts';
import { restoreStoryFile } from './guard.ts';
import { findGuardChanges, type GuardChange, isForbidden } from './guardChanges.ts';
import { clearPlace, findReplaced } from './storyPlace.ts';

/** An agent has put something else in the place of the story file or its folder. */
const IN_THE_WAY: ReadonlySet<string> = new Set(['EEXIST', 'EISDIR', 'ELOOP', 'ENOTDIR']);
const MAX_CHANGES = 50;
/** Longest time from a person's tick in the file to its request in the inbox, in ms. */
const TICK_GRACE_MS = 500;
const MAX_FACT = 300;

/** A version of the story file that the guard can restore. */
export interface KeptVersion {
  readonly bytes: Buffer;
  readonly stories: StoryList;
}

/** @returns the story file as it is now; `undefined` if there is no readable one */
export async function readVersion(storyFile: string): Promise<KeptVersion | undefined> {
  const bytes = await readStoryBytes(storyFile);
  const stories = bytes && parseStoryFile(storyFile, bytes);
  return bytes !== undefined && stories?.kind === 'stories' ? { bytes, stories } : undefined;
}

/**
 * Checks whether the iteration made forbidden changes to stories, records them, and undoes them if the
 * configuration says so. A broken story file is kept aside in any case.
 */
export async function guardStories(
  run: Pick<Run, 'config' | 'files' | 'requests' | 'state'>,
  scope: Scope,
  {
    kept,
    left,
  }: {
    /** The story file at the start of the iteration. */
    readonly kept: KeptVersion | undefined;
    /** The story file as the iteration left it, if others may have changed it since then. */
    readonly left: StoryList | undefined;
  },
): Promise<void> {
  const { config } = run;
  const { before, iteration, story } = scope;
  const { storyFile } = scope.place;
  // The target of the story file at the start of the iteration, if it was a link.
  const link = runningIteration(run.state(), iteration)?.storyLink;
  const handledNow = () => handledIn(run.state(), iteration);
  if (storyFile === undefined || before.stories === undefined) {
    return;
  }
  // Others may have changed the same again since it was undone, when the iteration is judged for the second time.
  const isUndone =
    left !== undefined && storyNotes(run.state(), story?.id).guard?.iteration === iteration;
  const guarded = config.guard === 'off' || isUndone ? undefined : kept;
  const wasFolder = guarded !== undefined && isFolderText(guarded.bytes);
  const replaced = guarded && findReplaced(storyFile, { link, wasFolder });
  const cleared =
    guarded && replaced && config.guard === 'restore'
      ? await attempt(scope, async () => ({
          aside: await clearPlace(storyFile, {
            link,
            beforeBytes: guarded.bytes,
            asideDir: scope.dir,
          }),
        }))
      : undefined;
  const now = await readStoryFile(storyFile);
  const broken = now?.kind === 'invalid' ? await keepAside(scope, storyFile) : undefined;
  if (guarded === undefined) {
    return;
  }
  const idThen = idsIn(guarded.stories.stories, before.stories.stories);
  const storyId = story === undefined ? {} : { storyId: idThen(story.id) };
  const handledThen = () =>
    new Map([...handledNow()].map(([id, done]) => [idThen(id), done] as const));
  let handled = handledThen();
  const compared = { before: guarded.stories, after: left ?? now, ...storyId };
  let changes = findGuardChanges({ ...compared, handled });
  if (changes.some(({ kind }) => kind === 'tickedOther' || kind === 'untickedOther')) {
    // A person's tick is in the file a moment before the loop is informed about it.
    await delay(TICK_GRACE_MS);
    await run.requests.look();
    handled = handledThen();
    changes = findGuardChanges({ ...compared, handled });
  }
  const forbidden = [...(replaced ? [replaced] : []), ...changes.filter(isForbidden)];
  if (forbidden.length === 0) {
    return;
  }
  let restored = false;
  let keptAside = cleared?.aside ?? broken;
  if (config.guard === 'restore' && (replaced === undefined || cleared !== undefined)) {
    const result = await attempt(scope, () =>
      restoreStoryFile({
        path: storyFile,
        beforeBytes: guarded.bytes,
        changes,
        ...storyId,
        handled,
        asideDir: scope.dir,
      }),
    );
    restored = result !== undefined && result.left.filter(isForbidden).length === 0;
    keptAside = result?.keptAside ?? keptAside;
    if (result?.problem !== undefined) {
      warn(scope, 'guardCouldNotRestore', result.problem);
    }
  }
  scope.append({
    type: 'guard.found',
    iteration,
    changes: forbidden.slice(0, MAX_CHANGES).map(shortChange),
    restored,
    keptAside: keptAside === undefined ? undefined : relativePath(run.files.workspace, keptAside),
  });
}

/**
 * The ids that stories have in the kept version of their list: since then, those without one may have got other
 * numbers.
 */
function idsIn(kept: readonly Story[], before: readonly Story[]): (id: string) => string {
  const isSame = before.every(({ id }, index) => id === kept[index]?.id);
  const then = isSame ? undefined : idsNow(before, kept);
  return id => then?.get(id) ?? id;
}

/** @returns `undefined` if it failed; the person is informed why and has to do it */
async function attempt<T>(scope: Scope, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const isInTheWay = IN_THE_WAY.has((error as NodeJS.ErrnoException).code ?? '');
    if (!(error instanceof HumanError || isInTheWay)) {
      throw error;
    }
    warn(scope, 'guardCouldNotRestore', saidOf(error));
    return undefined;
  }
}

/** Keeps everything that an agent wrote, even if it cannot be read. */
async function keepAside(scope: Scope, file: string): Promise<string | undefined> {
  const found = await stat(file).catch(() => undefined);
  const folder = found?.isDirectory() === true ? await readStoryBytes(file) : undefined;
  if (folder !== undefined) {
    const copy = path.join(scope.dir, `broken-${path.basename(file)}`);
    await writePlainFile(copy, folder);
    return copy;
  }
  if (!found?.isFile() || outsideProblem(file) !== undefined) {
    return undefined;
  }
  const copy = path.join(scope.dir, `broken-${path.basename(file)}`);
  await copyFile(file, copy);
  return copy;
}

function shortChange(change: GuardChange): { kind: string } {
  return Object.fromEntries(
    Object.entries(change).map(([key, value]) => [
      key,
      withTexts(value, text => shorten(text, MAX_FACT)),
    ]),
  ) as { kind: string };
}
