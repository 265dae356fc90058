import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test } from 'node:test';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { MinuteHand } from '../../src/views/stories/minuteHand.ts';
import { matchesFilter, NO_FILTER, parseFilter } from '../../src/views/stories/storyFilter.ts';
import { StoryNodes } from '../../src/views/stories/storyNodes.ts';
import type { StoryTreeNode } from '../../src/views/stories/storyTree.ts';
import { watched } from '../support/recordedJournals.ts';
import { LANES, sixteenLanes } from '../support/sixteenLanes.ts';

const FOLDER = path.resolve('/work', 'shop');
const STORIES = 100;
const idOf = (number: number) => `US-${String(number).padStart(3, '0')}`;
const FILE = parseStoryFile(
  path.join(FOLDER, '.omc', 'prd.json'),
  JSON.stringify({
    userStories: Array.from({ length: STORIES }, (_, at) => ({
      ...{ id: idOf(at + 1), title: `Story ${at + 1}`, passes: false },
    })),
  }),
);

/** The lines of the view, and how many of them each further event changes. */
function lines(hasFolderLine = false) {
  const nodes = new StoryNodes(FOLDER, 'shop');
  const events = [...sixteenLanes(idOf)];
  const update = () => {
    const run = watched(
      events.map((event, at) => ({ ...event, seq: at + 1 })),
      true,
    );
    return nodes.update({
      file: FILE,
      run,
      states: [run.state],
      filter: NO_FILTER,
      hasFolderLine,
    });
  };
  update();
  return {
    nodes,
    /** @returns the ids of the lines that are drawn anew */
    drawnAfter: (...more: readonly object[]): readonly string[] => {
      events.push(...(more as RunEvent[]));
      const { changed, isRearranged } = update();
      assert.equal(isRearranged, false);
      return changed.map((node: StoryTreeNode) =>
        node.kind === 'story' ? node.story.id : node.kind,
      );
    },
  };
}

describe('sixteen agents on a hundred stories', () => {
  const at = '2026-01-01T10:10:00.000Z';
  const tool = (iteration: number, name: string, gist: string) => ({
    ...{ at, type: 'agent.tool', iteration, name, gist },
  });

  test('an event of one agent redraws one line or none', () => {
    const { drawnAfter, nodes } = lines();
    const running = nodes.shown.filter(({ state }) => state.kind === 'running');
    assert.deepEqual(
      running.map(({ state }) => state.kind === 'running' && state.agent?.lane),
      Array.from({ length: LANES }, (_, index) => index + 1),
    );
    assert.deepEqual(drawnAfter(tool(7, 'Bash', 'npm test')), [idOf(7)]);
    assert.deepEqual(drawnAfter(tool(7, 'Bash', 'npm test -- again')), []);
    assert.deepEqual(drawnAfter(tool(7, 'Edit', 'a.ts'), tool(7, 'Write', 'b.ts')), [idOf(7)]);
    const work = { at, iteration: 9, storyId: idOf(9), base: 'a', head: 'b' };
    assert.deepEqual(drawnAfter({ type: 'landing.queued', ...work }), [idOf(9)]);
    assert.deepEqual(drawnAfter({ ...work, type: 'landing.candidate', commit: 'c', onto: 'a' }), [
      idOf(9),
    ]);
    assert.deepEqual(drawnAfter({ at, type: 'gate.started', iteration: 9, commands: [] }), [
      idOf(9),
    ]);
    assert.deepEqual(
      drawnAfter({ at, type: 'check.started', iteration: 9, command: 'x', pid: 1 }),
      [],
    );
    assert.deepEqual(drawnAfter({ at, type: 'story.paused', storyId: idOf(50), paused: true }), [
      idOf(50),
    ]);
    assert.deepEqual(drawnAfter({ at, type: 'lanes.changed', lanes: 2 }), []);
    assert.deepEqual(drawnAfter({ at, type: 'hint.given', text: 'Mind the gap' }), []);
    assert.deepEqual(
      nodes.shown.map(({ story }) => story.id),
      Array.from({ length: STORIES }, (_, index) => idOf(index + 1)),
    );
  });

  test('the filter finds the new states, even if it was saved by the window', () => {
    const { drawnAfter, nodes } = lines();
    drawnAfter({ at, type: 'story.paused', storyId: idOf(50), paused: true });
    const work = { at, iteration: 9, storyId: idOf(9), base: 'a', head: 'b' };
    drawnAfter({ type: 'landing.queued', ...work });
    const shown = (...states: readonly string[]) =>
      nodes.allStories
        .filter(({ state, story }) =>
          matchesFilter(parseFilter({ states, text: '' }), story, state),
        )
        .map(({ story }) => story.id);
    assert.deepEqual(shown('paused'), [idOf(50)]);
    assert.deepEqual(shown('queued', 'paused', 'unknown'), [idOf(9), idOf(50)]);
    assert.equal(shown('running').length, LANES - 1);
  });

  test('minutes advance line by line, and only while they are visible', t => {
    t.mock.timers.enable({ apis: ['Date', 'setTimeout'], now: Date.parse('2026-01-01T10:00:00Z') });
    const { nodes } = lines();
    const drawn: string[][] = [];
    const hand = new MinuteHand(
      () => nodes.shown,
      aged => drawn.push(aged.map(({ story }) => story.id)),
    );
    // They have begun one second after the other, in another order than that of the list.
    for (const [index, node] of nodes.shown.slice(0, 3).entries()) {
      const since = new Date(Date.now() - (index === 1 ? 1_000 : 2_000)).toISOString();
      node.state = { kind: 'running', iteration: index + 1, agent: { lane: index + 1, since } };
    }
    for (const node of nodes.shown.slice(3, LANES)) {
      node.state = { kind: 'ready' };
    }
    hand.follow(true);
    assert.deepEqual(drawn, []);
    t.mock.timers.tick(57_999);
    assert.deepEqual(drawn, []);
    t.mock.timers.tick(1);
    assert.deepEqual(drawn.splice(0), [[idOf(1), idOf(3)]]);
    t.mock.timers.tick(1_000);
    assert.deepEqual(drawn.splice(0), [[idOf(2)]]);
    hand.follow(false);
    t.mock.timers.tick(600_000);
    assert.deepEqual(drawn, []);
    // What has grown old meanwhile is drawn when it can be seen again.
    hand.follow(true);
    assert.deepEqual(drawn.splice(0), [[idOf(1), idOf(2), idOf(3)]]);
    hand.dispose();
    t.mock.timers.tick(600_000);
    assert.deepEqual(drawn, []);
  });

  test('agents without a lane show no minutes', t => {
    t.mock.timers.enable({ apis: ['Date', 'setTimeout'] });
    const { nodes } = lines();
    for (const node of nodes.shown.slice(0, LANES)) {
      node.state = { kind: 'running', iteration: 1 };
    }
    const hand = new MinuteHand(
      () => nodes.shown,
      () => assert.fail('nothing to draw'),
    );
    hand.follow(true);
    t.mock.timers.tick(600_000);
    hand.dispose();
  });
});
