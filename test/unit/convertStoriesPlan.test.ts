import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { TARGETS, type Target } from '../../src/orchestrator/stories/convert/conversion.ts';
import { convertStories } from '../../src/orchestrator/stories/convert/convertStories.ts';
import { PARKED_WORDS } from '../../src/orchestrator/stories/formats/prdKeys.ts';
import type { StoryList } from '../../src/orchestrator/stories/story.ts';
import { parseStoryText } from '../../src/orchestrator/stories/storyFile.ts';
import { lossLines } from '../../src/presentation/conversionLosses.ts';
import { english } from '../../src/presentation/translate.ts';
import { sameValue } from '../support/sameValue.ts';

const NAMES = { prd: 'prd.json', yaml: 'p.yaml', plan: 'PLAN.md', tasks: 'tasks.jsonl' } as const;
const NOW = '2026-01-02T03:04:05.000Z';

function listOf(path: string, text: string): StoryList {
  const { file } = parseStoryText(path, text);
  assert.ok(file.kind === 'stories', JSON.stringify(file.problems));
  return file;
}

function convert(path: string, text: string, target: Target) {
  return convertStories(
    { ...parseStoryText(path, text), file: listOf(path, text) },
    target,
    new Date(NOW),
  );
}

const prd = (stories: unknown, rest: object = {}) =>
  JSON.stringify({ ...rest, userStories: stories });

/** What is read from the new text. */
const read = (path: string, text: string, target: Target) =>
  listOf(NAMES[target], convert(path, text, target).text).stories;

describe('the id of an item', () => {
  const ITEMS = [
    ...['T001 [P] Create', 'T002: Cart', '**T003** Bold', '`T004` code', 'T005 - dash'],
    ...['(T006) round', '1.2 Number', '7. 16 presets', 'T008 and T009 together', 'T010'],
    ...['[T011](notes.md) link', 'S3 upload'],
  ];
  const PLAN = `${ITEMS.map(item => `- [ ] ${item}`).join('\n')}\n`;
  const WANTED = [
    ...[
      ['T001', '[P] Create'],
      ['T002', 'Cart'],
      ['T003', 'Bold'],
      ['T004', 'code'],
    ],
    ...[
      ['T005', 'dash'],
      ['T006', 'round'],
      ['1.2', 'Number'],
      ['7', '16 presets'],
    ],
    ...[
      ['T008', 'T008 and T009 together'],
      ['T010', 'T010'],
    ],
    ...[['T011', '[T011](notes.md) link']],
  ];

  test('does not stand in the title where the format has a key for it', () => {
    for (const target of ['prd', 'yaml', 'tasks'] as const) {
      const { losses } = convert('PLAN.md', PLAN, target);
      assert.deepEqual(losses, []);
      const found = read('PLAN.md', PLAN, target).map(({ id, title }) => [id, title]);
      sameValue(found.slice(0, -1), WANTED);
      assert.equal(found.at(-1)?.[1], 'S3 upload');
    }
  });

  test('is in an item once, also after the way through another format', () => {
    for (const target of ['prd', 'yaml', 'tasks'] as const) {
      const there = convert('PLAN.md', PLAN, target).text;
      const { losses, text } = convert(NAMES[target], there, 'plan');
      assert.ok(!losses.some(loss => loss.kind === 'story' && loss.fact === 'id'));
      const [first = '', , bold = ''] = text.split('\n');
      assert.deepEqual([first, bold], ['- [ ] T001: [P] Create', '- [ ] T003: Bold']);
      sameValue(
        read('PLAN.md', text, target).map(({ id, title }) => [id, title]),
        listOf(NAMES[target], there).stories.map(({ id, title }) => [id, title]),
      );
    }
  });

  test('stays what it was, with its title, for any title', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('T1', 'US-001', 'S3', '7', '1.2', 'FR-AUTH-01'),
        fc.constantFrom('', 'T1', 'US-001', 'S3', '7', '1.2'),
        fc.constantFrom(' ', ': ', ' - ', '. ', ' and '),
        fc.constantFrom('Cart', '16 presets', '2. part', '(skipped) x', 'DROPPED: y'),
        (id, start, between, end) => {
          const title = start === '' ? end : `${start}${between}${end}`;
          const { losses, text } = convert('prd.json', prd([{ id, title, passes: false }]), 'plan');
          assert.deepEqual(losses, []);
          const [story] = listOf('PLAN.md', text).stories;
          assert.deepEqual([story?.id, story?.parked], [id, undefined]);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('new ids', () => {
  const ids = (own: readonly (string | undefined)[], target: Target, dependsOn: string[] = []) =>
    read(
      'prd.json',
      prd(own.map((id, index) => ({ id, title: `Story ${index}`, passes: false, dependsOn }))),
      target,
    ).map(({ id }) => id);

  test('continue those of the file, as they are written', () => {
    for (const target of ['prd', 'yaml', 'tasks'] as const) {
      assert.deepEqual(ids(['US-1', undefined, 'US-12', undefined], target), [
        ...['US-1', 'US-13', 'US-12', 'US-14'],
      ]);
      assert.deepEqual(ids(['S-007', undefined], target), ['S-007', 'S-008']);
      assert.deepEqual(ids(['1', undefined], target), ['1', '2']);
    }
  });

  test('are none that a story waits for, and not in a form that only some ids have', () => {
    assert.deepEqual(ids(['US-1', undefined], 'prd', ['US-4']), ['US-1', 'US-5']);
    assert.deepEqual(ids(['US-1', 'bug', undefined], 'prd'), ['US-1', 'bug', 'US-002']);
    assert.deepEqual(ids(['a1', 'b1', undefined], 'tasks'), ['a1', 'b1', 'T-1']);
    // A time, which is not counted up.
    assert.deepEqual(ids(['1737000000000', undefined], 'tasks'), ['1737000000000', 'T-1']);
    assert.deepEqual(ids([undefined, undefined], 'prd'), ['US-001', 'US-002']);
  });
});

describe('epics of a prd.json', () => {
  const stories = [
    { id: 'US-1', title: 'A', parentEpic: 'E1', passes: true },
    { id: 'US-2', title: 'B', epic: 'E2', passes: false },
    { id: 'US-3', title: 'C', passes: false },
  ];
  const shop = { id: 'E1', title: 'Shop', status: 'done' };
  const till = { id: 'E2', name: 'Till', dependsOn: ['E1'], children: ['US-3'], passes: false };
  const lostWith = (epics: unknown, more: object = {}, target: Target = 'yaml') =>
    convert(
      'prd.json',
      prd(
        stories.map(story => ({ ...story, ...more })),
        { epics },
      ),
      target,
    ).losses.filter(({ kind }) => kind === 'fileKeys' || kind === 'story');

  // What waits for an epic is written with the ids of its stories.
  const ids = { kind: 'fileKeys', names: ['epics.id'] };

  test('lose nothing but their ids where they are the groups of the stories', () => {
    for (const target of ['prd', 'yaml', 'tasks'] as const) {
      assert.deepEqual(lostWith([shop, till], {}, target), [ids]);
      const text = prd(stories, { epics: [shop, till] });
      sameValue(
        read('prd.json', text, target).map(({ dependsOn, epic }) => [epic, dependsOn]),
        [
          ['Shop', []],
          ['Till', ['US-1']],
          ['Till', ['US-1']],
        ],
      );
    }
    assert.deepEqual(lostWith([shop, till], {}, 'plan'), [
      { kind: 'story', fact: 'dependsOn', storyIds: ['US-2', 'US-3'] },
      ids,
    ]);
  });

  test('are named with what is lost of them', () => {
    const lost = (...epics: unknown[]) =>
      lostWith(epics)
        .flatMap(loss => (loss.kind === 'fileKeys' ? loss.names : []))
        .filter(name => name !== 'epics.id');
    assert.deepEqual(lost({ ...shop, description: 'Why' }, { ...till, owner: 'me' }), [
      ...['epics.description', 'epics.owner'],
    ]);
    // It says something else than its stories.
    assert.deepEqual(lost({ ...shop, status: 'todo' }, { ...till, status: 'blocked' }), [
      'epics.status',
    ]);
    assert.deepEqual(lost(shop, { ...till, children: ['US-3', 'US-9'] }), ['epics.children']);
    // No story is in it, or two become one.
    assert.deepEqual(lost(shop, till, { id: 'E3', title: 'Later' }), ['epics']);
    assert.deepEqual(lost(shop, { ...till, name: 'Shop' }), ['epics']);
    assert.deepEqual(lostWith([shop, till], { epicId: 'E9', epic: 'Other' }).at(0), {
      ...{ kind: 'story', fact: 'keys', storyIds: ['US-1', 'US-2', 'US-3'] },
      names: ['epicId', 'epic'],
    });
  });

  test('may be named without a list of them', () => {
    const text = prd([{ id: 'A', title: 'A', parentEpic: 'Shop', passes: false }]);
    assert.deepEqual(convert('prd.json', text, 'tasks').losses, []);
  });
});

test('a task graph keeps when its tasks were made and changed, and other formats lose it', () => {
  const dates = { created: '2025-03-04', updated: '2025-05-06' };
  const text = prd([
    { id: 'US-1', title: 'A', passes: true, ...dates },
    { id: 'US-2', title: 'B', passes: false, created: 7 },
  ]);
  const { losses, text: graph } = convert('prd.json', text, 'tasks');
  assert.deepEqual(losses, [
    { kind: 'story', fact: 'keys', storyIds: ['US-2'], names: ['created'] },
  ]);
  const made = graph
    .split('\n')
    .slice(0, 2)
    .map(line => JSON.parse(line));
  assert.deepEqual(
    made.map(({ created, updated }) => ({ created, updated })),
    [dates, { created: NOW, updated: NOW }],
  );
  assert.deepEqual(convert('tasks.jsonl', graph, 'tasks').losses, []);
  for (const target of ['prd', 'yaml', 'plan'] as const) {
    assert.deepEqual(convert('tasks.jsonl', graph, target).losses, [
      {
        ...{ kind: 'story', fact: 'keys', storyIds: ['US-1', 'US-2'] },
        names: ['created', 'updated'],
      },
    ]);
  }
});

test('keys are those of their own story, also behind an entry that is none', () => {
  const text = prd(['text', { id: 'A', title: 'A', notes: 'n' }, { id: 'B', title: 'B' }]);
  assert.deepEqual(convert('prd.json', text, 'tasks').losses[0], {
    ...{ kind: 'story', fact: 'keys', storyIds: ['A'], names: ['notes'] },
  });
});

describe('what is put aside', () => {
  test('is put aside in a plan, with its id, by any word', () => {
    const ids = ['US-001', 'T1', '1.2', 'bd-a1f', undefined];
    for (const status of PARKED_WORDS) {
      const text = prd(ids.map(id => ({ id, title: 'Show it', status })));
      const { losses, text: plan } = convert('prd.json', text, 'plan');
      const { stories } = listOf('PLAN.md', plan);
      assert.ok(
        stories.every(({ parked }) => parked),
        plan,
      );
      assert.deepEqual(
        stories.slice(0, 3).map(({ id }) => id),
        ids.slice(0, 3),
      );
      assert.ok(!losses.some(loss => loss.kind === 'story' && loss.fact !== 'id'), plan);
      const back = read('PLAN.md', plan, 'prd').slice(0, 3);
      sameValue(
        back.map(({ title, parked }) => [title, parked]),
        back.map(() => ['Show it', true]),
      );
    }
  });

  test('is marked, and stories next to it are not', () => {
    const text = prd([
      { id: 'US-1', title: 'One', status: 'skipped' },
      { id: 'US-2', title: 'Two', status: 'todo' },
      { id: 'US-3', title: 'Three', status: 'discovered' },
      { id: 'US-4', title: 'Skipped: it', status: 'wontfix' },
      { id: 'setup', title: 'Five', status: 'cancelled' },
      { id: 'US-6', title: 'Skipped: yes', passes: true },
    ]);
    assert.equal(
      convert('prd.json', text, 'plan').text,
      `- [~] US-1: (skipped) One
- [ ] US-2: Two
- [~] US-3: (deferred) Three
- [~] US-4: Skipped: it
- [~] (cancelled) setup: Five
- [x] US-6: Skipped: yes
`,
    );
  });

  test('in a plan by the item around it, or by a mark of its own, stays so', () => {
    const plan = '- [~] T062 DROPPED - It\n  - [ ] T063 Below\n- [-] Skipped: it\n- [ ] Open\n';
    const { losses, text } = convert('PLAN.md', plan, 'plan');
    assert.deepEqual(losses, [{ kind: 'story', fact: 'nesting', storyIds: ['T063'] }]);
    assert.equal(
      text,
      '- [~] T062: DROPPED - It\n- [~] T063: (dropped) Below\n- [~] Skipped: it\n- [ ] Open\n',
    );
    assert.equal(convert('PLAN.md', text, 'plan').text, text);
    // A task graph also puts those aside that are blocked.
    const graph = '{"id":"T-1","title":"One","status":"blocked","blockedBy":[]}\n';
    assert.equal(convert('tasks.jsonl', graph, 'plan').text, '- [~] T-1: (deferred) One\n');
  });
});

describe('that items are parts of other items', () => {
  const nested = (plan: string, target: Target, path = 'PLAN.md') =>
    convert(path, plan, target).losses.flatMap(loss =>
      loss.kind === 'story' && loss.fact === 'nesting' ? loss.storyIds : [],
    );

  test('is lost in each format, and named', () => {
    const plan =
      '# Shop\n\n- [ ] Login\n  - [ ] Form\n  - [ ] Tests\n- [ ] Cart\n  - [ ] Form\n  - [ ] Tests\n';
    for (const target of TARGETS) {
      assert.deepEqual(
        lossLines(convert('PLAN.md', plan, target).losses, english),
        ['that they are parts of other items: #2, #3, #5, #6'],
        target,
      );
      // What was written is flat, and loses nothing more.
      const flat = convert('PLAN.md', plan, 'plan').text;
      assert.deepEqual(nested(flat, target), []);
    }
    const kiro = '- [ ] 1. Set up\n  - [ ] 1.1 Write\n    - [x] a\n- [ ] 2. Ship\n';
    assert.deepEqual(nested(kiro, 'yaml', '.kiro/specs/a/tasks.md'), ['1.1', '#3']);
    const index = '- [ ] `specs/a.md`\n\t- [ ] `specs/b.md`\n';
    assert.deepEqual(nested(index, 'tasks', 'specs/README.md'), ['b']);
  });

  test('is not said of what is as far out as the first items, or below a heading further out', () => {
    for (const [plan, ids] of [
      ['  - [ ] A\n  - [ ] B\n', []],
      ['# Shop\n\n  - [ ] A\n  - [ ] B\n    - [ ] C\n- [ ] D\n', ['#3']],
      ['- [ ] A\n  Text\n\n  - note\n- [ ] B\n', []],
      ['- [ ] A\n\n## Next\n\n  - [ ] B\n  - [ ] C\n    - [ ] D\n', ['#4']],
      // Such a heading stands in the item.
      ['- [ ] A\n\n  ### Parts\n\n  - [ ] B\n    - [ ] C\n- [ ] D\n', ['#2', '#3']],
      ['- [ ] A\n  ### Parts\n      - [ ] B\n## Next\n  ### Own\n      - [ ] C\n', ['#2']],
      ['- [ ] A\n```\n  - [ ] no item\n```\n  - [ ] B\n', ['#2']],
    ] as const) {
      assert.deepEqual(nested(plan, 'prd'), ids, plan);
    }
  });

  test('is found quickly in a plan with thousands of items', () => {
    const plan = '- [ ] A\n  - [ ] B\n'.repeat(5000);
    const start = performance.now();
    assert.equal(nested(plan, 'tasks').length, 5000);
    assert.ok(performance.now() - start < 10_000);
  });
});

test('an id is left out of an item only if its title begins with it as a word', () => {
  const stories = [
    ['A', 'First'],
    ['D', 'Dee: x'],
    ['E', 'Eee'],
    ['T', 'Total'],
    ['auth', 'auth-token'],
    ['shop', 'shop: Open it'],
    ['mail', 'mail'],
  ].map(([id, title]) => ({ id, title, passes: false }));
  assert.equal(
    convert('prd.json', prd(stories), 'plan').text,
    `- [ ] A: First
- [ ] D: Dee: x
- [ ] E: Eee
- [ ] T: Total
- [ ] auth: auth-token
- [ ] shop: Open it
- [ ] mail
`,
  );
});

test('what another format puts aside by a word of its own has a key for that in a prd.json', () => {
  for (const [path, text] of [
    ['i.jsonl', '{"id":"a","title":"t","status":"hooked"}\n'],
    ['tasks.jsonl', '{"id":"a","title":"t","status":"blocked","blockedBy":[]}\n'],
    ['.ralph/agent/tasks.jsonl', '{"id":"a","title":"t","status":"failed","blocked_by":[]}\n'],
  ] as const) {
    const { losses, text: written } = convert(path, text, 'prd');
    assert.ok(!losses.some(loss => loss.kind === 'story' && loss.fact === 'parked'), path);
    assert.match(written, /"parked": true/, path);
    assert.equal(listOf('prd.json', written).stories[0]?.parked, true, path);
  }
  // Where its own word says it, there is no key.
  const skipped = prd([{ id: 'A', title: 'One', status: 'skipped' }]);
  assert.doesNotMatch(convert('prd.json', skipped, 'prd').text, /parked/);
});

test('fences and line breaks in texts of other formats hide no story in a plan', () => {
  const texts = ['> ```js', '- - ```', '1. ~~~', '+ ```', '> > - ```', '  ```'];
  for (const text of texts) {
    const stories = [
      { id: 'A', title: 'One', description: `Reported as:\n${text}\nfoo()`, passes: false },
      { id: 'B\r- [ ] C', title: 'Two', acceptanceCriteria: [text], passes: false },
    ];
    const made = convert('prd.json', prd(stories, { description: text }), 'plan');
    assert.equal(listOf('PLAN.md', made.text).stories.length, 2, text);
  }
});

test('a description with what looks like an item is text in a plan, and no problem', () => {
  const lines = [
    ...['- [ ] not a story', '* [x] nor this', '1. [ ] nor this', '> - [ ] nor this', '### [ ] no'],
    ...[
      '- [] nor this',
      '-[ ] nor this',
      '- - [ ] nor this',
      '- \\[ \\] nor this',
      '- \u2610 nor this',
    ],
    ...['[ ] nor this', '- [ ]', 'the text of nothing'],
  ];
  const description = lines.join('\n');
  const text = prd([{ id: 'A', title: 'a', description, acceptanceCriteria: ['[ ] c'] }], {
    description,
  });
  const plan = convert('prd.json', text, 'plan').text;
  const { problems, stories } = listOf('PLAN.md', plan);
  assert.deepEqual(problems, []);
  assert.equal(stories.length, 1);
  assert.match(plan, /^ {2}\\- \[ \] not a story$/m);
  assert.match(plan, /^ {2}1\\\. \[ \] nor this$/m);
  // As tools write an item that lost its meaning.
  assert.equal(listOf('PLAN.md', '- [ ] a\n- \\[ \\] b\n').problems.length, 1);
});

test('a title with very many spaces is written quickly', () => {
  const title = `a${' '.repeat(1_000_000)}b`;
  const stories = [{ id: 'A', title, acceptanceCriteria: [title], passes: false }];
  assert.equal(read('prd.json', prd(stories), 'plan').length, 1);
});

test('what is put aside by a key of its own is lost only where it is', () => {
  const text = prd([
    { id: 'A', title: 'One', passes: false, parked: true },
    { id: 'B', title: 'Two', passes: false, parked: false },
  ]);
  for (const target of ['plan', 'yaml', 'tasks'] as const) {
    const { losses } = convert('prd.json', text, target);
    assert.ok(!losses.some(loss => loss.kind === 'story' && loss.fact === 'keys'), target);
    assert.deepEqual(
      read('prd.json', text, target).map(({ parked }) => parked === true),
      [true, false],
    );
  }
});

describe('a description', () => {
  const thereAndBack = (description: string) => {
    const source = prd([{ id: 'A', title: 'a', description, passes: false }]);
    const { text } = convert('prd.json', source, 'plan');
    assert.equal(listOf('PLAN.md', text).stories.length, 1, text);
    return read('PLAN.md', text, 'prd')[0]?.description;
  };

  test('with lines that would be something else in a plan is the same after the way through one', () => {
    for (const line of [
      ...['- [ ] no story', '# h', '```', '> - [ ] a', '<!-- c', '---', 'b- [ ] c', 'T1 [ ] d'],
      ...[
        '(1) [ ] e',
        '- [TODO] f',
        '\\# h',
        '\\\\- [ ] g',
        '- \\[ \\] h',
        'C:\\x',
        '\\d+',
        '1. ```',
      ],
    ]) {
      assert.equal(thereAndBack(`l1\n${line}\nl3`), `l1\n${line}\nl3`);
    }
  });

  test('with any such signs is the same', () => {
    const part = fc.constantFrom(
      ...[
        '\\',
        '- ',
        '[ ]',
        '[x] ',
        '# ',
        '```',
        '> ',
        'a',
        'T1 ',
        '1. ',
        '*',
        '_',
        ' ',
        '\u2610 ',
      ],
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), parts => {
        const description = `l1\n${parts.join('').trim()}\nl3`;
        assert.equal(thereAndBack(description), description);
      }),
      { numRuns: 500 },
    );
  });

  test('of a plan that a person has written keeps its other backslashes', () => {
    const plan = '- [ ] A\n  Match \\d+ in C:\\[x]\n  \\* no bullet\n';
    assert.equal(
      read('PLAN.md', plan, 'prd')[0]?.description,
      'Match \\d+ in C:\\[x]\n\\* no bullet',
    );
  });

  test('with a long line of backslashes is written quickly', () => {
    const line = '\\'.repeat(100_000);
    assert.equal(thereAndBack(`l1\n${line}- [ ] x`), `l1\n${line}- [ ] x`);
  });
});
