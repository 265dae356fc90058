import { parseStoryText } from '../storyFile.ts';
import { editStoryDone, withCommits } from './edit.ts';
import { entryOf } from './tickUndo.ts';
import { missingCommits } from './yamlCommits.ts';

/**
 * Whether two versions of a story file differ only in which stories are done, and in the commits that are listed for
 * them: setting these in the first one gives exactly the second. Where a tick was taken back, the second has what stood
 * there before, and setting it again gives the first. Pure.
 *
 * @param path determines the format, as in `parseStoryFile`
 */
export function isTickDifference(path: string, before: string, after: string): boolean {
  const [first, last] = [parseStoryText(path, before), parseStoryText(path, after)];
  const [old, now] = [first.file, last.file];
  if (old.kind !== 'stories' || now.kind !== 'stories') {
    return false;
  }
  let edited = before;
  for (const { id, done, position } of now.stories) {
    const was = old.stories[position];
    if (was?.id !== id) {
      return false;
    }
    const known = first.commits?.of(position) ?? [];
    const commits = done ? missingCommits(known, last.commits?.of(position) ?? []) : [];
    if (was.done !== done) {
      const wanted = entryIn(path, after, position);
      const ticked = listed(path, editStoryDone(edited, { id, position }, done, path), {
        ...{ id, position, commits },
      });
      edited =
        entryIn(path, ticked, position) === wanted
          ? ticked
          : withEntry(path, edited, position, wanted);
      const back = editStoryDone(after, { id, position }, was.done, path);
      if (edited !== ticked && entryIn(path, back, position) !== entryIn(path, before, position)) {
        return false;
      }
    } else if (commits.length > 0) {
      edited = listed(path, edited, { id, position, commits });
    }
  }
  return edited === after;
}

function listed(
  path: string,
  text: string,
  { commits, ...selector }: { id: string; position: number; commits: readonly string[] },
): string {
  return commits.length === 0 ? text : withCommits(parseStoryText(path, text), selector, commits);
}

function entryIn(path: string, text: string, position: number): string {
  return entryOf(parseStoryText(path, text), position) ?? '';
}

function withEntry(path: string, content: string, position: number, entry: string): string {
  const { bom, spanOf, text } = parseStoryText(path, content);
  const { end, start } = spanOf(position);
  return bom + text.slice(0, start) + entry + text.slice(end);
}
