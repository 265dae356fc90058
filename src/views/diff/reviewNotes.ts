import { FileSystemError, Uri, workspace } from 'vscode';
import { writePlainFile } from '../../base/plainFile.ts';
import { type ReviewNote, reviewNoteSchema } from './reviewNote.ts';

/** The oldest go; nobody looks at so many. */
const MAX_NOTES = 300;
const SUFFIX = '.json';

/**
 * Keeps the review notes of a window's folders: a file for each in the place that VS Code gives us. Not in its own memory
 * (`Memento`), which a browser writes some time later and loses with the window, and where two windows
 * on one folder undo each other's notes.
 */
export class ReviewNotes {
  private readonly dir: Uri;
  private readonly notes: Map<string, ReviewNote>;

  private constructor(dir: Uri, notes: readonly ReviewNote[]) {
    this.dir = dir;
    this.notes = new Map(notes.map(note => [note.id, note]));
  }

  /**
   * @param dir made by the first note
   * @param onUnreadable gets why a note is passed over
   */
  static async open(dir: Uri, onUnreadable: (error: unknown) => void): Promise<ReviewNotes> {
    const passOver = (error: unknown) => {
      // Nobody has written a note yet, or another window has just deleted this one.
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

  /** Adds a note, or replaces the one with its id. @throws when it cannot be written */
  async set(note: ReviewNote): Promise<void> {
    // In one step, so that the old one is there or the new one whenever the window goes down: to rename through
    // `workspace.fs` deletes what is at the place first, and fails where another window has just done so.
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
