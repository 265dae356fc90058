import { l10n, type QuickPickItem, window } from 'vscode';
import { type LaneSituation, laneChoices } from './proposedLanes.ts';

interface LaneItem extends QuickPickItem {
  readonly lanes: number;
}

/**
 * Asks for a number of agents at once.
 * @returns `undefined` if the person canceled
 */
export function pickLanes(title: string, situation: LaneSituation): Promise<number | undefined> {
  const pick = window.createQuickPick<LaneItem>();
  const { ready } = situation;
  const { choices, wanted } = laneChoices(situation);
  pick.title = title;
  pick.placeholder =
    ready < 2
      ? l10n.t('Only one story is ready now, so a second agent starts when others become ready')
      : l10n.t('All agents use the same account: more of them reach its limits sooner');
  pick.matchOnDescription = true;
  // A notification whose button opens it takes the focus away when it closes.
  pick.ignoreFocusOut = true;
  pick.items = choices.map(lanes => ({
    lanes,
    label: lanes === 1 ? l10n.t('1 agent') : l10n.t('{0} agents', lanes),
    description: descriptionOf(lanes, situation),
  }));
  pick.activeItems = pick.items.filter(({ lanes }) => lanes === wanted);
  return new Promise(resolve => {
    pick.onDidAccept(() => {
      resolve(pick.activeItems[0]?.lanes);
      pick.hide();
    });
    pick.onDidHide(() => {
      resolve(undefined);
      // With its listeners.
      pick.dispose();
    });
    pick.show();
  });
}

function descriptionOf(lanes: number, { inUse, last, proposed, ready }: LaneSituation): string {
  return [
    ...(lanes === proposed && lanes > 1 ? [l10n.t('suggested')] : []),
    ...(lanes === inUse ? [l10n.t('now')] : lanes === last ? [l10n.t('last choice')] : []),
    ...(lanes > Math.max(1, ready) ? [l10n.t('stories that are ready now: {0}', ready)] : []),
  ].join(' · ');
}
