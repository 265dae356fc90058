import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { agentEnv, withoutApiKeys } from '../../src/orchestrator/agents/agentEnv.ts';

describe('agentEnv', () => {
  it('removes what a surrounding session or editor has set', () => {
    const left = {
      CLAUDECODE: '1',
      CLAUDE_CODE_ENTRYPOINT: 'cli',
      CLAUDE_CODE_SSE_PORT: '41234',
      CLAUDE_CODE_SESSION_ID: 's-1',
      CLAUDE_CODE_SESSION_OF_NEXT_YEAR: 'x',
      CLAUDE_CODE_CHILD_SESSION: '1',
      CLAUDE_CODE_EXECPATH: '/opt/claude',
      CLAUDE_CODE_MESSAGING_TOKEN: 't',
      CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR: '3',
      CLAUDE_EFFORT: 'high',
      CLAUDE_PID: '12',
      AI_AGENT: 'claude-code',
      VSCODE_IPC_HOOK_CLI: '/run/vscode.sock',
      ELECTRON_RUN_AS_NODE: '1',
      NODE_OPTIONS: '--require x',
    };
    assert.deepEqual(agentEnv({ ...left, PATH: '/usr/bin' }, 'linux'), { PATH: '/usr/bin' });
  });

  it('keeps variables that people configure on purpose', () => {
    const kept = {
      HOME: '/home/ann',
      ANTHROPIC_API_KEY: 'key',
      ANTHROPIC_BASE_URL: 'https://gateway.example',
      CLAUDE_CONFIG_DIR: '/home/ann/.claude-work',
      CLAUDE_CODE_USE_BEDROCK: '1',
      CLAUDE_CODE_USE_VERTEX: '1',
      CLAUDE_CODE_OAUTH_TOKEN: 'token',
      CLAUDE_CODE_MAX_OUTPUT_TOKENS: '32000',
      CLAUDE_CODE_MAX_RETRIES: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_EFFORT_LEVEL: 'high',
      CLAUDE_CODE_SUBAGENT_MODEL: 'haiku',
      CLAUDE_CODE_SHELL_PREFIX: 'nice',
      MY_VSCODE_DIR: '/x',
    };
    assert.deepEqual(agentEnv(kept, 'linux'), kept);
  });

  it('drops unset names', () => {
    assert.deepEqual(agentEnv({ A: undefined, B: '' }, 'linux'), { B: '' });
  });

  it('ignores the case of names only on Windows', () => {
    const env = { Path: 'C:\\bin', ClaudeCode: '1', Node_Options: 'x', vscode_pid: '4' };
    assert.deepEqual(agentEnv(env, 'win32'), { Path: 'C:\\bin' });
    assert.deepEqual(agentEnv(env, 'linux'), env);
  });
});

describe('withoutApiKeys', () => {
  it('removes exactly the variables that make the API pay', () => {
    const env = { ANTHROPIC_API_KEY: 'k', ANTHROPIC_AUTH_TOKEN: 't', CLAUDE_CODE_OAUTH_TOKEN: 'o' };
    assert.deepEqual(withoutApiKeys(env, 'linux'), { CLAUDE_CODE_OAUTH_TOKEN: 'o' });
    assert.deepEqual(withoutApiKeys({ Anthropic_Api_Key: 'k' }, 'win32'), {});
    assert.deepEqual(withoutApiKeys({ anthropic_api_key: 'k' }, 'linux'), {
      anthropic_api_key: 'k',
    });
  });
});
