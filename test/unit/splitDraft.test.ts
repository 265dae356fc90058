import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { englishOf } from '../../src/base/say.ts';
import { applySplit, checkSplit } from '../../src/orchestrator/planner/splitDraft.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';

const parts = [
  { title: 'Store', acceptanceCriteria: ['It is stored'] },
  {
    title: 'List',
    description: 'Shows them',
    acceptanceCriteria: ['Listed', 'Tests pass'],
    after: [1],
  },
];
const story = (id: string, more: object = {}) => ({
  ...{ id, title: `Title of ${id}`, description: 'd', acceptanceCriteria: ['c'], priority: 2 },
  ...{ passes: false, ...more },
});
const fileOf = (...userStories: readonly object[]) =>
  `${JSON.stringify({ project: 'p', userStories, more: { kept: true } }, null, 4)}\n`;

describe('applySplit', () => {
  test('the parts replace the story, and dependent stories wait for the parts', () => {
    const before = fileOf(
      story('US-001', { passes: true }),
      story('US-002', { dependsOn: ['US-001'], notes: 'n' }),
      story('US-003', { dependsOn: ['US-002', 'US-001'] }),
    );
    const after = applySplit(before, 'US-002', parts);
    const { userStories, more } = JSON.parse(after);
    assert.deepEqual(more, { kept: true });
    assert.deepEqual(userStories[1], {
      ...story('US-002.1', { dependsOn: ['US-001'], notes: 'n' }),
      ...{ title: 'Store', acceptanceCriteria: ['It is stored'] },
    });
    assert.deepEqual(userStories[2], {
      ...story('US-002.2', { dependsOn: ['US-001', 'US-002.1'], notes: 'n' }),
      ...{ title: 'List', description: 'Shows them', acceptanceCriteria: ['Listed', 'Tests pass'] },
    });
    assert.deepEqual(userStories[3].dependsOn, ['US-002.1', 'US-002.2', 'US-001']);
    // What it does not touch stays as it was, byte for byte.
    assert.equal(
      after.slice(0, after.indexOf('US-002')),
      before.slice(0, before.indexOf('US-002')),
    );
    assert.ok(after.endsWith(before.slice(before.indexOf('"more"'))));
  });

  test('the parts take the place of the story in its epic', () => {
    const epics = [
      { id: 'E1', title: 'Login', children: ['A', 'B'] },
      { id: 'E2', children: ['C'] },
    ];
    const before = JSON.stringify({ epics, userStories: [story('A'), story('B'), story('C')] });
    const after = JSON.parse(applySplit(before, 'B', parts));
    assert.deepEqual(after.epics, [
      { id: 'E1', title: 'Login', children: ['A', 'B.1', 'B.2'] },
      { id: 'E2', children: ['C'] },
    ]);
  });

  test('also where the epic names it as a number, an object or alone, and where an epic waits for it', () => {
    for (const [id, children, expected] of [
      ['2', [1, 2], [1, '2.1', '2.2']],
      ['B', [{ id: 'B', size: 2 }], ['B.1', 'B.2'].map(one => ({ id: one, size: 2 }))],
      ['B', 'B', ['B.1', 'B.2']],
    ] as const) {
      const epics = [{ id: 'E1', children }];
      const before = JSON.stringify({ epics, userStories: [story('1'), story(id)] });
      const after = JSON.parse(applySplit(before, id, parts));
      assert.deepEqual(after.epics, [{ id: 'E1', children: expected }]);
    }
    const epics = [{ id: 'E2', blockedBy: ['B'] }];
    const userStories = [story('B'), story('C', { parentEpic: 'E2' })];
    const after = JSON.parse(applySplit(JSON.stringify({ epics, userStories }), 'B', parts));
    assert.deepEqual(after.epics, [{ id: 'E2', blockedBy: ['B.1', 'B.2'] }]);
    assert.equal(after.userStories[2].dependsOn, undefined);
  });

  test('what names an epic still names it', () => {
    const epics = [
      { id: '1', title: 'Base', children: ['1', '2'] },
      { id: '2', title: 'Shop', dependencies: ['1'], children: ['3', '4'] },
    ];
    const userStories = [story('1'), story('2'), story('3'), story('4', { dependsOn: ['Base'] })];
    const split = (id: string) =>
      JSON.parse(applySplit(JSON.stringify({ epics, userStories }), id, parts));
    const first = split('1');
    assert.deepEqual(first.epics[1], epics[1]);
    assert.deepEqual(first.userStories.slice(-2), userStories.slice(-2));
    // Nor does a part get what its epic waits for.
    assert.equal(split('3').userStories[2].dependsOn, undefined);
  });

  test('a story that waits by the title waits for the parts', () => {
    const before = fileOf(story('A'), story('B', { blockedBy: ['title of a'], dependsOn: [] }));
    const after = JSON.parse(applySplit(before, 'A', parts));
    assert.deepEqual(after.userStories[2].blockedBy, ['A.1', 'A.2']);
  });

  test('lists stay on the lines on which they are, and what is not changed is not written again', () => {
    const more = '"n":12345678901234567890, "m":{"a":1e400,"a":0.10000000000000000001,"\\u0061":2}';
    const before = `{${more},
  "userStories" : [
  {"id":"A","title":"x","passes":false,"dependsOn":["B","C"],${more}},
  {"id": "B", "title": "y", "passes": false,
   "acceptanceCriteria": [
      "old"
   ], "blockedBy": [{"id":"C",${more}}], ${more}},
  {"id":"C","title":"z","passes":false, ${more} },
  {"id":"D","title":"z","passes":false,"depends_on":[ {"why":"x","id":"B",${more}} ]},
  {"id":"E","title":"z","passes":false,"dependsOn":["A"],"blocked_by":"B"},
  {"id": "F", "title": "z", "passes": false, "dependsOn": [
     "A",
     "B"
  ]}
]}
`;
    const partOf = (id: string, title: string, criteria: string, blockedBy: string, end = '') =>
      `{"id": "${id}", "title": "${title}", "passes": false,
   "acceptanceCriteria": [
      ${criteria}
   ], "blockedBy": [{"id":"C",${more}}${blockedBy}], ${more}${end}}`;
    const expected = before
      .replace('["B","C"]', '["B.1","B.2","C"]')
      .replace(
        partOf('B', 'y', '"old"', ''),
        [
          partOf('B.1', 'Store', '"It is stored"', ''),
          partOf(
            ...(['B.2', 'List', '"Listed",\n      "Tests pass"'] as const),
            ...([', "B.1"', ', "description":"Shows them"'] as const),
          ),
        ].join(',\n  '),
      )
      .replace(
        `{"why":"x","id":"B",${more}}`,
        ['B.1', 'B.2'].map(id => `{"why":"x","id":"${id}",${more}}`).join(','),
      )
      .replace('"blocked_by":"B"', '"blocked_by":["B.1","B.2"]')
      .replace('"B"\n  ]', '"B.1",\n     "B.2"\n  ]');
    assert.equal(applySplit(before, 'B', parts), expected);
  });

  test('a file on one line stays on one line, with its spaces or without', () => {
    const before = '[{"id":"A","title":"x","passes":false}]';
    const [first, second] = [
      '{"id":"A.1","title":"Store","passes":false,"acceptanceCriteria":["It is stored"]}',
      '{"id":"A.2","title":"List","passes":false,"description":"Shows them","acceptanceCriteria":["Listed","Tests pass"],"dependsOn":["A.1"]}',
    ];
    assert.equal(applySplit(before, 'A', parts), `[${first},${second}]`);
    const spaced = (text: string) => text.replaceAll(/([,:])/g, '$1 ');
    assert.equal(applySplit(spaced(before), 'A', parts), spaced(`[${first},${second}]`));
  });

  test('a part waits under the key of its story, else under the one that the file uses most', () => {
    const waiting = [story('B', { blockedBy: ['A'] }), story('C', { blockedBy: ['A'] })];
    const keyOf = (more: object, others: readonly object[]) => {
      const after = applySplit(fileOf(story('A', more), ...others), 'A', parts);
      const { id, ...part } = JSON.parse(after).userStories[1];
      assert.equal(id, 'A.2');
      return Object.entries(part).filter(([, value]) => JSON.stringify(value).includes('A.1'));
    };
    assert.deepEqual(keyOf({}, [story('D', { dependsOn: ['A'] }), ...waiting]), [
      ['blockedBy', ['A.1']],
    ]);
    assert.deepEqual(keyOf({ depends_on: 'D' }, [story('D'), ...waiting]), [
      ['depends_on', ['D', 'A.1']],
    ]);
    assert.deepEqual(keyOf({ depends_on: [] }, waiting), [['depends_on', ['A.1']]]);
    assert.deepEqual(keyOf({ blockedBy: null }, waiting), [['blockedBy', ['A.1']]]);
    assert.deepEqual(keyOf({}, [story('D')]), [['dependsOn', ['A.1']]]);
  });

  test('what is not read as a dependency stays', () => {
    const split = applySplit(fileOf(story('A', { dependsOn: { note: 'x' } })), 'A', parts);
    const [first, second] = JSON.parse(split).userStories;
    assert.deepEqual(first.dependsOn, { note: 'x' });
    assert.deepEqual([second.dependsOn, second.depends_on], [{ note: 'x' }, ['A.1']]);
  });

  test('where a story was discovered stays as it is, and is no problem', () => {
    const before = fileOf(story('A'), story('B', { discoveredFrom: 'A' }));
    const after = applySplit(before, 'A', parts);
    assert.equal(JSON.parse(after).userStories[2].discoveredFrom, 'A');
    assert.deepEqual(parseStoryFile('prd.json', after).problems, []);
  });

  test('thousands of stories may wait for the story', () => {
    const waiting = Array.from({ length: 2000 }, (_, index) => `S${index}`);
    const before = fileOf(story('A'), ...waiting.map(id => story(id, { dependsOn: ['A'] })));
    const after = applySplit(before, 'A', parts);
    const { userStories } = JSON.parse(after);
    assert.deepEqual(
      userStories.slice(2),
      waiting.map(id => story(id, { dependsOn: ['A.1', 'A.2'] })),
    );
    assert.equal(`${JSON.stringify(JSON.parse(after), null, 4)}\n`, after);
  });

  test('a byte order mark is kept', () => {
    const before = fileOf(story('A'));
    assert.equal(
      applySplit(`\uFEFF${before}`, 'A', parts),
      `\uFEFF${applySplit(before, 'A', parts)}`,
    );
  });

  test('existing ids are not reused', () => {
    const after = applySplit(fileOf(story('A'), story('A.1')), 'A', parts);
    const ids = JSON.parse(after).userStories.map(({ id }: { id: string }) => id);
    assert.deepEqual(ids, ['A..1', 'A..2', 'A.1']);
  });

  test('a done or unknown story is refused; a dialect keeps its keys', () => {
    const file = fileOf(story('A', { passes: true }), story('B'), story('C'), story('C'));
    assert.throws(() => applySplit(file, 'A', parts), /done/);
    assert.throws(() => applySplit(file, 'X', parts), /no story X/);
    assert.throws(() => applySplit(file, 'C', parts), /2 stories with the id C/);
    const { acceptanceCriteria: _, ...bare } = story('D');
    const own = applySplit(fileOf({ ...bare, criteria: ['own'] }), 'D', parts);
    assert.deepEqual(JSON.parse(own).userStories[0].criteria, ['It is stored']);
    const working = fileOf({ ...bare, criteria: ['own'], status: 'completed', passes: undefined });
    assert.throws(() => applySplit(working, 'D', parts), /done/);
  });
});

describe('checkSplit', () => {
  test('a split needs two to five parts, each with criteria, depending only on earlier ones', () => {
    assert.deepEqual(checkSplit({ parts }).problems, undefined);
    assert.ok(checkSplit({ parts: parts.slice(1) }).problems);
    assert.ok(checkSplit({ parts: Array(6).fill(parts[0]) }).problems);
    assert.ok(checkSplit({ parts: [...parts, { title: 'x', acceptanceCriteria: [] }] }).problems);
    assert.match(
      checkSplit({ parts: [{ ...parts[0], after: [2] }, parts[1]] })
        .problems?.map(englishOf)
        .join() ?? '',
      /earlier parts/,
    );
    assert.ok(checkSplit('no').problems);
  });
});
