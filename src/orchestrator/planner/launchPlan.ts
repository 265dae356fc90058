import * as z from 'zod';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { startOwnCommand } from '../workspace/ownCommand.ts';
import type { RunFiles } from '../workspace/runFiles.ts';

/** In ms. An agent has 5 s to end; if the planner takes much longer than that, it is stuck. */
const END_LIMIT_MS = 15_000;

const draftSchema = z.looseObject({
  storyFile: z.string(),
  text: z.string(),
  stories: z.number(),
  attempts: z.number(),
  costUsd: z.number().optional(),
});

/** The output of `ralph-fresh plan --json`. */
export type LaunchedDraft = z.infer<typeof draftSchema>;

export interface LaunchPlanOptions {
  readonly files: RunFiles;
  /** `dist/cli.js`. */
  readonly program: string;
  /** `plan` by default; `split` expects a story's id instead of a task. */
  readonly command?: 'plan' | 'split';
  readonly task: string;
  /** Settings, as flags of `ralph-fresh plan`. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted: end the planner and its agent. */
  readonly signal: AbortSignal;
}

/**
 * Plans a task in a separate process that does not outlive this one: it ends when its standard input is closed.
 * @returns the draft, which has not been written anywhere; `undefined` if it was canceled
 * @throws {HumanError} with the planner's own message
 */
export async function launchPlan(options: LaunchPlanOptions): Promise<LaunchedDraft | undefined> {
  const { args, command = 'plan', env, files, program, signal, task } = options;
  if (signal.aborted) {
    return undefined;
  }
  const { workspace } = files;
  const { child, ended } = startOwnCommand(
    {
      ...{ env, program, workspace },
      args: [command, '--json', '--attached', `--cwd=${workspace}`, ...args, '--', task],
    },
    'pipe',
  );
  child.stdin?.on('error', () => undefined);
  let killer: NodeJS.Timeout | undefined;
  const cancel = () => {
    child.stdin?.end();
    killer = setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS);
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const { code, error, output } = await ended;
    if (signal.aborted) {
      return undefined;
    }
    const draft = code === 0 ? parseDraft(output) : undefined;
    if (draft === undefined) {
      throw new HumanError(
        error ||
          say(
            'The planner ended without a plan (exit code {0}). Try again; "ralph-fresh plan" in a terminal shows more.',
            String(code),
          ),
      );
    }
    return draft;
  } finally {
    signal.removeEventListener('abort', cancel);
    clearTimeout(killer);
  }
}

function parseDraft(output: string): LaunchedDraft | undefined {
  try {
    return draftSchema.safeParse(JSON.parse(output)).data;
  } catch {
    return undefined;
  }
}
