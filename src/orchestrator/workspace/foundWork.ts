import { discoveriesOf, type KnownDiscovery } from '../journal/discoveries.ts';
import type { RunState } from '../journal/runState.ts';
import { readRun } from './runCheckpoint.ts';
import type { RunFiles } from './runFiles.ts';
import { runIds } from './runIds.ts';

/** Files that are open at once; most of the time is spent on waiting for the system. */
const AT_ONCE = 25;

/** The work that agents of all runs have found, and what became of it; the oldest first. */
export async function readFoundWork(files: RunFiles): Promise<readonly KnownDiscovery[]> {
  const ids = await runIds(files);
  const runs: Pick<RunState, 'discoveries'>[] = [];
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const some = ids.slice(at, at + AT_ONCE);
    runs.push(...(await Promise.all(some.map(runId => readRun(files, runId)))));
  }
  return discoveriesOf(runs);
}
