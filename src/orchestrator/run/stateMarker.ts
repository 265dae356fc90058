import { writeDerivedFile } from '../../base/plainFile.ts';
import type { RunState } from '../journal/runState.ts';
import { requirePlainState } from '../workspace/plainState.ts';
import type { RunFiles } from '../workspace/runFiles.ts';
import type { StopSwitch } from '../workspace/stopSwitch.ts';

/** The state file for other tools (Ralph-Fresh whitepaper, 7.4). */
export class StateMarker {
  private readonly run: {
    readonly files: RunFiles;
    readonly id: string;
    readonly stop: StopSwitch;
    readonly state: () => RunState;
  };
  private readonly startedAt: string;
  /** Another loop has taken over the state folder, so this one must not write there any more. */
  isDisplaced = false;

  constructor(run: StateMarker['run']) {
    this.run = run;
    this.startedAt = run.state().startedAt ?? new Date().toISOString();
  }

  async write(active: boolean): Promise<void> {
    const { files, id, stop } = this.run;
    // Writing it again would hide a request to cancel that was made through this file.
    if (this.isDisplaced || (active && stop.requested)) {
      return;
    }
    requirePlainState(files, id);
    const { iteration, outcome } = this.run.state();
    const state = {
      active,
      started_at: this.startedAt,
      iteration,
      run_id: id,
      pid: process.pid,
      workspace: files.workspace,
      outcome: active ? undefined : outcome,
    };
    await writeDerivedFile(files.stateFile, `${JSON.stringify(state, null, 2)}\n`);
  }
}
