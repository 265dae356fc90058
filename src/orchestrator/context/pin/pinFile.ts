import { existsSync, lstatSync } from 'node:fs';
import path from 'node:path';
import { createFile } from '../../../base/createFile.ts';
import { type DecodedText, decodeText } from '../../../base/decodeText.ts';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { diskRefusal } from '../../../base/systemRefusal.ts';
import { editFile } from '../../stories/edit/fileEdit.ts';
import { TextLines } from '../../stories/formats/textLines.ts';
import { requireInside } from '../../stories/outsideLinks.ts';
import { readStoryBytes } from '../../stories/storyFile.ts';
import type { AgentWords } from './generatedLines.ts';
import { NEW_PIN, pinPathIn } from './pinPlace.ts';
import { readPin } from './pinText.ts';
import { goneSince, type ProjectCode } from './projectCode.ts';
import { namedPaths, type UpdatedPin, updatePin } from './updatePin.ts';

/** How often the update is made again because somebody changes the file meanwhile. */
const MAX_TRIES = 5;
/** Paths of a person that are looked for in the history. */
const MAX_SEARCHED = 50;

/** A Pin as it should be. */
export interface PinDraft extends UpdatedPin {
  /** Absolute. */
  readonly file: string;
  /** Of the file now; absent if there is none. */
  readonly before: Buffer | undefined;
  readonly after: Buffer;
}

/**
 * Makes the Pin of a project from its code, or updates the one that is there; writes nothing.
 * @param said by an agent, by the titles of entries
 * @throws {HumanError} if the file is no text that can be added to
 */
export async function draftPin(
  dir: string,
  code: ProjectCode,
  said?: ReadonlyMap<string, AgentWords>,
): Promise<PinDraft> {
  const file = path.join(dir, pinPathIn(dir) ?? NEW_PIN);
  requireInside(file);
  const before = await readStoryBytes(file);
  if (before === undefined && lstatSync(file, { throwIfNoEntry: false }) !== undefined) {
    throw new HumanError(
      say('{0} cannot be read as a text of moderate size. Put a Markdown file in its place.', file),
    );
  }
  const { bom, text } = textOf(file, before ?? Buffer.alloc(0));
  const missing = await missingIn(dir, code, namedPaths(text));
  const updated = updatePin(text, code, missing, said);
  if (before === undefined && updated.entries.length === 0) {
    throw new HumanError(
      say(
        '{0} has no folder with two committed source files, so there is nothing to list. Commit the code first, or write {1} yourself.',
        dir,
        NEW_PIN,
      ),
    );
  }
  return { ...updated, file, before, after: Buffer.from(bom + updated.text) };
}

/**
 * Like {@link draftPin}, and writes it in one step; if the file changes meanwhile, it is made again from the new
 * content. Nothing is written if nothing changes.
 * @throws {HumanError} if it cannot be written
 */
export async function writePin(
  dir: string,
  code: ProjectCode,
  said?: ReadonlyMap<string, AgentWords>,
): Promise<PinDraft> {
  for (let tries = 1; ; tries++) {
    const draft = await draftPin(dir, code, said);
    try {
      await replace(draft);
      return draft;
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile) || tries >= MAX_TRIES) {
        throw error;
      }
    }
  }
}

/** Somebody has written the file since it was read. */
class ChangedMeanwhile extends HumanError {
  constructor(file: string) {
    super(
      say(
        'Another program keeps changing {0}, so nothing was written: try again when that program has ended.',
        file,
      ),
    );
  }
}

async function replace({ after, before, file }: PinDraft): Promise<void> {
  if (before === undefined) {
    await create(file, after);
    return;
  }
  await editFile(file, now => {
    if (!now.equals(before)) {
      throw new ChangedMeanwhile(file);
    }
    return after;
  });
}

async function create(file: string, content: Buffer): Promise<void> {
  let isCreated: boolean;
  try {
    isCreated = await createFile(file, content);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new HumanError(
      diskRefusal(error, file) ??
        say(
          '{0} cannot be written ({1}): check the permissions of the file and its folder.',
          file,
          code ?? say('unknown error'),
        ),
      { cause: error },
    );
  }
  if (!isCreated) {
    throw new ChangedMeanwhile(file);
  }
}

/** @throws {HumanError} with the line that is the problem */
function textOf(file: string, content: Buffer): DecodedText {
  const decoded = decodeText(content);
  const { problem, text } = decoded;
  if (problem !== undefined) {
    const { column, line } = new TextLines(text).at(problem.offset);
    throw new HumanError(
      say(
        '{0}, line {1}, column {2}: {3} Nothing was written.',
        file,
        line,
        column,
        problem.message,
      ),
    );
  }
  const { unclosedLine } = readPin(text);
  if (unclosedLine !== undefined) {
    throw new HumanError(
      say(
        '{0}, line {1}: the code fence or comment that begins here is never closed, so nothing can be added below. Close it.',
        file,
        unclosedLine,
      ),
    );
  }
  return decoded;
}

/** The paths that are neither committed nor in the folder, with the commits that removed them. */
async function missingIn(
  dir: string,
  { paths }: ProjectCode,
  named: readonly string[],
): Promise<Map<string, string | undefined>> {
  const folders = new Set<string>();
  for (const file of paths) {
    for (let at = file.lastIndexOf('/'); at > 0; at = file.lastIndexOf('/', at - 1)) {
      folders.add(file.slice(0, at));
    }
  }
  const missing = named.filter(one => {
    const place = one.replace(/\/+$/, '');
    return !paths.has(place) && !folders.has(place) && !existsSync(path.join(dir, place));
  });
  const found = new Map<string, string | undefined>();
  for (const one of missing.slice(0, MAX_SEARCHED)) {
    const since = await goneSince(dir, one.replace(/\/+$/, ''));
    // What never was there and does not look like a file may be a word, such as "and/or".
    if (since !== undefined || /\/$|\.\w+$/.test(one)) {
      found.set(one, since);
    }
  }
  return found;
}
