import { isDeepStrictEqual } from 'node:util';
import { applyEdits, type Edit } from 'jsonc-parser';
import { type Document, isAlias, isMap, isScalar, type YAMLMap } from 'yaml';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { requireSameGroup, type Side } from '../edit/workOrder.ts';
import { pairOf, setPair } from '../edit/yamlEdit.ts';
import type { Story, StoryProblem } from '../story.ts';
import { findStoryProblems } from '../storyProblems.ts';
import { keysAbove, LIST, type Stray, strayStories } from './bmadStrays.ts';
import type { Span } from './jsonOutline.ts';
import { plainText } from './plainText.ts';
import { isEntry } from './prdEntry.ts';
import { isDoneWord, isParkedWord } from './prdKeys.ts';
import { readHeading } from './prdRoot.ts';
import { findStatusProblems } from './statusWord.ts';
import type { StoryFormat, StoryText } from './storyFormat.ts';
import { indexBeside, moveBlock } from './textBlocks.ts';
import type { TextLines } from './textLines.ts';
import { parseYaml, startOf } from './yamlDocument.ts';
import { yamlParts } from './yamlParts.ts';

/** `sprint-status.yaml` of BMAD: https://github.com/bmad-code-org/BMAD-METHOD. */
export const bmad: StoryFormat = { name: 'bmad', read };

/** The key of a story that is written as a map. */
const STATUS = 'status';
/** Says least about a story: it may not even have a file. */
const OPEN = 'backlog';
/** Epics and their retrospectives are no work of an agent, also those with names, such as `epic-shop-1`. */
const NO_STORY = /^epic-|-retrospective$/;
/** A story, though it begins like its epic; one with stories is an epic with such a name. */
const OF_EPIC = /^epic-\d+-story-\d(?!.*-retrospective$)/s;
/** `2025-06-release` is named like a story. */
const DATE = /^((?:19|20)\d\d)-(?:0[1-9]|1[0-2])-/;
const STORY = /^(\d+)-(\d+[a-z]?)-(.+)$/s;
/** The name of an epic is looked for among the first words of a key, so that a key of any length is read quickly. */
const MAX_WORDS = 8;
const EPIC = /^epic-(.+?)(?:-retrospective)?$/s;
/** An epic that has no "epic-" in front of its name, such as `dm-01`, and a story of one. */
const BARE_EPIC = /^([A-Za-z][A-Za-z0-9]*)-\d+$/;
const OF_BARE_EPIC = /^(([A-Za-z][A-Za-z0-9]*)-\d+)-\d+[a-z]?-./s;

interface Entry {
  readonly key: string;
  readonly status: string;
  /** Whether its value is a list or a map, which says nothing about its state. */
  readonly isUnclear: boolean;
  readonly span: Span;
  /** Its value, if that is a map with a status of its own. */
  readonly own?: YAMLMap;
}

/** Whether a YAML text is one of BMAD. */
export function isBmadText(text: string): boolean {
  return /^development_status[ \t]*:/m.test(text);
}

function read(text: string, lines: TextLines): StoryText | StoryProblem {
  const parsed = parseYaml(text);
  if ('message' in parsed) {
    return { code: 'invalidYaml', message: parsed.message, ...lines.at(parsed.offset) };
  }
  const root = parsed.document.contents;
  const map = isMap(root) ? pairOf(root, LIST)?.value : undefined;
  const entriesIn = (node: unknown) => (isMap(node) ? entriesOf(text, node, parsed.document) : []);
  const entries = entriesIn(map);
  const epics = epicsOf(entries);
  const isStory = ({ key }: Entry) => partsOf(key, epics) !== undefined;
  const found = entries.filter(isStory);
  const epicKeys = new Set(epicKeysIn(entries.map(({ key }) => key)));
  const known = new Set(found.map(({ key }) => key));
  // Epics may stand at the wrong place together with their stories.
  const allEpics = epicsOf([...entries, ...entriesIn(root)]);
  const keys = {
    isMissing: (key: string) =>
      !known.has(key) && !isDate(key, allEpics) && partsOf(key, allEpics) !== undefined,
    isRead: (key: string) => known.has(key),
    isEpic: (key: string) => NO_STORY.test(key),
  };
  const holders = keysAbove(map, keys);
  // Of a group, its stories are named.
  const others = entries.filter(
    entry => !isStory(entry) && !epicKeys.has(entry.key) && !holders.has(entry.key),
  );
  const unread = [
    ...others.map(({ key, span }) => ({
      message: say(
        '"{0}" is not read as a story: the key of a story begins with the numbers of its epic and of the story, as in "1-2-title". Write it in its epic, and let the sprint planning of BMAD update this file.',
        plainText(key),
      ),
      start: span.start,
    })),
    ...oddKeys(map),
    ...strayStories(root, keys),
  ]
    .toSorted((one, other) => one.start - other.start)
    .map(({ message, start }) => ({ message, ...lines.at(start) }));
  if (!isMap(map) || found.length === 0) {
    const [first] = unread;
    if (first !== undefined) {
      return { code: 'noStories', ...first };
    }
    return {
      code: 'noStories',
      message: say(
        'The file has no stories under "{0}:". Write each as "1-1-title: backlog", or let the sprint planning of BMAD do it.',
        LIST,
      ),
      line: 1,
      column: 1,
    };
  }
  const stories = found.map(({ key, span, status }, position) =>
    storyOf({ key, status, position, line: lines.at(span.start).line }, epics),
  );
  const placeOf = (position: number) => lines.at(found[position]?.span.start ?? 0);
  const problems = findStoryProblems(stories, ({ position }) => placeOf(position), [
    ...unread.map(problem => ({ code: 'notAStory' as const, ...problem })),
    ...found
      .filter(({ isUnclear }) => isUnclear)
      .map(({ key, span }) => ({
        code: 'unknownStatus' as const,
        message: say(
          'The status of {0} is not one word, so the story counts as not done. Write it as "{0}: backlog".',
          plainText(key),
        ),
        ...lines.at(span.start),
      })),
    ...findStatusProblems(
      // An older version has a word of its own for a story that is being prepared.
      found.map(({ status }) => ({ status: status === 'contexted' ? 'drafted' : status })),
      placeOf,
      { open: OPEN, done: 'done' },
      // The key of a status is the story itself.
    ).map(({ subject, ...problem }) => ({
      ...problem,
      subject: subject && { ...subject, ids: [] },
    })),
  ]);
  const parts = yamlParts(text, () => map);
  return {
    heading: { ...readHeading(parsed.root), branchName: '' },
    stories,
    problems,
    edits: ({ position }, done) => {
      const entry = found[position];
      return entry === undefined
        ? []
        : statusEdits(text, map, entry, done ? 'done' : 'ready-for-dev');
    },
    spanOf: position => found[position]?.span ?? { start: 0, end: 0 },
    move: (...move) => moved(text, map, { found, stories }, move),
    parts: {
      field: position => {
        const { key, own } = found[position] ?? {};
        return own === undefined
          ? parts.field(position, key)
          : yamlParts(text, () => own).field(position, STATUS);
      },
      dependencies: () => [],
      openWord: OPEN,
    },
  };
}

/** @throws {HumanError} if the new status would also change something else, or would not be one */
function statusEdits(
  text: string,
  map: YAMLMap,
  { key, own }: Entry,
  word: string,
): readonly Edit[] {
  const edits = [
    own === undefined ? setPair(text, map, key, word) : setPair(text, own, STATUS, word),
  ];
  const rest = (of: string) => {
    const parsed = parseYaml(of);
    const root = 'message' in parsed ? {} : (parsed.root as Readonly<Record<string, unknown>>);
    const statuses = { ...(root[LIST] as Readonly<Record<string, unknown>> | undefined) };
    const value = statuses[key];
    const [now, then] = isEntry(value)
      ? [value[STATUS], { ...value, [STATUS]: word }]
      : [value, word];
    return { root: { ...root, [LIST]: { ...statuses, [key]: then } }, word: now };
  };
  const after = rest(applyEdits(text, edits));
  if (after.word !== word || !isDeepStrictEqual(after.root, rest(text).root)) {
    throw new HumanError(
      say(
        'The status of {0} cannot be changed on its own: other lines share it (&, *), or it is not one word. Write it in the file as "{0}: {1}".',
        plainText(key),
        word,
      ),
    );
  }
  return edits;
}

/** Keys that are an alias, a list or a map: a list must not become shorter without a word. */
function oddKeys(map: unknown): Stray[] {
  return (isMap(map) ? map.items : []).flatMap(({ key, value }) => {
    const message = say(
      'This key is not a plain word, so it is not read as a story. Write it like the others, as in "1-2-title: backlog".',
    );
    return isScalar(key) ? [] : [{ message, start: startOf(key ?? value) || startOf(map) }];
  });
}

function entriesOf(text: string, map: YAMLMap, document: Document): Entry[] {
  return map.items.flatMap(({ key, value }) => {
    if (!isScalar(key)) {
      return [];
    }
    const [start = 0, keyEnd = 0] = key.range ?? [];
    const own = isMap(value) && isScalar(pairOf(value, STATUS)?.value) ? value : undefined;
    const status = own === undefined ? value : pairOf(own, STATUS)?.value;
    const meant = isAlias(status) ? status.resolve(document) : status;
    const isWord = isScalar(meant);
    const written = own ?? (isScalar(value) || isAlias(value) ? value : undefined);
    const [from = keyEnd, to = keyEnd] = written?.range ?? [];
    return [
      {
        // A merge key has a symbol as its value.
        key: typeof key.value === 'symbol' ? (key.source ?? '') : String(key.value),
        status: isWord && meant.value !== null ? String(meant.value).trim() : '',
        isUnclear: !isWord && meant !== null && meant !== undefined,
        span: { start, end: from === to ? emptyEnd(text, keyEnd, to) : trimmedEnd(text, to) },
        ...(own && { own }),
      },
    ];
  });
}

/** Where a value will be written that is still empty: behind the space after the colon, but on its line. */
function emptyEnd(text: string, keyEnd: number, place: number): number {
  const end = Math.max(keyEnd, place);
  const trimmed = trimmedEnd(text, end);
  return /[\r\n]/.test(text.slice(trimmed, end)) ? trimmed : end;
}

/** The end of what is written in front of an offset. */
function trimmedEnd(text: string, end: number): number {
  let trimmed = end;
  while (/\s/.test(text.charAt(trimmed - 1))) {
    trimmed--;
  }
  return trimmed;
}

/** The keys of epics and retrospectives. */
export function epicKeysIn(keys: readonly string[]): readonly string[] {
  const epics = epicsOf(keys.map(key => ({ key })));
  const having = new Set(keys.map(key => epics.get(partsOf(key, epics)?.[0] ?? '')));
  return keys.filter(
    key =>
      (NO_STORY.test(key) && (!OF_EPIC.test(key) || having.has(key))) || epics.get(key) === key,
  );
}

/** Whether a key only looks like that of a story, because no epic is called like a year. */
function isDate(key: string, epics: ReadonlyMap<string, string>): boolean {
  const year = DATE.exec(key)?.[1];
  return year !== undefined && !epics.has(year);
}

/** The keys of the epics, by how those of their stories begin. */
function epicsOf(entries: readonly Pick<Entry, 'key'>[]): ReadonlyMap<string, string> {
  const epics = new Map(
    entries.flatMap(({ key }): [string, string][] => {
      const name = EPIC.exec(key)?.[1];
      return name === undefined ? [] : [[name, `epic-${name}`]];
    }),
  );
  const keys = new Set(entries.map(({ key }) => key));
  const words = new Set(
    entries.flatMap(({ key }) => {
      const [, epic = '', word = ''] = OF_BARE_EPIC.exec(key) ?? [];
      const isOne = keys.has(epic) && !NO_STORY.test(epic) && partsOf(key, epics) === undefined;
      return isOne ? word : [];
    }),
  );
  // One that has no stories yet is called like the others.
  const bare = entries.flatMap(({ key }) => (words.has(BARE_EPIC.exec(key)?.[1] ?? '') ? key : []));
  return new Map([...epics, ...bare.map(key => [key, key] as const)]);
}

/**
 * Its epic, number and name. An epic may have been put between two others, or have a name: `3-5-1-title` and
 * `shop-1-title` are stories of `epic-3-5` and `epic-shop`, and so is `shop-s01-title`.
 */
function partsOf(
  key: string,
  epics: ReadonlyMap<string, string>,
): readonly [epic: string, number: string, name: string] | undefined {
  const words = key.split('-', MAX_WORDS);
  for (let count = words.length - 1; count > 0; count--) {
    const epic = words.slice(0, count).join('-');
    const rest = epics.has(epic) ? /^-(s?\d+[a-z]?)-(.+)$/s.exec(key.slice(epic.length)) : null;
    if (rest?.[1] !== undefined && rest[2] !== undefined) {
      return [epic, rest[1], rest[2]];
    }
  }
  const [, epic, number, name] = STORY.exec(key) ?? [];
  return epic === undefined || number === undefined || name === undefined
    ? undefined
    : [epic, number, name];
}

function storyOf(
  { key, line, position, status }: Pick<Entry, 'key' | 'status'> & Pick<Story, 'line' | 'position'>,
  epics: ReadonlyMap<string, string>,
): Story {
  const [epic, number, slug] = partsOf(key, epics) ?? ['', '', key];
  const words = slug.replaceAll('-', ' ');
  const done = isDoneWord(status);
  return {
    id: key,
    title: `${epic.replaceAll('-', '.')}.${number} ${words[0]?.toUpperCase() ?? ''}${words.slice(1)}`,
    description: '',
    criteria: [],
    done,
    status: status === '' ? undefined : status,
    dependsOn: [],
    epic: epics.get(epic) ?? `epic-${epic}`,
    parked: (!done && isParkedWord(status)) || undefined,
    details: `${key}.md`,
    position,
    line,
  };
}

/** Stories take their turns in the order of their lines; one can only be moved within its epic. */
function moved(
  text: string,
  map: YAMLMap,
  { found, stories }: { readonly found: readonly Entry[]; readonly stories: readonly Story[] },
  [story, target, side]: readonly [story: Story, target: Story, side: Side],
): string {
  requireSameGroup(story, target);
  const siblings = found.filter((_, position) => stories[position]?.epic === story.epic);
  const blocks = siblings.map(({ span: { end, start } }) => ({
    start,
    end: end + (/^[^\r\n]*/.exec(text.slice(end))?.[0].trimEnd().length ?? 0),
  }));
  const at = (id: string) => siblings.findIndex(({ key }) => key === id);
  const to = indexBeside(at(story.id), at(target.id), side);
  const after = map.flow === true ? '' : moveBlock(text, blocks, at(story.id), to);
  const [old, now] = [text, after]
    .map(parseYaml)
    .map(one => ('root' in one ? one.root : undefined));
  if (!isDeepStrictEqual(old, now)) {
    throw new HumanError(
      say(
        '{0} cannot be moved on its own, because of the way this YAML is written: move its lines in the file.',
        plainText(story.id),
      ),
    );
  }
  return after;
}
