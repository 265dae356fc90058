import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { editStoryDone, tickText, withCommits } from '../../src/orchestrator/stories/edit/edit.ts';
import { isTickDifference } from '../../src/orchestrator/stories/edit/tickDifference.ts';
import { parseStoryText } from '../../src/orchestrator/stories/storyFile.ts';

const FILE = 'plan.yaml';
const FULL = '1234567890abcdef1234567890abcdef12345678';

/** One task with this text for its commits, between two others. */
function file(commits: string, status = 'completed'): string {
  return `phases:
  - name: One
    tasks:
      - id: T0
        status: pending
        commits: []
      - id: T1 # the first
        status: ${status}
        ${commits}
        notes: ""
      - id: T2
        status: pending
        commits: []
`;
}

function listed(text: string, ...hashes: string[]): string {
  return withCommits(parseStoryText(FILE, text), { id: 'T1' }, hashes);
}

describe('the commits of a task', () => {
  const lists: readonly (readonly [string, string])[] = [
    ['commits: []', 'commits: ["1234567890"]'],
    ['commits: [] # hashes', 'commits: ["1234567890"] # hashes'],
    ['commits: [ ]', 'commits: ["1234567890" ]'],
    ['commits:', 'commits: ["1234567890"]'],
    ['commits: null', 'commits: ["1234567890"]'],
    ['commits: [abcdef1]', 'commits: [abcdef1, "1234567890"]'],
    [
      'commits:\n          - abcdef1 # first\n',
      'commits:\n          - abcdef1\n          - "1234567890" # first\n',
    ],
  ];
  for (const [before, after] of lists) {
    test(`are added to ${JSON.stringify(before)}`, () => {
      assert.equal(listed(file(before), FULL), file(after));
      assert.equal(listed(file(after), FULL), file(after), 'the same twice changes nothing');
    });
  }

  for (const other of [
    'title: x',
    'commits: none',
    'commits: [{sha: a}]',
    'commits: [not a hash]',
  ]) {
    test(`are not added to “${other}”`, () => {
      assert.equal(listed(file(other), FULL), file(other));
    });
  }

  test('shared by an anchor are left alone', () => {
    const text =
      'tasks:\n  - {id: T1, status: done, commits: &c []}\n  - {id: T2, status: done, commits: *c}\n';
    assert.equal(listed(text, FULL), text);
  });

  test('are removed with the tick; a comment stays', () => {
    const ticked = file('commits: ["1234567890", "abcdef1234"] # hashes');
    assert.equal(
      editStoryDone(ticked, { id: 'T1' }, false, FILE),
      file('commits: [] # hashes', 'pending'),
    );
    assert.equal(
      editStoryDone(
        file('commits:\n          - abcdef1\n          - abcdef2'),
        { id: 'T1' },
        false,
        FILE,
      ),
      file('commits: []', 'pending'),
    );
    const noted = file('commits:\n          - abcdef1 # mine\n          - abcdef2');
    assert.match(editStoryDone(noted, { id: 'T1' }, false, FILE), /- abcdef1 # mine/);
    // Other things in the list are not ours.
    const own = file('commits: [see the wiki]');
    assert.match(editStoryDone(own, { id: 'T1' }, false, FILE), /commits: \[see the wiki\]/);
  });

  test('are restored if the tick is set again at once', () => {
    const before = file('commits: ["1234567890"]');
    const { text, undo } = tickText(before, { id: 'T1' }, false, { path: FILE });
    assert.ok(undo);
    assert.equal(tickText(text, { id: 'T1' }, true, { path: FILE, undos: [undo] }).text, before);
  });

  test('are not a difference that blocks it', () => {
    const open = file('commits: []', 'in_progress');
    const done = file('commits: []');
    assert.ok(isTickDifference(FILE, open, listed(done, FULL)));
    assert.ok(isTickDifference(FILE, done, listed(done, FULL)));
    assert.ok(!isTickDifference(FILE, done, listed(done, FULL).replace('notes: ""', 'notes: x')));
  });
});

test('any list: only that list changes, and it names every commit once', () => {
  const hash = fc.stringMatching(/^[0-9a-f]{40}$/);
  const written = fc.oneof(
    hash.map(full => full.slice(0, 7)),
    hash,
  );
  const list = fc
    .array(written, { maxLength: 4 })
    .chain(hashes =>
      fc.constantFrom(
        `commits: [${hashes.map(one => `"${one}"`).join(', ')}]`,
        `commits:${hashes.map(one => `\n          - '${one}'`).join('')}`,
      ),
    );
  fc.assert(
    fc.property(
      list,
      fc.array(hash, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      (old, made, crlf) => {
        const text = crlf ? file(old).replaceAll('\n', '\r\n') : file(old);
        const after = listed(text, ...made);
        const position = 1;
        const [before, now] = [text, after].map(one =>
          parseStoryText(FILE, one).commits?.of(position),
        );
        const found = now ?? [];
        assert.deepEqual(found.slice(0, before?.length), before);
        for (const full of made) {
          assert.ok(found.some(short => full.startsWith(short)));
        }
        const others = (one: string) =>
          one.slice(0, one.indexOf('T1')) + one.slice(one.indexOf('notes'));
        assert.equal(others(after), others(text));
      },
    ),
  );
});
