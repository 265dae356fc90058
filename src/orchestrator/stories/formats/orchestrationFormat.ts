import { isDeepStrictEqual } from 'node:util';
import { applyEdits, type Edit } from 'jsonc-parser';
import type { YAMLMap } from 'yaml';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { doneChanges } from '../edit/doneChanges.ts';
import { newEntry, nextNumberId, type Value } from '../edit/entryAddition.ts';
import type { NewStory } from '../edit/newStory.ts';
import type { Side } from '../edit/workOrder.ts';
import {
  addCommits,
  COMMITS_KEY,
  listedCommits,
  missingCommits,
  removeCommits,
} from '../edit/yamlCommits.ts';
import { pairOf, setPair } from '../edit/yamlEdit.ts';
import type { Story, StoryProblem } from '../story.ts';
import { findStoryProblems } from '../storyProblems.ts';
import { findChoiceProblems } from './callChoice.ts';
import type { Span } from './jsonOutline.ts';
import {
  dependenciesOf,
  type Phase,
  readOrchestration,
  type Task,
  tasksOf,
} from './orchestrationPhases.ts';
import { plainText } from './plainText.ts';
import { type Entry, isDone, isEntry, readStory } from './prdEntry.ts';
import { DEPENDENCY_KEYS, STATUS_KEYS } from './prdKeys.ts';
import { readHeading } from './prdRoot.ts';
import { findStatusProblems } from './statusWord.ts';
import type { StoryFormat, StoryText } from './storyFormat.ts';
import { StoryNames } from './storyNames.ts';
import { indexBeside, moveBlock } from './textBlocks.ts';
import type { TextLines } from './textLines.ts';
import { startOf } from './yamlDocument.ts';
import { yamlParts } from './yamlParts.ts';

/** YAML with phases and their tasks, as written by orchestration commands for Claude Code. */
export const orchestration: StoryFormat = { name: 'orchestration', read };

const PARKED_STATUS = new Set(['skipped', 'cancelled', 'canceled', 'abandoned', 'deferred']);
const DONE = 'completed';
/** What says that a task is not done, if no other one does. */
const USUAL = { key: 'status', word: 'pending' } as const;
const FIX = say(
  'Put the tasks into "phases:", each with "tasks:", a list with id, name and status.',
);

/**
 * Whether a text that is no YAML is a list of ralphy, as far as its lines show: `tasks:`, and below it a list whose
 * entries have titles. In a Taskfile, the tasks are no list; those of a playbook or a cluster are further inside.
 */
export function isRalphyText(text: string): boolean {
  const start = /^tasks:[\t ]*(?:#.*)?$/m.exec(text);
  if (start === null) {
    return false;
  }
  const below = text
    .slice(start.index + start[0].length)
    .split(/\r\n|\r|\n/)
    // An unresolved conflict of git may be just what makes it unreadable.
    .filter(line => !/^\s*(?:#|<{7}|$)/.test(line));
  const end = below.findIndex(line => /^[^\s-][^\s:]*:/.test(line));
  const list = end === -1 ? below : below.slice(0, end);
  return /^\s*-\s/.test(list[0] ?? '') && list.some(line => /^\s*(?:-\s+)?title:/.test(line));
}

function read(text: string, lines: TextLines): StoryText | StoryProblem {
  const parsed = readOrchestration(text);
  if ('message' in parsed) {
    return { code: 'invalidYaml', message: parsed.message, ...lines.at(parsed.offset) };
  }
  const { phases, root } = parsed;
  if (phases === undefined) {
    const message = say('The file has no phases with tasks. {0}', FIX);
    return { code: 'noStories', message, line: 1, column: 1 };
  }
  const tasks = phases.flatMap(phase => phase.tasks);
  const others = parsed.notStories(lines);
  const [first] = others;
  if (tasks.length === 0 && first !== undefined) {
    // Not an empty list, which would be complete.
    return { ...first, code: 'noStories' };
  }
  const stories = readTasks(phases, lines);
  const placeOf = ({ position }: Pick<Story, 'position'>, keys: readonly string[]) => {
    const map = tasks[position]?.map();
    const pair = keys.map(key => pairOf(map, key)).find(found => found !== undefined);
    return lines.at(startOf(pair?.key ?? map));
  };
  const keyPlace = (position: number, key: string) => placeOf({ position }, [key]);
  const entries = tasks.map(({ entry }) => entry);
  const problems = findStoryProblems(
    stories,
    (story, fact) => placeOf(story, fact === 'id' ? ['id'] : DEPENDENCY_KEYS),
    [
      ...others,
      ...findChoiceProblems(entries, keyPlace),
      ...findStatusProblems(entries, keyPlace, { open: 'pending', done: DONE }),
      ...findCommitsProblems(entries, keyPlace),
    ],
  );
  return {
    heading: readHeading(root),
    stories,
    problems,
    hasPhases: (isEntry(root) && Array.isArray(root['phases'])) || undefined,
    edits: (story, done) =>
      editsOf(text, tasks, story, done, () => placeOf(story, STATUS_KEYS).line),
    nextId: () => nextNumberId(entries, USUAL),
    add: story => appendTask(text, tasks, story),
    spanOf: position => {
      const [start = 0, end = 0] = tasks[position]?.map()?.range ?? [];
      return { start, end };
    },
    move: (...move) => moveTask(text, tasks, move),
    parts: yamlParts(text, position => tasks[position]?.map()),
    commits: {
      of: position => commitsOf(tasks[position]),
      edits: (position, hashes) => commitEdits(text, tasks, position, hashes),
    },
  };
}

function readTasks(phases: readonly Phase[], lines: TextLines): Story[] {
  const tasks = phases.flatMap(phase => phase.tasks);
  const stories = tasks.map(({ entry, start }, position) =>
    readStory(entry, position, lines.at(start).line),
  );
  // Deferred stories do not block others.
  const parked = new Set(stories.filter((_, i) => isParked(tasks[i]?.entry)).map(({ id }) => id));
  const phaseOf = phases.flatMap(phase => phase.tasks.map(() => phase));
  let end = 0;
  const names = new StoryNames(
    stories,
    phases.map(({ id, name, tasks: own }) => {
      const start = end;
      end += own.length;
      return { id, name, stories: stories.slice(start, end).map(story => story.id) };
    }),
  );
  const needsOf = new Map(
    phases.map(phase => [phase, phase.dependsOn.flatMap(need => names.meantByGroup(need))]),
  );
  const earlier = earlierGroups(tasks.map(({ entry }) => entry));

  return stories.map((story, i) => {
    const { entry } = tasks[i] as Task;
    const phase = phaseOf[i] as Phase;
    const epic = phase.name ?? phase.id;
    const needs = [
      ...dependenciesOf(entry).flatMap(need => names.meantBy(need)),
      ...(needsOf.get(phase) ?? []),
      ...(earlier.get(entry) ?? []).map(index => stories[index]?.id ?? ''),
    ];
    return {
      ...story,
      dependsOn: needs.length === 0 ? needs : [...new Set(needs)].filter(id => !parked.has(id)),
      epic,
      parked: isParked(entry) || story.parked,
    };
  });
}

/** The tasks of the group before that of a task, by their indexes: ralphy runs its parallel groups one after another. */
function earlierGroups(entries: readonly Entry[]): ReadonlyMap<Entry, readonly number[]> {
  const groups = new Map<number, number[]>();
  entries.forEach((entry, index) => {
    const group = Number(entry['parallel_group']);
    if (Number.isInteger(group) && group > 0) {
      groups.set(group, [...(groups.get(group) ?? []), index]);
    }
  });
  const order = [...groups].sort(([a], [b]) => a - b);
  return new Map(
    order.flatMap(([, members], at) =>
      members.map(index => [entries[index] as Entry, order[at - 1]?.[1] ?? []] as const),
    ),
  );
}

function isParked(entry: Entry | undefined): boolean {
  return typeof entry?.status === 'string' && isParkedTaskStatus(entry.status);
}

/** Whether a task of an orchestration with this status is put aside; its words are not those of other formats. */
export function isParkedTaskStatus(status: string): boolean {
  return PARKED_STATUS.has(status.trim().toLowerCase());
}

function editsOf(
  text: string,
  tasks: readonly Task[],
  { id, position }: Story,
  done: boolean,
  line: () => number,
): readonly Edit[] {
  const task = tasks[position];
  if (task === undefined) {
    return [];
  }
  const others = tasks.filter(other => other !== task).map(({ entry }) => entry);
  const changes = doneChanges(task.entry, others, done, { key: 'status', word: DONE });
  const map = task.map();
  // Without a node nothing changes, which is said below.
  const edits = map ? [...changes].map(([key, word]) => setPair(text, map, key, String(word))) : [];
  const emptied = done || !map || commitsOf(task) === undefined ? [] : removeCommits(text, map);
  const isOnly = (made: readonly Edit[], keys: readonly string[]) =>
    isOnlyChange(text, applyEdits(text, [...made]), keys, position, done);
  if (emptied.length > 0 && isOnly([...edits, ...emptied], [...changes.keys(), COMMITS_KEY])) {
    return [...edits, ...emptied];
  }
  if (!isOnly(edits, [...changes.keys()])) {
    throw new HumanError(
      say(
        'Line {0}: {1}',
        line(),
        say(
          'The state of {0} cannot be changed on its own: other parts of the YAML share it (&, *, <<), or it is written in an unusual way. Give the task its own line "status: pending".',
          plainText(id),
        ),
      ),
    );
  }
  return edits;
}

/** Open tasks with a place for their commits in which nothing can be listed. */
function findCommitsProblems(
  entries: readonly Entry[],
  placeOf: (position: number, key: string) => Pick<StoryProblem, 'line' | 'column'>,
): StoryProblem[] {
  return entries.flatMap((entry, position) =>
    isDone(entry) || listedCommits(entry[COMMITS_KEY]) !== undefined
      ? []
      : {
          code: 'notHashes' as const,
          message: say(
            '"{0}" is not a list of hashes, so the commits of this task cannot be listed there. Write "{0}: []", and what is there now under another key.',
            COMMITS_KEY,
          ),
          ...placeOf(position, COMMITS_KEY),
          subject: { position, ids: [COMMITS_KEY] },
        },
  );
}

function commitsOf(task: Task | undefined): readonly string[] | undefined {
  return task !== undefined && COMMITS_KEY in task.entry
    ? listedCommits(task.entry[COMMITS_KEY])
    : undefined;
}

function commitEdits(
  text: string,
  tasks: readonly Task[],
  position: number,
  hashes: readonly string[],
): readonly Edit[] {
  const task = tasks[position];
  const map = task?.map();
  const listed = commitsOf(task);
  if (task === undefined || map === undefined || listed === undefined) {
    return [];
  }
  const edits = addCommits(text, map, missingCommits(listed, hashes));
  const after = applyEdits(text, [...edits]);
  return edits.length > 0 && isOnlyChange(text, after, [COMMITS_KEY], position, isDone(task.entry))
    ? edits
    : [];
}

/** Whether the new text only differs in these keys of one task; anchors may spread a change to other places. */
function isOnlyChange(
  before: string,
  after: string,
  keys: readonly string[],
  position: number,
  done: boolean,
): boolean {
  const rest = (text: string) => {
    const parsed = readOrchestration(text);
    if ('message' in parsed) {
      return undefined;
    }
    const entry = tasksOf(parsed)[position]?.entry as Record<string, unknown> | undefined;
    const isSet = isDone(entry ?? {}) === done;
    for (const key of keys) {
      delete entry?.[key];
    }
    return { isSet, root: parsed.root };
  };
  const now = rest(after);
  return now?.isSet === true && isDeepStrictEqual(now.root, rest(before)?.root);
}

/** Tasks take their turns in file order; a task can only be moved within its phase. */
function moveTask(
  text: string,
  tasks: readonly Task[],
  [story, target, side]: readonly [story: Story, target: Story, side: Side],
): string {
  const task = tasks[story.position];
  const other = tasks[target.position];
  if (task === undefined || other === undefined) {
    return text;
  }
  if (task.list !== other.list) {
    throw new HumanError(
      say(
        '{0} and {1} are in different phases: move the task in the file, and check what it waits for.',
        plainText(story.id),
        plainText(target.id),
      ),
    );
  }
  const siblings = tasks.filter(({ list }) => list === task.list);
  const from = siblings.indexOf(task);
  const to = indexBeside(from, siblings.indexOf(other), side);
  const blocks = siblings.map(({ map }) => blockOf(text, map()));
  const moved = blocks.every(block => block !== undefined)
    ? moveBlock(text, blocks, from, to)
    : text;
  const isMoved =
    siblings.length === task.list.length && isOnlyMove(text, moved, story.position, from, to);
  if (from !== to && !isMoved) {
    throw new HumanError(
      say(
        '{0} cannot be moved on its own, because of the way this YAML is written: move its lines in the file.',
        plainText(story.id),
      ),
    );
  }
  return moved;
}

/**
 * The edit that adds a task to the last phase, written like its last task. None for a list in brackets, or if a
 * task's lines cannot be told from others.
 */
function appendTask(text: string, tasks: readonly Task[], story: NewStory): Edit[] {
  const last = tasks.at(-1);
  const map = last?.map();
  const block = blockOf(text, map);
  if (last === undefined || block === undefined || map?.flow === true) {
    return [];
  }
  const bullet = text.slice(text.lastIndexOf('\n', last.start - 1) + 1, last.start);
  const indent = bullet.replace('-', ' ');
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n';
  const values = newEntry(
    story,
    tasks.map(({ entry }) => entry),
    USUAL,
  );
  const lines = [...values].map(([key, value]) => `${key}: ${yamlOf(key, value)}`);
  return [{ offset: block.end, length: 0, content: eol + bullet + lines.join(`${eol}${indent}`) }];
}

/** JSON is YAML. Words stay plain, as people write them, if they are no other values. */
function yamlOf(key: string, value: Value): string {
  const isPlain = key === 'id' || typeof value !== 'string' || /^[a-z][a-z_-]*$/.test(value);
  return isPlain && value !== 'null' && value !== 'true' && value !== 'false'
    ? String(value)
    : JSON.stringify(value);
}

/** A task's text: its lines with the comments directly above them, or its braces. */
function blockOf(text: string, map: YAMLMap | undefined): Span | undefined {
  const [start, end] = map?.range ?? [];
  if (start === undefined || end === undefined) {
    return undefined;
  }
  if (map?.flow === true) {
    return { start, end };
  }
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const [bullet] = /^[\t ]*-[\t ]+$/.exec(text.slice(lineStart, start)) ?? [];
  if (bullet === undefined) {
    return undefined;
  }
  const last = start + text.slice(start, end).trimEnd().length;
  const [rest = ''] = /^[^\r\n]*/.exec(text.slice(last)) ?? [];
  return { start: commentsAbove(text, lineStart), end: last + rest.trimEnd().length };
}

function commentsAbove(text: string, lineStart: number): number {
  let start = lineStart;
  while (start > 0) {
    const previous = text.lastIndexOf('\n', start - 2) + 1;
    if (!/^[\t ]*#/.test(text.slice(previous, start))) {
      break;
    }
    start = previous;
  }
  return start;
}

/** Whether the new text only differs in the position of one task. */
function isOnlyMove(before: string, after: string, position: number, from: number, to: number) {
  const old = readOrchestration(before);
  const now = readOrchestration(after);
  if ('message' in old || 'message' in now) {
    return false;
  }
  const list = tasksOf(old)[position]?.list;
  list?.splice(to, 0, ...list.splice(from, 1));
  return isDeepStrictEqual(old.root, now.root);
}
