import { parseStoryFile, parseStoryText } from '../storyFile.ts';
import { editStoryDone } from './edit.ts';
import { entryOf } from './tickUndo.ts';

/**
 * Whether two versions of a story file differ only in which stories are done: setting these in the first one gives
 * exactly the second. Where a tick was taken back, the second has what stood there before, and setting it again gives
 * the first. Pure.
 *
 * @param path determines the format, as in `parseStoryFile`
 */
export function isTickDifference(path: string, before: string, after: string): boolean {
  const [old, now] = [parseStoryFile(path, before), parseStoryFile(path, after)];
  if (old.kind !== 'stories' || now.kind !== 'stories') {
    return false;
  }
  let edited = before;
  for (const { id, done, position } of now.stories) {
    const was = old.stories[position];
    if (was?.id !== id) {
      return false;
    }
    if (was.done !== done) {
      const wanted = entryIn(path, after, position);
      const ticked = editStoryDone(edited, { id, position }, done, path);
      edited =
        entryIn(path, ticked, position) === wanted
          ? ticked
          : withEntry(path, edited, position, wanted);
      const back = editStoryDone(after, { id, position }, was.done, path);
      if (edited !== ticked && entryIn(path, back, position) !== entryIn(path, before, position)) {
        return false;
      }
    }
  }
  return edited === after;
}

function entryIn(path: string, text: string, position: number): string {
  return entryOf(parseStoryText(path, text), position) ?? '';
}

function withEntry(path: string, content: string, position: number, entry: string): string {
  const { bom, spanOf, text } = parseStoryText(path, content);
  const { end, start } = spanOf(position);
  return bom + text.slice(0, start) + entry + text.slice(end);
}
