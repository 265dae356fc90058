import { homedir } from 'node:os';
import { HumanError } from '../humanError.ts';
import type { Agent, AgentCommand, AgentDecoder, AgentRequest } from './agent.ts';
import { agentEnv } from './agentEnv.ts';
import { findProgram } from './findProgram.ts';
import { StreamJsonDecoder } from './streamJson.ts';

export type ClaudePermissionMode =
  | 'acceptEdits'
  | 'auto'
  | 'bypassPermissions'
  | 'dontAsk'
  | 'manual'
  | 'plan';

export interface ClaudeOptions {
  /** Setting `ralphFresh.claudePath`; looked for when absent or empty. */
  readonly claudePath?: string | undefined;
  readonly permissionMode?: ClaudePermissionMode | undefined;
  /** Passed on after our own arguments, so that they win. */
  readonly extraArgs?: readonly string[] | undefined;
}

/** What a story needs. Whatever else an agent asks for is denied, since nobody is there to answer. */
const allowedTools = ['Read', 'Edit', 'Write', 'Bash', 'Glob', 'Grep'];

/** Claude Code on the command line, one fresh session for each iteration. */
export function claudeAgent(options: ClaudeOptions = {}): Agent {
  return {
    id: 'claude',
    command: request => claudeCommand(options, request),
    decoder: (): AgentDecoder => new StreamJsonDecoder(),
  };
}

async function claudeCommand(options: ClaudeOptions, request: AgentRequest): Promise<AgentCommand> {
  const env = agentEnv(request.env);
  const file = await findProgram('claude', {
    setting: options.claudePath,
    env,
    home: env['HOME'] || env['USERPROFILE'] || homedir(),
    platform: process.platform,
  });
  if (file === undefined) {
    throw new HumanError(
      'Claude Code was not found on PATH or where its installers put it. ' +
        'Install it with `npm install -g @anthropic-ai/claude-code`, ' +
        'or set ralphFresh.claudePath / --claude-path to its full path.',
    );
  }
  return {
    file,
    args: [
      '-p',
      ...['--output-format', 'stream-json'],
      // stream-json is refused without it.
      '--verbose',
      ...['--allowedTools', allowedTools.join(',')],
      ...['--max-turns', String(request.maxTurns)],
      '--no-session-persistence',
      ...(request.model ? ['--model', request.model] : []),
      ...(options.permissionMode ? ['--permission-mode', options.permissionMode] : []),
      ...(options.extraArgs ?? []),
    ],
    // As an argument the prompt would hit the command line limit of Windows and show in process lists.
    stdin: request.prompt,
    env,
  };
}
