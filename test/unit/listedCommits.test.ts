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
      'commits:\n          - abcdef1 # first\n          - "1234567890"\n',
    ],
    [
      'commits:\n          # all\n          - abcdef1 # first\n          # below\n          - abcdef2\n          # after',
      'commits:\n          # all\n          - abcdef1 # first\n          # below\n          - abcdef2\n          - "1234567890"\n          # after',
    ],
    [
      'commits: [\n          abcdef1, # first\n          abcdef2 # second\n        ]',
      'commits: [\n          abcdef1, # first\n          abcdef2, # second\n          "1234567890"\n        ]',
    ],
    [
      'commits: [\n          abcdef1, # first\n        ] # hashes',
      'commits: [\n          abcdef1, # first\n          "1234567890"\n        ] # hashes',
    ],
    [
      'commits:\n          - # first\n            abcdef1 # mine',
      'commits:\n          - # first\n            abcdef1 # mine\n          - "1234567890"',
    ],
    ['? commits\n        : - abcdef1', '? commits\n        : - abcdef1\n          - "1234567890"'],
    ['commits: [ # none\n        ]', 'commits: [ # none\n          "1234567890"\n        ]'],
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

  for (const other of ['none', '|\n          abcdef1', '[{sha: abcdef1}]', '{a: b}', '[a note]']) {
    test(`are told to have no place in “${other}”`, () => {
      const problems = (text: string) =>
        parseStoryText(FILE, text).file.problems.map(({ code, column, line }) => [
          code,
          line,
          column,
        ]);
      assert.deepEqual(problems(file(`commits: ${other}`, 'pending')), [['notHashes', 9, 9]]);
      assert.deepEqual(problems(file(`commits: ${other}`)), [], 'nothing is listed any more');
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
    // Other things in the list are not ours.
    const own = file('commits: [see the wiki]');
    assert.match(editStoryDone(own, { id: 'T1' }, false, FILE), /commits: \[see the wiki\]/);
  });

  const noted: readonly (readonly [string, string])[] = [
    [
      'commits: # all\n          # of it\n          - abcdef1 # mine\n          - abcdef2\n          # after',
      'commits: [] # all\n          # of it\n          # mine\n          # after',
    ],
    ['commits:\n          - abcdef1\n          - abcdef2 # mine', 'commits: []\n          # mine'],
    [
      'commits: [\n          abcdef1, # mine\n          abcdef2\n        ] # hashes',
      'commits: [\n          # mine\n        ] # hashes',
    ],
    ['commits: [abcdef1, # mine\n          abcdef2]', 'commits: [ # mine\n          ]'],
    ['commits: [\n# mine\n\n          abcdef2\n        ]', 'commits: [\n# mine\n\n        ]'],
  ];
  for (const [before, after] of noted) {
    test(`are removed from ${JSON.stringify(before)}; its comments stay`, () => {
      assert.equal(editStoryDone(file(before), { id: 'T1' }, false, FILE), file(after, 'pending'));
    });
  }

  test('are restored if the tick is set again at once', () => {
    for (const commits of [
      'commits: ["1234567890"]',
      `commits:${'\n          - "1234567890" # one of many'.repeat(60)}`,
    ]) {
      const before = file(commits);
      const { text, undo } = tickText(before, { id: 'T1' }, false, { path: FILE });
      assert.ok(undo);
      assert.equal(tickText(text, { id: 'T1' }, true, { path: FILE, undos: [undo] }).text, before);
    }
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
    .array(
      written.map(one => `"${one}"`),
      { maxLength: 4 },
    )
    .chain(notedList);
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
        assert.deepEqual(after.match(/#.*/g), text.match(/#.*/g));
      },
    ),
  );
});

/** Lists with comments in all places, by their items. */
const notedList = (items: readonly string[]) =>
  fc
    .record({
      isFlow: fc.boolean(),
      comments: fc.array(fc.constantFrom('', ' # mine', '  # - x: [a, b]', ' #'), {
        minLength: 6,
        maxLength: 6,
      }),
      isAlone: fc.boolean(),
      isSpaced: fc.boolean(),
      hasComma: fc.boolean(),
      bullet: fc.constantFrom('\n          - ', '\n        - '),
      margins: fc.array(fc.constantFrom('\n          ', '\n        ', '\n'), {
        minLength: 3,
        maxLength: 3,
      }),
    })
    .map(({ bullet, comments, hasComma, isAlone, isFlow, isSpaced, margins }) => {
      const [head = '', inside = '', after = ''] = comments;
      const line = (comment: string, place = 0) =>
        comment === '' ? '' : `${margins[place]}${comment.trim()}`;
      const notes = items.map((_, index) => comments[index + 3] ?? '');
      const below = line(isAlone ? after : '', 1);
      if (!isFlow && items.length > 0) {
        const list = items.map((item, i) => `${bullet}${item}${notes[i]}${line(inside)}`);
        return `commits:${head}${line(inside, 2)}${list.join('')}${below}`;
      }
      const isLong = [inside, ...notes].some(comment => comment !== '') || isSpaced;
      if (!isLong) {
        return `commits: [${items.join(', ')}]${head}${below}`;
      }
      const list = items.map((item, i) => {
        const comma = hasComma || i < items.length - 1 ? ',' : '';
        return `\n          ${item}${comma}${notes[i]}`;
      });
      return `commits: [${inside}${line(inside, 2)}${list.join(line(inside))}\n        ]${head}${below}`;
    });

const atEnd = (commits: string, status: string) =>
  `tasks:\n  - id: T1\n    status: ${status}\n    ${commits.replaceAll('\n    ', '\n')}\n`;

/** The list is in the middle of its file, at the end, or at the end of its task. */
const frames = fc.constantFrom<(commits: string, status: string) => string>(
  file,
  atEnd,
  (commits, status) => {
    const [start = '', end = ''] = file('', status).split('        \n        notes: ""\n');
    return `${start}        ${commits}\n${end}`;
  },
);

test('any list with comments: untick after tick, and tick after untick, restore every byte', () => {
  const hash = fc.stringMatching(/^[0-9a-f]{10}$/).map(one => `"${one}"`);
  const list = fc.array(hash, { maxLength: 3 }).chain(notedList);
  fc.assert(
    fc.property(list, fc.boolean(), frames, fc.boolean(), (commits, done, frame, crlf) => {
      const made = frame(commits, done ? 'completed' : 'in_progress');
      const text = crlf ? made.replaceAll('\n', '\r\n') : made;
      const other = tickText(text, { id: 'T1' }, !done, { path: FILE });
      assert.notEqual(other.text, text);
      assert.ok(other.undo);
      const options = { path: FILE, undos: [other.undo] };
      assert.equal(tickText(other.text, { id: 'T1' }, done, options).text, text);
      const comments = (one: string) => one.match(/#.*/g);
      assert.deepEqual(comments(other.text), comments(text));
      if (done) {
        assert.deepEqual(parseStoryText(FILE, other.text).commits?.of(frame === atEnd ? 0 : 1), []);
      }
    }),
  );
});

test('any empty list with comments: a tick with its commits leaves no trace when it is taken back', () => {
  const hash = fc.stringMatching(/^[0-9a-f]{40}$/);
  const hashes = fc.array(hash, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(notedList([]), hashes, frames, fc.boolean(), (commits, made, frame, crlf) => {
      const written = frame(commits, 'pending');
      const text = crlf ? written.replaceAll('\n', '\r\n') : written;
      const done = listed(editStoryDone(text, { id: 'T1' }, true, FILE), ...made);
      const expected = [...new Set(made.map(full => full.slice(0, 10)))];
      assert.deepEqual(parseStoryText(FILE, done).commits?.of(frame === atEnd ? 0 : 1), expected);
      assert.equal(editStoryDone(done, { id: 'T1' }, false, FILE), text);
    }),
  );
});
