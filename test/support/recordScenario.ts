import path from 'node:path';
import { isChatter } from '../../src/orchestrator/journal/chatter.ts';
import { LONG_SCENARIOS } from './laneScenarios.ts';
import { neutralJournal } from './recordedJournals.ts';
import { SCENARIOS } from './scenarios.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Runs a scenario. @returns its journal, without the parts that differ between runs */
export async function recordScenario(name: string): Promise<string> {
  const scenario = SCENARIOS[name] ?? LONG_SCENARIOS[name];
  if (scenario === undefined) {
    throw new Error(`There is no scenario ${name}.`);
  }
  const after: (() => unknown)[] = [];
  try {
    const workspace = await scenario({ after: (end: () => unknown) => void after.push(end) });
    const events = await workspace.journal();
    const kept = name in LONG_SCENARIOS ? events.filter(event => !isChatter(event)) : events;
    return neutralJournal(kept, [
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
