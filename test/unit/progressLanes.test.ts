import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunEvent, RunEventBody } from '../../src/orchestrator/journal/events.ts';
import { english } from '../../src/presentation/translate.ts';
import { progressSnapshot } from '../../src/views/progress/snapshot.ts';
import {
  type EventMatch,
  living,
  over,
  recorded,
  recordedLong,
  recordedNames,
  watched,
} from '../support/recordedJournals.ts';

const NOW = new Date('2026-01-01T10:30:00.000Z');
const LATER = '2026-01-01T10:20:00.000Z';
const BOTH: EventMatch = { type: 'agent.text', iteration: 2 };
/** With 16 lanes, whose bars are at least as wide as their sign, and the landings. */
const MOST_BARS = 16 * 25 + 120;

const shown = (run: Parameters<typeof watched>[0] | ReturnType<typeof living>) => {
  const seen = 'events' in run ? run : watched(run, true);
  return progressSnapshot(seen, seen.events, { t: english, now: NOW });
};
const lanesOf = (run: Parameters<typeof shown>[0]) => {
  const { lanes } = shown(run).run ?? {};
  assert.ok(lanes);
  return lanes;
};
/** A living run with more events. */
const plus = (...bodies: readonly RunEventBody[]): readonly RunEvent[] => {
  const events = recorded('lanes', BOTH);
  return [
    ...events,
    ...bodies.map((body, index) => ({
      ...{ seq: events.length + 1 + index, at: LATER },
      ...body,
    })),
  ];
};
const limit = (iteration: number): RunEventBody => ({
  ...{ type: 'limit.waiting', iteration, until: '2026-01-01T12:00:00.000Z' },
  ...{ remainingMs: 5_400_000, known: true, message: 'Limit' },
});

describe('lanes on the progress page', () => {
  test('are hidden if the agent works in the user’s tree', () => {
    for (const name of recordedNames().filter(name => !name.startsWith('lanes'))) {
      assert.equal(shown(over(name)).run?.lanes, undefined, name);
    }
  });

  test('have bars within the chart, also if the clock was set back or a time is damaged', () => {
    const times: readonly ((at: string, index: number) => string)[] = [
      (_at, index) => new Date(Date.parse(LATER) - index * 1_000).toISOString(),
      (at, index) => (index % 7 === 3 ? new Date(Date.parse(at) - 86_400_000).toISOString() : at),
      (at, index) => (index % 5 === 0 ? 'never' : at),
      (_at, index) => (index % 2 === 0 ? '1970-01-01T00:00:00.000Z' : '9999-12-31T23:59:59.999Z'),
    ];
    for (const events of [recorded('lanes', BOTH), recordedLong('manyLanes')]) {
      for (const time of times) {
        const set = events.map((event, index) => ({ ...event, at: time(event.at, index) }));
        const { landings = [], lanes } = lanesOf(watched(set, true));
        const bars = [...lanes.flatMap(lane => lane.bars), ...landings];
        assert.ok(bars.length > 0);
        for (const { at, length, limits = [], wait = 0 } of bars) {
          const numbers = [at, length, wait, ...limits.flatMap(limit => [limit.at, limit.length])];
          assert.ok(
            numbers.every(number => number >= 0 && number <= 100),
            `${numbers}`,
          );
        }
      }
    }
  });

  test('show who works on what, and can be added, removed or paused', () => {
    const { count, lanes } = lanesOf(living('lanes', BOTH));
    assert.deepEqual(count, { words: '2 agents at once', isLeast: false, isMost: false });
    assert.deepEqual(
      lanes.map(({ now, toggle }) => [now?.story?.id, now?.words, now?.glyph, toggle?.label]),
      [
        ['US-001', 'the agent works', 'running', 'Pause lane 1'],
        ['US-002', 'the agent works', 'running', 'Pause lane 2'],
      ],
    );
    const changed = lanesOf(
      plus({ type: 'lane.paused', lane: 1, paused: true }, { type: 'lanes.changed', lanes: 1 }),
    );
    assert.deepEqual(
      changed.lanes.map(({ now, toggle }) => [now?.words, toggle?.label]),
      [
        ['the agent works, then the lane is paused', 'Continue lane 1'],
        ['the agent works, then the lane is closed', undefined],
      ],
    );
    assert.deepEqual(changed.count, { words: '1 agent at once', isLeast: true, isMost: false });
  });

  test('show once for all lanes that the account rejects requests or has reached its limit', () => {
    assert.deepEqual(lanesOf(living('lanes', BOTH)).account, []);
    assert.deepEqual(lanesOf(plus(limit(1))).account, [
      {
        words: 'The account has reached its usage limit, so no further agent starts.',
        until: '2026-01-01T12:00:00.000Z',
      },
    ]);
    // Then the head of the page says so.
    assert.deepEqual(lanesOf(plus(limit(1), limit(2))).account, []);
    const fewer = lanesOf(plus({ type: 'warning', code: 'fewerLanes', detail: '1' })).account;
    assert.deepEqual(fewer, [
      { words: 'The account rejects requests, so 1 agent works at a time.' },
    ]);
  });

  test('show returned work with the reason, and landed work', () => {
    const returned = lanesOf(living('lanes', { type: 'iteration.ended', iteration: 2 }));
    assert.deepEqual(returned.returned, [
      {
        iteration: 2,
        story: { id: 'US-002', title: 'Story number 2' },
        reason: 'It conflicts with what has landed meanwhile: shared.txt',
        next: 'The story is open again.',
        hasChanges: true,
      },
    ]);
    assert.equal(returned.landed?.words, '1 story has landed');
    const again = lanesOf(living('lanes', { type: 'iteration.started', iteration: 3 }));
    assert.equal(again.returned[0]?.next, 'Another agent works on it.');
    const end = lanesOf(over('lanes'));
    assert.deepEqual(end.returned, []);
    assert.equal(end.landed?.words, '2 stories have landed');
    assert.deepEqual(
      [end.count, end.lanes[0]?.now, end.lanes[0]?.toggle],
      [undefined, undefined, undefined],
    );
  });

  test('a bar describes everything in text, and the table shows the same', () => {
    const { axis, lanes, landings, table } = lanesOf(over('lanes'));
    const words = lanes.flatMap(({ bars }) => bars.map(bar => [bar.look, bar.words]));
    assert.match(
      words[0]?.[1] ?? '',
      /^US-001 Story number 1: Landed\. · Iteration 1, worked for \d+ s · waited \d/,
    );
    assert.deepEqual(
      words.map(([look]) => look),
      ['landed', 'landed', 'returned'],
    );
    assert.deepEqual(
      landings?.map(({ look }) => look),
      ['landed', 'returned', 'landed'],
    );
    assert.deepEqual(
      axis?.key.map(key => key.words),
      ['landed', 'came back'],
    );
    assert.equal(
      axis.words,
      'Lanes over time: 3 agents; 2 have landed, 1 came back, 0 wait to land.',
    );
    assert.deepEqual(
      table.map(({ lane, result, story }) => [story, lane, result]),
      [
        ['US-002 Story number 2', '1', 'Landed'],
        ['US-002 Story number 2', '2', 'Did not land'],
        ['US-001 Story number 1', '1', 'Landed'],
      ],
    );
  });

  test('a usage limit is shown as a part of the bar', () => {
    const [first] = lanesOf(plus(limit(1))).lanes;
    assert.equal(first?.bars[0]?.limits?.length, 1);
    assert.match(first.bars[0].words, /of these, .* waiting for the usage limit/);
  });

  test('the cost includes what calls have reserved', () => {
    const events = plus(
      { type: 'agent.started', iteration: 1, pid: 7, budgetUsd: 3 },
      { type: 'agent.started', iteration: 2, pid: 8, budgetUsd: 4.5 },
    ).map(event => (event.type === 'run.started' ? { ...event, budgetUsd: 10 } : event));
    assert.equal(
      shown(events).run?.cost?.words,
      '$0.00 of $10.00 spent; $7.50 set aside for agents at work, who give back what they do not use',
    );
  });

  test('foreign texts are shortened and have no control characters', () => {
    const hostile = `\u001b[31m\u202e$(alert)${'x'.repeat(500)}`;
    const events = recorded('lanes').map(event =>
      event.type === 'iteration.started'
        ? { ...event, storyId: hostile, storyTitle: hostile }
        : event,
    );
    const json = JSON.stringify(lanesOf(watched(events, false)));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
    assert.doesNotMatch(json, /\\u001b|\u001b|\u202e|x{200}/);
  });
});

describe('a hundred stories on sixteen lanes', () => {
  const events = recordedLong('manyLanes');

  test('all bars fit on the axis, and their number is limited even for ten times as many', () => {
    const many = Array.from({ length: 10 }, (_, round) =>
      events
        .filter(({ type }) => type !== 'run.started' && type !== 'run.ended')
        .map(event => ({
          ...event,
          ...('iteration' in event && { iteration: Number(event.iteration) + 200 * round }),
          at: new Date(Date.parse(event.at) + round * 3_600_000).toISOString(),
        })),
    ).flat();
    const [start] = events;
    assert.ok(start);
    const long = [start, ...many].map((event, index) => ({
      ...event,
      seq: index + 1,
    })) as RunEvent[];
    for (const run of [watched(events, false), watched(long, true)]) {
      const lanes = lanesOf(run);
      assert.equal(lanes.lanes.length, 16);
      const bars = [...lanes.lanes.flatMap(lane => lane.bars), ...(lanes.landings ?? [])];
      assert.ok(bars.length <= MOST_BARS, `${bars.length}`);
      assert.ok(bars.every(({ at, length }) => at >= 0 && length >= 0 && at + length <= 100.01));
      assert.ok(lanes.table.length <= 100);
      assert.ok(JSON.stringify(lanes).length < 120_000);
    }
  });

  test('each event is announced once at any update rate', () => {
    for (const step of [12, 60]) {
      const told: string[] = [];
      let before: readonly string[] = [];
      for (let end = step; end < events.length + step; end += step) {
        const { announcements, areRemovalsSilent } = shown(
          watched(events.slice(0, end), end < events.length),
        );
        told.push(...announcements.filter(text => !before.includes(text)));
        assert.equal(areRemovalsSilent, true);
        before = announcements;
      }
      const twice = told.filter((text, index) => told.indexOf(text) !== index);
      assert.deepEqual(twice, []);
      // No end of an iteration is left out.
      const ends = told.filter(text => /^Iteration \d+, US-\d+: /.test(text));
      assert.equal(ends.length, 107);
    }
  });
});
