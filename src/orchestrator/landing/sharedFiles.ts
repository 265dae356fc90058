import { decodeText } from '../../base/decodeText.ts';
import { HumanError } from '../../base/humanError.ts';
import { isNumberId, numberId } from '../../base/numberId.ts';
import { type Message, say } from '../../base/say.ts';
import { editStoryDone, type StorySelector } from '../stories/edit/edit.ts';
import { isTickDifference } from '../stories/edit/tickDifference.ts';
import { isFolderPath, packFolder } from '../stories/formats/folderText.ts';
import type { Story } from '../stories/story.ts';
import { parseStoryFile } from '../stories/storyFile.ts';
import { storyNow } from '../stories/storyNow.ts';

/**
 * The files that all agents change. They are merged by meaning, so that two agents never conflict in them. Both
 * paths are relative to the repository's top folder, with forward slashes.
 */
export interface SharedFiles {
  readonly storyFile?: string;
  readonly progressFile?: string;
}

/** The story of an agent, as it was in the list that the agent got. */
export interface LandingStory {
  readonly id: string;
  /** 0-based position in that list. */
  readonly position: number;
  /** Recognizes a story without an id of its own if the list has changed since. */
  readonly title?: string;
  /** Its heading; the same for several of one title. */
  readonly epic?: string;
}

/** A story file with a tick, or the reason why it has none. */
export type Ticked = { readonly content: Buffer } | { readonly notTicked: Message };

const NO_OTHERS = { completed: [], unread: [] };

/** The paths that there are. */
export function sharedPaths({ progressFile, storyFile }: SharedFiles): string[] {
  return [storyFile, progressFile].filter(path => path !== undefined);
}

/** Whether a path is that of a shared file, or of one in a folder of stories. */
export function isShared(shared: SharedFiles, path: string): boolean {
  return sharedPaths(shared).includes(path) || inFolder(shared, path) !== undefined;
}

/** The path of a task or a setting from the folder of stories; `undefined` for other paths. */
function inFolder({ storyFile }: SharedFiles, path: string): string | undefined {
  const name =
    storyFile !== undefined && path.startsWith(`${storyFile}/`)
      ? path.slice(storyFile.length + 1)
      : undefined;
  return name !== undefined && isFolderPath(name) ? name : undefined;
}

/**
 * Marks a story as done in a version of the story file that may be newer than the one that the agent got. One that only
 * the file in a person's folder has, who did not commit it, has no tick to get here. Pure; never throws.
 * @param path determines the format
 */
export function withTick(content: Buffer, path: string, story: LandingStory): Ticked {
  const { bom, problem, text } = decodeText(content);
  if (problem !== undefined) {
    return { notTicked: problem.message };
  }
  try {
    const file = parseStoryFile(path, text);
    if (
      file.kind === 'stories' &&
      (isAbsent(file.stories, story) || isUntitled(file.stories, story))
    ) {
      return { content };
    }
    const selector = placeNow(path, file.kind === 'invalid' ? [] : file.stories, story);
    return { content: Buffer.from(editStoryDone(bom + text, selector, true, path)) };
  } catch (error) {
    if (error instanceof HumanError) {
      return { notTicked: error.said };
    }
    throw error;
  }
}

/**
 * Where a story is now in a list, for an edit.
 * @throws {HumanError} if another story may be there now
 */
export function placeNow(
  path: string,
  stories: readonly Story[],
  story: LandingStory,
): StorySelector & { readonly done?: boolean } {
  const found = storyNow(stories, story);
  if (found !== undefined) {
    return found;
  }
  if (isAbsent(stories, story)) {
    // The edit says that it is gone.
    return story;
  }
  throw new HumanError(
    say(
      '{0} has changed, and it is not certain any more which of its stories {1} is.',
      path,
      story.id,
    ),
  );
}

/** Whether no story of a list can be one that only its title recognizes. */
function isUntitled(stories: readonly Story[], { id, title }: LandingStory): boolean {
  return isNumberId(id) && title !== undefined && !stories.some(story => story.title === title);
}

function isAbsent(stories: readonly Story[], { id: sought }: LandingStory): boolean {
  return !isNumberId(sought) && !stories.some(({ id }) => id === sought);
}

/**
 * A story file with the ticks of another version: all stories are done that are done there and were not done in the
 * version that both come from. A story that cannot be found any more is left out. Pure; never throws.
 */
export function withTicksOf(
  ours: Buffer,
  path: string,
  { base, theirs }: { readonly base: Buffer | undefined; readonly theirs: Buffer },
): Buffer {
  const before = base === undefined ? undefined : parseStoryFile(path, base);
  const after = parseStoryFile(path, theirs);
  if (after.kind === 'invalid') {
    return ours;
  }
  const doneBefore = new Set(
    before?.kind === 'stories' ? before.stories.filter(({ done }) => done).map(keyOf) : [],
  );
  return after.stories
    .filter(story => story.done && !doneBefore.has(keyOf(story)))
    .reduce((content, story) => {
      const ticked = withTick(content, path, story);
      return 'content' in ticked ? ticked.content : content;
    }, ours);
}

/**
 * Whether a person's version of a shared file fits a landing as it is: the landing has only set ticks of stories that
 * the person's list has, too, or only appended to a log to which the person has only appended. Then it may stay in the
 * work tree while the branch moves. Pure; never throws.
 * @param versions before the landing, after it, and in the work tree
 * @param settings of a folder of stories, by path from there
 */
export function fitsLanding(
  shared: SharedFiles,
  path: string,
  { after, before, mine }: Readonly<Record<'before' | 'after' | 'mine', Buffer>>,
  settings: ReadonlyMap<string, Buffer> = new Map(),
): boolean {
  if (path === shared.progressFile) {
    const [old, now, own] = [before, after, mine].map(content => lineText(content));
    return [now, own].every(text => text?.startsWith(old ?? '') === true);
  }
  const name = inFolder(shared, path);
  // A task alone, with the states that it has before and after: only what these mean is of interest.
  const asList = (content: Buffer) =>
    name === undefined
      ? content
      : packFolder({ ...NO_OTHERS, files: new Map([[name, content], ...settings]) });
  const [from, to] = [before, after].map(content => lineText(asList(content)));
  const isStories = path === shared.storyFile || name !== undefined;
  if (!isStories || !isTickDifference(path, from ?? '', to ?? '')) {
    return false;
  }
  const [old, now, own] = [before, after, mine].map(content => {
    const list = parseStoryFile(path, asList(content));
    return list.kind === 'stories' ? list.stories : undefined;
  });
  const wasDone = new Set(old?.filter(({ done }) => done).map(keyOf));
  const listed = new Set(own?.map(keyOf));
  return (
    now?.every(story => !story.done || wasDone.has(keyOf(story)) || listed.has(keyOf(story))) ===
    true
  );
}

/** The work tree may have other line ends than a commit. */
function lineText(content: Buffer): string {
  return content.toString('utf8').replaceAll('\r\n', '\n');
}

/** Recognizes a story in two versions of a list. */
function keyOf({ id, position, title }: Story): string {
  return id === numberId(position) ? `title ${title}` : `id ${id}`;
}

/**
 * A progress log with new text at its end, with the log's own line endings, and with a blank line before it if the
 * log or the text has blank lines. Pure. Without new text, every byte is the same.
 */
export function withEntries(log: Buffer, added: string): Buffer {
  const lines = added.split(/\r\n|\r|\n/);
  const first = lines.findIndex(line => line.trim() !== '');
  if (first === -1) {
    return log;
  }
  const last = lines.findLastIndex(line => line.trim() !== '');
  const before = log.toString('latin1');
  const eol = before.includes('\r\n') ? '\r\n' : '\n';
  const text = lines.slice(first, last + 1).join(eol) + eol;
  if (/^(?:\xef\xbb\xbf)?\s*$/.test(before)) {
    return Buffer.concat([log, Buffer.from(text)]);
  }
  const end = before.endsWith('\n') ? '' : eol;
  const isApart = first > 0 || /\n\r?\n/.test(before);
  const gap = isApart && !/\n\r?\n$/.test(before) ? eol : '';
  return Buffer.concat([log, Buffer.from(end + gap + text)]);
}

/** Whether a log has this text already, as whole lines. Pure. */
export function hasEntries(log: Buffer, added: string): boolean {
  const text = linesOf(added).join('\n').trim();
  return text === '' || `\n${linesOf(log.toString()).join('\n')}\n`.includes(`\n${text}\n`);
}

/**
 * A progress log with what another version has added to the version that both come from. Parts that the log has
 * already are not added again. Pure.
 */
export function withEntriesOf(
  ours: Buffer,
  { base, theirs }: { readonly base: Buffer | undefined; readonly theirs: Buffer },
): Buffer {
  const [old, now] = [base, theirs].map(content => linesOf(content?.toString() ?? ''));
  const same = now?.findIndex((line, i) => line !== old?.[i]) ?? -1;
  const added = same === -1 ? [] : (now?.slice(same) ?? []);
  // Entries are separated by headings or blank lines.
  const parts: string[][] = [];
  for (const [i, line] of added.entries()) {
    const isNew = i === 0 || /^#{1,6} /.test(line) || added[i - 1]?.trim() === '';
    if (isNew) {
      parts.push([line]);
    } else {
      parts.at(-1)?.push(line);
    }
  }
  const missing = parts.filter(part => !hasEntries(ours, part.join('\n')));
  return withEntries(ours, missing.flat().join('\n'));
}

function linesOf(text: string): string[] {
  return text.split(/\r\n|\r|\n/).map(line => line.trimEnd());
}
