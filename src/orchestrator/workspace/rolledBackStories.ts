import { isNumberId } from '../../base/numberId.ts';
import { GitRepository } from '../git/git.ts';
import type { RunEvent } from '../journal/events.ts';
import { readDecisions } from '../journal/journal.ts';
import { setStoryDone } from '../stories/edit/edit.ts';
import type { Story } from '../stories/story.ts';
import { readStoryList } from '../stories/storyFile.ts';
import { committedList, placeInRepository } from './committedStories.ts';
import type { RunFiles } from './runFiles.ts';
import { runIds } from './runIds.ts';

/**
 * The stories whose work a rollback takes back: those done in this run from the iteration on, and in all later runs.
 * @param from.landed with lanes: what has landed since, in place of the numbers of iterations
 * @param isAsked leaves out other runs
 */
export async function rolledBackStories(
  files: RunFiles,
  runId: string,
  from: { readonly iteration: number; readonly landed?: readonly { readonly storyId: string }[] },
  isAsked: (runId: string) => boolean = () => true,
): Promise<string[]> {
  const found = new Set((from.landed ?? []).map(({ storyId }) => storyId));
  for (const id of (await runIds(files)).filter(other => other >= runId && isAsked(other))) {
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

/** Ticks that a rollback concerns, because it restores only what is committed. */
export interface RollbackTicks {
  /** The story file, from the top folder, with forward slashes. */
  readonly name: string;
  /** Stories whose work is taken back, and whose ticks are not committed. */
  readonly takenBack: readonly Story[];
  /** Those of them that can be set to not done without a doubt which story is meant. */
  readonly certain: readonly Story[];
  /** Other stories that are done now, but not in the version that is restored: their ticks came later. */
  readonly others: readonly Story[];
}

/**
 * @param dir absolute path of the workspace
 * @param options.to the commit that is restored
 * @param options.takenBack see {@link rolledBackStories}
 * @returns `undefined` if git does not track the story file
 */
export async function rollbackTicks(
  dir: string,
  storyFile: string,
  { takenBack, to }: { readonly takenBack: readonly string[]; readonly to: string },
): Promise<RollbackTicks | undefined> {
  const git = new GitRepository(dir);
  const [root, head] = await Promise.all([git.root(), git.head()]);
  const now = (await readStoryList(storyFile))?.stories;
  if (root === undefined || head === undefined || now === undefined) {
    return undefined;
  }
  const doneAt = async (commit: string): Promise<ReadonlySet<string> | undefined> => {
    const list = await committedList(root, commit, storyFile);
    return list && new Set(list.stories.flatMap(({ done, id }) => (done ? [id] : [])));
  };
  const [committed, restored] = await Promise.all([doneAt(head), doneAt(to)]);
  if (committed === undefined || restored === undefined) {
    return undefined;
  }
  const done = now.filter(story => story.done);
  const own = done.filter(({ id }) => takenBack.includes(id) && !committed.has(id));
  return {
    name: placeInRepository(root, storyFile),
    takenBack: own,
    certain: own.filter(
      ({ id }) => !isNumberId(id) && now.filter(story => story.id === id).length === 1,
    ),
    others: done.filter(
      ({ id }) => !isNumberId(id) && !takenBack.includes(id) && !restored.has(id),
    ),
  };
}

/**
 * Sets stories to not done in a file that has not changed since they were read.
 * @throws {HumanError} if the file cannot be written
 */
export async function reopenStories(storyFile: string, stories: readonly Story[]): Promise<void> {
  let expectedHash: string | undefined;
  for (const { id, position } of stories) {
    const edit = await setStoryDone(storyFile, { id, position }, false, { expectedHash });
    // Our own edit must not make the next story's position untrusted.
    expectedHash = edit.hash;
  }
}
