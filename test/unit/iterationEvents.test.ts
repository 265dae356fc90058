import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { ofStory, ofStoryOrRun } from '../../src/orchestrator/journal/iterationEvents.ts';
import { Transcript } from '../../src/presentation/transcript.ts';
import { english } from '../../src/presentation/translate.ts';
import { iterationEnded, iterationStarted, runStarted } from '../support/runEvents.ts';

const stories = { done: 0, total: 2 };
const said = (iteration: number, text: string) =>
  ({ type: 'agent.text', iteration, text }) as const;
const events = [
  runStarted({ lanes: 2, isolated: true, stories }),
  iterationStarted({ iteration: 1, storyId: 'US-001', lane: 1, stories }),
  iterationStarted({ iteration: 2, storyId: 'US-002', lane: 2, stories }),
  said(1, 'first'),
  said(2, 'second'),
  { type: 'story.paused', storyId: 'US-001', paused: true },
  { type: 'story.paused', storyId: 'US-002', paused: true },
  iterationEnded({ iteration: 1, storyId: 'US-001', outcome: 'stopped', stories }),
  { type: 'stop.requested', by: 'inbox', mode: 'end' },
  { type: 'run.ended', outcome: 'stopped', exitCode: 130, stories, iterations: 2 },
].map((body, index) => ({ seq: index + 1, at: '2026-03-01T12:00:00.000Z', ...body }) as RunEvent);

test('a single story shows its own events, with or without those of the whole run', () => {
  const typesOf = (isShown: (event: RunEvent) => boolean) =>
    events.filter(isShown).map(({ type }) => type);
  assert.deepEqual(typesOf(ofStory('US-001')), [
    ...['iteration.started', 'agent.text', 'story.paused', 'iteration.ended'],
  ]);
  assert.deepEqual(typesOf(ofStoryOrRun('US-001')), [
    ...['run.started', 'iteration.started', 'agent.text', 'story.paused', 'iteration.ended'],
    ...['stop.requested', 'run.ended'],
  ]);
  assert.deepEqual(typesOf(ofStoryOrRun('US-009')), ['run.started', 'stop.requested', 'run.ended']);
});

test('a terminal showing one story names it before each line in the color of its lane', () => {
  const transcript = new Transcript(english, 'window', { isShown: ofStoryOrRun('US-002') });
  const lines = events.flatMap(event => transcript.describe(event));
  const own = lines.filter(({ text }) => text.startsWith('US-002 │ '));
  assert.ok(own.some(({ text }) => text === 'US-002 │ ● second'));
  assert.ok(own.every(({ lane }) => lane === 2));
  assert.ok(lines.every(({ text }) => !text.startsWith('US-001 │')));
  assert.ok(lines.some(({ text }) => /Stop requested/.test(text)));
});
