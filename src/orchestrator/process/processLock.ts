import { rm } from 'node:fs/promises';
import { readPlainFile, writeDerivedFile } from '../../base/plainFile.ts';
import { identify, isRunning, type ProcessIdentity } from './processIdentity.ts';

/** The content of a lock file: the owner and additional facts. */
export type LockOwner<Facts> = Facts & {
  readonly pid: number;
  readonly startId?: string | undefined;
};

export type LockTaken<Facts> =
  | {
      readonly kind: 'taken';
      /** The owner that was found dead. */
      readonly died?: LockOwner<Facts>;
      /** Releases the lock; may be called twice. */
      readonly release: () => Promise<void>;
    }
  | { readonly kind: 'held'; readonly by: LockOwner<Facts> };

/**
 * A lock file that names a running process: it is free as soon as its owner is killed, but stays taken while its
 * owner sleeps (a closed laptop).
 */
export class ProcessLock<Facts extends object> {
  private readonly file: string;
  private readonly maxBytes: number;
  private readonly parse: (value: unknown) => LockOwner<Facts>;

  /**
   * @param file absolute path
   * @param maxBytes a larger file is not ours
   * @param parse throws for content that no owner has written
   */
  constructor(file: string, maxBytes: number, parse: (value: unknown) => LockOwner<Facts>) {
    this.file = file;
    this.maxBytes = maxBytes;
    this.parse = parse;
  }

  /**
   * Takes the lock if it is free. The caller must prevent two calls at the same time.
   * @throws the system's error if the file cannot be written
   */
  async take(facts: Facts): Promise<LockTaken<Facts>> {
    const self = { ...(await identify(process.pid)), ...facts };
    const owner = await this.readOwner();
    if (owner !== undefined && (await isRunning(identityOf(owner)))) {
      return { kind: 'held', by: owner };
    }
    // Not synced: it names a process, and no process survives a power failure.
    await writeDerivedFile(this.file, `${JSON.stringify(self)}\n`);
    return {
      kind: 'taken',
      died: owner,
      release: async () => {
        const now = await this.readOwner();
        if (now !== undefined && isSame(now, self)) {
          await rm(this.file, { force: true });
        }
      },
    };
  }

  /** The process that holds the lock; `undefined` if there is none, or it is dead. */
  async livingOwner(): Promise<LockOwner<Facts> | undefined> {
    const owner = await this.readOwner();
    return owner !== undefined && (await isRunning(identityOf(owner))) ? owner : undefined;
  }

  private async readOwner(): Promise<LockOwner<Facts> | undefined> {
    const text = await readPlainFile(this.file, this.maxBytes);
    if (text === undefined) {
      return undefined;
    }
    try {
      const owner = this.parse(JSON.parse(text.toString('utf8')));
      // Our locks always include the start if it is known; a pid alone may belong to any process.
      return owner.startId === undefined && process.platform === 'linux' ? undefined : owner;
    } catch {
      // It is written atomically, so an unreadable file was not written by an owner.
      return undefined;
    }
  }
}

function isSame(one: LockOwner<object>, other: LockOwner<object>): boolean {
  return one.pid === other.pid && one.startId === other.startId;
}

function identityOf({ pid, startId }: LockOwner<object>): ProcessIdentity {
  return startId === undefined ? { pid } : { pid, startId };
}
