import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyShell, type OpenTerminal } from '../../src/views/terminal/emptyShell.ts';

const shell = (creationOptions: object = {}, rest: Partial<OpenTerminal> = {}): OpenTerminal => ({
  creationOptions,
  state: { isInteractedWith: false },
  ...rest,
});

test('the shell that VS Code has started by itself is found', () => {
  const found = shell({ shellPath: '/bin/bash', name: undefined });
  assert.equal(emptyShell([found]), found);
});

test('a terminal that may belong to someone is left alone', () => {
  assert.equal(emptyShell([]), undefined);
  assert.equal(emptyShell([shell(), shell()]), undefined, 'one of several');
  assert.equal(emptyShell([shell({ name: 'Watch' })]), undefined, 'a task, or named by a person');
  assert.equal(emptyShell([shell({ pty: {} })]), undefined, 'of another extension');
  assert.equal(
    emptyShell([shell({}, { state: { isInteractedWith: true } })]),
    undefined,
    'typed into',
  );
});
