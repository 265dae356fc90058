import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { KeptEvents } from '../../src/views/folders/keptEvents.ts';

const at = '2026-11-22T10:10:10.000Z';
const says = (seq: number): RunEvent => ({ seq, at, type: 'agent.text', text: 'Hello' });
const denied = (seq: number, tool: string): RunEvent => ({
  ...{ seq, at, type: 'agent.denied', tool, message: '' },
});
const warns = (seq: number): RunEvent => ({ seq, at, type: 'warning', warning: 'x' }) as never;

test('a short run is kept whole', () => {
  const kept = new KeptEvents('run', 10);
  const events = [says(1), denied(2, 'WebFetch'), warns(3)];
  kept.add(events);
  assert.deepEqual(kept.all, events);
  assert.equal(kept.droppedUpTo, 0);
});

test('of a long run, decisions, denied tools and the newer half are kept', () => {
  const kept = new KeptEvents('run', 10);
  kept.add([says(1), denied(2, 'WebFetch'), denied(3, 'WebFetch'), warns(4), denied(5, 'Task')]);
  kept.add([6, 7, 8, 9, 10, 11, 12].map(says));
  assert.deepEqual(
    kept.all.map(({ seq }) => seq),
    [2, 4, 5, 8, 9, 10, 11, 12],
  );
  assert.equal(kept.droppedUpTo, 7);
  kept.add(Array.from({ length: 40 }, (_, index) => says(13 + index)));
  const seqs = kept.all.map(({ seq }) => seq);
  assert.deepEqual(seqs.slice(0, 3), [2, 4, 5]);
  assert.equal(seqs.at(-1), 52);
  assert.ok(seqs.slice(3).every(seq => seq > kept.droppedUpTo));
});

test('a run with many decisions keeps them all, without reading them again each time', () => {
  const kept = new KeptEvents('run', 10);
  for (let seq = 1; seq <= 100; seq += 1) {
    kept.add([warns(seq)]);
  }
  assert.equal(kept.all.length, 100);
  assert.equal(kept.droppedUpTo, 0);
});
