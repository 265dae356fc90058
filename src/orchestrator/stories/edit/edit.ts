import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { applyEdits, type Edit } from 'jsonc-parser';
import { HumanError } from '../../../base/humanError.ts';
import { numberId } from '../../../base/numberId.ts';
import { say } from '../../../base/say.ts';
import { plainText } from '../formats/plainText.ts';
import type { Story, StoryFile } from '../story.ts';
import { type ParsedStoryFile, parseStoryText } from '../storyFile.ts';
import { editFile, HalfWritten } from './fileEdit.ts';
import { type TickUndo, undoingEdits, undoOf } from './tickUndo.ts';
import { inWorkOrder, type Side } from './workOrder.ts';

/** Of a commit in a story file: enough for a large repository. */
const HASH_DIGITS = 10;

/** Identifies one story of a file. */
export interface StorySelector {
  readonly id: string;
  /** 0-based position in the list; distinguishes stories with the same id, and stories without an id. */
  readonly position?: number;
}

export interface SetStoryDoneOptions {
  /**
   * Hash of the list from which the story was selected. If the file has changed, positions are not valid any more,
   * and a story that only its position could identify is rejected instead of guessed.
   */
  readonly expectedHash?: string;
  /** Earlier ticks of the story: if its entry is as one of them left it, what stood there before is restored. */
  readonly undos?: readonly TickUndo[];
  /**
   * Finds the story in each version of the list, for one that others may change at the same time; without a result, the
   * selector counts.
   */
  readonly find?: (stories: readonly Story[]) => StorySelector | undefined;
}

/** The result of an edit. */
export interface StoryEdit {
  /** False if the file already had this status; then nothing was written. */
  readonly changed: boolean;
  /** SHA-256 of the file's bytes after the edit, hex. */
  readonly hash: string;
}

/** The result of a tick. */
export interface TickEdit extends StoryEdit {
  /** Takes it back. Absent if nothing was changed, or the edit is not a small one. */
  readonly undo?: TickUndo;
}

/**
 * Marks one story as done or not done in its own file, format and dialect; every other byte is unchanged. The write
 * is atomic, and only happens if the file has not changed since it was read; otherwise the edit is repeated on the
 * new content.
 *
 * @throws HumanError if there is no such file or story, the file is invalid, it cannot be written, or it keeps
 * changing. Nothing has been written then.
 */
export async function setStoryDone(
  path: string,
  selector: StorySelector,
  done: boolean,
  options: SetStoryDoneOptions = {},
): Promise<TickEdit> {
  let chosen: Story | undefined;
  let undo: TickUndo | undefined;
  const { changed, after } = await editFile(path, before => {
    const parsed = parseStoryText(path, before);
    const known = chosen;
    const { expectedHash, find } = options;
    const found = parsed.file.kind === 'stories' ? find?.(parsed.file.stories) : undefined;
    const story = findStory(
      parsed,
      found ?? selector,
      done,
      candidate =>
        found !== undefined ||
        (known === undefined
          ? expectedHash === undefined || expectedHash === parsed.file.hash
          : candidate.title === known.title),
    );
    chosen = story;
    const edited = editParsed(parsed, story, done, options.undos);
    undo = edited.undo;
    return Buffer.from(edited.text);
  });
  const hash = createHash('sha256').update(after).digest('hex');
  return { changed, hash, ...(changed && undo && { undo }) };
}

/**
 * The edit of `setStoryDone` on a text. Pure: returns the new text, or the same text if there is nothing to do.
 *
 * @param path determines the format, as in `parseStoryFile`
 * @throws HumanError if the text is not a valid story file, or the selector matches no story or several.
 */
export function editStoryDone(
  text: string,
  selector: StorySelector,
  done: boolean,
  path = 'prd.json',
): string {
  const parsed = parseStoryText(path, text);
  const story = findStory(parsed, selector, done, () => true);
  return parsed.bom + withDone(parsed, story, done).text;
}

/**
 * Adds commits to the list that a story's file has for them, abbreviated; every other byte is unchanged. Nothing is
 * written if the story has no such list, or already lists them.
 *
 * @throws HumanError like {@link setStoryDone}
 */
export async function listCommits(
  path: string,
  selector: StorySelector,
  hashes: readonly string[],
): Promise<StoryEdit> {
  const { changed, after } = await editFile(path, before =>
    Buffer.from(withCommits(parseStoryText(path, before), selector, hashes)),
  );
  return { changed, hash: createHash('sha256').update(after).digest('hex') };
}

/** The edit of {@link listCommits} on a text. Pure. */
export function withCommits(
  parsed: ParsedStoryFile,
  selector: StorySelector,
  hashes: readonly string[],
): string {
  const { bom, commits, file, text } = parsed;
  const { position } = findStory(parsed, selector, true, () => true);
  if (commits?.of(position) === undefined || file.kind === 'invalid') {
    return bom + text;
  }
  return bom + applyEdits(text, [...commits.edits(position, shortHashes(hashes))]);
}

/** Hashes as they are listed in a story file. */
export function shortHashes(hashes: readonly string[]): string[] {
  return hashes.map(hash => hash.slice(0, HASH_DIGITS));
}

/** Like {@link editStoryDone}, with the undo of the edit. */
export function tickText(
  text: string,
  selector: StorySelector,
  done: boolean,
  { path = 'prd.json', undos }: { readonly path?: string; readonly undos?: readonly TickUndo[] },
): { readonly text: string; readonly undo?: TickUndo } {
  const parsed = parseStoryText(path, text);
  return editParsed(
    parsed,
    findStory(parsed, selector, done, () => true),
    done,
    undos,
  );
}

/** The state that the person saw. */
export interface MoveStoryOptions {
  /** Hash of the displayed list; a file that has changed since is not modified. */
  readonly expectedHash?: string;
}

/**
 * Moves a story directly before or after another one, in the file's own format and dialect, see `StoryText.move`.
 * The write is atomic.
 *
 * @throws HumanError if the file has changed since, is invalid, cannot represent this order or cannot be written.
 * Nothing has been written then.
 */
export async function moveStory(
  path: string,
  selector: StorySelector,
  target: StorySelector,
  side: Side,
  options: MoveStoryOptions = {},
): Promise<StoryEdit> {
  const { changed, after } = await editFile(path, before => {
    const parsed = parseStoryText(path, before);
    if (options.expectedHash !== undefined && options.expectedHash !== parsed.file.hash) {
      throw new HumanError(
        say(
          '{0} has changed in the meantime, so nothing was moved. Check the list again, then move the story.',
          path,
        ),
      );
    }
    return Buffer.from(moveParsed(parsed, selector, target, side));
  });
  return { changed, hash: createHash('sha256').update(after).digest('hex') };
}

function moveParsed(
  parsed: ParsedStoryFile,
  selector: StorySelector,
  targetSelector: StorySelector,
  side: Side,
): string {
  const story = findStory(parsed, selector, true, () => true);
  const target = findStory(parsed, targetSelector, true, () => true);
  const { bom, file, move, text } = parsed;
  if (story === target || file.kind === 'invalid') {
    return bom + text;
  }
  const moved = move(story, target, side);
  if (!isReordered(file.stories, parseStoryText(file.path, moved).file, story, target, side)) {
    throw new HumanError(
      say(
        'Because of the way {0} is written, {1} cannot be moved automatically: move it in the file.',
        file.path,
        plainText(story.id),
      ),
    );
  }
  return bom + moved;
}

/** Whether all stories are still there, and the moved one is on the right side of the other. */
function isReordered(
  before: readonly Story[],
  after: StoryFile,
  story: Story,
  target: Story,
  side: Side,
): boolean {
  if (after.kind === 'invalid') {
    return false;
  }
  // A title that equals the id may just be a number, which has changed.
  const saying = ({ id, title, description, done, criteria }: Story) =>
    JSON.stringify([title === id ? '' : title, description, done, criteria]);
  const order = inWorkOrder(after.stories).map(saying);
  const [first, second] = side === 'before' ? [story, target] : [target, story];
  const isInOrder = order.indexOf(saying(first)) < order.lastIndexOf(saying(second));
  const known = before.map(saying).sort();
  return isInOrder && isDeepStrictEqual([...order].sort(), known);
}

/** `isTrusted`: whether the story at the selector's position is certain to be the intended one. */
function findStory(
  parsed: ParsedStoryFile,
  selector: StorySelector,
  done: boolean,
  isTrusted: (story: Story) => boolean,
): Story {
  const { file } = parsed;
  if (file.kind === 'invalid') {
    const [problem] = file.problems;
    throw new HalfWritten(
      say(
        '{0}, line {1}, column {2}: {3} Nothing was written.',
        join(file.path, problem.file ?? ''),
        problem.line,
        problem.column,
        problem.message,
      ),
    );
  }
  const same = file.stories.filter(story => story.id === selector.id);
  const [first, ...others] = same;
  if (first === undefined) {
    throw new HumanError(
      say(
        '{0} has no story {1} any more: it was removed or renamed. Choose it again in the list.',
        file.path,
        plainText(selector.id),
      ),
    );
  }
  const isNamed = first.id !== numberId(first.position);
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
      say(
        '{0} has changed, and its stories have no ids, so {1} may be another story now: choose it again in the list.',
        file.path,
        plainText(selector.id),
      ),
    );
  }
  if (position === undefined && same.every(story => story.done === done)) {
    // Whichever is meant, nothing has to be written.
    return first;
  }
  const words = [file.path, same.length, plainText(selector.id)] as const;
  // Of a folder, each story has a file of its own, and its line there says nothing.
  throw new HumanError(
    first.file === undefined
      ? say(
          '{0} has {1} stories with the id {2} (lines {3}): give each an id of its own.',
          ...words,
          same.map(story => story.line).join(', '),
        )
      : say(
          '{0} has {1} stories with the id {2} ({3}): give each an id of its own.',
          ...words,
          same.map(story => plainText(story.file ?? '')).join(', '),
        ),
  );
}

function editParsed(
  parsed: ParsedStoryFile,
  story: Story,
  done: boolean,
  undos: readonly TickUndo[] = [],
): { readonly text: string; readonly undo?: TickUndo } {
  const { bom } = parsed;
  const { edits, text } =
    restored(parsed, story, done, undoingEdits(parsed, story, undos)) ??
    withDone(parsed, story, done);
  const undo = undoOf(parsed, story, edits, text);
  return { text: bom + text, ...(undo && { undo }) };
}

/** The text with the entry as it was; `undefined` if that is not what is wanted, because it did not have this status. */
function restored(
  { file, text }: ParsedStoryFile,
  { id, position, done: wasDone }: Story,
  done: boolean,
  edits: readonly Edit[] | undefined,
) {
  if (edits === undefined || wasDone === done) {
    return undefined;
  }
  const before = applyEdits(text, [...edits]);
  const now = parseStoryText(file.path, before).file;
  const story =
    now.kind === 'stories' ? now.stories.find(one => one.position === position) : undefined;
  return story?.id === id && story.done === done ? { edits, text: before } : undefined;
}

function withDone({ text, edits }: ParsedStoryFile, story: Story, done: boolean) {
  const changes = story.done === done ? [] : edits(story, done);
  return { edits: changes, text: applyEdits(text, [...changes]) };
}
