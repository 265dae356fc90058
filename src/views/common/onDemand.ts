import { commands, type LogOutputChannel } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { onceItSucceeds } from '../../base/once.ts';
import { DisposableStore } from './disposableStore.ts';
import { registerCommands } from './registerCommand.ts';

/**
 * A feature whose code is loaded on first use, so that a window that never uses it opens sooner. Until then its
 * commands are registered here; the first one that is called loads the feature, which then runs it.
 */
export class OnDemand<T extends Disposable> implements Disposable {
  private readonly store = new DisposableStore();
  private readonly load: () => Promise<() => T>;
  private readonly log: LogOutputChannel;
  private readonly standIn: () => Disposable;
  private standIns: Disposable;
  /** The feature; created by the first call. */
  readonly get = onceItSucceeds(() => this.make());

  /**
   * @param ids commands that the feature registers itself when it is created
   * @param load loads the code and returns a factory for the feature
   */
  constructor(ids: readonly string[], load: () => Promise<() => T>, log: LogOutputChannel) {
    this.load = load;
    this.log = log;
    const loadAndRun =
      (id: string) =>
      async (...args: readonly unknown[]) => {
        await this.get();
        await commands.executeCommand(id, ...args);
      };
    const actions = Object.fromEntries(ids.map(id => [id, loadAndRun(id)]));
    this.standIn = () => registerCommands(log, actions);
    this.standIns = this.standIn();
  }

  /** Loads the feature without waiting for it; a failure is logged. */
  getSoon(): void {
    this.get().catch((error: unknown) => this.log.error(String(error)));
  }

  dispose(): void {
    this.standIns.dispose();
    this.store.dispose();
  }

  private async make(): Promise<T> {
    const create = await this.load();
    this.standIns.dispose();
    let surface: T;
    try {
      surface = create();
    } catch (error) {
      this.standIns = this.standIn();
      throw error;
    }
    // Disposed at once if the window was closed meanwhile.
    return this.store.add(surface);
  }
}
