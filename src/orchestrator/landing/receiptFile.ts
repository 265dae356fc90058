import path from 'node:path';
import { writeDerivedFile } from '../../base/plainFile.ts';
import type { RunEvent } from '../journal/events.ts';
import type { RunState } from '../journal/runState.ts';
import { RECEIPT_NAME } from '../workspace/keptReceipts.ts';

/**
 * Writes the outcome of an iteration to its folder, for people and scripts; the journal has the same data and is
 * what the product itself reads.
 * @param model of its agent; default: the model that any agent of the run reported last
 */
export async function writeReceipt(
  dir: string,
  ended: RunEvent,
  state: RunState,
  model: string | undefined = state.model,
): Promise<void> {
  if (ended.type !== 'iteration.ended') {
    return;
  }
  const { seq: _seq, type: _type, at, commits: _commits, ...facts } = ended;
  const receipt = {
    run: state.runId,
    agent: state.agent,
    model,
    apiKeySource: state.apiKeySource,
    endedAt: at,
    ...facts,
    commits: state.commits
      .filter(commit => commit.iteration === ended.iteration)
      .map(({ hash, subject }) => ({ hash, subject })),
    // What the last search found; nothing if it was of another iteration.
    duplicates: state.duplicates?.iteration === ended.iteration ? state.duplicates.found : [],
  };
  await writeDerivedFile(path.join(dir, RECEIPT_NAME), `${JSON.stringify(receipt, null, 2)}\n`);
}
