import { isAncestor } from '../git/isAncestor.ts';
import type { RunState } from '../journal/runState.ts';
import type { Target } from '../landing/target.ts';
import type { Snapshot } from '../places/snapshot.ts';
import { parseStoryFile } from '../stories/storyFile.ts';
import { storyNow } from '../stories/storyNow.ts';
import { committedStories } from '../workspace/committedStories.ts';

/** In ms. A switch of branches changes the files before HEAD; it is over by then. */
const SECOND_LOOK_MS = 1_000;

/**
 * Tells whether a person has set a story to not done that has landed. A file that says so is not enough: on a branch
 * without the landing it always does.
 */
export class LandedTicks {
  /** Since when the file says so, at which HEAD. */
  private readonly suspected = new Map<string, { readonly head: string; readonly at: number }>();
  private needsSecondLook = false;

  /** Whether only a later look can tell if a person has set a story to not done: the run does not end before it. */
  get isInDoubt(): boolean {
    return this.needsSecondLook;
  }

  /** Stories that have landed or are landing with what the file says of them, which is not news. */
  known(
    { running, storyRecords }: Pick<RunState, 'running' | 'storyRecords'>,
    { stories }: Pick<Snapshot, 'stories'>,
  ): Map<string, boolean> {
    const isDone = new Map(stories?.stories.map(({ done, id }) => [id, done]));
    const landed = [...storyRecords].flatMap(([id, { landed: hasLanded, title }]) => {
      const story = hasLanded && storyNow(stories?.stories ?? [], { id, title });
      return hasLanded ? [[id, story ? story.done : true] as const] : [];
    });
    // The branch brings the tick into the folder before the journal says that the story has landed.
    const landing = running.flatMap(({ queued, storyId }) =>
      queued && storyId !== undefined && isDone.get(storyId) ? [[storyId, true] as const] : [],
    );
    return new Map([...landed, ...landing]);
  }

  /**
   * @param now the user's folder, with the user's HEAD
   * @param at.landing ids of the stories that are landing, or wait to
   * @returns ids of landed stories that a person has set to not done
   */
  async unticked(
    state: RunState,
    now: Snapshot,
    { landing = [], ...at }: Omit<CommittedView, 'head'> & { readonly landing?: readonly string[] },
  ): Promise<string[]> {
    const { branch, head = '', stories } = now;
    const done = new Set(stories?.stories.flatMap(({ done: isDone, id }) => (isDone ? id : [])));
    // One that lands after this may have been set to not done before.
    this.needsSecondLook = landing.some(id => !done.has(id));
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
    const found: string[] = [];
    const view = { ...at, head };
    for (const id of open) {
      const said = await committedTick(state, id, view);
      const known = this.suspected.get(id);
      if (said === 'takenBack') {
        found.push(id);
      } else if (said === 'unknown' && known?.head !== key) {
        this.suspected.set(id, { head: key, at: Date.now() });
        this.needsSecondLook = true;
      } else if (said === 'unknown' && Date.now() - (known?.at ?? 0) >= SECOND_LOOK_MS) {
        this.suspected.delete(id);
        found.push(id);
      } else if (said === 'unknown') {
        this.needsSecondLook = true;
      }
    }
    return found;
  }
}

interface CommittedView {
  /** The branch that work lands on. */
  readonly target: Pick<Target, 'isLanded' | 'look' | 'root'>;
  /** Its path in the repository; absent outside. */
  readonly storyFile?: string;
  /** Full hash of the user's HEAD; '' if there is none. */
  readonly head: string;
}

/**
 * What commits say of a landed story that is not done in the folder: a person has taken it back with a commit, or has
 * taken the landing out of the history; or nothing, because HEAD is where the landing has not come yet; or the change
 * is not committed.
 */
async function committedTick(
  { commits }: RunState,
  id: string,
  view: CommittedView,
): Promise<'takenBack' | 'elsewhere' | 'unknown'> {
  const { head, target } = view;
  const isDone = async (commit: string) => (await doneAt(view, commit))?.has(id);
  if ((await isDone(head)) !== false) {
    return 'unknown';
  }
  const landed = commits.findLast(commit => commit.landed && commit.storyId === id)?.hash;
  if (landed === undefined || (await isDone(landed)) !== true) {
    return 'elsewhere';
  }
  if (await isAncestor(target.root, landed, head)) {
    return 'takenBack';
  }
  // A landing that a person has amended has its tick.
  const isGone =
    !(await target.isLanded(landed)) && (await isDone((await target.look()).tip)) === false;
  return isGone ? 'takenBack' : 'elsewhere';
}

/** Ids of the stories that are done in a commit; `undefined` if it does not have the file. */
async function doneAt(
  { storyFile, target }: CommittedView,
  commit: string,
): Promise<ReadonlySet<string> | undefined> {
  const bytes =
    storyFile === undefined || commit === ''
      ? undefined
      : await committedStories(target.root, commit, storyFile).catch(() => undefined);
  const list = bytes && storyFile !== undefined ? parseStoryFile(storyFile, bytes) : undefined;
  return list?.kind === 'stories'
    ? new Set(list.stories.filter(({ done }) => done).map(({ id }) => id))
    : undefined;
}
