import { copyFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HumanError } from '../../../base/humanError.ts';
import { saidOf } from '../../../base/messageOf.ts';
import { writePlainFile } from '../../../base/plainFile.ts';
import { type Words, withTexts } from '../../../base/say.ts';
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

/** What was found wrong with a story file, and what became of it. */
export interface Undone {
  readonly forbidden: readonly GuardChange[];
  readonly restored: boolean;
  /** Absolute path of the version that was replaced. */
  readonly keptAside: string | undefined;
  /** Why something could not be undone. */
  readonly problems: readonly Words[];
}

/** Who may have changed a story file, and what is to become of what they may not. */
interface Watched {
  /** The story file before. */
  readonly kept: KeptVersion;
  /** The story file as they left it, if others may have changed it since then. */
  readonly left?: StoryList | undefined;
  /** The story whose tick is theirs to set. */
  readonly story?: Story | undefined;
  /** The stories that people have ticked or unticked meanwhile. */
  readonly handled: () => ReadonlyMap<string, boolean>;
  readonly restores: boolean;
  /** See {@link RestoreOptions.wantsWhole}. */
  readonly wantsWhole?: true;
}

type GuardedRun = Pick<Run, 'config' | 'files' | 'requests' | 'state'>;

/**
 * Checks whether the iteration made forbidden changes to stories, records them, and undoes them if the
 * configuration says so. A broken story file is kept aside in any case.
 */
export async function guardStories(
  run: GuardedRun,
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
  if (storyFile === undefined || before.stories === undefined) {
    return;
  }
  // Others may have changed the same again since it was undone, when the iteration is judged for the second time.
  const isUndone =
    left !== undefined && storyNotes(run.state(), story?.id).guard?.iteration === iteration;
  if (kept === undefined || config.guard === 'off' || isUndone) {
    await readOrKeepAside(scope, storyFile);
    return;
  }
  const handled = () => handledIn(run.state(), iteration);
  const restores = config.guard === 'restore';
  const undone = await undoForbidden(run, scope, { kept, left, story, handled, restores });
  if (undone === undefined) {
    return;
  }
  const { forbidden, keptAside, problems, restored } = undone;
  for (const problem of problems) {
    warn(scope, 'guardCouldNotRestore', problem);
  }
  scope.append({
    type: 'guard.found',
    iteration,
    changes: forbidden.slice(0, MAX_CHANGES).map(shortChange),
    restored,
    keptAside: keptAside === undefined ? undefined : relativePath(run.files.workspace, keptAside),
  });
}

/** Finds what may not be changed in the story file of a place, and undoes it if that is wanted. */
export async function undoForbidden(
  run: GuardedRun,
  scope: Scope,
  { handled: handledNow, kept, left, restores, story, wantsWhole }: Watched,
): Promise<Undone | undefined> {
  const { before, iteration } = scope;
  const { storyFile } = scope.place;
  if (storyFile === undefined || before.stories === undefined) {
    return undefined;
  }
  const problems: Words[] = [];
  // The target of the story file at the start of the iteration, if it was a link.
  const link = runningIteration(run.state(), iteration)?.storyLink;
  const replaced = findReplaced(storyFile, { link, wasFolder: isFolderText(kept.bytes) });
  const cleared =
    replaced && restores
      ? await attempt(problems, async () => ({
          aside: await clearPlace(storyFile, {
            link,
            beforeBytes: kept.bytes,
            asideDir: scope.dir,
          }),
        }))
      : undefined;
  const { broken, now } = await readOrKeepAside(scope, storyFile);
  const idThen = idsIn(kept.stories.stories, before.stories.stories);
  const storyId = story === undefined ? {} : { storyId: idThen(story.id) };
  const handledThen = () =>
    new Map([...handledNow()].map(([id, done]) => [idThen(id), done] as const));
  let handled = handledThen();
  const compared = { before: kept.stories, after: left ?? now, ...storyId };
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
    return undefined;
  }
  let restored = false;
  let keptAside = cleared?.aside ?? broken;
  if (restores && (replaced === undefined || cleared !== undefined)) {
    const result = await attempt(problems, () =>
      restoreStoryFile({
        path: storyFile,
        beforeBytes: kept.bytes,
        changes,
        ...storyId,
        handled,
        asideDir: scope.dir,
        wantsWhole,
      }),
    );
    restored = result !== undefined && result.left.filter(isForbidden).length === 0;
    keptAside = result?.keptAside ?? keptAside;
    if (result?.problem !== undefined) {
      problems.push(result.problem);
    }
  }
  return { forbidden, restored, keptAside, problems };
}

/** The story file as it is now; `broken` is a copy of one that cannot be read. */
async function readOrKeepAside(scope: Scope, storyFile: string) {
  const now = await readStoryFile(storyFile);
  return { now, broken: now?.kind === 'invalid' ? await keepAside(scope, storyFile) : undefined };
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

/** @returns `undefined` if it failed; the person is informed why, by `problems`, and has to do it */
async function attempt<T>(problems: Words[], work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const isInTheWay = IN_THE_WAY.has((error as NodeJS.ErrnoException).code ?? '');
    if (!(error instanceof HumanError || isInTheWay)) {
      throw error;
    }
    problems.push(saidOf(error));
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
