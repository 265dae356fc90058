import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { foldRun } from '../../src/orchestrator/journal/foldRun.ts';
import { iterationRows } from '../../src/orchestrator/journal/iterationRows.ts';
import { english } from '../../src/presentation/translate.ts';
import { shownCharts } from '../../src/views/progress/charts.ts';
import { longRun, recorded } from '../support/recordedJournals.ts';

const inGerman = Object.assign(english.bind(undefined), english, { language: 'de' });

function charts(events: readonly RunEvent[], t = english) {
  const rows = iterationRows(events, { alive: true });
  return shownCharts(foldRun(events), events, rows, t);
}

describe('shownCharts', () => {
  it('shows nothing before an iteration has ended', () => {
    assert.equal(charts(recorded('maxIterations', { type: 'run.started' })), undefined);
    assert.equal(charts(recorded('maxIterations', { type: 'iteration.started' })), undefined);
  });

  it('shows remaining stories and cost as numbers and as text', () => {
    const shown = charts(recorded('maxIterations'));
    assert.deepEqual(
      shown?.points.map(({ label, left, cost, sum }) => [label, left, cost, sum]),
      [
        ['0', 5, undefined, 0],
        ['1', 4, 0.25, 0.25],
        ['2', 3, 0.5, 0.75],
        ['3', 2, 0.25, 1],
      ],
    );
    assert.equal(shown?.stories?.words, '5 stories left at the start, 2 after 3 iterations.');
    assert.equal(shown?.sum?.words, '$1.00 of the budget of $4.00 up to iteration 3.');
    assert.deepEqual([shown?.sum?.budget, shown?.sum?.top], [4, 4]);
    assert.equal(
      shown?.cost?.words,
      '$0.33 per iteration on average; iteration 2 cost the most, $0.50.',
    );
    assert.equal(shown?.cost?.top, 0.5);
  });

  it('omits stories of a free task, and costs of an agent without costs', () => {
    const free = charts(recorded('freeTask'));
    assert.ok(free);
    assert.deepEqual([free.stories, free.sum, free.cost], [undefined, undefined, undefined]);
  });

  it('includes the cost of planning before the first iteration', () => {
    const events = recorded('planned', { type: 'iteration.ended', iteration: 1 });
    assert.deepEqual(
      charts(events)?.points.map(({ sum }) => sum),
      [2, 2.25],
    );
  });

  it('marks estimates', () => {
    const shown = charts(
      recorded('maxIterations').map(body =>
        body.type === 'iteration.ended' && body.iteration === 2
          ? { ...body, costEstimated: true }
          : body,
      ),
    );
    assert.deepEqual(
      shown?.points.map(({ costWords, sumWords }) => [costWords, sumWords]),
      [
        [undefined, '$0.00'],
        ['$0.25', '$0.25'],
        ['≈ $0.50', '≈ $0.75'],
        ['$0.25', '≈ $1.00'],
      ],
    );
    assert.equal(
      shown?.cost?.words,
      '≈ $0.33 per iteration on average; iteration 2 cost the most, ≈ $0.50.',
    );
  });

  it('groups iterations if there are many', () => {
    const total = 1_000;
    const shown = charts(
      longRun('severalStories', total, (event, iteration) =>
        event.type === 'iteration.started'
          ? { ...event, stories: { done: iteration - 1, total } }
          : event.type === 'iteration.ended'
            ? { ...event, stories: { done: iteration, total } }
            : event,
      ),
    );
    assert.ok(shown && shown.points.length <= 61);
    assert.equal(shown.points[1]?.label, '1–17');
    assert.equal(shown.points.at(-1)?.label.endsWith('–1000'), true);
    assert.equal(shown.points.at(-1)?.sum, 250);
    assert.equal(shown.points.at(-1)?.left, 0);
    assert.equal(shown.cost?.title, 'Cost per 17 iterations');
  });

  it("formats numbers in the window's language", () => {
    const german = charts(recorded('maxIterations'), inGerman);
    assert.match(german?.sum?.words ?? '', /1,00\s\$ of the budget of 4,00\s\$/);
  });
});
