import { isNumberId } from '../../base/numberId.ts';
import { GitRepository } from '../git/git.ts';
import type { RunEvent } from '../journal/events.ts';
import { readDecisions } from '../journal/journal.ts';
import { setStoryDone, withCommits } from '../stories/edit/edit.ts';
import { missingCommits } from '../stories/edit/yamlCommits.ts';
import type { Story, StoryFile } from '../stories/story.ts';
import { parseStoryText, readStoryBytes, readStoryList } from '../stories/storyFile.ts';
import { committedFile, committedList, placeInRepository } from './committedStories.ts';
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
 * The story file of an earlier commit with the commits that are listed now for the stories that stay done: the loop
 * lists them once the work is committed, so that commit does not have them.
 *
 * @param dir absolute path of the workspace
 * @param options as for {@link rollbackTicks}
 * @returns the content by its path from the top folder; empty if nothing is to be listed, or the file stays as it is
 */
export async function restoredCommitLists(
  dir: string,
  storyFile: string,
  { takenBack, to }: { readonly takenBack: readonly string[]; readonly to: string },
): Promise<ReadonlyMap<string, Buffer>> {
  const git = new GitRepository(dir);
  const [root, head] = await Promise.all([git.root(), git.head()]);
  const now = await readStoryBytes(storyFile);
  const listed = now && parseStoryText(storyFile, now);
  if (root === undefined || head === undefined || listed?.commits === undefined) {
    return new Map();
  }
  const before = await committedFile(root, to, storyFile);
  const isRestored = (await committedFile(root, head, storyFile))?.equals(before ?? Buffer.of());
  if (before === undefined || isRestored !== false) {
    return new Map();
  }
  const restored = parseStoryText(storyFile, before);
  const kept = new Map(doneIn(restored.file).map(({ id, position }) => [id, position]));
  let text = before.toString();
  for (const { id, position: place } of doneIn(listed.file)) {
    const position = takenBack.includes(id) ? undefined : kept.get(id);
    const known = position === undefined ? undefined : restored.commits?.of(position);
    const missing = known && missingCommits(known, listed.commits.of(place) ?? []);
    if (missing !== undefined && missing.length > 0) {
      text = withCommits(parseStoryText(storyFile, text), { id }, missing);
    }
  }
  const isSame = text === before.toString();
  return new Map(isSame ? [] : [[placeInRepository(root, storyFile), Buffer.from(text)]]);
}

/** Those of them that are done and have an id that no other story has. */
function doneIn(file: StoryFile): readonly Story[] {
  const stories = file.kind === 'stories' ? file.stories : [];
  return stories.filter(
    ({ done, id }) =>
      done && !isNumberId(id) && stories.filter(story => story.id === id).length === 1,
  );
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
