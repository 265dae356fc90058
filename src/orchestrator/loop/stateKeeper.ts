import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { currentOf } from '../journal/runState.ts';
import type { Run } from '../run/run.ts';
import { warn } from '../run/warn.ts';
import { acquireRunLock } from '../workspace/runLock.ts';
import { ignoreStateDir } from '../workspace/stateIgnore.ts';

type KeptRun = Pick<Run, 'files' | 'id' | 'journal' | 'marker' | 'state'>;

/**
 * Restores a run's own files: agents clean folders (`git clean -fdx`), and without its lock and journal a run could
 * not be watched, stopped or continued, and a second loop could start in parallel.
 */
export class StateKeeper {
  private readonly run: KeptRun;
  private readonly onRestored: () => void;
  private restoring: Promise<boolean> | undefined;
  private displaced: HumanError | undefined;

  /** @param onRestored called when everything has been restored */
  constructor(run: KeptRun, onRestored: () => void) {
    this.run = run;
    this.onRestored = onRestored;
  }

  /**
   * Restores missing files among lock, journal and state file; the folders of earlier iterations are lost.
   * @returns whether something was missing
   * @throws {HumanError} if another loop has started here meanwhile; from then on the run only writes its journal
   */
  restore(): Promise<boolean> {
    this.restoring ??= this.restoreNow().finally(() => {
      this.restoring = undefined;
    });
    return this.restoring;
  }

  /** Some of the files are there again, and others are not yet. */
  get isRestoring(): boolean {
    return this.restoring !== undefined;
  }

  /** Waits for a restore in progress; only its caller gets an error. */
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
          'The folder {0} was removed during the run, and another loop (process {1}) has started here since. This run ends; "ralph-fresh status" shows the other one.',
          files.stateDir,
          attempt.by.pid,
        ),
      );
      throw this.displaced;
    }
    if (iteration !== undefined) {
      // The steps after the agent write there: checks, reviewer, receipt.
      await mkdir(files.iterationDir(id, iteration), { recursive: true });
    }
    await run.marker.write(true);
    warn(run.journal, 'stateDamaged', isJournalThere ? files.lockFile : files.stateDir, iteration);
    this.onRestored();
    return true;
  }
}
