import { randomBytes } from 'node:crypto';
import { closeSync, fsync, lstatSync, openSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { HumanError } from '../../base/humanError.ts';
import { type Message, say } from '../../base/say.ts';
import { systemRefusal } from '../../base/systemRefusal.ts';
import { requirePlainState } from '../workspace/plainState.ts';
import type { RunFiles } from '../workspace/runFiles.ts';
import { type Judgement, type Precondition, sentenceOf } from './precondition.ts';

/** In bytes; more than a file system stores together with a file's name. */
const PROBE = Buffer.alloc(8_192);
const syncToDisk = promisify(fsync);

/** Its name starts with this. */
export const PROBE_NAME = '.ralph-fresh-probe-';

/** The state folder is writable. */
export const state: Precondition = { id: 'state', judge: ({ files }) => judgeState(files) };

/**
 * For code that writes before a run starts: its lock, or the folder of a detached run.
 * @throws {HumanError} if the state folder is not writable
 */
export async function requireWritableState(files: RunFiles): Promise<void> {
  const found = await judgeState(files);
  if (found.level === 'refuses') {
    throw new HumanError(sentenceOf(found));
  }
}

async function judgeState(files: RunFiles): Promise<Judgement> {
  requirePlainState(files);
  return (
    wrongPlace(files) ??
    (await refusedWrite(files)) ?? {
      level: 'holds',
      message: `The state goes to ${files.stateDir}`,
    }
  );
}

/** Something that is not our folder or file at its path. */
function wrongPlace(files: RunFiles): Judgement | undefined {
  const { handoffFile, hintsFile, lockFile, promptFile, stateFile } = files;
  const folder = foldersOf(files).find(place => kindOf(place) === 'file');
  if (folder !== undefined) {
    return {
      level: 'refuses',
      message: say('There is a file at {0}, where Ralph needs a folder for its state.', folder),
      next: say('Move it out of the way.'),
    };
  }
  const file = [lockFile, stateFile, handoffFile, promptFile, hintsFile].find(
    place => kindOf(place) === 'folder',
  );
  return file === undefined
    ? undefined
    : {
        level: 'refuses',
        message: say('There is a folder at {0}, where Ralph needs a file for its state.', file),
        next: say('Move it out of the way.'),
      };
}

/**
 * Tests by writing a file: the permissions of a folder do not show a full disk, a read-only disk, or an account
 * with all rights. The file is removed again.
 */
async function refusedWrite(files: RunFiles): Promise<Judgement | undefined> {
  const there = foldersOf(files).filter(place => kindOf(place) === 'folder');
  const own = there.filter(folder => folder !== path.join(files.workspace, '.omc'));
  for (const folder of own.length > 0 ? own : [there.at(-1) ?? files.workspace]) {
    const message = await refusedIn(folder);
    if (message !== undefined) {
      return { level: 'refuses', message };
    }
  }
  return undefined;
}

/**
 * Tests by writing a file whether a folder is writable. The file is removed before it is written, so that a killed
 * process does not leave it to git and agents.
 * @returns why not
 */
export async function refusedIn(folder: string): Promise<Message | undefined> {
  const probe = path.join(folder, `${PROBE_NAME}${randomBytes(6).toString('hex')}.tmp`);
  try {
    const file = openSync(probe, 'wx');
    try {
      rmSync(probe);
      writeFileSync(file, PROBE);
      await syncToDisk(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const words = systemRefusal(withPlace(error, folder));
    if (words === undefined) {
      throw error;
    }
    return words;
  }
  return undefined;
}

/** Replaces the name of the test file, which helps nobody. */
function withPlace(error: unknown, folder: string): unknown {
  return error instanceof Error ? Object.assign(error, { path: folder }) : error;
}

/** Outermost first. */
function foldersOf({ runsDir, stateDir, workspace }: RunFiles): readonly string[] {
  return [path.join(workspace, '.omc'), stateDir, runsDir];
}

function kindOf(place: string): 'folder' | 'file' | undefined {
  try {
    const stat = lstatSync(place, { throwIfNoEntry: false });
    return stat === undefined ? undefined : stat.isDirectory() ? 'folder' : 'file';
  } catch (error) {
    // If a parent is not a folder, nothing is there.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') {
      return undefined;
    }
    throw error;
  }
}
