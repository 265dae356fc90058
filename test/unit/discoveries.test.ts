import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  MAX_PER_ITERATION,
  readFoundWork,
  reportedIn,
} from '../../src/orchestrator/iteration/discoveries.ts';
import { discoveriesOf, waitingDiscoveries } from '../../src/orchestrator/journal/discoveries.ts';
import type { RunEvent, RunEventBody } from '../../src/orchestrator/journal/events.ts';
import { foldRun } from '../../src/orchestrator/journal/foldRun.ts';

const RUN = '2026-11-24T10-00-00-000-abcdef';
const during = {
  runId: RUN,
  iteration: 3,
  storyId: 'US-001',
  // As in a plan.
  stories: [{ id: 'US-7', title: 'US-7: Reset passwords' }],
  discoveries: undefined,
};

function folded(...bodies: readonly RunEventBody[]) {
  return foldRun(bodies.map((body, i) => ({ seq: i + 1, at: '', ...body }) as RunEvent));
}

describe('work that an agent reports', () => {
  test('is a tag on a line of its own, or several, with a title and a reason', () => {
    assert.deepEqual(
      readFoundWork(
        [
          'Done.',
          '<discovered>Limit the log in | five tries | per minute</discovered>',
          '- <discovered>Rotate keys of Map<K, V></discovered>',
          '<discovered>a</discovered>, **<discovered>b</discovered>**.',
          '<discovered>c</discovered> and <discovered>d</discovered>',
          'I could write <discovered>this</discovered> in a sentence.',
          '`<discovered>quoted</discovered>`',
          '> <discovered>cited</discovered>',
          '```',
          '<discovered>in code</discovered>',
          '```',
          '<discovered> | only a reason</discovered>',
          '- <discovered>Send mails in',
          '  the background | A slow server',
          '  blocks the page.</discovered>',
          '1. **<discovered>',
          'Limit mails',
          '| too many',
          '</discovered>**.',
          '- <discovered>First',
          '- Second</discovered>',
          '<discovered>Tag',
          '<promise>COMPLETE</promise> </discovered>',
          '<discovered>No end',
          '',
          'Another paragraph.</discovered>',
          '<discovered>open',
        ].join('\n'),
      ),
      [
        { title: 'Limit the log in', why: 'five tries | per minute' },
        { title: 'Rotate keys of Map<K, V>' },
        { title: 'a' },
        { title: 'b' },
        { title: 'Send mails in the background', why: 'A slow server blocks the page.' },
        { title: 'Limit mails', why: 'too many' },
      ],
    );
  });

  test('is data: control characters are gone, and its length is limited', () => {
    const [found] = readFoundWork(
      `<discovered>\u001b[31mred\u0007 \u202e${'x'.repeat(3000)}|y</discovered>`,
    );
    assert.ok(found);
    assert.match(found.title, /^red x+…$/);
    assert.ok(found.title.length <= 120);
    const started = performance.now();
    readFoundWork(`${'<discovered>'.repeat(90_000)}\n<discovered>a</discovered>`);
    readFoundWork(`${'<discovered>a</discovered> '.repeat(9000)}x`);
    assert.ok(performance.now() - started < 2000);
  });

  test('counts once, up to a limit for each iteration', () => {
    const answer = Array.from({ length: 9 }, (_, n) => `<discovered>Task ${n}</discovered>`);
    const events = reportedIn(
      ['<discovered>reset passwords!</discovered>', ...answer, ...answer].join('\n'),
      during,
    );
    assert.equal(events.length, MAX_PER_ITERATION);
    assert.deepEqual(
      events.map(event => event.type === 'discovery.reported' && event.title),
      ['Task 0', 'Task 1', 'Task 2', 'Task 3', 'Task 4'],
    );
    // What a killed loop reads again is known.
    assert.deepEqual(
      reportedIn(answer.join('\n'), { ...during, discoveries: folded(...events).discoveries }),
      [],
    );
  });

  test('ids differ between runs, iterations and reports, and stay the same for one report', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.constantFrom(RUN, 'r2', 'r3')), {
          minLength: 2,
          maxLength: 9,
          selector: ([iteration, runId]) => `${iteration} ${runId}`,
        }),
        parts => {
          const ids = parts.flatMap(([iteration, runId]) =>
            reportedIn('<discovered>A</discovered>\n<discovered>B</discovered>', {
              ...{ ...during, iteration, runId },
            }).map(event => ('id' in event ? event.id : '')),
          );
          assert.equal(new Set(ids).size, parts.length * 2);
          assert.ok(ids.every(id => /^DISC-\d{8}-\d-[12]$/.test(String(id))));
        },
      ),
    );
  });
});

describe('what became of discovered work', () => {
  const report: RunEventBody = {
    ...{ type: 'discovery.reported', id: 'D1', title: 'One', why: 'because' },
    ...{ storyId: 'US-001', iteration: 1 },
  };

  test('is known over several journals, in their order', () => {
    const first = folded(report, { ...report, id: 'D2', title: 'Two' });
    const second = folded(
      { type: 'discovery.edited', id: 'D1', title: 'The one' },
      { type: 'discovery.dropped', id: 'D2' },
    );
    const all = discoveriesOf([first, second]);
    assert.deepEqual(
      all.map(({ id, state, title, why }) => [id, state, title, why]),
      [
        ['D1', 'open', 'The one', 'because'],
        ['D2', 'dropped', 'Two', 'because'],
      ],
    );
    assert.deepEqual(
      waitingDiscoveries(all, new Set()).map(({ id }) => id),
      ['D1'],
    );
    assert.deepEqual(waitingDiscoveries(all, new Set(['D1'])), []);
  });

  test('an accepted one waits for its place in the file; a decision without a report shows nothing', () => {
    const accepted = folded(report, { type: 'discovery.accepted', id: 'D1', by: 'person' });
    assert.equal(accepted.discoveries?.[0]?.state, 'accepted');
    const added = folded(report, { type: 'discovery.added', id: 'D1', storyId: 'D1-2' });
    assert.deepEqual(
      [added.discoveries?.[0]?.state, added.discoveries?.[0]?.storyId],
      ['added', 'D1-2'],
    );
    const late = folded(
      report,
      { type: 'discovery.added', id: 'D1', storyId: 'D1-2' },
      { type: 'discovery.dropped', id: 'D1' },
    );
    assert.equal(late.discoveries?.[0]?.state, 'added');
    const later = folded({ type: 'discovery.dropped', id: 'D1' });
    assert.equal(discoveriesOf([added, later])[0]?.state, 'added');
    const refused = folded(
      report,
      { type: 'discovery.accepted', id: 'D1', by: 'setting' },
      { type: 'discovery.refused', id: 'D1', reason: 'no place' },
    );
    assert.equal(refused.discoveries?.[0]?.state, 'open');
    assert.deepEqual(discoveriesOf([folded({ type: 'discovery.dropped', id: 'D9' })]), []);
    const elsewhere = folded({
      ...{ type: 'discovery.accepted', id: 'D8', by: 'person', title: 'Eight' },
    });
    assert.deepEqual(
      elsewhere.discoveries?.map(({ state, title }) => [state, title]),
      [['accepted', 'Eight']],
    );
  });
});
