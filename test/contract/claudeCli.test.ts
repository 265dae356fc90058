import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, before, beforeEach, describe, it } from 'node:test';
import { claudeCodeVersion, ensureClaudeCode } from '../../scripts/lib/claudeCode.ts';
import { say } from '../../src/base/say.ts';
import type { AgentEvent, AgentRequest } from '../../src/orchestrator/agents/agent.ts';
import type { AgentEnd } from '../../src/orchestrator/agents/call/agentProcess.ts';
import {
  type ClaudeOptions,
  claudeAgent,
  claudeVersion,
} from '../../src/orchestrator/agents/claude/claude.ts';
import type { ProcessLimits } from '../../src/orchestrator/process/processLimits.ts';
import type { TempDir } from '../support/cleanEnv.ts';
import { gitFolder } from '../support/gitFolder.ts';
import {
  commitSubject,
  type ModelScript,
  type Scripted,
  ScriptedModel,
  storyScript,
} from '../support/scriptedModel.ts';
import { recordedCall, todoProject } from '../support/todoProject.ts';

const stories = [
  { id: 'US-001', title: 'Add a todo' },
  { id: 'US-002', title: "List the person's todos" },
  { id: 'US-003', title: 'Remove a todo' },
];

type Result = Extract<AgentEvent, { type: 'result' }>;

interface CallOptions extends Omit<ClaudeOptions, 'claudePath'> {
  readonly prompt?: string;
  readonly maxTurns?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly request?: Partial<AgentRequest>;
  /** Called for each event as it comes; may end the process. */
  readonly onEvent?: (event: AgentEvent, kill: () => void) => void;
}

interface Call {
  readonly code: number | null;
  readonly events: readonly AgentEvent[];
  readonly results: readonly Result[];
}

// The limit only ends a hanging run; no test measures time.
describe('the pinned Claude Code', () => {
  let claudePath: string;
  let temp: TempDir;
  let home: string;
  let cwd: string;

  before(async () => {
    claudePath = await ensureClaudeCode(line => console.error(line));
  });
  beforeEach(async () => {
    ({ temp, home, folder: cwd } = await todoProject('claude-cli-', stories));
  });
  afterEach(() => temp.remove());

  const prdFile = () => path.join(cwd, '.omc', 'prd.json');

  async function call(model: ScriptedModel, options: CallOptions = {}): Promise<Call> {
    const { prompt = 'Work.', maxTurns = 20, env = {}, request, onEvent, ...claude } = options;
    const agent = claudeAgent({ claudePath, ...claude });
    const command = await agent.command({
      ...{ cwd, prompt, maxTurns, env: model.env(home, env) },
      ...request,
    });
    const child = spawn(command.file, command.args, {
      cwd,
      env: command.env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const closed = once(child, 'close');
    child.stdin.end(command.stdin);
    const decoder = agent.decoder();
    const events: AgentEvent[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      for (const event of decoder.decode(line)) {
        events.push(event);
        onEvent?.(event, () => child.kill('SIGTERM'));
      }
    }
    await closed;
    return { code: child.exitCode, events, results: ofType(events, 'result') };
  }

  /** One call whose every turn fails, or answers, in the same way. */
  async function callWith(reply: Scripted, options: CallOptions = {}): Promise<Call> {
    await using model = await ScriptedModel.start(() => reply);
    // Awaited here, so that the model is there until the end of the call.
    return await call(model, { ...options, env: { CLAUDE_CODE_MAX_RETRIES: '1', ...options.env } });
  }

  /** One call as the loop makes it, which may end it early. */
  async function runCall(
    model: ScriptedModel,
    env: Readonly<Record<string, string | undefined>>,
    limits: Partial<ProcessLimits> = {},
  ): Promise<AgentEnd & { readonly events: readonly AgentEvent[] }> {
    const agent = claudeAgent({ claudePath });
    const command = await agent.command({
      ...{ cwd, prompt: 'Work.', maxTurns: 20 },
      env: { ...model.env(home), ...env },
    });
    return recordedCall({ folder: cwd, temp }, agent, command, limits);
  }

  const { git } = gitFolder(() => ({ folder: cwd, home }));

  it('finishes three stories in three fresh processes with its own tools', async () => {
    await using model = await ScriptedModel.start(storyScript(stories));
    const original = await readFile(prdFile(), 'utf8');
    const calls: Call[] = [];
    for (const story of stories) {
      const prompt =
        `Work on ${story.id} of .omc/prd.json, note what you learn in .omc/progress.txt.\n` +
        'Umlaute, “quotes”, $HOME and `ticks` arrive as they are.\n';
      calls.push(await call(model, { prompt }));
      assert.equal(model.prompts.at(-1)?.trim(), prompt.trim());
    }

    const inits = calls.flatMap(({ events }) => ofType(events, 'init'));
    assert.equal(new Set(inits.map(event => event.sessionId)).size, 3, 'sessions are fresh');
    for (const event of inits) {
      assert.equal(event.version, claudeCodeVersion);
      assert.equal(event.apiKeySource, 'ANTHROPIC_API_KEY');
      assert.ok(event.model);
    }
    for (const { code, results } of calls) {
      assert.equal(code, 0);
      const [result] = results;
      assert(result && !result.isError);
      assert.equal(result.error, undefined);
      assert.equal(result.turns, 7);
      assert.deepEqual(result.usage, { input: 70, output: 35, cacheRead: 0, cacheWrite: 0 });
      assert.ok((result.costUsd ?? 0) > 0);
      assert.ok((result.durationMs ?? 0) > 0);
    }
    assert.deepEqual(
      calls.map(({ results }) => results[0]?.text),
      [
        'US-001 is done: Add a todo.',
        "US-002 is done: List the person's todos.",
        'US-003 is done: Remove a todo.\n\n<promise>TASK_COMPLETE</promise>',
      ],
    );

    const [first] = calls;
    assert(first);
    assert.deepEqual(
      ofType(first.events, 'tool').map(({ name, gist }) => [name, gist]),
      [
        ['Read', '.omc/prd.json'],
        ['Write', 'src/us-001.mjs'],
        ['Bash', 'node --check src/us-001.mjs && echo checks passed'],
        ['Edit', '.omc/prd.json'],
        [
          'Bash',
          `printf '%s\\n' '## US-001' '- Add a todo is done in src/us-001.mjs.' >> '.omc/progress.txt'`,
        ],
        [
          'Bash',
          `git add -A && git commit -q -m 'feat: US-001 - Add a todo' && git log -1 --oneline`,
        ],
      ],
    );
    const toolResults = ofType(first.events, 'toolResult');
    assert.deepEqual(
      toolResults.map(({ id }) => id),
      ofType(first.events, 'tool').map(({ id }) => id),
    );
    assert.ok(toolResults.every(({ isError }) => !isError));
    assert.equal(toolResults[2]?.gist, 'checks passed');
    assert.deepEqual(ofType(first.events, 'unknown'), []);

    assert.deepEqual((await git('log', '--format=%an: %s')).split('\n'), [
      ...stories.map(story => `Scripted Agent: ${commitSubject(story)}`).reverse(),
      'Test Person: First commit',
    ]);
    assert.equal(await git('status', '--porcelain'), '');
    assert.equal(await readFile(prdFile(), 'utf8'), original.replaceAll('false', 'true'));
    const progress = await readFile(path.join(cwd, '.omc', 'progress.txt'), 'utf8');
    assert.deepEqual(progress.match(/^## .*/gm), ['## US-001', '## US-002', '## US-003']);
  });

  it('distinguishes an account without credit from a transient failure', async () => {
    const { code, results } = await callWith(
      failure(400, 'invalid_request_error', 'Your credit balance is too low to use the API.'),
    );
    assert.equal(code, 1);
    assert.deepEqual(
      results.map(({ isError, error }) => ({ isError, error })),
      [{ isError: true, error: { kind: 'billing', message: 'Credit balance is too low' } }],
    );
  });

  it('returns the text of a refused request, and our own text for a known one', async () => {
    const other = await callWith(failure(400, 'invalid_request_error', 'messages.1: too odd'));
    assert.equal(other.results[0]?.error?.kind, 'request');
    assert.equal(other.results[0]?.text, 'API Error: 400 messages.1: too odd');
    const { results } = await callWith(
      failure(400, 'invalid_request_error', 'messages: `tool_use` ids must be unique'),
    );
    assert.equal(results[0]?.error?.kind, 'toolConcurrency');
    assert.match(results[0]?.text ?? '', /duplicate tool_use ID/);
  });

  const transient = [
    {
      reply: failure(529, 'overloaded_error', 'Overloaded'),
      retry: 'overloaded',
      kind: 'overloaded',
    },
    {
      reply: failure(429, 'rate_limit_error', 'Slow down', { 'retry-after': '0' }),
      retry: 'rate_limit',
      kind: 'rateLimit',
    },
    { reply: failure(500, 'api_error', 'Oops'), retry: 'server_error', kind: 'api' },
    {
      reply: failure(401, 'authentication_error', 'invalid x-api-key'),
      retry: 'authentication_failed',
      kind: 'authentication',
    },
    { reply: 'drop', retry: 'unknown', kind: 'api' },
  ] as const;
  for (const { reply, retry, kind } of transient) {
    const name = reply === 'drop' ? 'a dropped connection' : `status ${reply.error.status}`;
    it(`announces each retry after ${name}, then the kind of failure`, async () => {
      const { code, events, results } = await callWith(reply);
      const retries = ofType(events, 'retry');
      assert.deepEqual(
        retries.map(event => [event.attempt, event.maxAttempts, event.status, event.error]),
        [[1, 1, reply === 'drop' ? undefined : reply.error.status, retry]],
      );
      assert.equal(code, 1);
      assert.equal(results[0]?.isError, true);
      assert.equal(results[0]?.error?.kind, kind);
    });
  }

  it('stops at the turn limit and reports the cost so far', async () => {
    const { code, results } = await callWith(
      { tools: [{ name: 'Bash', input: { command: 'echo again' } }] },
      { maxTurns: 2 },
    );
    assert.equal(code, 1);
    const [result] = results;
    assert.equal(result?.error?.kind, 'maxTurns');
    assert.equal(result?.text, '');
    assert.ok((result?.costUsd ?? 0) > 0);
  });

  it('stops at the budget of one call, and reports the cost so far', async () => {
    const { code, results } = await callWith(
      { tools: [{ name: 'Bash', input: { command: 'echo again' } }] },
      { request: { maxBudgetUsd: 0.000001 } },
    );
    assert.equal(code, 1);
    assert.equal(results[0]?.error?.kind, 'budget');
    assert.ok((results[0]?.costUsd ?? 0) > 0);
  });

  it('answers in the requested form', async () => {
    const answer = { verdict: 'pass', notes: 'Nothing is missing.' };
    const schema = {
      type: 'object',
      properties: { verdict: { type: 'string' }, notes: { type: 'string' } },
      required: ['verdict', 'notes'],
    };
    const { code, results } = await callWith(
      { tools: [{ name: 'StructuredOutput', input: answer }] },
      { request: { jsonSchema: schema } },
    );
    assert.equal(code, 0);
    assert.deepEqual(results.at(-1)?.structured, answer);
  });

  it('offers a read-only call no other tools', async () => {
    let offered: readonly string[] = [];
    await using model = await ScriptedModel.start(({ tools }) => {
      offered = tools;
      return { text: 'Read.' };
    });
    await call(model, { request: { tools: ['Read', 'Grep', 'Glob'] } });
    // It may add placeholders of its own, which do nothing.
    const real = offered.filter(name => !name.endsWith('Placeholder'));
    assert.deepEqual(real.sort(), ['Glob', 'Grep', 'Read']);
  });

  it('accepts every option that we pass', async () => {
    await using model = await ScriptedModel.start(() => ({ text: 'Done.' }));
    const { code, results } = await call(model, {
      permissionMode: 'dontAsk',
      fallbackModel: 'haiku',
      effort: 'low',
      allowedTools: ['Read', 'Bash(git status)'],
      disallowedTools: ['WebFetch'],
      request: { model: 'sonnet', maxBudgetUsd: 5 },
    });
    assert.equal(code, 0);
    assert.equal(results[0]?.text, 'Done.');
  });

  it('does not keep retrying a refused login for minutes', async () => {
    const refusal = failure(401, 'authentication_error', 'invalid x-api-key');
    await using model = await ScriptedModel.start(() => refusal);
    const { reason, error, result, events } = await runCall(model, {});
    assert.deepEqual(error, {
      kind: 'authentication',
      message: 'authentication_failed (status 401)',
    });
    assert.deepEqual([reason, result], ['exited', undefined]);
    const retries = ofType(events, 'retry');
    assert.deepEqual(
      retries.map(({ attempt, maxAttempts }) => [attempt, maxAttempts]),
      [
        [1, 10],
        [2, 10],
      ],
    );
  });

  it('reports when a used-up subscription becomes available again', async () => {
    const resetsAt = Math.floor(Date.now() / 1000) + 2 * 3600;
    const usedUp = failure(429, 'rate_limit_error', 'This would exceed the rate limit.', {
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-reset': String(resetsAt),
      'anthropic-ratelimit-unified-representative-claim': 'five_hour',
    });
    await using model = await ScriptedModel.start(() => usedUp);
    // What looks like the log-in of a subscription; the scripted model asks for none.
    const subscription = { ANTHROPIC_API_KEY: undefined, CLAUDE_CODE_OAUTH_TOKEN: 'no-token' };
    const ended = await runCall(model, subscription);
    assert.deepEqual(ended.error, {
      kind: 'usageLimit',
      message: say('usage limit: {0}', 'five_hour'),
      resetsAt: resetsAt * 1000,
    });

    // The words of the result say the same, to the minute.
    const agent = claudeAgent({ claudePath });
    const env = { ...model.env(home), ...subscription };
    const command = await agent.command({ cwd, prompt: 'Work.', maxTurns: 20, env });
    const child = spawn(command.file, command.args, { cwd, env: command.env });
    child.stdin.end(command.stdin);
    const results: Result[] = [];
    const decoder = agent.decoder();
    for await (const line of createInterface({ input: child.stdout })) {
      results.push(...ofType(decoder.decode(line), 'result'));
    }
    const [result] = results;
    assert.match(result?.text ?? '', /^You've hit your .*limit · resets /);
    assert.equal(result?.error?.kind, 'usageLimit');
    const read = result?.error?.resetsAt ?? 0;
    assert.ok(Math.abs(read - resetsAt * 1000) <= 3_600_000, `${result?.text}: ${read}`);
  });

  it('prints nothing while the model is silent, so that the idle limit ends it', async () => {
    await using model = await ScriptedModel.start(() => 'hang');
    const { reason, error, result } = await runCall(model, {}, { idleMs: 5_000 });
    assert.deepEqual([reason, error, result], ['idleLimit', undefined, undefined]);
  });

  it('reports its version', async () => {
    assert.deepEqual(await claudeVersion({ claudePath }, { HOME: home, PATH: home }), {
      file: claudePath,
      version: claudeCodeVersion,
    });
  });

  it('continues after a denied tool', async () => {
    const script: ModelScript = ({ toolResults }) =>
      toolResults === 0
        ? { tools: [{ name: 'WebFetch', input: { url: 'http://127.0.0.1:9/', prompt: 'x' } }] }
        : { text: 'I went on without it.' };
    await using model = await ScriptedModel.start(script);
    const { code, events, results } = await call(model);
    const [denied] = ofType(events, 'denied');
    assert.equal(denied?.tool, 'WebFetch');
    assert.match(denied?.message ?? '', /permission/);
    assert.deepEqual(
      ofType(events, 'toolResult').map(({ isError }) => isError),
      [true],
    );
    assert.equal(code, 0);
    assert.equal(results[0]?.text, 'I went on without it.');
    assert.equal(results[0]?.permissionDenials, 1);
  });

  it('names each of its subagents and reports what each one used', async () => {
    const file = path.join(cwd, '.omc', 'prd.json');
    const start = (task: string) => ({
      name: 'Agent',
      input: {
        ...{ description: task, prompt: `Task: ${task}`, subagent_type: 'general-purpose' },
        run_in_background: false,
      },
    });
    const script: ModelScript = ({ prompt, toolResults }) =>
      prompt.includes('Task: ')
        ? toolResults === 0
          ? { tools: [{ name: 'Read', input: { file_path: file } }] }
          : { text: 'It is there.' }
        : toolResults === 0
          ? { tools: [start('Look at one'), start('Look at two')] }
          : { text: 'Both looked.' };
    await using model = await ScriptedModel.start(script);
    const { code, events, results } = await call(model);
    const started = ofType(events, 'tool').filter(({ name }) => name === 'Agent');
    const subagents = started.map(({ id, gist }) => ({ id, name: gist }));
    assert.deepEqual(
      subagents.map(({ name }) => name),
      ['Look at one', 'Look at two'],
    );
    const reads = ofType(events, 'tool').filter(({ name }) => name === 'Read');
    assert.deepEqual(reads.map(({ parent }) => parent?.name).sort(), [
      'Look at one',
      'Look at two',
    ]);
    const ends = ofType(events, 'subagentEnded');
    assert.deepEqual(
      ends.map(({ subagent }) => subagent).sort((a, b) => a.name.localeCompare(b.name)),
      subagents,
    );
    for (const { durationMs = 0, gist, isError, tokens = 0, toolCalls } of ends) {
      assert.deepEqual([gist, isError, toolCalls], ['It is there.', false, 1]);
      assert.ok(durationMs > 0 && tokens > 0);
    }
    assert.equal(code, 0);
    assert.equal(results[0]?.text, 'Both looked.');
  });

  it('returns a second, shorter result when background work ends after the answer', async () => {
    const go = path.join(temp.path, 'go');
    let answers = 0;
    const script: ModelScript = ({ toolResults }) => {
      if (toolResults === 0) {
        const command = `until [ -e '${go}' ]; do sleep 0.05; done`;
        return { tools: [{ name: 'Bash', input: { command, run_in_background: true } }] };
      }
      answers += 1;
      return { text: answers === 1 ? 'Answer.' : 'Follow-up.' };
    };
    await using model = await ScriptedModel.start(script);
    let released: Promise<void> | undefined;
    const { code, events, results } = await call(model, {
      onEvent: event => {
        if (event.type === 'result') released ??= writeFile(go, '');
      },
    });
    await released;
    assert.equal(code, 0);
    assert.deepEqual(
      results.map(({ text, turns }) => [text, turns]),
      [
        ['Answer.', 2],
        ['Follow-up.', 1],
      ],
    );
    const [main, followUp] = results;
    assert.ok((followUp?.costUsd ?? 0) > (main?.costUsd ?? 0), 'the cost is a running total');
    assert.ok(ofType(events, 'activity').length > 0);
  });

  it('ends without a result on SIGTERM', { skip: process.platform === 'win32' }, async () => {
    const script: ModelScript = ({ toolResults }) =>
      toolResults === 0 ? { tools: [{ name: 'Bash', input: { command: 'echo begun' } }] } : 'hang';
    await using model = await ScriptedModel.start(script);
    const { code, events, results } = await call(model, {
      onEvent: (event, kill) => {
        if (event.type === 'toolResult') kill();
      },
    });
    assert.notEqual(code, 0);
    assert.deepEqual(results, []);
    assert.equal(ofType(events, 'toolResult')[0]?.gist, 'begun');
  });

  it('takes a model and a permission mode', async () => {
    await using model = await ScriptedModel.start(({ model }) => ({ text: model }));
    const agent = claudeAgent({ claudePath, permissionMode: 'acceptEdits' });
    const request = { cwd, prompt: 'x', maxTurns: 3, env: model.env(home), model: 'haiku' };
    const { args } = await agent.command(request);
    assert.deepEqual(args.slice(-4), ['--model', 'haiku', '--permission-mode', 'acceptEdits']);
    const { results } = await call(model, { extraArgs: ['--model', 'haiku'] });
    assert.match(results[0]?.text ?? '', /haiku/);
  });

  it('says how to install Claude Code when it is missing', async t => {
    if (['/usr/local/bin/claude', '/opt/homebrew/bin/claude'].some(existsSync)) {
      t.skip('this machine has one in a place that is always looked at');
      return;
    }
    const request = { cwd, prompt: 'x', maxTurns: 3, env: { HOME: home, PATH: home } };
    await assert.rejects(claudeAgent().command(request), {
      name: 'HumanError',
      message: /npm install -g @anthropic-ai\/claude-code.*ralphFresh\.claudePath/,
    });
  });
});

function ofType<T extends AgentEvent['type']>(
  events: readonly AgentEvent[],
  type: T,
): Extract<AgentEvent, { type: T }>[] {
  return events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);
}

function failure(
  status: number,
  type: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
) {
  return { error: { status, type, message, headers } };
}
