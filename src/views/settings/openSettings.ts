import { commands } from 'vscode';
import { SETTINGS_SECTION } from '../common/contributions.ts';
import type { RunSetting } from './windowSettings.ts';

/** Shows a setting in the settings editor. @param query its id, or a search text */
export async function openSettings(query: string): Promise<void> {
  await commands.executeCommand('workbench.action.openSettings', query);
}

/** Shows one setting of a run in the settings editor; without a setting, all of them. */
export async function openRunSetting(setting: RunSetting | undefined): Promise<void> {
  await openSettings(setting === undefined ? SETTINGS_SECTION : `${SETTINGS_SECTION}.${setting}`);
}
