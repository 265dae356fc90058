import type { Edit } from 'jsonc-parser';
import { say } from '../../../base/say.ts';
import { doneChanges } from '../edit/doneChanges.ts';
import { entryText, newEntry } from '../edit/entryAddition.ts';
import { moveEntry } from '../edit/entryMove.ts';
import { setMembers } from '../edit/jsonEdit.ts';
import type { NewStory } from '../edit/newStory.ts';
import { requireSameGroup } from '../edit/workOrder.ts';
import type { Story, StoryProblem } from '../story.ts';
import { findStoryProblems } from '../storyProblems.ts';
import { findEntryProblems } from './entryProblems.ts';
import { findMisnamedKeys } from './fieldNames.ts';
import { findInnerStories } from './innerStories.ts';
import { appendLine, type JsonLine, readJsonLines } from './jsonLines.ts';
import { membersOf } from './jsonOutline.ts';
import { jsonParts } from './jsonParts.ts';
import { findRepeatedKeys } from './jsonText.ts';
import {
  doneKeyOf,
  type Entry,
  isDone,
  isEntry,
  ownId,
  readStory,
  withStatusAlone,
} from './prdEntry.ts';
import { DEPENDENCY_KEYS, isParkedWord, normaliseWord, TITLE_KEYS } from './prdKeys.ts';
import { readHeading } from './prdRoot.ts';
import type { StoryFormat, StoryText } from './storyFormat.ts';
import { TextLines } from './textLines.ts';

/** Our own task graph, `.ralph/tasks.jsonl`: one task per line, with what blocks it and what it was discovered from. */
export const tasks: StoryFormat = { name: 'tasks', read };

/** The `type` of a line that names finished tasks which were moved to an archive. */
export const COMPACTED_TYPE = 'compacted';
/** The `type` of a line with what a PRD says besides its stories: its project, its branch. */
export const GRAPH_TYPE = 'graph';
/** A task with this status is put aside here; a person sets it back to `ready`. */
const BLOCKED = 'blocked';

const FIX = say(
  'Write one task per line, such as {"id": "T-1", "title": "…", "status": "ready"}, or import a PRD with "ralph-fresh tasks import".',
);

function read(text: string, lines: TextLines): StoryText | StoryProblem {
  const graph = readTaskGraph(text, lines);
  if (!('tasks' in graph)) {
    return graph;
  }
  const { compacted, others, tasks: found } = graph;
  if (found.length === 0) {
    const [first] = others;
    const place = first === undefined ? { line: 1, column: 1 } : lines.at(first.start);
    return { code: 'noStories', message: say('The file has no tasks. {0}', FIX), ...place };
  }
  const startOf = ({ position }: Pick<Story, 'position'>) => found[position]?.start ?? 0;
  const placeOf = (story: Pick<Story, 'position'>, keys: readonly string[]) => {
    const member = membersOf(text, startOf(story)).find(({ key }) => keys.includes(key));
    return lines.at(member?.name.start ?? startOf(story));
  };
  const entries = found.map(({ entry }) => entry);
  const stories = found.map(({ entry, start }, position) =>
    readTask(readStory(entry, position, lines.at(start).line), entry, compacted),
  );
  const problems = findStoryProblems(
    stories,
    (story, fact) => placeOf(story, fact === 'id' ? ['id'] : DEPENDENCY_KEYS),
    [
      ...others.map(
        ({ start }): StoryProblem => ({
          code: 'notAStory',
          message: say(
            'This line has neither an id nor a title, so it is not read. Give the task both.',
          ),
          ...lines.at(start),
        }),
      ),
      ...findInnerStories(text, lines, stories, position => found[position]),
      ...findRepeatedKeys(text, found, lines),
      ...findMisnamedKeys(entries, (position, key) => placeOf({ position }, [key]), 'blockedBy'),
      ...findEntryProblems(entries, (position, key) => placeOf({ position }, [key]), {
        open: USUAL.openWord,
        done: USUAL.word,
      }),
    ],
  );
  return {
    heading: readHeading(graph.headings[0]),
    stories,
    problems,
    edits: (story, done) => {
      const entry = entries[story.position] ?? {};
      const rest = entries.filter(other => other !== entry);
      // No date: it could not be removed with the tick.
      const changes = doneChanges(entry, rest, done, USUAL);
      return setMembers(text, startOf(story), changes);
    },
    add: story => [appendTask(text, found, story)],
    parts: jsonParts(text, position => found[position]?.start, { openWord: USUAL.openWord }),
    spanOf: position => found[position] ?? { start: 0, end: 0 },
    move: (...move) => {
      requireSameGroup(move[0], move[1]);
      return moveEntry({ text, stories, spansOf: taskSpans }, move);
    },
  };
}

const USUAL = { key: 'status', word: 'done', openWord: 'ready' } as const;

function appendTask(text: string, found: readonly JsonLine[], story: NewStory): Edit {
  const values = newEntry(
    story,
    found.map(({ entry }) => entry),
    { key: 'status', word: 'ready' },
  );
  // An import writes both, and compaction asks for them.
  if (story.at !== undefined) {
    values.set('created', story.at.toISOString());
    values.set('updated', story.at.toISOString());
  }
  const model = found.at(-1) ?? { start: 0, end: 0 };
  return appendLine(text, entryText(text, model, values));
}

/** The lines of a task file. */
export interface TaskGraph {
  /** A status decides whatever other keys say, so that a task with one is read without them. */
  readonly tasks: readonly JsonLine[];
  /** Ids of finished tasks that were moved to an archive; without those that a task has again. */
  readonly compacted: ReadonlySet<string>;
  /** Lines with what is known about the project; the first one counts. */
  readonly headings: readonly Entry[];
  /** Lines that name the finished tasks in an archive. */
  readonly archives: readonly Entry[];
  /** Objects that are no tasks. */
  readonly others: readonly JsonLine[];
}

/** Reads the lines of a task file. Pure. */
export function readTaskGraph(text: string, lines = new TextLines(text)): TaskGraph | StoryProblem {
  const read = readJsonLines(
    text,
    lines,
    say('This line has another value: put a task there, or remove the line.'),
    // An empty file of the first design begins like this.
    value => Array.isArray(value) && value.length === 0,
  );
  if (!Array.isArray(read)) {
    return read;
  }
  const entriesOf = (found: readonly JsonLine[]) => found.map(({ entry }) => entry);
  const archives = entriesOf(read.filter(isCompacted));
  const rest = read.filter(line => !isCompacted(line) && !isHeading(line));
  const tasks = rest.filter(isTask).map(line => ({ ...line, entry: withDecider(line.entry) }));
  const own = new Set(tasks.map(({ entry }) => ownId(entry)));
  const compacted = archives.flatMap(idsOf);
  return {
    tasks,
    others: rest.filter(line => !isTask(line)),
    compacted: new Set(compacted.filter(id => !own.has(id))),
    headings: entriesOf(read.filter(isHeading)),
    archives,
  };
}

/** Whether JSON Lines are a task graph, whatever the name of their file: the first line that is telling decides. */
export function isTaskGraphText(text: string): boolean {
  for (const line of text.split('\n')) {
    const entry = entryOf(line);
    if (entry !== undefined) {
      const isOwn = entry['type'] === GRAPH_TYPE || isCompacted({ entry });
      if (isOwn || Array.isArray(entry['blockedBy'])) {
        return true;
      }
      if (BEADS_KEYS.some(key => Object.hasOwn(entry, key))) {
        return false;
      }
    }
  }
  return false;
}

/** Keys that lines of Beads have, and no task of ours. */
const BEADS_KEYS = ['issue_type', '_type', 'dependencies', 'created_at'] as const;

function entryOf(line: string): Entry | undefined {
  // Only these words make a line telling; others need not be read.
  if (!/"(?:type|ids|blockedBy|issue_type|_type|dependencies|created_at)"/.test(line)) {
    return undefined;
  }
  try {
    const value: unknown = JSON.parse(line);
    return isEntry(value) ? value : undefined;
  } catch {
    // Reading the file names the line and what is wrong with it.
    return undefined;
  }
}

function taskSpans(text: string): readonly JsonLine[] {
  const graph = readTaskGraph(text);
  return 'tasks' in graph ? graph.tasks : [];
}

function isCompacted({ entry }: Pick<JsonLine, 'entry'>): boolean {
  return entry['type'] === COMPACTED_TYPE && Array.isArray(entry['ids']);
}

/** What only the heading has. */
const HEADING_KEYS = ['project', 'branchName', 'imported'];

/** An id or a state makes any other line a task: a list must not become shorter without a word. */
function isHeading({ entry }: JsonLine): boolean {
  return (
    entry['type'] === GRAPH_TYPE &&
    ((ownId(entry) === undefined && doneKeyOf(entry) === undefined) ||
      HEADING_KEYS.some(key => entry[key] !== undefined))
  );
}

function isTask({ entry }: JsonLine): boolean {
  return ownId(entry) !== undefined || TITLE_KEYS.some(key => typeof entry[key] === 'string');
}

function withDecider(entry: Entry): Entry {
  return typeof entry.status === 'string' ? withStatusAlone(entry) : entry;
}

function idsOf({ ids }: Entry & { readonly ids?: unknown }): string[] {
  return (Array.isArray(ids) ? ids : []).filter((id): id is string => typeof id === 'string');
}

/** What waits for a task in the archive waits no more: only finished ones are there. */
function readTask(story: Story, entry: Entry, compacted: ReadonlySet<string>): Story {
  const status = typeof entry.status === 'string' ? entry.status : '';
  return {
    ...story,
    dependsOn: story.dependsOn.filter(id => !compacted.has(id)),
    parked: (!isDone(entry) && isParkedTask(status)) || story.parked,
  };
}

/** Whether a task with this status is never next. */
export function isParkedTask(status: string): boolean {
  return isParkedWord(status) || normaliseWord(status) === BLOCKED;
}
