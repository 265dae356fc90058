import { cp, mkdir, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { once } from '../../base/once.ts';
import { type Message, say } from '../../base/say.ts';
import { systemRefusal } from '../../base/systemRefusal.ts';
import { GitRepository } from '../git/git.ts';
import { gitDirOf } from '../git/gitDir.ts';
import { asHumanError } from '../git/gitErrors.ts';
import { writeGit } from '../git/runGit.ts';
import { ALONE, makeSharedClone, problemWithSharing } from '../git/sharedClone.ts';
import { copyInto, folderIn, includedFiles } from './copiedFiles.ts';
import { areAsPrepared, dependencyKey, prepareDependencies } from './dependencies.ts';
import { ownFiles, removeOthers } from './ownFiles.ts';
import type { Place } from './place.ts';
import {
  emptyTrash,
  PlaceFiles,
  type PlaceRecord,
  realPlacesFolder,
  requirePlaceName,
} from './placeFiles.ts';
import { copyIndex } from './placeHolding.ts';
import { pathsIn, realPathIn } from './placePaths.ts';
import { placeRefs } from './placesFolder.ts';
import { leasePorts } from './ports.ts';
import { type Reusable, type SafeOptions, securePlace } from './reusablePlace.ts';
import { WorkTreeAhead } from './workTreeAhead.ts';

/** A place of its own for an agent: a clone that shares the objects of the user's repository. */
export interface ClonePlace extends Place {
  readonly name: string;
  /** Top folder of the clone. */
  readonly root: string;
  /** Variables for whatever runs there: number of the lane, and its block of ports. */
  readonly env: Readonly<Record<string, string>>;
  /** What a person should know about how it was prepared. */
  readonly warnings: readonly Message[];
  /** Gives the place and its ports back; may be called twice. Its files stay for the next one. */
  dispose(): Promise<void>;
}

export interface ClonePlacesOptions {
  /** Absolute path of the user's folder. */
  readonly workspace: string;
  /** Top folder of the user's repository. */
  readonly root: string;
  /** The folder of the workspace's places (`placesFolder`). */
  readonly folder: string;
  /** Absolute paths in the user's folder. */
  readonly storyFile?: string | undefined;
  readonly progressFile?: string | undefined;
  /** A shell command that prepares dependencies (setting `placeSetup`), and its time limit in ms. */
  readonly setup?: string | undefined;
  readonly setupLimitMs?: number | undefined;
  readonly runId: string;
  readonly workRef: SafeOptions['workRef'];
  /** The whole environment of the setup command. */
  readonly env: Readonly<Record<string, string>>;
}

export interface PlaceStart {
  /** Full hash, in the user's repository. */
  readonly commit: string;
  /**
   * Full hash, in the user's repository: its files are in the work tree, as changes that are not committed. Those of an
   * earlier agent, for example.
   */
  readonly changes?: string | undefined;
  /** Name of the local branch on which HEAD will be. */
  readonly branch: string;
  /**
   * For checks, not for an agent: it has exactly the files of the commit, without the user's story file and progress
   * log, and what is left there later is nobody's work.
   */
  readonly isScratch?: boolean | undefined;
  /** Whom it is for; both are for people who look at the place. */
  readonly story?: string | undefined;
  readonly iteration?: number | undefined;
  /** Size of the block of ports; default: 10. */
  readonly ports?: number | undefined;
  /** Aborted: the setup command is ended, and `take` throws the reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Why agents cannot work in places of their own here, with the next step; `undefined` if they can. To be asked before
 * a run.
 * @param root top folder of the user's repository
 * @throws {HumanError} if git is missing, or cannot read the repository
 */
export async function problemWithPlaces(
  root: string,
  commit: string,
): Promise<Message | undefined> {
  try {
    return await problemWithSharing(root, commit);
  } catch (error) {
    throw asHumanError(error);
  }
}

/** The places of a run. */
export class ClonePlaces {
  private readonly options: ClonePlacesOptions;
  private readonly refs: string;
  private tidying: Promise<void> | undefined;

  constructor(options: ClonePlacesOptions) {
    this.options = options;
    this.refs = placeRefs(options.folder);
  }

  /**
   * Gives a place with the files of a commit, on a branch; and with the story file, the progress log and the files of
   * `.worktreeinclude` as the user has them now. A place is reused. Before that, everything that is in it is proved
   * to be held by refs of the user's repository, or kept there with the other work of its story
   * (`<ref>-later/<time>`); what checks left is not kept. A place that cannot be read is set aside.
   *
   * Each time, the place gets a new git folder: nothing that an agent did to the old one (configuration, hooks,
   * locks, a rebase) has an effect. The work tree is changed only where it differs from the commit. A kill at any
   * point leaves a place that is made again.
   *
   * @param name such as `lane-1`, or `queue`; different ones may be taken at the same time
   * @throws {HumanError} if another process has the place, or it cannot be prepared
   */
  async take(name: string, start: PlaceStart): Promise<ClonePlace> {
    requirePlaceName(name);
    const { folder } = this.options;
    try {
      await mkdir(folder, { recursive: true });
      const files = new PlaceFiles(await realPlacesFolder(folder), name);
      const unlock = await files.lock();
      try {
        const ports = await leasePorts(path.join(path.dirname(folder), 'ports'), start.ports);
        try {
          const env = {
            RALPH_FRESH_LANE: /\d+$/.exec(name)?.[0] ?? '0',
            RALPH_FRESH_PORT: String(ports.first),
            RALPH_FRESH_PORT_COUNT: String(ports.count),
          };
          const reused = await securePlace(files, { ...this.options, refs: this.refs });
          const record = await this.checkOut(files, reused, start);
          const { dir, storyFile, warnings } = await this.furnish(files, record, start, env);
          this.tidy();
          // The caller starts an agent in the place.
          await ports.open();
          const git = new GitRepository(dir);
          return {
            ...{ name, root: files.tree, dir, git, gitDir: gitDirOf(files.tree), storyFile },
            ...{ workTree: new WorkTreeAhead(git), env, warnings },
            // The second time, both may belong to somebody else.
            dispose: once(async () => {
              await ports.dispose();
              await unlock();
            }),
          };
        } catch (error) {
          await ports.dispose();
          throw error;
        }
      } catch (error) {
        await unlock();
        throw error;
      }
    } catch (error) {
      start.signal?.throwIfAborted();
      const refused = systemRefusal(error);
      throw refused === undefined
        ? asHumanError(error, say('The place {0} of a lane cannot be prepared', name))
        : new HumanError(refused, { cause: error });
    }
  }

  /**
   * Opens a place as the agent of an iteration of this run left it.
   * @returns `undefined` if somebody else has used it since, or it is gone
   * @throws {HumanError} if another process has the place
   */
  async reopen(name: string, iteration: number): Promise<ClonePlace | undefined> {
    requirePlaceName(name);
    const { folder, runId } = this.options;
    await mkdir(folder, { recursive: true });
    const files = new PlaceFiles(await realPlacesFolder(folder), name);
    const unlock = await files.lock();
    const record = await files.readRecord().catch(() => undefined);
    if (record?.isReady !== true || record.runId !== runId || record.iteration !== iteration) {
      await unlock();
      return undefined;
    }
    const { dir, storyFile } = await pathsIn(files, this.options);
    const git = new GitRepository(dir);
    return {
      ...{ name, root: files.tree, dir, git, gitDir: gitDirOf(files.tree), storyFile },
      ...{ workTree: new WorkTreeAhead(git), env: {}, warnings: [] },
      dispose: unlock,
    };
  }

  /** Waits until what was discarded so far is deleted, which can take long. */
  async tidied(): Promise<void> {
    await this.tidying;
  }

  private tidy(): void {
    const { folder } = this.options;
    const before = this.tidying ?? Promise.resolve();
    this.tidying = before.then(() => emptyTrash(folder));
  }

  /** Gives the place a new git folder, and the files of the commit. */
  private async checkOut(
    files: PlaceFiles,
    reused: Reusable | undefined,
    start: PlaceStart,
  ): Promise<PlaceRecord> {
    const { root, runId, setup, workspace } = this.options;
    const { commit, iteration, story } = start;
    await writeGit(root, ['update-ref', this.refs + files.name, commit]);
    const old = reused?.record.dependencies;
    const isUsable =
      reused !== undefined &&
      old !== undefined &&
      (reused.listing === undefined || dependencyKey(reused.listing, setup) === old.key) &&
      (await areAsPrepared(files.tree, old));
    const record: PlaceRecord = {
      ...{ root, workspace, runId, story, iteration, start: commit },
      ...{ isReady: false, copied: {}, dependencies: isUsable ? old : undefined },
      isScratch: start.isScratch,
    };
    const again = async () => {
      await files.discard(files.tree);
      // It belongs to these files, and may be what cannot be read.
      await files.discard(path.join(files.reader, 'index'));
    };
    if (reused === undefined) {
      await again();
    }
    await files.writeRecord(record);
    try {
      return await this.fill(files, record, old?.folders ?? [], start);
    } catch (error) {
      if (reused === undefined) {
        throw error;
      }
      // What is in the old one is proved to be safe.
      await again();
      return this.fill(files, { ...record, dependencies: undefined }, [], start);
    }
  }

  private async fill(
    files: PlaceFiles,
    record: PlaceRecord,
    oldFolders: readonly string[],
    { branch, changes, commit }: PlaceStart,
  ): Promise<PlaceRecord> {
    const { root, setup } = this.options;
    const made = await makeSharedClone(root, await files.newFolder(), { branch, commit });
    const oldIndex = path.join(files.reader, 'index');
    if ((await stat(oldIndex).catch(() => undefined)) !== undefined) {
      // With the times of the files as we left them: only what has changed since then is written again.
      await copyIndex(oldIndex, path.join(made, 'index'));
    }
    const reader = path.join(await files.newFolder(), 'reader.git');
    await cp(made, reader, { recursive: true });
    await files.discard(files.reader);
    await rename(reader, files.reader);
    await mkdir(files.tree, { recursive: true });
    await files.discard(files.gitDir);
    await rename(made, files.gitDir);

    const git = (...args: readonly string[]) =>
      writeGit(files.tree, [
        ...[...ALONE, `--git-dir=${files.gitDir}`, `--work-tree=${files.tree}`],
        // An object of Git LFS that the user does not have stays a pointer.
        ...['-c', 'filter.lfs.required=false', ...args],
      ]);
    await git('read-tree', '--reset', commit);
    const key = dependencyKey(await git('ls-files', '-s', '-z'), setup);
    const dependencies = record.dependencies?.key === key ? record.dependencies : undefined;
    const next = { ...record, dependencies };
    if (dependencies === undefined) {
      await files.writeRecord(next);
      for (const folder of oldFolders) {
        await files.discard(path.join(files.tree, folder));
      }
    }
    const kept = (dependencies?.folders ?? []).map(folder => `--exclude=/${literal(folder)}`);
    await git('clean', '-ffdx', '--quiet', ...kept);
    await git('reset', '--hard', '--quiet', commit);
    const index = path.join(await files.newFolder(), 'index');
    await copyIndex(path.join(files.gitDir, 'index'), index);
    await rename(index, oldIndex);
    if (changes !== undefined) {
      await git('read-tree', '-m', '-u', commit, changes);
      await git('reset', '--quiet', commit);
      return { ...next, given: (await git('rev-parse', `${changes}^{tree}`)).trim() };
    }
    return next;
  }

  /** Adds what git does not have: files of the user, and dependencies. Then the place is ready. */
  private async furnish(
    files: PlaceFiles,
    record: PlaceRecord,
    start: PlaceStart,
    laneEnv: Readonly<Record<string, string>>,
  ) {
    const { env, progressFile, root, runId, setup, setupLimitMs, storyFile, workspace } =
      this.options;
    const { dir, placeOf, prefix, storyFile: ownStoryFile } = await pathsIn(files, this.options);
    await folderIn(files.tree, prefix);
    const own = await ownFiles([storyFile, progressFile], placeOf);
    const orders = start.isScratch ? [] : [...own.orders];
    for (const file of await includedFiles(workspace)) {
      orders.push({ from: path.join(workspace, file), to: path.posix.join(prefix, file) });
    }
    const copied = await copyInto(files.tree, orders);
    if (!start.isScratch) {
      await removeOthers(files.tree, own);
    }
    let { dependencies } = record;
    let warnings: readonly Message[] = [];
    if (dependencies === undefined) {
      const listing = await writeGit(files.tree, [...ALONE, 'ls-files', '-s', '-z']);
      const prepared = await prepareDependencies({
        ...{ files, root, copied: Object.keys(copied), key: dependencyKey(listing, setup) },
        setup:
          setup === undefined
            ? undefined
            : {
                ...{ command: setup, env: { ...env, ...laneEnv }, runId, dir },
                limitMs: setupLimitMs,
                signal: start.signal ?? new AbortController().signal,
              },
      });
      ({ warnings, ...dependencies } = prepared);
    }
    const shared = await Promise.all([
      ...own.orders.map(({ to }) => realPathIn(files.tree, to)),
      ...own.folders.map(async to => `${await realPathIn(files.tree, to)}/`),
    ]);
    await files.writeRecord({ ...record, copied, shared, dependencies, isReady: true });
    return { dir, storyFile: ownStoryFile, warnings };
  }
}

/** A path as a pattern of git that means only this path. */
function literal(file: string): string {
  return file.replace(/[\\*?[\]!# ]/g, String.raw`\$&`);
}
