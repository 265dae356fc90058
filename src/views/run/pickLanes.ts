import { l10n, type QuickPickItem, window } from 'vscode';
import { DisposableStore } from '../common/disposableStore.ts';

/** Numbers of agents to choose from; every number between them can be set. */
const CHOICES: readonly number[] = [1, 2, 3, 4, 6, 8, 12, 16];

interface LaneItem extends QuickPickItem {
  readonly lanes: number;
}

/** What a person knows when they choose a number of agents. */
export interface LaneSituation {
  /** Stories that can be worked on at the same time now. */
  readonly ready: number;
  readonly proposed: number;
  /** The number that was chosen last, or that is in use. */
  readonly last: number | undefined;
  /** The smallest number to choose from. */
  readonly from: number;
}

/**
 * Asks for a number of agents at once.
 * @returns `undefined` if the person canceled
 */
export function pickLanes(title: string, situation: LaneSituation): Promise<number | undefined> {
  const store = new DisposableStore();
  const pick = store.add(window.createQuickPick<LaneItem>());
  const { from, last, proposed, ready } = situation;
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
  const wanted = last ?? proposed;
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

function descriptionOf(lanes: number, { last, proposed, ready }: LaneSituation): string {
  const reason =
    lanes > Math.max(1, ready)
      ? l10n.t('stories that are ready now: {0}', ready)
      : lanes > 1
        ? l10n.t('up to {0} agents at once on one account', lanes)
        : '';
  return [
    ...(lanes === proposed && lanes > 1 ? [l10n.t('suggested')] : []),
    ...(lanes === last ? [l10n.t('last choice')] : []),
    ...(reason === '' ? [] : [reason]),
  ].join(' · ');
}
