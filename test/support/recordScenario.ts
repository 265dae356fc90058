import path from 'node:path';
import { neutralJournal } from './recordedJournals.ts';
import { SCENARIOS } from './scenarios.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Runs a scenario. @returns its journal, without the parts that differ between runs */
export async function recordScenario(name: string): Promise<string> {
  const scenario = SCENARIOS[name];
  if (scenario === undefined) {
    throw new Error(`There is no scenario ${name}.`);
  }
  const after: (() => unknown)[] = [];
  try {
    const workspace = await scenario({ after: (end: () => unknown) => void after.push(end) });
    return neutralJournal(await workspace.journal(), [
      [path.dirname(workspace.folder), '/home/person'],
      [ROOT, '/ralph-fresh'],
      [process.execPath, '/node'],
    ]);
  } finally {
    for (const end of after.reverse()) {
      await end();
    }
  }
}
