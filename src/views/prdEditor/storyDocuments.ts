import path from 'node:path';
import { EventEmitter, type TextDocument, workspace } from 'vscode';
import {
  type DiagnosedStories,
  diagnoseStories,
  diagnoseTaskFile,
} from '../../orchestrator/stories/diagnosis/diagnose.ts';
import { isFolderPath } from '../../orchestrator/stories/formats/folderText.ts';
import type { Story, StoryFile, StoryList } from '../../orchestrator/stories/story.ts';
import { readStoryBytes } from '../../orchestrator/stories/storyFile.ts';
import { Owner } from '../common/disposableStore.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';

/** Delay after typing before problems are reported, in ms. */
const PAUSE_MS = 250;
/** Files that may contain stories; other files are not read at all. */
const MAY_HOLD_STORIES = /\.(?:json|jsonl|ndjson|md|markdown|mdx|ya?ml)$/i;
/** Maximum number of UTF-16 units of a file that is read while somebody types; on disk it may be larger. */
const MAX_LENGTH = 8 * 1024 * 1024;

/** A file of a folder of tasks. */
export interface FileOfTasks {
  readonly folder: Folder;
  readonly list: StoryList;
  readonly stories: readonly Story[];
}

/** The story files that are open in editors, including unsaved changes. */
export class StoryDocuments extends Owner {
  private readonly changeEmitter = this.own(new EventEmitter<TextDocument>());
  /** A document has changed, or may have become a story file or ceased to be one. */
  readonly onDidChange = this.changeEmitter.event;
  private readonly closeEmitter = this.own(new EventEmitter<TextDocument>());
  readonly onDidClose = this.closeEmitter.event;
  private readonly folders: Folders;
  private readonly timers = new Map<TextDocument, NodeJS.Timeout>();
  private readonly known = new WeakMap<
    TextDocument,
    {
      readonly version: number;
      readonly source: StoryFile | undefined;
      readonly stories: DiagnosedStories | undefined;
    }
  >();
  /** The texts of folders of tasks. A folder that is read again, and is not the same, is another object. */
  private readonly texts = new WeakMap<StoryFile, Promise<string | undefined>>();
  /** Folders whose story file has been searched for. */
  private readonly asked = new WeakSet<Folder>();

  constructor(folders: Folders) {
    super();
    this.folders = folders;
    this.own(workspace.onDidOpenTextDocument(document => this.tell(document)));
    this.own(
      workspace.onDidCloseTextDocument(document => {
        this.forget(document);
        this.closeEmitter.fire(document);
      }),
    );
    this.own(workspace.onDidChangeTextDocument(({ document }) => this.tellSoon(document)));
    this.own(
      folders.inEach(folder =>
        folder.stories.onDidChange(() => {
          for (const document of workspace.textDocuments) {
            if (folder.contains(document.uri.fsPath)) {
              this.tell(document);
            }
          }
        }),
      ),
    );
  }

  /** All open documents, whether or not they contain stories. */
  get all(): readonly TextDocument[] {
    return workspace.textDocuments.filter(mayHoldStories);
  }

  /** The folder whose story file the document is. The first call for a folder searches for that file. */
  async folderOf(document: TextDocument): Promise<Folder | undefined> {
    const folder = mayHoldStories(document) ? this.folders.of(document.uri.fsPath) : undefined;
    if (folder === undefined) {
      return undefined;
    }
    if (!this.asked.has(folder)) {
      this.asked.add(folder);
      await folder.stories.refresh();
    }
    return folder.stories.current?.path === document.uri.fsPath ? folder : undefined;
  }

  /** The stories of a folder of tasks whose file the document is, as that file was last saved. */
  async tasksIn(document: TextDocument): Promise<FileOfTasks | undefined> {
    await this.folderOf(document);
    const folder = mayHoldStories(document) ? this.folders.of(document.uri.fsPath) : undefined;
    const list = folder?.stories.current;
    if (folder === undefined || list?.kind !== 'stories') {
      return undefined;
    }
    const isHere = (story: Story) =>
      story.file !== undefined && path.join(list.path, story.file) === document.uri.fsPath;
    return { folder, list, stories: list.stories.filter(isHere) };
  }

  /** The document parsed as a story file, or as a file of a folder of tasks; `undefined` if it is none. */
  async read(document: TextDocument): Promise<DiagnosedStories | undefined> {
    const isOwn = (await this.folderOf(document)) !== undefined;
    const isPrd = path.basename(document.uri.fsPath) === 'prd.json' && mayHoldStories(document);
    if (!isOwn && !isPrd) {
      return this.readInFolder(document);
    }
    const stories = document.isClosed ? undefined : this.parse(document);
    // Other files with that name may not contain a story list at all.
    return isOwn || stories?.file.kind === 'stories' ? stories : undefined;
  }

  override dispose(): void {
    for (const timer of this.timers.values()) {
      clearTimeout(timer);
    }
    this.timers.clear();
    super.dispose();
  }

  /** All other files of the folder count as they were last saved. */
  private async readInFolder(document: TextDocument): Promise<DiagnosedStories | undefined> {
    const folder = mayHoldStories(document) ? this.folders.of(document.uri.fsPath) : undefined;
    const source = folder?.stories.current;
    if (source?.format !== 'backlog') {
      return undefined;
    }
    const name = path.relative(source.path, document.uri.fsPath).replaceAll(path.sep, '/');
    if (!isFolderPath(name)) {
      return undefined;
    }
    const reading = this.texts.get(source) ?? textOf(source);
    this.texts.set(source, reading);
    const content = await reading;
    return content === undefined || document.isClosed
      ? undefined
      : this.parse(document, { source, content, name });
  }

  private parse(
    document: TextDocument,
    inFolder?: { readonly source: StoryFile; readonly content: string; readonly name: string },
  ): DiagnosedStories | undefined {
    const { version } = document;
    const source = inFolder?.source;
    const before = this.known.get(document);
    if (before?.version === version && before.source === source) {
      return before.stories;
    }
    const text = document.getText();
    if (text.length > MAX_LENGTH) {
      return undefined;
    }
    const stories =
      inFolder === undefined
        ? diagnoseStories(document.uri.fsPath, text)
        : diagnoseTaskFile(inFolder.source.path, inFolder.content, inFolder.name, text);
    this.known.set(document, { version, source, stories });
    return stories;
  }

  private tell(document: TextDocument): void {
    this.forget(document);
    if (mayHoldStories(document)) {
      this.changeEmitter.fire(document);
    }
  }

  private tellSoon(document: TextDocument): void {
    if (mayHoldStories(document)) {
      this.forget(document);
      this.timers.set(
        document,
        setTimeout(() => this.tell(document), PAUSE_MS),
      );
    }
  }

  private forget(document: TextDocument): void {
    clearTimeout(this.timers.get(document));
    this.timers.delete(document);
  }
}

async function textOf({ path: folder }: StoryFile): Promise<string | undefined> {
  return (await readStoryBytes(folder))?.toString('utf8');
}

function mayHoldStories({ uri }: TextDocument): boolean {
  return uri.scheme === 'file' && MAY_HOLD_STORIES.test(uri.path);
}
