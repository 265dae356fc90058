import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { readStoryList } from '../stories/storyFile.ts';
import type { RunFiles } from '../workspace/runFiles.ts';
import { placeStories, requireWritablePlace } from './placeStories.ts';

/** Longest title of a task's story, in UTF-16 units. */
const MAX_TITLE = 200;

export interface TaskStoriesOptions {
  /** One story per task; the first line is its title. */
  readonly tasks: readonly string[];
  /** What they are for, if the person said so. */
  readonly task?: string;
  readonly files: RunFiles;
  /** Absolute path of the JSON file to write, usually `.omc/prd.json`. */
  readonly storyFile: string;
  readonly now: Date;
}

/**
 * Writes a story file with one story per task. A file that already has exactly these titles in this order is left
 * unchanged, so that a repeated command continues with it; any other file is kept below `.omc/archive`.
 *
 * @returns the number of stories, whether they existed already, and the archive's folder
 * @throws {HumanError} if tasks are empty or repeated, or the file cannot be written
 */
export async function writeTaskStories(
  options: TaskStoriesOptions,
): Promise<{ stories: number; archived?: string; reused: boolean }> {
  const { tasks, task, files, storyFile, now } = options;
  const titles = titlesOf(tasks);
  const stories = titles.length;
  await requireWritablePlace(files, storyFile);
  if (await holdsTitles(storyFile, titles)) {
    return { stories, reused: true };
  }
  const prd = {
    project: path.basename(files.workspace),
    description: task,
    userStories: tasks.map((text, index) => taskStory(text.trim(), titles[index] ?? '', index)),
  };
  const content = `${JSON.stringify(prd, null, 2)}\n`;
  const placed = await placeStories({ files, storyFile, content, now });
  return { stories, ...placed, reused: false };
}

function taskStory(text: string, title: string, index: number): object {
  return {
    id: `US-${String(index + 1).padStart(3, '0')}`,
    title,
    description: text === title ? undefined : text,
    acceptanceCriteria: [
      `Everything that this task asks for is done: ${title}`,
      "What was done is covered by tests where the project has tests, and all of the project's tests pass",
    ],
    priority: index + 1,
    passes: false,
  };
}

/**
 * The titles of the stories for these tasks.
 * @throws {HumanError} if tasks are empty or repeated
 */
export function titlesOf(tasks: readonly string[]): string[] {
  if (tasks.length === 0) {
    throw new HumanError(
      say('There are no tasks: name at least one, as in --tasks "first|second".'),
    );
  }
  const numbers = new Map<string, number>();
  return tasks.map((task, index) => {
    const number = index + 1;
    const title = shorten(task.trim().split(/[\r\n]/, 1)[0] ?? '', MAX_TITLE);
    if (title === '') {
      throw new HumanError(
        say('Task {0} of {1} is empty: describe it, or leave it out.', number, tasks.length),
      );
    }
    const same = numbers.get(title);
    if (same !== undefined) {
      throw new HumanError(
        say(
          'Tasks {0} and {1} are both called "{2}": leave one out, or rename it.',
          same,
          number,
          shorten(title, 80),
        ),
      );
    }
    numbers.set(title, number);
    return title;
  });
}

/** Whether a story file has exactly these titles in this order. */
export async function holdsTitles(storyFile: string, titles: readonly string[]): Promise<boolean> {
  const list = await readStoryList(storyFile);
  return (
    list?.stories.length === titles.length &&
    list.stories.every(({ title }, index) => title === titles[index])
  );
}
