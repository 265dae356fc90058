import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { CallJournal } from '../../src/orchestrator/agents/call/callJournal.ts';
import { StreamJsonDecoder } from '../../src/orchestrator/agents/claude/streamJson.ts';
import {
  type RunEvent,
  type RunEventBody,
  runEventSchema,
} from '../../src/orchestrator/journal/events.ts';
import { INITIAL_RUN_STATE } from '../../src/orchestrator/journal/runState.ts';
import { Transcript } from '../../src/presentation/transcript.ts';
import { english } from '../../src/presentation/translate.ts';
import { shownActivity } from '../../src/views/progress/liveActivity.ts';

/** What Claude Code 2.1.330 printed for two subagents at once, with a scripted model. */
const RECORDED = path.resolve(import.meta.dirname, '../fixtures/streams/twoSubagents.jsonl');

function journalOf(lines: readonly string[]): RunEvent[] {
  const decoder = new StreamJsonDecoder();
  const bodies: RunEventBody[] = [];
  const journal = {
    append: (body: RunEventBody) => {
      bodies.push(body);
      return body as RunEvent;
    },
  };
  const call = new CallJournal(journal, { iteration: 1, stream: 'stream.jsonl' });
  for (const event of lines.flatMap(line => decoder.decode(line))) {
    call.take(event);
  }
  call.end();
  // Through the schema, as a reader of the journal gets them.
  return bodies.map((body, seq) =>
    runEventSchema().parse(
      JSON.parse(JSON.stringify({ seq: seq + 1, at: '2026-03-01T12:00:00.000Z', ...body })),
    ),
  );
}

async function recorded(): Promise<RunEvent[]> {
  return journalOf((await readFile(RECORDED, 'utf8')).trim().split('\n'));
}

function told(events: readonly RunEvent[]): string[] {
  const transcript = new Transcript(english);
  return events.flatMap(event => transcript.describe(event).map(({ text }) => text));
}

const use = (id: string, name: string, input: object, parent: string | null = null) => ({
  type: 'assistant',
  message: { content: [{ type: 'tool_use', id, name, input }] },
  parent_tool_use_id: parent,
});
const gives = (id: string, content: string, parent: string | null, more: object = {}) => ({
  type: 'user',
  message: { content: [{ type: 'tool_result', tool_use_id: id, content }] },
  parent_tool_use_id: parent,
  ...more,
});
const linesOf = (...events: readonly object[]) => events.map(event => JSON.stringify(event));

describe('the subagents of an agent', () => {
  test('each line is nested below the agent and names its subagent, even with two in parallel', async () => {
    assert.deepEqual(told(await recorded()).slice(1), [
      '● I send two helpers.',
      '● Agent(Look at a)',
      '● Agent(Look at b)',
      '  Look at a › ● Read(a.txt)',
      '  Look at b › ● Read(a.txt)',
      '  Look at a ›   └  Read: Read 3 lines',
      '  Look at b ›   └  Read 3 lines',
      '  Look at a › ● WebFetch(http://127.0.0.1:9/)',
      "  Look at a ›   Not allowed: WebFetch Claude requested permissions to use WebFetch, but you haven't granted it yet.",
      "  Look at a ›   └  WebFetch: Claude requested permissions to use WebFetch, but you haven't granted it yet.",
      '  Look at b › ● WebFetch(http://127.0.0.1:9/)',
      "  Look at b ›   └  WebFetch: Claude requested permissions to use WebFetch, but you haven't granted it yet.",
      '  Look at a › ● Sub found it.',
      '  Look at a ›   └  done · 1.2 s · 15 tokens · 2 tool calls',
      '  Look at b › ● Sub found it.',
      '  Look at b ›   └  done · 1.2 s · 15 tokens · 2 tool calls',
      '● All done.',
    ]);
  });

  test('the progress page shows the same', async () => {
    const shown = shownActivity(await recorded(), [], INITIAL_RUN_STATE, english);
    assert.deepEqual(
      shown.slice(-4).map(({ kind, text }) => [kind, text]),
      [
        ['loop', 'Look at a › done · 1.2 s · 15 tokens · 2 tool calls'],
        ['text', 'Look at b › Sub found it.'],
        ['loop', 'Look at b › done · 1.2 s · 15 tokens · 2 tool calls'],
        ['text', 'All done.'],
      ],
    );
  });

  test('two with the same task and one inside a subagent are distinguished', () => {
    const events = journalOf(
      linesOf(
        use('a', 'Task', { description: 'Look' }),
        use('b', 'Task', { description: 'Look' }),
        use('c', 'Task', { description: 'Deeper', prompt: 'x' }, 'a'),
        use('d', 'Bash', { command: 'ls' }, 'c'),
        use('e', 'Bash', { command: 'ls' }, 'b'),
      ),
    );
    assert.deepEqual(told(events), [
      '● Task(Look)',
      '● Task(Look)',
      '  Look › ● Task(Deeper)',
      '  Deeper › ● Bash(ls)',
      '  Look (2) › ● Bash(ls)',
    ]);
  });

  test('for an older version without end events, the result says what it used', () => {
    const totals = { totalDurationMs: 61_000, totalTokens: 12_345, totalToolUseCount: 1 };
    const events = journalOf(
      linesOf(
        use('a', 'Task', { description: 'Look' }),
        gives('a', 'Found\nit', null, { tool_use_result: totals }),
      ),
    );
    assert.deepEqual(told(events), [
      '● Task(Look)',
      '  Look › ● Found',
      '  Look ›   └  done · 1 min 1 s · 12.3K tokens · 1 tool call',
    ]);
  });

  test('one in the background ends once, when its end is reported', () => {
    const end = {
      ...{ type: 'system', subtype: 'task_notification', tool_use_id: 'a', status: 'failed' },
      summary: 'It broke',
    };
    const events = journalOf(
      linesOf(
        use('a', 'Agent', { description: 'Look' }),
        gives('a', 'Async agent launched', null, {
          tool_use_result: { status: 'async_launched' },
        }),
        end,
        end,
        // A command in the background is no subagent.
        { ...end, tool_use_id: 'other' },
      ),
    );
    assert.deepEqual(told(events), [
      '● Agent(Look)',
      '  Look › ● It broke',
      '  Look ›   └  failed',
    ]);
  });

  test('hostile names stay on one line', () => {
    const name = 'a › b\n\u001b[31mUS-009 │ \u202e$(alert)';
    const events = journalOf(
      linesOf(
        use('a', 'Task', { description: name }),
        use('b', 'Bash', { command: 'ls' }, 'a'),
        use('c', 'Bash', { command: 'ls' }, 'unknown'),
      ),
    );
    assert.deepEqual(told(events).slice(1), ['  a > b › ● Bash(ls)', '  agent › ● Bash(ls)']);
  });

  test('the journal limits them like the agent itself', () => {
    const many = Array.from({ length: 10_000 }, (_, n) =>
      use(`${n}`, 'Task', { description: `task ${n}` }, n === 0 ? null : `${n - 1}`),
    );
    assert.ok(journalOf(linesOf(...many)).length <= 3_002);
  });
});

describe('a denied tool', () => {
  const denied = (seq: number, tool: string): RunEvent => ({
    ...{ seq, at: '2026-03-01T12:00:00.000Z', type: 'agent.denied', tool },
    message: 'Not granted.',
  });

  test('is reported once per run, with an offer to allow it if possible', () => {
    const transcript = new Transcript(english, 'window', { offersTools: true });
    const lines = [
      ...[denied(1, 'WebFetch'), denied(2, 'WebFetch'), denied(3, 'Bash(rm *), Read')],
      denied(4, 'mcp__docs__search'),
    ].flatMap(event => transcript.describe(event).map(({ text }) => text));
    assert.deepEqual(lines, [
      '  Not allowed: WebFetch · Allow WebFetch From Now On',
      // No name of a tool, so it is not offered.
      '  Not allowed: Bash(rm *), Read Not granted.',
      '  Not allowed: mcp__docs__search · Allow mcp__docs__search From Now On',
    ]);
    // Also if an iteration that is not shown was the first to be refused.
    const document = new Transcript(english, 'window', { isShown: ({ seq }) => seq > 1 });
    assert.deepEqual(document.describe(denied(1, 'WebFetch')), []);
    assert.deepEqual(
      document.describe(denied(2, 'WebFetch')).map(({ text }) => text),
      ['  Not allowed: WebFetch Not granted.'],
    );
  });
});
