import path from 'node:path';
import { requireNoLink, requirePlainFolders } from '../../base/plainFile.ts';
import type { RunFiles } from './runFiles.ts';

/**
 * Makes sure that no folder or file of ours, from `.omc` down, is a link.
 * @throws {HumanError} naming the link
 */
export function requirePlainState(files: RunFiles, runId?: string): void {
  requirePlainFolders(files.runsDir);
  const places = [files.stateFile, files.lockFile, files.handoffFile, files.promptFile];
  if (runId !== undefined) {
    requirePlainFolders(path.join(files.runDir(runId), 'iterations'));
    places.push(files.journalFile(runId), files.inboxFile(runId), files.logFile(runId));
  }
  places.forEach(requireNoLink);
}
