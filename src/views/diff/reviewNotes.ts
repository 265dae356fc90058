import { FileSystemError, Uri, workspace } from 'vscode';
import { writePlainFile } from '../../base/plainFile.ts';
import { type ReviewNote, reviewNoteSchema } from './reviewNote.ts';

/** Above it, the oldest are removed. */
const MAX_NOTES = 300;
const SUFFIX = '.json';

/**
 * Stores the review notes of a window's folders: one file per note in the storage folder that VS Code provides. Not
 * in a `Memento`: a browser writes that with a delay and loses it with the window, and two windows on one folder
 * would overwrite each other's notes.
 */
export class ReviewNotes {
  private readonly dir: Uri;
  private readonly notes: Map<string, ReviewNote>;

  private constructor(dir: Uri, notes: readonly ReviewNote[]) {
    this.dir = dir;
    this.notes = new Map(notes.map(note => [note.id, note]));
  }

  /**
   * @param dir created by the first note
   * @param onUnreadable called with the reason why a note is ignored
   */
  static async open(dir: Uri, onUnreadable: (error: unknown) => void): Promise<ReviewNotes> {
    const passOver = (error: unknown) => {
      // No note has been written yet, or another window has just deleted this one.
      if (!(error instanceof FileSystemError && error.code === 'FileNotFound')) {
        onUnreadable(error);
      }
      return [];
    };
    const entries = await workspace.fs.readDirectory(dir).then(undefined, passOver);
    const notes = await Promise.all(
      entries
        .filter(([name]) => name.endsWith(SUFFIX))
        .map(([name]) => readNote(Uri.joinPath(dir, name)).catch(passOver)),
    );
    return new ReviewNotes(dir, notes.flat().sort(byTime));
  }

  /** The oldest first. */
  get all(): readonly ReviewNote[] {
    return [...this.notes.values()];
  }

  /** Adds a note, or replaces the one with its id. @throws if it cannot be written */
  async set(note: ReviewNote): Promise<void> {
    // Atomic, so that either the old or the new note exists if the window crashes. A rename through `workspace.fs`
    // deletes the target first, and fails if another window has just done so.
    await writePlainFile(this.file(note.id).fsPath, `${JSON.stringify(note)}\n`);
    this.notes.set(note.id, note);
    for (const { id } of this.all.slice(0, -MAX_NOTES)) {
      await this.remove(id);
    }
  }

  async remove(id: string): Promise<void> {
    try {
      await workspace.fs.delete(this.file(id));
    } catch (error) {
      if (!(error instanceof FileSystemError && error.code === 'FileNotFound')) {
        throw error;
      }
    }
    this.notes.delete(id);
  }

  private file(id: string): Uri {
    return Uri.joinPath(this.dir, `${id}${SUFFIX}`);
  }
}

async function readNote(file: Uri): Promise<ReviewNote[]> {
  const text = Buffer.from(await workspace.fs.readFile(file)).toString('utf8');
  return [reviewNoteSchema().parse(JSON.parse(text))];
}

function byTime(one: ReviewNote, other: ReviewNote): number {
  return one.at < other.at ? -1 : one.at > other.at ? 1 : 0;
}
