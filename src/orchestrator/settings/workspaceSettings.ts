import path from 'node:path';
import { applyEdits, modify } from 'jsonc-parser';
import { createFile } from '../../base/createFile.ts';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { replaceUnchanged } from '../stories/edit/fileEdit.ts';
import { requireInside } from '../stories/outsideLinks.ts';
import { parseSettings, readSettingsFile, settingsContent } from './settingsFile.ts';
import type { GivenSettings } from './settingTable.ts';

/** The path of a workspace's settings. @param workspace absolute path */
export function workspaceSettingsFile(workspace: string): string {
  return path.join(workspace, '.omc', 'config.json');
}

/**
 * The settings in the workspace's own file.
 * @throws {HumanError} with the line and how to fix it
 */
export async function readWorkspaceSettings(workspace: string): Promise<GivenSettings> {
  const file = workspaceSettingsFile(workspace);
  return readSettingsFile(file, { kind: 'workspace' });
}

/**
 * Sets the checks in the workspace's settings file and changes nothing else: comments and other settings are
 * preserved. An empty list removes the setting.
 *
 * @throws {HumanError} if the file cannot be used, or somebody else has just changed it
 */
export async function setWorkspaceChecks(
  workspace: string,
  commands: readonly string[],
): Promise<void> {
  const file = workspaceSettingsFile(workspace);
  const before = await settingsContent(file, { kind: 'workspace' });
  const value = commands.length === 0 ? undefined : commands;
  const changed = say('{0} has just been changed. Choose the checks again.', file);
  if (before === undefined) {
    if (value !== undefined) {
      requireInside(file);
      if (!(await createFile(file, `${JSON.stringify({ verify: value }, null, 2)}\n`))) {
        throw new HumanError(changed);
      }
    }
    return;
  }
  // Only a valid file can be edited.
  parseSettings(before, file, { kind: 'workspace' });
  const text = before.toString('utf8');
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const tabs = /^\t/m.test(text);
  const edits = modify(text, ['verify'], value, {
    formattingOptions: { insertSpaces: !tabs, tabSize: 2, eol },
  });
  const after = Buffer.from(applyEdits(text, edits));
  await replaceUnchanged(file, { before, after, changed });
}
