import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, realpath, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { lockAround } from '../../base/fileLock.ts';
import { HumanError } from '../../base/humanError.ts';
import { once } from '../../base/once.ts';
import { readPlainFile, writePlainFile } from '../../base/plainFile.ts';
import { say } from '../../base/say.ts';
import { ProcessLock } from '../process/processLock.ts';

const MAX_RECORD_BYTES = 16 * 1024 * 1024;
const MAX_LOCK_BYTES = 4_096;
/** Names of places; others in their folder are ours. */
const NAME = /^(?!(?:aside|trash|kept)$)[a-z][a-z0-9-]{0,60}$/;
/** Ends the name of the folder with what we know of a place. */
const OWN = '.own';

const recordSchema = once(() =>
  z.looseObject({
    /** Top folder of the user's repository, and the user's folder. */
    root: z.string(),
    workspace: z.string(),
    runId: z.string(),
    story: z.string().optional(),
    iteration: z.number().optional(),
    /** The commit that it started from. */
    start: z.string().regex(/^[0-9a-f]{40,64}$/),
    /** Whether an agent may have worked there; before that, nothing in it is anybody's work. */
    isReady: z.boolean(),
    /** SHA-256 of the files that we put there, by path from its top folder, with forward slashes. */
    copied: z.record(z.string(), z.string()),
    /** SHA-256 of the files with conflicts as git has left them, for a person who settles them. */
    conflicts: z.record(z.string(), z.string()).optional(),
    /** The story file and the progress log, from its top folder: they are merged by meaning. A folder ends with a slash. */
    shared: z.array(z.string()).optional(),
    /** The tree of the uncommitted changes with which an agent got it: refs hold them already. */
    given: z.string().optional(),
    /** No agent works there, only checks: what they leave is nobody's work. */
    isScratch: z.boolean().optional(),
    dependencies: z
      .looseObject({
        /** Of the lock files that they belong to. */
        key: z.string(),
        /** From its top folder, with forward slashes. */
        folders: z.array(z.string()),
        /** What installers note in these folders. */
        marks: z.string(),
      })
      .optional(),
    /** Its uncommitted work as last kept: our commit, and the tree of that. */
    kept: z.looseObject({ commit: z.string(), tree: z.string() }).optional(),
  }),
);

const ownerSchema = once(() =>
  z.looseObject({ pid: z.number().int().positive(), startId: z.string().optional() }),
);

/** What is known of a place, next to it. */
export type PlaceRecord = Readonly<z.infer<ReturnType<typeof recordSchema>>>;

/** The files of a place: the clone itself, and next to it what we know of it. Only this class knows their names. */
export class PlaceFiles {
  readonly name: string;
  /** Top folder of the clone. */
  readonly tree: string;
  private readonly folder: string;
  private readonly own: string;

  /** @param folder the folder that has the place, with others */
  constructor(folder: string, name: string) {
    this.folder = folder;
    this.name = name;
    this.tree = path.join(folder, name);
    this.own = this.tree + OWN;
  }

  /** The files of a place that is known by the top folder of its clone. */
  static of(tree: string): PlaceFiles {
    return new PlaceFiles(path.dirname(tree), path.basename(tree));
  }

  /** Our copy of its git folder as it was made: what an agent writes to the real one is not believed. */
  get reader(): string {
    return path.join(this.own, 'reader.git');
  }

  get gitDir(): string {
    return path.join(this.tree, '.git');
  }

  get setupLog(): string {
    return path.join(this.own, 'setup.log');
  }

  private get recordFile(): string {
    return path.join(this.own, 'record.json');
  }

  private get lockFile(): string {
    return path.join(this.own, 'lock.json');
  }

  /** @returns `undefined` if there is none that can be read */
  async readRecord(): Promise<PlaceRecord | undefined> {
    const bytes = await readPlainFile(this.recordFile, MAX_RECORD_BYTES);
    try {
      return bytes && recordSchema().parse(JSON.parse(bytes.toString('utf8')));
    } catch {
      // It is written in one step, so this is not ours.
      return undefined;
    }
  }

  async writeRecord(record: PlaceRecord): Promise<void> {
    await writePlainFile(this.recordFile, `${JSON.stringify(record, null, 2)}\n`);
  }

  /**
   * Takes the place for this process.
   * @returns a function that releases it
   * @throws {HumanError} if a living process has it
   */
  async lock(): Promise<() => Promise<void>> {
    await mkdir(this.own, { recursive: true });
    const unlock = await lockAround(this.own, this.lockFile);
    try {
      const taken = await this.processLock().take({});
      if (taken.kind === 'held') {
        throw new HumanError(
          say(
            'Process {0} works in {1}. Wait until it has ended, or end it.',
            taken.by.pid,
            this.tree,
          ),
        );
      }
      return taken.release;
    } finally {
      await unlock();
    }
  }

  /** The living process that has the place. */
  async usedBy(): Promise<number | undefined> {
    return (await this.processLock().livingOwner())?.pid;
  }

  /** A new, empty folder for something that is made, and then put in its place by a rename. */
  async newFolder(): Promise<string> {
    const folder = path.join(this.own, `new-${randomUUID()}`);
    await mkdir(folder, { recursive: true });
    return folder;
  }

  /** Removes what a killed process left half made. */
  async discardHalves(): Promise<void> {
    for (const entry of await readdir(this.own).catch(() => [])) {
      if (entry.startsWith('new-')) {
        await this.discard(path.join(this.own, entry));
      }
    }
  }

  /** Removes a file or folder of the place at once, by a rename; its deletion is the work of {@link emptyTrash}. */
  async discard(thing: string): Promise<void> {
    const trash = path.join(this.folder, 'trash');
    await mkdir(trash, { recursive: true });
    await moveIfThere(thing, path.join(trash, randomUUID()));
  }

  /** Removes the whole place. The caller has the proof that nothing is lost. */
  async discardAll(): Promise<void> {
    await this.discard(this.tree);
    await this.discard(this.own);
  }

  /**
   * Puts the clone aside with what we know of it, so that another one can be made. Nothing of it is changed or
   * deleted.
   * @returns its files there
   */
  async setAside(): Promise<PlaceFiles> {
    const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
    const name = `${this.name}-${stamp}-${randomUUID().slice(0, 4)}`;
    const aside = new PlaceFiles(path.join(this.folder, 'aside'), name);
    await mkdir(aside.own, { recursive: true });
    await moveIfThere(this.tree, aside.tree);
    await moveIfThere(this.recordFile, aside.recordFile);
    await moveIfThere(this.reader, aside.reader);
    return aside;
  }

  private processLock(): ProcessLock<object> {
    return new ProcessLock(this.lockFile, MAX_LOCK_BYTES, value => ownerSchema().parse(value));
  }
}

/** @throws if it is not a name for a place: letters, digits and hyphens */
export function requirePlaceName(name: string): void {
  if (!NAME.test(name)) {
    throw new Error(`"${name}" is not a name for a place.`);
  }
}

/**
 * The folder of places as git and the system name it. Opening a place needs this path, because that of the person's
 * cache folder may lead through a link.
 */
export async function realPlacesFolder(folder: string): Promise<string> {
  return realpath(folder).catch(() => folder);
}

/** All places of a folder, and those that were set aside. */
export async function placesIn(
  named: string,
): Promise<{ readonly files: PlaceFiles; readonly isSetAside: boolean }[]> {
  const folder = await realPlacesFolder(named);
  const aside = path.join(folder, 'aside');
  const found = await Promise.all([namesIn(folder), namesIn(aside)]);
  return [
    ...found[0]
      .filter(name => NAME.test(name))
      .map(name => ({ files: new PlaceFiles(folder, name), isSetAside: false })),
    ...found[1].map(name => ({ files: new PlaceFiles(aside, name), isSetAside: true })),
  ];
}

/**
 * Deletes what was discarded in a folder of places. Takes long for large dependencies. What cannot be deleted now
 * (another process is deleting it, or has a file open) is left for the next time.
 */
export async function emptyTrash(folder: string): Promise<void> {
  for (const trash of [path.join(folder, 'trash'), path.join(folder, 'aside', 'trash')]) {
    for (const entry of await readdir(trash).catch(() => [])) {
      await rm(path.join(trash, entry), { recursive: true, force: true }).catch(() => undefined);
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder).catch(() => []);
  const names = entries.map(name => (name.endsWith(OWN) ? name.slice(0, -OWN.length) : name));
  return [...new Set(names)].filter(name => name !== 'trash').sort();
}

async function moveIfThere(from: string, to: string): Promise<void> {
  if ((await lstat(from).catch(() => undefined)) !== undefined) {
    await rename(from, to);
  }
}
