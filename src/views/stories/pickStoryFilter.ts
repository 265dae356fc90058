import { l10n, type QuickPickItem, window } from 'vscode';
import { STATE_KINDS, type StoryState } from '../../presentation/storyState.ts';
import type { StoryFilter } from './storyFilter.ts';
import type { StoryNode } from './storyTree.ts';
import { kindName } from './storyWords.ts';

interface KindItem extends QuickPickItem {
  readonly state: StoryState['kind'];
}

/**
 * Asks for states and words in one step: states are ticked, words typed.
 * @returns `undefined` if the person canceled
 */
export function pickStoryFilter(
  filter: StoryFilter,
  stories: readonly StoryNode[],
): Promise<StoryFilter | undefined> {
  const counts = new Map<string, number>();
  for (const { state } of stories) {
    counts.set(state.kind, (counts.get(state.kind) ?? 0) + 1);
  }
  const items = STATE_KINDS.filter(kind => counts.has(kind) || filter.states.has(kind)).map(
    (kind): KindItem => ({
      state: kind,
      label: kindName(kind),
      description: String(counts.get(kind) ?? 0),
      // The typed text filters the stories, not this list.
      alwaysShow: true,
    }),
  );
  const pick = window.createQuickPick<KindItem>();
  pick.title = l10n.t('Filter Stories');
  pick.placeholder = l10n.t('Tick the states to show, or type words of an id or title');
  pick.canSelectMany = true;
  pick.items = items;
  pick.selectedItems = items.filter(({ state }) => filter.states.has(state));
  pick.value = filter.text;
  return new Promise(resolve => {
    pick.onDidAccept(() => {
      const states = new Set(pick.selectedItems.map(({ state }) => state));
      resolve({ states, text: pick.value.trim() });
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
