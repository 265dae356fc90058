import { homedir } from 'node:os';
import { HumanError } from '../../../base/humanError.ts';
import { type Message, say } from '../../../base/say.ts';
import { shorten } from '../../../base/text.ts';
import { findProgram } from '../../process/findProgram.ts';
import { runProgram } from '../../process/runProgram.ts';
import type { Agent, AgentCommand, AgentDecoder, AgentRequest } from '../agent.ts';
import { agentEnv, withoutApiKeys } from '../agentEnv.ts';
import { StreamJsonDecoder } from './streamJson.ts';

export type ClaudePermissionMode =
  | 'acceptEdits'
  | 'auto'
  | 'bypassPermissions'
  | 'dontAsk'
  | 'manual'
  | 'plan';

/** Options for every call of Claude Code, through its command line or its SDK. */
export interface ClaudeCodeOptions {
  /** Setting `ralphFresh.claudePath`; if absent or empty, the program is searched for. */
  readonly claudePath?: string | undefined;
  readonly permissionMode?: ClaudePermissionMode | undefined;
  /** Default, if the request has none. */
  readonly fallbackModel?: string | undefined;
  /** Default, if the request has none. */
  readonly effort?: string | undefined;
  /** Replaces the default tools for a story, if the request has none. */
  readonly allowedTools?: readonly string[] | undefined;
  readonly disallowedTools?: readonly string[] | undefined;
  /**
   * Runs every tool without asking for permission. Only if a person chose it on this machine: the caller must not
   * take it from a file of the workspace.
   */
  readonly skipPermissions?: boolean | undefined;
  /** Removes API keys from the agent's environment, so that the subscription pays. */
  readonly removeApiKey?: boolean | undefined;
}

export interface ClaudeOptions extends ClaudeCodeOptions {
  /** Appended to our own arguments, so that they take precedence. */
  readonly extraArgs?: readonly string[] | undefined;
}

/** The tools that a story needs. Other requests of an agent are denied, because nobody is there to answer. */
export const STORY_TOOLS: readonly string[] = ['Read', 'Edit', 'Write', 'Bash', 'Glob', 'Grep'];

/** Time for `claude --version`, in ms; the first start of a 365 MB program can be slow. */
const VERSION_LIMIT_MS = 20_000;

/** Claude Code on the command line, one fresh session for each iteration. */
export function claudeAgent(options: ClaudeOptions = {}): Agent {
  return {
    id: 'claude',
    ...(options.claudePath && { program: options.claudePath }),
    find: ({ env }) => requireClaude(options, claudeEnv(options, env)),
    command: request => claudeCommand(options, request),
    decoder: (): AgentDecoder => new StreamJsonDecoder(),
  };
}

/** The installed Claude Code, or why there is none. */
export type ClaudeVersion =
  | { readonly file: string; readonly version: string }
  /**
   * `problem` is a sentence for people; `file` is the program that was tried; `isAbsent`: none was found; `isStarted`:
   * it can be started, and may be a wrapper that knows no `--version`.
   */
  | {
      readonly problem: Message;
      readonly file?: string;
      readonly isAbsent?: true;
      readonly isStarted?: true;
    };

/**
 * Runs Claude Code to find out its version. Never throws for a problem with it.
 *
 * @param env environment of the process, usually `process.env`
 */
export async function claudeVersion(
  options: Pick<ClaudeOptions, 'claudePath'>,
  env: AgentRequest['env'],
  limitMs: number = VERSION_LIMIT_MS,
): Promise<ClaudeVersion> {
  const clean = agentEnv(env);
  let file: string | undefined;
  try {
    file = await findClaude(options.claudePath, clean);
  } catch (error) {
    if (error instanceof HumanError) return { problem: error.said };
    throw error;
  }
  if (file === undefined) return { problem: notFound(), isAbsent: true };
  const { stdout, stderr, exitCode, failed, signal, timedOut, originalMessage } = await runProgram(
    file,
    ['--version'],
    { env: clean, timeLimitMs: limitMs },
  );
  const version = /\d+\.\d+\.\d+[\w.+-]*/.exec(stdout)?.[0];
  if (!failed && version !== undefined) return { file, version };
  if (timedOut) {
    return {
      file,
      isStarted: true,
      problem: say('{0} --version did not respond within {1} s.', file, limitMs / 1000),
    };
  }
  const words = shorten(stderr || stdout || originalMessage || '', 300);
  return {
    file,
    ...((exitCode !== undefined || signal !== undefined) && { isStarted: true }),
    problem:
      words === ''
        ? say('{0} --version failed or printed no version.', file)
        : say('{0} --version failed or printed no version: {1}', file, words),
  };
}

/**
 * Finds Claude Code on this machine.
 *
 * @throws {HumanError} if the setting names something that cannot be executed
 */
export async function findClaude(
  claudePath: string | undefined,
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  return findProgram('claude', {
    setting: claudePath,
    env,
    home: homeOf(env),
    platform: process.platform,
  });
}

/** The home folder according to an agent's environment. */
export function homeOf(env: Readonly<Record<string, string>>): string {
  return env['HOME'] || env['USERPROFILE'] || homedir();
}

/** The environment for Claude Code, with or without the API keys. */
export function claudeEnv(
  options: Pick<ClaudeCodeOptions, 'removeApiKey'>,
  env: AgentRequest['env'],
): Record<string, string> {
  const clean = agentEnv(env);
  return options.removeApiKey === true ? withoutApiKeys(clean) : clean;
}

/** The tools that run without asking for permission. */
export function allowedToolsOf(options: ClaudeCodeOptions, request: AgentRequest): string[] {
  // An agent that is restricted to some tools must be allowed to use these, and no others.
  const allowed = request.allowedTools ?? request.tools ?? options.allowedTools ?? STORY_TOOLS;
  return [...new Set([...allowed, ...(request.alsoAllowed ?? [])])];
}

async function claudeCommand(options: ClaudeOptions, request: AgentRequest): Promise<AgentCommand> {
  const env = claudeEnv(options, request.env);
  return {
    file: await requireClaude(options, env),
    args: claudeArgs(options, request),
    // As an argument, the prompt would exceed the command line limit of Windows and appear in process lists.
    stdin: request.prompt,
    env,
  };
}

async function requireClaude(
  { claudePath }: ClaudeOptions,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const file = await findClaude(claudePath, env);
  if (file === undefined) {
    throw new HumanError(notFound());
  }
  return file;
}

function notFound(): Message {
  return say(
    'Claude Code was not found on PATH or in the folders that its installers use. Install it with `npm install -g @anthropic-ai/claude-code`, or set ralphFresh.claudePath / --claude-path to its full path.',
  );
}

/** The arguments of `claude` for one call. */
export function claudeArgs(options: ClaudeOptions, request: AgentRequest): string[] {
  const fallbackModel = request.fallbackModel || options.fallbackModel;
  const effort = request.effort || options.effort;
  const { maxBudgetUsd, tools, jsonSchema } = request;
  const { disallowedTools = [] } = options;
  return [
    '-p',
    ...['--output-format', 'stream-json'],
    // stream-json requires it.
    '--verbose',
    ...['--allowedTools', allowedToolsOf(options, request).join(',')],
    ...['--max-turns', String(request.maxTurns)],
    '--no-session-persistence',
    // The tools of MCP servers are not built in, so a restricted agent gets no servers either.
    ...(tools === undefined ? [] : ['--tools', tools.join(','), '--strict-mcp-config']),
    ...(disallowedTools.length === 0 ? [] : ['--disallowedTools', disallowedTools.join(',')]),
    ...(maxBudgetUsd === undefined ? [] : ['--max-budget-usd', dollars(maxBudgetUsd)]),
    ...(jsonSchema === undefined ? [] : ['--json-schema', JSON.stringify(jsonSchema)]),
    ...(fallbackModel ? ['--fallback-model', fallbackModel] : []),
    ...(effort ? ['--effort', effort] : []),
    ...(request.model ? ['--model', request.model] : []),
    ...permissionArgs(options),
    ...(options.extraArgs ?? []),
  ];
}

/** As a plain decimal number: `String` would write a small one as `1e-7`. */
function dollars(amount: number): string {
  return amount.toFixed(6).replace(/\.?0+$/, '');
}

function permissionArgs({ permissionMode, skipPermissions }: ClaudeOptions): string[] {
  if (skipPermissions === true) return ['--dangerously-skip-permissions'];
  return permissionMode ? ['--permission-mode', permissionMode] : [];
}
