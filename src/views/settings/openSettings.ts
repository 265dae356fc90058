import { commands } from 'vscode';

/** Shows a setting in the settings editor. @param query its id, or what else to look for */
export async function openSettings(query: string): Promise<void> {
  await commands.executeCommand('workbench.action.openSettings', query);
}
