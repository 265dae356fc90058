import { HumanError } from '../../../base/humanError.ts';
import { say, sentences } from '../../../base/say.ts';
import { type TrackerAccess, tellBeads } from '../trackedStory.ts';
import type { SettledStories, Tracker, TrackerNote } from '../tracker.ts';

const MAX_COMMITS = 5;

/**
 * The database of Beads, of which the story file is only an export: what a run has settled is closed or reopened there by
 * `bd`. Agents change the file, in the user's folder or in a clone that has no database.
 */
export class BeadsTracker implements Tracker {
  private readonly storyFile: string;
  private readonly access: Pick<TrackerAccess, 'env'>;
  /** What the database is known to say, by id. */
  private readonly told = new Map<string, boolean>();
  private readonly failed = new Map<string, string>();

  constructor(storyFile: string, access: Pick<TrackerAccess, 'env'>) {
    this.storyFile = storyFile;
    this.access = access;
  }

  async sync(settled: SettledStories | undefined): Promise<readonly TrackerNote[]> {
    const notes: TrackerNote[] = [];
    const wanted = [
      ...(settled?.done ?? [])
        .filter(({ isOfRun }) => isOfRun)
        .map(({ commits, id }) => ({ id, done: true, commits })),
      ...(settled?.open ?? []).map(id => ({ id, done: false, commits: [] as readonly string[] })),
    ];
    for (const { commits, done, id } of wanted.filter(one => this.told.get(one.id) !== one.done)) {
      const hashes = commits.slice(-MAX_COMMITS).map(hash => hash.slice(0, 10));
      const reason =
        hashes.length === 0
          ? 'Done with Ralph Fresh'
          : `Done with Ralph Fresh in ${hashes.join(', ')}`;
      try {
        await tellBeads(this.storyFile, id, done, { ...this.access, mayRun: true, reason });
        this.told.set(id, done);
        this.failed.delete(id);
      } catch (error) {
        if (!(error instanceof HumanError)) {
          throw error;
        }
        // Tried again at the next boundary, and said only once.
        if (this.failed.get(id) !== error.message) {
          this.failed.set(id, error.message);
          notes.push({
            code: 'beadsNotTold',
            detail: sentences([
              say('{0} could not be changed in the database of Beads.', id),
              error.said,
            ]),
          });
        }
      }
    }
    return notes;
  }
}
