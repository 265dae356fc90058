import path from 'node:path';
import { type Memento, Uri } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { RunFiles } from '../../orchestrator/workspace/runFiles.ts';
import { RunModel } from './runModel.ts';
import { StoryModel } from './storyModel.ts';

/** One folder of the window, with its stories and its runs. A folder has at most one loop. */
export class Folder implements Disposable {
  /** Absolute. */
  readonly path: string;
  /** The name in the window; no other folder has the same. */
  readonly name: string;
  readonly files: RunFiles;
  readonly runs: RunModel;
  readonly stories: StoryModel;

  /** @param state the workspace's state */
  constructor(folderPath: string, name: string, state: Memento, onError: (error: Error) => void) {
    this.path = folderPath;
    this.name = name;
    this.files = new RunFiles(folderPath);
    this.stories = new StoryModel(folderPath, state, onError);
    this.runs = new RunModel(this.files, this.stories, onError);
  }

  get uri(): Uri {
    return Uri.file(this.path);
  }

  /** The story file of the living run, if it is not the shown one. */
  get otherStoryFile(): string | undefined {
    const { alive, state } = this.runs.current;
    const { current } = this.stories;
    if (!alive || state.storyFile === undefined || current === undefined) {
      return undefined;
    }
    const file = path.resolve(this.path, state.storyFile);
    return file === current.path ? undefined : file;
  }

  /** Whether this folder contains a file or folder, given by its absolute path. */
  contains(file: string): boolean {
    const relative = path.relative(this.path, file);
    return relative === '' || !(relative.startsWith('..') || path.isAbsolute(relative));
  }

  dispose(): void {
    this.runs.dispose();
    this.stories.dispose();
  }
}
