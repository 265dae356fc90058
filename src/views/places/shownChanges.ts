import type { Memento } from 'vscode';
import * as z from 'zod';
import { once } from '../../base/once.ts';
import { remember } from '../common/remember.ts';

const KEY = 'shownChanges';
/** Maximum number that is remembered; an editor may be closed without our knowledge. */
const MAX = 20;

const shownSchema = once(() =>
  z.array(
    z.object({
      title: z.string(),
      /** Absolute path of the folder. */
      folder: z.string(),
      storyId: z.string(),
      runId: z.string(),
      iteration: z.number().optional(),
      /** Of the list of files. */
      key: z.string(),
    }),
  ),
);

/** An editor with the changes in a place. */
export type ShownChange = Readonly<z.infer<ReturnType<typeof shownSchema>>[number]>;

/** The editors with changes in places, which VS Code restores when the window is opened again. */
export class ShownChanges {
  private readonly state: Memento;
  private readonly onError: (error: Error) => void;

  constructor(state: Memento, onError: (error: Error) => void) {
    this.state = state;
    this.onError = onError;
  }

  get all(): readonly ShownChange[] {
    const kept = this.state.get<unknown>(KEY);
    // Without any, the start of a window needs no schema.
    return kept === undefined ? [] : (shownSchema().safeParse(kept).data ?? []);
  }

  add(shown: ShownChange): void {
    this.set([...this.all.filter(({ title }) => title !== shown.title), shown].slice(-MAX));
  }

  remove(title: string): void {
    const all = this.all;
    const others = all.filter(shown => shown.title !== title);
    if (others.length < all.length) {
      this.set(others);
    }
  }

  private set(all: readonly ShownChange[]): void {
    remember(this.state, KEY, all, this.onError);
  }
}
