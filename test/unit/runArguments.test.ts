import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runArguments } from '../../src/views/run/runArguments.ts';

test('unset options give no flags', () => {
  assert.deepEqual(runArguments([], { onLastWindow: 'continue' }), []);
});

test('each choice of the window is a single argument, whatever it begins with', () => {
  assert.deepEqual(
    runArguments(['--model=opus'], {
      file: '--help.json',
      onlyStories: ['US-001', '--new'],
      onLastWindow: 'stopAfterIteration',
    }),
    [
      '--model=opus',
      '--file=--help.json',
      '--story=US-001',
      '--story=--new',
      '--on-last-window=stopAfterIteration',
    ],
  );
});

test('the number of agents chosen for this run overrides the setting', () => {
  const settings = ['--model=opus', '--lanes=8', '--land-as=squash'];
  assert.deepEqual(runArguments(settings, { onLastWindow: 'continue' }), settings);
  assert.deepEqual(runArguments(settings, { lanes: 3, onLastWindow: 'continue' }), [
    ...['--model=opus', '--land-as=squash', '--lanes=3'],
  ]);
});
