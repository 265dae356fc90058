import { HumanError } from '../../base/humanError.ts';
import { say, type Words } from '../../base/say.ts';
import { shellWord } from '../../base/shellWord.ts';
import { withOwnIds } from './convert/ownIds.ts';
import { membersOf, skipSpace } from './formats/jsonOutline.ts';
import { plainText } from './formats/plainText.ts';
import { type Entry, firstText, isEntry, ownId, readStory } from './formats/prdEntry.ts';
import { findEntries } from './formats/prdFormat.ts';
import {
  DEPENDENCY_KEYS,
  DISCOVERED_KEYS,
  DONE_KEYS,
  isDoneWord,
  STATE_KEYS,
  STATUS_KEYS,
} from './formats/prdKeys.ts';
import { findStoryArray } from './formats/prdRoot.ts';
import { meaningOf } from './formats/statusWord.ts';
import { GRAPH_TYPE, isParkedTask } from './formats/tasksFormat.ts';
import { rootAsRead } from './outsiderTexts.ts';
import type { Story, StoryProblem } from './story.ts';
import { parseStoryFile, problemOfFile, problemWords } from './storyFile.ts';

/** Maximum number of ids in a message. */
const MAX_NAMED = 8;
/** Keys of a story that a task has in a way of its own. */
const OTHERWISE_SAID: ReadonlySet<string> = new Set([
  ...[...STATE_KEYS, ...DEPENDENCY_KEYS],
  ...['id', 'imported', 'type'],
]);

/** What an import must know of the graph. */
export interface GraphNames {
  /** The ids that it has, also those that were compacted. */
  readonly ids: ReadonlySet<string>;
  /** Those that its tasks wait for, whether or not there are such tasks. */
  readonly needs: readonly string[];
}

export interface TaskImport {
  /** Complete lines to append. */
  readonly lines: string;
  readonly ids: readonly string[];
  readonly done: number;
  /** What of the `prd.json` is not read, or looks wrong. */
  readonly problems: readonly StoryProblem[];
}

/**
 * The stories of a `prd.json` as lines of a task graph. All keys stay: what a task says in another way is kept under
 * `imported`, and what the file says besides its stories is a line of its own. Pure.
 *
 * @param source its path, for messages, and its text
 * @throws {HumanError} if it is no `prd.json` with stories, or an id is taken
 */
export function importTasks(
  { path, text }: { readonly path: string; readonly text: string },
  graph: GraphNames,
  now: Date,
): TaskImport {
  const file = parseStoryFile(path, text);
  if (file.kind === 'invalid') {
    throw new HumanError(problemOfFile(path, problemWords(file.problems[0])));
  }
  if (file.format === 'tasks') {
    throw new HumanError(say('{0} is already a task graph, so there is nothing to import.', path));
  }
  if (file.format !== 'prd') {
    throw new HumanError(
      say(
        '{0} is not a prd.json: only its stories can be imported. Make a task graph of it with: {1}',
        path,
        `ralph-fresh convert ${shellWord(path)} --to tasks`,
      ),
    );
  }
  // What cannot be read exactly would not be written exactly either.
  const lost = file.problems.find(({ code }) => code === 'repeatedKey' || code === 'inexactId');
  if (lost !== undefined) {
    throw new HumanError(problemOfFile(path, problemWords(lost)));
  }
  const own = text.replace(/^\uFEFF/, '');
  const ownRoot: unknown = JSON.parse(own);
  const root = rootAsRead(ownRoot);
  // In the graph, nothing would say any more who has written it.
  const json = root === ownRoot ? own : JSON.stringify(root);
  const { entries, key } = findStoryArray(root) ?? { entries: [] };
  const odd = entries.findIndex(entry => !isEntry(entry));
  if (odd !== -1) {
    throw new HumanError(
      say(
        '{0}: item {1} of the list is not an object, so it would be lost. Write it as a story, or remove it.',
        path,
        odd + 1,
      ),
    );
  }
  // What the file names by title or number, and what its epics wait for, are ids in the graph.
  const stories = withOwnIds(file.stories, 'T-1', [...graph.ids, ...graph.needs]);
  const ids = stories.map(({ id }) => id);
  const taken = ids.filter(id => graph.ids.has(id));
  if (taken.length > 0) {
    throw new HumanError(
      say(
        'The task graph has tasks with these ids already: {0}. Give the stories other ids, or remove them; nothing was written.',
        named(taken),
      ),
    );
  }
  const spans = findEntries(json, key);
  const tasks = stories.map(story =>
    taskOf(entries[story.position] as Entry, {
      story,
      members: exactMembers(json, spans[story.position]?.start ?? 0),
      now,
    }),
  );
  const rest = isEntry(root)
    ? exactMembers(json, skipSpace(json, 0)).filter(member => member.key !== key)
    : [];
  return {
    lines: [...(rest.length === 0 ? [] : [headingLine(rest)]), ...tasks.map(({ line }) => line)]
      .map(line => `${line}\n`)
      .join(''),
    ids,
    done: tasks.filter(({ isDone }) => isDone).length,
    problems: file.problems.filter(({ severity }) => severity !== 'info'),
  };
}

function named(ids: readonly string[]): Words {
  const shown = ids.slice(0, MAX_NAMED).map(plainText).join(', ');
  const more = ids.length - MAX_NAMED;
  return more > 0 ? say('{0} and {1} more', shown, more) : shown;
}

/** A key and its value as JSON. */
interface ExactMember {
  readonly key: string;
  readonly json: string;
}

/**
 * The members of an object with the text of their values, on one line: JavaScript would round large numbers, and forget
 * keys that an inner object has twice.
 */
function exactMembers(json: string, start: number): ExactMember[] {
  return membersOf(json, start).map(({ key, value }) => ({
    key,
    // A text has no line break in JSON, so all of them are between values.
    json: json.slice(value.start, value.end).replaceAll(/[\r\n]\s*/g, ''),
  }));
}

function objectLine(members: readonly ExactMember[]): string {
  return `{${members.map(({ key, json }) => `${JSON.stringify(key)}:${json}`).join(',')}}`;
}

/** Keys of the file itself that would say that its line is something else, and `imported`, where they go. */
const NOT_IN_HEADING: ReadonlySet<string> = new Set(['type', 'imported', 'id', ...STATE_KEYS]);

function headingLine(rest: readonly ExactMember[]): string {
  const kept = rest.filter(({ key }) => NOT_IN_HEADING.has(key));
  return objectLine([
    { key: 'type', json: JSON.stringify(GRAPH_TYPE) },
    ...rest.filter(member => !kept.includes(member)),
    ...(kept.length === 0 ? [] : [{ key: 'imported', json: objectLine(kept) }]),
  ]);
}

/**
 * @param story what the file says of the entry, with its id in the graph
 * @param members of the entry
 */
function taskOf(
  entry: Entry,
  {
    members,
    now,
    story,
  }: { readonly members: readonly ExactMember[]; readonly now: Date; readonly story: Story },
): { readonly line: string; readonly isDone: boolean } {
  const { dependsOn, discoveredFrom, done, epic, id, parked, title } = story;
  // A number stays one.
  const hasOwn = ownId(entry) === id;
  const word = STATUS_KEYS.map(key => entry[key]).find(value => typeof value === 'string');
  const open = parked === true ? 'deferred' : 'ready';
  // A word that means something else in a graph is not kept: a blocked task would be put aside there.
  const isKept =
    word !== undefined &&
    isDoneWord(word) === done &&
    (done || isParkedTask(word) === (parked === true));
  const status = isKept ? word : done ? 'done' : open;
  const stated = { status, blockedBy: dependsOn, done };
  // The graph has no list of epics: the title of its epic is the group of a task.
  const isOtherEpic = epic !== undefined && epic !== readStory(entry, 0, 1).epic;
  // The id in the graph of what it was discovered from, unless the entry has it already.
  const origin = DISCOVERED_KEYS.find(key => firstText(entry, [key]) !== undefined);
  const others: ExactMember[] = [];
  const imported: ExactMember[] = [];
  for (const member of members) {
    const { key } = member;
    if (key === 'id' && hasOwn) {
      continue;
    }
    if (OTHERWISE_SAID.has(key)) {
      if (!isSaid(key, entry[key], stated)) {
        imported.push(member);
      }
    } else if (key === 'epic' && isOtherEpic) {
      imported.push(member);
    } else if (key === origin && String(entry[key]) !== discoveredFrom) {
      others.push({ key, json: JSON.stringify(discoveredFrom) });
    } else {
      others.push(member);
    }
  }
  const has = (key: string) => others.some(other => other.key === key);
  const own = (key: string, value: unknown) => ({ key, json: JSON.stringify(value) });
  const line = objectLine([
    own('id', hasOwn ? entry.id : id),
    ...(has('title') ? [] : [own('title', title)]),
    ...others,
    ...(isOtherEpic ? [own('epic', epic)] : []),
    own('status', status),
    own('blockedBy', dependsOn),
    ...(['created', 'updated'] as const).filter(key => !has(key)).map(key => own(key, now)),
    ...(imported.length > 0 ? [{ key: 'imported', json: objectLine(imported) }] : []),
  ]);
  return { line, isDone: isDoneWord(status) };
}

/** Whether the task says the same with its own keys. */
function isSaid(
  key: string,
  value: unknown,
  task: {
    readonly status: string;
    readonly blockedBy: readonly string[];
    readonly done: boolean;
  },
): boolean {
  if (DONE_KEYS.some(one => one === key)) {
    return value === task.done && meaningOf(value) === task.done;
  }
  if (STATUS_KEYS.some(one => one === key)) {
    return value === task.status;
  }
  return (
    DEPENDENCY_KEYS.some(one => one === key) &&
    JSON.stringify(value) === JSON.stringify(task.blockedBy)
  );
}
