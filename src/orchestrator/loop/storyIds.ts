import { isNumberId } from '../../base/numberId.ts';
import { sentences } from '../../base/say.ts';
import type { Work } from '../iteration/work.ts';
import { numbersIn } from '../journal/renumbering.ts';
import { problemWithIds } from '../preconditions/lanes.ts';
import type { Run } from '../run/run.ts';
import type { Verdict } from '../run/verdict.ts';
import { warn } from '../run/warn.ts';
import type { Story } from '../stories/story.ts';
import { matchStories } from '../stories/storyMatching.ts';
import { storyNow } from '../stories/storyNow.ts';
import type { Start } from './policy.ts';

/**
 * The ids by which a run knows its stories; of those without one, their numbers in a version of the list. People and
 * agents change both: then the journal says which number each story has from now on.
 */
export class StoryIds {
  private readonly run: Run;
  /** The list whose numbers the journal uses; absent: only titles of stories are known. */
  private list: readonly Story[] | undefined;
  /** Ids are repeated, and that has been reported. */
  private areRepeated = false;
  private isMoved = false;

  constructor(run: Run) {
    this.run = run;
  }

  /** Numbers mean other stories than those that agents work on. */
  get haveMoved(): boolean {
    return this.isMoved;
  }

  /** Whether an id means the same story as before. */
  isCertain(storyId: string): boolean {
    return !this.isMoved || !isNumberId(storyId);
  }

  /** The id in the journal of a story that is meant by its number in the file, which may have changed since. */
  known(storyId: string, title: string | undefined): string {
    const found =
      isNumberId(storyId) && title !== undefined && this.list !== undefined
        ? storyNow(this.list, { id: storyId, title, position: Number(storyId.slice(1)) - 1 })
        : undefined;
    return found?.id ?? storyId;
  }

  /** @returns what ends the run, unless it is fixed while agents work */
  problem(stories: readonly Story[] | undefined): Verdict | undefined {
    const problem = stories && problemWithIds(stories);
    const message = problem && sentences([problem.message, problem.next]);
    if (message !== undefined && !this.areRepeated) {
      warn(this.run.journal, 'sameIds', message);
    }
    this.areRepeated = message !== undefined;
    return message && { kind: 'astray', message };
  }

  /** A run that continues knows its stories by their numbers in this list. */
  continueWith(list: readonly Story[]): void {
    this.list = list;
  }

  /**
   * From now on, numbers mean what they mean in this list; while agents work in places of their own, not before they
   * have ended.
   * @param working what they work on
   * @returns gives the id that a story has from now on for the one that it had; `undefined` if it is gone
   */
  follow(
    stories: readonly Story[] | undefined,
    working: readonly Start[] = [],
  ): (id: string) => string | undefined {
    if (stories === undefined) {
      return id => id;
    }
    const { gone, moves } = this.changes(stories, working);
    const hasChanged = moves.length > 0 || gone.length > 0;
    this.isMoved = hasChanged && working.length > 0;
    if (this.isMoved) {
      return id => id;
    }
    if (hasChanged) {
      this.run.journal.append({
        type: 'stories.renumbered',
        moves,
        gone: gone.length === 0 ? undefined : gone,
      });
    }
    this.list = stories;
    const to = new Map(moves.map(move => [move.from, move.to]));
    return id => to.get(id) ?? (gone.includes(id) ? undefined : id);
  }

  /** The work of an iteration by the numbers that its stories have in the list that it leaves. */
  followed(work: Work): Work {
    const { after, scope } = work;
    const { stories: list } = scope.before;
    if (list === undefined || after.stories === undefined) {
      return work;
    }
    const idNow = new Map(
      matchStories(list.stories, after.stories.stories).pairs.map(pair => [
        pair.before,
        pair.after,
      ]),
    );
    this.follow(after.stories.stories);
    const stories = list.stories.map(story => ({ ...story, id: idNow.get(story)?.id ?? story.id }));
    const own = list.stories.findIndex(
      ({ id, position }) => id === scope.story?.id && position === scope.story.position,
    );
    return {
      ...work,
      scope: {
        ...scope,
        story: scope.story && { ...scope.story, id: stories[own]?.id ?? scope.story.id },
        before: { ...scope.before, stories: { ...list, stories } },
      },
    };
  }

  /** Of what the state knows by number: what has another one now, and what is gone. */
  private changes(stories: readonly Story[], working: readonly Start[]) {
    const state = this.run.state();
    const numbers = new Set([
      ...numbersIn(state),
      // One whose place is being prepared is not in the journal yet.
      ...working.flatMap(({ story }) => (story && isNumberId(story.id) ? [story.id] : [])),
    ]);
    const moves: { from: string; to: string }[] = [];
    const gone: string[] = [];
    if (numbers.size === 0) {
      return { moves, gone };
    }
    const now = this.list === undefined ? undefined : matchStories(this.list, stories);
    const byNumber = new Map(now?.pairs.map(({ after, before }) => [before.id, after.id]));
    for (const from of numbers) {
      const title = state.storyRecords.get(from)?.title;
      const to =
        now !== undefined
          ? byNumber.get(from)
          : title === undefined
            ? from
            : storyNow(stories, { id: from, title })?.id;
      if (to === undefined) {
        gone.push(from);
      } else if (to !== from) {
        moves.push({ from, to });
      }
    }
    // Without a title, it is only certain if nothing else has moved.
    const isLost = (id: string) =>
      now === undefined && state.storyRecords.get(id)?.title === undefined;
    const lost = moves.length === 0 ? [] : [...numbers].filter(isLost);
    return { moves, gone: [...gone, ...lost] };
  }
}
