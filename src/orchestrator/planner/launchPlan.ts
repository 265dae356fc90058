import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as z from 'zod';
import { errorsAsData } from '../../base/errorOutput.ts';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { errorIn } from '../workspace/errorIn.ts';
import type { RunFiles } from '../workspace/runFiles.ts';

/** In ms. An agent has 5 s to end; if the planner takes much longer than that, it is stuck. */
const END_LIMIT_MS = 15_000;
/** Longest answer, in UTF-16 units: far more than a plan may contain. */
const MAX_OUTPUT = 16 * 1024 * 1024;
const MAX_WORDS = 8_000;

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
  const child = spawn(
    process.execPath,
    [program, command, '--json', '--attached', `--cwd=${files.workspace}`, ...args, '--', task],
    {
      cwd: files.workspace,
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
      // Inside VS Code process.execPath is Electron (or a remote server's Node, which ignores this).
      env: { ...env, ...errorsAsData, ELECTRON_RUN_AS_NODE: '1' },
    },
  );
  let output = '';
  let words = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output = output.length > MAX_OUTPUT ? output : output + text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-MAX_WORDS);
  });
  child.stdin.on('error', () => undefined);
  let killer: NodeJS.Timeout | undefined;
  const cancel = () => {
    child.stdin.end();
    killer = setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS);
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    // Rejects with the child's error if it cannot be started.
    const [code] = await once(child, 'close');
    if (signal.aborted) {
      return undefined;
    }
    const draft = code === 0 ? parseDraft(output) : undefined;
    if (draft === undefined) {
      throw new HumanError(
        errorIn(words) ||
          say(
            'The planner ended without a plan (exit code {0}). Try again; "ralph-fresh plan" in a terminal shows more.',
            code,
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
