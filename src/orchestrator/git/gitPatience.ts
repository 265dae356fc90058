import type { ChildProcess } from 'node:child_process';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';

/** As long as an agent may be silent; a large work tree on a slow disk takes minutes. */
const LIMIT_MS = 10 * 60_000;
/** A git that has not answered once is asked again at every step. */
const AFTER_SILENCE_MS = 30_000;
const HURRIED_AFTER_SILENCE_MS = 2_000;

/** Calls under way, by what ends each. */
const underWay = new Set<() => void>();
let limitMs = LIMIT_MS;
/** Set by a stop; from then on nothing makes it longer. */
let hurriedMs: number | undefined;

/**
 * Waits for a git process, but not for ever: a hook, a file monitor or a disk that does not answer keeps git waiting, and
 * the loop with it.
 * @param question what it was asked, for the person
 * @throws {HumanError} when it was ended because it gave no answer
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
      // What it has started may hold these open.
      child.stdout?.destroy();
      child.stderr?.destroy();
      // git removes its lock files then.
      child.kill();
      child.unref();
      reject(
        new HumanError(
          say(
            'git gave no answer, so it was ended (git {0}). Look what keeps "git status" waiting here: a hook, a file monitor, a pipe or a disk.',
            question,
          ),
        ),
      );
    };
  });
  const timer = setTimeout(end, hurriedMs ?? limitMs);
  underWay.add(end);
  try {
    const found = await Promise.race([answer, silence]);
    limitMs = LIMIT_MS;
    return found;
  } finally {
    clearTimeout(timer);
    underWay.delete(end);
  }
}

/** Somebody waits for the end of this process: no git is waited for longer than this from now on. */
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
