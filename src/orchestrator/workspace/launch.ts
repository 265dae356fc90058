import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { errorsAsData } from '../../base/errorOutput.ts';
import { HumanError } from '../../base/humanError.ts';
import { say, sentences, type Words } from '../../base/say.ts';
import type { RunEvent } from '../journal/events.ts';
import { applyEvent } from '../journal/foldRun.ts';
import { JournalReader } from '../journal/journal.ts';
import { INITIAL_RUN_STATE, type RunState, type Waiting, waitingOf } from '../journal/runState.ts';
import { errorIn } from './errorIn.ts';
import { newRunId, type RunFiles } from './runFiles.ts';
import { newestRunId } from './runIds.ts';
import { giveSecrets, SECRETS_FLAG, withoutSecrets } from './startSecrets.ts';

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

/** The first thing a started loop did. */
export type Launch =
  /** It started an agent, or a check of earlier work. */
  | { readonly kind: 'works'; readonly runId: string }
  /** It waits for a person, or for the reset of a usage limit. */
  | { readonly kind: 'waits'; readonly runId: string; readonly waiting: Waiting }
  /** None of this happened within a minute; the loop is still starting. */
  | { readonly kind: 'begins'; readonly runId: string }
  /** It ended, according to its journal. */
  | { readonly kind: 'ended'; readonly runId: string; readonly state: RunState }
  | { readonly kind: 'nothingToDo' };

/**
 * Starts the loop as a separate process that outlives this one, and waits until the start has a result: its first
 * agent has been started, or something else happened first.
 * @throws {HumanError} with the loop's own message if it is killed or ends before it begins a run
 */
export async function launchRun({ files, program, args, env }: LaunchOptions): Promise<Launch> {
  const runId = newRunId();
  mkdirSync(files.runDir(runId), { recursive: true });
  const logFile = files.logFile(runId);
  const log = openSync(logFile, 'a');
  const { env: passed, secrets } = withoutSecrets(env);
  const child = spawn(
    process.execPath,
    [
      ...[program, 'run', '--quiet', `--cwd=${files.workspace}`, `--run-id=${runId}`],
      ...(secrets === undefined ? [] : [SECRETS_FLAG]),
      ...args,
    ],
    {
      cwd: files.workspace,
      detached: true,
      stdio: [secrets === undefined ? 'ignore' : 'pipe', log, log],
      windowsHide: true,
      // Inside VS Code process.execPath is Electron (or a remote server's Node, which ignores this).
      env: { ...passed, ...errorsAsData, ELECTRON_RUN_AS_NODE: '1' },
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
  if (secrets !== undefined && child.stdin !== null) {
    giveSecrets(child.stdin, secrets);
  }
  child.unref();

  const deadline = Date.now() + START_LIMIT_MS;
  let run: BegunRun | undefined;
  let newest: BegunRun | undefined;
  for (;;) {
    // Read this first: everything written before the end is then sure to be seen.
    const endedBefore = ended;
    if (run === undefined && child.pid !== undefined) {
      newest = await newestRun(files, child.pid, newest);
      run = (await newest?.hasBegun()) ? newest : undefined;
    }
    if (run !== undefined) {
      const launch = await run.look();
      if (launch !== undefined) {
        return launch;
      }
      if (endedBefore) {
        throw await killed(logFile, run.runId);
      }
    } else if (failure || endedBefore) {
      const words = await wordsIn(logFile);
      // There is nothing to continue, and the folder must not look like a run.
      await rm(files.runDir(runId), { recursive: true, force: true });
      if (failure) {
        throw new HumanError(say('The loop could not be started: {0}', failure.message), {
          cause: failure,
        });
      }
      if (endedBefore?.code === 0) {
        return { kind: 'nothingToDo' };
      }
      throw new HumanError(
        words ||
          say(
            'The loop ended before it started to work (exit code {0}).',
            String(endedBefore?.code),
          ),
      );
    }
    if (Date.now() > deadline) {
      if (run !== undefined) {
        return { kind: 'begins', runId: run.runId };
      }
      const late = say(
        'The loop (process {0}) has not started within a minute. It keeps trying; see {1}. To end it: ralph-fresh stop',
        String(child.pid),
        logFile,
      );
      const words = await wordsIn(logFile);
      throw new HumanError(words === '' ? late : sentences([late, words], '\n'));
    }
    await new Promise(resolve => setTimeout(resolve, LOOK_MS));
  }
}

/** It ended without writing an end to its journal. */
async function killed(logFile: string, runId: string): Promise<HumanError> {
  const words = await wordsIn(logFile);
  return new HumanError(
    words ||
      say(
        'The loop of run {0} was killed before its first agent had started. Run again to continue.',
        runId,
      ),
  );
}

/** The loop's output, to prefix a message with; empty if there is none. */
async function wordsIn(logFile: string): Promise<Words> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  return errorIn(text);
}

/** A run that the loop has started or continued; watched until there is a result. */
class BegunRun {
  readonly runId: string;
  private readonly reader: JournalReader;
  private readonly pid: number;
  private state = INITIAL_RUN_STATE;
  private isReached = false;
  private first: Launch | undefined;

  constructor(files: RunFiles, runId: string, pid: number) {
    this.runId = runId;
    this.pid = pid;
    this.reader = new JournalReader(files.journalFile(runId));
  }

  /** Reads the rest of the journal. @returns whether the loop has begun the run */
  async hasBegun(): Promise<boolean> {
    await this.reader.readNew(event => this.take(event));
    return this.isReached;
  }

  /** The result, once there is one. */
  async look(): Promise<Launch | undefined> {
    await this.reader.readNew(event => this.take(event));
    return this.first;
  }

  private take(event: RunEvent): void {
    this.state = applyEvent(this.state, event);
    if (event.type === 'run.started' || event.type === 'run.resumed') {
      this.isReached = event.pid === this.pid;
      this.first = undefined;
    } else if (this.isReached) {
      this.first ??= this.launchOf(event);
    }
  }

  private launchOf(event: RunEvent): Launch | undefined {
    const { runId, state } = this;
    switch (event.type) {
      case 'agent.started':
      case 'gate.started':
        return { kind: 'works', runId };
      case 'pause.started':
      case 'limit.waiting': {
        const waiting = waitingOf(state);
        return waiting && { kind: 'waits', runId, waiting };
      }
      case 'run.ended':
        return { kind: 'ended', runId, state };
      default:
        return undefined;
    }
  }
}

/**
 * The loop may start a new run or continue the newest one; the journal names its process.
 * @param known result of the last look, so that a long journal is read only once
 */
async function newestRun(
  files: RunFiles,
  pid: number,
  known: BegunRun | undefined,
): Promise<BegunRun | undefined> {
  const runId = await newestRunId(files);
  return runId === undefined || runId === known?.runId ? known : new BegunRun(files, runId, pid);
}
