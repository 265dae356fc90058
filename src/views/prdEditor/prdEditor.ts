import type { LogOutputChannel } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { ConfigValue } from '../common/configValue.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import type { Folders } from '../folders/folders.ts';
import type { RunSettings } from '../settings/runSettings.ts';
import { PlanCommands } from './planCommands.ts';
import { PlanPreview } from './planPreview.ts';
import { SplitCommand } from './splitCommand.ts';
import { StoryDocuments } from './storyDocuments.ts';
import { StoryFixes } from './storyFixes.ts';
import { StoryLenses } from './storyLenses.ts';
import { storyProblems } from './storyProblems.ts';

/** Story files in the editor: problems and their fixes, actions above each story, plans before they are written. */
export function prdEditor(
  folders: Folders,
  settings: RunSettings,
  program: string,
  log: LogOutputChannel,
): Disposable {
  const store = new DisposableStore();

  const documents = store.add(new StoryDocuments(folders));
  const isOn = store.add(new ConfigValue('codeLens', true));
  store.add(storyProblems(documents, log));
  store.add(new StoryFixes(documents));
  store.add(new StoryLenses(documents, folders, isOn, log));
  const preview = store.add(new PlanPreview());
  store.add(new PlanCommands(folders, settings, preview, program, log));
  store.add(new SplitCommand(folders, settings, preview, program, log));
  return store;
}
