import type { Memento } from 'vscode';
import { remember } from '../common/remember.ts';

/** Where the window remembers them. */
const KEY = 'terminal.open';

/** `alone`: no other terminal was open in the window. */
export type Kept = 'alone' | 'amongOthers';

/**
 * The folders whose run had a terminal when the window was closed. VS Code brings back the terminals of shells, and none of
 * an extension: that is ours to do.
 */
export class KeptTerminals {
  private readonly state: Memento;
  private readonly onError: (error: Error) => void;

  /** @param state of the workspace */
  constructor(state: Memento, onError: (error: Error) => void) {
    this.state = state;
    this.onError = onError;
  }

  /** @param folder absolute path */
  of(folder: string): Kept | undefined {
    const kept = this.all[folder];
    return kept === 'alone' || kept === 'amongOthers' ? kept : undefined;
  }

  /** @param folder absolute path @param kept `undefined` when a person has closed it */
  keep(folder: string, kept: Kept | undefined): void {
    if (this.of(folder) !== kept) {
      const { [folder]: _, ...others } = this.all;
      const all = kept === undefined ? others : { ...others, [folder]: kept };
      remember(this.state, KEY, all, this.onError);
    }
  }

  private get all(): Readonly<Record<string, unknown>> {
    const all = this.state.get<unknown>(KEY);
    return typeof all === 'object' && all !== null ? (all as Record<string, unknown>) : {};
  }
}
