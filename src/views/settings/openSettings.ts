import { commands } from 'vscode';
import { SETTINGS_SECTION } from '../common/contributions.ts';
import type { RunSetting } from './windowSettings.ts';

/** Shows a setting in the settings editor. @param query its id, or what else to look for */
export async function openSettings(query: string): Promise<void> {
  await commands.executeCommand('workbench.action.openSettings', query);
}

/** Shows one setting of a run there, as far as it is named. */
export async function openRunSetting(setting: RunSetting | undefined): Promise<void> {
  await openSettings(setting === undefined ? SETTINGS_SECTION : `${SETTINGS_SECTION}.${setting}`);
}
