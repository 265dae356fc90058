import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { HumanError } from '../humanError.ts';
import { say } from '../say.ts';
import { readJournal } from './journal.ts';
import { newestRunId, newRunId, type RunFiles } from './runFiles.ts';

const LOOK_MS = 50;
const START_LIMIT_MS = 60_000;

export interface LaunchOptions {
  readonly files: RunFiles;
  /** `dist/cli.js`. */
  readonly program: string;
  /** Arguments of `ralph-fresh run`, without the workspace and the run's id. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Starts the loop as a process of its own that outlives this one, and waits until it works.
 * @returns the run's id, once its journal says that the loop works; `undefined` when there was nothing to do for it
 * @throws {HumanError} with the loop's own words when it ends before that
 */
export async function launchRun({
  files,
  program,
  args,
  env,
}: LaunchOptions): Promise<string | undefined> {
  const runId = newRunId();
  mkdirSync(files.runDir(runId), { recursive: true });
  const logFile = files.logFile(runId);
  const log = openSync(logFile, 'a');
  const child = spawn(
    process.execPath,
    [program, 'run', '--quiet', `--cwd=${files.workspace}`, `--run-id=${runId}`, ...args],
    {
      cwd: files.workspace,
      detached: true,
      stdio: ['ignore', log, log],
      windowsHide: true,
      // Inside VS Code process.execPath is Electron (or a remote server's Node, which ignores this).
      env: { ...env, ELECTRON_RUN_AS_NODE: '1' },
    },
  );
  closeSync(log);
  let ended: { code: number | null } | undefined;
  let failure: Error | undefined;
  child.on('exit', code => {
    ended = { code };
  });
  child.on('error', error => {
    failure = error;
  });
  child.unref();

  const deadline = Date.now() + START_LIMIT_MS;
  for (;;) {
    // Read the end first: what was written before it is then sure to be seen.
    const endedBefore = ended;
    const begun = child.pid === undefined ? undefined : await runBegunBy(files, child.pid);
    if (begun !== undefined) {
      return begun;
    }
    if (failure || endedBefore) {
      const words = (await readFile(logFile, 'utf8')).trim();
      // It left nothing to go on with, and must not look like a run.
      await rm(files.runDir(runId), { recursive: true, force: true });
      if (failure) {
        throw new HumanError(say('The loop could not be started: {0}', failure.message), {
          cause: failure,
        });
      }
      if (endedBefore?.code === 0) {
        return undefined;
      }
      throw new HumanError(
        words.replace(/^ralph-fresh: /, '') ||
          say('The loop ended before it began (exit code {0}).', String(endedBefore?.code)),
      );
    }
    if (Date.now() > deadline) {
      throw new HumanError(
        say(
          'The loop (process {0}) has not begun within a minute. It goes on trying; see {1}.',
          String(child.pid),
          logFile,
        ),
      );
    }
    await new Promise(resolve => setTimeout(resolve, LOOK_MS));
  }
}

/** The loop may begin a run of its own or go on with the newest one; its journal names the process. */
async function runBegunBy(files: RunFiles, pid: number): Promise<string | undefined> {
  const runId = await newestRunId(files);
  if (runId === undefined) {
    return undefined;
  }
  const events = await readJournal(files.journalFile(runId));
  const begin = events.findLast(
    event => event.type === 'run.started' || event.type === 'run.resumed',
  );
  return begin?.pid === pid ? runId : undefined;
}
