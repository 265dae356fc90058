import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { StreamJsonDecoder } from '../../src/orchestrator/agents/claude/streamJson.ts';

/** Names that the decoder looks at, so that arbitrary values land where they could hurt. */
const fields = [
  'subtype',
  'parent_tool_use_id',
  'cwd',
  'session_id',
  'attempt',
  'error_status',
  'tool_name',
  'error',
  'api_error_status',
  'is_error',
  'result',
  'num_turns',
  'total_cost_usd',
  'usage',
  'errors',
  'structured_output',
  'permission_denials',
  'rate_limit_info',
  '__proto__',
];

const blocks = fc.array(
  fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        type: fc.constantFrom('text', 'tool_use', 'tool_result', 'thinking'),
        text: fc.jsonValue(),
        id: fc.jsonValue(),
        name: fc.jsonValue(),
        content: fc.jsonValue(),
        input: fc.oneof(
          fc.dictionary(
            fc.constantFrom('file_path', 'command', 'pattern', 'path'),
            fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
          ),
          fc.jsonValue(),
        ),
      },
      { requiredKeys: [] },
    ),
  ),
  { maxLength: 4 },
);

const events = fc
  .tuple(
    fc.constantFrom('system', 'assistant', 'user', 'result', 'rate_limit_event', 'other'),
    fc.constantFrom('init', 'api_retry', 'permission_denied', 'task_started', 'error_max_turns'),
    fc.dictionary(fc.constantFrom(...fields), fc.jsonValue()),
    fc.oneof(fc.jsonValue(), fc.record({ content: fc.oneof(blocks, fc.jsonValue()) })),
  )
  .map(([type, subtype, rest, message]) =>
    JSON.stringify({ type, subtype, ...rest, ...{ message } }),
  );

const lines = fc.oneof(
  events,
  // Lines that were cut on the way.
  events.map(line => line.slice(0, line.length / 2)),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes).toString('utf8')),
  fc.json(),
);

describe('StreamJsonDecoder with any input', () => {
  it('never throws, and every summary is one short line without control characters', () => {
    fc.assert(
      fc.property(fc.array(lines, { maxLength: 8 }), input => {
        const decoder = new StreamJsonDecoder();
        for (const line of input) {
          for (const event of decoder.decode(line)) {
            if (event.type !== 'tool' && event.type !== 'toolResult') continue;
            assert.ok(event.gist.length <= 120);
            assert.doesNotMatch(event.gist, /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('produces an event for every non-empty line, so that silence means silence', () => {
    fc.assert(
      fc.property(lines, line => {
        const answered = new StreamJsonDecoder().decode(line).length > 0;
        assert.equal(answered, line.trim() !== '');
      }),
      { numRuns: 500 },
    );
  });
});
