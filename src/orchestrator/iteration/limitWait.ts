import { handledIn } from '../journal/runState.ts';
import { readSnapshot, type Snapshot } from '../places/snapshot.ts';
import type { Run } from '../run/run.ts';
import type { Scope } from '../run/scope.ts';
import { isStillToDo } from '../run/storiesLeft.ts';
import { storyChanges } from '../stories/storyChanges.ts';
import { sameStory } from '../stories/storyMatching.ts';

/** The state of an iteration after a wait for a usage limit. */
export interface AfterWait {
  /** With the current files and, if it still exists, the current version of its story. */
  readonly scope: Scope;
  readonly isToDo: boolean;
  /**
   * The iteration had changed nothing before the wait, so all differences are the work of people, who may do what
   * an iteration may not.
   */
  readonly isNewStart: boolean;
}

/**
 * A wait for a usage limit takes hours, during which people continue to work: they edit stories, tick them, give
 * hints, commit. Created before the wait, it distinguishes their work from the iteration's.
 */
export class LimitWait {
  private readonly run: Run;
  private readonly scope: Scope;
  private readonly atBegin: Snapshot;

  private constructor(run: Run, scope: Scope, atBegin: Snapshot) {
    this.run = run;
    this.scope = scope;
    this.atBegin = atBegin;
  }

  /** @param scope with the files at the start of the iteration */
  static async begin(run: Run, scope: Scope): Promise<LimitWait> {
    const { git, storyFile } = scope.place;
    return new LimitWait(run, scope, await readSnapshot(storyFile, git));
  }

  /** Processes people's requests, and reads the files again. */
  async end(): Promise<AfterWait> {
    const { run, scope } = this;
    const { before, place, story: storyBefore } = scope;
    await run.requests.look();
    // A status of the work tree from before the wait is outdated.
    place.workTree.take();
    // Stories that people removed are gone; for stories that an agent removed, the file alone does not show who did
    // it.
    const { stories: _stories, ...withoutStories } = before;
    const now = await readSnapshot(place.storyFile, place.git, withoutStories);
    const isNewStart = this.wasIdle() && now.storyFileProblem === undefined;
    const after = isNewStart ? now : await readSnapshot(place.storyFile, place.git, before);
    if (isNewStart) {
      await run.followStories(now.stories?.stories);
      this.recordChanges(now);
    }
    const stories = after.stories?.stories;
    const found =
      storyBefore && sameStory(before.stories?.stories ?? [], storyBefore, stories ?? []);
    const story = found ?? storyBefore;
    // Unless its numbers are followed already, the journal knows it by the one that it had.
    const id = (isNewStart ? found?.id : undefined) ?? storyBefore?.id ?? '';
    return {
      scope: { ...scope, before: after, story: story ?? scope.story },
      isToDo:
        storyBefore === undefined ||
        isStillToDo(id, {
          config: run.config,
          state: run.state(),
          stories: stories?.map(one => (one === found ? { ...one, id } : one)),
        }),
      isNewStart,
    };
  }

  private recordChanges(now: Snapshot): void {
    const { run, scope } = this;
    const changes = storyChanges({
      storiesBefore: scope.before.stories?.stories ?? [],
      storiesAfter: now.stories?.stories ?? [],
      handled: handledIn(run.state(), scope.iteration),
    });
    for (const change of changes) {
      run.journal.append({ type: 'story.changed', ...change, by: 'outside' });
    }
  }

  private wasIdle(): boolean {
    const { atBegin } = this;
    const { before: start } = this.scope;
    return (
      start.storyFileProblem === undefined &&
      atBegin.storyFileProblem === undefined &&
      atBegin.gitProblem === undefined &&
      atBegin.head === start.head &&
      atBegin.stories?.hash === start.stories?.hash
    );
  }
}
