import type { Disposable } from '../../base/emitter.ts';

/** Owns objects that are disposed together. An object added to a disposed store is disposed at once. */
export class DisposableStore implements Disposable {
  private readonly items = new Set<Disposable>();
  private disposed = false;

  add<T extends Disposable>(item: T): T {
    if (this.disposed) {
      item.dispose();
    } else {
      this.items.add(item);
    }
    return item;
  }

  dispose(): void {
    this.disposed = true;
    for (const item of this.items) {
      item.dispose();
    }
    this.items.clear();
  }
}

/** An object that owns others, and disposes them with itself. */
export abstract class Owner implements Disposable {
  private readonly store = new DisposableStore();

  dispose(): void {
    this.store.dispose();
  }

  protected own<T extends Disposable>(item: T): T {
    return this.store.add(item);
  }
}
