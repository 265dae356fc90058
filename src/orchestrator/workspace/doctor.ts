import { execFile } from 'node:child_process';
import * as z from 'zod';
import { errorsAsData } from '../../base/errorOutput.ts';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { wordsSchema } from '../journal/words.ts';
import { errorIn } from './errorIn.ts';

/** In ms. The first start of a program of 365 MB can be slow. */
const LIMIT_MS = 60_000;
const MAX_OUTPUT = 1024 * 1024;

const findingSchema = z.object({
  id: z.string(),
  level: z.enum(['ok', 'warning', 'error']),
  message: z.string(),
  said: wordsSchema().optional(),
  facts: z.record(z.string(), z.string()).default({}),
});
const outputSchema = z.object({ checks: z.array(findingSchema) });

/** One result of `ralph-fresh doctor`; see docs/json-output.md. */
export type DoctorFinding = z.infer<typeof findingSchema>;

export interface DoctorQuestion {
  /** `dist/cli.js`. */
  readonly program: string;
  /** Absolute path of the folder the run would work in; trusted. */
  readonly workspace: string;
  /** Settings as flags. */
  readonly args: readonly string[];
  /** Ids of the checks to run. */
  readonly only: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Runs `ralph-fresh doctor` as a separate process, because it starts programs and may wait for them.
 * @throws {HumanError} if it gives no answer
 */
export function askDoctor(question: DoctorQuestion): Promise<readonly DoctorFinding[]> {
  const { args, env, only, program, workspace } = question;
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [program, 'doctor', '--json', `--cwd=${workspace}`, `--only=${only.join(',')}`, ...args],
      {
        // Inside VS Code process.execPath is Electron (or a remote server's Node, which ignores this).
        env: { ...env, ...errorsAsData, ELECTRON_RUN_AS_NODE: '1' },
        timeout: LIMIT_MS,
        maxBuffer: MAX_OUTPUT,
        windowsHide: true,
      },
      (error, stdout, stderr) => {
        // If it finds a problem, its exit code is not 0, but it still prints its answer.
        const answer = parse(stdout);
        if (answer !== undefined) {
          resolve(answer.checks);
          return;
        }
        const words = errorIn(stderr) || error?.message || say('no answer');
        reject(new HumanError(say('Ralph could not check the requirements of a run: {0}', words)));
      },
    );
  });
}

function parse(stdout: string): z.infer<typeof outputSchema> | undefined {
  try {
    return outputSchema.parse(JSON.parse(stdout));
  } catch {
    return undefined;
  }
}
