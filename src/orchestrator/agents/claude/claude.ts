import { homedir } from 'node:os';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { shorten } from '../../../base/text.ts';
import { findProgram } from '../../process/findProgram.ts';
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

/** What Claude Code is asked for in every call, whether through its command line or its SDK. */
export interface ClaudeCodeOptions {
  /** Setting `ralphFresh.claudePath`; looked for when absent or empty. */
  readonly claudePath?: string | undefined;
  readonly permissionMode?: ClaudePermissionMode | undefined;
  /** Taken when the request names none. */
  readonly fallbackModel?: string | undefined;
  /** Taken when the request names none. */
  readonly effort?: string | undefined;
  /** In place of what a story needs; taken when the request names none. */
  readonly allowedTools?: readonly string[] | undefined;
  readonly disallowedTools?: readonly string[] | undefined;
  /**
   * Runs every tool without a check. Only for a choice that a person made for this machine: the caller
   * must not take it from a file of the workspace.
   */
  readonly skipPermissions?: boolean | undefined;
  /** Takes API keys out of the agent's environment, so that the subscription pays. */
  readonly removeApiKey?: boolean | undefined;
}

export interface ClaudeOptions extends ClaudeCodeOptions {
  /** Passed on after our own arguments, so that they win. */
  readonly extraArgs?: readonly string[] | undefined;
}

/** What a story needs. Whatever else an agent asks for is denied, since nobody is there to answer. */
const storyTools: readonly string[] = ['Read', 'Edit', 'Write', 'Bash', 'Glob', 'Grep'];

/** Time for `claude --version`, in ms; the first start of a 365 MB program can be slow. */
const VERSION_LIMIT_MS = 20_000;

/** Claude Code on the command line, one fresh session for each iteration. */
export function claudeAgent(options: ClaudeOptions = {}): Agent {
  return {
    id: 'claude',
    command: request => claudeCommand(options, request),
    decoder: (): AgentDecoder => new StreamJsonDecoder(),
  };
}

/** A found Claude Code, or why there is none. */
export type ClaudeVersion =
  | { readonly file: string; readonly version: string }
  /** `problem` is a sentence for people; `file` is the program that was tried. */
  | { readonly problem: string; readonly file?: string };

/**
 * Which Claude Code would be started, by asking it. Never throws for what is wrong with it.
 *
 * @param env environment to start from, usually `process.env`
 */
export async function claudeVersion(
  options: Pick<ClaudeOptions, 'claudePath'>,
  env: AgentRequest['env'],
  limitMs: number = VERSION_LIMIT_MS,
): Promise<ClaudeVersion> {
  const clean = agentEnv(env);
  let file: string;
  try {
    file = (await findClaude(options.claudePath, clean)) ?? notFound();
  } catch (error) {
    if (error instanceof HumanError) return { problem: error.message };
    throw error;
  }
  // Loaded here: a run does not ask.
  const { execa } = await import('execa');
  const { stdout, stderr, failed, timedOut, originalMessage } = await execa(file, ['--version'], {
    env: clean,
    extendEnv: false,
    stdin: 'ignore',
    timeout: limitMs,
    reject: false,
    windowsHide: true,
  });
  const version = /\d+\.\d+\.\d+[\w.+-]*/.exec(stdout)?.[0];
  if (!failed && version !== undefined) return { file, version };
  if (timedOut) {
    return {
      file,
      problem: say('{0} --version gave no answer within {1} s.', file, limitMs / 1000),
    };
  }
  const words = shorten(stderr || stdout || originalMessage || '', 300);
  return {
    file,
    problem:
      words === ''
        ? say('{0} --version failed or told no version', file)
        : say('{0} --version failed or told no version: {1}', file, words),
  };
}

/**
 * Where Claude Code is on this machine.
 *
 * @throws {HumanError} when the setting names something that cannot be run
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

/** The home folder by an agent's environment. */
export function homeOf(env: Readonly<Record<string, string>>): string {
  return env['HOME'] || env['USERPROFILE'] || homedir();
}

/** The environment of Claude Code, with the API's keys or without. */
export function claudeEnv(
  options: Pick<ClaudeCodeOptions, 'removeApiKey'>,
  env: AgentRequest['env'],
): Record<string, string> {
  const clean = agentEnv(env);
  return options.removeApiKey === true ? withoutApiKeys(clean) : clean;
}

/** The tools that run without being asked for. */
export function allowedToolsOf(options: ClaudeCodeOptions, request: AgentRequest): string[] {
  // An agent that is restricted to some tools is there to use these, and must not get others.
  return [...(request.allowedTools ?? request.tools ?? options.allowedTools ?? storyTools)];
}

async function claudeCommand(options: ClaudeOptions, request: AgentRequest): Promise<AgentCommand> {
  const env = claudeEnv(options, request.env);
  return {
    file: (await findClaude(options.claudePath, env)) ?? notFound(),
    args: claudeArgs(options, request),
    // As an argument the prompt would hit the command line limit of Windows and show in process lists.
    stdin: request.prompt,
    env,
  };
}

function notFound(): never {
  throw new HumanError(
    say(
      'Claude Code was not found on PATH or where its installers put it. Install it with `npm install -g @anthropic-ai/claude-code`, or set ralphFresh.claudePath / --claude-path to its full path.',
    ),
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
    // stream-json is refused without it.
    '--verbose',
    ...['--allowedTools', allowedToolsOf(options, request).join(',')],
    ...['--max-turns', String(request.maxTurns)],
    '--no-session-persistence',
    // An MCP server's tools are no built-in ones, so a limited agent gets no servers either.
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
