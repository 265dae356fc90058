import writeFileAtomic from 'write-file-atomic';
import { readPlainFile } from '../base/plainFile.ts';
import { requirePlainState } from '../orchestrator/workspace/plainState.ts';
import type { RunFiles } from '../orchestrator/workspace/runFiles.ts';

const MAX_STATE_BYTES = 64 * 1024;

/** Whether the state file says that a loop works here, be it true or not. */
export async function saysActive(files: RunFiles): Promise<boolean> {
  return (await readState(files))?.['active'] === true;
}

/**
 * Sets the state file to inactive, which asks a loop to end; its other keys stay.
 * @returns whether it was active. A file that is not there asks to end already
 */
export async function deactivate(files: RunFiles): Promise<boolean> {
  requirePlainState(files);
  const state = await readState(files);
  if (state?.['active'] !== true) {
    return false;
  }
  await writeFileAtomic(
    files.stateFile,
    `${JSON.stringify({ ...state, active: false }, null, 2)}\n`,
  );
  return true;
}

/** @returns `undefined` when there is no file, or none that can be read: nobody takes that for active */
async function readState(files: RunFiles): Promise<Record<string, unknown> | undefined> {
  const text = await readPlainFile(files.stateFile, MAX_STATE_BYTES);
  try {
    const value: unknown = JSON.parse(text?.toString('utf8') ?? 'null');
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
