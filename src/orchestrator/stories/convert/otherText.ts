import { isDeepStrictEqual } from 'node:util';
import { parseDocument, visit } from 'yaml';
import { unreadOf } from '../formats/backlogTask.ts';
import { CHOICE_KEYS } from '../formats/callChoice.ts';
import { type MarkdownLine, readMarkdown } from '../formats/markdownBlocks.ts';
import { isOptionalItem } from '../formats/planFormat.ts';
import { type Entry, isEntry, readCriteria } from '../formats/prdEntry.ts';
import { PARENT_KEYS } from '../formats/prdEpics.ts';
import {
  CRITERIA_KEYS,
  DEPENDENCY_KEYS,
  DESCRIPTION_KEYS,
  EPIC_KEYS,
  STATE_KEYS,
  TITLE_KEYS,
} from '../formats/prdKeys.ts';
import { findStoryArray } from '../formats/prdRoot.ts';
import type { Story } from '../story.ts';
import type { ParsedStoryFile } from '../storyFile.ts';
import type { ConversionSource } from './conversionSource.ts';
import { epicIds, hasValue, otherEpicKeys } from './otherEpics.ts';
import type { TaskDates } from './tasksWriter.ts';

/** Keys that a story of any format is read from, whatever their values. */
const READ_KEYS: ReadonlySet<string> = new Set([
  ...['id', 'priority', 'blocked_by', 'discoveredFrom', 'discovered_from', 'type'],
  ...STATE_KEYS,
  ...DEPENDENCY_KEYS,
  ...Object.values(CHOICE_KEYS).flat(),
]);
const HEADING_KEYS: ReadonlySet<string> = new Set([
  ...['project', 'projectName', 'productName', 'product_name', 'name', 'title', 'description'],
  ...['branchName', 'branch_name', 'branch', 'phases', 'tasks'],
]);

/**
 * The keys of a story that its format has and the model has not, in the order of the file.
 * @param epics the ids of listed epics by title
 */
export function otherKeys(
  parsed: ParsedStoryFile,
  story: Story,
  epics: ReadonlyMap<string, string>,
): string[] {
  const entry = entryAt(parsed, story.position);
  return entry === undefined
    ? []
    : Object.keys(entry).filter(
        key =>
          hasValue(entry[key]) && !isRead(entry, key, story) && !isEpic(entry, key, story, epics),
      );
}

/** Whether a key says which epic the story belongs to, by its title or id. */
function isEpic(
  entry: Entry,
  key: string,
  { epic = '' }: Story,
  epics: ReadonlyMap<string, string>,
): boolean {
  return PARENT_KEYS.includes(key) && [epic, epics.get(epic)].includes(String(entry[key]).trim());
}

/** Whether a story of another file has the same value under a key. */
export function hasSameKey(
  [parsed, story]: readonly [ParsedStoryFile, Story],
  [other, same]: readonly [ParsedStoryFile, Story],
  key: string,
): boolean {
  const [value, kept] = [entryAt(parsed, story.position), entryAt(other, same.position)];
  return kept !== undefined && isDeepStrictEqual(value?.[key], kept[key]);
}

/** When a story was made and changed, if its file says so in the words of a task graph. */
export function datesOf(parsed: ParsedStoryFile, { position }: Story): TaskDates {
  const { created, updated } = (entryAt(parsed, position) ?? {}) as Record<string, unknown>;
  return {
    ...(typeof created === 'string' && created !== '' && { created }),
    ...(typeof updated === 'string' && updated !== '' && { updated }),
  };
}

/** The headings of a story's own file whose text the model has not. */
export function otherSections(parsed: ParsedStoryFile, story: Story): readonly string[] {
  return parsed.file.format === 'backlog' ? unreadOf(textOf(parsed, story), story).sections : [];
}

/** Whether an item of a plan is marked as one that need not be done. */
export function isOptional(parsed: ParsedStoryFile, story: Story): boolean {
  return parsed.file.format === 'plan' && isOptionalItem(textOf(parsed, story));
}

function textOf({ spanOf, text }: ParsedStoryFile, { position }: Story): string {
  const { end, start } = spanOf(position);
  return text.slice(start, end);
}

/** The keys of the file that belong to no story. */
export function otherFileKeys({ file, text }: ConversionSource): string[] {
  const { format } = file;
  if (format !== 'prd' && format !== 'orchestration' && format !== 'taskMaster') {
    return [];
  }
  const root = dataIn(text);
  if (format === 'taskMaster' && isEntry(root) && !Array.isArray(root['tasks'])) {
    return Object.entries(root).flatMap(([key, value]) =>
      isEntry(value) && Array.isArray(value['tasks'])
        ? keysOfTag(key, value)
        : hasValue(value)
          ? [key]
          : [],
    );
  }
  const list = format === 'prd' ? findStoryArray(root)?.key : undefined;
  return isEntry(root)
    ? Object.keys(root)
        .filter(key => key !== list && !HEADING_KEYS.has(key) && hasValue(root[key]))
        .flatMap(key =>
          key === 'epics' && format === 'prd' ? otherEpicKeys(root, file.stories) : [key],
        )
    : [];
}

/** The ids of the epics that a `prd.json` lists, by title. */
export function listedEpicIds({ file, text }: ParsedStoryFile): ReadonlyMap<string, string> {
  return file.format === 'prd' ? epicIds(dataIn(text)) : new Map();
}

/** `shop.metadata` of the tag `shop`. */
function keysOfTag(tag: string, entry: Entry): string[] {
  return Object.keys(entry)
    .filter(key => key !== 'tasks' && hasValue(entry[key]))
    .map(key => `${tag}.${key}`);
}

/**
 * How many lines belong to no story, and are no items either: comments of YAML, text of a plan outside of its items, of
 * a task of Backlog.md outside of its sections.
 */
export function otherLines(parsed: ParsedStoryFile): number {
  const { file, text } = parsed;
  if (file.kind === 'invalid') {
    return 0;
  }
  switch (file.format) {
    case 'orchestration':
      return commentLines(text);
    case 'plan':
    case 'specsIndex': {
      const { lines } = readMarkdown(text);
      // The items that are not read are a loss of their own.
      const told = new Set(
        file.problems.flatMap(({ code, line }) => (code === 'notAStory' ? [line] : [])),
      );
      for (const story of file.stories) {
        for (const line of linesBelow(story, lines)) {
          told.add(line);
        }
      }
      return lines.filter(
        ({ kind, line, text: words }) => kind === 'plain' && words.trim() !== '' && !told.has(line),
      ).length;
    }
    case 'backlog':
      return file.stories
        .map(story => unreadOf(textOf(parsed, story), story).lines)
        .reduce((sum, count) => sum + count, 0);
    default:
      return 0;
  }
}

/** The lines of a plan that are the description of an item, which begins with the text of the item's own line. */
function linesBelow({ description, line }: Story, lines: readonly MarkdownLine[]): number[] {
  let first = line;
  while (lines[first]?.text.trim() === '') {
    first += 1;
  }
  const count = description.split('\n').length - 1;
  return lines.slice(first, first + count).map(below => below.line);
}

function commentLines(text: string): number {
  const document = parseDocument(text, { logLevel: 'silent' });
  let count = 0;
  const add = ({ comment, commentBefore }: { comment?: unknown; commentBefore?: unknown }) => {
    for (const words of [comment, commentBefore]) {
      count += typeof words === 'string' ? words.split('\n').length : 0;
    }
  };
  add(document);
  visit(document, { Node: (_, node) => add(node) });
  return count;
}

/** The story as it is in its file; `undefined` if its text alone does not say. */
function entryAt({ file, spanOf, text }: ParsedStoryFile, position: number): Entry | undefined {
  // A story of BMAD is a key with its status, and has no keys of its own.
  if (file.format === 'plan' || file.format === 'specsIndex' || file.format === 'bmad') {
    return undefined;
  }
  const { end, start } = spanOf(position);
  if (file.format === 'backlog') {
    const [, frontMatter = ''] =
      /^\s*---\r?\n([\s\S]*?)\r?\n---/.exec(text.slice(start, end)) ?? [];
    const facts = dataIn(frontMatter);
    return isEntry(facts) ? facts : undefined;
  }
  const own = text.slice(start, end);
  // The lines of a YAML map keep their indentation. Before one in braces, all others may be on the same line.
  const indent = own.startsWith('{') ? 0 : start - text.lastIndexOf('\n', start - 1) - 1;
  const value = dataIn(' '.repeat(indent) + own);
  return isEntry(value) ? value : undefined;
}

function dataIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const document = parseDocument(text, { logLevel: 'silent', merge: true });
    try {
      return document.errors.length === 0 ? document.toJS({ maxAliasCount: 1000 }) : undefined;
    } catch {
      return undefined; // An alias whose anchor is elsewhere in the file.
    }
  }
}

function isRead(entry: Entry, key: string, story: Story): boolean {
  if (READ_KEYS.has(key)) {
    return true;
  }
  const value = entry[key];
  if (key === 'parked' && typeof value === 'boolean') {
    return true;
  }
  if (CRITERIA_KEYS.includes(key) && key === CRITERIA_KEYS.find(one => isRealList(entry, one))) {
    return true;
  }
  const texts = [story.title, story.epic ?? '', story.description.trim()];
  const isText = [TITLE_KEYS, DESCRIPTION_KEYS, EPIC_KEYS].some(keys => keys.includes(key));
  return isText && texts.includes(String(value).trim());
}

function isRealList(entry: Entry, key: string): boolean {
  return readCriteria({ [key]: entry[key] }).length > 0;
}
