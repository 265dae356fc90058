import assert from 'node:assert/strict';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { englishOf, say } from '../../src/base/say.ts';
import { type AgentRequest, isTransient } from '../../src/orchestrator/agents/agent.ts';
import {
  claudeAgent,
  claudeArgs,
  claudeVersion,
} from '../../src/orchestrator/agents/claude/claude.ts';
import { findSdk } from '../../src/orchestrator/agents/sdk/findSdk.ts';
import { sdkAgent, sdkCallOptions } from '../../src/orchestrator/agents/sdk/sdk.ts';
import { cleanEnv, type TempDir, tempDir } from '../support/cleanEnv.ts';
import { sameValue } from '../support/sameValue.ts';

const request: AgentRequest = { cwd: '/todo', prompt: 'Work.', maxTurns: 7, env: {} };
const posix = { skip: process.platform === 'win32' };

/** The value of an option, or undefined when it is not there. */
function optionOf(args: readonly string[], option: string): string | undefined {
  const at = args.indexOf(option);
  return at < 0 ? undefined : args[at + 1];
}

describe('claudeArgs', () => {
  it('passes only the options that are needed', () => {
    sameValue(claudeArgs({}, request), [
      '-p',
      '--output-format',
      'stream-json',
      '--verbose',
      '--allowedTools',
      'Read,Edit,Write,Bash,Glob,Grep',
      '--max-turns',
      '7',
      '--no-session-persistence',
    ]);
  });

  it('passes every option that a person can set', () => {
    const args = claudeArgs(
      {
        permissionMode: 'dontAsk',
        fallbackModel: 'sonnet',
        effort: 'high',
        allowedTools: ['Read', 'Bash(npm test)'],
        disallowedTools: ['WebFetch', 'WebSearch'],
        extraArgs: ['--add-dir', '/docs'],
      },
      { ...request, model: 'opus', maxBudgetUsd: 0.25, jsonSchema: { type: 'object' } },
    );
    assert.equal(optionOf(args, '--permission-mode'), 'dontAsk');
    assert.equal(optionOf(args, '--fallback-model'), 'sonnet');
    assert.equal(optionOf(args, '--effort'), 'high');
    assert.equal(optionOf(args, '--allowedTools'), 'Read,Bash(npm test)');
    assert.equal(optionOf(args, '--disallowedTools'), 'WebFetch,WebSearch');
    assert.equal(optionOf(args, '--model'), 'opus');
    assert.equal(optionOf(args, '--max-budget-usd'), '0.25');
    assert.equal(optionOf(args, '--json-schema'), '{"type":"object"}');
    sameValue(args.slice(-2), ['--add-dir', '/docs'], 'extra arguments come last');
  });

  it('lets a single call override the general settings', () => {
    const options = { fallbackModel: 'sonnet', effort: 'high', allowedTools: ['Bash'] };
    const args = claudeArgs(options, { ...request, fallbackModel: 'haiku', effort: 'low' });
    assert.equal(optionOf(args, '--fallback-model'), 'haiku');
    assert.equal(optionOf(args, '--effort'), 'low');
    assert.equal(optionOf(args, '--allowedTools'), 'Bash');
  });

  it('gives a read-only call its tools and no others', () => {
    const args = claudeArgs(
      { allowedTools: ['Bash'] },
      { ...request, tools: ['Read', 'Grep', 'Glob'] },
    );
    assert.equal(optionOf(args, '--tools'), 'Read,Grep,Glob');
    assert.ok(args.includes('--strict-mcp-config'));
    assert.equal(optionOf(args, '--allowedTools'), 'Read,Grep,Glob');
  });

  it('writes small budgets as plain numbers', () => {
    const budget = (maxBudgetUsd: number) =>
      optionOf(claudeArgs({}, { ...request, maxBudgetUsd }), '--max-budget-usd');
    assert.equal(budget(10), '10');
    assert.equal(budget(0.000005), '0.000005');
    assert.equal(budget(1 / 3), '0.333333');
  });

  it('skips permissions only on request, and then instead of any mode', () => {
    const skip = '--dangerously-skip-permissions';
    assert.ok(!claudeArgs({ permissionMode: 'plan' }, request).includes(skip));
    const args = claudeArgs({ permissionMode: 'plan', skipPermissions: true }, request);
    assert.ok(args.includes(skip));
    assert.equal(optionOf(args, '--permission-mode'), undefined);
  });
});

describe('Claude Code on this machine', posix, () => {
  let temp: TempDir;
  let bin: string;

  beforeEach(async () => {
    temp = await tempDir('claude-args-');
    bin = path.join(temp.path, 'bin');
    await mkdir(bin);
  });
  afterEach(() => temp.remove());

  async function program(lines: readonly string[]): Promise<string> {
    const file = path.join(bin, 'claude');
    await writeFile(file, `#!/bin/sh\n${lines.join('\n')}\n`);
    await chmod(file, 0o755);
    return file;
  }
  const env = () => cleanEnv({ home: temp.path, path: [bin] });

  it('removes API keys from the environment if the subscription pays', async () => {
    await program(['exit 0']);
    const keys = { ANTHROPIC_API_KEY: 'k', ANTHROPIC_AUTH_TOKEN: 't', ANTHROPIC_BASE_URL: 'u' };
    const envOf = async (removeApiKey: boolean) => {
      const agent = claudeAgent({ removeApiKey });
      return (await agent.command({ ...request, env: { ...env(), ...keys } })).env;
    };
    const kept = await envOf(false);
    assert.equal(kept['ANTHROPIC_API_KEY'], 'k');
    const { ANTHROPIC_API_KEY: key, ANTHROPIC_AUTH_TOKEN: token, ...rest } = await envOf(true);
    sameValue([key, token, rest['ANTHROPIC_BASE_URL']], [undefined, undefined, 'u']);
  });

  it('reports its version, asked in a clean environment', async () => {
    const file = await program(['echo "2.1.330 (Claude Code)$CLAUDECODE"']);
    sameValue(await claudeVersion({}, { ...env(), CLAUDECODE: '1' }), {
      file,
      version: '2.1.330',
    });
  });

  it('says what is wrong with it', async () => {
    const file = await program(['echo "cannot execute: wrong architecture" >&2', 'exit 126']);
    sameValue(await claudeVersion({}, env()), {
      file,
      isStarted: true,
      problem: say(
        '{0} --version failed or printed no version: {1}',
        file,
        'cannot execute: wrong architecture',
      ),
    });
    const missing = await claudeVersion({ claudePath: '/nowhere/claude' }, env());
    assert.match(
      englishOf('problem' in missing ? missing.problem : ''),
      /"\/nowhere\/claude".*claudePath/,
    );
  });

  it('does not wait for a hanging program', async () => {
    await program(['exec sleep 600']);
    const answer = await claudeVersion({}, env(), 200);
    assert.match(
      englishOf('problem' in answer ? answer.problem : ''),
      /did not respond within 0\.2 s/,
    );
  });
});

describe('the SDK agent', () => {
  let temp: TempDir;
  const inTemp = (...parts: readonly string[]) => path.join(temp.path, ...parts);

  beforeEach(async () => {
    temp = await tempDir('sdk-agent-');
  });
  afterEach(() => temp.remove());

  async function installSdk(...modules: readonly string[]): Promise<string> {
    const folder = inTemp(...modules, '@anthropic-ai', 'claude-agent-sdk');
    await mkdir(folder, { recursive: true });
    await writeFile(
      path.join(folder, 'package.json'),
      JSON.stringify({ name: '@anthropic-ai/claude-agent-sdk', main: 'sdk.mjs' }),
    );
    const entry = path.join(folder, 'sdk.mjs');
    await writeFile(entry, 'export function query() {}\n');
    return entry;
  }
  const find = (more: { sdkPath?: string; env?: Record<string, string> } = {}) =>
    findSdk({ cwd: inTemp('work', 'space'), env: {}, home: inTemp('home'), ...more });

  it(
    'is searched for in the workspace, above it, then where npm puts global packages',
    posix,
    async () => {
      const env = { PATH: inTemp('prefix', 'bin') };
      const global = await installSdk('prefix', 'lib', 'node_modules');
      assert.equal(await find({ env }), global);
      const above = await installSdk('work', 'node_modules');
      assert.equal(await find({ env }), above);
      const own = await installSdk('work', 'space', 'node_modules');
      assert.equal(await find({ env }), own);
      assert.equal(await find({ env, sdkPath: inTemp('prefix', 'lib', 'node_modules') }), global);
      assert.equal(await find({ env, sdkPath: path.dirname(global) }), global);
      assert.equal(await find({ env, sdkPath: global }), global);
    },
  );

  it('explains how to install it, or which path is wrong', async () => {
    await assert.rejects(find({ sdkPath: inTemp('gone') }), {
      name: 'HumanError',
      message: /gone", set as the path of the Claude Agent SDK/,
    });
    const agent = sdkAgent({ sdkPath: inTemp('gone') });
    const { cwd } = { cwd: inTemp('work') };
    await assert.rejects(agent.command({ ...request, cwd, env: { HOME: temp.path } }), {
      name: 'HumanError',
    });
  });

  it('is called with the options of the command line', () => {
    sameValue(sdkCallOptions({}, request, undefined), {
      cwd: '/todo',
      maxTurns: 7,
      allowedTools: ['Read', 'Edit', 'Write', 'Bash', 'Glob', 'Grep'],
      settingSources: ['user', 'project', 'local'],
      systemPrompt: { type: 'preset', preset: 'claude_code' },
      permissionPrompts: 'none',
      persistSession: false,
    });
    const schema = { type: 'object' };
    const options = sdkCallOptions(
      { permissionMode: 'manual', effort: 'low', disallowedTools: ['WebFetch'] },
      { ...request, model: 'opus', tools: ['Read'], maxBudgetUsd: 2, jsonSchema: schema },
      '/bin/claude',
    );
    sameValue(
      [options['permissionMode'], options['effort'], options['disallowedTools'], options['model']],
      ['default', 'low', ['WebFetch'], 'opus'],
    );
    sameValue(options['tools'], ['Read']);
    sameValue(options['allowedTools'], ['Read']);
    assert.equal(options['maxBudgetUsd'], 2);
    sameValue(options['outputFormat'], { type: 'json_schema', schema });
    assert.equal(options['pathToClaudeCodeExecutable'], '/bin/claude');
    const skipping = sdkCallOptions({ skipPermissions: true }, request, undefined);
    assert.equal(skipping['permissionMode'], 'bypassPermissions');
    assert.equal(skipping['allowDangerouslySkipPermissions'], true);
  });
});

describe('isTransient', () => {
  it('distinguishes transient errors from others', () => {
    for (const kind of ['api', 'overloaded', 'rateLimit', 'toolConcurrency']) {
      assert.ok(isTransient(kind), kind);
    }
    for (const kind of [
      'request',
      'billing',
      'authentication',
      'maxTurns',
      'budget',
      'usageLimit',
      'other',
      'hardLimit',
    ]) {
      assert.ok(!isTransient(kind), kind);
    }
  });
});
