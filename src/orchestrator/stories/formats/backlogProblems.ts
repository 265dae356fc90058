import { type Message, say } from '../../../base/say.ts';
import type { Story, StoryProblem } from '../story.ts';
import { findStoryProblems } from '../storyProblems.ts';
import { priorityProblems } from './backlogPriorities.ts';
import { type BacklogSettings, isDoneStatus, settingsProblems } from './backlogSettings.ts';
import { isTaskName, type PlacedTask, sameId } from './backlogTask.ts';
import { isNamedLike, isNameOfNeeds, misnamedKeyMessage } from './fieldNames.ts';
import { type FolderPart, offsetOfBytes, TASKS } from './folderText.ts';
import { isUnclosedMatter, listOf, valueIn } from './frontMatter.ts';
import { plainText } from './plainText.ts';
import { isParkedWord } from './prdKeys.ts';
import type { TextLines } from './textLines.ts';

/** The key with what a task waits for. */
const NEEDS = 'dependencies';
/** A longer value is not shown, for one that is cut would be another one. In UTF-16 units. */
const MAX_SHOWN = 200;
/** More files that are no tasks are only counted. */
const MAX_NAMED = 20;

/** The text of a folder. */
interface Folder {
  readonly text: string;
  readonly parts: readonly FolderPart[];
  readonly lines: TextLines;
}

/** What was found in it. */
interface Found {
  /** Files that cannot be read as tasks. */
  readonly noTasks: readonly FolderPart[];
  readonly placed: readonly PlacedTask[];
  readonly stories: readonly Story[];
  readonly config: BacklogSettings;
}

/** The problem of a folder without tasks. */
export function withoutTasks(folder: Folder, noTasks: readonly FolderPart[]): StoryProblem {
  const [first] = [...notText(folder), ...notTasks(folder, noTasks)].map(problem =>
    ofFile(problem, folder),
  );
  const message =
    first?.message ??
    say('The folder has no tasks in {0}. Create one with: backlog task create "…"', `${TASKS}/`);
  return { line: 1, column: 1, ...first, code: 'noStories', message };
}

/** The problems of a folder with tasks, each with its file and its line there. */
export function folderProblems(folder: Folder, found: Found): StoryProblem[] {
  const { lines, parts, text } = folder;
  const { config, noTasks, placed, stories } = found;
  const problems = findStoryProblems(
    stories,
    ({ position }, fact) => {
      const { part, task } = placed[position] as PlacedTask;
      const key = task.matter.fields.find(one => one.key === fact);
      return lines.at(part.start + (key?.offset ?? 0));
    },
    [
      ...notText(folder),
      ...notTasks(folder, noTasks),
      ...settingsProblems(text, parts, lines),
      ...repeatedKeys(placed, lines),
      ...misnamedNeeds(placed, config, lines),
      ...priorityProblems(placed, stories, lines),
      ...unreadableValues(placed, lines),
      ...sameIds(placed, config, lines),
      ...unknownStatuses(placed, config, lines),
    ],
  );
  // What stands in the place of dependencies that cannot be read is no id to correct.
  const isNoId = ({ code, subject }: StoryProblem) =>
    code === 'unknownDependency' &&
    placed[subject?.position ?? -1]?.task.unreadable.has('dependencies');
  return problems
    .filter(problem => !isNoId(problem))
    .map(problem => withFirst(ofFile(problem, folder), stories, config));
}

/** Backlog.md cannot read a file that has a key twice. */
function repeatedKeys(placed: readonly PlacedTask[], lines: TextLines): StoryProblem[] {
  return placed.flatMap(({ part, task: { matter } }) => {
    const seen = new Set<string>();
    return matter.fields.flatMap(({ key, start }): StoryProblem[] => {
      const isFirst = !seen.has(key);
      seen.add(key);
      return isFirst
        ? []
        : [
            {
              code: 'invalidYaml',
              message: say(
                'The key "{0}" is already used above, and that one counts. Remove one of the two: Backlog.md cannot read the file.',
                plainText(key),
              ),
              ...lines.at(part.start + start),
            },
          ];
    });
  });
}

/** Tasks that say under another key what they wait for; here, the usual keys of other tools are not read either. */
function misnamedNeeds(
  placed: readonly PlacedTask[],
  { prefix }: BacklogSettings,
  lines: TextLines,
): StoryProblem[] {
  const ids = new Set(placed.map(({ task }) => sameId(task.id, prefix)));
  return placed.flatMap(({ part, task: { dependencies, matter } }, position): StoryProblem[] => {
    const field = (dependencies.length > 0 ? [] : matter.fields).find(({ key }) => {
      const needs =
        key !== NEEDS && isNameOfNeeds(key) ? (listOf(valueIn(matter, key) ?? []) ?? []) : [];
      return needs.length > 0 && needs.every(id => ids.has(sameId(id, prefix)));
    });
    return field === undefined
      ? []
      : [
          {
            code: 'misspelledDependency',
            message: misnamedKeyMessage(field.key, NEEDS),
            ...lines.at(part.start + field.start),
            subject: { position, ids: [field.key, NEEDS] },
          },
        ];
  });
}

/** Values that would be lost without a word, such as a list without its last bracket. */
function unreadableValues(placed: readonly PlacedTask[], lines: TextLines): StoryProblem[] {
  return placed.flatMap(({ part, task: { matter, unreadable } }) =>
    [...unreadable.keys()].map(key => {
      const field = matter.fields.find(one => one.key === key);
      return {
        code: 'invalidYaml' as const,
        message: key === 'ordinal' ? noNumber(key) : unreadableValue(key, field?.raw ?? ''),
        ...lines.at(part.start + (field?.start ?? 0)),
      };
    }),
  );
}

function noNumber(key: string): Message {
  return say(
    'The value of "{0}" is not a number, so it does not count. Write it as a number, such as: {0}: 1000',
    key,
  );
}

function unreadableValue(key: string, raw: string): Message {
  if (key === 'dependencies') {
    return say(
      'The dependencies cannot be read, so no agent gets the task. Write them with both brackets, such as: dependencies: [task-2, task-9]',
    );
  }
  const words = meantWords(raw.trim());
  return words === undefined
    ? say(
        'The value of "{0}" cannot be read, so it does not count. Write it with a quotation mark (") at both ends, and a backslash before each quotation mark or backslash inside.',
        key,
      )
    : say(
        'The value of "{0}" cannot be read, so it does not count. Write it with a quotation mark at both ends, such as: {0}: {1}',
        key,
        JSON.stringify(words),
      );
}

/** The text that a value certainly means; `undefined` if it may be another one, or does not fit into a message. */
function meantWords(written: string): string | undefined {
  const isOdd = /[\p{Cc}\p{Cf}\u2028\u2029\\]|\s#/u.test(written);
  if (isOdd || written === '' || written.length > MAX_SHOWN) {
    return undefined;
  }
  const [quote] = /^["']/.exec(written) ?? [];
  const rest = written.slice(1);
  if (quote === undefined) {
    return written;
  }
  if (!rest.includes(quote)) {
    return rest;
  }
  // Pairs of quotation marks between two at the ends; an apostrophe can be anything.
  const count = rest.split('"').length - 1;
  return quote === '"' && rest.endsWith('"') && count % 2 === 1 ? rest.slice(0, -1) : undefined;
}

/** Ids that are written in different ways, and are one for the tool. */
function sameIds(
  placed: readonly PlacedTask[],
  { prefix }: BacklogSettings,
  lines: TextLines,
): StoryProblem[] {
  const forms = new Map<string, string>();
  const written = new Set<string>();
  return placed.flatMap(({ part, task: { id, matter } }, position): StoryProblem[] => {
    const isNew = !written.has(id);
    const form = sameId(id, prefix);
    const first = forms.get(form);
    written.add(id);
    forms.set(form, first ?? part.name);
    const field = matter.fields.find(({ key }) => key === 'id');
    return isNew && first !== undefined
      ? [
          {
            code: 'duplicateId',
            message: sharedId(id, first),
            ...lines.at(part.start + (field?.offset ?? 0)),
            subject: { position, ids: [id] },
          },
        ]
      : [];
  });
}

function notTasks({ lines, parts, text }: Folder, others: readonly FolderPart[]): StoryProblem[] {
  return [
    ...others.slice(0, MAX_NAMED).map(part => ({
      part,
      message: isUnclosedMatter(text.slice(part.start, part.end))
        ? say(
            '{0} is not read as a task: its front matter has no end. Write "---" on a line of its own below the last key.',
            plainText(part.name),
          )
        : say(
            '{0} is not read as a task: it has no front matter with an id. Create tasks with: backlog task create "…"',
            plainText(part.name),
          ),
    })),
    ...parts
      .filter(({ kind, name }) => kind === 'unread' && isTaskName(name))
      .slice(0, MAX_NAMED)
      .map(part => ({
        part,
        message: part.name.includes('\uFFFD')
          ? say(
              '{0} is not read: its name has a character that a name of a task must not have. Rename it.',
              plainText(part.name),
            )
          : say(
              '{0} is not read: it is a link or something else that is not a file. Put the file itself there.',
              plainText(part.name),
            ),
      })),
  ].map(({ message, part }) => ({
    code: 'notAStory' as const,
    severity: 'info' as const,
    message,
    ...lines.at(part.start),
  }));
}

/** Tasks that nobody can have meant to write like this. */
function notText({ lines, parts, text }: Folder): StoryProblem[] {
  return parts
    .filter(({ kind, name }) => kind === 'bytes' && isTaskName(name))
    .slice(0, MAX_NAMED)
    .map(part => ({
      code: 'notAStory' as const,
      message: say(
        '{0} is not read as a task: it is not UTF-8 text from here on. Save it with the encoding UTF-8.',
        plainText(part.name),
      ),
      ...lines.at(offsetOfBytes(text, part)),
    }));
}

function unknownStatuses(
  placed: readonly PlacedTask[],
  config: BacklogSettings,
  lines: TextLines,
): StoryProblem[] {
  const known = new Set(config.statuses.map(status => status.toLowerCase()));
  return placed.flatMap(({ part, task }, position): StoryProblem[] => {
    const { matter, status, unreadable } = task;
    const field = matter.fields.find(({ key }) => key === 'status');
    const odd = matter.fields.find(({ key }) => isNamedLike(key, 'status'));
    if (field === undefined && odd !== undefined) {
      return [
        {
          code: 'misspelledStatus',
          message: misnamedKeyMessage(odd.key, 'status'),
          ...lines.at(part.start + odd.start),
          subject: { position, ids: [odd.key, 'status'] },
        },
      ];
    }
    return unreadable.has('status') ||
      known.has(status.toLowerCase()) ||
      isDoneStatus(status, config) ||
      isParkedWord(status)
      ? []
      : [
          {
            code: 'unknownStatus',
            message: say(
              'The status "{0}" is not one of those in the settings of the backlog ({1}), so the task counts as not done.',
              plainText(status),
              config.statuses.map(plainText).join(', '),
            ),
            ...lines.at(part.start + (field?.offset ?? 0)),
            subject: { position, ids: ['status'] },
          },
        ];
  });
}

/** A problem of the text of a folder, with its file and its line there. */
export function ofFile(
  problem: StoryProblem,
  { lines, parts }: Pick<Folder, 'lines' | 'parts'>,
): StoryProblem {
  const offset = lines.offsetOf(problem);
  const part = parts.findLast(({ start }) => start <= offset);
  return part === undefined
    ? problem
    : { ...problem, file: part.name, line: problem.line - lines.at(part.start).line + 1 };
}

/** Files are what tells two tasks with the same id apart, and not lines. */
function withFirst(
  problem: StoryProblem,
  stories: readonly Story[],
  { prefix }: BacklogSettings,
): StoryProblem {
  const [id = ''] = problem.subject?.ids ?? [];
  const isSame = (story: Story) => sameId(story.id, prefix) === sameId(id, prefix);
  return problem.code === 'duplicateId'
    ? {
        ...problem,
        message: sharedId(id, stories.find(isSame)?.file ?? ''),
      }
    : problem;
}

function sharedId(id: string, file: string): Message {
  return say(
    'The id {0} is also that of {1}: give this task an id of its own.',
    plainText(id),
    plainText(file),
  );
}
