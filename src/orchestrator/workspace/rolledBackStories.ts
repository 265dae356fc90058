import path from 'node:path';
import { GitRepository } from '../git/git.ts';
import type { RunEvent } from '../journal/events.ts';
import { readDecisions } from '../journal/journal.ts';
import { setStoryDone } from '../stories/edit/edit.ts';
import { realPlace } from '../stories/outsideLinks.ts';
import type { Story } from '../stories/story.ts';
import { parseStoryFile, readStoryList } from '../stories/storyFile.ts';
import { committedStories } from './committedStories.ts';
import type { RunFiles } from './runFiles.ts';
import { runIds } from './runIds.ts';

/**
 * The stories whose work a rollback takes back: those done in this run from the iteration on, and in all later runs.
 * @param landed with lanes: what has landed since, in place of the numbers of iterations
 */
export async function rolledBackStories(
  files: RunFiles,
  runId: string,
  from: { readonly iteration: number; readonly landed?: readonly { readonly storyId: string }[] },
): Promise<string[]> {
  const found = new Set((from.landed ?? []).map(({ storyId }) => storyId));
  for (const id of (await runIds(files)).filter(other => other >= runId)) {
    if (id !== runId || from.landed === undefined) {
      const since = id === runId ? from.iteration : 0;
      for (const event of await readDecisions(files.journalFile(id))) {
        const storyId = doneSince(event, since);
        if (storyId !== undefined) {
          found.add(storyId);
        }
      }
    }
  }
  return [...found];
}

function doneSince(event: RunEvent, since: number): string | undefined {
  switch (event.type) {
    case 'story.changed':
      return event.done && event.by === 'agent' && (event.iteration ?? 0) >= since
        ? event.storyId
        : undefined;
    case 'landing.landed':
      return event.iteration >= since ? event.storyId : undefined;
    default:
      return undefined;
  }
}

/** What becomes of ticks that a rollback of commits would leave, or remove with a commit that only came later. */
export interface TicksToSettle {
  /** Ids of the stories whose work is taken back, and whose ticks are not committed. */
  readonly reopened: readonly string[];
  /** Ids of the stories that are done before the iteration, or ticked without a commit by a person. */
  readonly kept: readonly string[];
}

/**
 * Call it before the rollback. Nothing if git does not track the story file.
 * @param takenBack see {@link rolledBackStories}
 */
export async function ticksToSettle(
  files: RunFiles,
  runId: string,
  { storyFile, takenBack }: { readonly storyFile: string; readonly takenBack: readonly string[] },
): Promise<TicksToSettle> {
  const now = (await readStoryList(storyFile))?.stories.flatMap(({ done, id }) =>
    done ? [id] : [],
  );
  const committed = await committedList(files.workspace, storyFile);
  if (now === undefined || committed === undefined) {
    return { reopened: [], kept: [] };
  }
  const isCommitted = new Set(committed.flatMap(({ done, id }) => (done ? [id] : [])));
  const ofRun = await rolledBackStories(files, runId, { iteration: 0 });
  return {
    reopened: now.filter(id => takenBack.includes(id) && !isCommitted.has(id)),
    kept: now.filter(id => !takenBack.includes(id) && (ofRun.includes(id) || !isCommitted.has(id))),
  };
}

/** The stories in the version of HEAD, if git tracks their file. */
async function committedList(
  dir: string,
  storyFile: string,
): Promise<readonly Story[] | undefined> {
  const git = new GitRepository(dir);
  const [root, head] = await Promise.all([git.root(), git.head()]);
  if (root === undefined || head === undefined) {
    return undefined;
  }
  const name = path.relative(realPlace(root) ?? root, realPlace(storyFile) ?? storyFile);
  // A file outside of the repository is in no commit.
  const bytes = await committedStories(root, head, name.split(path.sep).join('/')).catch(
    () => undefined,
  );
  const list = bytes && parseStoryFile(storyFile, bytes);
  return list?.kind === 'stories' ? list.stories : undefined;
}

/**
 * Call it after the rollback.
 * @throws {HumanError} if the file cannot be written
 */
export async function settleTicks(
  storyFile: string,
  { kept, reopened }: TicksToSettle,
): Promise<void> {
  const list = await readStoryList(storyFile);
  let expectedHash = list?.hash;
  for (const { done, id, position } of list?.stories ?? []) {
    if ((done ? reopened : kept).includes(id)) {
      const edit = await setStoryDone(storyFile, { id, position }, !done, { expectedHash });
      // Our own edit must not make the next story's position untrusted.
      expectedHash = edit.hash;
    }
  }
}
