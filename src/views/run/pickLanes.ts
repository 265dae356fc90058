import { l10n, type QuickPickItem, window } from 'vscode';
import { DisposableStore } from '../common/disposableStore.ts';

/** Numbers of agents to choose from; every number between them can be set. */
const CHOICES: readonly number[] = [1, 2, 3, 4, 6, 8, 12, 16];
/** Enough to be worth it; more use up an account quickly, and wait for each other's checks. */
const MAX_PROPOSED = 4;

interface LaneItem extends QuickPickItem {
  readonly lanes: number;
}

/** What a person knows when they choose a number of agents. */
export interface LaneSituation {
  /** Stories that can be worked on at the same time now. */
  readonly ready: number;
  /** The number that was chosen last, or that is in use. */
  readonly last: number | undefined;
  /** The smallest number to choose from. */
  readonly from: number;
}

/** How many agents to propose: as many as can work at once, within reason. Pure. */
export function proposedLanes(ready: number): number {
  return Math.max(1, Math.min(ready, MAX_PROPOSED));
}

/**
 * Asks for a number of agents at once.
 * @returns `undefined` if the person canceled
 */
export function pickLanes(title: string, situation: LaneSituation): Promise<number | undefined> {
  const store = new DisposableStore();
  const pick = store.add(window.createQuickPick<LaneItem>());
  const { from, last, ready } = situation;
  pick.title = title;
  pick.placeholder =
    ready < 2
      ? l10n.t('Only one story is ready now, so a second agent starts when others become ready')
      : l10n.t('All agents use the same account: more of them reach its limits sooner');
  pick.matchOnDescription = true;
  pick.items = CHOICES.filter(lanes => lanes >= from).map(lanes => ({
    lanes,
    label: lanes === 1 ? l10n.t('1 agent') : l10n.t('{0} agents', lanes),
    description: descriptionOf(lanes, situation),
  }));
  const wanted = last ?? proposedLanes(ready);
  pick.activeItems = pick.items.filter(({ lanes }) => lanes === wanted);
  return new Promise(resolve => {
    store.add(
      pick.onDidAccept(() => {
        resolve(pick.activeItems[0]?.lanes);
        pick.hide();
      }),
    );
    store.add(
      pick.onDidHide(() => {
        resolve(undefined);
        store.dispose();
      }),
    );
    pick.show();
  });
}

function descriptionOf(lanes: number, { last, ready }: LaneSituation): string {
  const reason =
    lanes > Math.max(1, ready)
      ? l10n.t('stories that are ready now: {0}', ready)
      : lanes > 1
        ? l10n.t('up to {0} agents at once on one account', lanes)
        : '';
  return [
    ...(lanes === proposedLanes(ready) && lanes > 1 ? [l10n.t('suggested')] : []),
    ...(lanes === last ? [l10n.t('last choice')] : []),
    ...(reason === '' ? [] : [reason]),
  ].join(' · ');
}
