import { applyEdits, type Edit } from 'jsonc-parser';
import { HumanError } from '../../../base/humanError.ts';
import { type Message, say } from '../../../base/say.ts';
import { newTaskFile, nextTaskId } from '../edit/backlogAddition.ts';
import { inWorkOrder, movedOrder, prioritiesFor, type Side } from '../edit/workOrder.ts';
import type { Story, StoryProblem } from '../story.ts';
import { findStoryProblems } from '../storyProblems.ts';
import { type BacklogSettings, readSettings, settingsProblems } from './backlogSettings.ts';
import { type BacklogTask, idInName, readBacklogTask, sameId } from './backlogTask.ts';
import { type FolderPart, fileAddition, folderParts, TASKS } from './folderText.ts';
import { isUnclosedMatter, setText } from './frontMatter.ts';
import { plainText } from './plainText.ts';
import { isDoneWord } from './prdKeys.ts';
import { isParkedWord } from './statusWord.ts';
import type { StoryFormat, StoryText } from './storyFormat.ts';
import type { TextLines } from './textLines.ts';

/** A folder of Backlog.md, with one Markdown file for each task, as the text of `folderText.ts`. */
export const backlog: StoryFormat = { name: 'backlog', read };

/** More files that are no tasks are only counted. */
const MAX_NAMED = 20;
/** The distance of places on the board, as the tool numbers them. */
const STEP = 1000;

/** A task with its part of the text. */
interface Placed {
  readonly task: BacklogTask;
  readonly part: FolderPart;
  readonly text: string;
}

function read(text: string, lines: TextLines): StoryText | StoryProblem {
  const parts = folderParts(text);
  const config = readSettings(text, parts);
  const placed: Placed[] = [];
  const noTasks: FolderPart[] = [];
  for (const part of parts.filter(({ kind, name }) => kind === 'file' && isTask(name))) {
    const own = text.slice(part.start, part.end);
    const task = readBacklogTask(part.name.slice(TASKS.length + 1), own);
    if (task === undefined) {
      noTasks.push(part);
    } else {
      placed.push({ task, part, text: own });
    }
  }
  const unread = parts.filter(({ kind }) => kind === 'unread');
  const others = notTasks(text, noTasks, unread, lines);
  if (placed.length === 0) {
    const [first] = others.map(problem => ofFile(problem, parts, lines));
    const message =
      first?.message ??
      say('The folder has no tasks in {0}. Create one with: backlog task create "…"', `${TASKS}/`);
    return { line: 1, column: 1, ...first, code: 'noStories', message };
  }
  const completed = completedIds(text, parts, config);
  const stories = storiesOf(placed, config, completed);
  const inFile = (problem: StoryProblem) => ofFile(problem, parts, lines);
  const problems = findStoryProblems(
    stories,
    ({ position }, fact) => {
      const { part, task } = placed[position] as Placed;
      const key = task.matter.fields.find(one => one.key === fact);
      return lines.at(part.start + (key?.offset ?? 0));
    },
    [
      ...others,
      ...settingsProblems(text, parts, lines),
      ...sameIds(placed, config, lines),
      ...unknownStatuses(placed, config, lines),
    ],
  );
  return {
    heading: { project: config.project, branchName: '', description: '' },
    stories,
    problems: problems.map(inFile).map(problem => withFirst(problem, stories, config)),
    edits: (story, done) => statusEdits(placed, config, story, done),
    spanOf: position => {
      const { end = 0, start = 0 } = placed[position]?.part ?? {};
      return { start, end };
    },
    move: (...move) => moved(text, placed, stories, move),
    nextId: () =>
      nextTaskId(
        placed.map(({ task }) => task),
        completed,
        config,
      ),
    add: story => {
      const file = newTaskFile(story, placed, config);
      return [{ ...fileAddition(text, `${TASKS}/${file.name}`, file.text), length: 0 }];
    },
  };
}

function isTask(name: string): boolean {
  return name.startsWith(`${TASKS}/`);
}

/** Ids that are written in different ways, and are one for the tool. */
function sameIds(
  placed: readonly Placed[],
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

function completedIds(
  text: string,
  parts: readonly FolderPart[],
  { prefix }: BacklogSettings,
): ReadonlySet<string> {
  const names = parts.filter(({ kind }) => kind === 'names');
  const ids = names
    .flatMap(({ end, start }) => text.slice(start, end).split('\n'))
    .flatMap(name => idInName(name) ?? []);
  return new Set(ids.map(id => sameId(id, prefix)));
}

function storiesOf(
  placed: readonly Placed[],
  config: BacklogSettings,
  completed: ReadonlySet<string>,
): Story[] {
  const { prefix } = config;
  const known = new Map(placed.map(({ task }) => [sameId(task.id, prefix), task.id]));
  // A project that has changed its prefix has dependencies with the old one.
  const need = (id: string) => {
    const form = sameId(id, prefix);
    const other = sameId(id.replace(/^[A-Za-z]+-/, ''), prefix);
    const own = known.get(form) ?? known.get(other);
    // A dependency that was put away as completed is met.
    return own ?? (completed.has(form) || completed.has(other) ? [] : id);
  };
  const needs = placed.map(({ task }) => task.dependencies.flatMap(need));
  const titles = new Map(placed.map(({ task }) => [sameId(task.id, prefix), task.title]));
  const waitsFor = withSubtasks(placed, needs, prefix);
  const isOrdered = placed.some(({ task }) => task.ordinal !== undefined);
  return placed.map(({ part, task }, position) => {
    const { criteria, description, id, milestone, ordinal, parent, priority, status, title } = task;
    const done = isDone(status, config);
    const group = parent === '' ? undefined : titles.get(sameId(parent, prefix));
    return {
      ...{ id, title, description, criteria, done },
      status: status === '' ? undefined : status,
      priority: isOrdered ? ordinal : priority,
      dependsOn: [...new Set(waitsFor[position])],
      epic: milestone || group || undefined,
      ...(!done && isParkedWord(status) ? { parked: true as const } : {}),
      file: part.name,
      position,
      line: 1,
    };
  });
}

/** A task waits for its subtasks, unless one of them waits for it. */
function withSubtasks(
  placed: readonly Placed[],
  needs: readonly (readonly string[])[],
  prefix: string,
): (readonly string[])[] {
  const at = new Map(placed.map(({ task }, position) => [sameId(task.id, prefix), position]));
  const all = needs.map(ids => [...ids]);
  const reaches = (from: number, to: number): boolean => {
    const seen = new Set([from]);
    for (const position of seen) {
      for (const id of all[position] ?? []) {
        const next = at.get(sameId(id, prefix));
        if (next !== undefined) {
          seen.add(next);
        }
      }
    }
    return seen.has(to);
  };
  for (const [position, { task }] of placed.entries()) {
    const parent = task.parent === '' ? undefined : at.get(sameId(task.parent, prefix));
    if (parent !== undefined && parent !== position && !reaches(position, parent)) {
      all[parent]?.push(task.id);
    }
  }
  return all;
}

function isDone(status: string, { doneStatus }: BacklogSettings): boolean {
  return status.toLowerCase() === doneStatus.toLowerCase() || isDoneWord(status);
}

function notTasks(
  text: string,
  others: readonly FolderPart[],
  unread: readonly FolderPart[],
  lines: TextLines,
): StoryProblem[] {
  return [
    ...others.slice(0, MAX_NAMED).map(part => ({
      part,
      message: isUnclosedMatter(text.slice(part.start, part.end))
        ? say(
            '{0} is not read as a task: its front matter has no end. Write “---” on a line of its own below the last key.',
            plainText(part.name),
          )
        : say(
            '{0} is not read as a task: it has no front matter with an id. Create tasks with: backlog task create "…"',
            plainText(part.name),
          ),
    })),
    ...unread
      .filter(({ name }) => isTask(name))
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

function unknownStatuses(
  placed: readonly Placed[],
  config: BacklogSettings,
  lines: TextLines,
): StoryProblem[] {
  const known = new Set(config.statuses.map(status => status.toLowerCase()));
  return placed.flatMap(({ part, task }, position): StoryProblem[] => {
    const { matter, status } = task;
    const field = matter.fields.find(({ key }) => key === 'status');
    return known.has(status.toLowerCase()) || isDone(status, config) || isParkedWord(status)
      ? []
      : [
          {
            code: 'unknownStatus',
            message: say(
              'The status “{0}” is not one of those in the settings of the backlog ({1}), so the task counts as not done.',
              plainText(status),
              config.statuses.map(plainText).join(', '),
            ),
            ...lines.at(part.start + (field?.offset ?? 0)),
            subject: { position, ids: ['status'] },
          },
        ];
  });
}

/** With the file that it is in, and its line there. */
function ofFile(
  problem: StoryProblem,
  parts: readonly FolderPart[],
  lines: TextLines,
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

function statusEdits(
  placed: readonly Placed[],
  { doneStatus, openStatus }: BacklogSettings,
  { id, position }: Story,
  done: boolean,
): readonly Edit[] {
  const found = placed[position];
  if (found === undefined) {
    return [];
  }
  const { part, task, text } = found;
  const edit = setText(text, task.matter, 'status', done ? doneStatus : openStatus);
  if (edit === undefined) {
    throw new HumanError(
      say(
        'The status of {0} cannot be changed on its own, because of the way it is written: put it on one line in {1}, such as “status: {2}”.',
        plainText(id),
        plainText(part.name),
        openStatus,
      ),
    );
  }
  return [{ ...edit, offset: part.start + edit.offset }];
}

/** Writes places on the board. Tasks that have none follow their priority, so that all get one. */
function moved(
  text: string,
  placed: readonly Placed[],
  stories: readonly Story[],
  [story, target, side]: readonly [story: Story, target: Story, side: Side],
): string {
  const order = movedOrder(inWorkOrder(stories), story, target, side);
  const isOrdered = placed.some(({ task }) => task.ordinal !== undefined);
  const isRanked = stories.some(({ priority }) => priority !== undefined);
  const ordinals =
    isOrdered || !isRanked
      ? prioritiesFor(order, story)
      : new Map(order.map((one, index) => [one, (index + 1) * STEP]));
  const edits: Edit[] = [];
  for (const [one, ordinal] of ordinals) {
    const { part, task, text: own } = placed[one.position] as Placed;
    const edit = setText(own, task.matter, 'ordinal', String(ordinal));
    if (edit === undefined) {
      throw new HumanError(
        say(
          'The place of {0} cannot be changed, because of the way it is written: put it on one line in {1}, such as “ordinal: 1000”.',
          plainText(one.id),
          plainText(part.name),
        ),
      );
    }
    edits.push({ ...edit, offset: part.start + edit.offset });
  }
  return applyEdits(text, edits);
}
