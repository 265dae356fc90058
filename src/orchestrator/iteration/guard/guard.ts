import { closeSync, constants, openSync, writeFileSync } from 'node:fs';
import { lstat, mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { applyEdits, type Edit } from 'jsonc-parser';
import { HumanError } from '../../../base/humanError.ts';
import { PLAIN } from '../../../base/plainFile.ts';
import { type Message, say } from '../../../base/say.ts';
import { editFile } from '../../stories/edit/fileEdit.ts';
import { createSource } from '../../stories/edit/folderEdit.ts';
import { isFolderText } from '../../stories/formats/folderText.ts';
import { requireInside } from '../../stories/outsideLinks.ts';
import type { Story, StoryFile, StoryList } from '../../stories/story.ts';
import { parseStoryFile, parseStoryText } from '../../stories/storyFile.ts';
import { matchStories, type Pair } from '../../stories/storyMatching.ts';
import {
  type Duty,
  doubleTicks,
  findGuardChanges,
  type GuardChange,
  type HandledStories,
  isForbidden,
  mayTick,
} from './guardChanges.ts';
import { withOldEntries } from './guardEntries.ts';
import { haveSameSettings, withOldFiles, withOldSettings } from './guardFiles.ts';

const { O_WRONLY, O_CREAT, O_TRUNC } = constants;

export interface RestoreOptions extends Duty {
  /** Absolute path of the story file. */
  readonly path: string;
  /** Its content before the iteration. */
  readonly beforeBytes: Buffer;
  /** The result of {@link findGuardChanges}; only these changes are undone. Others were made by somebody else. */
  readonly changes: readonly GuardChange[];
  /** Absolute path of the folder for the agent's file if its text is replaced. */
  readonly asideDir: string;
  /** Everything is to be as before, byte for byte, as far as nobody else has changed something. */
  readonly wantsWhole?: true | undefined;
}

export interface Restored {
  /** Forbidden changes that were undone. */
  readonly restored: readonly GuardChange[];
  /** Forbidden changes that could not be undone. */
  readonly left: readonly GuardChange[];
  /** Why, for the person; only with `left`. */
  readonly problem?: Message;
  /** Absolute path of the agent's version. */
  readonly keptAside?: string;
}

/**
 * Undoes forbidden changes of an agent to a story file, and if possible nothing else. First with ticks alone; then,
 * in JSON, by restoring the old stories in their places, with the marks and notes that the agent may change;
 * otherwise with the old file plus the ticks of the agent's own story and of people. Each way is only used if it
 * leaves no forbidden change of the agent. The file is written atomically, and only if it is still the one that was
 * judged.
 *
 * @returns what was restored and left. A change that is no longer there is in neither list.
 */
export async function restoreStoryFile(options: RestoreOptions): Promise<Restored> {
  const judged = options.changes.filter(isForbidden);
  if (judged.length === 0) {
    return { restored: [], left: [] };
  }
  try {
    const before = parseStoryFile(options.path, options.beforeBytes);
    if (before.kind === 'invalid') {
      throw new HumanError(say('{0} could not be read before the iteration either.', options.path));
    }
    return await restore(options, before);
  } catch (error) {
    if (error instanceof HumanError) {
      return { restored: [], left: judged, problem: error.said };
    }
    throw error;
  }
}

async function restore(options: RestoreOptions, before: StoryList): Promise<Restored> {
  requireInside(options.path);
  const place = await placeOf(options.path, isFolderText(options.beforeBytes));
  if (place === 'nothing') {
    return create(options, before);
  }
  if (place === 'noFile') {
    throw new HumanError(
      say('Something else is in the place of {0}: restore the story file there.', options.path),
    );
  }
  let fix: Fix | undefined;
  let keptAside: string | undefined;
  await mkdir(options.asideDir, { recursive: true });
  const { changed } = await editFile(options.path, bytes => {
    fix = findFix(options, before, bytes, place === 'link');
    if (fix.replacesTexts) {
      // Before the write, so that nothing is lost if the process is killed in between.
      keptAside = path.join(options.asideDir, 'story-file-after');
      keep(keptAside, bytes);
    }
    return fix.content;
  });
  return {
    restored: changed ? (fix?.targets ?? []) : [],
    left: [],
    keptAside: changed && keptAside !== undefined ? keptAside : undefined,
  };
}

function keep(file: string, bytes: Buffer): void {
  const handle = openSync(file, O_WRONLY | O_CREAT | O_TRUNC | PLAIN, 0o644);
  try {
    writeFileSync(handle, bytes);
  } finally {
    closeSync(handle);
  }
}

/** What is at the path of the story file, or the folder: nothing, it, a link to it, or something else. */
async function placeOf(
  file: string,
  wasFolder: boolean,
): Promise<'nothing' | 'file' | 'link' | 'noFile'> {
  const own = await lstat(file).catch(ignoreAbsent);
  if (own === undefined) {
    return 'nothing';
  }
  const target = await stat(file).catch(ignoreAbsent);
  // Opening a pipe would wait for a writer forever.
  const isThere = wasFolder ? target?.isDirectory() : target?.isFile();
  return isThere !== true ? 'noFile' : own.isSymbolicLink() ? 'link' : 'file';
}

function ignoreAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') {
    throw new HumanError(say('The story file cannot be accessed: {0}', error.message), {
      cause: error,
    });
  }
}

async function create(options: RestoreOptions, before: StoryList): Promise<Restored> {
  const gone = options.changes.filter(({ kind }) => kind === 'fileGone');
  if (gone.length === 0) {
    throw new HumanError(say('{0} was removed in the meantime.', options.path));
  }
  const text = setTicks(options, before, decode(options.beforeBytes), wishes(options, before));
  const isCreated = await createSource(options.path, Buffer.from(text));
  return { restored: isCreated ? gone : [], left: [] };
}

interface Fix {
  readonly content: Buffer;
  /** The changes to undo. */
  readonly targets: readonly GuardChange[];
  readonly replacesTexts: boolean;
}

/** @throws {HumanError} if there is none */
function findFix(options: RestoreOptions, before: StoryList, bytes: Buffer, isLink: boolean): Fix {
  const now = parseStoryFile(options.path, bytes);
  const found = findGuardChanges({ ...options, before, after: now });
  const judged = new Set(options.changes.map(keyOf));
  const forbidden = found.filter(isForbidden);
  const targets = forbidden.filter(change => judged.has(keyOf(change)));
  if (targets.length === 0) {
    return { content: bytes, targets, replacesTexts: false };
  }
  const others = forbidden.filter(change => !judged.has(keyOf(change)));
  const ids = new Set(targets.flatMap(idsOf));
  // The settings of a folder are restored with its files, so the agent's own story counts by them, too.
  const meant = parseStoryFile(options.path, withOldSettings(options.beforeBytes, bytes));
  const wanted = wishes(options, before, meant, targets);
  const candidates: { readonly replacesTexts: boolean; readonly text: () => string | undefined }[] =
    [];
  if (
    now.kind === 'stories' &&
    targets.every(isTick) &&
    haveSameSettings(options.beforeBytes, bytes)
  ) {
    candidates.push({
      replacesTexts: false,
      text: () => setTicks(options, before, decode(bytes), wanted),
    });
  }
  if (
    now.kind === 'stories' &&
    before.format === 'prd' &&
    now.format === 'prd' &&
    !others.flatMap(idsOf).some(id => ids.has(id))
  ) {
    candidates.push({
      replacesTexts: true,
      text: () => {
        const texts = { before: decode(options.beforeBytes), now: decode(bytes) };
        const text = withOldEntries({ before, now }, texts, ids, options);
        return text === undefined ? undefined : setTicks(options, before, text, wanted);
      },
    });
  }
  if (now.kind === 'stories' && isFolderText(bytes) && isFolderText(options.beforeBytes)) {
    candidates.push({
      replacesTexts: true,
      text: () => {
        const texts = { before: decode(options.beforeBytes), now: decode(bytes) };
        return setTicks(options, before, withOldFiles(before, now, texts, ids), wanted);
      },
    });
  }
  // The whole old file would undo later changes of others, and a link may lead to a file that is not ours.
  if (isAllJudged(options.changes, found) && !(isLink && now.kind === 'invalid')) {
    candidates.push({
      replacesTexts: true,
      text: () => setTicks(options, before, decode(options.beforeBytes), wanted),
    });
  }
  if (
    options.wantsWhole &&
    found.every(change => judged.has(keyOf(change)) && isForbidden(change))
  ) {
    // It is the last way otherwise.
    candidates.unshift(...candidates.splice(-1));
  }
  for (const { text, replacesTexts } of candidates) {
    const content = attempt(text);
    if (content !== undefined && isFixed(options, before, meant, content, others)) {
      return { content: Buffer.from(content), targets, replacesTexts };
    }
  }
  throw new HumanError(
    say(
      '{0} could not be restored: it has been changed by others since, or cannot be edited safely. Compare it with its version in git, or with your own copy.',
      options.path,
    ),
  );
}

/**
 * Whether nobody has changed the file since. If only forbidden changes were passed in, allowed ones are ignored.
 */
function isAllJudged(judged: readonly GuardChange[], found: readonly GuardChange[]): boolean {
  const keys = new Set(judged.map(keyOf));
  const forbiddenOnly = judged.every(isForbidden);
  return found.every(change => keys.has(keyOf(change)) || (forbiddenOnly && !isForbidden(change)));
}

const idsOf = (change: GuardChange) => ('storyId' in change ? [change.storyId] : []);
// What makes a file unreadable may be said in other words the second time.
const keyOf = (change: GuardChange) =>
  change.kind === 'fileBroken' ? change.kind : JSON.stringify(change);
const isTick = ({ kind }: GuardChange) => kind === 'tickedOther' || kind === 'untickedOther';
const decode = (bytes: Buffer) =>
  new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);

/** If a way fails, such as a tick that no small edit can set, the next one is tried. */
function attempt(text: () => string | undefined): string | undefined {
  try {
    return text();
  } catch (error) {
    if (error instanceof HumanError) {
      return undefined;
    }
    throw error;
  }
}

/** Only forbidden changes of others are left, and the agent's own story is as the agent left it. */
function isFixed(
  options: RestoreOptions,
  before: StoryList,
  now: StoryFile,
  content: string,
  others: readonly GuardChange[],
): boolean {
  const after = parseStoryFile(options.path, content);
  const known = new Set(others.map(keyOf));
  const isLeft = (change: GuardChange) => isForbidden(change) && !known.has(keyOf(change));
  if (after.kind === 'invalid' || findGuardChanges({ ...options, before, after }).some(isLeft)) {
    return false;
  }
  const own = (file: StoryFile) =>
    file.kind === 'invalid'
      ? new Map<Story, boolean>()
      : doneNow(
          matchStories(before.stories, file.stories).pairs.filter(pair =>
            mayTick(pair.before.id, options),
          ),
        );
  const kept = own(after);
  return [...own(now)].every(([story, done]) => kept.get(story) === done);
}

const doneNow = (pairs: readonly Pair[]) =>
  new Map(pairs.map(pair => [pair.before, pair.after.done]));

/** Whether a story from before the iteration must be done; `undefined` leaves it unchanged. */
type Wishes = (story: Story) => boolean | undefined;

function wishes(
  { handled }: Duty,
  before: StoryList,
  now?: StoryFile,
  targets: readonly GuardChange[] = [],
): Wishes {
  const forbidden = new Set(targets.filter(isTick).flatMap(idsOf));
  if (now?.kind === 'stories') {
    const known = doneNow(matchStories(before.stories, now.stories).pairs);
    return story =>
      forbidden.has(story.id) ? story.done : (known.get(story) ?? wishOfPerson(handled, story));
  }
  return story => wishOfPerson(handled, story);
}

/** What a person has ticked, where the file no longer says it; a tick that changed nothing would not have been recorded. */
function wishOfPerson(handled: HandledStories, story: Story): boolean | undefined {
  const wish = 'get' in handled ? handled.get(story.id) : !story.done;
  return handled.has(story.id) ? wish : undefined;
}

/** Sets the ticks of the old stories as wished, and removes the ticks of duplicates. */
function setTicks(
  options: RestoreOptions,
  before: StoryList,
  content: string,
  wanted: Wishes,
): string {
  const parsed = parseStoryText(options.path, content);
  if (parsed.file.kind === 'invalid') {
    return content;
  }
  const { pairs, added } = matchStories(before.stories, parsed.file.stories);
  const doubled = new Set(doubleTicks(before.stories, added, options).flatMap(idsOf));
  const edits: Edit[] = [];
  for (const pair of pairs) {
    const done = wanted(pair.before);
    if (done !== undefined && done !== pair.after.done) {
      edits.push(...parsed.edits(pair.after, done));
    }
  }
  for (const story of added) {
    if (story.done && doubled.has(story.id)) {
      edits.push(...parsed.edits(story, false));
    }
  }
  return parsed.bom + applyEdits(parsed.text, edits);
}
