import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChildProcess } from 'node:child_process';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';

/** In ms. As long as an agent may be silent; a large work tree on a slow disk takes minutes. */
const LIMIT_MS = 10 * 60_000;
/** Shorter limit after a timeout, in ms, because git may not answer at every further step. */
const AFTER_SILENCE_MS = 30_000;
const HURRIED_AFTER_SILENCE_MS = 2_000;

/** Set for work that a stop does not hurry. */
const unhurriedWork = new AsyncLocalStorage<true>();
/** Calls in progress that a stop may hurry, as functions that end them. */
const underWay = new Set<() => void>();
let limitMs = LIMIT_MS;
/** Set by a stop; limits all waits from then on. */
let hurriedMs: number | undefined;

/**
 * Waits for a git process with a time limit: a hook, a file monitor or a disk that does not respond would block
 * git, and with it the loop.
 * @param question the command, for the person
 * @throws {HumanError} if it was ended because of the time limit
 */
export async function answerInTime<T>(
  child: ChildProcess,
  question: string,
  answer: Promise<T>,
): Promise<T> {
  let end: () => void = () => undefined;
  const silence = new Promise<never>((_, reject) => {
    end = () => {
      limitMs = AFTER_SILENCE_MS;
      hurriedMs =
        hurriedMs === undefined ? undefined : Math.min(hurriedMs, HURRIED_AFTER_SILENCE_MS);
      // Its child processes may keep these open.
      child.stdout?.destroy();
      child.stderr?.destroy();
      // On SIGTERM, git removes its lock files.
      child.kill();
      child.unref();
      reject(
        new HumanError(
          say(
            'git did not respond, so it was ended (git {0}). Find out what makes "git status" hang here: a hook, a file monitor, a pipe or a disk.',
            question,
          ),
        ),
      );
    };
  });
  const isUnhurried = unhurriedWork.getStore() === true;
  const timer = setTimeout(end, isUnhurried ? LIMIT_MS : (hurriedMs ?? limitMs));
  if (!isUnhurried) {
    underWay.add(end);
  }
  try {
    const found = await Promise.race([answer, silence]);
    limitMs = LIMIT_MS;
    return found;
  } finally {
    clearTimeout(timer);
    underWay.delete(end);
  }
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
 */
export function hurryGit(ms: number): void {
  hurriedMs = Math.min(ms, hurriedMs ?? ms);
  const now = [...underWay];
  setTimeout(() => {
    for (const end of now) {
      if (underWay.has(end)) {
        end();
      }
    }
  }, ms).unref();
}
