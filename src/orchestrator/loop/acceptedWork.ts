import { requireHuman } from '../../base/humanError.ts';
import { type Message, say } from '../../base/say.ts';
import type { Run } from '../run/run.ts';
import { relativePath } from '../run/runWork.ts';
import { warn } from '../run/warn.ts';
import { takesStories } from '../stories/edit/addStory.ts';
import { readStoryBytes } from '../stories/storyFile.ts';
import { addTrackedStory } from '../trackers/addTracked.ts';

/** Brings work that was accepted into the story file, while no agent works on it. */
export class AcceptedWork {
  private readonly run: Run;
  /** What the file has no place for is tried once. */
  private readonly refused = new Set<string>();
  private hasSaidItWaits = false;

  constructor(run: Run) {
    this.run = run;
  }

  /** Call it between two iterations; with lanes at any time, as agents have copies of the file. */
  async add(): Promise<void> {
    const { config, env, files, journal, state, stop, storyFile } = this.run;
    const onWarning = (warning: Message) => warn(journal, 'beadsNotTold', warning);
    if (storyFile === undefined) {
      return;
    }
    const open = (state().discoveries ?? []).filter(
      ({ id, state: now }) => now === 'open' && !this.refused.has(id),
    );
    if (config.acceptDiscovered && open.length > 0 && (await this.takesStories(storyFile))) {
      for (const { id } of open) {
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
        journal.append({
          ...{ type: 'discovery.added', id, storyId },
          storyFile: relativePath(files.workspace, storyFile),
        });
      } catch (error) {
        requireHuman(error);
        this.refused.add(id);
        journal.append({ type: 'discovery.refused', id, reason: error.said });
      }
    }
  }

  /** What its file has no place for waits for a person, and is reported once. */
  private async takesStories(storyFile: string): Promise<boolean> {
    const content = await readStoryBytes(storyFile);
    const takes = content && takesStories(storyFile, content);
    if (takes === false && !this.hasSaidItWaits) {
      this.hasSaidItWaits = true;
      warn(
        this.run.journal,
        'discoveredWaits',
        say(
          'Discovered work cannot be added to {0} by this program, so it waits for you: ralph-fresh discovered',
          storyFile,
        ),
      );
    }
    return takes === true;
  }
}
