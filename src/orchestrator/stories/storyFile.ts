import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { HumanError } from '../humanError.ts';
import { findJsonError } from './jsonError.ts';
import { elementsOf, elementsOfMember, membersOf, type Span, skipSpace } from './jsonOutline.ts';
import {
  DEPENDENCY_KEYS,
  findStoryArray,
  isEntry,
  readHeading,
  readStory,
  type StoryArray,
} from './prdFormat.ts';
import type { InvalidStoryFile, StoryFile, StoryProblem } from './story.ts';
import { findStoryProblems } from './storyProblems.ts';
import { TextLines } from './textLines.ts';

/** Where a workspace may keep its story file, relative to its folder; the first one that exists is used. */
export const STORY_FILE_PLACES = [
  '.omc/prd.json',
  'prd.json',
  'scripts/ralph/prd.json',
  'tasks/prd.json',
  '.ralph/prd.json',
  'plans/prd.json',
] as const;

const BOM = '\uFEFF';

/** Finds the story file of a workspace: its path, or `undefined` when there is none at any known place. */
export async function findStoryFile(workspaceDir: string): Promise<string | undefined> {
  for (const place of STORY_FILE_PLACES) {
    const path = join(workspaceDir, place);
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile() === true) {
      return path;
    }
  }
  return undefined;
}

/**
 * Reads a story file. Whatever is in it, or that keeps it from being read, comes back as a value.
 *
 * @throws HumanError only when there is no file at `path`.
 */
export async function readStoryFile(path: string): Promise<StoryFile> {
  let content: Uint8Array;
  try {
    // Opening a named pipe would wait for a writer for ever.
    if (!(await stat(path)).isFile()) {
      return unreadable(path, `${basename(path)} is not a file: put the stories into a JSON file.`);
    }
    content = await readFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new HumanError(`There is no story file at ${path}. Create it, or name another one.`, {
        cause: error,
      });
    }
    return unreadable(
      path,
      `${basename(path)} cannot be read (${code}): check its permissions and its size.`,
    );
  }
  return parseStoryFile(path, content);
}

/** Reads the content of a story file, as text or as the bytes of the file. Pure; never throws. */
export function parseStoryFile(path: string, content: string | Uint8Array): StoryFile {
  return parseStoryText(path, content).file;
}

/** A story file together with what an edit of its text needs. */
export interface ParsedStoryFile {
  readonly file: StoryFile;
  /** The text without its byte order mark; every offset counts in it. */
  readonly text: string;
  /** The byte order mark, or nothing. */
  readonly bom: string;
  /** The list as it was in the file; absent when the file is invalid. */
  readonly array?: StoryArray;
  /** Where each entry of the list stands in `text`. */
  readonly spans: readonly Span[];
}

/** As `parseStoryFile`, for callers that go on to edit the text. */
export function parseStoryText(path: string, content: string | Uint8Array): ParsedStoryFile {
  const hash = createHash('sha256').update(content).digest('hex');
  const decoded = decode(content);
  const bom = decoded.text.startsWith(BOM) ? BOM : '';
  const text = decoded.text.slice(bom.length);
  const invalid = (problem: StoryProblem): ParsedStoryFile => ({
    file: { kind: 'invalid', path, problems: [problem], hash },
    text,
    bom,
    spans: [],
  });
  const lines = new TextLines(text);
  if (decoded.problem !== undefined) {
    const { offset, message } = decoded.problem;
    return invalid({ code: 'unreadable', message, ...lines.at(Math.max(0, offset - bom.length)) });
  }

  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    const error = findJsonError(text, lines) ?? { offset: 0, message: 'This is not valid JSON.' };
    return invalid({ code: 'invalidJson', message: error.message, ...lines.at(error.offset) });
  }
  const array = findStoryArray(root);
  if (array === undefined) {
    const place = lines.at(skipSpace(text, 0));
    return invalid({ code: 'noStories', message: noStoriesMessage(root), ...place });
  }

  const spans = findEntries(text, array.key);
  const startOf = (position: number) => spans[position]?.start ?? 0;
  const stories = array.entries.flatMap((entry, position) =>
    isEntry(entry) ? [readStory(entry, position, lines.at(startOf(position)).line)] : [],
  );
  const problems = findStoryProblems(stories, (story, fact) => {
    const start = startOf(story.position);
    const keys: readonly string[] = fact === 'id' ? ['id'] : DEPENDENCY_KEYS;
    const member = membersOf(text, start).find(({ key }) => keys.includes(key));
    return lines.at(member?.name.start ?? start);
  });
  const file: StoryFile = { kind: 'stories', path, ...readHeading(root), stories, problems, hash };
  return { file, text, bom, array, spans };
}

function findEntries(text: string, key: string | undefined): readonly Span[] {
  const start = skipSpace(text, 0);
  return key === undefined ? elementsOf(text, start) : elementsOfMember(text, start, key);
}

interface Decoded {
  readonly text: string;
  readonly problem?: { readonly offset: number; readonly message: string };
}

function decode(content: string | Uint8Array): Decoded {
  if (typeof content === 'string') {
    return { text: content };
  }
  const [first, second] = content;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    const message = 'The file is UTF-16 text: save it with the encoding UTF-8.';
    return { text: '', problem: { offset: 0, message } };
  }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content) };
  } catch {
    const message = 'The file is not UTF-8 text from here on: save it with the encoding UTF-8.';
    return notUtf8(content, message);
  }
}

/** Decodes what can be decoded, and finds the first place that cannot. */
function notUtf8(content: Uint8Array, message: string): Decoded {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(content);
  } catch {
    return { text: '', problem: { offset: 0, message: 'The file is too large for a story file.' } };
  }
  let bytes = 0;
  let from = 0;
  for (let at = text.indexOf('\uFFFD'); at !== -1; at = text.indexOf('\uFFFD', at + 1)) {
    bytes += Buffer.byteLength(text.slice(from, at));
    from = at;
    // A replacement character that was in the file stands there as these three bytes.
    if (content[bytes] !== 0xef || content[bytes + 1] !== 0xbf || content[bytes + 2] !== 0xbd) {
      return { text, problem: { offset: at, message } };
    }
  }
  return { text, problem: { offset: 0, message } };
}

function noStoriesMessage(root: unknown): string {
  const mend = 'Put the stories into a list "userStories", each with id, title and passes.';
  if (!isEntry(root)) {
    return Array.isArray(root)
      ? `The entries of this list do not look like stories (no passes, status, or id with title). ${mend}`
      : `The file holds a single value, not stories. ${mend}`;
  }
  if (typeof root.$schema === 'string' && isEntry(root.items ?? root.properties)) {
    return `This is a JSON schema, not a list of stories. ${mend}`;
  }
  const nested = ['phases', 'sprints', 'epics', 'milestones'].find(key => Array.isArray(root[key]));
  return nested === undefined
    ? `The file has no list of stories. ${mend}`
    : `The stories are nested in "${nested}", which this program does not run. ${mend}`;
}

function unreadable(path: string, message: string): InvalidStoryFile {
  const problem: StoryProblem = { code: 'unreadable', message, line: 1, column: 1 };
  // Nothing was read; the hash of no bytes differs from that of every story file.
  return { kind: 'invalid', path, problems: [problem], hash: createHash('sha256').digest('hex') };
}
