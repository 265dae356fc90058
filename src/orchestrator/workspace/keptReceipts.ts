import { lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { RunFiles } from './runFiles.ts';

/** The receipt of an iteration, in its folder, for people and scripts. */
export const RECEIPT_NAME = 'receipt.json';

/**
 * Numbers of a run's iterations whose folders have a receipt, in order: these have ended, whatever the journal
 * says.
 */
export async function keptReceipts(files: RunFiles, runId: string): Promise<number[]> {
  const dir = path.join(files.runDir(runId), 'iterations');
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    // The folders of old runs have been removed.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') {
      return [];
    }
    throw error;
  });
  return names
    .filter(name => /^[1-9]\d{0,8}$/.test(name))
    .filter(name =>
      lstatSync(path.join(dir, name, RECEIPT_NAME), { throwIfNoEntry: false })?.isFile(),
    )
    .map(Number)
    .sort((a, b) => a - b);
}
