import { readPlainFile, writePlainFile } from '../base/plainFile.ts';
import { requirePlainState } from '../orchestrator/workspace/plainState.ts';
import type { RunFiles } from '../orchestrator/workspace/runFiles.ts';

const MAX_STATE_BYTES = 64 * 1024;

/** Whether the state file says that a loop works here, whether or not that is true. */
export async function saysActive(files: RunFiles): Promise<boolean> {
  return (await readState(files))?.['active'] === true;
}

/**
 * Sets the state file to inactive, which asks a loop to end. Other keys are kept.
 * @returns whether it was active; a missing file already asks the loop to end
 */
export async function deactivate(files: RunFiles): Promise<boolean> {
  requirePlainState(files);
  const state = await readState(files);
  if (state?.['active'] !== true) {
    return false;
  }
  await writePlainFile(
    files.stateFile,
    `${JSON.stringify({ ...state, active: false }, null, 2)}\n`,
  );
  return true;
}

/** @returns `undefined` if the file is missing or unreadable: no reader treats that as active */
async function readState(files: RunFiles): Promise<Record<string, unknown> | undefined> {
  const text = await readPlainFile(files.stateFile, MAX_STATE_BYTES);
  try {
    const value: unknown = JSON.parse(text?.toString('utf8') ?? 'null');
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
