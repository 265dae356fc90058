import { shorten } from '../../base/text.ts';
import type { RunState } from '../../orchestrator/journal/runState.ts';
import type { StoryFile } from '../../orchestrator/stories/story.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import { storyListData } from '../../presentation/storyListData.ts';

/** Limited, since a language model reads every word of an answer, and pays for it. */
const MAX_STORIES = 100;
const MAX_TEXT = 500;

export interface StoriesQuestion {
  readonly run: WatchedRun;
  /** Of all runs, oldest first. */
  readonly states: readonly RunState[];
  /** Which stories are requested. */
  readonly filter: 'all' | 'open' | 'done';
}

/** The stories of a file as a bounded answer; `leftOut` counts the omitted ones. Pure. */
export function storiesAnswer(file: StoryFile, { filter, run, states }: StoriesQuestion): object {
  const { stories, problems, ...rest } = storyListData(file, { run, states });
  const wanted = stories.filter(({ done }) => filter === 'all' || done === (filter === 'done'));
  return {
    ...rest,
    done: stories.filter(({ done }) => done).length,
    total: stories.length,
    stories: wanted.slice(0, MAX_STORIES),
    leftOut: Math.max(0, wanted.length - MAX_STORIES),
    problems: problems.slice(0, MAX_STORIES),
  };
}

/** An answer as text: JSON, with long texts shortened. Pure. */
export function answerText(answer: object): string {
  return JSON.stringify(
    answer,
    (_, value: unknown) => (typeof value === 'string' ? shorten(value, MAX_TEXT) : value),
    1,
  );
}
