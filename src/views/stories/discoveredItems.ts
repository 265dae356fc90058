import { l10n, ThemeIcon, TreeItem, TreeItemCollapsibleState } from 'vscode';
import { shorten } from '../../base/text.ts';
import type { DiscoveredNode, DiscoveryNode } from './storyTree.ts';

const MAX_LABEL = 200;

/** The line above the work that agents found. */
export function discoveredItem({ folder, items }: DiscoveredNode): TreeItem {
  const item = new TreeItem(l10n.t('Discovered'), TreeItemCollapsibleState.Expanded);
  item.id = `discovered:${folder}`;
  item.description = String(items.length);
  item.iconPath = new ThemeIcon('lightbulb');
  item.contextValue = 'discovered';
  item.tooltip = l10n.t(
    'Work that agents found outside of their stories. It is no story until you accept it.',
  );
  item.accessibilityInformation = {
    label: l10n.t('Group {0}, {1}', l10n.t('Discovered'), items.length),
  };
  return item;
}

/** One of them; its text is data. */
export function discoveryItem({ discovery, folder }: DiscoveryNode): TreeItem {
  const { from, id, state, title } = discovery;
  const label = shorten(title, MAX_LABEL);
  const item = new TreeItem(label, TreeItemCollapsibleState.None);
  item.id = `discovery:${folder}:${id}`;
  item.description =
    state === 'accepted'
      ? l10n.t('accepted, joins the list soon')
      : from === undefined
        ? ''
        : l10n.t('from {0}', shorten(from, 80));
  item.iconPath = new ThemeIcon(state === 'accepted' ? 'check' : 'lightbulb');
  // Also if it is accepted: the run that was to add it may have ended before.
  item.contextValue = 'discovery';
  item.accessibilityInformation = {
    label: l10n.t('Discovered work: {0}, {1}', label, item.description),
  };
  return item;
}
