import { existsSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { HumanError } from './humanError.ts';
import { once } from './once.ts';
import { readPlainFileNow } from './run/plainFile.ts';
import type { RunFiles } from './run/runFiles.ts';
import { say } from './say.ts';

/** Modes of oh-my-claudecode that work on the same files (Ralph-Fresh whitepaper, 7.5). */
const OTHER_MODES = ['autopilot', 'ultrapilot', 'swarm', 'pipeline', 'ralph'] as const;

const MAX_STATE_BYTES = 64 * 1024;

/** @returns another mode that works in this folder, and the file that says so */
export async function activeOtherMode(
  files: RunFiles,
): Promise<{ readonly mode: string; readonly file: string } | undefined> {
  for (const mode of OTHER_MODES) {
    for (const file of stateFilesOf(mode, files)) {
      if (readState(file)?.active === true) {
        return { mode, file };
      }
    }
  }
  return undefined;
}

/**
 * Makes sure that no other mode works in this folder. They can see us by our own state file.
 * @throws {HumanError} naming the mode and how to end it
 */
export async function requireNoOtherMode(files: RunFiles): Promise<void> {
  const other = await activeOtherMode(files);
  if (other) {
    throw new HumanError(
      say(
        'The mode "{0}" of oh-my-claudecode is active in this folder. Cancel it first with /oh-my-claudecode:cancel, or remove {1} if it is left over.',
        other.mode,
        other.file,
      ),
    );
  }
}

/** Older versions of oh-my-claudecode keep the state of `ralph` one folder up. */
function stateFilesOf(mode: (typeof OTHER_MODES)[number], files: RunFiles): string[] {
  const name = `${mode}-state.json`;
  return [path.join(files.stateDir, name), path.join(path.dirname(files.stateDir), name)];
}

const stateSchema = once(() => z.looseObject({ active: z.unknown().optional() }));

function readState(file: string): z.infer<ReturnType<typeof stateSchema>> | undefined {
  // There is none as a rule, and this is asked for ten files between any two iterations.
  if (!existsSync(file)) {
    return undefined;
  }
  try {
    const text = readPlainFileNow(file, MAX_STATE_BYTES)?.toString('utf8');
    return text === undefined ? undefined : stateSchema().safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (error instanceof SyntaxError) {
      return undefined;
    }
    throw error;
  }
}
