import { setTimeout as sleep } from 'node:timers/promises';
import { lookForLostCommits, missingWork } from '../iteration/lostWork.ts';
import type { Place } from '../places/place.ts';
import { readSnapshot, readStories, type Snapshot, withoutRemoved } from '../places/snapshot.ts';
import { activeOtherMode } from '../preconditions/modes.ts';
import { recordOwedCommits } from '../run/commitRecord.ts';
import type { Run } from '../run/run.ts';
import type { Verdict } from '../run/verdict.ts';
import type { StoryList } from '../stories/story.ts';
import { storyChanges } from '../stories/storyChanges.ts';
import { matchStories } from '../stories/storyMatching.ts';
import type { Tracker } from '../trackers/tracker.ts';
import { FolderList } from './folderList.ts';
import { followBranch } from './followBranch.ts';
import type { Lanes } from './lanes.ts';
import type { Decision } from './policy.ts';
import { StoryIds } from './storyIds.ts';
import { syncTracker } from './trackerSync.ts';

/**
 * After this time, files are read again: git removes one before it writes it anew, also when something lands, and may
 * fail for a moment.
 */
const SECOND_READ_MS = 1_000;

/** The files of a run as they were last read, and what follows from the changes that people make in them. */
export class CurrentFiles {
  /** The latest state of the files. */
  snapshot: Snapshot;
  private readonly run: Run;
  private readonly place: Place;
  readonly ids: StoryIds;
  /** Absent: one agent works in the user's tree. */
  private lanes: Lanes | undefined;
  /** With lanes and stories. */
  private folderList: FolderList | undefined;
  private verdict: Verdict | undefined;
  private activeMode: string | undefined;

  /**
   * @param place the user's tree
   * @param snapshot the files at the start
   */
  constructor(run: Run, place: Place, snapshot: Snapshot) {
    this.run = run;
    this.place = place;
    this.snapshot = snapshot;
    this.ids = new StoryIds(run);
  }

  /** From now on, agents work in places of their own. */
  isolate(lanes: Lanes): void {
    const { place, run, snapshot } = this;
    this.lanes = lanes;
    this.folderList =
      place.storyFile === undefined
        ? undefined
        : new FolderList(run, place.storyFile, snapshot.branch);
  }

  /** What would end the run by its files as they are now; a person may still put them right while agents work. */
  get problem(): Verdict | undefined {
    return this.verdict;
  }

  /** Another mode of the workspace that is active now. */
  get otherMode(): string | undefined {
    return this.activeMode;
  }

  /** Whether numbers mean other stories than those that agents work on. */
  get haveNumbersMoved(): boolean {
    return this.ids.haveMoved;
  }

  /** The files that an iteration in the user's tree leaves. @param isAstray they are not those of the run's branch */
  async takeOver(after: Snapshot, isAstray: boolean): Promise<void> {
    this.snapshot = after;
    if (!isAstray) {
      await this.ids.follow(after.stories?.stories);
    }
  }

  /**
   * What follows from a decision that does not know what a person has done to the list.
   * @param isAnyWorking whether agents work, or their work lands
   */
  settle(decision: Decision, isAnyWorking: boolean): Decision {
    return this.folderList?.settle(decision, isAnyWorking) ?? decision;
  }

  /**
   * Reads the files between two iterations; changes by others do not count as the agent's.
   * @param takeHandled gives the stories whose changes are recorded already, with whether they are done
   */
  async refresh(takeHandled: () => ReadonlyMap<string, boolean>): Promise<void> {
    const { ids, lanes, place, run, snapshot: before } = this;
    const [read, otherMode] = await Promise.all([this.read(before), activeOtherMode(run.files)]);
    const problemOfIds = lanes && ids.problem(read.stories?.stories);
    // Like a list that cannot be read: the last one that could still counts.
    const here = problemOfIds === undefined ? read : { ...read, stories: before.stories };
    const found = this.folderList?.look(here) ?? here;
    const handled = new Map([
      ...(lanes?.landedTicks.known(run.state(), found) ?? []),
      ...(problemOfIds === undefined ? takeHandled() : []),
    ]);
    for (const storyId of (await lanes?.unticked(found)) ?? []) {
      run.journal.append({ type: 'story.changed', storyId, done: false, by: 'outside' });
    }
    const snapshot = lanes ? { ...found, ...(await lanes.target()) } : found;
    this.snapshot = snapshot;
    this.activeMode = otherMode?.mode;
    await recordOwedCommits(run, place.git, snapshot);
    const elsewhere = lanes ? undefined : await followBranch(run, place, snapshot);
    // The list of another branch says nothing about the stories of this one.
    const idNow = await ids.follow(
      elsewhere === undefined ? snapshot.stories?.stories : undefined,
      lanes?.working,
    );
    const changes = storyChanges({
      storiesBefore: before.stories?.stories ?? [],
      storiesAfter: snapshot.stories?.stories ?? [],
      handled: new Map([...handled].map(([id, done]) => [idNow(id) ?? id, done])),
    });
    for (const change of changes) {
      if (ids.isCertain(change.storyId)) {
        run.journal.append({ type: 'story.changed', ...change, by: 'outside' });
      }
    }
    this.verdict = problemOfIds ?? elsewhere ?? (await this.lookAtHistory(before));
  }

  /** Reads the stories alone, for the end: what has left the file stays in the snapshot. */
  async refreshStories(): Promise<void> {
    const { place, snapshot } = this;
    this.snapshot = { ...snapshot, ...(await readStories(place.storyFile, snapshot)) };
  }

  /** What leaves the list on the tracker is no story of the run any more. */
  async syncTracker(tracker: Tracker | undefined): Promise<void> {
    if (tracker !== undefined) {
      const { run, snapshot } = this;
      const accept = await this.noteList(snapshot.stories);
      await syncTracker(run, tracker, snapshot, run.stop.endSignal);
      await accept();
    }
  }

  /**
   * @param known the list as it was, in case it cannot be read now
   * @returns a function after which no open story that has left the list since now is one of the run any more
   */
  async noteList(known?: StoryList): Promise<() => Promise<void>> {
    const { storyFile } = this.place;
    const { stories: listed = known } = await readStories(storyFile);
    return async () => {
      const { stories: left } = await readStories(storyFile);
      this.snapshot = withoutRemoved(this.snapshot, listed, left);
    };
  }

  private async read(before: Snapshot): Promise<Snapshot> {
    const { git, storyFile } = this.place;
    const read = await readSnapshot(storyFile, git, before);
    const { gitProblem, storyFileProblem } = read;
    const isListMissing = this.folderList !== undefined && storyFileProblem !== undefined;
    if (gitProblem === undefined && !isListMissing) {
      return read;
    }
    await sleep(SECOND_READ_MS);
    return readSnapshot(storyFile, git, before);
  }

  /** @returns what ends the run, if its work is not on its branch */
  private async lookAtHistory(before: Snapshot): Promise<Verdict | undefined> {
    const { place, run, snapshot } = this;
    const history = { place, now: snapshot };
    // Between two iterations, a person has done it: who takes a story back takes its commits back with it.
    const { pairs, removed } = matchStories(
      before.stories?.stories ?? [],
      snapshot.stories?.stories ?? [],
    );
    const done = [
      ...pairs.flatMap(pair => (pair.after.done ? [{ ...pair.before, id: pair.after.id }] : [])),
      ...removed,
    ];
    await lookForLostCommits(run, history, done);
    return missingWork(run, history);
  }
}
