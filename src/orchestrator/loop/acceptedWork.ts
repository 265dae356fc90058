import { HumanError } from '../../base/humanError.ts';
import type { Message } from '../../base/say.ts';
import type { Run } from '../run/run.ts';
import { warn } from '../run/warn.ts';
import { addTrackedStory } from '../trackers/addTracked.ts';

/** Brings work that was accepted into the story file, while no agent works on it. */
export class AcceptedWork {
  private readonly run: Run;
  /** What the file has no place for is tried once. */
  private readonly refused = new Set<string>();

  constructor(run: Run) {
    this.run = run;
  }

  /** Call it between two iterations; with lanes at any time, as agents have copies of the file. */
  async add(): Promise<void> {
    const { config, env, journal, state, stop, storyFile } = this.run;
    const onWarning = (warning: Message) => warn(journal, 'beadsNotTold', warning);
    if (storyFile === undefined) {
      return;
    }
    for (const { id, state: now } of state().discoveries ?? []) {
      if (now === 'open' && config.acceptDiscovered && !this.refused.has(id)) {
        journal.append({ type: 'discovery.accepted', id, by: 'setting' });
      }
    }
    for (const { from, id, state: now, title, why } of state().discoveries ?? []) {
      if (now !== 'accepted' || title === undefined) {
        continue;
      }
      try {
        const access = { mayRun: true, env, signal: stop.endSignal, onWarning };
        const storyId = await addTrackedStory(storyFile, { id, title, why, from }, access);
        journal.append({ type: 'discovery.added', id, storyId });
      } catch (error) {
        if (!(error instanceof HumanError)) {
          throw error;
        }
        this.refused.add(id);
        journal.append({ type: 'discovery.refused', id, reason: error.said });
      }
    }
  }
}
