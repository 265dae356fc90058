import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { readFirstLine } from '../../base/growingFile.ts';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { parseRunEvent } from '../journal/events.ts';

/** Names every file of Ralph Fresh in a workspace (docs/ARCHITECTURE.md, "Files"). Paths only, no I/O. */
export class RunFiles {
  readonly workspace: string;

  /** @param workspace absolute path of the folder the run works in */
  constructor(workspace: string) {
    this.workspace = path.resolve(workspace);
  }

  get stateDir(): string {
    return path.join(this.workspace, '.omc', 'state');
  }

  /** The lightweight marker other tools look at; setting it to inactive asks the run to stop. */
  get stateFile(): string {
    return path.join(this.stateDir, 'ralph-fresh-state.json');
  }

  /** Who owns the workspace's one loop. */
  get lockFile(): string {
    return path.join(this.stateDir, 'ralph-fresh-lock.json');
  }

  get handoffFile(): string {
    return path.join(this.stateDir, 'ralph-fresh-handoff.json');
  }

  get promptFile(): string {
    return path.join(this.stateDir, 'iteration-prompt.txt');
  }

  /** Hints that wait for the next agent, of whichever run. */
  get hintsFile(): string {
    return path.join(this.stateDir, 'ralph-fresh-hints.jsonl');
  }

  get runsDir(): string {
    return path.join(this.stateDir, 'runs');
  }

  /** @throws {HumanError} for an id that could name another place */
  runDir(runId: string): string {
    if (!isRunId(runId)) {
      throw new HumanError(say('"{0}" is not a run\'s id.', runId.slice(0, 80)));
    }
    return path.join(this.runsDir, runId);
  }

  journalFile(runId: string): string {
    return path.join(this.runDir(runId), 'journal.jsonl');
  }

  /** The run as the journal tells it, so that a long one need not be read again; made anew when it does not fit. */
  checkpointFile(runId: string): string {
    return path.join(this.runDir(runId), 'checkpoint.json');
  }

  inboxFile(runId: string): string {
    return path.join(this.runDir(runId), 'inbox.jsonl');
  }

  /** What the detached loop printed; holds its last words when it could not start. */
  logFile(runId: string): string {
    return path.join(this.runDir(runId), 'loop.log');
  }

  iterationDir(runId: string, iteration: number): string {
    return path.join(this.runDir(runId), 'iterations', String(iteration));
  }
}

/** A new run's id: sorts by time, reads as a date, unique by a random tail. */
export function newRunId(now: Date = new Date()): string {
  const stamp = now.toISOString().replace('Z', '').replaceAll(/[:.]/g, '-');
  return `${stamp}-${Math.random().toString(36).slice(2, 8).padEnd(6, '0')}`;
}

/** Run ids become folder names, and come from files that anybody can write. */
export function isRunId(value: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/.test(value);
}

/**
 * @returns the id of the newest run of the workspace that has begun; before the first that of the newest journal, which
 * holds a person's ticks; `undefined` when there is none
 */
export async function newestRunId(files: RunFiles): Promise<string | undefined> {
  const newestFirst = (await runIds(files)).toReversed();
  for (const runId of newestFirst) {
    if (await hasBegun(files, runId)) {
      return runId;
    }
  }
  return newestFirst[0];
}

/** As {@link runIds}, of those that have begun. */
export async function begunRunIds(files: RunFiles): Promise<string[]> {
  const begun: string[] = [];
  // One at a time: journals stay for ever, and so many files at once no process may open.
  for (const runId of await runIds(files)) {
    if (await hasBegun(files, runId)) {
      begun.push(runId);
    }
  }
  return begun;
}

/**
 * Whether a journal begins as that of a loop does. Others have come to no run, hold ticks from before the first one, or
 * were put there by an agent or a repository, and a later name must not make them the newest run. It is no proof:
 * who can write there can write the first line, too.
 */
async function hasBegun(files: RunFiles, runId: string): Promise<boolean> {
  const first = parseRunEvent((await readFirstLine(files.journalFile(runId))) ?? '');
  return first?.type === 'run.started' && first.runId === runId;
}

/**
 * A folder without a journal is a run that is just being started, or could not be.
 * @returns the ids of all journals of the workspace, oldest first (ids sort by time)
 */
export async function runIds(files: RunFiles): Promise<string[]> {
  try {
    const entries = await readdir(files.runsDir, { withFileTypes: true });
    return entries
      .filter(entry => entry.isDirectory() && isRunId(entry.name))
      .map(entry => entry.name)
      .filter(runId => existsSync(files.journalFile(runId)))
      .sort();
  } catch (error) {
    // ENOTDIR: something is in the place of the folder; who writes there says so.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      return [];
    }
    throw error;
  }
}
