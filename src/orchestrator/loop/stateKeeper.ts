import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { appendAs } from '../journal/appendAs.ts';
import { currentOf } from '../journal/runState.ts';
import type { Run } from '../run/run.ts';
import { warn } from '../run/warn.ts';
import { acquireRunLock } from '../workspace/runLock.ts';
import { ignoreStateDir } from '../workspace/stateIgnore.ts';

type KeptRun = Pick<Run, 'files' | 'id' | 'journal' | 'marker' | 'state'>;

/**
 * Keeps a run's own files in their places: agents clean folders (`git clean -fdx`), and without its lock and its journal
 * a run could not be watched, stopped or gone on with, and a second loop could begin beside it.
 */
export class StateKeeper {
  private readonly run: KeptRun;
  private readonly onRestored: () => void;
  private restoring: Promise<boolean> | undefined;
  private displaced: HumanError | undefined;

  /** @param onRestored called when everything is in its place again */
  constructor(run: KeptRun, onRestored: () => void) {
    this.run = run;
    this.onRestored = onRestored;
  }

  /**
   * Puts back what is gone of the lock, the journal and the state file; what earlier iterations left is lost.
   * @returns whether something was gone
   * @throws {HumanError} when another loop has begun here meanwhile; from then on the run writes nothing but its journal
   */
  restore(): Promise<boolean> {
    this.restoring ??= this.restoreNow().finally(() => {
      this.restoring = undefined;
    });
    return this.restoring;
  }

  /** Waits for what is being put back; whether that worked is told to who asked for it. */
  async settled(): Promise<void> {
    await Promise.allSettled([this.restoring]);
  }

  private async restoreNow(): Promise<boolean> {
    const { run } = this;
    const { files, id } = run;
    const isJournalThere = run.journal.isInPlace();
    if (this.displaced !== undefined) {
      throw this.displaced;
    }
    if (isJournalThere && existsSync(files.lockFile)) {
      return false;
    }
    const { number: iteration } = currentOf(run.state()) ?? {};
    await ignoreStateDir(files);
    const attempt = await acquireRunLock(files, id);
    run.journal.restore();
    if (attempt.kind === 'held' && attempt.by.pid !== process.pid) {
      run.marker.isDisplaced = true;
      this.displaced = new HumanError(
        say(
          'The folder {0} was removed while the run worked, and another loop (process {1}) has begun here since. This run ends; "ralph-fresh status" tells of the other one.',
          files.stateDir,
          attempt.by.pid,
        ),
      );
      throw this.displaced;
    }
    if (iteration !== undefined) {
      // Whatever follows the agent writes there: checks, reviewer, receipt.
      await mkdir(files.iterationDir(id, iteration), { recursive: true });
    }
    await run.marker.write(true);
    const to = iteration === undefined ? run.journal : { append: appendAs(iteration, run.journal) };
    warn(to, 'stateDamaged', isJournalThere ? files.lockFile : files.stateDir);
    this.onRestored();
    return true;
  }
}
