import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLEAR, TerminalScreen } from '../../src/views/terminal/terminalScreen.ts';

const LEFT_OUT = { style: 'plain', text: 'left out' } as const;

test('styles enclose whole lines and are not broken by line wraps', () => {
  const screen = new TerminalScreen(LEFT_OUT);
  screen.resize(26);
  const output = screen.add([{ style: 'error', text: '  └  one two three four five' }]);
  assert.equal(output, '\x1b[31m  └  one two three four\x1b[0m\r\n\x1b[31m     five\x1b[0m\r\n');
});

test('the name of a tool call is bold', () => {
  const screen = new TerminalScreen(LEFT_OUT);
  assert.equal(
    screen.add([{ style: 'tool', text: '● Edit(src/(a).js)' }]),
    '\x1b[36m● \x1b[0m\x1b[1mEdit\x1b[0m(src/(a).js)\x1b[0m\r\n',
  );
});

test('each row of a story has the color of its lane and its name', () => {
  const screen = new TerminalScreen(LEFT_OUT);
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

test("the tool name is bold in a subagent's tool call", () => {
  const screen = new TerminalScreen(LEFT_OUT);
  assert.equal(
    screen.add([{ style: 'tool', text: 'US-001 │   Look (at a) › ● Read(a.txt)', lane: 9 }]),
    '\x1b[36mUS-001 │ \x1b[0m\x1b[90m  Look (at a) › \x1b[0m\x1b[36m● \x1b[0m\x1b[1mRead\x1b[0m(a.txt)\x1b[0m\r\n',
  );
});

test('secondary text is grey instead of faint, so that it is readable in every theme', () => {
  const screen = new TerminalScreen(LEFT_OUT);
  const output = screen.add([{ style: 'dim', text: 'fake-model' }]);
  assert.equal(output, '\x1b[90mfake-model\x1b[0m\r\n');
});

test('a new width redraws everything, the same width nothing', () => {
  const screen = new TerminalScreen(LEFT_OUT);
  assert.equal(screen.resize(80), false);
  screen.add([{ style: 'plain', text: 'one two three four five six' }]);
  assert.equal(screen.resize(80), false);
  assert.equal(screen.resize(20), true);
  assert.equal(screen.redraw(), `${CLEAR}one two three four\r\nfive six\r\n`);
});

test('only the newest lines are kept for it, below a line that says so', () => {
  const screen = new TerminalScreen(LEFT_OUT);
  for (let n = 0; n < 12_000; n += 1) {
    screen.add([{ style: 'plain', text: `${n}` }]);
  }
  const lines = screen.redraw().split('\r\n');
  assert.ok(lines.length <= 5_002);
  assert.equal(lines[0], `${CLEAR}left out`);
  assert.equal(lines.at(-2), '11999');
  screen.clear();
  screen.add([{ style: 'plain', text: 'new' }]);
  assert.equal(screen.redraw(), `${CLEAR}new\r\n`);
});
