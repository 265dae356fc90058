import { l10n } from 'vscode';
import { HumanError } from '../../base/humanError.ts';
import { MAX_LANES } from '../../orchestrator/journal/eventCodes.ts';
import { runStanding } from '../../orchestrator/journal/runStanding.ts';
import { deliverRequest } from '../../orchestrator/workspace/delivery.ts';
import type { RunRequest } from '../../orchestrator/workspace/request.ts';
import { requireTrust } from '../common/workspaceFolder.ts';
import type { Folder } from '../folders/folder.ts';
import type { FromPage } from './protocol.ts';

type LaneWish = Extract<
  FromPage,
  { readonly type: 'moreLanes' | 'fewerLanes' | 'pauseLane' | 'resumeLane' }
>;

/** Steers the lanes of the active run from the page, with the requests of `ralph-fresh lanes` and `pause --lane`. */
export class LaneRequests {
  private last: Promise<void> = Promise.resolve();

  /**
   * Resolves when the loop has taken it. One after the other: three presses on a button are three lanes.
   * @throws {HumanError} if there is no such run
   */
  send(folder: Folder, wish: LaneWish): Promise<void> {
    const sent = this.last.then(() => this.deliver(folder, wish));
    this.last = sent.catch(() => undefined);
    return sent;
  }

  private async deliver(folder: Folder, wish: LaneWish): Promise<void> {
    requireTrust();
    await folder.runs.refresh();
    const { current } = folder.runs;
    if (!runStanding(current).isActive || current.state.isolated !== true) {
      throw new HumanError(l10n.t('No run is active in this folder.'));
    }
    const request = requestOf(wish, current.state.lanes);
    if (request === undefined) {
      return;
    }
    await deliverRequest(folder.files, request);
    await folder.runs.refresh();
  }
}

/** @returns `undefined` if there cannot be more or fewer */
function requestOf(wish: LaneWish, lanes: number): RunRequest | undefined {
  switch (wish.type) {
    case 'moreLanes':
      return lanes < MAX_LANES ? { type: 'lanes', lanes: lanes + 1 } : undefined;
    case 'fewerLanes':
      return lanes > 1 ? { type: 'lanes', lanes: lanes - 1 } : undefined;
    case 'pauseLane':
      return { type: 'pause', lane: wish.lane };
    case 'resumeLane':
      return { type: 'resume', lane: wish.lane };
  }
}
