import { isStillToDo } from '../loop/policy.ts';
import type { RunContext } from '../loop/runContext.ts';
import { storyChanges } from '../proof/judge.ts';
import type { Story } from '../stories/story.ts';
import { readSnapshot, type Snapshot } from './snapshot.ts';

/** The files at the end of a wait for a usage limit. */
export interface AfterWait {
  /** As it is now; absent when it is gone, or where there are no stories. */
  readonly story?: Story;
  readonly isToDo: boolean;
  /**
   * Until the wait the iteration had changed nothing, so all that is different now is the work of people, who
   * may do what an iteration may not.
   */
  readonly isNewStart: boolean;
}

/**
 * A wait for a usage limit takes hours, in which people go on: they edit stories, tick them, give hints, commit.
 * Begun before the wait, it tells their work from the iteration's.
 */
export class LimitWait {
  private readonly context: RunContext;
  /** What the iteration started from. */
  private readonly start: Snapshot;
  private readonly storyId: string | undefined;
  private readonly atBegin: Snapshot;

  private constructor(
    context: RunContext,
    start: Snapshot,
    storyId: string | undefined,
    atBegin: Snapshot,
  ) {
    this.context = context;
    this.start = start;
    this.storyId = storyId;
    this.atBegin = atBegin;
  }

  static async begin(
    context: RunContext,
    start: Snapshot,
    storyId: string | undefined,
  ): Promise<LimitWait> {
    const { git, options } = context;
    return new LimitWait(context, start, storyId, await readSnapshot(options.storyFile, git));
  }

  /** Takes what people have asked, and makes the files as they are now what the run knows. */
  async end(): Promise<AfterWait> {
    const { context, start, storyId } = this;
    const { config, storyFile } = context.options;
    await context.look();
    // An earlier look at the work tree knows nothing of the wait.
    context.takeWorkTree();
    // Stories that people took out are gone; of those that an agent took out the file alone does not tell.
    const { stories: _stories, ...withoutStories } = start;
    const now = await readSnapshot(storyFile, context.git, withoutStories);
    const isNewStart = this.wasIdle() && now.storyFileProblem === undefined;
    context.snapshot = isNewStart ? now : await readSnapshot(storyFile, context.git, start);
    if (isNewStart) {
      this.recordChanges(now);
    }
    const stories = context.snapshot.stories?.stories;
    const story = stories?.find(({ id }) => id === storyId);
    return {
      ...(story && { story }),
      isToDo:
        storyId === undefined ||
        isStillToDo(storyId, { config, state: context.state, ...(stories && { stories }) }),
      isNewStart,
    };
  }

  private recordChanges(now: Snapshot): void {
    const { context, start } = this;
    const changes = storyChanges({
      storiesBefore: start.stories?.stories ?? [],
      storiesAfter: now.stories?.stories ?? [],
      handled: context.handledNow(),
    });
    for (const change of changes) {
      context.append({ type: 'story.changed', ...change, by: 'outside' });
    }
  }

  private wasIdle(): boolean {
    const { atBegin, start } = this;
    return (
      start.storyFileProblem === undefined &&
      atBegin.storyFileProblem === undefined &&
      atBegin.gitProblem === undefined &&
      atBegin.head === start.head &&
      atBegin.stories?.hash === start.stories?.hash
    );
  }
}
