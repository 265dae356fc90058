import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';

/** Enough to tell the workspaces of a machine apart. */
const DIGITS = 12;

/**
 * Distinguishes the workspaces of a repository, and of a machine, in names of refs and folders.
 * @param dir absolute path of the workspace
 */
export function workspaceKey(dir: string): string {
  return createHash('sha256').update(realpathSync.native(dir)).digest('hex').slice(0, DIGITS);
}
