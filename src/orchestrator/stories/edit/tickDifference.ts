import { applyEdits, type Edit } from 'jsonc-parser';
import type { Story } from '../story.ts';
import { type ParsedStoryFile, parseStoryText } from '../storyFile.ts';
import { editStoryDone, shortHashes, withCommits } from './edit.ts';
import { entryOf } from './tickUndo.ts';
import { missingCommits } from './yamlCommits.ts';

/** What has happened to a story between two versions. */
interface Change {
  readonly was: Story;
  readonly now: Story;
  readonly commits: readonly string[];
}

/**
 * Whether two versions of a story file differ only in which stories are done, and in the commits that are listed for
 * them: setting these in the first one gives exactly the second. Where a tick was taken back, the second has what stood
 * there before, and setting it again gives the first. Pure; the files are parsed a few times, however many ticks there
 * are.
 *
 * @param path determines the format, as in `parseStoryFile`
 */
export function isTickDifference(path: string, before: string, after: string): boolean {
  if (before === after) {
    return parseStoryText(path, before).file.kind === 'stories';
  }
  const [first, last] = [parseStoryText(path, before), parseStoryText(path, after)];
  const changes = changesOf(first, last);
  if (changes === undefined) {
    return false;
  }
  const ticked = tickedText(first, changes);
  if (ticked === after) {
    return true;
  }
  const made = parseStoryText(path, ticked);
  const others = changes.filter(
    ({ now: { position } }) => entryOf(made, position) !== entryOf(last, position),
  );
  if (others.some(({ now, was }) => now.done === was.done)) {
    return false;
  }
  const reverse = others.map(({ now, was }) => ({ was: now, now: was, commits: [] }));
  const back = parseStoryText(path, tickedText(last, reverse));
  return (
    others.every(({ now: { position } }) => entryOf(back, position) === entryOf(first, position)) &&
    withEntries(made, last, others) === after
  );
}

/** @returns `undefined` if the versions do not have the same stories */
function changesOf(first: ParsedStoryFile, last: ParsedStoryFile): readonly Change[] | undefined {
  if (first.file.kind !== 'stories' || last.file.kind !== 'stories') {
    return undefined;
  }
  const { stories } = first.file;
  if (stories.length !== last.file.stories.length) {
    return undefined;
  }
  const changes: Change[] = [];
  // In the same order: a position also counts entries that are no stories.
  for (const [index, now] of last.file.stories.entries()) {
    const was = stories[index];
    if (was?.id !== now.id || was.position !== now.position) {
      return undefined;
    }
    const { done, position } = now;
    const known = first.commits?.of(position) ?? [];
    const commits = done ? missingCommits(known, last.commits?.of(position) ?? []) : [];
    if (was.done !== done || commits.length > 0) {
      changes.push({ was, now, commits });
    }
  }
  return changes;
}

/** The text with all changes, by one edit where they do not meet. */
function tickedText(parsed: ParsedStoryFile, changes: readonly Change[]): string {
  const { bom, commits: listed, edits, file, text } = parsed;
  const all = changes
    .flatMap(({ commits, now, was }) => [
      ...(was.done === now.done ? [] : edits(was, now.done)),
      ...(commits.length === 0 ? [] : (listed?.edits(now.position, shortHashes(commits)) ?? [])),
    ])
    .sort((a, b) => a.offset - b.offset);
  if (!haveContact(all)) {
    return bom + applyEdits(text, all);
  }
  return changes.reduce((before, { commits, now: { done, id, position }, was }) => {
    const ticked =
      was.done === done ? before : editStoryDone(before, { id, position }, done, file.path);
    return commits.length === 0
      ? ticked
      : withCommits(parseStoryText(file.path, ticked), { id, position }, commits);
  }, bom + text);
}

/** Whether two of these edits, sorted by place, change the same characters, or add something at the same place. */
function haveContact(edits: readonly Edit[]): boolean {
  return edits.some(({ offset }, index) => {
    const last = edits[index - 1];
    return last !== undefined && offset < last.offset + Math.max(1, last.length);
  });
}

/** The text of one version with the entries of another one for these stories. */
function withEntries(
  { bom, spanOf, text }: ParsedStoryFile,
  other: ParsedStoryFile,
  changes: readonly Change[],
): string {
  const edits = changes
    .map(({ now: { position } }) => {
      const { end, start } = spanOf(position);
      return { offset: start, length: end - start, content: entryOf(other, position) ?? '' };
    })
    .sort((a, b) => a.offset - b.offset);
  // An entry that has another one in it has that one's changes, too.
  const outer = edits.filter(
    ({ offset }, index) => !edits.slice(0, index).some(one => offset < one.offset + one.length),
  );
  return bom + applyEdits(text, outer);
}
