import path from 'node:path';
import * as z from 'zod';
import { once } from '../../base/once.ts';
import { readPlainFile } from '../../base/plainFile.ts';
import type { RunFiles } from '../workspace/runFiles.ts';

/** Modes of oh-my-claudecode that work on the same files (Ralph-Fresh whitepaper, 7.5). */
const OTHER_MODES = ['autopilot', 'ultrapilot', 'swarm', 'pipeline', 'ralph'] as const;

const MAX_STATE_BYTES = 64 * 1024;

/** @returns another mode that is active in this folder, and its state file */
export async function activeOtherMode(
  files: RunFiles,
): Promise<{ readonly mode: string; readonly file: string } | undefined> {
  for (const mode of OTHER_MODES) {
    for (const file of stateFilesOf(mode, files)) {
      if ((await readState(file))?.active === true) {
        return { mode, file };
      }
    }
  }
  return undefined;
}

/** Older versions of oh-my-claudecode keep the state of `ralph` in the parent folder. */
function stateFilesOf(mode: (typeof OTHER_MODES)[number], files: RunFiles): string[] {
  const name = `${mode}-state.json`;
  return [path.join(files.stateDir, name), path.join(path.dirname(files.stateDir), name)];
}

const stateSchema = once(() => z.looseObject({ active: z.unknown().optional() }));

async function readState(
  file: string,
): Promise<z.infer<ReturnType<typeof stateSchema>> | undefined> {
  try {
    const text = (await readPlainFile(file, MAX_STATE_BYTES))?.toString('utf8');
    return text === undefined ? undefined : stateSchema().safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (error instanceof SyntaxError) {
      return undefined;
    }
    throw error;
  }
}
