import { isNumberId } from '../../base/numberId.ts';
import { sentences } from '../../base/say.ts';
import { problemWithIds } from '../preconditions/lanes.ts';
import type { Run } from '../run/run.ts';
import type { Verdict } from '../run/verdict.ts';
import { warn } from '../run/warn.ts';
import type { Story } from '../stories/story.ts';
import { haveMoved } from './movedNumbers.ts';
import type { Start } from './policy.ts';

/**
 * The ids by which a run with lanes knows its stories; of those without one, their numbers. People change both while
 * agents work.
 */
export class StoryIds {
  private readonly run: Run;
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

  /** @param working what agents work on */
  follow(stories: readonly Story[] | undefined, working: readonly Start[]): void {
    if (stories !== undefined) {
      this.isMoved = haveMoved(stories, this.run.state(), working);
    }
  }

  /** No agent works any more: from now on, numbers mean what they mean in the file. */
  settle(): void {
    if (this.isMoved) {
      warn(this.run.journal, 'numbersMoved', '');
      this.isMoved = false;
    }
  }
}
