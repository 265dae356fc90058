import { EventEmitter } from 'vscode';
import type { StoryFile } from '../../orchestrator/stories/story.ts';
import { Owner } from '../common/disposableStore.ts';
import type { Folders } from './folders.ts';

/**
 * The story file of the active folder as one observable: `onDidChange` also fires when another folder becomes active.
 */
export class ActiveStories extends Owner {
  private readonly changeEmitter = this.own(new EventEmitter<void>());
  readonly onDidChange = this.changeEmitter.event;
  private readonly folders: Folders;

  constructor(folders: Folders) {
    super();
    this.folders = folders;
    this.own(
      folders.inEach(folder =>
        folder.stories.onDidChange(() => {
          if (folder === folders.active) {
            this.changeEmitter.fire();
          }
        }),
      ),
    );
    this.own(folders.onDidChangeActive(() => this.changeEmitter.fire()));
  }

  /** As last read; `undefined` if there is none, or before the first look. */
  get current(): StoryFile | undefined {
    return this.folders.active?.stories.current;
  }
}
