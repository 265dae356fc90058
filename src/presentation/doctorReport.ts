import { englishOf, type Message, type Words } from '../base/say.ts';
import { withoutControls } from '../base/text.ts';

/** The finding about one thing that a run needs. */
export interface Finding {
  /** Stable name of the check. */
  readonly id: string;
  /** `error`: no run can work like this. `warning`: it can, but a person should know. */
  readonly level: 'ok' | 'warning' | 'error';
  /** At most one sentence, without the fix. */
  readonly message: Words;
  /** What to do; `null` if there is nothing to fix. */
  readonly fix: Words | null;
  /** The finding as data, if other programs use it: paths, versions, names of variables. */
  readonly facts?: Readonly<Record<string, string>>;
}

/** A finding in English, for other programs. */
export interface FindingData extends Omit<Finding, 'fix' | 'message'> {
  readonly message: string;
  /** The same as a message, for a window in another language. */
  readonly said?: Message;
  readonly fix: string | null;
}

/** The data of `doctor --json`; a contract, described in docs/json-output.md. */
export interface DoctorData {
  /** No finding is an error. */
  readonly ok: boolean;
  readonly checks: readonly FindingData[];
}

/** The data of `doctor --json`; `ok` if no finding is an error, regardless of warnings. */
export function doctorData(checks: readonly Finding[]): DoctorData {
  return {
    ok: checks.every(({ level }) => level !== 'error'),
    checks: checks.map(({ facts, id, level, fix, message }) => ({
      id,
      level,
      message: englishOf(message),
      said: typeof message === 'string' ? undefined : message,
      fix: fix === null ? null : englishOf(fix),
      facts,
    })),
  };
}

const MARKS: Readonly<Record<Finding['level'], string>> = { ok: '✓', warning: '!', error: '✗' };

/** One line per finding: mark, message, and fix. */
export function doctorText({ checks }: DoctorData): string {
  return checks
    .map(({ level, fix, message }) =>
      // Paths and the output of other programs may contain anything.
      withoutControls(`${MARKS[level]} ${message}${fix === null ? '' : ` ${fix}`}`, ' ').replace(
        /\s*\n\s*/g,
        ' ',
      ),
    )
    .join('\n');
}
