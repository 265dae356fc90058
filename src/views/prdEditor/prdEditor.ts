import { Disposable, type LogOutputChannel } from 'vscode';
import { ConfigValue } from '../common/configValue.ts';
import type { Folders } from '../folders/folders.ts';
import type { RunSettings } from '../settings/runSettings.ts';
import { contextCommands } from './contextCommands.ts';
import { pinCommands } from './pinCommands.ts';
import { planCommands } from './planCommands.ts';
import { PlanPreview } from './planPreview.ts';
import { planSnippets } from './planSnippets.ts';
import { StoryDocuments } from './storyDocuments.ts';
import { storyFixes } from './storyFixes.ts';
import { storyLenses } from './storyLenses.ts';
import { storyProblems } from './storyProblems.ts';

/**
 * Story files in the editor: problems and their fixes, actions above each story, plans before they are written.
 * @param program `dist/cli.js` of this extension
 */
export function prdEditor(
  folders: Folders,
  settings: RunSettings,
  program: string,
  log: LogOutputChannel,
): Disposable {
  const documents = new StoryDocuments(folders);
  const isOn = new ConfigValue('codeLens', true);
  const preview = new PlanPreview();
  return Disposable.from(
    documents,
    isOn,
    storyProblems(documents, log),
    storyFixes(documents),
    planSnippets(documents),
    storyLenses(documents, folders, isOn, log),
    preview,
    planCommands(folders, settings, preview, program, log),
    contextCommands(folders, program, log),
    pinCommands(folders, program, log),
  );
}
