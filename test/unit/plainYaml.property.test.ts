import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { visit } from 'yaml';
import { editStoryDone } from '../../src/orchestrator/stories/edit/edit.ts';
import { readPlainYaml } from '../../src/orchestrator/stories/formats/plainYaml.ts';
import { parseYaml } from '../../src/orchestrator/stories/formats/yamlDocument.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';

const PHASES = `phases:
  - name: A
    tasks:
      - id: 1
        name: x
        # none
        done_criteria:
          - a
          - "b: c"
        status: pending
`;
const TASKS = `tasks:
- {id: a, name: "b"}
- id: 1.10
  text: |
    one
     more
  folded: >-
    two

    three
`;

const piece = fc.constantFrom(
  ...[
    'phases:',
    'tasks:',
    'id: ',
    'status: pending',
    'x: ',
    'k:\n',
    '1: ',
    '1.0: ',
    'null: ',
    ': ',
    ':',
  ],
  ...['- ', '-', '--', '? ', '  ', '    ', '\n', '\n\n', '\n  ', '\n    ', '\n- ', '\n  - ', ' '],
  ...['a', '鳥', '🚀', 'a:b', 'http://x', '1.10', '0x1F', '.inf', '+1', '1_000', '2026-01-02'],
  ...['true', 'null', '~', '__proto__: ', 'toString: ', '<<: ', '=', '@', '`', '!', '%', '\\n'],
  ...['"', "'", '"x"', "'y'", '"a\n  b"', 'a\n  b', '[', ']', '{', '}', ',', '#', ' # c'],
  ...['|', '>', '|-', '>+', '|2', '&a ', '*a', '!t ', '---', '...'],
  ...['\t', '\r', '\r\n', '\uFEFF', '\u0085', '\u2028', '\u00a0', '\0', '\u0007', '\ud800'],
);
const edited = fc
  .tuple(
    fc.constantFrom(PHASES, TASKS),
    fc.array(fc.tuple(fc.nat(), piece, fc.nat(3)), { maxLength: 3 }),
  )
  .map(([text, edits]) =>
    edits.reduce<string>((now, [pick, added, removed]) => {
      const at = pick % now.length;
      return now.slice(0, at) + added + now.slice(at + removed);
    }, text),
  );
const texts = fc.oneof(
  fc.array(piece, { maxLength: 14 }).map(pieces => pieces.join('')),
  edited,
);

/** Where the maps begin, in the order of the text. */
function startsOf(text: string): readonly unknown[] {
  const parsed = parseYaml(text);
  assert.ok('document' in parsed);
  const starts: unknown[] = [];
  visit(parsed.document, {
    Map(_, { range }) {
      starts.push(range?.[0]);
    },
  });
  return starts.sort();
}

function plainStarts(value: unknown, startOf: (map: object) => number): number[] {
  if (typeof value !== 'object' || value === null) {
    return [];
  }
  const below = Object.values(value).flatMap(part => plainStarts(part, startOf));
  return Array.isArray(value) ? below : [startOf(value), ...below];
}

describe('plain YAML is read as the exact parser reads it', () => {
  test('or not at all, whatever the text', () => {
    fc.assert(
      fc.property(texts, text => {
        const plain = readPlainYaml(text);
        if (plain === undefined) {
          return;
        }
        const exact = parseYaml(text);
        assert.ok('root' in exact, `only one parser reads it: ${JSON.stringify(exact)}`);
        assert.deepEqual(plain.root, exact.root);
        assert.deepEqual(plainStarts(plain.root, plain.startOf).sort(), startsOf(text));
      }),
      { numRuns: 3_000 },
    );
  });

  test('as people and tools write it', () => {
    for (const text of [PHASES, TASKS, PHASES.replaceAll('\n', '\r\n'), `---\n${TASKS}`]) {
      assert.notEqual(readPlainYaml(text), undefined, text);
    }
  });

  for (const [what, text] of [
    ['anchors', 'tasks:\n- &a {id: a}\n- *a\n'],
    ['merged maps', 'a: {b: 1}\ntasks:\n- <<: {id: a}\n'],
    ['tags', 'tasks:\n- {id: !!str 1}\n'],
    ['several documents', 'tasks: []\n---\ntasks: []\n'],
    ['repeated keys', 'tasks:\n- id: a\n  id: b\n'],
    ['the key "__proto__"', 'tasks:\n- id: a\n  __proto__: {id: b}\n'],
    ['one number as two keys', 'tasks:\n- {1: a, 1.0: b}\n'],
    ['an item and a key on a line', 'tasks:\n- "a"b:\n- c: d\n'],
    ['a map and a key in quotes on a line', 'tasks:\n- {a: b}"c":\n- d: e\n'],
    ['a comment before a value', 'tasks: []\nnotes:\n#a\n  b\nname: c\n'],
    ['an error', 'tasks: ['],
  ] as const) {
    test(`never with ${what}`, () => assert.equal(readPlainYaml(text), undefined));
  }

  test('problems and edits have the places of the exact parser', () => {
    const text = PHASES.replace('status: pending', 'depends_on: [gone]\n        status: pending');
    assert.notEqual(readPlainYaml(text), undefined);
    const list = parseStoryFile('plan.yaml', text);
    assert.deepEqual(
      list.problems.map(({ code, column, line }) => [code, line, column]),
      [['unknownDependency', 10, 9]],
    );
    const [story] = list.kind === 'stories' ? list.stories : [];
    assert.equal(story?.line, 4);
    assert.equal(
      editStoryDone(text, { id: '1', position: 0 }, true, 'plan.yaml'),
      text.replace('pending', 'completed'),
    );
  });
});
