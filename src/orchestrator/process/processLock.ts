import { rm } from 'node:fs/promises';
import { readPlainFile, writeDerivedFile } from '../../base/plainFile.ts';
import { identify, isRunning, type ProcessIdentity } from './processIdentity.ts';

/** What a lock file says of its owner, besides who that is. */
export type LockOwner<Facts> = Facts & {
  readonly pid: number;
  readonly startId?: string | undefined;
};

export type LockTaken<Facts> =
  | {
      readonly kind: 'taken';
      /** The owner that was found dead. */
      readonly died?: LockOwner<Facts>;
      /** Gives it back; safe to call twice. */
      readonly release: () => Promise<void>;
    }
  | { readonly kind: 'held'; readonly by: LockOwner<Facts> };

/**
 * A lock that is a file naming a living process: one whose owner was killed is free at once, and one whose owner sleeps (a
 * closed laptop) is not.
 */
export class ProcessLock<Facts extends object> {
  private readonly file: string;
  private readonly maxBytes: number;
  private readonly parse: (value: unknown) => LockOwner<Facts>;

  /**
   * @param file absolute path
   * @param maxBytes a larger file is none of ours
   * @param parse throws for what no owner has written
   */
  constructor(file: string, maxBytes: number, parse: (value: unknown) => LockOwner<Facts>) {
    this.file = file;
    this.maxBytes = maxBytes;
    this.parse = parse;
  }

  /**
   * Looks and takes; two who do so at the same time must be kept apart by the caller.
   * @throws the system's error when the file cannot be written
   */
  async take(facts: Facts): Promise<LockTaken<Facts>> {
    const self = { ...(await identify(process.pid)), ...facts };
    const owner = await this.readOwner();
    if (owner !== undefined && (await isRunning(identityOf(owner)))) {
      return { kind: 'held', by: owner };
    }
    // Not synced: it names a process, and none outlives the machine.
    await writeDerivedFile(this.file, `${JSON.stringify(self)}\n`);
    return {
      kind: 'taken',
      ...(owner !== undefined && { died: owner }),
      release: async () => {
        const now = await this.readOwner();
        if (now !== undefined && isSame(now, self)) {
          await rm(this.file, { force: true });
        }
      },
    };
  }

  /** The process that holds the lock now; `undefined` when none does, or the one that did is dead. */
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
      // Ours always name the start where it can be known; a bare pid may be anybody's.
      return owner.startId === undefined && process.platform === 'linux' ? undefined : owner;
    } catch {
      // It is written in one step, so what cannot be read was not written by an owner.
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
