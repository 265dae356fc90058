import { existsSync } from 'node:fs';
import path from 'node:path';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import type { Agent, AgentCommand, AgentDecoder, AgentRequest } from '../agent.ts';
import {
  allowedToolsOf,
  type ClaudeCodeOptions,
  claudeEnv,
  findClaude,
  homeOf,
} from '../claude/claude.ts';
import { StreamJsonDecoder } from '../claude/streamJson.ts';
import { findSdk } from './findSdk.ts';
import type { SdkRunnerRequest } from './sdkRunner.ts';

export interface SdkOptions extends ClaudeCodeOptions {
  /** The path of the SDK; if absent or empty, it is searched for. See {@link findSdk}. */
  readonly sdkPath?: string | undefined;
}

/**
 * Claude Code through the Claude Agent SDK that is installed on this machine. Each iteration is a separate process
 * that imports the SDK and prints its messages in the format of `stream-json`.
 *
 * The SDK may come from the workspace's own `node_modules`; see {@link findSdk} for the consequences.
 */
export function sdkAgent(options: SdkOptions = {}): Agent {
  return {
    id: 'sdk',
    find: ({ cwd, env }) => requireSdk(options, cwd, claudeEnv(options, env)),
    command: request => sdkCommand(options, request),
    decoder: (): AgentDecoder => new StreamJsonDecoder(),
  };
}

async function sdkCommand(options: SdkOptions, request: AgentRequest): Promise<AgentCommand> {
  const runner = runnerProgram();
  if (!existsSync(runner)) {
    throw new HumanError(
      say(
        "The SDK agent's program is missing ({0}). Install Ralph Fresh again, or choose the agent claude.",
        runner,
      ),
    );
  }
  const env = claudeEnv(options, request.env);
  const sdk = await requireSdk(options, request.cwd, env);
  const claude = await findClaude(options.claudePath, env);
  const input: SdkRunnerRequest = {
    sdk,
    prompt: request.prompt,
    options: sdkCallOptions(options, request, claude && spawnable(claude)),
  };
  if (process.versions['electron'] !== undefined) {
    // Inside VS Code the executable is the editor's own and only runs a script with this.
    env['ELECTRON_RUN_AS_NODE'] = '1';
  }
  return { file: process.execPath, args: [runner], stdin: JSON.stringify(input), env };
}

function requireSdk(
  { sdkPath }: SdkOptions,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  return findSdk({ sdkPath, cwd, env, home: homeOf(env) });
}

function runnerProgram(): string {
  const name = import.meta.filename.endsWith('.ts') ? 'sdkRunner.ts' : 'sdkRunner.js';
  return path.join(import.meta.dirname, name);
}

/** The SDK starts its program without a shell, so on Windows it needs the program behind npm's shim. */
function spawnable(claude: string): string | undefined {
  if (!/\.(?:cmd|bat)$/i.test(claude)) return claude;
  const behind = path.join(
    path.dirname(claude),
    'node_modules/@anthropic-ai/claude-code/bin/claude.exe',
  );
  // Without one, the SDK uses the program of its own optional package.
  return existsSync(behind) ? behind : undefined;
}

/** The SDK's options for one call that behaves like `claude -p`. All of them can be serialized as JSON. */
export function sdkCallOptions(
  options: SdkOptions,
  request: AgentRequest,
  claude: string | undefined,
): Readonly<Record<string, unknown>> {
  const { permissionMode, skipPermissions, disallowedTools = [] } = options;
  const fallbackModel = request.fallbackModel || options.fallbackModel;
  const effort = request.effort || options.effort;
  const { maxBudgetUsd, tools, jsonSchema, model } = request;
  // The command line calls the SDK's default mode "manual".
  const mode = permissionMode === 'manual' ? 'default' : permissionMode;
  return {
    cwd: request.cwd,
    maxTurns: request.maxTurns,
    allowedTools: allowedToolsOf(options, request),
    // Project settings and CLAUDE.md are read, as on the command line; older SDKs read none by default.
    settingSources: ['user', 'project', 'local'],
    systemPrompt: { type: 'preset', preset: 'claude_code' },
    // Nobody is there to answer.
    permissionPrompts: 'none',
    persistSession: false,
    model: model || undefined,
    fallbackModel: fallbackModel || undefined,
    effort: effort || undefined,
    maxBudgetUsd,
    ...(tools !== undefined && { tools, strictMcpConfig: true }),
    disallowedTools: disallowedTools.length > 0 ? disallowedTools : undefined,
    outputFormat:
      jsonSchema !== undefined ? { type: 'json_schema', schema: jsonSchema } : undefined,
    ...(skipPermissions === true
      ? { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true }
      : mode && { permissionMode: mode }),
    pathToClaudeCodeExecutable: claude,
  };
}
