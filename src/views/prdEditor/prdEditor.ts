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
import { StoryProblems } from './storyProblems.ts';

/** Story files in the editor: problems and their fixes, actions above each story, plans before they are written. */
export class PrdEditor implements Disposable {
  private readonly store = new DisposableStore();

  /** @param program `dist/cli.js` of this extension */
  constructor(folders: Folders, settings: RunSettings, program: string, log: LogOutputChannel) {
    const documents = this.store.add(new StoryDocuments(folders));
    const isOn = this.store.add(new ConfigValue('codeLens', true));
    this.store.add(new StoryProblems(documents, log));
    this.store.add(new StoryFixes(documents));
    this.store.add(new StoryLenses(documents, folders, isOn, log));
    const preview = this.store.add(new PlanPreview());
    this.store.add(new PlanCommands(folders, settings, preview, program, log));
    this.store.add(new SplitCommand(folders, settings, preview, program, log));
  }

  dispose(): void {
    this.store.dispose();
  }
}
