import { isNumberId } from '../../base/numberId.ts';
import { sentences } from '../../base/say.ts';
import type { Work } from '../iteration/work.ts';
import { numbersIn } from '../journal/renumbering.ts';
import { problemWithIds } from '../preconditions/lanes.ts';
import type { Run } from '../run/run.ts';
import type { Verdict } from '../run/verdict.ts';
import { warn } from '../run/warn.ts';
import type { Story, StoryList } from '../stories/story.ts';
import { isNumbered, matchStories, renumberedAs } from '../stories/storyMatching.ts';
import { storyNow } from '../stories/storyNow.ts';
import { keepKnownStories, readKnownStories } from '../workspace/knownStories.ts';
import type { Start } from './policy.ts';

/** Gives the id that a story has now for the one that it had; `undefined` if it is gone. */
export type IdNow = (id: string) => string | undefined;

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

  /** Before a run continues: reads which list the numbers in its journal are from. */
  async open(): Promise<void> {
    const { files, id, state } = this.run;
    this.list = await readKnownStories(files, id, state().renumberings);
  }

  /** An earlier version of the list by the numbers that the journal uses. */
  asKnown(list: StoryList): StoryList {
    return this.list === undefined
      ? list
      : { ...list, stories: renumberedAs(list.stories, this.list) };
  }

  /**
   * From now on, numbers mean what they mean in this list; while agents work in places of their own, not before they
   * have ended.
   * @param working what they work on
   */
  async follow(
    stories: readonly Story[] | undefined,
    working: readonly Start[] = [],
  ): Promise<IdNow> {
    if (stories === undefined || ![...stories, ...(this.list ?? [])].some(isNumbered)) {
      this.list = stories ?? this.list;
      this.isMoved = false;
      return id => id;
    }
    const { gone, moves } = this.changes(stories, working);
    const hasChanged = moves.length > 0 || gone.length > 0;
    this.isMoved = hasChanged && working.length > 0;
    if (this.isMoved) {
      return id => id;
    }
    const { files, id: runId, journal, state } = this.run;
    const { renumberings = 0 } = state();
    const now = { renumberings: renumberings + (hasChanged ? 1 : 0), stories };
    const before = { renumberings, stories: this.list ?? [] };
    if (stories !== this.list) {
      await keepKnownStories(files, runId, hasChanged ? [now, before] : [now]);
    }
    if (hasChanged) {
      journal.append({
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
  async followed(work: Work): Promise<Work> {
    const { after, astray, scope } = work;
    const { stories: list } = scope.before;
    if (astray !== undefined || list === undefined || after.stories === undefined) {
      return work;
    }
    await this.follow(after.stories.stories);
    const stories = renumberedAs(list.stories, after.stories.stories);
    const { story } = scope;
    const own = list.stories.findIndex(
      ({ id, position }) => id === story?.id && position === story.position,
    );
    const { id = story?.id ?? '', position = story?.position ?? 0 } = stories[own] ?? {};
    return {
      ...work,
      scope: {
        ...scope,
        story: story && { ...story, id, position },
        before: { ...scope.before, stories: { ...list, stories } },
      },
    };
  }

  /** Of what the state knows by number: what has another one now, and what is gone. */
  private changes(stories: readonly Story[], working: readonly Start[]) {
    const { list } = this;
    const titles = this.titles();
    const numbers = new Set([
      ...numbersIn(this.run.state()),
      // One whose place is being prepared is not in the journal yet.
      ...working.flatMap(({ story }) => (story && isNumberId(story.id) ? [story.id] : [])),
    ]);
    const named = new Set(list?.flatMap(story => (isNumbered(story) ? [] : [story.id])));
    const pairs = list && matchStories(list, stories, { mayReplace: true }).pairs;
    const now = new Map(pairs?.map(({ after, before }) => [before.id, after]));
    const atWork = new Map(working.map(({ story }) => [story?.id, story?.title]));
    const numberNow = (from: string): string | undefined => {
      if (list === undefined) {
        return numberByTitle(stories, from, titles);
      }
      const story = now.get(from);
      const title = atWork.get(from);
      // What its agent does is known by its title when it lands.
      return title !== undefined && title !== story?.title ? undefined : story?.id;
    };
    const moves: { from: string; to: string }[] = [];
    const gone: string[] = [];
    for (const from of numbers) {
      const to = named.has(from) ? from : numberNow(from);
      if (to === undefined) {
        gone.push(from);
      } else if (to !== from) {
        moves.push({ from, to });
      }
    }
    return { moves, gone };
  }

  private titles(): ReadonlyMap<string, string> {
    return new Map(
      [...this.run.state().storyRecords].flatMap(([id, { title }]) =>
        title === undefined ? [] : [[id, title]],
      ),
    );
  }
}

/** For a journal of an earlier version, which knows titles alone. */
function numberByTitle(
  stories: readonly Story[],
  from: string,
  titles: ReadonlyMap<string, string>,
): string | undefined {
  const title = titles.get(from);
  const position = Number(from.slice(1)) - 1;
  const found = title === undefined ? undefined : storyNow(stories, { id: from, title, position });
  const there = stories[position]?.title;
  const isOther = [...titles].some(([id, other]) => id !== from && other === there);
  return found?.id ?? (isOther ? undefined : from);
}
