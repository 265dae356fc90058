import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Emitter } from '../../src/base/emitter.ts';
import {
  closeEmptyShell,
  emptyShell,
  type OpenTerminal,
} from '../../src/views/terminal/emptyShell.ts';

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

test('a shell that comes after the restored terminal is closed, but no further one', () => {
  const opened = new Emitter<void>();
  const closed: string[] = [];
  const others: (OpenTerminal & { dispose(): void })[] = [];
  const waiting = closeEmptyShell(
    () => others,
    listen => opened.event(listen),
  );
  const open = (name: string) => {
    others.splice(0, others.length, { ...shell(), dispose: () => closed.push(name) });
    opened.fire();
  };
  // One of ours.
  opened.fire();
  assert.deepEqual(closed, []);
  open('the shell of VS Code');
  open('a person’s own');
  assert.deepEqual(closed, ['the shell of VS Code']);
  waiting.dispose();
});

test('a shell that was there before is closed at once, and none is waited for', () => {
  const closed: string[] = [];
  closeEmptyShell(
    () => [{ ...shell(), dispose: () => closed.push('it') }],
    () => assert.fail('It listens.'),
  );
  assert.deepEqual(closed, ['it']);
});
