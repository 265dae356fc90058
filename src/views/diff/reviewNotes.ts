import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { type ReviewNote, reviewNoteSchema } from './reviewNote.ts';

/** The oldest go; nobody looks at so many. */
const MAX_NOTES = 300;
const SUFFIX = '.json';

/**
 * Keeps the review notes of a window's folders: a file for each in the place that VS Code gives us. Not in its own memory
 * (`Memento`), which a browser writes some seconds later and loses with the window, and where two windows
 * on one folder undo each other's notes.
 */
export class ReviewNotes {
  private readonly dir: string;
  private readonly notes: Map<string, ReviewNote>;

  private constructor(dir: string, notes: readonly ReviewNote[]) {
    this.dir = dir;
    this.notes = new Map(notes.map(note => [note.id, note]));
  }

  /**
   * @param dir absolute path; made by the first note
   * @param onUnreadable gets why a file is passed over
   */
  static async open(dir: string, onUnreadable: (error: Error) => void): Promise<ReviewNotes> {
    const orNone = (place: string) => (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') {
        onUnreadable(new Error(`No review note can be read from ${place}: ${error.message}`));
      }
      return [];
    };
    const names = await readdir(dir).catch(orNone(dir));
    const notes = await Promise.all(
      names
        .filter(name => name.endsWith(SUFFIX))
        .map(name => readNote(path.join(dir, name)).catch(orNone(name))),
    );
    return new ReviewNotes(dir, notes.flat().sort(byTime));
  }

  /** The oldest first. */
  get all(): readonly ReviewNote[] {
    return [...this.notes.values()];
  }

  /** Adds a note, or replaces the one with its id. @throws {Error} when it cannot be written */
  async set(note: ReviewNote): Promise<void> {
    await mkdir(this.dir, { recursive: true });
    await writeFileAtomic(this.file(note.id), `${JSON.stringify(note)}\n`);
    this.notes.set(note.id, note);
    for (const { id } of this.all.slice(0, -MAX_NOTES)) {
      await this.remove(id);
    }
  }

  async remove(id: string): Promise<void> {
    await rm(this.file(id), { force: true });
    this.notes.delete(id);
  }

  private file(id: string): string {
    return path.join(this.dir, `${id}${SUFFIX}`);
  }
}

async function readNote(file: string): Promise<ReviewNote[]> {
  return [reviewNoteSchema().parse(JSON.parse(await readFile(file, 'utf8')))];
}

function byTime(one: ReviewNote, other: ReviewNote): number {
  return one.at < other.at ? -1 : one.at > other.at ? 1 : 0;
}
