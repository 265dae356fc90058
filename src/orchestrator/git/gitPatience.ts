import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { endLeftovers } from '../process/processTree.ts';

/** In ms. As long as an agent may be silent; a large work tree on a slow disk takes minutes. */
const LIMIT_MS = 10 * 60_000;
/** Shorter limit after a timeout, in ms, because git may not answer at every further step. */
const AFTER_SILENCE_MS = 30_000;
const HURRIED_AFTER_SILENCE_MS = 2_000;
/** Interval between two looks for hooks that a command runs one after another, in ms. */
const NEXT_HOOK_MS = 250;

/** A process of git that somebody waits for. */
export interface GitProcess {
  readonly child: ChildProcess;
  /** Marks it and everything that it starts, as in `markerOf`. */
  readonly call: string;
  /** The command, for the person. */
  readonly question: string;
}

/** A call in progress that a stop may hurry. */
interface Waiting {
  readonly question: string;
  readonly since: number;
  readonly end: () => void;
}

/** Set for work that a stop does not hurry. */
const unhurriedWork = new AsyncLocalStorage<true>();
const underWay = new Set<Waiting>();
let limitMs = LIMIT_MS;
/** Set by a stop; limits all waits from then on. */
let hurriedMs: number | undefined;
/** Set by a stop that does not even let git finish what it writes. */
let endsWrites = false;

/**
 * Waits for a git process with a time limit: a hook, a file monitor or a disk that does not respond would block
 * git, and with it the loop.
 * @throws {HumanError} if it was ended because of the time limit
 */
export async function answerInTime<T>(git: GitProcess, answer: Promise<T>): Promise<T> {
  let end: () => void = () => undefined;
  let isEnded = false;
  const silence = new Promise<never>((_, reject) => {
    end = () => {
      isEnded = true;
      limitMs = AFTER_SILENCE_MS;
      hurriedMs =
        hurriedMs === undefined ? undefined : Math.min(hurriedMs, HURRIED_AFTER_SILENCE_MS);
      // Its child processes may keep these open.
      git.child.stdout?.destroy();
      git.child.stderr?.destroy();
      git.child.unref();
      endWhole(git).then(() => reject(silent(git)), reject);
    };
  });
  const isUnhurried = unhurriedWork.getStore() === true;
  const waiting = { question: git.question, since: Date.now(), end };
  const timer = setTimeout(end, isUnhurried ? LIMIT_MS : (hurriedMs ?? limitMs));
  if (!isUnhurried) {
    underWay.add(waiting);
  }
  try {
    const found = await Promise.race([answer, silence]);
    limitMs = LIMIT_MS;
    return found;
  } catch (error) {
    // Git may have failed of that before all that it had started is ended.
    throw isEnded ? silent(git) : error;
  } finally {
    clearTimeout(timer);
    underWay.delete(waiting);
  }
}

/**
 * Waits for a git process that changes the repository, as long as it takes. After a stop, the hooks that it waits for
 * are ended, and it finishes or takes back what it was doing; a kill ends git as well.
 * @throws {HumanError} if it was ended
 */
export async function answerWhole<T>(git: GitProcess, answer: Promise<T>): Promise<T> {
  if (unhurriedWork.getStore() === true) {
    return answer;
  }
  let isOver = false;
  let ending: Promise<void> | undefined;
  const end = () => {
    ending ??= endHooks(git, () => isOver);
  };
  const waiting = { question: git.question, since: Date.now(), end };
  const timer = hurriedMs === undefined ? undefined : setTimeout(end, hurriedMs);
  underWay.add(waiting);
  try {
    return await answer;
  } catch (error) {
    throw ending !== undefined && git.child.signalCode !== null ? silent(git) : error;
  } finally {
    isOver = true;
    clearTimeout(timer);
    underWay.delete(waiting);
    // What it has started may outlive it for a moment.
    await ending;
  }
}

/** Ends what a git command waits for, until the command has ended. */
async function endHooks(git: GitProcess, isOver: () => boolean): Promise<void> {
  const { call, child } = git;
  for (let isFirst = true; !isOver(); isFirst = false) {
    if (endsWrites && !isFirst) {
      await endWhole(git);
    } else {
      await endLeftovers(child.pid, '', { call, spared: child.pid });
    }
    await delay(NEXT_HOOK_MS, undefined, { ref: false });
  }
}

/** On SIGTERM, git removes its lock files. */
async function endWhole({ call, child }: GitProcess): Promise<void> {
  child.kill();
  await endLeftovers(child.pid, '', { call });
}

function silent({ question }: GitProcess): HumanError {
  return new HumanError(
    say(
      'git did not respond, so it was ended (git {0}). Find out what makes "git status" hang here: a hook, a file monitor, a pipe or a disk.',
      question,
    ),
  );
}

/** The commands of git that somebody has been waiting for longer than this. @param ms since their start */
export function slowGit(ms: number): readonly string[] {
  const before = Date.now() - ms;
  return [...underWay].flatMap(({ question, since }) => (since < before ? [question] : []));
}

/**
 * Does work in which git gets its full time also during a stop: what it would not make safe then would look as if it
 * had never been there.
 */
export function unhurried<T>(work: () => Promise<T>): Promise<T> {
  return unhurriedWork.run(true, work);
}

/**
 * Limits the wait for every git process from now on, except in {@link unhurried} work, because somebody waits for this
 * process to end.
 * @param isKill also a git that writes is ended, and not only its hooks
 */
export function hurryGit(ms: number, isKill = false): void {
  hurriedMs = Math.min(ms, hurriedMs ?? ms);
  endsWrites ||= isKill;
  const now = [...underWay];
  setTimeout(() => {
    for (const waiting of now) {
      if (underWay.has(waiting)) {
        waiting.end();
      }
    }
  }, ms).unref();
}
