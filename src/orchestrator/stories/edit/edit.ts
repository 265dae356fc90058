import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { applyEdits } from 'jsonc-parser';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { plainText } from '../formats/plainText.ts';
import { numberId } from '../formats/storyFormat.ts';
import type { Story, StoryFile } from '../story.ts';
import { type ParsedStoryFile, parseStoryText } from '../storyFile.ts';
import { editFile, HalfWritten } from './fileEdit.ts';
import { inWorkOrder, type Side } from './workOrder.ts';

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

/**
 * Sets one story done or not done in its own file, format and dialect; every other byte stays. The write is atomic,
 * and made only when the file is still the one that was read; else the edit is made again on the new content.
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
  let chosen: Story | undefined;
  const { changed, after } = await editFile(path, before => {
    const parsed = parseStoryText(path, before);
    const known = chosen;
    const story = findStory(parsed, selector, done, candidate =>
      known === undefined
        ? options.expectedHash === undefined || options.expectedHash === parsed.file.hash
        : candidate.title === known.title,
    );
    chosen = story;
    return Buffer.from(editParsed(parsed, story, done));
  });
  return { changed, hash: createHash('sha256').update(after).digest('hex') };
}

/**
 * The edit of `setStoryDone` on a text. Pure: returns the new text, or the same one when there is nothing to do.
 *
 * @param path tells the format, as in `parseStoryFile`
 * @throws HumanError when the text is not a valid story file, or the selector fits no story or several.
 */
export function editStoryDone(
  text: string,
  selector: StorySelector,
  done: boolean,
  path = 'prd.json',
): string {
  const parsed = parseStoryText(path, text);
  const story = findStory(parsed, selector, done, () => true);
  return editParsed(parsed, story, done);
}

/** What a person saw when they chose. */
export interface MoveStoryOptions {
  /** Hash of the list that was shown; a file that is another one by now is left alone. */
  readonly expectedHash?: string;
}

/**
 * Gives a story its turn directly before or after another one, in the file's own format and dialect, see
 * `StoryText.move`. The write is atomic.
 *
 * @throws HumanError when the file has changed since, is not valid, cannot say this order or cannot be written.
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
          '{0} has changed meanwhile, so nothing was moved. Look at the list again, then move the story.',
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
        '{0} is written in a way that keeps {1} from being moved by a small edit: move it in the file.',
        file.path,
        plainText(story.id),
      ),
    );
  }
  return bom + moved;
}

/** Whether the same stories are there, and the moved one has its turn on the right side of the other. */
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
  // A title that is the id may be a mere number, which is another one now.
  const saying = ({ id, title, description, done, criteria }: Story) =>
    JSON.stringify([title === id ? '' : title, description, done, criteria]);
  const order = inWorkOrder(after.stories).map(saying);
  const [first, second] = side === 'before' ? [story, target] : [target, story];
  const isInOrder = order.indexOf(saying(first)) < order.lastIndexOf(saying(second));
  const known = before.map(saying).sort();
  return isInOrder && isDeepStrictEqual([...order].sort(), known);
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
    throw new HalfWritten(
      say(
        '{0}, line {1}, column {2}: {3} Nothing was written.',
        file.path,
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
    // Whichever is meant, nothing is to be written.
    return first;
  }
  throw new HumanError(
    say(
      '{0} has {1} stories with the id {2} (lines {3}): give each an id of its own.',
      file.path,
      same.length,
      plainText(selector.id),
      same.map(story => story.line).join(', '),
    ),
  );
}

function editParsed({ text, bom, edits }: ParsedStoryFile, story: Story, done: boolean): string {
  return bom + (story.done === done ? text : applyEdits(text, [...edits(story, done)]));
}
