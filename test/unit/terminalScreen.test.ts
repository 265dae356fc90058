import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLEAR, TerminalScreen } from '../../src/views/terminal/terminalScreen.ts';

test('styles stand around whole lines, and a break never falls into one', () => {
  const screen = new TerminalScreen();
  screen.resize(26);
  const output = screen.add([{ style: 'error', text: '  └  one two three four five' }]);
  assert.equal(output, '\x1b[31m  └  one two three four\x1b[0m\r\n\x1b[31m     five\x1b[0m\r\n');
});

test('of a tool call the name is bold', () => {
  const screen = new TerminalScreen();
  assert.equal(
    screen.add([{ style: 'tool', text: '● Edit(src/(a).js)' }]),
    '\x1b[36m● \x1b[0m\x1b[1mEdit\x1b[0m(src/(a).js)\x1b[0m\r\n',
  );
});

test('a story has the color of its lane on each row, and its name', () => {
  const screen = new TerminalScreen();
  screen.resize(30);
  const output = screen.add([
    { style: 'plain', text: 'US-001 │ one two three four five six', lane: 1 },
    { style: 'plain', text: 'US-002 │ one\nUS-002 │ \ttwo', lane: 2 },
    { style: 'plain', text: 'US-003 │ nobody works on it' },
  ]);
  assert.deepEqual(output.split('\r\n'), [
    '\x1b[36mUS-001 │ \x1b[0mone two three four',
    '\x1b[36mUS-001 │ \x1b[0mfive six',
    '\x1b[35mUS-002 │ \x1b[0mone',
    '\x1b[35mUS-002 │ \x1b[0m  two',
    '\x1b[90mUS-003 │ \x1b[0mnobody works on it',
    '',
  ]);
});

test('of a tool call of a subagent the name of the tool is bold', () => {
  const screen = new TerminalScreen();
  assert.equal(
    screen.add([{ style: 'tool', text: 'US-001 │   Look (at a) › ● Read(a.txt)', lane: 9 }]),
    '\x1b[36mUS-001 │ \x1b[0m\x1b[90m  Look (at a) › \x1b[0m\x1b[36m● \x1b[0m\x1b[1mRead\x1b[0m(a.txt)\x1b[0m\r\n',
  );
});

test('what is said more quietly is grey, not faint, so that it can be read in every theme', () => {
  const screen = new TerminalScreen();
  const output = screen.add([{ style: 'dim', text: 'fake-model' }]);
  assert.equal(output, '\x1b[90mfake-model\x1b[0m\r\n');
});

test('another width writes everything again, the same width nothing', () => {
  const screen = new TerminalScreen();
  assert.equal(screen.resize(80), false);
  screen.add([{ style: 'plain', text: 'one two three four five six' }]);
  assert.equal(screen.resize(80), false);
  assert.equal(screen.resize(20), true);
  assert.equal(screen.redraw(), `${CLEAR}one two three four\r\nfive six\r\n`);
});

test('only the newest lines are kept for it', () => {
  const screen = new TerminalScreen();
  for (let n = 0; n < 12_000; n += 1) {
    screen.add([{ style: 'plain', text: `${n}` }]);
  }
  const lines = screen.redraw().split('\r\n');
  assert.ok(lines.length <= 5_001);
  assert.equal(lines.at(-2), '11999');
});
