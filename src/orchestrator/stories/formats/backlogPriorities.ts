import type { Story, StoryProblem } from '../story.ts';
import type { PlacedTask } from './backlogTask.ts';
import { isOtherSpelling, misnamedKeyMessage } from './fieldNames.ts';
import { valueIn } from './frontMatter.ts';
import { readPriority } from './prdEntry.ts';
import type { TextLines } from './textLines.ts';
import { findUnreadPriorities, unreadPriorityWord } from './unreadPriority.ts';

/** Priorities of open tasks of Backlog.md that do not count as they are meant. */
export function priorityProblems(
  placed: readonly PlacedTask[],
  stories: readonly Story[],
  lines: TextLines,
): StoryProblem[] {
  return [
    ...misnamedPriorities(placed, stories, lines),
    ...unreadPriorities(placed, stories, lines),
  ];
}

/** Open tasks whose priority stands under a misspelled key. */
function misnamedPriorities(
  placed: readonly PlacedTask[],
  stories: readonly Story[],
  lines: TextLines,
): StoryProblem[] {
  return placed.flatMap(({ part, task: { matter } }, position): StoryProblem[] => {
    const isOwn = stories[position]?.done || matter.fields.some(({ key }) => key === 'priority');
    const field = (isOwn ? [] : matter.fields).find(
      ({ key }) =>
        isOtherSpelling(key, 'priority') && readPriority(valueIn(matter, key)) !== undefined,
    );
    return field === undefined
      ? []
      : [
          {
            code: 'misspelledKey',
            message: misnamedKeyMessage(field.key, 'priority'),
            ...lines.at(part.start + field.start),
            subject: { position, ids: [field.key, 'priority'] },
          },
        ];
  });
}

/** Open tasks whose priority has no order, where it decides: places on the board would count instead. */
function unreadPriorities(
  placed: readonly PlacedTask[],
  stories: readonly Story[],
  lines: TextLines,
): StoryProblem[] {
  if (placed.some(({ task }) => task.ordinal !== undefined)) {
    return [];
  }
  const entries = placed.map(({ task: { matter, unreadable } }, position) => {
    const { done, parked } = stories[position] ?? {};
    const isNone = done || parked || unreadable.has('priority');
    return isNone ? undefined : { priority: valueIn(matter, 'priority') };
  });
  return findUnreadPriorities(
    entries,
    (position, wanted) => {
      const { part, task } = placed[position] as PlacedTask;
      const field = task.matter.fields.find(({ key }) => key === wanted);
      return lines.at(part.start + (field?.start ?? 0));
    },
    unreadPriorityWord,
  );
}
