import { discoveriesOf, type KnownDiscovery } from '../journal/discoveries.ts';
import { RunHistory } from './history.ts';
import type { RunFiles } from './runFiles.ts';

/** The work that agents of all runs have found, and what became of it; the oldest first. */
export async function readFoundWork(files: RunFiles): Promise<readonly KnownDiscovery[]> {
  return discoveriesOf(await new RunHistory(files).read());
}
