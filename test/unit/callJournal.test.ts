import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { AgentEvent } from '../../src/orchestrator/agents/agent.ts';
import { CallJournal } from '../../src/orchestrator/agents/call/callJournal.ts';
import type { RunEvent, RunEventBody } from '../../src/orchestrator/journal/events.ts';
import type { Journal } from '../../src/orchestrator/journal/journal.ts';

/** What a journal is given; nothing is written. */
function recorder(): {
  readonly journal: Pick<Journal, 'append'>;
  readonly bodies: RunEventBody[];
} {
  const bodies: RunEventBody[] = [];
  const journal: Pick<Journal, 'append'> = {
    append: body => {
      bodies.push(body);
      return { seq: bodies.length, at: '', ...body } as RunEvent;
    },
  };
  return { journal, bodies };
}

/** Gives a call's events, one each so many ms. */
function written(events: Iterable<AgentEvent>, everyMs = 0): RunEventBody[] {
  const { bodies, journal } = recorder();
  let now = 0;
  const call = new CallJournal(journal, { iteration: 1, stream: 'stream.jsonl' }, () => now);
  for (const event of events) {
    call.take(event);
    now += everyMs;
  }
  call.end();
  return bodies;
}

function* texts(count: number, text = (n: number) => `line ${n}`): Generator<AgentEvent> {
  for (let n = 1; n <= count; n += 1) {
    yield { type: 'text', text: text(n) };
  }
}

const typesOf = (bodies: readonly RunEventBody[]) => bodies.map(({ type }) => type);
const size = (bodies: readonly RunEventBody[]) =>
  bodies.reduce((sum, body) => sum + Buffer.byteLength(JSON.stringify(body)), 0);

describe('what the journal keeps of one call', () => {
  test('a call of usual length is kept completely', () => {
    const bodies = written(texts(3_000));
    assert.equal(bodies.length, 3_000);
    assert.ok(!typesOf(bodies).includes('agent.overflow'));
  });

  test('of many lines, the first ones, an overflow mark and the last line are kept', () => {
    const bodies = written(texts(100_000));
    assert.deepEqual(typesOf(bodies).slice(2_999, 3_001), ['agent.text', 'agent.overflow']);
    assert.deepEqual(bodies.slice(3_000), [
      { type: 'agent.overflow', stream: 'stream.jsonl' },
      { type: 'agent.text', text: 'line 3001' },
      { type: 'agent.text', text: 'line 100000' },
    ]);
  });

  test('a long call is sampled, so that its current activity is visible', () => {
    const bodies = written(texts(10_000), 1_000);
    const later = bodies.slice(3_001);
    assert.deepEqual(later.slice(0, 2), [
      { type: 'agent.text', text: 'line 3001' },
      { type: 'agent.text', text: 'line 3006' },
    ]);
    assert.ok(later.length > 300, `${later.length}`);
    // Ten years.
    assert.ok(written(texts(1_000_000), 315_000).length <= 3_802);
  });

  test('a tool that is running when the limit is reached is recorded', () => {
    const tool: AgentEvent = { type: 'tool', id: '1', name: 'Bash', gist: 'npm test' };
    assert.deepEqual(written([...texts(3_000), tool]).slice(3_000), [
      { type: 'agent.overflow', stream: 'stream.jsonl' },
      { type: 'agent.tool', id: '1', name: 'Bash', gist: 'npm test' },
    ]);
  });

  test('large texts count by bytes', () => {
    const bodies = written(texts(10_000, () => '語'.repeat(4_000)));
    assert.ok(bodies.length < 100, `${bodies.length}`);
    assert.equal(typesOf(bodies).filter(type => type === 'agent.overflow').length, 1);
  });

  test('the size is bounded, whatever the agent does', () => {
    const word = fc.string({ maxLength: 6_000 });
    const event: fc.Arbitrary<AgentEvent> = fc.oneof(
      fc.record({ type: fc.constant('init' as const), model: word }),
      fc.record({ type: fc.constant('text' as const), text: word }),
      fc.record({ type: fc.constant('tool' as const), id: word, name: word, gist: word }),
      fc.record({
        ...{ type: fc.constant('toolResult' as const), id: word, isError: fc.boolean() },
        ...{ gist: word },
      }),
      fc.record({
        ...{ type: fc.constant('retry' as const), attempt: fc.nat(), maxAttempts: fc.nat() },
        ...{ delayMs: fc.nat(), error: word },
      }),
      fc.record({ type: fc.constant('denied' as const), tool: word, message: word }),
      fc.record({ type: fc.constant('unknown' as const), line: word }),
    );
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 20 }), fc.nat(10_000), (some, ms) => {
        const many = function* () {
          for (let n = 0; n < 10_000; n += 1) {
            yield some[n % some.length] as AgentEvent;
          }
        };
        const bodies = written(many(), ms);
        assert.ok(bodies.length <= 3_802, `${bodies.length} events`);
        assert.ok(size(bodies) <= 2 * 1024 * 1024, `${size(bodies)} bytes`);
        assert.ok(typesOf(bodies).filter(type => type === 'agent.overflow').length <= 1);
      }),
      { numRuns: 30 },
    );
  });
});
