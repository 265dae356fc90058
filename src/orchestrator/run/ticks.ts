import { recordRequest } from './requests.ts';
import type { RunFiles } from './runFiles.ts';

/** Puts into the journal that a person ticked or unticked a story; its file is written already. */
export async function recordTick(files: RunFiles, storyId: string, done: boolean): Promise<void> {
  await recordRequest(files, { type: 'tick', storyId, done });
}
