import { isDeepStrictEqual } from 'node:util';
import { applyEdits, type Edit } from 'jsonc-parser';
import type { YAMLMap } from 'yaml';
import { HumanError } from '../../../base/humanError.ts';
import { type Message, say } from '../../../base/say.ts';
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
import { setPair } from '../edit/yamlEdit.ts';
import type { Story } from '../story.ts';
import type { Span } from './jsonOutline.ts';
import { readOrchestration, type Task, tasksOf } from './orchestrationPhases.ts';
import { plainText } from './plainText.ts';
import { isDone } from './prdEntry.ts';
import type { StoryText } from './storyFormat.ts';
import { indexBeside, moveBlock } from './textBlocks.ts';
import { TextLines } from './textLines.ts';
import { findYamlShare, shareMessage } from './yamlShare.ts';

/** The statuses of a task, if no other one of the file shows another habit. */
export const STATUS_WORDS = { open: 'pending', done: 'completed' } as const;

const USUAL = { key: 'status', word: STATUS_WORDS.open } as const;

/** How the tasks of an orchestration are changed. @param lineOf where the status of a task is */
export function orchestrationEdits(
  text: string,
  tasks: readonly Task[],
  lineOf: (story: Story) => number,
): Pick<StoryText, 'add' | 'commits' | 'edits' | 'move' | 'nextId' | 'spanOf'> {
  return {
    edits: (story, done) => editsOf(text, tasks, story, done, () => lineOf(story)),
    nextId: () =>
      nextNumberId(
        tasks.map(({ entry }) => entry),
        USUAL,
      ),
    add: story => appendTask(text, tasks, story),
    spanOf: position => {
      const [start = 0, end = 0] = tasks[position]?.map()?.range ?? [];
      return { start, end };
    },
    move: (...move) => moveTask(text, tasks, move),
    commits: {
      of: position => commitsOf(tasks[position]),
      edits: (position, hashes) => commitEdits(text, tasks, position, hashes),
    },
  };
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
  const changes = doneChanges(task.entry, others, done, { key: 'status', word: STATUS_WORDS.done });
  const map = task.map();
  // Without a node nothing changes, which is said below.
  const edits = map ? [...changes].map(([key, word]) => setPair(text, map, key, word)) : [];
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
        sharedMessage(text, task, id, edits, changes) ??
          say(
            'The state of {0} cannot be changed on its own: other parts of the YAML share it (&, *, <<), or it is written in an unusual way. Give the task its own line "{1}".',
            plainText(id),
            [...changes].map(([key, word]) => `${key}: ${word}`).join(', '),
          ),
      ),
    );
  }
  return edits;
}

/** What to write first where an alias would copy one of the changes to another place; `undefined` if none does. */
function sharedMessage(
  text: string,
  { entry, map }: Task,
  id: string,
  edits: readonly Edit[],
  changes: ReadonlyMap<string, boolean | string>,
): Message | undefined {
  for (const [at, [key, value]] of [...changes].entries()) {
    const offset = edits[at]?.offset ?? 0;
    const share = findYamlShare(text, { offset, key, map: map()?.range?.[0] });
    if (share !== undefined) {
      const { line } = new TextLines(text).at(share.offset);
      const old = entry[key] ?? (typeof value === 'boolean' ? !value : STATUS_WORDS.open);
      return shareMessage(id, share, line, `${key}: ${old}`);
    }
  }
  return undefined;
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
    const tasks = tasksOf(parsed);
    const entry = tasks[position]?.entry as Record<string, unknown> | undefined;
    // An alias of a whole task is the same object.
    const isOwn = tasks.every((task, at) => at === position || task.entry !== entry);
    const isSet = isOwn && isDone(entry ?? {}) === done;
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
