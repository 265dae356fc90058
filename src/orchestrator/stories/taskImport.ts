import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { shellWord } from '../../base/shellWord.ts';
import { withOwnIds } from './convert/ownIds.ts';
import { plainText } from './formats/plainText.ts';
import { type Entry, isEntry, ownId, readStory } from './formats/prdEntry.ts';
import {
  DEPENDENCY_KEYS,
  DISCOVERED_KEYS,
  DONE_KEYS,
  isDoneWord,
  STATUS_KEYS,
} from './formats/prdKeys.ts';
import { findStoryArray } from './formats/prdRoot.ts';
import { meaningOf } from './formats/statusWord.ts';
import { GRAPH_TYPE, isParkedTask } from './formats/tasksFormat.ts';
import type { Story } from './story.ts';
import { parseStoryFile, problemOfFile, problemWords } from './storyFile.ts';

/** Maximum number of ids in a message. */
const MAX_NAMED = 8;

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
  const root: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
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
  const stories = withOwnIds(file.stories, number => `T-${number}`, [...graph.ids, ...graph.needs]);
  const ids = stories.map(({ id }) => id);
  const taken = ids.filter(id => graph.ids.has(id));
  if (taken.length > 0) {
    throw new HumanError(
      say(
        'The task graph has tasks with these ids already: {0}. Give the stories other ids, or remove them; nothing was written.',
        taken.slice(0, MAX_NAMED).map(plainText).join(', '),
      ),
    );
  }
  const tasks = stories.map(story => taskOf(entries[story.position] as Entry, story, now));
  const { [key ?? '']: _, ...rest } = isEntry(root) ? root : {};
  const heading =
    Object.keys(rest).length === 0 ? [] : [{ type: GRAPH_TYPE, ...rest, ...typed(rest) }];
  return {
    lines: [...heading, ...tasks].map(value => `${JSON.stringify(value)}\n`).join(''),
    ids,
    done: tasks.filter(({ status }) => isDoneWord(status)).length,
  };
}

/** A key `type` of the file itself would say that the line is something else. */
function typed(rest: Entry): object {
  return Object.hasOwn(rest, 'type') ? { type: GRAPH_TYPE, imported: { type: rest['type'] } } : {};
}

/** @param story what the file says of the entry, with its id in the graph */
function taskOf(entry: Entry, story: Story, now: Date) {
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
  const stated: Record<string, unknown> = { status, blockedBy: dependsOn };
  // Not objects yet: a key `__proto__` would be lost.
  const others = new Map<string, unknown>();
  const imported = new Map<string, unknown>();
  for (const [key, value] of Object.entries(entry)) {
    if (key === 'id' && hasOwn) {
      continue;
    }
    if (
      [...DONE_KEYS, ...STATUS_KEYS, ...DEPENDENCY_KEYS, 'id', 'imported', 'type'].some(
        one => one === key,
      )
    ) {
      if (!isSaid(key, value, { ...stated, done })) {
        imported.set(key, value);
      }
    } else {
      others.set(key, value);
    }
  }
  const at = now.toISOString();
  // The graph has no list of epics: the title of its epic is the group of a task.
  const isOtherEpic = epic !== undefined && epic !== readStory(entry, 0, 1).epic;
  if (isOtherEpic && others.has('epic')) {
    imported.set('epic', others.get('epic'));
    others.delete('epic');
  }
  for (const key of DISCOVERED_KEYS) {
    if (others.has(key) && discoveredFrom !== undefined) {
      others.set(key, discoveredFrom);
    }
  }
  const rest: Record<string, unknown> = Object.fromEntries(others);
  return {
    id: hasOwn ? entry.id : id,
    ...(Object.hasOwn(rest, 'title') ? {} : { title }),
    ...rest,
    ...(isOtherEpic && { epic }),
    status,
    blockedBy: dependsOn,
    created: rest['created'] ?? at,
    updated: rest['updated'] ?? at,
    ...(imported.size > 0 && { imported: Object.fromEntries(imported) }),
  };
}

/** Whether the task says the same with its own keys. */
function isSaid(
  key: string,
  value: unknown,
  task: { readonly status?: unknown; readonly blockedBy?: unknown; readonly done: boolean },
): boolean {
  if (DONE_KEYS.some(one => one === key)) {
    return value === task.done && meaningOf(value) === task.done;
  }
  return STATUS_KEYS.some(one => one === key)
    ? value === task.status
    : JSON.stringify(value) === JSON.stringify(task.blockedBy);
}
