import { EventEmitter } from 'vscode';
import type { RunEvent } from '../../orchestrator/journal/events.ts';
import { INITIAL_RUN_STATE, type RunState } from '../../orchestrator/journal/runState.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import { Owner } from '../common/disposableStore.ts';
import type { Folder } from './folder.ts';
import type { Folders } from './folders.ts';

const NO_RUN: WatchedRun = { state: INITIAL_RUN_STATE, alive: false };

/**
 * The newest run of the active folder as one observable: `onDidChange` also fires when another folder becomes active.
 */
export class ActiveRun extends Owner {
  private readonly changeEmitter = this.own(new EventEmitter<WatchedRun>());
  readonly onDidChange = this.changeEmitter.event;
  private readonly folders: Folders;

  constructor(folders: Folders) {
    super();
    this.folders = folders;
    this.own(
      folders.inEach(folder =>
        folder.runs.onDidChange(run => {
          if (folder === folders.active) {
            this.changeEmitter.fire(run);
          }
        }),
      ),
    );
    this.own(folders.onDidChangeActive(() => this.changeEmitter.fire(this.current)));
  }

  get folder(): Folder | undefined {
    return this.folders.active;
  }

  get current(): WatchedRun {
    return this.folder?.runs.current ?? NO_RUN;
  }

  /** States of all runs of the folder, oldest first, the newest last. */
  get states(): readonly RunState[] {
    return this.folder?.runs.states ?? [INITIAL_RUN_STATE];
  }

  /** The events of the newest run so far; of a long one, older chatter of agents is missing. */
  get events(): readonly RunEvent[] {
    return this.folder?.runs.events ?? [];
  }

  /** Reads the files now; resolves after their changes have been reported. */
  async refresh(): Promise<void> {
    await this.folder?.runs.refresh();
  }
}
