import { withoutControls } from '../base/text.ts';

/** The finding about one thing that a run needs. */
export interface Finding {
  /** Stable name of the check. */
  readonly id: string;
  /** `error`: no run can work like this. `warning`: it can, but a person should know. */
  readonly level: 'ok' | 'warning' | 'error';
  /** At most one sentence, without the fix. */
  readonly message: string;
  /** What to do; `null` if there is nothing to fix. */
  readonly mend: string | null;
  /** The finding as data, if other programs use it: paths, versions, names of variables. */
  readonly facts?: Readonly<Record<string, string>>;
}

/** The data of `doctor --json`; a contract, described in docs/json-output.md. */
export interface DoctorData {
  /** No finding is an error. */
  readonly ok: boolean;
  readonly checks: readonly Finding[];
}

/** The data of `doctor --json`; `ok` if no finding is an error, regardless of warnings. */
export function doctorData(checks: readonly Finding[]): DoctorData {
  return { ok: checks.every(({ level }) => level !== 'error'), checks };
}

const MARKS: Readonly<Record<Finding['level'], string>> = { ok: '✓', warning: '!', error: '✗' };

/** One line per finding: mark, message, and fix. */
export function doctorText({ checks }: DoctorData): string {
  return checks
    .map(({ level, mend, message }) =>
      // Paths and the output of other programs may contain anything.
      withoutControls(`${MARKS[level]} ${message}${mend === null ? '' : ` ${mend}`}`, ' ').replace(
        /\s*\n\s*/g,
        ' ',
      ),
    )
    .join('\n');
}
