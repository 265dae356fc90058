import path from 'node:path';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { shellWord } from '../../../base/shellWord.ts';
import { shortenBlock, withoutControls } from '../../../base/text.ts';
import { findProgram } from '../../process/findProgram.ts';
import type {
  Agent,
  AgentCommand,
  AgentDecoder,
  AgentError,
  AgentErrorKind,
  AgentEvent,
  AgentRequest,
  ProcessExit,
} from '../agent.ts';
import { agentEnv, withoutApiKeys } from '../agentEnv.ts';
import { homeOf } from '../claude/claude.ts';
import { readLimit } from '../claude/usageLimit.ts';
import { lastLines, lastWords } from '../lastWords.ts';

/** How to call any command-line agent for one fresh conversation. */
export interface CommandOptions {
  /** A program's name, to find in `PATH`, or its path, which may be relative to the workspace. */
  readonly command: string;
  /**
   * Arguments, one per item; there is no shell. `{prompt}`, `{promptFile}` and `{model}` are replaced. If no model
   * is set, an item with `{model}` is omitted together with the option before it.
   */
  readonly args: readonly string[];
  /**
   * How the prompt is passed. `file` and `argument` append it as the last argument if no item contains its
   * placeholder.
   */
  readonly promptVia: 'stdin' | 'file' | 'argument';
  /** Output format: plain text; its end is the final answer. */
  readonly output?: 'text';
  /** Removes API keys from the agent's environment, so that the subscription pays. */
  readonly removeApiKey?: boolean | undefined;
}

/** Length of the output's end that counts as the final answer, in UTF-16 units. */
const MAX_ANSWER = 64 * 1024;
/** Longest line in an event, in UTF-16 units; the raw output has the rest. */
const MAX_LINE_TEXT = 4_000;
const MAX_LAST_WORDS = 1_000;

/**
 * Any coding agent with a command line. Its output is its answer, and its exit code shows whether it failed; turns,
 * tools and cost remain unknown.
 */
export function commandAgent(options: CommandOptions): Agent {
  return {
    id: 'command',
    ignores: [
      ...(options.args.some(arg => arg.includes('{model}')) ? [] : (['model'] as const)),
      'effort',
      'maxTurns',
    ],
    program: options.command,
    find: ({ cwd, env }) => findCommand(options.command, cwd, agentEnv(env)),
    command: request => commandFor(options, request),
    decoder: (): AgentDecoder => new CommandDecoder(),
  };
}

async function commandFor(options: CommandOptions, request: AgentRequest): Promise<AgentCommand> {
  const clean = agentEnv(request.env);
  const env = options.removeApiKey === true ? withoutApiKeys(clean) : clean;
  const file = await findCommand(options.command, request.cwd, env);
  const args = commandArgs(options, request);
  if (args.some(arg => arg.includes('\0'))) {
    throw new HumanError(
      say(
        'The arguments for {0} contain a null character, which cannot be passed to a program.',
        options.command,
      ),
    );
  }
  const tooLong = longestArgument(file);
  if (args.some(arg => Buffer.byteLength(arg) > tooLong)) {
    throw new HumanError(
      say(
        'The prompt is too long for an argument of {0} (more than {1} bytes). Pass it on standard input or as a file instead (promptVia "stdin" or "file").',
        options.command,
        tooLong,
      ),
    );
  }
  return { file, args, stdin: options.promptVia === 'stdin' ? request.prompt : '', env };
}

async function findCommand(
  named: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const command = named.trim();
  if (command === '') {
    throw new HumanError(
      say('The agent is "command", but no command is set. Name the program to run.'),
    );
  }
  const find = async (program: string) => {
    const isPath = /[\\/]/.test(program);
    const isHome = /^~[\\/]/.test(program);
    return findProgram(program, {
      setting: isPath ? (isHome ? program : path.resolve(cwd, program)) : undefined,
      settingName: say("the agent's command"),
      env,
      home: homeOf(env),
      platform: process.platform,
    });
  };
  try {
    const file = await find(command);
    if (file !== undefined) {
      return file;
    }
    throw new HumanError(
      say(
        "{0} was not found on PATH or where installers put programs. Install it, or set the agent's command to its full path.",
        command,
      ),
    );
  } catch (error) {
    const written = asWritten(command, cwd);
    const [first = '', ...args] = written.split(/\s+/);
    // Without its "./", a program of the folder looks like one to search for.
    const inFolder = written !== command && !/[\\/]/.test(first) ? [`./${first}`] : [];
    for (const program of args.length > 0 ? [...inFolder, first] : []) {
      if ((await find(program).catch(() => undefined)) !== undefined) {
        throw argumentsApart(written, program, args);
      }
    }
    throw error;
  }
}

/**
 * A command as a person probably wrote it. With a path as an argument, the whole text looked like a path, and the folder
 * was put in front of it; the folder may have a space in its own name.
 */
function asWritten(command: string, cwd: string): string {
  const inFolder = path.isAbsolute(command) ? path.relative(cwd, command) : command;
  return path.isAbsolute(inFolder) || /^\.\.(?:[\\/]|$)/.test(inFolder) ? command : inFolder;
}

function argumentsApart(command: string, program: string, args: readonly string[]): HumanError {
  return new HumanError(
    say(
      'There is no program "{0}", but there is {1}. Give its arguments one by one: --command {1} {2}',
      command,
      program,
      args.map(arg => `--command-arg ${shellWord(arg)}`).join(' '),
    ),
  );
}

/**
 * Linux allows 128 KiB per argument, Windows 32 Ki characters for the whole command line, and only 8 Ki for a batch
 * file.
 */
function longestArgument(file: string): number {
  if (process.platform !== 'win32') return 120_000;
  return /\.(?:cmd|bat)$/i.test(file) ? 7_000 : 30_000;
}

/** The arguments of one call, with every placeholder replaced. */
export function commandArgs(options: CommandOptions, request: AgentRequest): string[] {
  const { prompt, promptFile, model } = request;
  const wanted = { stdin: undefined, file: '{promptFile}', argument: '{prompt}' }[
    options.promptVia
  ];
  const isNamed = wanted === undefined || options.args.some(arg => arg.includes(wanted));
  const args = withoutModel([...options.args, ...(isNamed ? [] : [wanted])], model);
  return args.map(arg =>
    // In one pass: a placeholder inside the prompt must not be replaced.
    arg.replace(/\{(prompt|promptFile|model)\}/g, (_, name: string) => {
      if (name === 'prompt') return prompt;
      if (name === 'model') return model ?? '';
      if (promptFile === undefined) {
        throw new Error('The command wants the prompt as a file, but the request names none');
      }
      return promptFile;
    }),
  );
}

function withoutModel(args: readonly string[], model: string | undefined): readonly string[] {
  if (model) return args;
  const names = (arg: string | undefined) => arg?.includes('{model}') === true;
  return args.filter((arg, index) => {
    const next = args[index + 1];
    const isOptionOfIt = arg.startsWith('-') && names(next) && next?.startsWith('-') === false;
    return !names(arg) && !isOptionOfIt;
  });
}

/** Plain text, line by line; its end is the answer. */
class CommandDecoder implements AgentDecoder {
  private answer = '';
  private readonly now: () => number;

  constructor(now: () => number = Date.now) {
    this.now = now;
  }

  decode(line: string): readonly AgentEvent[] {
    const clean = withoutControls(line);
    this.answer += `${clean}\n`;
    if (this.answer.length > 2 * MAX_ANSWER) this.answer = this.answer.slice(-MAX_ANSWER);
    if (clean.trim() === '') return [{ type: 'activity' }];
    return [{ type: 'text', text: shortenBlock(clean, MAX_LINE_TEXT) }];
  }

  end(exit: ProcessExit): readonly AgentEvent[] {
    const text = this.answer.slice(-MAX_ANSWER).trim();
    const isError = exit.exitCode !== 0;
    return [
      {
        type: 'result',
        isError,
        error: isError ? commandError(exit, text, this.now()) : undefined,
        text,
        turns: 0,
      },
    ];
  }
}

/**
 * Causes that can be recognized with certainty at the end of a failed command's output; the first match is used.
 */
const causes: readonly (readonly [RegExp, AgentErrorKind])[] = [
  [
    /\bnot (?:logged|signed) in\b|\b(?:log|sign) ?in (?:first|again|required)\b|\bplease (?:run \S+ )?(?:\S+ )?(?:log ?in|sign in|authenticate)\b|\binvalid api key\b|\bincorrect api key\b|\bapi key (?:not found|not valid|is missing)\b|\b401 unauthorized\b|\bauthentication (?:failed|required)\b|\bset an auth method\b/i,
    'authentication',
  ],
  [/\binsufficient_quota\b|\bcredit balance is too low\b|\bpayment required\b/i, 'billing'],
  [/\b429 too many requests\b|\brate_limit_(?:error|exceeded)\b/i, 'rateLimit'],
  [/\boverloaded_error\b|\b529\b.{0,20}\boverloaded\b/i, 'overloaded'],
  [
    /\b(?:ECONNRESET|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ENETUNREACH)\b|\bsocket hang up\b|\bstream disconnected before completion\b|\b50[0-4] (?:internal server error|bad gateway|service unavailable|gateway time-?out)\b/i,
    'api',
  ],
];

function commandError(exit: ProcessExit, answer: string, now: number): AgentError {
  const ended = exit.signal
    ? say('ended by {0}', exit.signal)
    : say('exit code {0}', String(exit.exitCode));
  const told = lastWords(exit.stderr, MAX_LAST_WORDS) || lastWords(answer, MAX_LAST_WORDS);
  const message = told || ended;
  // Programs print errors to either stream, so the ends of both are read; the rest may be prose.
  const words = [told, lastLines(exit.stderr), lastLines(answer)].join('\n');
  const limit = readLimit(words, now);
  if (limit !== undefined) return { message, ...limit };
  const kind = causes.find(([pattern]) => pattern.test(words))?.[1] ?? 'other';
  return { kind, message };
}
