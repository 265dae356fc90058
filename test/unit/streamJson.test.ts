import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentEvent } from '../../src/orchestrator/agents/agent.ts';
import { StreamJsonDecoder } from '../../src/orchestrator/agents/claude/streamJson.ts';
import { sameValue } from '../support/sameValue.ts';

const init = {
  type: 'system',
  subtype: 'init',
  cwd: '/home/ann/todo',
  session_id: 's-1',
  model: 'claude-opus-5-5',
  apiKeySource: 'none',
  claude_code_version: '2.1.330',
};

function decodeAll(...events: readonly unknown[]): AgentEvent[] {
  const decoder = new StreamJsonDecoder();
  return events.flatMap(event => decoder.decode(JSON.stringify(event)));
}

function assistant(content: unknown, more: object = {}): object {
  return {
    type: 'assistant',
    message: { id: 'msg_1', content },
    parent_tool_use_id: null,
    ...more,
  };
}

function toolUse(name: string, input: unknown): object {
  return assistant([{ type: 'tool_use', id: 'toolu_1', name, input }]);
}

function gist(name: string, input: unknown): string {
  const event = decodeAll(init, toolUse(name, input)).at(-1);
  assert(event?.type === 'tool');
  return event.gist;
}

function failed(more: object): object {
  return {
    type: 'result',
    subtype: 'success',
    is_error: true,
    result: 'It failed',
    num_turns: 1,
    ...more,
  };
}

function failureKind(...events: readonly unknown[]): string | undefined {
  const event = decodeAll(...events).at(-1);
  assert(event?.type === 'result');
  return event.error?.kind;
}

describe('StreamJsonDecoder', () => {
  it('reports who pays and which version runs', () => {
    sameValue(decodeAll(init), [
      {
        type: 'init',
        sessionId: 's-1',
        model: 'claude-opus-5-5',
        version: '2.1.330',
        apiKeySource: 'none',
      },
    ]);
  });

  it('passes text on and omits thinking', () => {
    const events = decodeAll(
      assistant([{ type: 'text', text: 'First\nsecond' }]),
      assistant([{ type: 'thinking', thinking: 'Hm' }]),
      assistant('Plain'),
    );
    sameValue(events, [
      { type: 'text', text: 'First\nsecond' },
      { type: 'activity' },
      { type: 'text', text: 'Plain' },
    ]);
  });

  it('summarizes a tool call in one line', () => {
    assert.equal(gist('Read', { file_path: '/home/ann/todo/src/a.ts' }), 'src/a.ts');
    assert.equal(
      gist('Read', { file_path: '/home/ann/todo2/src/a.ts' }),
      '/home/ann/todo2/src/a.ts',
    );
    assert.equal(
      gist('Bash', { command: '\n  npm test \ngit push', description: 'd' }),
      'npm test',
    );
    assert.equal(gist('Grep', { pattern: 'US-\\d+', path: '/home/ann/todo/src' }), 'US-\\d+');
    assert.equal(gist('LS', { path: '/home/ann/todo/src' }), 'src');
    assert.equal(
      gist('WebFetch', { url: 'https://example.com/', prompt: 'x' }),
      'https://example.com/',
    );
    assert.equal(gist('TodoWrite', { todos: [] }), '');
    assert.equal(gist('Odd', 'no object'), '');
  });

  it('shortens paths on Windows', () => {
    const events = decodeAll(
      { ...init, cwd: 'C:\\todo' },
      toolUse('Edit', { file_path: 'C:\\todo\\src\\a.ts' }),
    );
    sameValue(events.at(-1), {
      type: 'tool',
      id: 'toolu_1',
      name: 'Edit',
      gist: 'src\\a.ts',
    });
  });

  it('removes terminal sequences, direction marks and long lines from summaries', () => {
    assert.equal(gist('Bash', { command: '\u001b[31mrm\u001b[0m \u0007x\u202Etxt' }), 'rm xtxt');
    const long = gist('Bash', { command: `echo ${'😀'.repeat(200)}` });
    assert.ok(long.length <= 120 && long.endsWith('😀…'), long);
  });

  it('reports tool results with their first line', () => {
    const result = (block: object) => ({
      type: 'user',
      message: { role: 'user', content: [block] },
    });
    sameValue(
      decodeAll(
        result({ type: 'tool_result', tool_use_id: 'a', content: '\n2 passing\nmore' }),
        result({
          type: 'tool_result',
          tool_use_id: 'b',
          is_error: true,
          content: [{ type: 'text', text: '<tool_use_error>File not read</tool_use_error>' }],
        }),
        result({ type: 'text', text: 'a follow-up' }),
      ),
      [
        {
          ...{ type: 'toolResult', id: 'a', isError: false, gist: '2 passing' },
          ...{ head: '2 passing\nmore', lines: 2 },
        },
        { type: 'toolResult', id: 'b', isError: true, gist: 'File not read' },
        { type: 'activity' },
      ],
    );
  });

  it('reports retries and denials', () => {
    const retry = {
      type: 'system',
      subtype: 'api_retry',
      attempt: 1,
      max_retries: 10,
      retry_delay_ms: 512,
    };
    sameValue(
      decodeAll(
        { ...retry, error_status: 401, error: 'authentication_failed' },
        { ...retry, error_status: null, error: 'unknown' },
        { type: 'system', subtype: 'permission_denied', tool_name: 'WebFetch', message: 'No.' },
      ),
      [
        {
          type: 'retry',
          attempt: 1,
          maxAttempts: 10,
          delayMs: 512,
          status: 401,
          error: 'authentication_failed',
        },
        { type: 'retry', attempt: 1, maxAttempts: 10, delayMs: 512, error: 'unknown' },
        { type: 'denied', tool: 'WebFetch', message: 'No.' },
      ],
    );
  });

  it('treats all other protocol messages as signs of life', () => {
    const events = decodeAll(
      { type: 'system', subtype: 'task_started', task_id: 't' },
      { type: 'system', subtype: 'of_next_year' },
      { type: 'rate_limit_event', rate_limit_info: { status: 'allowed_warning', resetsAt: 1 } },
      { type: 'rate_limit_event', rate_limit_info: 'rejected' },
      { type: 'stream_event' },
      { type: 'of_next_year' },
    );
    sameValue(
      events.map(event => event.type),
      Array(6).fill('activity'),
    );
  });

  it('reports a used-up subscription, unless extra credits let the call continue', () => {
    const limit = (info: object) =>
      new StreamJsonDecoder(() => 1_760_000_000_000).decode(
        JSON.stringify({ type: 'rate_limit_event', rate_limit_info: info }),
      );
    const rejected = { status: 'rejected', resetsAt: 1_760_003_600, rateLimitType: 'five_hour' };
    sameValue(limit(rejected), [
      { type: 'limit', resetsAt: 1_760_003_600_000, limitType: 'five_hour' },
    ]);
    sameValue(limit({ status: 'rejected' }), [{ type: 'limit' }]);
    sameValue(limit({ ...rejected, isUsingOverage: true }), [{ type: 'activity' }]);
    sameValue(limit({ ...rejected, overageStatus: 'allowed' }), [{ type: 'activity' }]);
    assert.equal(limit({ ...rejected, overageStatus: 'rejected' })[0]?.type, 'limit');
    const past = limit({ ...rejected, resetsAt: 1_750_000_000 });
    sameValue(past, [{ type: 'limit', limitType: 'five_hour' }]);
  });

  it('gives up at once on billing errors, and when a login is refused twice in a row', () => {
    const retry = (error: string, error_status: number) => ({
      type: 'system',
      subtype: 'api_retry',
      error,
      error_status,
    });
    const refused = retry('authentication_failed', 401);
    const types = (...events: readonly object[]) => decodeAll(...events).map(({ type }) => type);
    sameValue(types(refused, refused), ['retry', 'retry', 'fatal']);
    sameValue(types(refused, assistant('Hi'), refused), ['retry', 'text', 'retry']);
    sameValue(types(refused, retry('overloaded', 529), refused), Array(3).fill('retry'));
    sameValue(decodeAll(retry('billing_error', 402)).at(-1), {
      type: 'fatal',
      error: { kind: 'billing', message: 'billing_error (status 402)' },
    });
  });

  it('keeps lines outside the protocol', () => {
    const decoder = new StreamJsonDecoder();
    for (const line of ['Warning: odd', '{"type":"assi', '42', 'null', '[]', '{"kind":1}']) {
      sameValue(decoder.decode(line), [{ type: 'unknown', line }]);
    }
    sameValue(decoder.decode(' '), []);
  });

  it('reads the result', () => {
    const [event] = decodeAll({
      type: 'result',
      subtype: 'success',
      is_error: false,
      result: 'Done.',
      num_turns: 7,
      duration_ms: 888,
      total_cost_usd: 0.25,
      usage: {
        input_tokens: 70,
        output_tokens: 35,
        cache_read_input_tokens: 9,
        cache_creation_input_tokens: 8,
      },
    });
    sameValue(event, {
      type: 'result',
      isError: false,
      text: 'Done.',
      turns: 7,
      costUsd: 0.25,
      usage: { input: 70, output: 35, cacheRead: 9, cacheWrite: 8 },
      durationMs: 888,
    });
  });

  it('ignores fields of an unexpected type', () => {
    sameValue(decodeAll({ type: 'result', num_turns: '7', result: 5, usage: [], is_error: 0 }), [
      { type: 'result', isError: false, text: '', turns: 0 },
    ]);
    sameValue(decodeAll(assistant([7, null, { type: 'tool_use' }])), [
      { type: 'tool', id: '', name: '', gist: '' },
    ]);
  });

  it('takes the kind of failure from the error of the last message', () => {
    const kindFor = (error: string, status?: number) =>
      failureKind(assistant([], { error }), failed({ api_error_status: status }));
    assert.equal(kindFor('billing_error', 400), 'billing');
    assert.equal(kindFor('authentication_failed', 401), 'authentication');
    assert.equal(kindFor('rate_limit', 429), 'rateLimit');
    assert.equal(kindFor('server_error', 529), 'overloaded');
    assert.equal(kindFor('server_error', 500), 'api');
    assert.equal(kindFor('server_error'), 'api');
    assert.equal(kindFor('unknown', 400), 'request');
    assert.equal(kindFor('invalid_request', 413), 'request');
    assert.equal(kindFor('unknown', 408), 'api');
    assert.equal(kindFor('model_not_found', 404), 'request');
  });

  it('takes the kind of failure from the status if no message had an error', () => {
    assert.equal(failureKind(failed({ api_error_status: 403 })), 'authentication');
    assert.equal(failureKind(failed({ api_error_status: 402 })), 'billing');
    assert.equal(failureKind(failed({ api_error_status: 429 })), 'rateLimit');
    assert.equal(failureKind(failed({})), 'other');
  });

  it('ignores an error that was overcome and one of a subagent', () => {
    const error = { error: 'billing_error' };
    assert.equal(failureKind(assistant([], error), assistant([]), failed({})), 'other');
    assert.equal(
      failureKind(assistant([], { ...error, parent_tool_use_id: 'toolu_9' }), failed({})),
      'other',
    );
    assert.equal(failureKind(assistant([], error), failed({}), failed({})), 'other');
  });

  it('recognizes mixed-up tool calls by their text, since the status is that of any bad request', () => {
    for (const result of [
      'API Error: 400 messages: `tool_use` ids must be unique',
      'API Error: 400 duplicate tool_use ID in conversation history.',
      'API Error: 400 due to tool use concurrency issues.',
    ]) {
      assert.equal(failureKind(failed({ api_error_status: 400, result })), 'toolConcurrency');
    }
    const result = 'The tests say: duplicate tool_use ID';
    assert.equal(failureKind(failed({ api_error_status: 500, result })), 'api');
  });

  it('recognizes a used-up subscription by its text, in failed calls only', () => {
    const result = "You've hit your session limit · resets 5pm (Europe/Berlin)";
    const now = () => Date.parse('2026-10-07T12:00:00Z');
    const [event] = new StreamJsonDecoder(now).decode(
      JSON.stringify(failed({ result, api_error_status: 429 })),
    );
    assert(event?.type === 'result');
    sameValue(event.error, {
      kind: 'usageLimit',
      message: result,
      resetsAt: Date.parse('2026-10-07T15:00:00Z'),
    });
    const [answer] = decodeAll({ type: 'result', subtype: 'success', is_error: false, result });
    assert(answer?.type === 'result');
    assert.equal(answer.error, undefined);
  });

  it('passes on the structured answer and the number of denials', () => {
    const [event] = decodeAll({
      type: 'result',
      subtype: 'success',
      result: '',
      structured_output: { verdict: 'pass' },
      permission_denials: [{ tool_name: 'WebFetch' }, { tool_name: 'WebFetch' }],
    });
    sameValue(event, {
      type: 'result',
      isError: false,
      text: '',
      structured: { verdict: 'pass' },
      turns: 0,
      permissionDenials: 2,
    });
  });

  it('finds the first line of a text that begins with many empty lines', () => {
    assert.equal(gist('Bash', { command: `${'\n'.repeat(1000)}npm test` }), 'npm test');
  });

  it('distinguishes limits from failures', () => {
    const ended = (subtype: string) => ({
      type: 'result',
      subtype,
      is_error: true,
      num_turns: 3,
      errors: ['Reached a limit'],
    });
    const [turns] = decodeAll(ended('error_max_turns'));
    sameValue(turns, {
      type: 'result',
      isError: true,
      error: { kind: 'maxTurns', message: 'Reached a limit' },
      text: '',
      turns: 3,
    });
    assert.equal(failureKind(ended('error_max_budget_usd')), 'budget');
    assert.equal(failureKind(ended('error_during_execution')), 'other');
  });
});
