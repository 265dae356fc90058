import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { applyEdits } from 'jsonc-parser';
import { englishOf } from '../../src/base/say.ts';
import {
  diagnoseStories,
  diagnoseTaskFile,
  fixAll,
} from '../../src/orchestrator/stories/diagnosis/diagnose.ts';
import type {
  StoryDiagnosis,
  StoryFix,
} from '../../src/orchestrator/stories/diagnosis/storyDiagnosis.ts';
import { packFolder } from '../../src/orchestrator/stories/formats/folderText.ts';
import { TextLines } from '../../src/orchestrator/stories/formats/textLines.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';

const fixtures = path.resolve(import.meta.dirname, '../fixtures/stories');

const diagnose = (text: string, file = 'prd.json') => diagnoseStories(file, text).diagnoses;
const codes = (text: string, file?: string) => diagnose(text, file).map(({ code }) => code);
const prd = (...userStories: unknown[]) => JSON.stringify({ userStories }, null, 2);
const story = (change: object = {}) => ({
  id: 'US-001',
  title: 'Create a todo',
  acceptanceCriteria: ['It works'],
  priority: 1,
  passes: false,
  ...change,
});

/** The one problem of a text, what its range holds, and the text after each of its fixes. */
function only(text: string, file = 'prd.json') {
  const [found, ...others] = diagnose(text, file);
  assert.ok(found, 'a problem is expected');
  assert.deepEqual(others, []);
  const fixes = found.fixes();
  return {
    found,
    at: text.slice(found.start, found.end),
    fixes,
    texts: fixes.map(fix => applied(text, fix)),
  };
}

function applied(text: string, { edits }: StoryFix): string {
  return applyEdits(text, [...edits]);
}

/** The stories of a text without anything else. */
const storiesOf = (text: string | undefined) => JSON.parse(text ?? '').userStories;

test('a valid file has no problems', () => {
  assert.deepEqual(codes(prd(story(), story({ id: 'US-002', dependsOn: ['US-001'] }))), []);
});

describe('ids and dependencies', () => {
  test('a repeated id gets the next free one; references stay', () => {
    const text = prd(story(), story(), story({ id: 'US-007', dependsOn: ['US-001'] }));
    const { found, at, fixes, texts } = only(text);
    assert.deepEqual([found.code, found.severity, at], ['duplicateId', 'warning', '"US-001"']);
    assert.deepEqual(
      fixes.map(({ kind, values, isClear }) => [kind, values, isClear]),
      [['giveId', ['US-008'], true]],
    );
    assert.deepEqual(storiesOf(texts[0]), [
      story(),
      story({ id: 'US-008' }),
      story({ id: 'US-007', dependsOn: ['US-001'] }),
    ]);
  });

  test('numeric ids stay numbers', () => {
    const { texts } = only(prd(story({ id: 1 }), story({ id: 1 })));
    assert.equal(storiesOf(texts[0])[1].id, 2);
  });

  test('several repeated ids each get one of their own, together or one by one', () => {
    const text = prd(story(), story(), story());
    assert.deepEqual(
      diagnose(text).flatMap(({ fixes }) => fixes().map(({ values }) => values[0])),
      ['US-002', 'US-003'],
    );
    assert.deepEqual(
      storiesOf(fixAll('prd.json', text)).map(({ id }: { id: string }) => id),
      ['US-001', 'US-002', 'US-003'],
    );
  });

  test('a misspelled dependency is corrected, an unrecognizable one is removed', () => {
    const typo = only(prd(story(), story({ id: 'US-002', dependsOn: ['us-1'] })));
    assert.deepEqual(
      typo.fixes.map(({ kind, values, isClear }) => [kind, values, isClear]),
      [
        ['replaceDependency', ['us-1', 'US-001'], true],
        ['removeDependency', ['us-1'], false],
      ],
    );
    assert.equal(typo.at, '"us-1"');
    assert.deepEqual(storiesOf(typo.texts[0])[1].dependsOn, ['US-001']);

    const gone = only(prd(story(), story({ id: 'US-002', dependsOn: ['US-001', 'US-099'] })));
    assert.deepEqual(
      gone.fixes.map(({ kind, isClear }) => [kind, isClear]),
      [['removeDependency', true]],
    );
    assert.deepEqual(storiesOf(gone.texts[0])[1].dependsOn, ['US-001']);
  });

  test('a dependency that is not a list is removed with its key', () => {
    const { texts } = only(prd(story({ dependsOn: 'gone' })));
    assert.deepEqual(storiesOf(texts[0]), [story()]);
  });

  test('in a cycle, the first story stops waiting for the later one', () => {
    const text = prd(
      story({ dependsOn: ['US-003'] }),
      story({ id: 'US-002', dependsOn: ['US-001'] }),
      story({ id: 'US-003', dependsOn: ['US-002'] }),
    );
    const { found, at, texts } = only(text);
    assert.equal(found.code, 'circularDependency');
    assert.match(englishOf(found.message), /US-001 → US-003 → US-002 → US-001/);
    assert.equal(at, '"US-003"');
    assert.deepEqual(storiesOf(texts[0])[0].dependsOn, []);
    assert.deepEqual(codes(texts[0] ?? ''), []);
  });

  test('a dependency of a story on itself is removed', () => {
    const { texts } = only(prd(story({ dependsOn: ['US-001'] })));
    assert.deepEqual(codes(texts[0] ?? ''), []);
  });
});

describe('missing fields', () => {
  test('id, title, criteria and the done key are required in a list of userStories', () => {
    const text = prd(story(), { description: 'Only this' });
    assert.deepEqual(codes(text).sort(), ['missingAcceptanceCriteria', 'missingDone', 'missingId']);
    assert.deepEqual(codes(prd({ id: 'US-001', passes: false, acceptanceCriteria: ['x'] })), [
      'missingTitle',
    ]);
  });

  test('each is added in the formatting of the file', () => {
    const text = prd(story(), { description: 'Only this' });
    const fixed = diagnose(text).map(({ code, fixes }) => [
      code,
      fixes().map(fix => applied(text, fix))[0],
    ]);
    const by = Object.fromEntries(fixed);
    assert.equal(
      by['missingId'],
      text.replace('      "description"', '      "id": "US-002",\n      "description"'),
    );
    assert.equal(
      by['missingDone'],
      text.replace('"Only this"', '"Only this",\n      "passes": false'),
    );
  });

  test('lists that consistently omit a field are left alone', () => {
    const text = JSON.stringify([
      { category: 'ui', description: 'Drag', steps: ['a'], passes: true },
      { category: 'ui', description: 'Drop', steps: ['a'], passes: false },
    ]);
    assert.deepEqual(codes(text), []);
  });

  test('an empty story, a text in place of a story, and an empty list are reported', () => {
    const empty = only(prd(story(), {}));
    assert.equal(empty.found.code, 'emptyStory');
    assert.deepEqual(storiesOf(empty.texts[0]), [story()]);
    const words = only(prd(story(), 'List todos'));
    assert.deepEqual([words.found.code, words.at], ['notAStory', '"List todos"']);
    assert.deepEqual(storiesOf(words.texts[0])[1], {
      id: 'US-002',
      title: 'List todos',
      passes: false,
    });
    const none = only(prd());
    assert.deepEqual([none.found.code, none.at], ['noStoriesYet', '[]']);
    const first = parseStoryFile('prd.json', none.texts[0] ?? '');
    assert.ok(first.kind === 'stories');
    assert.equal(first.stories[0]?.id, 'US-001');
  });
});

describe('common mistakes of agents', () => {
  test('status is replaced in a file that uses passes', () => {
    const { passes, ...rest } = story({ id: 'US-002' });
    const text = prd(story(), story({ id: 'US-003' }), { ...rest, status: 'done' });
    const { found, at, fixes, texts } = only(text);
    assert.deepEqual([found.code, at], ['statusForPasses', '"status": "done"']);
    assert.deepEqual(fixes[0]?.values, ['status', 'passes']);
    assert.equal(texts[0], text.replace('"status": "done"', '"passes": true'));
    assert.equal(passes, false);
  });

  test('status is accepted in a file that uses status', () => {
    const { passes: _, ...rest } = story();
    assert.deepEqual(
      codes(prd({ ...rest, status: 'done' }, { ...rest, id: 'b', status: 'todo' })),
      [],
    );
  });

  for (const [key, value, meant] of [
    ['isDone', true, true],
    ['done', 'yes', true],
    ['Passes', false, false],
    ['is_completed', 'false', false],
    ['pases', true, true],
    ['complted', false, false],
  ] as const) {
    test(`“${key}” is replaced by passes`, () => {
      const { passes: _, ...rest } = story({ id: 'US-002' });
      const { found, texts } = only(prd(story(), { ...rest, [key]: value }));
      assert.equal(found.code, 'unknownKey');
      assert.deepEqual(storiesOf(texts[0])[1], { ...rest, passes: meant });
    });
  }

  test('a misspelled status is a problem where no story has another key', () => {
    const { passes: _, ...rest } = story();
    const { at, found } = only(prd({ ...rest, staus: 'done' }));
    assert.equal(found.code, 'misspelledStatus');
    assert.match(at, /"staus"/);
  });

  test('a misspelled priority or title gets the right key, and is told once', () => {
    const { priority, title, ...rest } = story();
    for (const [key, entry] of [
      ['prioritiy', { ...rest, title, prioritiy: priority }],
      ['Titel', { ...rest, priority, Titel: title }],
    ] as const) {
      const { at, found, texts } = only(prd(entry));
      assert.equal(found.code, 'unknownKey');
      assert.match(englishOf(found.message), /^The key "\w+" is ignored: rename it to "\w+"\.$/);
      assert.ok(at.startsWith(`"${key}"`));
      assert.deepEqual(storiesOf(texts[0]), [story()]);
    }
  });

  test('only true puts a story aside', () => {
    const { found, texts } = only(prd(story({ parked: 'true' })));
    assert.equal(
      englishOf(found.message),
      '"parked" must be true or false; the value here is ignored.',
    );
    assert.deepEqual(storiesOf(texts[0]), [story({ parked: true })]);
    assert.deepEqual(only(prd(story({ parked: 'after the launch' }))).fixes, []);
    for (const parked of [true, false, null, '']) {
      assert.deepEqual(codes(prd(story({ parked }))), []);
    }
  });

  test('other keys for dependencies and criteria are replaced', () => {
    const depends = only(prd(story(), story({ id: 'US-002', depends: ['US-001'] })));
    assert.deepEqual(depends.fixes[0]?.values, ['depends', 'dependsOn']);
    const { acceptanceCriteria, ...rest } = story();
    for (const key of ['AcceptanceCriterias', 'acceptanceCritera']) {
      const criteria = only(prd({ ...rest, [key]: acceptanceCriteria }));
      assert.deepEqual(storiesOf(criteria.texts[0]), [story()]);
    }
  });

  for (const [value, meant] of [
    ['true', true],
    ['False', false],
    [1, true],
  ] as const) {
    test(`passes: ${JSON.stringify(value)} is corrected`, () => {
      const { found, texts } = only(prd(story({ passes: value })));
      assert.equal(found.code, 'doneNotBoolean');
      if (typeof value === 'string') {
        // The Stories view, which reads the file without diagnosing it, gives the same advice.
        const file = parseStoryFile('prd.json', prd(story({ passes: value })));
        assert.deepEqual(
          file.problems.map(({ message }) => message),
          [found.message],
        );
      }
      assert.deepEqual(storiesOf(texts[0]), [story({ passes: meant })]);
    });
  }

  for (const value of ['done', 'passing', 'Failing', 'pending']) {
    test(`passes: "${value}" is as good as true or false`, () => {
      assert.deepEqual(codes(prd(story({ passes: value }))), []);
    });
  }

  test('an ambiguous word has no fix', () => {
    assert.deepEqual(only(prd(story({ passes: 'skipped' }))).fixes, []);
  });

  test('an unknown priority word has no fix, one with a number is corrected', () => {
    assert.deepEqual(codes(prd(story({ priority: 'high' }))), []);
    assert.deepEqual(only(prd(story({ priority: 'urgent' }))).fixes, []);
    assert.equal(storiesOf(only(prd(story({ priority: '#4' }))).texts[0])[0].priority, 4);
  });

  test('a priority that is too large for a number is named as it is written', () => {
    const text = prd(story({ priority: 7 })).replace('"priority": 7', '"priority": 1e400');
    const { at, found } = only(text);
    assert.equal(at, '"priority": 1e400');
    assert.match(
      englishOf(found.message),
      /^1e400 is too large for a priority, .*: write a smaller/,
    );
    const digits = only(prd(story({ priority: '9'.repeat(400) }))).found;
    assert.deepEqual([digits.code, digits.fixes()], ['priorityNotNumber', []]);
  });

  test('values of the wrong type are reported', () => {
    assert.deepEqual(codes(prd(story({ title: { en: 'x' }, description: 'y' }))), ['wrongType']);
    assert.deepEqual(codes(prd(story({ dependsOn: true }))), ['wrongType']);
  });
});

describe('broken JSON', () => {
  test('a file that was cut off has its problem on the same line as for its reader', () => {
    for (const text of ['{"userStories": [\n', '{"userStories": [\r\n  {\r\n\r\n']) {
      const file = parseStoryFile('prd.json', Buffer.from(text));
      const [diagnosis] = diagnoseStories('prd.json', text).diagnoses;
      assert.equal(new TextLines(text).at(diagnosis?.start ?? 0).line, file.problems[0]?.line);
    }
  });

  for (const [name, broken, fix] of [
    [
      'a trailing comma',
      (text: string) => text.replace('"passes": false\n', '"passes": false,\n'),
      'removeComma',
    ],
    [
      'a missing comma',
      (text: string) => text.replace('"Create a todo",', '"Create a todo"'),
      'insertComma',
    ],
    [
      'a comment',
      (text: string) => text.replace('      "title"', '      // the title\n      "title"'),
      'removeComment',
    ],
  ] as const) {
    test(name, () => {
      const sound = prd(story(), story({ id: 'US-002' }));
      const { found, fixes, texts } = only(broken(sound));
      assert.deepEqual([found.code, found.severity], ['invalidJson', 'error']);
      assert.deepEqual(
        fixes.map(({ kind }) => kind),
        [fix],
      );
      assert.equal(texts[0], sound);
    });
  }

  test('a truncated file has no quick fix', () => {
    assert.deepEqual(only('{"userStories": [{"id": "a"').fixes, []);
  });
});

describe('other formats', () => {
  /** What is underlined, and each fix with its text. */
  const told = (text: string, file: string) =>
    diagnose(text, file).map(({ code, end, fixes, start }) => ({
      code,
      at: text.slice(start, end),
      fixes: fixes().map(fix => [fix.kind, ...fix.values].join(' ')),
      texts: fixes().map(fix => applied(text, fix)),
    }));

  test('the reader’s problems are reported with their line', () => {
    const text = '# Plan\n\n- [ ] T001 one\n\n```\n- [ ] T002 two\n';
    const { found, at } = only(text, 'PLAN.md');
    assert.deepEqual([found.code, found.severity, at], ['unclosedBlock', 'warning', '```']);
    assert.deepEqual(
      codes('phases:\n  - tasks:\n    - {id: a, name: x, depends_on: [b]}\n', 'o.yaml'),
      ['unknownDependency'],
    );
    assert.deepEqual(codes('phases: [', 'o.yaml'), ['invalidYaml']);
  });

  const orchestration = (...tasks: string[]) =>
    `phases:\n  - name: One\n    tasks:\n${tasks.join('')}`;
  const task = (id: string, rest = '') => `      - id: ${id}\n        name: Do ${id}\n${rest}`;

  test('in YAML, the second of two ids is underlined and gets a free one', () => {
    const text = orchestration(task('T1.1'), task('"T1.1"  # copied'), task('T1.7'));
    const [found, ...others] = told(text, 'o.yaml');
    assert.deepEqual(others, []);
    assert.deepEqual([found?.code, found?.at], ['duplicateId', '"T1.1"']);
    assert.deepEqual(found?.fixes, ['giveId T1.8']);
    assert.deepEqual(found?.texts, [text.replace('"T1.1"  #', '"T1.8"  #')]);
  });

  for (const [name, before, replaced, removed] of [
    [
      'one of several in brackets',
      '        depends_on: [T1.1, t1.2, T1.3] # both\n',
      '        depends_on: [T1.1, T1.2, T1.3] # both\n',
      '        depends_on: [T1.1, T1.3] # both\n',
    ],
    [
      'the only one in brackets',
      "        blocked_by: [ 't1.2' ]\r\n",
      "        blocked_by: [ 'T1.2' ]\r\n",
      '        blocked_by: []\r\n',
    ],
    [
      'a line of several',
      '        depends_on:\n          # first\n          - T1.1\n          - t1.2 # why\n',
      '        depends_on:\n          # first\n          - T1.1\n          - T1.2 # why\n',
      '        depends_on:\n          # first\n          - T1.1\n          # why\n',
    ],
    [
      'the only line',
      '        depends_on:\n        - t1.2\n',
      '        depends_on:\n        - T1.2\n',
      '        depends_on: []\n',
    ],
    [
      'no list',
      '        depends_on: t1.2\n',
      '        depends_on: T1.2\n',
      '        depends_on: []\n',
    ],
  ] as const) {
    test(`in YAML, an unknown id is corrected or taken out: ${name}`, () => {
      const text = (needs: string) =>
        orchestration(...['T1.1', 'T1.2', 'T1.3'].map(id => task(id)), task('T1.4', needs));
      const [found, ...others] = told(text(before), 'o.yaml');
      assert.deepEqual(others, []);
      assert.match(found?.at ?? '', /^'?t1\.2'?$/);
      assert.deepEqual(found?.fixes, ['replaceDependency t1.2 T1.2', 'removeDependency t1.2']);
      assert.deepEqual(found?.texts, [text(replaced), text(removed)]);
    });
  }

  test('a misspelled title is corrected where stories wait for others by their titles', () => {
    const text = (needs: string, ...titles: readonly string[]) =>
      `tasks:\n${['Show prices', ...titles].map(title => `  - title: ${title}\n`).join('')}  - title: Show the total\n    depends_on: ${needs}\n`;
    const [found, ...others] = told(text('[show price]'), '.ralphy/tasks.yaml');
    assert.deepEqual(others, []);
    assert.deepEqual(found?.fixes, [
      'replaceDependency show price Show prices',
      'removeDependency show price',
    ]);
    assert.deepEqual(found?.texts, [text('[Show prices]'), text('[]')]);
    assert.equal(fixAll('tasks.yaml', text('[show price]')), text('[Show prices]'));

    // Nobody knows which one is meant, a title that two stories have means neither, and none waits for itself.
    for (const [needs, ...titles] of [
      ['Show pricex', 'Show pricey'],
      ['Show price', 'Show prices'],
      ['Show the totals'],
      ['Show prices, Show price'],
    ] as const) {
      const [first] = told(text(`[${needs}]`, ...titles), 'tasks.yaml');
      const wrong = needs.split(', ').at(-1);
      assert.deepEqual(first?.fixes, [`removeDependency ${wrong}`]);
    }
    assert.equal(fixAll('tasks.yaml', text('[Gone]')), text('[]'));
    const long = `Show ${'the prices of all things '.repeat(3)}`;
    assert.equal(fixAll('tasks.yaml', text(`[${long}1]`, `${long}2`)), text('[]', `${long}2`));

    // In a task graph, ids alone count.
    const line = (id: string, ...blockedBy: string[]) =>
      JSON.stringify({ id, title: `Task ${id}`, status: 'ready', blockedBy });
    const graph = (...needs: string[]) => `${line('T-1')}\n${line('T-2', ...needs)}`;
    assert.equal(fixAll('.ralph/tasks.jsonl', graph('task-T1')), graph());
  });

  test('a dependency that is named twice is corrected or taken out at both places', () => {
    for (const [before, replaced, removed] of [
      ['[t2, t2]', '[T-2, T-2]', '[]'],
      ['[T-1, t2, t2]', '[T-1, T-2, T-2]', '[T-1]'],
      ['[t2, T-1, t2] # why', '[T-2, T-1, T-2] # why', '[T-1] # why'],
      ['\n          - t2 # a\n          - t2', '\n          - T-2 # a\n          - T-2', ' [] # a'],
      [
        '\n          - T-1\n          - t2 # a\n          # b\n          - t2 # c',
        '\n          - T-1\n          - T-2 # a\n          # b\n          - T-2 # c',
        '\n          - T-1\n          # a\n          # b\n          # c',
      ],
      [
        '[T-1, t2, # a\n          t2, # b\n          ]',
        '[T-1, T-2, # a\n          T-2, # b\n          ]',
        '[T-1, # a\n           # b\n          ]',
      ],
    ] as const) {
      const text = (needs: string) =>
        orchestration(
          ...[task('T-1'), task('T-2')],
          task('T-3', `        depends_on: ${needs}\n`.replace(/: +\n/, ':\n')),
        ).replace(/: {2}/, ': ');
      const found = told(text(before), 'o.yaml');
      assert.deepEqual(
        found.map(({ at }) => at),
        ['t2', 't2'],
      );
      for (const { fixes, texts } of found) {
        assert.deepEqual(fixes, ['replaceDependency t2 T-2', 'removeDependency t2']);
        assert.deepEqual(texts, [text(replaced), text(removed)]);
      }
      assert.equal(fixAll('o.yaml', text(before)), text(replaced));
    }
    const line = (...blockedBy: string[]) =>
      JSON.stringify({ id: 'T-1', title: 'a', status: 'ready', blockedBy });
    assert.deepEqual(
      told(line('gone', 'T1', 'gone'), '.ralph/tasks.jsonl').flatMap(({ texts }) => texts),
      [line('T1'), line('gone', 'gone'), line('T1')],
    );
    const lines = (...needs: string[]) => `${line(...needs)}\n${line().replace('T-1', 'T-2')}`;
    const twoKeys = prd(story({ dependsOn: ['gone'], blockedBy: ['gone', 'gone'] }));
    const [fixed] = storiesOf(fixAll('prd.json', twoKeys));
    assert.deepEqual([fixed.dependsOn, fixed.blockedBy], [[], []]);
    assert.equal(fixAll('.ralph/tasks.jsonl', lines('gone', 'gone')), lines());
  });

  test('an id that is named often has its fixes made once', () => {
    const text = (id: string, times: number) =>
      orchestration(
        task('T-1'),
        task('T-2', `        depends_on: [${Array(times).fill(id).join(', ')}]\n`),
      );
    const fixesOf = (times: number) => {
      const found = diagnose(text('t1', times), 'o.yaml');
      assert.equal(found.length, times);
      const [first = [], ...others] = found.map(({ fixes }) => fixes());
      // The same object: each fix that is tried reads the whole text.
      assert.ok(others.every(fixes => fixes === first));
      return first.map(({ kind }) => kind);
    };
    assert.deepEqual(fixesOf(300), ['replaceDependency', 'removeDependency']);
    assert.equal(fixAll('o.yaml', text('t1', 300)), text('T-1', 300));
    assert.equal(fixAll('o.yaml', text('gone', 300)), text('', 0));
  });

  test('a cycle is ended where a task names the next one twice', () => {
    const text = (needs: string) =>
      orchestration(
        task('T1', `        depends_on: ${needs}\n`),
        task('T2', '        depends_on: [T1]\n'),
        task('T3'),
      );
    const [found] = told(text('[T2, T3, Do T2]'), 'o.yaml');
    assert.deepEqual([found?.at, found?.fixes], ['T2', ['removeDependency T2']]);
    assert.deepEqual(found?.texts, [text('[T3]')]);
  });

  test('in YAML, comments stay when the last dependency goes', () => {
    for (const [before, after] of [
      [
        'depends_on:\n          # first\n          - gone # why\n',
        'depends_on: []\n          # first # why\n',
      ],
      ['depends_on: # both\r\n        - gone\r\n', 'depends_on: [] # both\r\n'],
      ['depends_on:\n          # why\n          gone\n', 'depends_on: []\n          # why\n'],
      ['depends_on: [ # why\n          gone ]\n', 'depends_on: [ # why\n           ]\n'],
      ['depends_on: [gone, # why\n          ]\n', 'depends_on: [ # why\n          ]\n'],
    ] as const) {
      const text = (needs: string) => orchestration(task('T1', `        ${needs}`), task('T2'));
      assert.deepEqual(told(text(before), 'o.yaml')[0]?.texts, [text(after)]);
    }
  });

  test('in YAML, a dependency has no fix if a comma would be left over behind a comment', () => {
    const needs = '[gone, gone, gone # why\n          , gone]';
    const [found] = told(orchestration(task('T1', `        depends_on: ${needs}\n`)), 'o.yaml');
    assert.deepEqual([found?.code, found?.fixes], ['unknownDependency', []]);
  });

  test('several ids in one dependency are neither replaced by one of them nor dropped unasked', () => {
    for (const needs of ['q, a', 'a, b', 'qa']) {
      const text = orchestration(
        task('a'),
        task('b'),
        task('c', `        depends_on: ['${needs}']\n`),
      );
      const [found] = told(text, 'o.yaml');
      assert.deepEqual(found?.fixes, [`removeDependency ${needs}`]);
      assert.equal(fixAll('o.yaml', text) === text, needs.includes(','));
    }
  });

  test('in YAML, a cycle is ended at its first task, whatever name it uses', () => {
    const text = orchestration(
      task('T1', '        depends_on: [Do T2]\n'),
      task('T2', '        depends_on: [T1]\n'),
    );
    const [found] = told(text, 'o.yaml');
    assert.deepEqual([found?.code, found?.at], ['circularDependency', 'Do T2']);
    assert.deepEqual(found?.texts, [text.replace('[Do T2]', '[]')]);
    const own = told('tasks:\n  - title: A\n    depends_on:\n    - A\n', '.ralphy/tasks.yaml');
    assert.deepEqual(
      own.map(({ at, texts }) => [at, texts]),
      [['A', ['tasks:\n  - title: A\n    depends_on: []\n']]],
    );
  });

  test('what a task waits for with its phase, or shares with others, has no fix', () => {
    const ofPhase = 'phases:\n  - name: One\n    depends_on: [gone]\n    tasks:\n      - name: a\n';
    assert.deepEqual(
      told(ofPhase, 'o.yaml').map(({ code, fixes }) => [code, fixes]),
      [['unknownDependency', []]],
    );
    const shared =
      'tasks:\n  - {id: a, depends_on: &all [gone]}\n  - {id: b, depends_on: *all}\n  - &c {id: c}\n  - *c\n';
    assert.deepEqual(
      told(shared, 'o.yaml').map(({ code, fixes }) => [code, fixes]),
      [
        ['unknownDependency', []],
        ['unknownDependency', []],
        ['duplicateId', []],
      ],
    );
  });

  test('what stands in the place of the hashes is kept under another key', () => {
    const note = '        commits: |\n          the usual\n          ones\n';
    for (const [before, after] of [
      [note, note.replace('commits:', 'commits: []\n        commits_note:')],
      [
        '        commits: [see the log]\n',
        '        commits: []\n        commits_note: [see the log]\n',
      ],
    ] as const) {
      const [found] = told(orchestration(task('T1', before), task('T2')), 'o.yaml');
      assert.deepEqual(found?.fixes, ['setAside commits commits_note']);
      assert.deepEqual(found?.texts, [orchestration(task('T1', after), task('T2'))]);
    }
    const [inBraces] = told('tasks:\n  - {commits: none yet, name: a}\n', 'o.yaml');
    assert.deepEqual(inBraces?.texts, [
      'tasks:\n  - {commits: [], commits_note: none yet, name: a}\n',
    ]);
  });

  test('a choice that is not accepted is taken out, with its line', () => {
    for (const [before, after] of [
      ['- id: a\n    model: -p # no\n    name: x\n', '- id: a\n    name: x\n'],
      ['- model: -p\n    id: a\n    name: x\n', '- id: a\n    name: x\n'],
      ['- id: a\n    name: x\n    model:\n      - b\n', '- id: a\n    name: x\n'],
      ['- id: a\n    name: x\n    model: -p', '- id: a\n    name: x'],
      ['- {id: a, name: x, model: -p}\n', '- {id: a, name: x}\n'],
    ] as const) {
      const [found] = told(`tasks:\n  ${before}`, 'o.yaml');
      assert.match(found?.at ?? '', /^model:/);
      assert.deepEqual(found?.texts, [`tasks:\n  ${after}`]);
    }
    // A comment about the next key would be lost.
    const [kept] = told('tasks:\n  - model: -p\n    # which one\n    id: a\n', 'o.yaml');
    assert.deepEqual(kept?.fixes, []);
  });

  test('the message about a word that is not known names the word that the fix writes', () => {
    const task = { id: 't-1', title: 'a', status: 'nearly' };
    for (const [file, text, word] of [
      ['.beads/issues.jsonl', JSON.stringify(task), 'open'],
      ['.ralph/agent/tasks.jsonl', JSON.stringify(task), 'open'],
      ['.ralph/tasks.jsonl', JSON.stringify({ ...task, blockedBy: [] }), 'ready'],
      ['.taskmaster/tasks/tasks.json', JSON.stringify({ tasks: [{ ...task, id: 1 }] }), 'pending'],
      ['prd.json', prd(story({ passes: undefined, status: 'nearly' })), 'pending'],
      ['o.yaml', 'tasks:\n  - {id: a, name: a, status: nearly}\n', 'pending'],
      ['sprint-status.yaml', 'development_status:\n  1-1-a: nearly\n', 'backlog'],
    ] as const) {
      const { found, fixes } = only(text, file);
      assert.match(englishOf(found.message), new RegExp(`and "${word}" if it is not\\.$`), file);
      assert.match(fixes[0]?.values[1] ?? '', new RegExp(`^"?${word}"?$`), file);
    }
  });

  test('a word that is not known becomes the word of the other open stories', () => {
    const yaml = orchestration(
      task('T1', '        status: "erledigt"\n'),
      task('T2', '        status: todo\n'),
    );
    const [found] = told(yaml, 'o.yaml');
    assert.deepEqual([found?.at, found?.fixes], ['status: "erledigt"', ['setValue status "todo"']]);
    assert.deepEqual(found?.texts, [yaml.replace('erledigt', 'todo')]);
    const lines = '{"id": "T-1", "title": "a", "status": "erledigt"}\n';
    assert.deepEqual(told(lines, '.ralph/tasks.jsonl')[0]?.texts, [
      lines.replace('erledigt', 'ready'),
    ]);
    const items = '- [?] one\n- [x] two\n';
    const [mark] = told(items, 'PLAN.md');
    assert.deepEqual([mark?.at, mark?.fixes], ['[?]', ['setValue [?] [ ]']]);
    assert.deepEqual(mark?.texts, [items.replace('[?]', '[ ]')]);
  });

  for (const [almost, item] of [
    ['- [] T003 three', '- [ ] T003 three'],
    ['* [x]three', '* [x] three'],
    ['  2.[ X ]* three', '  2. [X]* three'],
    ['### [ ] three', '- [ ] three'],
    ['> - [ ] three', '- [ ] three'],
    ['[ ] three', '- [ ] three'],
    ['* - [ ] three', '- [ ] three'],
    ['- 2. [x] three', '2. [x] three'],
    ['a. [ ] three', '- [ ] three'],
    [' b- [x] three', ' - [x] three'],
    ['- ☑ three', '- [x] three'],
    ['– [ ] three', '- [ ] three'],
    ['- \\[ \\] three', '- [ ] three'],
    ['- **[x]** three', '- [x] three'],
    ['- **[ ] three** 3', '- [ ] **three** 3'],
    ['- [ ]\u00A0three', '- [ ] three'],
    ['\u00A0- [x] three', '- [x] three'],
    ['\u3000- [ ] three', '- [ ] three'],
    ['\u200B- [ ] three', '- [ ] three'],
    ['  \u2003* [\u3000] three', '  * [ ] three'],
    ['-\u200B [ ]\u3000three', '- [ ] three'],
    ['1234567890. [ ] three', '- [ ] three'],
    ['- [xx] three', '- [x] three'],
    ['- [✅ ]three', '- [✅] three'],
    ['- [ ]: three', '- [ ] three'],
    ['- _[ ]_ three', '- [ ] three'],
    ['- *[ ] three* 3', '- [ ] *three* 3'],
    ['● [x] three', '- [x] three'],
    ['· [ ] three', '- [ ] three'],
    ['- ⬜ three', '- [ ] three'],
    ['* □ three', '* [ ] three'],
    ['1. 🔲 three', '1. [ ] three'],
    ['⬜ three', '- [ ] three'],
    ['- ⬜️ three', '- [ ] three'],
    ['- [TODO] three', '- [ ] three'],
    ['* [done] three', '* [x] three'],
    ['- [IN PROGRESS] three', '- [ ] three'],
    ['- [complete] three', '- [x] three'],
    ['- [in Arbeit] three', '- [ ] three'],
    ['- [erledigt] three', '- [x] three'],
    ['- [未着手] three', '- [ ] three'],
    ['- [完了] three', '- [x] three'],
    ['- ( ) three', '- [ ] three'],
    ['1: [ ] three', '- [ ] three'],
    ['(1) [ ] three', '- [ ] three'],
    ['* T003 [ ] three', '* [ ] T003 three'],
    ['- **T003:** [ ] three', '- [ ] **T003:** three'],
    ['  1.2 [ ] three', '  - [ ] 1.2 three'],
    ['－ [ ] three', '- [ ] three'],
    ['- ［ ］ three', '- [ ] three'],
    ['- ［x］\u3000three', '- [x] three'],
    ['-\r\n  [x] three', '- [x] three'],
    ['- [ ]\r\n  three', '- [ ] three'],
    ['- [ ]\r\nthree', '- [ ] three'],
    ['- [ ]\r\n\r\n  three', '- [ ] three'],
  ] as const) {
    test(`“${almost.replace('\r\n', '↵')}” becomes an item`, () => {
      const text = (line: string) => `# Plan\r\n\r\n- [ ] T001 one\r\n- [x] two\r\n${line}`;
      const [found, ...others] = told(text(almost), 'PLAN.md');
      assert.deepEqual(others, []);
      assert.deepEqual(
        [found?.at, found?.texts],
        [almost.replace(/^ +/, '').split('\r')[0], [text(item)]],
      );
    });
  }

  test('an item behind a comment gets a line of its own', () => {
    for (const eol of ['\n', '\r\n']) {
      const text = `- [ ] one${eol}<!-- a${eol}  b --> <!-- [x] --> 2. [ ] two${eol}- [x] three`;
      const [found, ...others] = told(text, 'PLAN.md');
      assert.deepEqual(others, []);
      assert.deepEqual([found?.at, found?.fixes], ['2. [ ] two', ['makeItem 2. [ ] …']]);
      assert.deepEqual(found?.texts, [text.replace(' 2.', `${eol}2.`)]);
    }
  });

  for (const [text, fixed] of [
    ['- [ ] one<br>- [x] two<br/>- [ ] six', '- [ ] one\n- [x] two<br/>- [ ] six'],
    ['- [ ] one\r\n  * [ ] 2.1 a; * [ ] 2.2 b', '- [ ] one\r\n  * [ ] 2.1 a\r\n  * [ ] 2.2 b'],
    [
      '- [x] Add, [ ] Move\n- [ ] Add\n- [ ] Add all',
      '- [x] Add\n- [ ] Move\n- [ ] Add\n- [ ] Add all',
    ],
    ['- [ ] one\n- **Login** [ ] form', '- [ ] one\n- **Login**\n- [ ] form'],
    ['- [ ] **one - [ ] two**', undefined],
    // What is below it would become part of the second one.
    ['- [x] one, [ ] two\n  - [ ] three', undefined],
    ['- [ ] one\n- Do it [ ]\n\n## Notes\n', undefined],
    ['- [ ] one\n- Do it [ ]\n```sh\nls\n```\n', undefined],
  ] as const) {
    test(`the second box of “${text.replaceAll(/\r?\n/g, '↵')}” gets a line of its own`, () => {
      const [found] = told(text, 'PLAN.md');
      assert.deepEqual(
        [found?.code, found?.texts],
        ['notAStory', [fixed].flatMap(one => one ?? [])],
      );
    });
  }

  test('a line of a numbered list with items becomes an item', () => {
    const text = '1. [ ] one\n2. two \u2705\n3. [P] three with ✓ in it\n\n## All \u2705\n';
    assert.deepEqual(
      told(text, 'PLAN.md').map(({ fixes, texts }) => [fixes, texts]),
      [
        [['makeItem 2. [x] …'], [text.replace('2.', '2. [x]')]],
        [['makeItem 3. [ ] …'], [text.replace('3.', '3. [ ]')]],
      ],
    );
  });

  test('a bullet between items, and one with the next id, become items', () => {
    for (const text of ['- [ ] one\n- two\n- [ ] three\n', '- [ ] T1 one\n- T2 two\n']) {
      const [line = ''] = text.split('\n').slice(1);
      const fixed = text.replace(line, line.replace('- ', '- [ ] '));
      assert.deepEqual(told(text, 'PLAN.md')[0]?.texts, [fixed]);
    }
  });

  test('an item whose title begins as that of another one becomes an item', () => {
    const [found] = told('- [] x\n- [ ] Add\n- [ ] Add cart\n', 'PLAN.md');
    assert.deepEqual(found?.texts, ['- [ ] x\n- [ ] Add\n- [ ] Add cart\n']);
  });

  test('a long line that is almost a checkbox becomes an item', () => {
    const space = ' '.repeat(200_000);
    const [found] = told(`- [ ] one\n- [${space}]two\n`, 'PLAN.md');
    assert.deepEqual(found?.texts, ['- [ ] one\n- [ ] two\n']);
    for (const line of [`-${space}T2 [ ] two`, `${'\u3000'.repeat(200_000)}(2) [ ] two`]) {
      assert.equal(told(`- [ ] one\n${line}\n`, 'PLAN.md')[0]?.code, 'notAStory');
    }
  });

  test('a state of a heading, and an item in HTML, do not become items as they are', () => {
    for (const text of [
      '- [ ] one\n\n### Task 3: Build\n- **Status:** [ ] Not started\n',
      '- [ ] one\n\n<li> [ ] Build</li>\n',
    ]) {
      const [found] = told(text, 'PLAN.md');
      assert.deepEqual([found?.code, found?.fixes], ['notAStory', []]);
    }
  });

  test('words in brackets that are no states stay', () => {
    const text = '1. [ ] one\n2. [Backend] two\n3. [ ] three\n';
    const [found] = told(text, 'PLAN.md');
    assert.deepEqual(found?.texts, [text.replace('2.', '2. [ ]')]);
  });

  test('a heading does not become the text of an item', () => {
    const [found] = told('- [x] 1. one\n\n## Phase 2\n### [ ] 1. two\n', 'PLAN.md');
    assert.ok(found?.texts.every(text => !/\[ \] #/.test(text)));
  });

  test('an item with a label keeps it, and one that says it is done stays so', () => {
    for (const [line, item] of [
      ['Task 3: [ ] Build', '- [ ] Task 3: Build'],
      ['1. [WIP] Build', '1. [ ] Build'],
      ['→ [ ] Build', '- [ ] Build'],
      ['- T2 two (done)', '- [x] T2 two (done)'],
      ['- T2 two (completed tasks only)', '- [ ] T2 two (completed tasks only)'],
      ['- T2 Rename the state to DONE', '- [ ] T2 Rename the state to DONE'],
      ['- T2 two ✅', '- [x] T2 two ✅'],
      ['- T2 two [done]', '- [x] T2 two [done]'],
      ['- **T2** Replace ✅ with x', '- [ ] **T2** Replace ✅ with x'],
    ] as const) {
      const [found] = told(`- [ ] T1 one\n${line}\n`, 'PLAN.md');
      assert.deepEqual(found?.texts, [`- [ ] T1 one\n${item}\n`], line);
    }
  });

  test('in the task graph, ids and dependencies are corrected in their lines', () => {
    const line = (id: string, ...blockedBy: string[]) =>
      JSON.stringify({ id, title: `Do ${id}`, status: 'ready', blockedBy });
    const text = [line('T-1', 'T-2'), line('T-1'), line('T-2', 'T-1', 'gone')].join('\n');
    const found = told(text, '.ralph/tasks.jsonl');
    assert.deepEqual(
      found.map(({ code, at, fixes }) => [code, at, fixes]),
      [
        ['circularDependency', '"T-2"', ['removeDependency T-2']],
        ['duplicateId', '"T-1"', ['giveId T-3']],
        ['unknownDependency', '"gone"', ['removeDependency gone']],
      ],
    );
    assert.deepEqual(
      fixAll('.ralph/tasks.jsonl', text),
      [line('T-1'), line('T-1').replace('T-1', 'T-3'), line('T-2', 'T-1')].join('\n'),
    );
  });

  test('in Task Master, a subtask names its siblings by their own numbers', () => {
    const part = (id: number, ...dependencies: number[]) => ({ id, title: 'Part', dependencies });
    const tasks = (...subtasks: object[]) =>
      JSON.stringify({ master: { tasks: [{ id: 1, title: 'Whole', subtasks }] } });
    const file = '.taskmaster/tasks/tasks.json';
    const [id] = told(tasks(part(1), part(1)), file);
    assert.deepEqual([id?.at, id?.fixes], ['1', ['giveId 1.2']]);
    assert.deepEqual(id?.texts, [tasks(part(1), part(2))]);
    const circle = tasks(part(1, 2), part(2, 1));
    assert.deepEqual(told(circle, file)[0]?.texts, [tasks(part(1), part(2, 1))]);
    // Nothing is changed there that a person has not chosen.
    assert.equal(fixAll(file, circle), circle);
  });

  test('a file with nothing but choices is not read again for each of its problems', () => {
    const issue = (id: string, gone: string) =>
      JSON.stringify({ id, title: id, status: 'open', blocked_by: [gone] });
    const text = [issue('t-1', 'gone'), issue('t-2', 'lost')].join('\n');
    const { diagnoses, hasClearFix } = diagnoseStories('.ralph/agent/tasks.jsonl', text);
    assert.equal(diagnoses.length, 2);
    for (const found of diagnoses) {
      Object.assign(found, { fixes: () => assert.fail('It was tried.') });
    }
    assert.equal(hasClearFix(), false);
    assert.equal(diagnoseStories('prd.json', prd(story(), story())).hasClearFix(), true);
  });

  test('fixes that would make a cycle together are not applied together', () => {
    const waits = (id: string, ...dependsOn: string[]) => story({ id, dependsOn });
    const text = prd(waits('US-001', 'US-002x'), waits('US-002', 'US-001x'), waits('US-003'));
    // Not even a cycle that the next round would break by dropping a dependency.
    assert.equal(fixAll('prd.json', text), text.replace('US-002x', 'US-002'));
  });

  test('a subtask inherits what its task waits for, which is corrected there', () => {
    const tasks = (dependencies: number[]) =>
      JSON.stringify({
        tasks: [{ id: 1, title: 'a', dependencies, subtasks: [{ id: 1, title: 'b' }] }],
      });
    const found = told(tasks([9]), '.taskmaster/tasks/tasks.json');
    assert.deepEqual(
      found.map(({ fixes, texts }) => [fixes, texts]),
      [
        [['removeDependency 9'], [tasks([])]],
        [[], []],
      ],
    );
  });

  test('in Beads, a blocker can be taken out; a repeated id is for its tool', () => {
    const issue = (id: string, ...blockers: string[]) =>
      JSON.stringify({
        ...{ id, title: id, status: 'open' },
        dependencies: blockers.map(to => ({ issue_id: id, depends_on_id: to, type: 'blocks' })),
      });
    const text = `${issue('bd-1', 'bd-9')}\n${issue('bd-1')}\n`;
    assert.deepEqual(
      told(text, '.beads/issues.jsonl').map(({ code, at, texts }) => [code, at, texts]),
      [
        ['unknownDependency', '"bd-9"', [text.replace(issue('bd-1', 'bd-9'), issue('bd-1'))]],
        ['duplicateId', '"bd-1"', []],
      ],
    );
  });

  test('in ralph-orchestrator, an unknown blocker can be taken out', () => {
    const line = (...blocked_by: string[]) =>
      JSON.stringify({ id: 'task-1770266933-6351', title: 'a', status: 'open', blocked_by });
    assert.deepEqual(told(line('task-1'), '.ralph/agent/tasks.jsonl')[0]?.texts, [line()]);
  });

  test('in BMAD, an unknown word becomes the word of the other open stories', () => {
    const sprint = (...words: string[]) =>
      `development_status:\n  epic-1: backlog\n${words.map((word, i) => `  1-${i + 1}-a: ${word}\n`).join('')}`;
    const text = sprint('done', '"nearly" # why', 'ready-for-dev', 'review');
    const [found, ...others] = told(text, 'sprint-status.yaml');
    assert.deepEqual(others, []);
    assert.deepEqual([found?.code, found?.at], ['unknownStatus', '1-2-a: "nearly"']);
    assert.deepEqual(found?.fixes, ['setValue "nearly" ready-for-dev']);
    assert.deepEqual(found?.texts, [text.replace('nearly', 'ready-for-dev')]);
    const [alone] = diagnose(sprint('nearly'), 'sprint-status.yaml');
    assert.match(englishOf(alone?.message ?? ''), /and "backlog" if it is not\.$/);
    assert.deepEqual(told(sprint('nearly'), 'sprint-status.yaml')[0]?.texts, [sprint('backlog')]);
    // What is no word, or what other lines share, is left to the person.
    for (const words of [['[nearly]'], ['&a nearly', '*a']]) {
      assert.deepEqual(
        told(sprint(...words), 'sprint-status.yaml').flatMap(({ fixes }) => fixes),
        [],
      );
    }
  });
});

describe('a folder of Backlog.md', () => {
  const task = (id: string, ...lines: string[]) =>
    `---\nid: ${id}\ntitle: Do ${id}\nassignee: @anna\n${lines.map(line => `${line}\n`).join('')}---\nWhat to do.\n`;
  const folder = (tasks: Readonly<Record<string, string>>, statuses = '["To Do", "Done"]') =>
    packFolder({
      files: new Map([
        ['config.yml', Buffer.from(`statuses: ${statuses}\n`)],
        ...Object.entries(tasks).map(
          ([name, text]) => [`tasks/${name}.md`, Buffer.from(text)] as const,
        ),
      ]),
      completed: ['task-7 - Old.md'],
      unread: [],
    }).toString('utf8');
  /** What is underlined in a file, and each fix with the text of that file. */
  const told = (tasks: Readonly<Record<string, string>>, name: string, statuses?: string) => {
    const text = tasks[name] ?? '';
    const found = diagnoseTaskFile('backlog', folder(tasks, statuses), `tasks/${name}.md`, text);
    assert.equal(found?.hasClearFix(), false);
    return found?.diagnoses.map(({ code, end, file, fixes, start }) => {
      assert.equal(file, `tasks/${name}.md`);
      return {
        code,
        at: text.slice(start, end),
        fixes: fixes().map(fix => [fix.kind, ...fix.values].join(' ')),
        texts: fixes().map(fix => applied(text, fix)),
      };
    });
  };

  for (const [name, before, replaced, removed] of [
    [
      'one of several in brackets',
      'dependencies: [task-1, task_2] # both\n',
      'dependencies: [task-1, task-2] # both\n',
      'dependencies: [task-1] # both\n',
    ],
    [
      'the only line',
      "dependencies:\n  - 'task_2'\n",
      "dependencies:\n  - 'task-2'\n",
      'dependencies: []\n',
    ],
    [
      'a line of several',
      'dependencies:\n  - task-1\n  - task_2\nlabels: []\n',
      'dependencies:\n  - task-1\n  - task-2\nlabels: []\n',
      'dependencies:\n  - task-1\nlabels: []\n',
    ],
    ['no list', 'dependencies: task_2\n', 'dependencies: task-2\n', 'dependencies: []\n'],
  ] as const) {
    for (const eol of ['\n', '\r\n']) {
      test(`an unknown task is corrected or taken out: ${name}, ${JSON.stringify(eol)}`, () => {
        const file = (needs: string) =>
          task('task-3', 'status: To Do', needs.trimEnd()).replaceAll('\n', eol);
        const tasks = {
          ...{ a: task('task-1', 'status: Done'), b: task('task-2', 'status: Done') },
          c: file(before),
        };
        const [found, ...others] = told(tasks, 'c') ?? [];
        assert.deepEqual(others, []);
        assert.match(found?.at ?? '', /^'?task_2'?$/);
        assert.deepEqual(found?.fixes, [
          'replaceDependency task_2 task-2',
          'removeDependency task_2',
        ]);
        assert.deepEqual(found?.texts, [file(replaced), file(removed)]);
        assert.deepEqual(told(tasks, 'a'), []);
      });
    }
  }

  test('a task that waits for itself or in a cycle stops waiting, whatever form the id has', () => {
    const own = { a: task('task-1', 'status: To Do', 'dependencies: [TASK-001]') };
    const [found] = told(own, 'a') ?? [];
    assert.deepEqual([found?.code, found?.at], ['circularDependency', 'TASK-001']);
    assert.deepEqual(found?.texts, [own.a.replace('TASK-001', '')]);
    const circle = {
      a: task('task-1', 'status: To Do', 'dependencies: [2, task-7]'),
      b: task('task-2', 'status: To Do', 'dependencies: [task-1]'),
    };
    assert.deepEqual(told(circle, 'b'), []);
    const [first] = told(circle, 'a') ?? [];
    assert.deepEqual([first?.at, first?.fixes], ['2', ['removeDependency task-2']]);
    assert.deepEqual(first?.texts, [circle.a.replace('2, task-7', 'task-7')]);
  });

  test('an unknown status becomes one of the settings', () => {
    const tasks = (status: string) => ({
      a: task('task-1', `status:${status}`),
      b: task('task-2', 'status: todo'),
      c: task('task-3', 'status: Fertig'),
    });
    for (const [status, at, written] of [
      [' "Almost" # why', 'status: "Almost"', ' "Offen" # why'],
      ['', 'status', ' Offen'],
    ] as const) {
      const [found] = told(tasks(status), 'a', '[Offen, Fertig]') ?? [];
      assert.deepEqual([found?.code, found?.at], ['unknownStatus', at]);
      assert.deepEqual(found?.fixes, ['setValue status "Offen"']);
      assert.deepEqual(found?.texts, [tasks(written).a]);
    }
  });

  test('an id is not changed, because the name of the file has it, too', () => {
    const tasks = { a: task('task-1', 'status: Done'), b: task('task-1', 'status: Done') };
    assert.deepEqual(told(tasks, 'b'), [
      { code: 'duplicateId', at: 'task-1', fixes: [], texts: [] },
    ]);
  });

  test('what is in the editor counts, and lines that look like the folder’s own change no place', () => {
    const tasks = { a: task('task-1', 'status: Done'), b: task('task-2', 'status: Done') };
    const text = `---\nid: task-2\nnotes: >\n=== ralph-fresh file tasks/a.md\nstatus: Almost\n---\n`;
    const found = diagnoseTaskFile('backlog', folder(tasks), 'tasks/b.md', text);
    assert.deepEqual(
      found?.diagnoses.map(({ end, fixes, start }) => [
        text.slice(start, end),
        fixes().map(fix => applied(text, fix)),
      ]),
      [['status: Almost', [text.replace('Almost', 'To Do')]]],
    );
    const [noTask] = diagnoseTaskFile('backlog', folder(tasks), 'tasks/b.md', '')?.diagnoses ?? [];
    assert.deepEqual([noTask?.code, noTask?.start, noTask?.fixes()], ['notAStory', 0, []]);
    assert.equal(diagnoseTaskFile('backlog', folder(tasks), 'tasks/c.md', text), undefined);
  });

  test('a large folder is not read while somebody types, however short the task is', () => {
    const text = task('task-1', 'status: Almost');
    const problemsWith = (length: number) => {
      const tasks = { a: text, b: task('task-2', 'status: Done') + 'x'.repeat(length) };
      return diagnoseTaskFile('backlog', folder(tasks), 'tasks/a.md', text)?.diagnoses.length;
    };
    assert.equal(problemsWith(1_000_000), 1);
    assert.equal(problemsWith(1_100_000), undefined);
  });
});

test('a correction that would make a cycle is not offered, and does not keep others from being applied', () => {
  const text = prd(
    story({ dependsOn: ['US-002'] }),
    story({ id: 'US-002', dependsOn: ['us-1', 'gone'] }),
  );
  const [wrong] = diagnose(text);
  assert.deepEqual(
    wrong?.fixes().map(({ kind, isClear }) => [kind, isClear]),
    [['removeDependency', false]],
  );
  assert.deepEqual(storiesOf(fixAll('prd.json', text))[1].dependsOn, ['us-1']);
});

test('a free id is not one that somebody waits for', () => {
  const [, repeated] = diagnose(prd(story({ dependsOn: ['US-002'] }), story()));
  assert.deepEqual(
    repeated?.fixes().map(({ values }) => values),
    [['US-003']],
  );
});

test('ranges lie inside the text for every fixture, even broken ones', async () => {
  for (const name of await readdir(fixtures)) {
    if (/\.(json|jsonl|md|yaml)$/.test(name)) {
      const text = await readFile(path.join(fixtures, name), 'utf8');
      for (const { start, end, fixes } of diagnose(text, name)) {
        assert.ok(0 <= start && start < end && end <= text.length, `${name} ${start} ${end}`);
        fixes();
      }
    }
  }
});

/** Anything that may stand in a story file of an agent. */
const messyStory = fc.record(
  {
    id: fc.constantFrom<unknown>('US-001', 'US-002', 'US-003', 'login', '', 7, true),
    title: fc.constantFrom<unknown>('One', '', '$(alert)', 'a "b" \\ c', 3, null),
    description: fc.string(),
    acceptanceCriteria: fc.constantFrom<unknown>([], ['x'], 'x', {}, true, [{ text: 'y' }]),
    dependsOn: fc.constantFrom<unknown>(
      [],
      ['US-001'],
      ['us-2', 'US-001'],
      'logn',
      ['US-003', 'gone'],
      [{ id: 'US-9' }],
      4,
    ),
    depends: fc.constantFrom<unknown>(['US-001'], 'nothing'),
    passes: fc.constantFrom<unknown>(true, false, 'true', 'yes', 0, null, {}),
    isDone: fc.constantFrom<unknown>(true, 'no', 'perhaps'),
    status: fc.constantFrom<unknown>('done', 'todo', null, 4),
    priority: fc.constantFrom<unknown>(1, 'high', 'P7', 'soon', {}),
  },
  { requiredKeys: [] },
);
const messyList = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: messyStory },
    { weight: 1, arbitrary: fc.constantFrom<unknown>('text', 3, null) },
  ),
  {
    maxLength: 6,
  },
);
const layout = fc.constantFrom<[string, string]>(
  ['  ', '\n'],
  ['\t', '\n'],
  ['    ', '\r\n'],
  ['', '\n'],
);

function withLayout(value: unknown, [indent, eol]: [string, string]): string {
  return JSON.stringify(value, null, indent).replaceAll('\n', eol);
}

const codesAfter = (text: string, code: string) =>
  codes(text).filter(other => other === code).length;

const sameProblem = (a: StoryDiagnosis) => (b: StoryDiagnosis) =>
  a.code === b.code && a.start === b.start && englishOf(a.message) === englishOf(b.message);

test('each fix removes its problem, leaves valid JSON and changes nothing else', () => {
  fc.assert(
    fc.property(
      messyList,
      fc.constantFrom('userStories', 'tasks', ''),
      layout,
      (list, key, style) => {
        const text = withLayout(key === '' ? list : { [key]: list }, style);
        for (const problem of diagnose(text)) {
          for (const fix of problem.fixes()) {
            const after = applied(text, fix);
            JSON.parse(after);
            assert.notEqual(after, text);
            // A removed entry leaves its place to the next one, which may be empty too.
            const isFewer = codesAfter(after, problem.code) < codesAfter(text, problem.code);
            const again = isFewer ? [] : diagnose(after).filter(sameProblem(problem));
            assert.deepEqual(again, [], `${problem.code} ${fix.kind}\n${text}\n→\n${after}`);
            for (const { offset, length } of fix.edits) {
              assert.ok(offset >= 0 && offset + length <= text.length);
            }
          }
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('applying all clear fixes terminates, leaves valid JSON and no further clear fix', () => {
  fc.assert(
    fc.property(messyList, layout, (userStories, style) => {
      const text = withLayout({ userStories }, style);
      const after = fixAll('prd.json', text);
      JSON.parse(after);
      assert.deepEqual(
        diagnose(after).filter(({ fixes }) => fixes().some(({ isClear }) => isClear)),
        [],
      );
      assert.equal(fixAll('prd.json', after), after);
    }),
    { numRuns: 150 },
  );
});

test('the story files shown in the documents have no problems', async () => {
  const root = path.resolve(import.meta.dirname, '../..');
  for (const document of ['README.md', 'docs/story-files.md']) {
    const text = await readFile(path.join(root, document), 'utf8');
    const shown = [...text.matchAll(/^( *)```json\n(.*?)^\1```$/gms)]
      .map(([, , json = '']) => json)
      .filter(json => json.includes('"userStories"'));
    assert.ok(shown.length > 0, document);
    assert.deepEqual(
      shown.flatMap(json => diagnose(json)),
      [],
      document,
    );
  }
});

test('hints on the form name their story, and a copy of issues gets none', () => {
  const text = JSON.stringify({
    userStories: [
      { id: 'US-001', title: 'One', passes: false },
      { id: 'US-002', passes: false, dependsOn: ['gone'] },
      { title: 'Three', passes: false },
      // It needs none any more.
      { id: 'US-004', title: 'Four', passes: true },
    ],
  });
  const told = (file: string) =>
    diagnoseStories(file, text).diagnoses.map(({ code, message }) => [code, englishOf(message)]);
  const words =
    'no acceptance criteria, so nobody can tell when it is done: add what can be checked.';
  assert.deepEqual(
    told('/w/prd.json').flatMap(([code, message]) =>
      code === 'missingAcceptanceCriteria' ? [message] : [],
    ),
    [`US-001 has ${words}`, `US-002 has ${words}`, `#3 has ${words}`],
  );
  assert.ok(told('/w/prd.json').some(([, message]) => message?.startsWith('US-002 has no title')));
  // What is wrong is still said.
  const ofCopy = told('/w/.omc/github.json').map(([code]) => code);
  assert.ok(ofCopy.length > 0 && ofCopy.every(code => !code?.startsWith('missing')), ofCopy.join());
});
