import { type HumanError, requireHuman } from '../../../base/humanError.ts';
import { say, sentences } from '../../../base/say.ts';
import type { SettledStories, Tracker, TrackerNote } from '../tracker.ts';
import { type BdOptions, BdTimeout } from './bd.ts';
import { tellBeads } from './beadsAccess.ts';

const MAX_COMMITS = 5;
/** In ms: who holds the database does not let go of it within moments. */
const PAUSE_AFTER_TIMEOUT_MS = 60_000;

export interface BeadsTrackerOptions extends Pick<BdOptions, 'env' | 'timeLimitMs'> {
  readonly now?: () => number;
}

/**
 * The database of Beads, of which the story file is only an export: what a run has settled is closed or reopened there by
 * `bd`. Agents change the file, in the user's folder or in a clone that has no database.
 */
export class BeadsTracker implements Tracker {
  private readonly storyFile: string;
  private readonly options: BeadsTrackerOptions;
  /** Ids of what is closed there. An open issue is looked at each time: its agent may close it by itself. */
  private readonly closed = new Set<string>();
  private readonly failed = new Map<string, string>();
  /** `bd` is not called before, in ms since the epoch. */
  private pausedUntil = 0;

  constructor(storyFile: string, options: BeadsTrackerOptions) {
    this.storyFile = storyFile;
    this.options = options;
  }

  async sync(
    settled: SettledStories | undefined,
    signal?: AbortSignal,
  ): Promise<readonly TrackerNote[]> {
    const now = this.options.now ?? Date.now;
    if (now() < this.pausedUntil) {
      return [];
    }
    const notes: TrackerNote[] = [];
    const wanted = [
      ...(settled?.done ?? [])
        .filter(({ id, isOfRun }) => isOfRun && !this.closed.has(id))
        .map(({ commits, id }) => ({ id, done: true, commits })),
      ...(settled?.open ?? []).map(id => ({ id, done: false, commits: [] as readonly string[] })),
    ];
    for (const one of wanted) {
      if (signal?.aborted) {
        break;
      }
      try {
        await this.tell(one, signal);
      } catch (error) {
        requireHuman(error);
        if (signal?.aborted) {
          break;
        }
        notes.push(...this.noteOf(one.id, error));
        if (error instanceof BdTimeout) {
          this.pausedUntil = now() + PAUSE_AFTER_TIMEOUT_MS;
          break;
        }
      }
    }
    return notes;
  }

  private async tell(
    { commits, done, id }: { id: string; done: boolean; commits: readonly string[] },
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { env, timeLimitMs } = this.options;
    const hashes = commits.slice(-MAX_COMMITS).map(hash => hash.slice(0, 10));
    const reason =
      hashes.length === 0
        ? 'Done with Ralph Fresh'
        : `Done with Ralph Fresh in ${hashes.join(', ')}`;
    const access = { env, timeLimitMs, signal, mayRun: true, reason };
    await tellBeads(this.storyFile, id, done, access);
    if (done) {
      this.closed.add(id);
    } else {
      this.closed.delete(id);
    }
    this.failed.delete(id);
  }

  /** Tried again at a later boundary, and said only once. */
  private noteOf(id: string, error: HumanError): readonly TrackerNote[] {
    if (this.failed.get(id) === error.message) {
      return [];
    }
    this.failed.set(id, error.message);
    const what = say('{0} could not be changed in the database of Beads.', id);
    return [{ code: 'beadsNotTold', detail: sentences([what, error.said]) }];
  }
}
