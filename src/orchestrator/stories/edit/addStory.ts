import { isDeepStrictEqual } from 'node:util';
import { applyEdits } from 'jsonc-parser';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { notedReport } from '../reportNote.ts';
import type { Story } from '../story.ts';
import { type ParsedStoryFile, parseStoryText, problemOfFile, problemWords } from '../storyFile.ts';
import { addByHand } from './addByHand.ts';
import { editFile, HalfWritten } from './fileEdit.ts';
import { inertText } from './inertLine.ts';
import { type NewStory, titleKey } from './newStory.ts';

/**
 * Adds a story to its file, in the file's own format and dialect; every other byte is unchanged. The write is atomic.
 * A story with this id and title, or made of this report, that is there already is not added again.
 *
 * @returns the id in the file: another one if a story has it already, or if the tool of the file numbers its stories
 * @throws {HumanError} if the file cannot be read, has another story with this title, or has no place for it; then the
 * message says what to write by hand
 */
export async function addStory(
  path: string,
  story: NewStory,
): Promise<{ readonly storyId: string; readonly changed: boolean }> {
  let storyId = story.id;
  const { changed } = await editFile(path, before => {
    const added = addToText(path, before, { ...story, at: new Date() });
    storyId = added.storyId;
    return Buffer.from(added.text);
  });
  return { storyId, changed };
}

/** The edit of {@link addStory} on a text. Pure. */
export function addToText(
  path: string,
  content: string | Uint8Array,
  story: NewStory,
): { readonly text: string; readonly storyId: string } {
  const parsed = parseStoryText(path, content);
  const { bom, file, text } = parsed;
  if (file.kind === 'invalid') {
    throw new HalfWritten(problemOfFile(path, problemWords(file.problems[0])));
  }
  const known = file.stories.find(one =>
    one.id === story.id
      ? [story.title, inertText(story.title)].some(title => one.title.includes(title))
      : notedReport(one) === story.id,
  );
  if (known !== undefined) {
    return { text: bom + text, storyId: known.id };
  }
  requireNoTwin(path, file.stories, story);
  const storyId = parsed.nextId?.(story) ?? freeId(story.id, file.stories);
  const report = storyId === story.id ? undefined : story.id;
  const after = withStory(parsed, { ...story, id: storyId, report });
  if (after === undefined || !isOnlyAddition(path, file.stories, after, storyId)) {
    throw new HumanError(addByHand(file.format, path, story));
  }
  return { text: bom + after, storyId };
}

/** @throws {HumanError} if a story with this title is there already, which somebody wrote or another report became */
export function requireNoTwin(path: string, stories: readonly Story[], story: NewStory): void {
  const key = titleKey(story);
  const twin = stories.find(one => key !== '' && titleKey(one) === key);
  if (twin !== undefined) {
    throw new HumanError(
      say(
        '{0} has the story {1} with this title already. If it is the same work: ralph-fresh discovered drop {2}. If it is other work, give one of them another title.',
        path,
        twin.id,
        story.id,
      ),
    );
  }
}

/** Whether {@link addStory} has a place in such a file; `undefined` if it cannot be read. Pure. */
export function takesStories(path: string, content: string | Uint8Array): boolean | undefined {
  const { add, file } = parseStoryText(path, content);
  return file.kind === 'invalid' ? undefined : add !== undefined;
}

function withStory({ add, text }: ParsedStoryFile, story: NewStory): string | undefined {
  const edits = add?.(story) ?? [];
  return edits.length === 0 ? undefined : applyEdits(text, [...edits]);
}

/** Whether all other stories are as before, also in their order. */
function isOnlyAddition(path: string, before: readonly Story[], text: string, id: string): boolean {
  const { file } = parseStoryText(path, text);
  if (file.kind === 'invalid') {
    return false;
  }
  const added = file.stories.find(story => story.id === id);
  const others = file.stories.filter(story => story !== added);
  const isWaiting = added !== undefined && !added.done && added.parked !== true;
  return isWaiting && isDeepStrictEqual(others.map(withoutPlace), before.map(withoutPlace));
}

/** Where a story is in the file changes if another one is added before it. */
function withoutPlace(story: Story): Story {
  return { ...story, position: 0, line: 0 };
}

function freeId(id: string, stories: readonly Story[]): string {
  const used = new Set(stories.map(story => story.id));
  let free = id;
  for (let n = 2; used.has(free); n++) {
    free = `${id}-${n}`;
  }
  return free;
}
