import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkCandidates } from '../../src/views/terminal/linkCandidates.ts';
import { sameValue } from '../support/sameValue.ts';

const TRANSCRIPT = /transcript of iteration (\d+)/g;
const OFFER = /Allow ([\w.:-]+) From Now On/g;
const found = (line: string) =>
  linkCandidates(line, TRANSCRIPT, OFFER).map(candidate => {
    const { start, length, ...rest } = candidate;
    return { text: line.slice(start, start + length), ...rest };
  });

test('finds the path of a tool call without the brackets', () => {
  sameValue(found('● Edit(src/todo.js)'), [
    { text: 'src/todo.js', kind: 'file', path: 'src/todo.js' },
  ]);
  sameValue(found('● Read(package.json)')[0]?.text, 'package.json');
});

test('finds the offer to allow a tool', () => {
  sameValue(found('  Not allowed: WebFetch · Allow WebFetch From Now On'), [
    { text: 'Allow WebFetch From Now On', kind: 'tool', tool: 'WebFetch' },
  ]);
});

test('includes line and column in the link', () => {
  sameValue(found('  at run (src/a-b/c.test.ts:12:7)'), [
    {
      ...{ text: 'src/a-b/c.test.ts:12:7', kind: 'file', path: 'src/a-b/c.test.ts' },
      ...{ line: 12, column: 7 },
    },
  ]);
  sameValue(found('see src/a.ts:3.')[0], {
    ...{ text: 'src/a.ts:3', kind: 'file', path: 'src/a.ts', line: 3 },
  });
});

test('excludes the dot at the end of a sentence', () => {
  assert.equal(found('I changed src/todo.js.')[0]?.text, 'src/todo.js');
  assert.equal(found("It's in `docs/a.md`, too")[0]?.text, 'docs/a.md');
});

test('finds complete absolute and Windows paths', () => {
  assert.equal(found('wrote /tmp/x/a.ts now')[0]?.text, '/tmp/x/a.ts');
  assert.equal(found('wrote C:\\work\\a.ts:4 now')[0]?.text, 'C:\\work\\a.ts:4');
});

test('finds commits and transcripts', () => {
  const [commit] = found('[Ralph Fresh] Commit a1b2c3d feat: x');
  sameValue(commit, { text: 'a1b2c3d', kind: 'commit', hash: 'a1b2c3d' });
  sameValue(found('     … 37 more lines (transcript of iteration 12)')[0], {
    ...{ text: 'transcript of iteration 12', kind: 'transcript', iteration: 12 },
  });
});

test('ignores plain words and long lines', () => {
  sameValue(found('All done now. Nothing here'), []);
  sameValue(found('a/b '.repeat(5_000)), []);
  assert.equal(found('a/b '.repeat(500)).length, 20);
});

test('handles every line quickly', () => {
  for (const part of ['a/', 'a.', 'a:1', './', '0123456789abcdef', '-']) {
    const begun = process.hrtime.bigint();
    found(part.repeat(3_000).slice(0, 4_000));
    assert.ok(process.hrtime.bigint() - begun < 2_000_000_000n, part);
  }
});
