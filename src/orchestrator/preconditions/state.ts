import { randomBytes } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { systemRefusal } from '../../base/systemRefusal.ts';
import { requirePlainState } from '../workspace/plainState.ts';
import type { RunFiles } from '../workspace/runFiles.ts';
import { type Judgement, type Precondition, sentenceOf } from './precondition.ts';

/** More than a file system keeps beside the name of a file, in bytes. */
const PROBE = Buffer.alloc(8_192);

/** The state can be written. */
export const state: Precondition = { id: 'state', judge: ({ files }) => judgeState(files) };

/**
 * For whoever writes before a run begins: its lock, or the folder of a detached one.
 * @throws {HumanError} when the state cannot be written
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

/** Something else where a folder or a file of ours belongs. */
function wrongPlace(files: RunFiles): Judgement | undefined {
  const { handoffFile, hintsFile, lockFile, promptFile, stateFile } = files;
  const folder = foldersOf(files).find(place => kindOf(place) === 'file');
  if (folder !== undefined) {
    return {
      level: 'refuses',
      message: say(
        'A file is in the place of the folder {0}, where Ralph keeps its state.',
        folder,
      ),
      next: say('Move it away.'),
    };
  }
  const file = [lockFile, stateFile, handoffFile, promptFile, hintsFile].find(
    place => kindOf(place) === 'folder',
  );
  return file === undefined
    ? undefined
    : {
        level: 'refuses',
        message: say(
          'A folder is in the place of the file {0}, where Ralph keeps its state.',
          file,
        ),
        next: say('Move it away.'),
      };
}

/**
 * Asks the system itself, by writing: modes of a folder say nothing of a full disk, of a disk that cannot be written,
 * or of an account that may do everything. What was written is removed again.
 */
async function refusedWrite(files: RunFiles): Promise<Judgement | undefined> {
  const there = foldersOf(files).filter(place => kindOf(place) === 'folder');
  const own = there.filter(folder => folder !== path.join(files.workspace, '.omc'));
  for (const folder of own.length > 0 ? own : [there.at(-1) ?? files.workspace]) {
    const probe = path.join(folder, `.ralph-fresh-probe-${randomBytes(6).toString('hex')}.tmp`);
    try {
      const handle = await open(probe, 'wx');
      try {
        await handle.writeFile(PROBE);
        await handle.sync();
      } finally {
        await handle.close();
      }
    } catch (error) {
      const words = systemRefusal(withPlace(error, folder));
      if (words === undefined) {
        throw error;
      }
      return { level: 'refuses', message: words };
    } finally {
      await rm(probe, { force: true });
    }
  }
  return undefined;
}

/** The name of the probe helps nobody. */
function withPlace(error: unknown, folder: string): unknown {
  return error instanceof Error ? Object.assign(error, { path: folder }) : error;
}

/** From the outside to the inside. */
function foldersOf({ runsDir, stateDir, workspace }: RunFiles): readonly string[] {
  return [path.join(workspace, '.omc'), stateDir, runsDir];
}

function kindOf(place: string): 'folder' | 'file' | undefined {
  try {
    const stat = lstatSync(place, { throwIfNoEntry: false });
    return stat === undefined ? undefined : stat.isDirectory() ? 'folder' : 'file';
  } catch (error) {
    // Below something that is no folder there is nothing.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') {
      return undefined;
    }
    throw error;
  }
}
