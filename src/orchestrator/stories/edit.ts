import { createHash } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { applyEdits, type Edit } from 'jsonc-parser';
import { HumanError } from '../humanError.ts';
import { type Member, memberOf, membersOf, skipSpace } from './jsonOutline.ts';
import { plainText } from './plainText.ts';
import { DONE_KEYS, doneKeyOf, type Entry, isDone, isEntry, ownId } from './prdFormat.ts';
import { replaceFile } from './replaceFile.ts';
import { doneWord, openWord, type StatusUse, statusFollows } from './statusWord.ts';
import type { Story } from './story.ts';
import { type ParsedStoryFile, parseStoryText } from './storyFile.ts';

/** Names one story of a file. */
export interface StorySelector {
  readonly id: string;
  /** 0-based position in the list; tells apart stories of one id, and stories without an id. */
  readonly position?: number;
}

export interface SetStoryDoneOptions {
  /**
   * Hash of the list the story was chosen from. When the file is another one by now, positions no longer count,
   * and a story that only its position could identify is refused instead of guessed.
   */
  readonly expectedHash?: string;
}

/** What an edit did to the file. */
export interface StoryEdit {
  /** False when the file said so already; then nothing was written. */
  readonly changed: boolean;
  /** SHA-256 of the file's bytes after the edit, hex. */
  readonly hash: string;
}

// Milliseconds to go on trying: a file that is being written is whole again at once; a busy one needs longer.
const PATIENCE_INVALID = 300;
const PATIENCE_BUSY = 5000;

/**
 * Sets one story done or not done in its own file and dialect; every other byte stays. The write is atomic, and
 * made only when the file is still the one that was read; else the edit is made again on the new content.
 *
 * @throws HumanError when there is no such file or story, the file is not valid, it cannot be written, or it keeps
 * changing. Nothing has been written then.
 */
export async function setStoryDone(
  path: string,
  selector: StorySelector,
  done: boolean,
  options: SetStoryDoneOptions = {},
): Promise<StoryEdit> {
  // Writing goes to the target of a link, so that the link stays one.
  const target = await realpath(path).catch(error => {
    throw new HumanError(`There is no story file at ${path}: create it, or choose another one.`, {
      cause: error,
    });
  });
  return inTurn(target, () => editFile(target, path, selector, done, options));
}

/**
 * The edit of `setStoryDone` on a text. Pure: returns the new text, or the same one when there is nothing to do.
 *
 * @throws HumanError when the text is not a valid story file, or the selector fits no story or several.
 */
export function editStoryDone(text: string, selector: StorySelector, done: boolean): string {
  const parsed = parseStoryText('The story file', text);
  return editParsed(
    parsed,
    findStory(parsed, selector, done, () => true),
    done,
  );
}

async function editFile(
  target: string,
  path: string,
  selector: StorySelector,
  done: boolean,
  options: SetStoryDoneOptions,
): Promise<StoryEdit> {
  let chosen: Story | undefined;
  const begin = performance.now();
  for (;;) {
    try {
      const before = await readFile(target);
      const parsed = parseStoryText(path, before);
      const known = chosen;
      const story = findStory(parsed, selector, done, candidate =>
        known === undefined
          ? options.expectedHash === undefined || options.expectedHash === parsed.file.hash
          : candidate.title === known.title,
      );
      chosen = story;
      const after = Buffer.from(editParsed(parsed, story, done));
      if (after.equals(before)) {
        return { changed: false, hash: parsed.file.hash };
      }
      if (!(await replaceFile(target, before, after))) {
        throw new ChangedMeanwhile();
      }
      return { changed: true, hash: createHash('sha256').update(after).digest('hex') };
    } catch (error) {
      const waited = performance.now() - begin;
      if (waited >= patience(error)) {
        throw asHumanError(path, error);
      }
      // Unequal pauses, so that two writers do not go on meeting each other.
      await wait(5 + Math.random() * Math.min(50, 10 + waited));
    }
  }
}

/** The file is no longer the one the edit was made on. */
class ChangedMeanwhile extends Error {}

/** The file is not valid; perhaps only because somebody is in the middle of writing it. */
class InvalidFile extends HumanError {}

/** How many milliseconds other attempts are worth while. Windows refuses a rename while somebody reads the file. */
function patience(error: unknown): number {
  if (error instanceof InvalidFile) {
    return PATIENCE_INVALID;
  }
  const isLocked =
    process.platform === 'win32' && ['EPERM', 'EBUSY', 'EACCES'].includes(codeOf(error));
  return error instanceof ChangedMeanwhile || isLocked ? PATIENCE_BUSY : 0;
}

function asHumanError(path: string, error: unknown): HumanError {
  if (error instanceof HumanError) {
    return error;
  }
  if (error instanceof ChangedMeanwhile) {
    return new HumanError(
      `${path} keeps being changed by another program, so nothing was written: try again when that has ended.`,
    );
  }
  const code = codeOf(error);
  return new HumanError(
    code === 'ENOENT'
      ? `${path} was removed meanwhile: restore it, then try again.`
      : `${path} cannot be written (${code}): check the permissions of the file and its folder.`,
    { cause: error },
  );
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

const turns = new Map<string, Promise<unknown>>();

/** Edits of one file wait for each other in this process, instead of meeting and trying again. */
function inTurn<T>(target: string, task: () => Promise<T>): Promise<T> {
  const turn = (turns.get(target) ?? Promise.resolve()).then(task);
  const settled = turn.then(
    () => undefined,
    () => undefined,
  );
  turns.set(target, settled);
  void settled.then(() => {
    if (turns.get(target) === settled) {
      turns.delete(target);
    }
  });
  return turn;
}

/** `isTrusted` says whether a story at the selector's position can be taken for the one that was meant. */
function findStory(
  parsed: ParsedStoryFile,
  selector: StorySelector,
  done: boolean,
  isTrusted: (story: Story) => boolean,
): Story {
  const { file } = parsed;
  if (file.kind === 'invalid') {
    const [problem] = file.problems;
    throw new InvalidFile(
      `${file.path}, line ${problem.line}, column ${problem.column}: ${problem.message} Nothing was written.`,
    );
  }
  const same = file.stories.filter(story => story.id === selector.id);
  const [first, ...others] = same;
  if (first === undefined) {
    throw new HumanError(
      `${file.path} has no story ${plainText(selector.id)} any more: it was removed or renamed. Choose it again in the list.`,
    );
  }
  const isNamed = ownIdOf(parsed, first) !== undefined;
  if (isNamed && others.length === 0) {
    return first;
  }
  const position = selector.position ?? (isNamed ? undefined : first.position);
  const placed = same.find(story => story.position === position);
  if (placed !== undefined && isTrusted(placed)) {
    return placed;
  }
  if (!isNamed) {
    throw new HumanError(
      `${file.path} has changed, and its stories have no ids, so ${plainText(selector.id)} may be another story now: choose it again in the list.`,
    );
  }
  const affected = same.filter(story => story.done !== done);
  if (position === undefined && affected.length < 2) {
    return affected[0] ?? first;
  }
  throw new HumanError(
    `${file.path} has ${same.length} stories with the id ${plainText(selector.id)} (lines ${same.map(story => story.line).join(', ')}): give each an id of its own.`,
  );
}

function ownIdOf({ array }: ParsedStoryFile, story: Story): string | undefined {
  const entry = array?.entries[story.position];
  return isEntry(entry) ? ownId(entry) : undefined;
}

function editParsed(parsed: ParsedStoryFile, story: Story, done: boolean): string {
  const { text, bom, array, spans } = parsed;
  const entry = array?.entries[story.position];
  const start = spans[story.position]?.start;
  if (!isEntry(entry) || start === undefined || isDone(entry) === done) {
    return bom + text;
  }
  const others = (array?.entries ?? []).filter(other => other !== entry).filter(isEntry);
  const edits: Edit[] = [];
  const members = membersOf(text, start);
  for (const [key, value] of changes(entry, others, done)) {
    const member = memberOf(members, key);
    const content = JSON.stringify(value);
    edits.push(
      member === undefined
        ? insertion(text, start, members, key, content)
        : { offset: member.value.start, length: member.value.end - member.value.start, content },
    );
  }
  return bom + applyEdits(text, edits);
}

/** The keys to write, and their values: the one that decides, and those that would contradict it. */
function changes(
  entry: Entry,
  others: readonly Entry[],
  done: boolean,
): Map<string, boolean | string> {
  const key = doneKeyOf(entry) ?? usualDoneKey(others);
  const status = typeof entry.status === 'string' ? entry.status : undefined;
  const statuses = others.flatMap(statusUse);
  const word = () => (done ? doneWord(status, statuses) : openWord(status, statuses));
  if (key === 'status') {
    return new Map([['status', word()]]);
  }

  const values = new Map<string, boolean | string>();
  if (typeof entry[key] === 'object' && entry[key] !== null) {
    // A list or an object under a done key is somebody's data. `passes` is believed before any other key.
    if (key === 'passes') {
      throw new HumanError(
        'The story has a list or an object under "passes": write true or false there.',
      );
    }
    values.set('passes', done);
  } else {
    values.set(key, done);
  }
  for (const other of DONE_KEYS) {
    if (entry[other] === !done) {
      values.set(other, done);
    }
  }
  if (status !== undefined && statusFollows(status, done, statuses)) {
    values.set('status', word());
  }
  return values;
}

function statusUse(entry: Entry): StatusUse[] {
  if (typeof entry.status !== 'string') {
    return [];
  }
  const key = doneKeyOf(entry);
  return [
    key === 'status' ? { status: entry.status } : { status: entry.status, done: isDone(entry) },
  ];
}

/** The done key that most stories of the file have; `passes` where none has one. */
function usualDoneKey(entries: readonly Entry[]): (typeof DONE_KEYS)[number] | 'status' {
  const keys = entries.map(doneKeyOf);
  let best: (typeof DONE_KEYS)[number] | 'status' = 'passes';
  let most = 0;
  for (const key of [...DONE_KEYS, 'status'] as const) {
    const count = keys.filter(other => other === key).length;
    if (count > most) {
      best = key;
      most = count;
    }
  }
  return best;
}

/** A new last member, set apart from the one before it as that one is from its own predecessor. */
function insertion(
  text: string,
  start: number,
  members: readonly Member[],
  key: string,
  content: string,
): Edit {
  const last = members.at(-1);
  if (last === undefined) {
    return { offset: start + 1, length: 0, content: `${JSON.stringify(key)}: ${content}` };
  }
  const previous = members.at(-2);
  const separator =
    previous === undefined
      ? `,${text.slice(start + 1, skipSpace(text, start + 1))}`
      : text.slice(previous.value.end, last.name.start);
  const colon = text.slice(last.name.end, last.value.start);
  return {
    offset: last.value.end,
    length: 0,
    content: separator + JSON.stringify(key) + colon + content,
  };
}
