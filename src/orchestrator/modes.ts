import path from 'node:path';
import { HumanError } from './humanError.ts';
import { readPlainFile } from './run/plainFile.ts';
import type { RunFiles } from './run/runFiles.ts';

/** Modes of oh-my-claudecode that work on the same files (Ralph-Fresh whitepaper, 7.5). */
const OTHER_MODES = ['autopilot', 'ultrapilot', 'swarm', 'pipeline', 'ralph'] as const;

const MAX_STATE_BYTES = 64 * 1024;

/**
 * Makes sure that no other mode works in this folder. They can see us by our own state file.
 * @throws {HumanError} naming the mode and how to end it
 */
export async function requireNoOtherMode(files: RunFiles): Promise<void> {
  for (const mode of OTHER_MODES) {
    const file = path.join(files.stateDir, `${mode}-state.json`);
    if (await isActive(file)) {
      throw new HumanError(
        `The mode "${mode}" of oh-my-claudecode is active in this folder. Cancel it first with /oh-my-claudecode:cancel, or remove ${file} if it is left over.`,
      );
    }
  }
}

async function isActive(file: string): Promise<boolean> {
  try {
    const state: unknown = JSON.parse(
      (await readPlainFile(file, MAX_STATE_BYTES))?.toString('utf8') ?? 'null',
    );
    return (
      typeof state === 'object' && state !== null && 'active' in state && state.active === true
    );
  } catch (error) {
    if (error instanceof SyntaxError) {
      return false;
    }
    throw error;
  }
}
