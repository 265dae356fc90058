import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';

/** The path of every file of Ralph Fresh in a workspace (docs/ARCHITECTURE.md, "Files"). Paths only, no I/O. */
export class RunFiles {
  readonly workspace: string;

  /** @param workspace absolute path of the folder that the run works in */
  constructor(workspace: string) {
    this.workspace = path.resolve(workspace);
  }

  get stateDir(): string {
    return path.join(this.workspace, '.omc', 'state');
  }

  /** The small state file that other tools read; setting it to inactive asks the run to stop. */
  get stateFile(): string {
    return path.join(this.stateDir, 'ralph-fresh-state.json');
  }

  /** The owner of the workspace's only loop. */
  get lockFile(): string {
    return path.join(this.stateDir, 'ralph-fresh-lock.json');
  }

  get handoffFile(): string {
    return path.join(this.stateDir, 'ralph-fresh-handoff.json');
  }

  get promptFile(): string {
    return path.join(this.stateDir, 'iteration-prompt.txt');
  }

  /** Hints waiting for the next agent, in any run. */
  get hintsFile(): string {
    return path.join(this.stateDir, 'ralph-fresh-hints.jsonl');
  }

  /** Locked while somebody decides about work that agents found. There is no such file, only its lock. */
  get discoveredFile(): string {
    return path.join(this.stateDir, 'ralph-fresh-discovered');
  }

  /** The index of the code, and what was learned about its use; made again if it is missing. */
  get contextDir(): string {
    return path.join(this.stateDir, 'context');
  }

  /** What a person chose for the prompts: files of a story, and files that it must not name. */
  get contextFile(): string {
    return path.join(this.workspace, '.omc', 'context.json');
  }

  get runsDir(): string {
    return path.join(this.stateDir, 'runs');
  }

  /** @throws {HumanError} for an id that could lead to another path */
  runDir(runId: string): string {
    if (!isRunId(runId)) {
      throw new HumanError(say('"{0}" is not a run id.', runId.slice(0, 80)));
    }
    return path.join(this.runsDir, runId);
  }

  journalFile(runId: string): string {
    return path.join(this.runDir(runId), 'journal.jsonl');
  }

  /**
   * A cached state of the run, so that a long journal need not be read again; created again if it does not match.
   */
  checkpointFile(runId: string): string {
    return path.join(this.runDir(runId), 'checkpoint.json');
  }

  /** The list whose numbers the journal uses for stories without ids. */
  knownStoriesFile(runId: string): string {
    return path.join(this.runDir(runId), 'stories.json');
  }

  inboxFile(runId: string): string {
    return path.join(this.runDir(runId), 'inbox.jsonl');
  }

  /** The output of the detached loop; contains its error message if it could not start. */
  logFile(runId: string): string {
    return path.join(this.runDir(runId), 'loop.log');
  }

  iterationDir(runId: string, iteration: number): string {
    return path.join(this.runDir(runId), 'iterations', String(iteration));
  }
}

/** A new run's id: sorts by time, is readable as a date, and is unique because of a random suffix. */
export function newRunId(now: Date = new Date()): string {
  const stamp = now.toISOString().replace('Z', '').replaceAll(/[:.]/g, '-');
  return `${stamp}-${Math.random().toString(36).slice(2, 8).padEnd(6, '0')}`;
}

/** Run ids become folder names, and come from files that anybody can write. */
export function isRunId(value: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/.test(value);
}
