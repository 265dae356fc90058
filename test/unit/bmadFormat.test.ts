import { strict as assert } from 'node:assert';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { englishOf } from '../../src/base/say.ts';
import { editStoryDone, tickText } from '../../src/orchestrator/stories/edit/edit.ts';
import { parseStoryFile, parseStoryText } from '../../src/orchestrator/stories/storyFile.ts';

const FILE = '/w/_bmad-output/implementation-artifacts/sprint-status.yaml';
const SPRINT = `# generated: 05-06-2026 21:30
generated: 05-06-2026 21:30
project: Plants
tracking_system: file-system
story_location: "docs/stories"

development_status:
  epic-1: in-progress
  1-1-user-authentication: done
  1-2-account-management: review   # waits for Ann
  1-3a-plant-data-model: 'ready-for-dev'
  epic-1-retrospective: optional

  epic-2: backlog
  2-1-personality-system: drafted
  2-2-chat-interface: contexted

action_items:
  - epic: 1
    action: "Add a checklist"
    status: open
`;

function storiesOf(text: string) {
  const file = parseStoryFile(FILE, text);
  assert.equal(file.kind, 'stories', JSON.stringify(file.problems));
  return file.kind === 'stories' ? file.stories : [];
}

suite('A sprint status of BMAD', () => {
  test('its stories are read; epics, retrospectives and action items are ignored', () => {
    const file = parseStoryFile(FILE, SPRINT);

    assert.deepEqual([file.format, file.problems], ['bmad', []]);
    assert.deepEqual(
      storiesOf(SPRINT).map(({ details, done, epic, id, line, status, title }) => [
        ...[id, title, done, status, epic, line, details],
      ]),
      [
        [
          '1-1-user-authentication',
          '1.1 User authentication',
          true,
          'done',
          'epic-1',
          9,
          '1-1-user-authentication.md',
        ],
        [
          '1-2-account-management',
          '1.2 Account management',
          false,
          'review',
          'epic-1',
          10,
          '1-2-account-management.md',
        ],
        [
          '1-3a-plant-data-model',
          '1.3a Plant data model',
          false,
          'ready-for-dev',
          'epic-1',
          11,
          '1-3a-plant-data-model.md',
        ],
        [
          '2-1-personality-system',
          '2.1 Personality system',
          false,
          'drafted',
          'epic-2',
          15,
          '2-1-personality-system.md',
        ],
        [
          '2-2-chat-interface',
          '2.2 Chat interface',
          false,
          'contexted',
          'epic-2',
          16,
          '2-2-chat-interface.md',
        ],
      ],
    );
  });

  test('a key that is no plain word is a problem with its line', () => {
    const word =
      'This key is not a plain word, so it is not read as a story. Write it like the others, as in "1-2-title: backlog".';
    for (const lines of ['*n : backlog', '? [1-2-b]\n  : backlog', '? {1-2-b: x}']) {
      for (const [first, code] of [
        ['  1-1-a: done\n', 'notAStory'],
        ['', 'noStories'],
      ] as const) {
        const text = `n: &n 1-2-b\ndevelopment_status:\n${first}  ${lines}\n`;
        const { problems } = parseStoryFile(FILE, text);
        assert.deepEqual(
          problems.map(({ code, line, message }) => [code, line, englishOf(message)]),
          [[code, first === '' ? 3 : 4, word]],
        );
      }
    }
  });

  test('a tick changes one word, and taking it back restores every byte', () => {
    for (const { id, position } of storiesOf(SPRINT).filter(({ done }) => !done)) {
      const ticked = tickText(SPRINT, { id, position }, true, { path: FILE });
      assert.ok(ticked.undo !== undefined);
      assert.equal(storiesOf(ticked.text).filter(({ done }) => done).length, 2);
      const back = tickText(ticked.text, { id, position }, false, {
        path: FILE,
        undos: [ticked.undo],
      });

      assert.equal(back.text, SPRINT);
    }
    // A space behind the colon belongs to the place of the value.
    for (const line of [
      ...[
        '1-3-c: ',
        '1-3-c:',
        '1-3-c: # c',
        '1-3-c :',
        '1-3-c : ',
        '1-3-c : # c',
        '"1-3-c"\t: \t# c',
      ],
      ...[
        '? 1-3-c\n  : # c',
        '? 1-3-c # c\n  : ',
        '{1-3-c : }',
        '1-3-c: &n # c',
        '1-3-c: \n\n    # c',
      ],
    ]) {
      for (const end of ['', '\n']) {
        const empty = `development_status:\n  ${line}${end}`;
        const ticked = tickText(empty, { id: '1-3-c' }, true, { path: FILE });
        const undos = ticked.undo === undefined ? [] : [ticked.undo];
        const back = tickText(ticked.text, { id: '1-3-c' }, false, { path: FILE, undos });
        assert.equal(back.text, empty);
      }
    }
    const [first = ''] = SPRINT.split('  1-2');
    assert.equal(
      editStoryDone(SPRINT, { id: '1-2-account-management' }, true, FILE),
      SPRINT.replace('review ', 'done '),
    );
    assert.equal(
      editStoryDone(SPRINT, { id: '1-1-user-authentication' }, false, FILE),
      first.replace('authentication: done', 'authentication: ready-for-dev') +
        SPRINT.slice(first.length),
    );
  });

  test('epics without "epic-" in front of their names are epics if stories follow them', () => {
    const text = `development_status:
  dm-01: complete
  dm-01-1-chat: done
  dm-01-2b-slots: backlog
  dm-01-retrospective: done
  dm-02: backlog
  ui-03-1-colours: backlog
`;
    assert.deepEqual(
      storiesOf(text).map(({ done, epic, id, title }) => [id, title, epic, done]),
      [
        ['dm-01-1-chat', 'dm.01.1 Chat', 'dm-01', true],
        ['dm-01-2b-slots', 'dm.01.2b Slots', 'dm-01', false],
      ],
    );
    assert.deepEqual(
      parseStoryFile(FILE, text).problems.map(({ code, line }) => [code, line]),
      [['notAStory', 7]],
    );
    const lettered =
      'development_status:\n  epic-mu-users: done\n  mu-s01-invite: done\n  epic-mu-retrospective: done\n  rbac-s01-roles: backlog\n';
    assert.deepEqual(
      storiesOf(lettered).map(({ epic, id, title }) => [id, title, epic]),
      [['mu-s01-invite', 'mu.s01 Invite', 'epic-mu']],
    );
    assert.deepEqual(
      parseStoryFile(FILE, lettered).problems.map(({ code, line }) => [code, line]),
      [['notAStory', 5]],
    );
    const named = 'development_status:\n  epic-ui: done\n  ui-2: done\n  ui-2-3-columns: done\n';
    assert.deepEqual(
      storiesOf(named).map(({ epic, title }) => [epic, title]),
      [['epic-ui', 'ui.2 3 columns']],
    );
    assert.equal(parseStoryFile(FILE, named).problems[0]?.line, 3);
  });

  test('a story with a status of its own in a map is read and ticked like the others', () => {
    const text = `development_status:
  epic-1:
    status: in-progress
  1-1-login: {status: done, points: 3}
  1-2-cart: { points: 2, status: "in-progress" } # soon
  1-3-pay:
    title: Pay
    status: backlog # next
    # not yet
    points: 5

  1-4-mail: backlog
`;
    const { problems } = parseStoryFile(FILE, text);
    assert.deepEqual(problems, []);
    assert.deepEqual(
      storiesOf(text).map(({ id, done, status }) => [id, done, status]),
      [
        ['1-1-login', true, 'done'],
        ['1-2-cart', false, 'in-progress'],
        ['1-3-pay', false, 'backlog'],
        ['1-4-mail', false, 'backlog'],
      ],
    );
    for (const [id, from, to] of [
      ['1-1-login', '{status: done', '{status: ready-for-dev'],
      ['1-2-cart', 'status: "in-progress"', 'status: "done"'],
      ['1-3-pay', 'status: backlog', 'status: done'],
    ] as const) {
      const done = id !== '1-1-login';
      const changed = tickText(text, { id }, done, { path: FILE });
      assert.equal(changed.text, text.replace(from, to));
      assert.ok(changed.undo !== undefined);
      const undos = [changed.undo];
      assert.equal(tickText(changed.text, { id }, !done, { path: FILE, undos }).text, text);
    }
    const shared = `${text.replace('{status: done, points: 3}', '&x {status: done}')}  1-5-x: *x\n`;
    assert.throws(() => editStoryDone(shared, { id: '1-1-login' }, false, FILE), /share it/);
  });

  test('entries that are not stories and unknown words are reported with their line', () => {
    const text = SPRINT.replace('2-2-chat-interface: contexted', 'chat: ready-for-dev').replace(
      'drafted',
      'nearly',
    );

    assert.deepEqual(
      parseStoryFile(FILE, text).problems.map(({ code, line, message }) => [
        ...[code, line, englishOf(message).slice(0, 30)],
      ]),
      [
        ['unknownStatus', 15, 'The status "nearly" is not a w'],
        ['notAStory', 16, '"chat" is not read as a story:'],
      ],
    );
    assert.equal(parseStoryFile(FILE, 'development_status: {}\n').problems[0]?.code, 'noStories');
    const [none] = parseStoryFile(
      FILE,
      'development_status:\n  epic-1: done\n  login: done\n',
    ).problems;
    assert.deepEqual([none?.code, none?.line], ['noStories', 3]);
    assert.match(
      englishOf(none?.message ?? ''),
      /^"login" is not read as a story: the key of a story begins with the numbers .* let the sprint planning of BMAD update/,
    );
    const other = `${SPRINT}Development_status:\n  3-1-mail: backlog\nowners: {ann: 1}\nstory_points: {1-1-user-authentication: 3, 4-1-x: 5}\nfiles: {4-1-x: docs/4-1-x.md}\n`;
    assert.deepEqual(
      parseStoryFile(FILE, other).problems.map(({ code, line, message }) => [
        ...[code, line, englishOf(message).slice(0, 53)],
      ]),
      [['notAStory', 22, 'Entries in "Development_status" that are not read: 1.']],
    );
    for (const [key, below] of [
      ['stories', '  - id: 4-1-x\n    status: backlog\n  - key: 4-2-y\n    status: x\n'],
      ['sprints', '  one:\n    4-1-x: backlog\n'],
      ['sprint_status', '  4-1-x: backlog\n'],
      ['plan', '  - stories:\n      4-1-x: {status: done}\n      4-2-x: {status: review}\n'],
    ] as const) {
      assert.deepEqual(
        parseStoryFile(FILE, `${SPRINT}${key}:\n${below}`).problems.map(({ line, message }) => [
          line,
          englishOf(message).slice(0, 10 + key.length + 24),
        ]),
        [[22, `Entries in "${key}" that are not read: ${key === 'plan' ? 2 : 1}`]],
      );
    }
    assert.deepEqual(
      parseStoryFile(
        FILE,
        'development_status:\n  1-1-a: backlog\n  epic-1-story-2: backlog\n',
      ).problems.map(({ code, line }) => [code, line]),
      [['notAStory', 3]],
    );
    // Only retrospectives are optional.
    const [unknown] = parseStoryFile(FILE, SPRINT.replace('drafted', 'optional')).problems;
    assert.deepEqual([unknown?.code, unknown?.line], ['unknownStatus', 15]);
    assert.equal(parseStoryFile(FILE, 'development_status: [\n').problems[0]?.code, 'invalidYaml');
  });

  test('epics with odd names, finished lists and dates are no lost stories', () => {
    for (const text of [
      'development_status:\n  epic-user-story-1: backlog\n  user-story-1-1-login: backlog\n',
      'development_status:\n  1-1-a: backlog\n  epic-shop-story-1-retrospective: optional\n',
      'development_status:\n  1-1-a: backlog\n  epic-1-story-1-retrospective: optional\n',
      'development_status:\n  epic-1-story-2: backlog\n  1-story-2-1-login: backlog\n',
      `${SPRINT}archive:\n  - {id: 0-1-old, status: done}\n  - {id: 0-2-old, status: dropped}\n`,
      `${SPRINT}before:\n  0-1-old: done\n`,
      `${SPRINT}archive:\n  9-3-old: backlog\n`,
      `${SPRINT}backup: {development_status: {9-7-x: backlog}}\n`,
      `${SPRINT}plan: {archived_status: {9-7-x: backlog}}\n`,
      `${SPRINT}history: [{id: 9-9-old, status: backlog}]\n`,
      `${SPRINT}priorities:\n  9-8-q: next\n`,
      `${SPRINT}milestones: [{name: 2025-06-release, status: backlog}]\n`,
    ]) {
      assert.deepEqual(parseStoryFile(FILE, text).problems, [], text);
    }
    // Where an epic has the number, it is no year.
    const list = 'development_status:\n  epic-2025: backlog\n  1-1-a: backlog\n';
    const { problems } = parseStoryFile(
      FILE,
      `${list}next: [{name: 2025-06-x, status: backlog}]\n`,
    );
    assert.deepEqual(
      problems.map(({ line }) => line),
      [4],
    );
  });

  test('stories at the wrong indentation are problems with their lines', () => {
    const said = (text: string) =>
      parseStoryFile(FILE, text).problems.map(({ code, line, message }) => {
        const [start] = englishOf(message).split('. ');
        return `${code} ${line} ${start}`;
      });
    const list = 'development_status:\n  epic-1: in-progress\n  1-1-login: done\n';
    const below = (story: string, line: number, key: string) =>
      `notAStory ${line} "${story}" is not read as a story, because it is below "${key}"`;
    const outside = (story: string, line: number) =>
      `notAStory ${line} "${story}" is not read as a story, because it is not below "development_status:"`;
    // Too far to the right.
    assert.deepEqual(said(`${list}  epic-2:\n    2-1-cart: backlog\n    2-2-pay:\n`), [
      below('2-1-cart', 5, 'epic-2'),
      below('2-2-pay', 6, 'epic-2'),
    ]);
    assert.deepEqual(said(`${list}  1-2-logout:\n    1-3-reset: backlog\n`), [
      'unknownStatus 4 The status of 1-2-logout is not one word, so the story counts as not done',
      below('1-3-reset', 5, '1-2-logout'),
    ]);
    // Of a group, only the stories are named.
    assert.deepEqual(said(`${list}  my-epic:\n    2-1-cart: backlog\n`), [
      below('2-1-cart', 5, 'my-epic'),
    ]);
    // Too far to the left, also together with their epic, whatever its name.
    assert.deepEqual(said(`${list}1-2-logout: backlog\n1-3-reset: {status: done}\n`), [
      outside('1-2-logout', 4),
      outside('1-3-reset', 5),
    ]);
    assert.deepEqual(said(`${list}epic-shop: backlog\nshop-1-cart: ready-for-dev\n`), [
      outside('shop-1-cart', 5),
    ]);
    // In the map or the list of an epic.
    for (const stories of [
      '{1-2-logout: backlog}',
      '[1-2-logout]',
      '[{1-2-logout: backlog}]',
      '{1-2-logout: {points: 3}}',
      '[{id: 1-2-logout, status: backlog}]',
      '[{points: 3, story: 1-2-logout}]',
    ]) {
      assert.deepEqual(
        said(`${list}  epic-2: {status: in-progress, stories: ${stories}}\n`),
        [below('1-2-logout', 4, 'epic-2')],
        stories,
      );
      assert.deepEqual(
        said(`${list}epic-2: {status: in-progress, stories: ${stories}}\n`),
        [below('1-2-logout', 4, 'epic-2')],
        stories,
      );
    }
    // Also where there are no others.
    for (const [text, line] of [
      ['development_status:\n1-1-login: done\n', 2],
      ['development_status:\n  epic-1:\n    1-1-login: done\n', 3],
      ['development_status:\n  epic-1: {stories: {1-1-login: done}}\n', 2],
    ] as const) {
      const [problem] = parseStoryFile(FILE, text).problems;
      assert.deepEqual([problem?.code, problem?.line], ['noStories', line]);
      assert.match(englishOf(problem?.message ?? ''), /^"1-1-login" is not read as a story/);
    }
  });

  test('what an epic and the file say besides their stories is no problem', () => {
    const text = `generated: 2026-05-06
project: Plants
1-1-notes: 3
development_status:
  epic-1: {status: in-progress, title: Base, started: 2026-05-06, stories: [1-1-login], points: {1-9-x: 3}}
  1-1-login: {status: done, depends_on: [0-9-gone]}
  epic-2:
    status: backlog
    files: {2-9-x: docs/2-9-x.md}
  epic-2-retrospective: {status: optional}
owners: {2-9-x: Ann}
`;
    assert.deepEqual(parseStoryFile(FILE, text).problems, []);
  });

  test('a merge key and a second document are named as they are written', () => {
    const saidOf = (text: string) =>
      parseStoryFile(FILE, text).problems.map(({ message }) => englishOf(message));
    assert.match(
      saidOf('development_status:\n  1-1-a: done\n  <<: {1-2-b: done}\n').join(),
      /^"<<" is not read as a story: /,
    );
    assert.match(
      saidOf('development_status:\n  1-1-a: done\n---\nx: 1\n').join(),
      /keep the one with the stories\.$/,
    );
  });

  test('a status that is not a word of its own line is reported, and is never overwritten', () => {
    for (const value of ['[x]', '{a: b}', '\n    - x', '|\n    x\n    y']) {
      const text = `development_status:\n  1-1-a: ${value}\n  1-2-b: backlog\n`;
      assert.deepEqual(
        parseStoryFile(FILE, text).problems.map(({ code, line }) => [code, line]),
        [['unknownStatus', 2]],
        value,
      );
      if (!value.startsWith('|')) {
        assert.throws(
          () => editStoryDone(text, { id: '1-1-a' }, true, FILE),
          /1-1-a cannot be changed on its own.* Write it in the file as "1-1-a: done"/,
          value,
        );
      }
      assert.equal(
        editStoryDone(text, { id: '1-2-b' }, true, FILE),
        text.replace('1-2-b: backlog', '1-2-b: done'),
      );
    }
  });

  test('a status that other lines share is read, and changed only where that changes one story', () => {
    const text = 'development_status:\n  1-1-a: &q done\n  1-2-b: *q\n  1-3-c: &r backlog\n';
    assert.deepEqual(
      storiesOf(text).map(({ done, status }) => [done, status]),
      [
        [true, 'done'],
        [true, 'done'],
        [false, 'backlog'],
      ],
    );
    assert.throws(() => editStoryDone(text, { id: '1-1-a' }, false, FILE), /other lines share it/);
    assert.equal(
      editStoryDone(text, { id: '1-2-b' }, false, FILE),
      text.replace('*q', 'ready-for-dev'),
    );
    assert.equal(
      editStoryDone(text, { id: '1-3-c' }, true, FILE),
      text.replace('&r backlog', '&r done'),
    );
  });

  test('a duplicate key is reported, and the time grows only with the length', () => {
    const twice = 'development_status:\n  1-1-a: done\n  1-2-b: done\n  1-1-a: backlog\n';
    assert.deepEqual(
      parseStoryFile(FILE, twice).problems.map(({ code, line }) => [code, line]),
      [['invalidYaml', 4]],
    );
    const timeOf = (count: number) => {
      const keys = Array.from({ length: count }, (_, n) => `  1-${n + 1}-story: backlog\n`);
      const text = `development_status:\n${keys.join('')}`;
      const started = process.cpuUsage().user;
      assert.equal(storiesOf(text).length, count);
      return process.cpuUsage().user - started;
    };
    timeOf(2_000);
    const small = timeOf(2_000);
    assert.ok(timeOf(20_000) < small * 40);
  });

  test('a story is moved within its epic', () => {
    const parsed = parseStoryText(FILE, SPRINT);
    const [first, , third] = storiesOf(SPRINT);
    assert.ok(first && third);

    assert.match(
      parsed.move(third, first, 'before'),
      / {2}1-3a-plant-data-model: 'ready-for-dev'\n {2}1-1-user-authentication: done\n {2}1-2-account-management: review {3}# waits for Ann\n/,
    );
    const shared = 'development_status:\n  1-1-a: &q done\n  1-2-b: *q\n';
    const [a, b] = storiesOf(shared);
    assert.ok(a && b);
    assert.throws(
      () => parseStoryText(FILE, shared).move(b, a, 'before'),
      /1-2-b cannot be moved on its own/,
    );
  });

  test('epics between two others, and epics with names, have stories of their own', () => {
    const text = SPRINT.replace(
      '  epic-2:',
      '  epic-1-5: in-progress\n  1-5-1-new-soil: backlog\n  1-5-2-5-beds: done\n  epic-1-5-retrospective: optional\n  epic-shop-1: backlog\n  shop-1-2-a-till: done\n  epic-shop-1-retrospective: optional\n\n  epic-2:',
    );

    assert.deepEqual(parseStoryFile(FILE, text).problems, []);
    const stories = storiesOf(text);
    assert.deepEqual(
      stories.slice(2, 7).map(({ epic, title }) => [epic, title]),
      [
        ['epic-1', '1.3a Plant data model'],
        ['epic-1-5', '1.5.1 New soil'],
        ['epic-1-5', '1.5.2 5 beds'],
        ['epic-shop-1', 'shop.1.2 A till'],
        ['epic-2', '2.1 Personality system'],
      ],
    );
    const [first, , , soil, beds] = stories;
    assert.ok(first && soil && beds);
    const parsed = parseStoryText(FILE, text);
    assert.match(parsed.move(beds, soil, 'before'), / {2}1-5-2-5-beds: done\n {2}1-5-1-new-soil/);
    assert.throws(() => parsed.move(soil, first, 'before'));
  });

  test('any text: stories, or a problem with a line; a tick changes nothing else', () => {
    const word = fc.constantFrom(
      'backlog',
      'ready-for-dev',
      'in-progress',
      'review',
      'done',
      '"done"',
      '',
      'x: y',
      '[',
      '~',
    );
    const key = fc.constantFrom('1-1-a', '1-2-b', '2-1-c', 'epic-1', 'other', '? x', '"1-3-d"');
    fc.assert(
      fc.property(fc.array(fc.tuple(key, word), { maxLength: 6 }), pairs => {
        const text = `development_status:\n${pairs.map(([one, status]) => `  ${one}: ${status}\n`).join('')}`;
        const file = parseStoryFile(FILE, text);
        assert.ok(file.problems.every(({ line }) => line >= 1));
        for (const story of file.kind === 'stories' ? file.stories : []) {
          const after = storiesOf(editStoryDone(text, story, !story.done, FILE));
          assert.deepEqual(
            after.map(({ done }) => done),
            storiesOf(text).map(({ done, id }) => (id === story.id ? !done : done)),
          );
        }
      }),
    );
  });
});
