import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import * as z from 'zod';
import { HumanError } from '../../base/humanError.ts';
import { jsonOf } from '../../base/jsonOf.ts';
import { messageOf } from '../../base/messageOf.ts';
import { once } from '../../base/once.ts';
import { readPlainFile, writePlainFile } from '../../base/plainFile.ts';
import { say } from '../../base/say.ts';
import { diskRefusal } from '../../base/systemRefusal.ts';
import type { NamedStory } from './knownStories.ts';
import { requirePlainState } from './plainState.ts';
import type { RunFiles } from './runFiles.ts';
import { ignoreStateDir } from './stateIgnore.ts';
import { takeFileLock } from './takeFileLock.ts';

/** In bytes; more than people write. */
const MAX_BYTES = 4 * 1024 * 1024;

const hintSchema = once(() =>
  z.looseObject({
    id: z.string().min(1).max(100),
    text: z.string().min(1),
    storyId: z.string().optional(),
    story: z.object({ title: z.string(), epic: z.string().optional() }).optional(),
    at: z.string(),
  }),
);

/** A hint waiting for the next agent it applies to, in any run. */
export interface PendingHint {
  readonly id: string;
  readonly text: string;
  /** Only for the agents of this story. */
  readonly storyId?: string | undefined;
  /** What the person saw of that story: without an id of its own, it may have another number in the next run. */
  readonly story?: NamedStory | undefined;
  /** ISO 8601; when the hint was given. */
  readonly at: string;
}

/** @returns the waiting hints, oldest first */
export async function pendingHints(files: RunFiles): Promise<PendingHint[]> {
  const text = (await readPlainFile(files.hintsFile, MAX_BYTES))?.toString('utf8') ?? '';
  return text.split('\n').flatMap(line => {
    const { data } = hintSchema().safeParse(jsonOf(line));
    return data === undefined ? [] : [data];
  });
}

/**
 * Keeps a hint for the next agent it applies to.
 * @throws {HumanError} if it cannot be written
 */
export async function addPendingHint(
  files: RunFiles,
  hint: Omit<PendingHint, 'id' | 'at'>,
): Promise<PendingHint> {
  const added: PendingHint = {
    id: randomUUID(),
    text: hint.text,
    storyId: hint.storyId,
    story: hint.story && { title: hint.story.title, epic: hint.story.epic },
    at: new Date().toISOString(),
  };
  await change(files, hints => [...hints, added]);
  return added;
}

/**
 * Changes the text of a waiting hint.
 * @returns false if it is not waiting any more
 */
export async function rewordPendingHint(
  files: RunFiles,
  id: string,
  text: string,
): Promise<boolean> {
  let found = false;
  await change(files, hints =>
    hints.map(hint => {
      found ||= hint.id === id;
      return hint.id === id ? { ...hint, text } : hint;
    }),
  );
  return found;
}

/** Removes hints that were withdrawn or have been given to an agent. */
export async function removePendingHints(files: RunFiles, ids: ReadonlySet<string>): Promise<void> {
  await change(files, hints => hints.filter(({ id }) => !ids.has(id)));
}

/** One writer at a time; readers see the file either before or after the change. */
async function change(
  files: RunFiles,
  edit: (hints: readonly PendingHint[]) => readonly PendingHint[],
): Promise<void> {
  requirePlainState(files);
  const unlock = await takeFileLock(files, files.hintsFile, () => ignoreStateDir(files));
  try {
    const before = await pendingHints(files);
    const after = edit(before);
    if (after.length > 0) {
      await write(files, after);
    } else if (existsSync(files.hintsFile)) {
      await rm(files.hintsFile, { force: true });
    }
  } finally {
    await unlock();
  }
}

async function write({ hintsFile }: RunFiles, hints: readonly PendingHint[]): Promise<void> {
  try {
    await writePlainFile(hintsFile, hints.map(hint => `${JSON.stringify(hint)}\n`).join(''));
  } catch (error) {
    if (error instanceof HumanError) {
      throw error;
    }
    const refused = diskRefusal(error, hintsFile);
    if (refused !== undefined) {
      throw new HumanError(refused, { cause: error });
    }
    throw new HumanError(
      say(
        '{0} cannot be written ({1}), so the hint was not saved. Remove what is in its place.',
        hintsFile,
        (error as NodeJS.ErrnoException).code ?? messageOf(error),
      ),
      { cause: error },
    );
  }
}
