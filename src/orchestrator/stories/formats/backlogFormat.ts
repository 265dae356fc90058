import { applyEdits, type Edit } from 'jsonc-parser';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { newTaskFile, nextTaskId } from '../edit/backlogAddition.ts';
import { inWorkOrder, movedOrder, prioritiesFor, type Side } from '../edit/workOrder.ts';
import type { Story, StoryProblem } from '../story.ts';
import { backlogParts } from './backlogParts.ts';
import { folderProblems, withoutTasks } from './backlogProblems.ts';
import { type BacklogSettings, isDoneStatus, readSettings } from './backlogSettings.ts';
import { idInName, isTaskName, type PlacedTask, readBacklogTask, sameId } from './backlogTask.ts';
import { type FolderPart, fileAddition, folderParts, TASKS } from './folderText.ts';
import { setText } from './frontMatter.ts';
import { plainText } from './plainText.ts';
import { isParkedWord } from './prdKeys.ts';
import type { StoryFormat, StoryText } from './storyFormat.ts';
import type { TextLines } from './textLines.ts';

/** A folder of Backlog.md, with one Markdown file for each task, as the text of `folderText.ts`. */
export const backlog: StoryFormat = { name: 'backlog', read };

/** The distance of places on the board, as the tool numbers them. */
const STEP = 1000;

function read(text: string, lines: TextLines): StoryText | StoryProblem {
  const parts = folderParts(text);
  const config = readSettings(text, parts);
  const placed: PlacedTask[] = [];
  const noTasks: FolderPart[] = [];
  for (const part of parts.filter(({ kind, name }) => kind === 'file' && isTaskName(name))) {
    const own = text.slice(part.start, part.end);
    const task = readBacklogTask(part.name.slice(TASKS.length + 1), own);
    if (task === undefined) {
      noTasks.push(part);
    } else {
      placed.push({ task, part, text: own });
    }
  }
  const folder = { text, parts, lines };
  if (placed.length === 0) {
    return withoutTasks(folder, noTasks);
  }
  const completed = completedIds(text, parts, config);
  const meant = meanings(placed, config, completed);
  const stories = storiesOf(placed, config, meant);
  return {
    heading: { project: config.project, branchName: '', description: '' },
    stories,
    problems: folderProblems(folder, { noTasks, placed, stories, config }),
    edits: (story, done) => statusEdits(placed, config, story, done),
    spanOf: position => {
      const { end = 0, start = 0 } = placed[position]?.part ?? {};
      return { start, end };
    },
    move: (...move) => moved(text, placed, stories, move),
    parts: backlogParts(placed, config, meant),
    nextId: () =>
      nextTaskId(
        placed.map(({ task }) => task),
        [...completed, ...idsInNames(parts, config)],
        config,
      ),
    add: story => {
      const file = newTaskFile(story, placed, config);
      return [{ ...fileAddition(text, `${TASKS}/${file.name}`, file.text), length: 0 }];
    },
  };
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

/** Ids that files have by their names, also those that cannot be read. */
function idsInNames(parts: readonly FolderPart[], { prefix }: BacklogSettings): readonly string[] {
  return parts
    .filter(({ name }) => isTaskName(name))
    .flatMap(({ name }) => idInName(name.slice(TASKS.length + 1)) ?? [])
    .map(id => sameId(id, prefix));
}

/** The id of the task that a dependency means; `undefined` if nothing is left to wait for. */
function meanings(
  placed: readonly PlacedTask[],
  { prefix }: BacklogSettings,
  completed: ReadonlySet<string>,
): (id: string) => string | undefined {
  const known = new Map(placed.map(({ task }) => [sameId(task.id, prefix), task.id]));
  return id => {
    const form = sameId(id, prefix);
    // A project that has chosen a prefix later has dependencies with the usual one. Others are those of drafts and documents.
    const other = sameId(id.trim().replace(/^task-(?=\d)/i, ''), prefix);
    const own = known.get(form) ?? known.get(other);
    // A dependency that was put away as completed is met.
    return own ?? (completed.has(form) || completed.has(other) ? undefined : id);
  };
}

function storiesOf(
  placed: readonly PlacedTask[],
  config: BacklogSettings,
  meant: (id: string) => string | undefined,
): Story[] {
  const { prefix } = config;
  const needs = placed.map(({ task }) => task.dependencies.flatMap(id => meant(id) ?? []));
  const titles = new Map(placed.map(({ task }) => [sameId(task.id, prefix), task.title]));
  const waitsFor = withSubtasks(placed, needs, prefix);
  const isOrdered = placed.some(({ task }) => task.ordinal !== undefined);
  return placed.map(({ part, task }, position) => {
    const { criteria, description, id, milestone, ordinal, parent, priority, status, title } = task;
    const done = isDoneStatus(status, config);
    const group = parent === '' ? undefined : titles.get(sameId(parent, prefix));
    return {
      ...{ id, title, description, criteria, done },
      status: status === '' ? undefined : status,
      priority: isOrdered ? ordinal : priority,
      dependsOn: [...new Set(waitsFor[position])],
      epic: milestone || group || undefined,
      parked: (!done && isParkedWord(status)) || undefined,
      file: part.name,
      position,
      line: 1,
    };
  });
}

/** A task waits for its subtasks, unless one of them waits for it. */
function withSubtasks(
  placed: readonly PlacedTask[],
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

function statusEdits(
  placed: readonly PlacedTask[],
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
        'The status of {0} cannot be changed on its own, because of the way it is written: put it on one line in {1}, such as "status: {2}".',
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
  placed: readonly PlacedTask[],
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
    const { part, task, text: own } = placed[one.position] as PlacedTask;
    const edit = setText(own, task.matter, 'ordinal', String(ordinal));
    if (edit === undefined) {
      throw new HumanError(
        say(
          'The place of {0} cannot be changed, because of the way it is written: put it on one line in {1}, such as "ordinal: 1000".',
          plainText(one.id),
          plainText(part.name),
        ),
      );
    }
    edits.push({ ...edit, offset: part.start + edit.offset });
  }
  return applyEdits(text, edits);
}
