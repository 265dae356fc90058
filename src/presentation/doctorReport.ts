import { withoutControls } from '../base/text.ts';

/** What was found at one thing that a run needs. */
export interface Finding {
  /** Stable name of what was looked at. */
  readonly id: string;
  /** `error`: no run can work like this. `warning`: it can, but a person should know. */
  readonly level: 'ok' | 'warning' | 'error';
  /** One sentence or less, without the mend. */
  readonly message: string;
  /** What to do; `null` where there is nothing to mend. */
  readonly mend: string | null;
  /** What was found as data, where other programs use it: paths, versions, names of variables. */
  readonly facts?: Readonly<Record<string, string>>;
}

/** The data of `doctor --json`; a contract, described in docs/json-output.md. */
export interface DoctorData {
  /** No finding is an error. */
  readonly ok: boolean;
  readonly checks: readonly Finding[];
}

/** The data of `doctor --json`; `ok` when no finding is an error, whatever there is of warnings. */
export function doctorData(checks: readonly Finding[]): DoctorData {
  return { ok: checks.every(({ level }) => level !== 'error'), checks };
}

const MARKS: Readonly<Record<Finding['level'], string>> = { ok: '✓', warning: '!', error: '✗' };

/** One line for each finding: mark, what was found, and the mend. */
export function doctorText({ checks }: DoctorData): string {
  return checks
    .map(({ level, mend, message }) =>
      // Paths and the words of other programs may hold anything.
      withoutControls(`${MARKS[level]} ${message}${mend === null ? '' : ` ${mend}`}`, ' ').replace(
        /\s*\n\s*/g,
        ' ',
      ),
    )
    .join('\n');
}
