import { HumanError } from '../../base/humanError.ts';
import { isNumberId } from '../../base/numberId.ts';
import { say } from '../../base/say.ts';
import { titleNextTo } from '../../base/storyTitle.ts';
import { shorten } from '../../base/text.ts';
import { readDecisions } from '../journal/journal.ts';
import type { RecordedCommit, RunState } from '../journal/runState.ts';
import type { Story, StoryList } from '../stories/story.ts';
import { type CommitsOf, recordedCommits } from '../workspace/recordedCommits.ts';
import type { RunFiles } from '../workspace/runFiles.ts';

/** What can be reverted. */
export type Revertible = Extract<CommitsOf, { kind: 'story' | 'iteration' }>;

/**
 * The commits to revert. Once a list has changed, the number of a story without an id of its own means another one:
 * then its commits are those of the iterations that worked on a story with its title. Other ids are the same story until
 * it was done with another title: a new list begins with the ids of the last one.
 * @throws {HumanError} if runs worked only on other stories with this id
 */
export async function commitsOfWork(
  files: RunFiles,
  {
    list,
    of,
    states,
  }: {
    readonly of: Revertible;
    readonly states: readonly RunState[];
    readonly list: StoryList | undefined;
  },
): Promise<readonly RecordedCommit[]> {
  const recorded = recordedCommits(states, of);
  const stories = list?.stories ?? [];
  const story = of.kind === 'story' ? stories.find(({ id }) => id === of.storyId) : undefined;
  if (story === undefined || stories.filter(({ title }) => title === story.title).length > 1) {
    return recorded;
  }
  const { commits, other } = await (isNumberId(story.id) ? ofTitle : ofId)(files, states, story);
  if (commits.length === 0 && other !== undefined) {
    throw new HumanError(
      say(
        '{0} is "{1}" now, but was "{2}" when a run worked on it. To revert that, name the iteration: ralph-fresh revert --iteration {3} --run {4}',
        story.id,
        shorten(story.title, 80),
        shorten(other.title, 80),
        other.iteration,
        other.runId,
      ),
    );
  }
  return commits;
}

/** The commits of a story, and the last work on another one that had the same id. */
interface WorkOnStory {
  readonly commits: readonly RecordedCommit[];
  readonly other?:
    | { readonly title: string; readonly runId: string; readonly iteration: number }
    | undefined;
}

/** Of a story whose number is no id of its own. */
async function ofTitle(
  files: RunFiles,
  states: readonly RunState[],
  story: Story,
): Promise<WorkOnStory> {
  const found = new Map<string, RecordedCommit>();
  let other: WorkOnStory['other'];
  for (const { commits, runId } of states) {
    const ofNumbers = commits.filter(({ storyId = '' }) => isNumberId(storyId));
    const { titles } = await iterationsOf(files, ofNumbers.length > 0 ? runId : undefined);
    for (const commit of ofNumbers) {
      const title = titles.get(commit.iteration);
      const isSameNumber = commit.storyId === story.id;
      if (title === undefined ? isSameNumber : title === story.title) {
        found.set(commit.hash, commit);
      } else if (isSameNumber && title !== undefined && runId !== undefined) {
        other = { title, runId, iteration: commit.iteration };
      }
    }
  }
  return { commits: [...found.values()], other };
}

/** A new list begins with the ids of the last one; what was done with another title is another story. */
async function ofId(
  files: RunFiles,
  states: readonly RunState[],
  story: Story,
): Promise<WorkOnStory> {
  const found = new Map<string, RecordedCommit>();
  let other: WorkOnStory['other'];
  for (const { commits, runId, storyRecords } of states) {
    const { done, titles } = await iterationsOf(
      files,
      storyRecords.has(story.id) ? runId : undefined,
    );
    const iteration = done.findLast(
      ended => ended.storyId === story.id && !isSameTitle(story, titles.get(ended.iteration)),
    )?.iteration;
    const title = iteration === undefined ? undefined : titles.get(iteration);
    if (iteration !== undefined && title !== undefined && runId !== undefined) {
      found.clear();
      other = { title, runId, iteration };
    }
    for (const commit of commits) {
      const isLater = title === undefined || commit.iteration > (iteration ?? 0);
      if (commit.storyId === story.id && isLater) {
        found.set(commit.hash, commit);
      }
    }
  }
  return { commits: [...found.values()], other };
}

/**
 * The iterations of a run.
 * @param runId absent: there are none
 * @returns `titles`: of the stories that it worked on, by iteration; `done`: the iterations that did their story
 */
async function iterationsOf(files: RunFiles, runId: string | undefined) {
  const titles = new Map<number, string>();
  const done: { readonly iteration: number; readonly storyId?: string | undefined }[] = [];
  for (const event of runId === undefined ? [] : await readDecisions(files.journalFile(runId))) {
    if (event.type === 'iteration.started' && event.storyTitle !== undefined) {
      titles.set(event.iteration, event.storyTitle);
    } else if (event.type === 'iteration.ended' && event.outcome === 'storyDone') {
      done.push(event);
    }
  }
  return { titles, done };
}

/** The stories to untick: the story itself, or those completed by this iteration and by none after it. */
export async function storiesDoneBy(
  files: RunFiles,
  of: Revertible,
  list: StoryList | undefined,
): Promise<readonly Story[]> {
  const stories = list?.stories ?? [];
  if (of.kind === 'story') {
    return stories.filter(({ id }) => id === of.storyId);
  }
  const doneIn = new Map<string, number | undefined>();
  /** Of the stories at that time, by their ids. */
  const titles = new Map<string, string>();
  for (const event of await readDecisions(files.journalFile(of.runId))) {
    if (event.type === 'iteration.started' && event.storyId !== undefined) {
      titles.set(event.storyId, event.storyTitle ?? '');
    } else if (event.type === 'story.changed' && event.done) {
      const key = lastingKey(event.storyId, titles.get(event.storyId));
      doneIn.set(key, event.by === 'agent' ? event.iteration : undefined);
    } else if (event.type === 'story.ticked' && event.done) {
      doneIn.set(lastingKey(event.storyId, titles.get(event.storyId)), undefined);
    }
  }
  return stories.filter(
    ({ id, title }) =>
      (doneIn.get(lastingKey(id, title)) ?? doneIn.get(id)) === of.iteration &&
      (isNumberId(id) || isSameTitle({ id, title }, titles.get(id) || title)),
  );
}

/** Whether a story had this title, with its id or without it: a plan says both in one text, and other formats do not. */
function isSameTitle({ id, title }: Pick<Story, 'id' | 'title'>, other = ''): boolean {
  return titleNextTo(id, other) === titleNextTo(id, title);
}

/** Tells a story from others also after its list has changed, and its number with it. */
function lastingKey(id: string, title = ''): string {
  return isNumberId(id) && title !== '' ? `# ${title}` : id;
}
