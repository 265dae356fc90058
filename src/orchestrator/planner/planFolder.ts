import { closeSync, constants, type Dirent, openSync, writeSync } from 'node:fs';
import { readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { once } from '../../base/once.ts';
import { PLAIN, readPlainFile, requirePlainFolders, writePlainFile } from '../../base/plainFile.ts';
import { hasTracked } from '../git/trackedFile.ts';
import { identify, isRunning, type ProcessIdentity } from '../process/processIdentity.ts';
import { endLeftovers } from '../process/processTree.ts';
import { isRunId, type RunFiles } from '../workspace/runFiles.ts';

/** Exists as long as the planner works: the planner itself in the first line, then its agents. */
const PROCESSES_FILE = 'processes.jsonl';
/** In bytes; a planner has only a few agents. */
const MAX_PROCESSES_BYTES = 64 * 1024;

const identitySchema = once(() =>
  z.object({
    pid: z.number().int().positive(),
    startId: z.string().optional(),
  }),
);

/**
 * The folder of one plan without a run. It contains the running processes, so that the next command can clean up
 * after a `kill -9`.
 */
export class PlanFolder {
  readonly dir: string;

  private constructor(dir: string) {
    this.dir = dir;
  }

  /**
   * Creates the folder for a planner in this process.
   * @throws {HumanError} if a parent folder is a link
   */
  static async claim(files: RunFiles, id: string): Promise<PlanFolder> {
    const folder = new PlanFolder(path.join(plansDir(files), id));
    await writePlainFile(folder.processesFile, line(await identify(process.pid)));
    return folder;
  }

  /** An agent has been started; recorded at once, because this process may be killed at any time. */
  noteAgent(agent: ProcessIdentity): void {
    const fd = openSync(this.processesFile, constants.O_WRONLY | constants.O_APPEND | PLAIN);
    try {
      writeSync(fd, line(agent));
    } finally {
      closeSync(fd);
    }
  }

  /** Marks the folder as no longer in use; the files of the calls stay for a person to look at. */
  async leave(): Promise<void> {
    await rm(this.processesFile, { force: true });
    try {
      await rmdir(this.dir);
    } catch (error) {
      // Some systems report EEXIST for a folder that is not empty. A missing folder must not hide why the planner
      // failed.
      if (
        !['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')
      ) {
        throw error;
      }
    }
  }

  async remove(): Promise<void> {
    await rm(this.dir, { recursive: true, force: true });
  }

  private get processesFile(): string {
    return path.join(this.dir, PROCESSES_FILE);
  }
}

/**
 * Ends what killed planners have left running, and removes their folders. A running planner is left alone.
 * @returns the number of killed planners
 * @throws {HumanError} if the folder of the plans is a link
 */
export async function clearDeadPlans(files: RunFiles): Promise<number> {
  const dead = await deadPlans(files);
  for (const { id, agents } of dead) {
    // A pid alone may belong to another process by now; processes without an exact identity are found by the plan's
    // marker.
    for (const { pid, startId } of agents) {
      if (startId !== undefined && (await isRunning({ pid, startId }))) {
        await endLeftovers(pid, id, { startId });
      }
    }
    await endLeftovers(undefined, id);
    await rm(path.join(plansDir(files), id), { recursive: true, force: true });
  }
  return dead.length;
}

/** A plan whose planner was killed. */
export interface DeadPlan {
  readonly id: string;
  readonly agents: readonly ProcessIdentity[];
}

/**
 * Plans whose planner was killed before it could clean up; not those that came with the repository. Changes
 * nothing.
 */
export async function deadPlans(files: RunFiles): Promise<readonly DeadPlan[]> {
  requirePlainFolders(plansDir(files));
  const dead: DeadPlan[] = [];
  for (const entry of await entriesOf(plansDir(files))) {
    if (!entry.isDirectory() || !isRunId(entry.name)) {
      continue;
    }
    const [planner, ...agents] = await processesOf(path.join(plansDir(files), entry.name));
    if (
      planner !== undefined &&
      !(await isRunning(planner)) &&
      !(await cameWithRepository(files, entry.name))
    ) {
      dead.push({ id: entry.name, agents });
    }
  }
  return dead;
}

/** Whether git tracks files in it: these were not written by our planner. */
async function cameWithRepository(files: RunFiles, id: string): Promise<boolean> {
  try {
    return await hasTracked(files.workspace, `.omc/state/plan/${id}`);
  } catch {
    // Without a repository nothing came with one.
    return false;
  }
}

function plansDir(files: RunFiles): string {
  return path.join(files.stateDir, 'plan');
}

async function entriesOf(dir: string): Promise<Dirent[]> {
  try {
    return await readdir(dir, { withFileTypes: true });
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      return [];
    }
    throw error;
  }
}

async function processesOf(dir: string): Promise<ProcessIdentity[]> {
  const text = await readPlainFile(path.join(dir, PROCESSES_FILE), MAX_PROCESSES_BYTES);
  return (text?.toString('utf8') ?? '').split('\n').flatMap(parseLine);
}

function parseLine(text: string): ProcessIdentity[] {
  try {
    const { pid, startId } = identitySchema().parse(JSON.parse(text));
    return [startId === undefined ? { pid } : { pid, startId }];
  } catch {
    // The end of the file, or an unfinished line.
    return [];
  }
}

function line(identity: ProcessIdentity): string {
  return `${JSON.stringify(identity)}\n`;
}
