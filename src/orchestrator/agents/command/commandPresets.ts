import type { CommandOptions } from './command.ts';

/** Coding agents with a known command line, by program name. */
export const COMMAND_PRESETS = ['codex', 'gemini', 'amp', 'opencode'] as const;
export type CommandPreset = (typeof COMMAND_PRESETS)[number];

interface Preset {
  /** May edit files of the workspace if the program has such a mode; asks nobody. */
  readonly args: readonly string[];
  /** Used instead of `args`: runs everything without asking for permission. */
  readonly skipArgs: readonly string[];
}

// All four read the prompt from standard input if it is no terminal, and print their answer as plain text.
const presets: Readonly<Record<CommandPreset, Preset>> = {
  // https://developers.openai.com/codex/noninteractive (autumn 2026): progress goes to standard error, the
  // final message to standard output, `-` reads the prompt. `--full-auto` is deprecated for `--sandbox
  // workspace-write`. In this sandbox a plain checkout's .git is read-only (openai/codex#7071), so Codex
  // edits but cannot commit, unless the person's own Codex configuration allows it or permissions are skipped.
  codex: {
    args: ['exec', '--sandbox', 'workspace-write', '--model', '{model}', '-'],
    skipArgs: [
      'exec',
      '--dangerously-bypass-approvals-and-sandbox',
      ...['--model', '{model}'],
      '-',
    ],
  },
  // https://geminicli.com/docs/cli/headless and its cli-reference (autumn 2026): without a terminal it runs
  // headless. `--yolo` is deprecated for `--approval-mode yolo`. In a folder that the person has not trusted in
  // Gemini itself, every mode except the default is reverted.
  gemini: {
    args: ['--approval-mode', 'auto_edit', '--model', '{model}'],
    skipArgs: ['--approval-mode', 'yolo', '--model', '{model}'],
  },
  // https://ampcode.com/manual (autumn 2026): `-x` sends the message from standard input, waits for the end
  // of the turn and prints the last message. Amp chooses its models itself, so there is no option for one.
  amp: {
    args: ['-x'],
    skipArgs: ['--dangerously-allow-all', '-x'],
  },
  // anomalyco/opencode, packages/opencode/src/cli/cmd/run.ts (autumn 2026): `run` reads standard input to its end;
  // a model is `provider/model`. Without `--auto`, actions that need a confirmation are denied.
  opencode: {
    args: ['run', '--model', '{model}'],
    skipArgs: ['run', '--auto', '--model', '{model}'],
  },
};

/**
 * The command line options of that agent.
 *
 * @param options.skipPermissions let it run everything without asking for permission. Only if a person chose it on
 * this machine: the caller must not take it from a file of the workspace.
 */
export function commandPreset(
  name: CommandPreset,
  options: { readonly skipPermissions?: boolean } = {},
): CommandOptions {
  const { args, skipArgs } = presets[name];
  return {
    command: name,
    args: options.skipPermissions === true ? skipArgs : args,
    promptVia: 'stdin',
    output: 'text',
  };
}
