import type { Memento } from 'vscode';
import { remember } from '../common/remember.ts';

/** Key under which the window stores them. */
const KEY = 'terminal.open';
/** Key of the stories that are shown alone. */
const ONLY_KEY = 'terminal.only';

/** `alone`: no other terminal was open in the window. */
export type Kept = 'alone' | 'amongOthers';

/**
 * The folders whose run had a terminal when the window was closed. VS Code restores the terminals of shells, but none
 * of an extension, so we have to do that.
 */
export class KeptTerminals {
  private readonly state: Memento;
  private readonly onError: (error: Error) => void;

  /** @param state the workspace's state */
  constructor(state: Memento, onError: (error: Error) => void) {
    this.state = state;
    this.onError = onError;
  }

  /** @param folder absolute path */
  of(folder: string): Kept | undefined {
    const kept = this.all[folder];
    return kept === 'alone' || kept === 'amongOthers' ? kept : undefined;
  }

  /** @param folder absolute path @param kept `undefined` if a person has closed it */
  keep(folder: string, kept: Kept | undefined): void {
    if (this.of(folder) !== kept) {
      const { [folder]: _, ...others } = this.all;
      const all = kept === undefined ? others : { ...others, [folder]: kept };
      remember(this.state, KEY, all, this.onError);
    }
  }

  /** The story whose lines alone the terminal of a run shows. @param folder absolute path */
  storyOf(folder: string, runId: string): string | undefined {
    const kept = this.read(ONLY_KEY)[folder];
    return Array.isArray(kept) && kept[0] === runId && typeof kept[1] === 'string'
      ? kept[1]
      : undefined;
  }

  /** @param story `undefined`: all are shown */
  keepStory(folder: string, runId: string, story: string | undefined): void {
    if (this.storyOf(folder, runId) !== story) {
      const { [folder]: _, ...others } = this.read(ONLY_KEY);
      const all = story === undefined ? others : { ...others, [folder]: [runId, story] };
      remember(this.state, ONLY_KEY, all, this.onError);
    }
  }

  private get all(): Readonly<Record<string, unknown>> {
    return this.read(KEY);
  }

  private read(key: string): Readonly<Record<string, unknown>> {
    const all = this.state.get<unknown>(key);
    return typeof all === 'object' && all !== null ? (all as Record<string, unknown>) : {};
  }
}
