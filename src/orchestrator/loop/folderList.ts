import type { Message } from '../../base/say.ts';
import { storyRecord } from '../journal/runState.ts';
import type { Snapshot } from '../places/snapshot.ts';
import type { Run } from '../run/run.ts';
import { warn } from '../run/warn.ts';
import { isPassedOver } from '../stories/select.ts';
import type { Story } from '../stories/story.ts';
import { problemOfFile } from '../stories/storyFile.ts';
import type { Decision } from './policy.ts';

/** How long a run whose agents have all ended waits for a person, who may be typing in the story file. */
const PATIENCE_MS = 20_000;

/**
 * The story file in the user's folder, while agents work in places of their own. What is missing or unreadable in it, a
 * person has done: no agent can tick it, or repair it, so none starts on it.
 */
export class FolderList {
  private readonly run: Run;
  private readonly storyFile: string;
  /** Ids of stories that are not in the file any more and were not done. */
  private gone: ReadonlySet<string> = new Set();
  private problem: Message | undefined;
  /** The folder's branch at the start. Another one may have another list, or none. */
  private readonly branch: string | undefined;
  /** Since when only a person can help. */
  private since: number | undefined;

  /**
   * @param storyFile absolute path
   * @param branch that of the folder now
   */
  constructor(run: Run, storyFile: string, branch: string | undefined) {
    this.run = run;
    this.storyFile = storyFile;
    this.branch = branch;
  }

  /**
   * Takes note of what a person has done to the list.
   * @param found the files in the user's folder, with their branch
   * @returns them without the stories that are gone
   */
  look(found: Snapshot): Snapshot {
    const { branch, gone = [], stories: list, storyFileProblem } = found;
    const isUnreadable = storyFileProblem !== undefined && gone.length === 0;
    const isSame = branch === this.branch;
    const problem = isUnreadable && isSame ? storyFileProblem : undefined;
    if (problem !== undefined && this.problem === undefined) {
      warn(this.run.journal, 'storyFileUnreadable', problem);
    }
    this.problem = problem;
    if (isUnreadable || list === undefined || (gone.length > 0 && !isSame)) {
      return found;
    }
    const stories = list.stories.filter(({ id }) => !gone.includes(id));
    const here = new Set(stories.map(({ id }) => id));
    const news = list.stories.flatMap(story =>
      gone.includes(story.id) && this.isToDo(story) ? story.id : [],
    );
    if (news.length > 0) {
      warn(this.run.journal, 'storiesGone', news.join(', '));
    }
    this.gone = new Set([...this.gone, ...news].filter(id => !here.has(id)));
    return {
      ...found,
      stories: { ...list, stories },
      gone: undefined,
      storyFileProblem: undefined,
    };
  }

  /**
   * What follows from a decision that does not know of it.
   * @param isAnyWorking whether agents work, or their work lands
   */
  settle(decision: Decision, isAnyWorking: boolean): Decision {
    const end = this.endInsteadOf(decision);
    if (end === undefined || isAnyWorking) {
      this.since = undefined;
      return end === undefined ? decision : { kind: 'wait' };
    }
    const { state, stop } = this.run;
    if (state().pauseRequested && !stop.requested) {
      this.since = undefined;
      return { kind: 'pause', reason: 'person' };
    }
    this.since ??= Date.now();
    const isPatient = Date.now() - this.since < PATIENCE_MS && !stop.requested;
    return isPatient ? { kind: 'wait' } : end;
  }

  private endInsteadOf(decision: Decision): Decision | undefined {
    switch (decision.kind) {
      case 'start':
      case 'skip':
      case 'later':
        return (
          this.problem && {
            kind: 'end',
            outcome: 'error',
            detail: problemOfFile(this.storyFile, this.problem),
          }
        );
      case 'end': {
        const gone = [...this.gone].filter(id => !this.hasLanded(id));
        const isOver = decision.outcome === 'completed' || decision.outcome === 'noReadyStory';
        if (gone.length === 0 || !isOver) {
          return undefined;
        }
        // A chosen one that is not in the list is open already.
        const open = [...new Set([...(decision.open ?? []), ...gone])];
        // For people; an id may contain any character, so programs use the list.
        return { ...decision, outcome: 'noReadyStory', detail: open.join(', '), open, gone };
      }
      default:
        return undefined;
    }
  }

  /** Whether the run would not be complete without it. */
  private isToDo(story: Story): boolean {
    const { onlyStories } = this.run.state();
    const isMeant = onlyStories === undefined || onlyStories.includes(story.id);
    return isMeant && !isPassedOver(story, onlyStories !== undefined) && !this.hasLanded(story.id);
  }

  private hasLanded(id: string): boolean {
    return storyRecord(this.run.state(), id).landed === true;
  }
}
