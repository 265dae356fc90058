import type { GitRepository } from '../git/git.ts';
import type { RunState } from '../journal/runState.ts';
import type { Snapshot } from '../places/snapshot.ts';
import { parseStoryFile } from '../stories/storyFile.ts';

/** In ms. A switch of branches changes the files before HEAD; it is over by then. */
const SECOND_LOOK_MS = 1_000;

/**
 * Tells whether a person has set a story to not done that has landed. A file that says so is not enough: on a branch
 * without the landing it always does.
 */
export class LandedTicks {
  /** Since when the file says so, at which HEAD. */
  private readonly suspected = new Map<string, { readonly head: string; readonly at: number }>();

  /** Stories that have landed or are landing with what the file says of them, which is not news. */
  known(
    { running, storyRecords }: Pick<RunState, 'running' | 'storyRecords'>,
    { stories }: Pick<Snapshot, 'stories'>,
  ): Map<string, boolean> {
    const isDone = new Map(stories?.stories.map(({ done, id }) => [id, done]));
    const landed = [...storyRecords].flatMap(([id, record]) =>
      record.landed ? [[id, isDone.get(id) ?? true] as const] : [],
    );
    // The branch brings the tick into the folder before the journal says that the story has landed.
    const landing = running.flatMap(({ queued, storyId }) =>
      queued && storyId !== undefined && isDone.get(storyId) ? [[storyId, true] as const] : [],
    );
    return new Map([...landed, ...landing]);
  }

  /**
   * @param now the user's folder, with the user's HEAD
   * @param storyFile its path in the repository; absent outside
   * @returns ids of landed stories that a person has set to not done
   */
  async unticked(
    state: RunState,
    now: Snapshot,
    { git, storyFile }: { readonly git: GitRepository; readonly storyFile?: string },
  ): Promise<string[]> {
    const { branch, head = '', stories } = now;
    const atWork = new Set(state.running.map(({ storyId }) => storyId));
    const open = [...this.known(state, now)].flatMap(([id, done]) =>
      // One that is just landing gets its tick last; a tick that could not be written is nobody's.
      done || atWork.has(id) || state.storyRecords.get(id)?.tickMissing ? [] : [id],
    );
    const key = `${head} ${branch}`;
    for (const id of this.suspected.keys()) {
      if (!open.includes(id)) {
        this.suspected.delete(id);
      }
    }
    if (open.length === 0 || stories === undefined || now.storyFileProblem !== undefined) {
      return [];
    }
    const committed = await doneAt(git, head, storyFile);
    const found: string[] = [];
    for (const id of open.filter(story => committed === undefined || committed.has(story))) {
      const known = this.suspected.get(id);
      if (known?.head !== key) {
        this.suspected.set(id, { head: key, at: Date.now() });
      } else if (Date.now() - known.at >= SECOND_LOOK_MS) {
        this.suspected.delete(id);
        found.push(id);
      }
    }
    return found;
  }
}

/** Ids of the stories that are done in a commit; `undefined` if it does not have the file. */
async function doneAt(
  git: GitRepository,
  head: string,
  storyFile: string | undefined,
): Promise<ReadonlySet<string> | undefined> {
  const bytes =
    storyFile === undefined || head === ''
      ? undefined
      : await git.fileAt(head, storyFile).catch(() => undefined);
  const list = bytes && storyFile !== undefined ? parseStoryFile(storyFile, bytes) : undefined;
  return list?.kind === 'stories'
    ? new Set(list.stories.filter(({ done }) => done).map(({ id }) => id))
    : undefined;
}
