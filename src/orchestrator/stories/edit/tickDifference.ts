import { parseStoryFile } from '../storyFile.ts';
import { editStoryDone } from './edit.ts';

/**
 * Whether two versions of a story file differ only in which stories are done: setting these in the first one gives
 * exactly the second. Pure.
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
      edited = editStoryDone(edited, { id, position }, done, path);
    }
  }
  return edited === after;
}
