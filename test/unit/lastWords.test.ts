import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lastWords } from '../../src/orchestrator/agents/lastWords.ts';

const calls = Array.from({ length: 9 }, (_, n) => `    at Module.load (node:internal/m:${n}:1)`);
const words = (...lines: readonly string[]) => lastWords(lines.join('\n'), 1_000);

describe('the last words of a program', () => {
  it('are its last lines', () => {
    assert.equal(words('', '1', '2', '3', '', '4', '5', '6', '7', ''), '2\n3\n4\n5\n6\n7');
    assert.equal(words(), '');
    assert.equal(lastWords('some long words', 10), 'some long…');
  });

  it('are the error of a stack trace of Node, and not the calls below it', () => {
    const code = ['/w/agent.mjs:3', '  foo.bar();', '      ^', ''];
    const error = "TypeError: Cannot read properties of undefined (reading 'bar')";
    assert.equal(words(...code, error, ...calls, '', 'Node.js v22.18.0', ''), error);
    assert.equal(words('Working.', 'no name of an error', ...calls), 'no name of an error');
    const coded = [
      'Error: spawn ENOENT',
      ...calls,
      '    at last (x:1:1) {',
      "  code: 'ENOENT'",
      '}',
    ];
    assert.equal(words('Working.', ...coded, '', 'Node.js v22.18.0'), 'Error: spawn ENOENT');
    const cause = ['  [cause]: Error: inner', ...calls.map(line => `  ${line}`), '}'];
    assert.equal(
      words('Error: outer', ...calls, '    at x:1 {', ...cause),
      '[cause]: Error: inner',
    );
  });

  it('are the whole text of an error with several lines', () => {
    assert.equal(
      words('Working.', 'AssertionError [ERR_ASSERTION]: not equal', '', '1 !== 2', '', ...calls),
      'AssertionError [ERR_ASSERTION]: not equal\n1 !== 2',
    );
  });

  it('are what the program says after a trace', () => {
    assert.equal(words('Error: a', ...calls, 'Giving up: no quota'), 'Giving up: no quota');
  });

  it('are the last error of Python and of Java', () => {
    const python = [
      'Traceback (most recent call last):',
      '  File "/w/agent.py", line 1, in <module>',
      '    foo()',
      '    ~~~^^',
      "NameError: name 'foo' is not defined",
    ];
    assert.equal(words(...python), "NameError: name 'foo' is not defined");
    assert.equal(
      words(
        ...[
          'Exception in thread "main" java.lang.RuntimeException: a',
          '\tat x.Main.main(M.java:1)',
        ],
        ...[
          'Caused by: java.io.IOException: disk is full',
          '\tat x.Main.run(M.java:9)',
          '\t... 1 more',
        ],
      ),
      'Caused by: java.io.IOException: disk is full',
    );
  });

  it('are calls if there is nothing else', () => {
    assert.equal(words(...calls), calls.slice(-6).join('\n').trim());
  });
});
