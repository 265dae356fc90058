import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { decodeText } from '../../base/decodeText.ts';
import { HumanError } from '../../base/humanError.ts';
import { englishOf, type Message, say, sentences, type Words } from '../../base/say.ts';
import { backlog } from './formats/backlogFormat.ts';
import { ofFile } from './formats/backlogProblems.ts';
import { folderParts } from './formats/folderText.ts';
import {
  foreignAdvice,
  hasPlaceForStories,
  misspelledListPlace,
  unknownFileAdvice,
} from './formats/foreignFile.ts';
import { formatOf } from './formats/formatOf.ts';
import { findTooDeep } from './formats/nesting.ts';
import { isStoryText, type StoryText } from './formats/storyFormat.ts';
import { TextLines } from './formats/textLines.ts';
import { outsideProblem } from './outsideLinks.ts';
import type {
  InvalidStoryFile,
  StoryFile,
  StoryFormatName,
  StoryList,
  StoryProblem,
} from './story.ts';
import { isStoryFolder, readFolder, tasksAsideProblems, tasksProblem } from './storyFolder.ts';
import { isNamedLikeStories } from './storyPlaces.ts';
import { placedNeeds } from './unknownNeeds.ts';

const MEGABYTE = 1024 * 1024;
/** Size limit for story files, in bytes: thousands of stories. */
export const MAX_STORY_FILE_BYTES = 8 * MEGABYTE;

/**
 * Reads a story file. Its problems, and read errors, are part of the result.
 * @returns `undefined` if there is no file at `path`
 */
export async function readStoryFile(path: string): Promise<StoryFile | undefined> {
  const content = await readContent(path);
  return Buffer.isBuffer(content) ? withTasksAside(parseOnce(path, content)) : content;
}

/** A folder with the problems that some of its tasks are where they are not read; any other story file as it is. */
export async function withTasksAside(file: StoryFile): Promise<StoryFile> {
  const isFolder = file.format === backlog.name && isStoryFolder(file.path);
  const aside = isFolder ? await tasksAsideProblems(file.path) : [];
  const [reason, ...rest] = aside;
  if (reason === undefined) {
    return file;
  }
  if (file.kind === 'stories') {
    return { ...file, problems: [...file.problems, ...aside] };
  }
  const [first, ...others] = file.problems;
  // Of a folder that has nothing else, it is the reason.
  return first.code === 'noStories' && first.file === undefined
    ? { ...file, problems: [{ ...reason, code: 'noStories' }, ...rest] }
    : { ...file, problems: [first, ...others, ...aside] };
}

/** The bytes of a story file; `undefined` if there is none, or it must not or cannot be read. */
export async function readStoryBytes(path: string): Promise<Buffer | undefined> {
  const content = await readContent(path);
  return Buffer.isBuffer(content) ? content : undefined;
}

/**
 * Like {@link readStoryBytes}, for a file that must be readable if it is there.
 * @returns `undefined` if there is none
 * @throws {HumanError} if it must not or cannot be read
 */
export async function readStoryBytesOrThrow(path: string): Promise<Buffer | undefined> {
  const content = await readContent(path);
  if (content === undefined || Buffer.isBuffer(content)) {
    return content;
  }
  throw new HumanError(content.problems[0].message);
}

/**
 * The bytes of a folder of stories.
 * @throws {HumanError} if it must not be read
 */
export async function readFolderOrThrow(folder: string): Promise<Buffer> {
  const content = await readFolder(folder, MAX_STORY_FILE_BYTES);
  if (!Buffer.isBuffer(content)) {
    throw new HumanError(content.problem);
  }
  return content;
}

/** @returns the bytes, or what makes them unreadable; `undefined` if there is no file at `path` */
async function readContent(path: string): Promise<Buffer | InvalidStoryFile | undefined> {
  try {
    const problem = astray(path);
    if (problem !== undefined) {
      return problem;
    }
    const found = await stat(path);
    if (found.isDirectory() && isStoryFolder(path)) {
      const content = await readFolder(path, MAX_STORY_FILE_BYTES);
      return Buffer.isBuffer(content) ? content : unreadable(path, content.problem);
    }
    return unfit(path, found) ?? (await readFile(path));
  } catch (error) {
    return unreadableBy(error, path);
  }
}

/**
 * Like {@link readStoryFile}, for a file that somebody has named.
 * @throws {HumanError} if there is no file at `path`
 */
export async function readStoryFileOrThrow(path: string): Promise<StoryFile> {
  const file = await readStoryFile(path);
  if (file === undefined) {
    throw new HumanError(noStoryFile(path));
  }
  return file;
}

/** The stories of a file; `undefined` if there is none, or it cannot be read. */
export async function readStoryList(path: string): Promise<StoryList | undefined> {
  const file = await readStoryFile(path);
  return file?.kind === 'stories' ? file : undefined;
}

/** The message for a missing story file. */
export function noStoryFile(path: string): Message {
  return say('There is no story file at {0}. Create it, or name another one.', path);
}

/** A problem with its line, and its file in a folder; without a line if nothing of the file could be read. */
export function problemWords({
  code,
  column,
  file,
  line,
  message,
}: Pick<StoryProblem, 'column' | 'file' | 'line' | 'message'> & {
  readonly code: string;
}): Message {
  if (file !== undefined) {
    return say('{0}, line {1}: {2}', file, line, message);
  }
  const isWhole = code === 'unreadable' && line === 1 && column === 1;
  return isWhole ? message : say('Line {0}: {1}', line, message);
}

/** Words of {@link problemWords} after the path, unless they already name it. */
export function problemOfFile(path: string, words: Words): Words {
  return englishOf(words).includes(path) ? words : say('{0}: {1}', path, words);
}

/**
 * What must hold before a story file is written: it can be read again.
 * @param bytes its size
 * @param advice how its stories become fewer
 * @throws {HumanError} with both sizes
 */
export function requireReadableSize(
  path: string,
  bytes: number,
  advice: Message = say('Move finished stories to another file.'),
): void {
  if (bytes > MAX_STORY_FILE_BYTES) {
    throw new HumanError(
      sentences([
        say(
          '{0} would have {1} MB, and larger story files than {2} MB are not read, so nothing was written.',
          // Rounded up, so that it is never the limit itself.
          ...[path, Math.ceil((bytes / MEGABYTE) * 10) / 10, MAX_STORY_FILE_BYTES / MEGABYTE],
        ),
        advice,
      ]),
    );
  }
}

/** The message for a pipe or a device in the place of a story file. */
export function pipeProblem(path: string): Message {
  return say('{0} is a pipe or a device, not a file: put the stories into a file.', path);
}

/** The problem if the file is outside of the repository, so that it is not read. */
function astray(path: string): InvalidStoryFile | undefined {
  const problem = outsideProblem(path);
  return problem === undefined ? undefined : unreadable(path, problem);
}

/** The problem if the file must not be opened; opening a named pipe would wait for a writer forever. */
function unfit(path: string, found: Stats): InvalidStoryFile | undefined {
  if (!found.isFile()) {
    return unreadable(
      path,
      found.isDirectory()
        ? (tasksProblem(path) ??
            say('{0} is a folder, not a file: put the stories into a file, and name that.', path))
        : pipeProblem(path),
    );
  }
  return found.size > MAX_STORY_FILE_BYTES
    ? unreadable(
        path,
        say(
          '{0} is larger than {1} MB: move finished stories to another file.',
          path,
          MAX_STORY_FILE_BYTES / MEGABYTE,
        ),
      )
    : undefined;
}

/** @returns `undefined` if there is no such file */
function unreadableBy(error: unknown, path: string): InvalidStoryFile | undefined {
  const code =
    error instanceof Error && 'code' in error ? String(error.code) : say('unknown error');
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return undefined;
  }
  return unreadable(
    path,
    say('{0} cannot be read ({1}): check its permissions and its size.', path, code),
  );
}

function parseOnce(path: string, content: Buffer): StoryFile {
  const isCurrent = lastRead?.file.path === path && lastRead.content.equals(content);
  if (lastRead === undefined || !isCurrent || Date.now() - lastRead.at > MAX_AGE_MS) {
    lastRead = { content, file: parseStoryFile(path, content), at: Date.now() };
  }
  return lastRead.file;
}

/** A cache of the last result, because the loop reads its story file several times between two changes. */
let lastRead:
  | { readonly content: Buffer; readonly file: StoryFile; readonly at: number }
  | undefined;

/** An issue of Beads that is deferred until a time becomes ready without a change of its file. */
const MAX_AGE_MS = 60_000;

/** The `hash` of a story file with these bytes. */
export function storyFileHash(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Parses the content of a story file, as text or as bytes. Never throws. Pure, except for `rootAsRead`. */
export function parseStoryFile(path: string, content: string | Uint8Array): StoryFile {
  return parseStoryText(path, content).file;
}

/** A story file with the data needed to edit its text. */
export interface ParsedStoryFile extends Pick<StoryText, 'commits' | 'lists' | 'parts'> {
  readonly file: StoryFile;
  /** The text without its byte order mark. */
  readonly text: string;
  /** The byte order mark, or ''. */
  readonly bom: string;
  /** Edits of `text`; none if the file is invalid. See `StoryText`. */
  readonly edits: StoryText['edits'];
  /** Where a story is in `text`; empty if the file is invalid. See `StoryText`. */
  readonly spanOf: StoryText['spanOf'];
  /** The edits of `text` that add a story; absent if there is no place for one. See `StoryText`. */
  readonly add?: StoryText['add'] | undefined;
  /** See `StoryText`. */
  readonly nextId?: StoryText['nextId'] | undefined;
  /** `text` with a story moved; unchanged if the file is invalid. See `StoryText`. */
  readonly move: StoryText['move'];
}

/** Like `parseStoryFile`, for callers that will edit the text. */
export function parseStoryText(path: string, content: string | Uint8Array): ParsedStoryFile {
  const hash = storyFileHash(content);
  const { text, bom, problem } = decodeText(content);
  const format = formatOf(path, text);
  const lines = new TextLines(text);
  const unusable = problem ?? findTooDeep(text, format.name);
  const read =
    unusable === undefined
      ? format.read(text, lines)
      : ofFile(
          { code: 'unreadable', message: unusable.message, ...lines.at(unusable.offset) },
          { lines, parts: folderParts(text) },
        );
  if (!isStoryText(read)) {
    const problems = [advised(read, path, text, format.name)] as const;
    const file: StoryFile = { kind: 'invalid', format: format.name, path, problems, hash };
    return {
      ...{ file, text, bom, edits: () => [], spanOf: () => ({ start: 0, end: 0 }) },
      move: () => text,
    };
  }
  const { hasPhases, heading, problems, stories, ...ways } = read;
  return {
    file: {
      kind: 'stories',
      format: format.name,
      path,
      ...heading,
      stories,
      problems: placedNeeds(problems, ways.parts, lines),
      hash,
      ...(hasPhases && { hasPhases }),
    },
    text,
    bom,
    ...ways,
  };
}

/** Nobody should rewrite a file of another tool because it has no stories, or comments as in settings. */
function advised(
  problem: StoryProblem,
  path: string,
  text: string,
  format: StoryFormatName,
): StoryProblem {
  const { code } = problem;
  if (code === 'invalidYaml' && /^(?:phases|tasks):/m.test(text)) {
    // Whoever made it, it has stories, and the place of the error helps more.
    return problem;
  }
  if (
    code === 'noStories' &&
    /(?:^|[\\/])\.ralphy[\\/]tasks\.ya?ml$/.test(path) &&
    problem.isPlaced !== true &&
    problem.line === 1
  ) {
    return {
      ...problem,
      message: say(
        'This list of ralphy has no tasks that can be read. Write each below "tasks:" as "- title: …", with "completed: false".',
      ),
    };
  }
  const advice =
    code === 'noStories' || code === 'invalidYaml'
      ? foreignAdvice(path, text)
      : code === 'invalidJson'
        ? // A list of stories that is broken can be repaired, also if it looks like another one.
          foreignAdvice(path, undefined)
        : undefined;
  if (advice !== undefined) {
    const place = misspelledListPlace(path, text, new TextLines(text));
    return { code, message: advice, ...(place ?? { line: 1, column: 1 }) };
  }
  const isUnknown =
    (code === 'noStories' && !OF_ONE_TOOL.has(format)) ||
    (code === 'invalidJson' && !isMeantAsJson(path, text));
  // An item that is almost one shows what the file is meant as.
  const isMeantAsPlan = format === 'plan' && problem.isPlaced === true;
  return isUnknown && !isMeantAsPlan && !isNamedLikeStories(path) && !hasPlaceForStories(path, text)
    ? { code: 'noStories' as const, message: unknownFileAdvice(), line: 1, column: 1 }
    : problem;
}

/** Formats that no other file is taken for: their own words say what to do. */
const OF_ONE_TOOL: ReadonlySet<StoryFormatName> = new Set<StoryFormatName>([
  ...(['backlog', 'bmad', 'specsIndex', 'taskMaster', 'tasks'] as const),
]);

function isMeantAsJson(path: string, text: string): boolean {
  // In TOML, a heading is in brackets, too.
  return /\.(?:json[cl5]?|ndjson)$/i.test(path) || /^\s*(?:\{|\[\s*(?:[{"\]/]|$))/.test(text);
}

function unreadable(path: string, message: Message): InvalidStoryFile {
  const problem: StoryProblem = { code: 'unreadable', message, line: 1, column: 1 };
  // Nothing was read; the hash of an empty file differs from that of every story file.
  const hash = createHash('sha256').digest('hex');
  return { kind: 'invalid', format: formatOf(path, '').name, path, problems: [problem], hash };
}
