/**
 * Variables that a surrounding Claude Code session passes to its children (measured with 2.1.330 in a Bash tool
 * call, and reported for its editor extensions and its SDKs). With some of them, a nested call refuses to start;
 * with others, it takes over the outer session. `CLAUDE_CODE_*` variables that people set on purpose (providers,
 * tokens, limits, switches) are not listed and stay.
 */
const sessionNames: ReadonlySet<string> = new Set([
  'CLAUDECODE',
  'CLAUDE_CODE_ACTION',
  'CLAUDE_CODE_AUTO_CONNECT_IDE',
  'CLAUDE_CODE_CHILD_NOTES_DIR',
  'CLAUDE_CODE_CHILD_SESSION',
  'CLAUDE_CODE_CLOUD_SESSION_ID',
  'CLAUDE_CODE_CONTAINER_ID',
  'CLAUDE_CODE_COORDINATOR_MODE',
  'CLAUDE_CODE_ENTRYPOINT',
  'CLAUDE_CODE_ENVIRONMENT_KIND',
  'CLAUDE_CODE_ENVIRONMENT_RUNNER_VERSION',
  'CLAUDE_CODE_EXECPATH',
  'CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST',
  'CLAUDE_CODE_REMOTE',
  'CLAUDE_CODE_SPAWNED_BY_SERVER',
  'CLAUDE_CODE_SPAWN_TIMESTAMP_MS',
  'CLAUDE_CODE_SSE_PORT',
  'CLAUDE_CODE_SUPERVISED',
  'CLAUDE_CODE_TASK_LIST_ID',
  'CLAUDE_CODE_TMUX_SESSION',
  'CLAUDE_CODE_VERSION',
  'CLAUDE_CODE_WORKER_EPOCH',
  'CLAUDE_AGENT_SDK_CLIENT_APP',
  'CLAUDE_AGENT_SDK_VERSION',
  'CLAUDE_EFFORT',
  'CLAUDE_ENV_FILE',
  'CLAUDE_JOB_DIR',
  'CLAUDE_PID',
  'CLAUDE_PLUGIN_DATA',
  'CLAUDE_PLUGIN_ROOT',
  'CLAUDE_PROJECT_DIR',
  'CLAUDE_SESSION_ID',
  'CLAUDE_SESSION_SURFACE',
  'CLAUDE_SKILL_DIR',
  'AI_AGENT',
  'ENABLE_IDE_INTEGRATION',
  // Git must use the current folder, not the repository that a hook or a script around the loop pointed to.
  'GIT_COMMON_DIR',
  'GIT_DIR',
  'GIT_INDEX_FILE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_WORK_TREE',
  'NODE_OPTIONS',
]);

/** Prefixes of such names, so that new variables of a later release are covered too. */
const sessionPrefixes = [
  'CLAUDE_CODE_SESSION_',
  'CLAUDE_CODE_BRIDGE_',
  'CLAUDE_CODE_HOST_',
  'CLAUDE_CODE_MESSAGING_',
  'CLAUDE_CODE_REMOTE_',
  'CLAUDE_CODE_RELAUNCH_',
  'CLAUDE_CODE_RESUME_',
  'CLAUDE_CODE_SDK_',
  'CLAUDE_BG_',
  'CLAUDE_BRIDGE_',
  'CLAUDE_RUNNER_',
  'ELECTRON_',
  'VSCODE_',
];

/** The number of a file descriptor is useless in a process that does not inherit it. */
const descriptorSuffix = '_FILE_DESCRIPTOR';

/**
 * The environment for an agent: it keeps what the person configured, without what an editor or a surrounding Claude
 * Code session added.
 */
export function agentEnv(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const clean: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    const known = platform === 'win32' ? name.toUpperCase() : name;
    if (sessionNames.has(known)) continue;
    if (sessionPrefixes.some(prefix => known.startsWith(prefix))) continue;
    if (known.startsWith('CLAUDE_CODE_') && known.endsWith(descriptorSuffix)) continue;
    clean[name] = value;
  }
  return clean;
}

/** With one of these, Claude Code bills the API account, even if a subscription is logged in. */
const apiKeyNames: ReadonlySet<string> = new Set(['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN']);

/** The environment without the API keys, so that the subscription pays. */
export function withoutApiKeys(
  env: Readonly<Record<string, string>>,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => !apiKeyNames.has(platform === 'win32' ? name.toUpperCase() : name),
    ),
  );
}

/**
 * Who pays for Claude Code's work, according to the environment.
 * @param env environment of the agents
 * @param apiKey the setting
 */
export function payerOf(
  env: Readonly<Record<string, string | undefined>>,
  apiKey: 'use' | 'remove' | undefined,
): 'apiKey' | 'login' {
  const hasKey = [...apiKeyNames].some(name => (env[name] ?? '') !== '');
  return hasKey && apiKey !== 'remove' ? 'apiKey' : 'login';
}
