import assert from 'node:assert/strict';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { HumanError } from '../../src/base/humanError.ts';
import { englishOf } from '../../src/base/say.ts';
import { editStoryDone, setStoryDone, tickText } from '../../src/orchestrator/stories/edit/edit.ts';
import {
  findStoryFile,
  knownSources,
  storyFileWith,
} from '../../src/orchestrator/stories/knownSources.ts';
import { nextStory } from '../../src/orchestrator/stories/select.ts';
import type { Story, StoryList, StoryProblem } from '../../src/orchestrator/stories/story.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { OTHER_STORY_FILE_PLACES } from '../../src/orchestrator/stories/storyPlaces.ts';
import { tempDir } from '../support/cleanEnv.ts';

const fixtures = join(import.meta.dirname, '../fixtures/stories');
const fixture = (name: string) => readFile(join(fixtures, name), 'utf8');

function parseList(path: string, text: string): StoryList {
  const file = parseStoryFile(path, text);
  assert.ok(file.kind === 'stories', JSON.stringify(file));
  return file;
}

function problemOf(path: string, text: string | Uint8Array): StoryProblem {
  const file = parseStoryFile(path, text);
  assert.equal(file.kind, 'invalid');
  return file.problems[0] as StoryProblem;
}

/** Writes files there, by their relative paths. @returns a function that returns the absolute path of the file */
function putIn(folder: string): (place: string, text: string) => Promise<string> {
  return async (place, text) => {
    const path = join(folder, place);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    return path;
  };
}

async function folderFor(t: TestContext): Promise<string> {
  const folder = await tempDir('ralph-formats-');
  t.after(folder.remove);
  return folder.path;
}

const find = (list: StoryList, id: string): Story => {
  const story = list.stories.find(one => one.id === id);
  assert.ok(story, id);
  return story;
};

describe('the format', () => {
  test('is detected by the name, otherwise by the content', () => {
    const format = (path: string, text = '') => parseStoryFile(path, text).format;
    assert.equal(format('/w/.omc/prd.json'), 'prd');
    assert.equal(format('C:\\w\\.beads\\issues.JSONL'), 'beads');
    assert.equal(format('/w/IMPLEMENTATION_PLAN.md'), 'plan');
    assert.equal(format('/w/specs/INDEX.md'), 'specsIndex');
    assert.equal(format('C:\\w\\.ralph\\specs\\README.md'), 'specsIndex');
    assert.equal(format('/w/README.md'), 'plan');
    assert.equal(format('/w/a.yml'), 'orchestration');
    assert.equal(format('/w/.taskmaster/tasks/tasks.json'), 'taskMaster');
    assert.equal(format('/w/tasks.json'), 'prd');
    assert.equal(format('stories', ' [{"id":1}]'), 'prd');
    assert.equal(format('stories', 'name: x\nphases:\n'), 'orchestration');
    assert.equal(format('stories', '# Plan\n- [ ] x'), 'plan');
  });
});

describe('a plan', () => {
  test('checkboxes outside code, comments and front matter are the stories', async () => {
    const list = parseList('plan.md', await fixture('plan.md'));
    assert.equal(list.project, 'Garden Robot');
    assert.deepEqual(
      list.stories.map(({ id, done, status, epic, line }) => [id, done, status, epic, line]),
      [
        ['T001', true, undefined, 'Phase 1: Wheels', 13],
        ['T002', false, undefined, 'Phase 1: Wheels', 14],
        ['T002a', false, undefined, 'Phase 1: Wheels', 21],
        ['US-3', true, undefined, 'Phase 2: Eyes › Tests', 34],
        ['1.2', false, 'in_progress', 'Phase 2: Eyes › Tests', 35],
        ['#6', false, 'blocked', 'Phase 2: Eyes › Tests', 36],
        ['#7', false, undefined, 'Phase 2: Eyes › Tests', 37],
        ['#8', false, undefined, 'Phase 3: Ears › Tests', 41],
      ],
    );
    assert.equal(find(list, 'T002').title, 'T002 **Mount** the wheels');
    assert.equal(
      find(list, 'T002').description,
      'T002 **Mount** the wheels\n    with four screws each\n- left ones first\n\n  ```md\n  - [ ] no story, an example\n  ```',
    );
    assert.equal(find(list, '#8').description, '');
    assert.deepEqual(
      list.problems.map(({ code, line, column }) => [code, line, column]),
      [['notAStory', 43, 1]],
    );
    assert.equal(nextStory(list.stories).story?.id, 'T002');
  });

  test('two thematic breaks around items are no front matter', () => {
    const ids = (text: string) => parseList('plan.md', text).stories.map(({ title }) => title);
    assert.deepEqual(ids('---\n\n# Plan\n\n- [ ] zero\n\n---\n\n- [x] one\n'), ['zero', 'one']);
    assert.deepEqual(ids('---\n\n1. Part\n   - [ ] zero\n\n---\n- [x] one\n'), ['zero', 'one']);
    assert.deepEqual(ids('---\n# Plan: a\n- [ ] zero\n---\n- [x] one\n'), ['zero', 'one']);
    assert.deepEqual(ids('---\n# Note\ntitle: a\n...\n- [x] one\n'), ['one']);
    assert.deepEqual(ids('---\ntitle: |\n  - [ ] zero\n---\n- [x] one\n'), ['one']);
  });

  test('a line separator inside an item or a heading hides nothing', () => {
    const plan =
      '# P\n\n## A\u2028B\n\n- [x] US-1: one\n- [ ] US-2: two\u2028more\n- [ ] US-3\u2029: x\n';
    const list = parseStoryFile('plan.md', plan);
    assert.ok(list.kind === 'stories');
    assert.deepEqual(
      list.stories.map(({ done, epic, id }) => [id, epic, done]),
      ['US-1', 'US-2', 'US-3'].map(id => [id, 'A\u2028B', id === 'US-1']),
    );
    assert.deepEqual(list.problems, []);
  });

  test('an id that two items share is a problem, but numbers may begin anew and labels repeat', () => {
    const list = parseList(
      'tasks.md',
      '- [x] T001 Cart\n- [ ] T002 Pay\n- [ ] **T001** Ship\n- [ ] T001: Return\n',
    );
    assert.deepEqual(
      list.stories.map(({ id }) => id),
      ['#1', 'T002', '#3', '#4'],
    );
    const message = 'The id T001 is already used on line 1: give this story an id of its own.';
    assert.deepEqual(
      list.problems.map(({ code, line, message: said }) => [code, line, englishOf(said)]),
      [
        ['duplicateId', 3, message],
        ['duplicateId', 4, message],
      ],
    );
    for (const ids of [
      ['1.', '1.'],
      ['1.1', '1.1'],
      ['P1:', 'P1:'],
      ['T1', 'T2'],
    ]) {
      const text = ids.map(id => `## A\n\n- [ ] ${id} Dig\n`).join('\n');
      assert.deepEqual(parseList('PLAN.md', text).problems, [], text);
    }
  });

  test('the optional tasks of Kiro are stories', () => {
    const text = '- [ ] 1.2 Build it\n- [ ]* 1.3 Test it\n- [x]* 1.4 Document it\n- [ ]*not one*\n';
    assert.deepEqual(
      parseList('tasks.md', text).stories.map(({ done, id, title }) => [id, title, done]),
      [
        ['1.2', '1.2 Build it', false],
        ['1.3', '1.3 Test it', false],
        ['1.4', '1.4 Document it', true],
      ],
    );
    assert.equal(
      editStoryDone(text, { id: '1.3' }, true, 'tasks.md'),
      text.replace('[ ]* 1.3', '[x]* 1.3'),
    );
  });

  test('a task of Kiro waits for its parts, but for optional ones', () => {
    const text =
      '- [ ] 1. Set up\n  - Not a part\n  - [x] 1.1 Install\n  - [ ] 1.2 Configure\n    - [ ] 1.2.1 Read it\n  - [ ]* 1.3 Test it\n- [ ] 2. Sign in\n';
    const needs = (path: string) =>
      parseList(path, text).stories.map(({ dependsOn, id }) => [id, dependsOn]);
    const kiro = '.kiro/specs/login/tasks.md';
    assert.deepEqual(needs(kiro), [
      ['1', ['1.1', '1.2']],
      ['1.1', []],
      ['1.2', ['1.2.1']],
      ['1.2.1', []],
      ['1.3', []],
      ['2', []],
    ]);
    const order: string[] = [];
    let now = text;
    for (;;) {
      const { story } = nextStory(parseList(kiro, now).stories);
      if (story === undefined) {
        break;
      }
      order.push(story.id);
      now = editStoryDone(now, story, true, kiro);
    }
    assert.deepEqual(order, ['1.2.1', '1.2', '1', '1.3', '2']);
    // Elsewhere, the order of the file counts.
    assert.deepEqual(
      needs('specs/login/tasks.md').flatMap(([, ids]) => ids),
      [],
    );
  });

  test('a part without a number of its own is waited for, and one that is put aside is not', () => {
    const text =
      '- [ ] 2. B\n  - [x] drawn\n  - [ ] only part\n  - [~] 2.1 (skipped: not needed)\n- [ ] 3. C\n';
    const { problems, stories } = parseList('.kiro/specs/login/tasks.md', text);
    assert.deepEqual(problems, []);
    assert.deepEqual(stories[0]?.dependsOn, ['#2', '#3']);
    assert.equal(nextStory(stories).story?.id, '#3');
  });

  test('an item in progress whose first word says so is put aside', () => {
    const aside = (text: string) => {
      const [story] = parseList('tasks.md', `${text}\n- [ ] other\n`).stories;
      return story?.parked === true ? story.status : undefined;
    };
    const dropped = 'T062-T067 DROPPED - not needed';
    for (const [text, word] of [
      [dropped, 'dropped'],
      ['**3.1** (skipped — README)', 'skipped'],
      ['US-4: Deferred', 'deferred'],
      ['*Cancelled*: the till', 'cancelled'],
      ['T062 [P] [US1] DROPPED, not needed', 'dropped'],
      ['[FR-01] Skipped: nobody asks', 'skipped'],
      ['`FR-01` deferred - until May', 'deferred'],
      ['US-3 — Obsolete', 'obsolete'],
      ['T5 WON’T DO (too dear)', "won't do"],
      ['3.1 [SKIPPED] the till', 'skipped'],
    ] as const) {
      assert.equal(aside(`- [~] ${text}`), word, text);
      assert.equal(aside(`- [-] ${text}`), word, text);
    }
    for (const text of [
      `- [ ] ${dropped}`,
      `- [x] ${dropped}`,
      `- [/] ${dropped}`,
      '- [~] Deferred loading of images',
      '- [-] T4 Skipped tests run again',
      '- [~] T5 Drop the table',
      '- [~] 6. Images are dropped',
      '- [~] Discovered: login fails on Safari',
      '- [-] 3.2 Cancelled, refunded and failed orders are shown',
      '- [-] 3.2 DUPLICATE KEY errors are handled',
      '- [-] DROPPED_TABLES is empty',
      `- [~] 1${'_'.repeat(100_000)}!`,
      `- [~] ${'A-'.repeat(100_000)}`,
    ]) {
      assert.equal(aside(text), undefined, text.slice(0, 80));
    }
    const text = `- [~] ${dropped}\n`;
    assert.equal(editStoryDone(text, { id: '#1' }, true, 'tasks.md'), text.replace('~', 'x'));
  });

  test('what is indented below an item that is put aside is put aside, too', () => {
    const text =
      '- [~] 2. DROPPED\n  - [ ] 2.1 part\n    - [x] 2.1.1 done\n- [ ] 3. C\n  - [~] Deferred:\n    - [ ] Add retry\n';
    for (const path of ['PLAN.md', '.kiro/specs/login/tasks.md']) {
      const { stories } = parseList(path, text);
      assert.deepEqual(
        stories.map(({ done, parked = false, status }) => [status, done, parked]),
        [
          ['dropped', false, true],
          ['dropped', false, true],
          [undefined, true, false],
          [undefined, false, false],
          ['deferred', false, true],
          ['deferred', false, true],
        ],
      );
      assert.equal(nextStory(stories).story?.id, '3');
    }
  });

  test('a check mark is a tick', () => {
    const text = '- [✅] one\n- [✔] two\n- [✔️] three\n- [🔄] four\n- [✓] five\n- [☑] six\n';
    const { problems, stories } = parseList('plan.md', text);
    assert.deepEqual(
      stories.map(({ done }) => done),
      [true, true, true, false, true, true],
    );
    assert.deepEqual(
      problems.map(({ code, line }) => [code, line]),
      [['unknownStatus', 4]],
    );
    const open = editStoryDone(text, { id: '#1' }, false, 'plan.md');
    assert.equal(open, text.replace('✅', ' '));
  });

  test('only an unmistakable and unique id is used as one', () => {
    const idOf = (text: string) =>
      parseList('plan.md', `- [ ] ${text}\n- [ ] other`).stories[0]?.id;
    for (const [text, id] of [
      ['T001 do', 'T001'],
      ['T1 do', 'T1'],
      ['P1.2 do', 'P1.2'],
      ['**T001**: do', 'T001'],
      ['**TASK-7:** do', 'TASK-7'],
      ['[US-01] do', 'US-01'],
      ['`FR-AUTH-01` do', 'FR-AUTH-01'],
      ['HIGH-1: do', 'HIGH-1'],
      ['S3 – do', 'S3'],
      ['1. do', '1'],
      ['2.1.3 do', '2.1.3'],
      ['(4) do', '4'],
      ['S3 upload', '#1'],
      ['16 presets', '#1'],
      ['3D view', '#1'],
      ['#12 do', '#1'],
      ['[P] do', '#1'],
      ['V2API: do', '#1'],
      ['2026-01-02: do', '#1'],
    ]) {
      assert.equal(idOf(text ?? ''), id, text);
    }
    const same = parseList('plan.md', '- [ ] P0: a\n- [ ] P0: b\n- [ ] P1: c');
    assert.deepEqual(
      same.stories.map(({ id }) => id),
      ['#1', '#2', 'P1'],
    );
  });

  test('an unclosed fence is reported, not ignored', () => {
    const text = '- [ ] a\n\n  ```sh\n  ls\n- [ ] b\n';
    const list = parseList('plan.md', text);
    assert.equal(list.stories.length, 1);
    assert.deepEqual(
      list.problems.map(({ code, line }) => [code, line]),
      [['unclosedBlock', 3]],
    );
    assert.equal(problemOf('plan.md', '<!-- x\n- [ ] b').code, 'unclosedBlock');
    assert.deepEqual(parseList('plan.md', '- [ ] a\n```\nend').problems, []);
    assert.equal(parseList('plan.md', '````\n```\n- [ ] x\n````\n- [ ] y').stories.length, 1);
    assert.equal(parseList('plan.md', '```sh `x`\n- [ ] y').stories.length, 1);
    assert.equal(parseList('plan.md', '---\n- [ ] y').stories.length, 1);
  });

  test('a file without checkboxes is not an empty list', () => {
    assert.equal(problemOf('plan.md', '# Plan\n\n- do it').code, 'noStories');
    assert.match(englishOf(problemOf('specs/INDEX.md', '').message), /Write each specification/);
    assert.equal(problemOf('plan.md', Uint8Array.of(0xff)).code, 'unreadable');
  });

  test('a tick changes one character', async () => {
    const text = await fixture('plan.md');
    const tick = (id: string, done = true) => editStoryDone(text, { id }, done, 'plan.md');
    assert.equal(tick('T002'), text.replace('[ ] T002 ', '[x] T002 '));
    assert.equal(tick('T001', false), text.replace('[x] T001', '[ ] T001'));
    assert.equal(tick('1.2'), text.replace('[~]', '[x]'));
    assert.equal(tick('#8'), text.replace('[ ] Hear', '[x] Hear'));
    assert.equal(tick('T001'), text);
    assert.equal(
      editStoryDone('- [X] a\r\n- [ ] b', { id: '#2' }, true, 'plan.md'),
      '- [X] a\r\n- [X] b',
    );
    assert.equal(editStoryDone('- [🚀] a', { id: '#1' }, true, 'plan.md'), '- [x] a');
  });

  test('a story known only by position is not guessed in a changed file', async t => {
    const path = join(await folderFor(t), 'plan.md');
    await writeFile(path, '- [ ] a\n- [ ] b\n');
    const { hash } = parseStoryFile(path, '- [ ] a\n- [ ] b\n');
    await writeFile(path, '- [ ] new\n- [ ] a\n- [ ] b\n');
    const selector = { id: '#2', position: 1 };
    await assert.rejects(setStoryDone(path, selector, true, { expectedHash: hash }), HumanError);
    assert.equal((await setStoryDone(path, selector, true)).changed, true);
    assert.equal(await readFile(path, 'utf8'), '- [ ] new\n- [x] a\n- [ ] b\n');
  });
});

test('an index of specifications names its stories by their files', async () => {
  const text = await fixture('specs.md');
  const list = parseList('specs/INDEX.md', text);
  assert.deepEqual(
    list.stories.map(({ id, done, epic }) => [id, done, epic]),
    [
      ['database', true, 'Backend'],
      ['search_ui', false, 'Backend'],
      ['#3', false, 'Backend'],
    ],
  );
  assert.equal(
    editStoryDone(text, { id: 'search_ui' }, true, 'specs/INDEX.md'),
    text.replace('[ ] [Search]', '[x] [Search]'),
  );
});

describe('Beads', () => {
  test('issues, blockers, parents and entries that are not work are recognized', async () => {
    const list = parseList('issues.jsonl', await fixture('issues.jsonl'));
    assert.deepEqual(
      list.stories.map(({ id, done, dependsOn, epic, parked, line }) => [
        id,
        done,
        dependsOn,
        epic,
        parked,
        line,
      ]),
      [
        ['g-1', true, [], undefined, undefined, 1],
        ['g-2', false, ['g-1'], 'The garden', undefined, 2],
        ['g-3', false, ['g-2'], undefined, undefined, 4],
        ['g-4', false, [], undefined, true, 5],
        ['g-x', false, [], undefined, true, 6],
        ['g-e', false, [], undefined, undefined, 7],
        ['g-d', false, [], undefined, true, 8],
      ],
    );
    assert.equal(find(list, 'g-1').description, 'Dig, <then> plant.');
    assert.deepEqual(find(list, 'g-2').criteria, [{ text: 'Wet soil' }]);
    assert.equal(find(list, 'g-3').status, 'in_progress');
    assert.equal(nextStory(list.stories).story?.id, 'g-2');
    assert.deepEqual(list.problems, []);
  });

  test('criteria in a text are those of its list, the design belongs to the description, and notes are notes', () => {
    const read = (issue: object) =>
      parseList('issues.jsonl', JSON.stringify({ id: 'g-1', title: 'T', status: 'open', ...issue }))
        .stories[0];
    const texts = (text: string) => read({ acceptance_criteria: text })?.criteria;
    assert.deepEqual(texts('1. A\n2. B'), [{ text: 'A' }, { text: 'B' }]);
    assert.deepEqual(texts('- Has total\r\n  and tax\r\n\r\n- Has tests\r\n'), [
      { text: 'Has total\nand tax' },
      { text: 'Has tests' },
    ]);
    assert.deepEqual(texts('* [ ] A\n* [x] B'), [
      { text: 'A', done: false },
      { text: 'B', done: true },
    ]);
    for (const text of ['It holds:\n- A\n- B', '- A\nB', '2.5 seconds at most', '-5 degrees']) {
      assert.deepEqual(texts(text), [{ text }]);
    }
    const whole = read({ description: 'What.', design: 'How.', notes: 'Why.' });
    assert.deepEqual([whole?.description, whole?.notes], ['What.\n\nDesign:\nHow.', 'Why.']);
    assert.equal(read({ design: 'How.' })?.description, 'Design:\nHow.');
  });

  test('all is done if only stories put aside are left', async () => {
    const { stories } = parseList('issues.jsonl', await fixture('issues.jsonl'));
    const left = stories.map(story => (story.parked ? story : { ...story, done: true }));
    assert.deepEqual(nextStory(left), { reason: 'allDone' });
  });

  test('a tick changes only the status', async () => {
    const text = await fixture('issues.jsonl');
    const tick = (id: string, done: boolean) => editStoryDone(text, { id }, done, 'i.jsonl');
    assert.equal(tick('g-2', true), text.replace('水","status":"open"', '水","status":"closed"'));
    assert.equal(tick('g-3', true), text.replace('"in_progress"', '"closed"'));
    assert.equal(tick('g-1', false), text.replace('"closed"', '"open"'));
    assert.equal(
      editStoryDone('{"id":"a","title":"t"}', { id: 'a' }, true, 'i.jsonl'),
      '{"id":"a","title":"t","status":"closed"}',
    );
  });

  test('a line that is not an object is reported with its place', () => {
    const good = '{"id":"a","title":"t"}';
    const place = (text: string) => {
      const { code, line, column, message } = problemOf('i.jsonl', text);
      return [code, line, column, englishOf(message).includes('line 1')];
    };
    assert.deepEqual(place(`${good}\n{"id":"b" "title":1}\n`), ['invalidJson', 2, 11, false]);
    assert.deepEqual(place(`${good}\r\n\r\n  []\n`), ['invalidJson', 3, 3, false]);
    assert.deepEqual(place(`${good}${good}`), ['invalidJson', 1, 23, false]);
    assert.deepEqual(place(`<<<<<<< HEAD\n${good}`), ['invalidJson', 1, 1, false]);
    assert.equal(problemOf('i.jsonl', '\n').code, 'noStories');
    assert.equal(problemOf('i.jsonl', '{"seq":1}\n{"seq":2}').code, 'noStories');
  });

  test('repeated ids and unknown blockers are problems on their lines', () => {
    const text = [
      '{"id":"a","title":"t"}',
      '{"id":"a","title":"t"}',
      '{"id":"b","title":"t","dependencies":[{"depends_on_id":"z"}]}',
    ].join('\n');
    assert.deepEqual(
      parseList('i.jsonl', text).problems.map(({ code, line, column }) => [code, line, column]),
      [
        ['duplicateId', 2, 2],
        ['unknownDependency', 3, 23],
      ],
    );
  });
});

describe('orchestration', () => {
  test('tasks of all phases are read; a phase waits for the tasks of another', async () => {
    const list = parseList('o.yaml', await fixture('orchestration.yaml'));
    assert.equal(list.project, 'Garden');
    assert.deepEqual(
      list.stories.map(({ id, title, done, status, epic, dependsOn, parked, line }) => [
        id,
        title,
        done,
        status,
        epic,
        dependsOn,
        parked,
        line,
      ]),
      [
        ['T1.1', 'Dig — 20 cm', true, 'completed', 'Phase 1: Soil', [], undefined, 9],
        ['1.10', 'Rake', false, 'in_progress', 'Phase 1: Soil', ['T1.1'], undefined, 15],
        ['T2.1', 'Sow', false, undefined, 'Plants', ['T1.1', '1.10'], undefined, 24],
        ['T2.2', 'Water', false, 'pending', 'Plants', ['T2.3', 'T1.1', '1.10'], undefined, 30],
        ['T2.3', 'Fence', false, undefined, 'Plants', ['T1.1', '1.10'], undefined, 31],
        ['T2.4', 'T2.4', false, 'skipped', 'Plants', ['T1.1', '1.10'], true, 33],
      ],
    );
    assert.deepEqual(find(list, 'T2.1').criteria, [{ text: 'rows' }, { text: 'labels' }]);
    assert.equal(nextStory(list.stories).story?.id, '1.10');
    assert.deepEqual(list.problems, []);
  });

  test('a tick changes one word, or adds one line', async () => {
    const text = await fixture('orchestration.yaml');
    const tick = (id: string, done = true) => editStoryDone(text, { id }, done, 'o.yaml');
    assert.equal(tick('1.10'), text.replace('"in_progress"', '"completed"'));
    assert.equal(tick('T1.1', false), text.replace('status: completed   #', 'status: pending   #'));
    assert.equal(tick('T2.1'), text.replace('status: #', 'status: completed #'));
    assert.equal(tick('T2.2'), text.replace('Water, status: pending', 'Water, status: completed'));
    assert.equal(tick('T2.3'), text.replace('at all\n', 'at all\n        status: completed\n'));
    assert.equal(tick('T2.4'), text.replace('skipped', 'completed'));
  });

  test('unusual places of a status are found', () => {
    const tick = (tasks: string) => editStoryDone(`tasks:${tasks}`, { id: 'a' }, true, 'o.yml');
    assert.equal(tick(' [{id: a, status}]'), 'tasks: [{id: a, status: completed}]');
    assert.equal(tick(' [{id: a, status: }]'), 'tasks: [{id: a, status: completed}]');
    assert.equal(tick(' [{id: a}]'), 'tasks: [{status: completed, id: a}]');
    assert.equal(tick('\r\n- id: a\r\n'), 'tasks:\r\n- id: a\r\n  status: completed\r\n');
    assert.equal(tick('\n- id: a'), 'tasks:\n- id: a\n  status: completed');
    assert.equal(tick('\n- id: a\n  status:'), 'tasks:\n- id: a\n  status: completed');
    assert.equal(
      tick('\n- description: |\n    x\n  id: a\n'),
      'tasks:\n- status: completed\n  description: |\n    x\n  id: a\n',
    );
    assert.equal(
      tick('\n- id: a\n  status: |\n    pending\n  name: b\n'),
      'tasks:\n- id: a\n  status: completed\n  name: b\n',
    );
    assert.equal(
      tick('\n- id: b\n  status: &s pending\n- id: a\n  status: *s\n'),
      'tasks:\n- id: b\n  status: &s pending\n- id: a\n  status: completed\n',
    );
    assert.equal(
      tick('\n- &d\n  id: b\n  status: pending\n- <<: *d\n  id: a\n'),
      'tasks:\n- &d\n  id: b\n  status: pending\n- status: completed\n  <<: *d\n  id: a\n',
    );
    assert.match(
      tick(' [{id: a, passes: false, status: pending}]'),
      /passes: true, status: completed/,
    );
  });

  test('a change that an anchor would copy to other tasks is refused', () => {
    const text = 'tasks:\n- id: a\n  status: &s pending\n- id: b\n  status: *s\n';
    assert.throws(
      () => editStoryDone(text, { id: 'a' }, true, 'o.yaml'),
      /^HumanError: Line 3: The state of a cannot be changed on its own, because each "\*s" stands for it, too, first on line 5\. Write "pending" in the place of each "\*s", and only then remove "&s" here\.$/,
    );
    const unusual = 'tasks:\n- id: a\n- ? commits\n  : []\n  id: b\n';
    assert.throws(
      () => editStoryDone(unusual, { id: 'b' }, true, 'o.yaml'),
      /Line 3: The state of b .* its own line "status: completed"/,
    );
  });

  test('what is to be done about an anchor lets the change succeed', () => {
    const why = (text: string) => {
      try {
        const id = text.includes('id: a') ? 'a' : '#1';
        return editStoryDone(text, { id }, true, 'o.yaml') && '';
      } catch (error) {
        return error instanceof HumanError ? error.message.replace('#1', 'a') : String(error);
      }
    };
    const because = (line: number, rest: string) =>
      `Line ${line}: The state of a cannot be changed on its own, because ${rest}`;
    const cases = [
      [
        'tasks:\n- id: b\n- id: a\n  status: &s "pending"\n- {id: c, status: *s}\n- {id: d, status: *s}\n',
        because(
          4,
          'each "*s" stands for it, too, first on line 5. Write ""pending"" in the place of each "*s", and only then remove "&s" here.',
        ),
        (text: string) => text.replaceAll('*s', '"pending"'),
      ],
      [
        'tasks:\n- &a\n  id: a\n  status: pending\n- {<<: *a, id: b, status: done}\n- <<: *a\n  id: c\n',
        because(
          4,
          'each task with "*a" takes it over, first on line 6. Write "status: pending" in those tasks, too.',
        ),
        (text: string) => `${text}  status: pending\n`,
      ],
      [
        'tasks:\n- &a\n  id: a\n- <<: [*a]\n  id: c\n- completed: true\n',
        because(
          3,
          'each task with "*a" takes it over, first on line 4. Write "completed: false" in those tasks, too.',
        ),
        (text: string) => text.replace('id: c', 'id: c\n  completed: false'),
      ],
      [
        'tasks:\n- &t {name: a, status: pending}\n- *t\n',
        because(
          2,
          '"*t" on line 3 stands for it, too. Write there what it stands for, or remove it.',
        ),
        (text: string) => text.replace('*t', '{name: b, status: pending}'),
      ],
    ] as const;
    for (const [text, message, followed] of cases) {
      assert.equal(why(text), message, text);
      const after = followed(text);
      assert.equal(why(after), '', after);
      assert.equal(why(after.replace(/&\w+ /, '')), '', after);
    }
  });

  test('true and false are written without the quotes of what was there', () => {
    const tick = (text: string) => editStoryDone(text, { id: 'a' }, true, 'o.yaml');
    assert.equal(
      tick("tasks:\n- id: a\n  completed: 'true'\n"),
      'tasks:\n- id: a\n  completed: true\n',
    );
    assert.equal(tick('tasks: [{id: a, completed: "no"}]'), 'tasks: [{id: a, completed: true}]');
  });

  test('invalid YAML and a file without tasks are reported with their place', () => {
    const place = (text: string) => {
      const { code, line, column } = problemOf('o.yaml', text);
      return [code, line, column];
    };
    assert.deepEqual(place('phases:\n\t- a\n'), ['invalidYaml', 2, 1]);
    assert.deepEqual(place('a: 1\nb: 2\na: 3\n'), ['invalidYaml', 3, 1]);
    assert.equal(place('a: *x')[0], 'invalidYaml');
    assert.match(
      englishOf(problemOf('o.yaml', 'a: 1\n---\nb: 2\n').message),
      /several YAML documents/,
    );
    assert.equal(place('['.repeat(5000))[0], 'invalidYaml');
    for (const text of ['', 'name: x', 'phases: 3', 'phases: [x]', 'phases: [{name: a}]', '- a']) {
      assert.equal(place(text)[0], 'noStories', text);
    }
    assert.deepEqual(parseList('o.yaml', 'phases: [{tasks: []}]').stories, []);
  });

  test('YAML with a wrong quote, colon or bracket is reported where it is, with what to write', () => {
    const told = (rest: string) => {
      const { code, column, line, message } = problemOf(
        'o.yaml',
        `tasks:\n- id: a\n  ${rest}\n  status: pending\n- id: b\n`,
      );
      assert.equal(code, 'invalidYaml');
      return `${line}:${column} ${englishOf(message)}`;
    };
    const open =
      '3:9 The quote that opens here is never closed: write " behind the text that it begins.';
    assert.equal(told('name: "Name 5'), open);
    assert.equal(told('name: "Name 5\n  status: open\n- name: "Name 6"'), open);
    assert.equal(told("name: 'Name 5"), open.replace('"', "'"));
    assert.match(told('"name: Name 5'), /^3:3 The quote that opens here/);
    for (const [wrong, right] of [
      ['name: Fix: the thing', 'name: "Fix: the thing"'],
      ['name: Fix the thing:', 'name: "Fix the thing:"'],
      ['name: [P] Do it', 'name: "[P] Do it"'],
      ['needs:\n  - [P] Do it', '- "[P] Do it"'],
      ["name: 'it's five'", 'name: "it\'s five"'],
      ['name: "Say "hi" now"', String.raw`name: "Say \"hi\" now"`],
      ['name: "a" and b', String.raw`name: "\"a\" and b"`],
      ['name: "a" and "b"', String.raw`name: "\"a\" and \"b\""`],
      ['name: *bold* x', 'name: "*bold* x"'],
      ['name: @a', 'name: "@a"'],
      [String.raw`name: "C:\dir"`, String.raw`name: "C:\\dir"`],
    ] as const) {
      const [, text] =
        /^[34]:\d+ YAML does not take this for one text\. Put it in double quotes: (.*)$/.exec(
          told(wrong),
        ) ?? [];
      assert.equal(text, right);
      const line = wrong.split('\n').at(-1) as string;
      parseList('o.yaml', `tasks:\n- id: a\n  ${wrong.replace(line.trim(), right)}\n`);
    }
    // Quotes would not fix these, or would turn a list or a map into a text.
    for (const wrong of ['needs: - b', 'needs: [b]]', 'x: {needs: [b] c}', 'name:x']) {
      assert.match(told(wrong), /^3:\d+ This is not valid YAML: /, wrong);
    }
    assert.equal(
      told('name: x\n   model: y'),
      '3:9 The keys of an entry must begin in the same column: correct the spaces at the start of the next line.',
    );
    assert.equal(
      told('name: x\n  name: y'),
      '4:3 The key "name" is there a second time: remove this one, or the one above.',
    );
  });

  test('what a phase has in the place of its list of tasks is named with its line', () => {
    const told = ({ code, line, message }: StoryProblem) => [code, line, englishOf(message)];
    const list = 'This phase has no tasks, because the list';
    for (const [rest, message] of [
      ['Tasks:\n  - {id: b}', `${list} "Tasks" is not read: rename it to "tasks".`],
      ['task: [{id: b}]', `${list} "task" is not read: rename it to "tasks".`],
      ['steps:\n  - id: b', `${list} "steps" is not read: rename it to "tasks".`],
      [
        'tasks:\n    b: {status: pending}',
        'This phase has no tasks, because what is below "tasks" is no list: write each task below "tasks:" as "- name: …".',
      ],
    ] as const) {
      const phase = `- name: Two\n  ${rest}\n`;
      const good = 'phases:\n- name: One\n  tasks:\n  - {id: a, status: pending}\n';
      const { problems } = parseList('o.yaml', good + phase);
      assert.deepEqual(problems.map(told), [['notAStory', 6, message]]);
      assert.deepEqual(told(problemOf('o.yaml', `phases:\n${phase}`)), ['noStories', 3, message]);
    }
    const empty = problemOf('o.yaml', 'phases:\n- name: One\n- name: Two\n');
    assert.deepEqual(told(empty), [
      'noStories',
      2,
      'This phase has no tasks, so it is not read. Write it as "- name: …" with "tasks:" below.',
    ]);
  });

  test('tasks and phases that are plain texts are reported on their lines, and never an empty list', () => {
    const list = parseList(
      'o.yaml',
      'phases:\n- name: One\n  tasks:\n  - id: a\n  - Write the docs\n- Two\n',
    );
    assert.deepEqual(
      list.stories.map(({ id }) => id),
      ['a'],
    );
    assert.deepEqual(
      list.problems.map(({ code, line, column }) => [code, line, column]),
      [
        ['notAStory', 5, 5],
        ['notAStory', 6, 3],
      ],
    );
    const { code, line, message } = problemOf('o.yaml', 'tasks:\n- Write the code\n- Test it\n');
    assert.deepEqual([code, line], ['noStories', 2]);
    assert.match(englishOf(message), /plain text .* Write it as "- name: …"/);
  });

  test('unknown dependencies and cycles are reported on their lines', () => {
    const list = parseList(
      'o.yaml',
      'phases:\n- id: p\n  dependencies: [q]\n  tasks:\n  - id: a\n- id: q\n  tasks:\n  - id: b\n    depends_on: [a, gone]\n',
    );
    assert.deepEqual(
      list.problems.map(({ code, line, column }) => [code, line, column]),
      [
        ['circularDependency', 5, 5],
        ['unknownDependency', 9, 5],
      ],
    );
  });
});

test('a status word that is not known is a problem on its line, in every format that has one', () => {
  const problems = (path: string, text: string) =>
    parseList(path, text).problems.map(({ code, line }) => [code, line]);
  const unknown = [['unknownStatus', 2]];
  assert.deepEqual(problems('prd.json', '[{"id":"a","title":"t",\n"status":"fertig"}]'), unknown);
  assert.deepEqual(problems('o.yaml', 'tasks: [{id: a,\n  status: fertig}]'), unknown);
  const issue = (status: string) => `{"id":"${status}","title":"t","status":"${status}"}`;
  assert.deepEqual(problems('i.jsonl', `${issue('open')}\n${issue('fertig')}\n`), unknown);
  const said = (path: string, text: string) =>
    englishOf(parseList(path, text).problems[0]?.message ?? '').replace(/^.*Write /, '');
  assert.equal(
    said('i.jsonl', issue('fertig')),
    '"closed" if it is done, and "open" if it is not.',
  );
  assert.equal(
    said('o.yaml', 'tasks: [{id: a, status: fertig}]'),
    '"completed" if it is done, and "pending" if it is not.',
  );
  // Where another key decides, the status may mean anything.
  assert.deepEqual(
    problems('prd.json', '[{"id":"a","title":"t",\n"status":"fertig","passes":false}]'),
    [],
  );
});

/** The same state of one story, on line 2, in each format that has a word for it. */
const STATED = [
  ['prd.json', (key: string, value: string) => `[{"id":"a","title":"t",\n"${key}":${value}}]`],
  ['o.yaml', (key: string, value: string) => `tasks:\n- {id: a, title: t, ${key}: ${value}}\n`],
  ['o.yaml', (key: string, value: string) => `tasks:\r\n- {${key}: ${value}, title: t}\r\n`],
  ['.ralph/tasks.jsonl', (key: string, value: string) => `\n{"id":"a","${key}":${value}}\n`],
  [
    '.taskmaster/tasks/tasks.json',
    (key: string, value: string) => `{"tasks":[{"id":1,"title":"t",\n"${key}":${value}}]}`,
  ],
  ['i.jsonl', (key: string, value: string) => `\n{"id":"a","title":"t","${key}":${value}}\n`],
  [
    '.ralph/agent/tasks.jsonl',
    (key: string, value: string) => `\n{"id":"a","title":"t","${key}":${value}}\n`,
  ],
] as const;

function stateOf(path: string, text: string) {
  const { problems, stories } = parseList(path, text);
  const [story] = stories;
  const state = story?.done ? 'done' : story?.parked ? 'aside' : 'open';
  return [state, ...problems.map(({ code, line }) => `${code} ${line}`)];
}

describe('a state that is not one of the known words', () => {
  for (const [path, stated] of STATED) {
    test(`is a problem if it is no text: ${path} ${JSON.stringify(stated('status', 'true'))}`, () => {
      for (const value of ['true', 'false', '["done"]', '{"a": 1}', '1', '0']) {
        const told = stateOf(path, stated('status', value));
        assert.deepEqual(told, ['open', 'unknownStatus 2'], value);
      }
      assert.deepEqual(stateOf(path, stated('status', 'null')), ['open']);
      const [problem] = parseList(path, stated('status', 'true')).problems;
      assert.match(englishOf(problem?.message ?? ''), /^The status "true" is not a word/);
    });

    test(`puts the story aside if it will not be done: ${path} ${JSON.stringify(stated('status', 'x'))}`, () => {
      for (const word of [
        ...['cancelled', 'Canceled', 'skipped', 'deferred', 'abandoned', 'duplicate', 'wontfix'],
        ...[
          "won't do",
          'won\u2019t do',
          "WON'T-FIX",
          'not_planned',
          'obsolete',
          'Superseded',
          'dropped',
        ],
      ]) {
        assert.deepEqual(stateOf(path, stated('status', JSON.stringify(word))), ['aside'], word);
      }
    });

    test(`is a problem if it may mean both: ${path} ${JSON.stringify(stated('status', 'y'))}`, () => {
      for (const word of ['accepted', 'approved', 'rejected']) {
        const told = stateOf(path, stated('status', `"${word}"`));
        assert.deepEqual(told, ['open', 'unknownStatus 2'], word);
      }
    });
  }

  test('is a problem in the place of true and false, unless it clearly means one of them', () => {
    for (const [path, stated] of STATED.slice(0, 4)) {
      const told = (value: string) => stateOf(path, stated('passes', value));
      for (const value of [
        ...['1', '0', '["done"]', '{"a": 1}', '"yes"', '"skipped"', '"accepted"', '"approved"'],
        ...['"won\'t do"', '""'],
      ]) {
        assert.deepEqual(told(value), ['open', 'unknownStatus 2'], value);
      }
      for (const value of ['false', 'null', '"failing"', '"todo"', '"wip"', '"pending"']) {
        assert.deepEqual(told(value), ['open'], value);
      }
      for (const value of ['true', '"passing"', '"done"']) {
        assert.deepEqual(told(value), ['done'], value);
      }
    }
  });

  test('is only told to lose quotes that it has', () => {
    for (const [value, words] of [
      ['1', /: write true or false\.$/],
      ['"yes"', /: write true or false without quotes\.$/],
    ] as const) {
      const file = parseStoryFile('prd.json', `[{"id":"A","title":"a","passes":${value}}]`);
      assert.match(englishOf(file.problems[0]?.message ?? ''), words);
    }
  });

  test('puts a story aside also next to false, and not next to true', () => {
    const told = (passes: boolean) =>
      stateOf('prd.json', `[{"id":"a","title":"t","passes":${passes},"status":"cancelled"}]`);
    assert.deepEqual(told(false), ['aside']);
    assert.deepEqual(told(true), ['done']);
  });

  test('is not overwritten by a tick if it is a list or an object', () => {
    for (const [path, stated] of STATED.slice(1, 5)) {
      const text = stated('status', '{"a": 1}');
      const id = parseList(path, text).stories[0]?.id ?? '';
      assert.throws(() => editStoryDone(text, { id }, true, path), /list or an object/, path);
    }
    const text = '[{"id":"a","title":"t","status":["done"]}]';
    assert.equal(
      editStoryDone(text, { id: 'a' }, true, 'prd.json'),
      '[{"id":"a","title":"t","status":["done"],"passes":true}]',
    );
  });

  test('lists of other things with numbers as their status are no stories', () => {
    const file = parseStoryFile('prd.json', '{"items":[{"status":200},{"status":404}]}');
    assert.deepEqual(
      file.problems.map(({ code }) => code),
      ['noStories'],
    );
  });
});

test('a key with null is not set, so the next one decides, and a tick that is taken back restores it', () => {
  for (const [keys, done] of [
    ['"passes":null,"status":"done"', true],
    ['"status":null,"state":"done"', true],
    ['"passes":null,"completed":true', true],
    ['"passes":null,"status":"pending"', false],
    ['"passes":null,"completed":false', false],
    ['"passes":null,"status":null', false],
  ] as const) {
    const text = `[{"id":"a","title":"t",${keys}}]`;
    assert.deepEqual(stateOf('prd.json', text), [done ? 'done' : 'open'], keys);
    const { text: changed, undo } = tickText(text, { id: 'a' }, !done, {});
    assert.deepEqual(stateOf('prd.json', changed), [done ? 'open' : 'done'], keys);
    assert.ok(undo);
    assert.equal(tickText(changed, { id: 'a' }, done, { undos: [undo] }).text, text, keys);
  }
  assert.deepEqual(stateOf('prd.json', '[{"id":"a","title":"t","passes":null,"status":"huh"}]'), [
    'open',
    'unknownStatus 1',
  ]);
});

test('a passing feature is done, and is set back with a word for not done', () => {
  const text =
    '[{"id":"a","title":"t","status":"passing"},{"id":"b","title":"t","status":"failing"}]';
  const list = parseList('feature_list.json', text);
  assert.deepEqual(
    list.stories.map(({ done }) => done),
    [true, false],
  );
  assert.deepEqual(list.problems, []);
  const open = editStoryDone(text, { id: 'a' }, false, 'feature_list.json');
  assert.equal(open, text.replace('passing', 'failing'));
  assert.equal(
    editStoryDone(open, { id: 'a' }, true, 'feature_list.json'),
    text.replace('passing', 'done'),
  );
});

describe('finding a story file', () => {
  test('a prd.json comes first, then the other places in order', async t => {
    const workspace = await folderFor(t);
    const put = async (place: string, text: string) => {
      const path = join(workspace, ...place.split('/'));
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
      return path;
    };
    const contentOf = (path: string) =>
      path.endsWith('.json')
        ? '{"tasks": [{"id": 1, "title": "t", "status": "pending", "subtasks": []}]}'
        : path.endsWith('.md')
          ? '- [ ] x'
          : path.endsWith('l') && !path.endsWith('yaml') && !path.endsWith('yml')
            ? '{"id":"a","title":"t"}'
            : 'phases: [{tasks: [{id: a}]}]';
    await mkdir(join(workspace, '.ralphy'));
    for (const place of OTHER_STORY_FILE_PLACES.toReversed()) {
      const path = await put(place.replace('*', 'one'), contentOf(place));
      assert.equal((await findStoryFile(workspace))?.toLowerCase(), path.toLowerCase());
      if (place.endsWith('*.yml')) {
        // Otherwise there would be two in one place.
        await rm(path);
      }
    }
    const prd = await put('plans/prd.json', '[]');
    assert.equal(await findStoryFile(workspace), prd);
  });

  test('a PRD.md is the list of ralphy where its folder is, and elsewhere a document', async t => {
    const workspace = await folderFor(t);
    await writeFile(join(workspace, 'PRD.md'), '- [ ] Sign in\n');
    assert.equal(await findStoryFile(workspace), undefined);
    await mkdir(join(workspace, '.ralphy'));
    assert.equal(await findStoryFile(workspace), join(workspace, 'PRD.md'));
  });

  test('a broken file with a name that others use, too, counts if it shows its tool', async t => {
    const workspace = await folderFor(t);
    const put = putIn(workspace);
    const other = await put('openspec/changes/c/tasks.md', '- [ ] x');
    for (const [place, isIts, text] of [
      ['tasks.yaml', true, 'tasks:\n  - title: A\n\t- title: B\n'],
      ['tasks.yaml', true, '# Mine\r\ntasks: # all\r\n  - title: A\r\n - title: B\r\n'],
      ['tasks.yml', true, 'tasks:\n\n- completed: no\n  title: "A\n'],
      ['tasks.yaml', true, 'tasks:\n<<<<<<< HEAD\n- title: A\n=======\n- title: B\n>>>>>>> b\n'],
      ['tasks.yaml', true, 'tasks:\n  - id: T1\n    name: a: b\n    status: pending\n'],
      ['tasks.yml', true, 'tasks:\n  - id: T1\n\tname: A\n\tstatus: pending\n'],
      ['tasks.yaml', true, 'tasks:\n  - id: T1\n    passed: false\n    passed: true\n'],
      ['tasks.yaml', true, 'tasks:\n  - name: "A\n    description: What it is about\n'],
      ['tasks.yaml', true, '---\ntasks: &all\n  -\n    id: T1\n    name: A\n---\nx: y\n'],
      ['tasks.yaml', true, 'tasks: [{id: T1, name: A}, {id: T2, name: B}\n'],
      ['tasks.yaml', true, 'tasks:\n  - {id: T1, name: A\n'],
      [
        'tasks.yaml',
        true,
        'phases:\n  - name: P\n    tasks:\n      - id: T1\n        name: a: b\n',
      ],
      ['tasks.yaml', false, 'tasks:\n  - name: A\n    apt:\n      name: git\n      status: a: b\n'],
      ['tasks.yaml', false, 'tasks:\n  - {name: A, apt: {name: git}\n'],
      ['tasks.yaml', false, 'tasks:\n  - id: a\n    type: io.kestra.core.Log\n    message: a: b\n'],
      [
        'tasks.yaml',
        false,
        'on: push\njobs:\n  a:\n    steps:\n      - id: a\n        name: a: b\n',
      ],
      ['tasks.yml', false, 'version: 0.2\nphases:\n  build:\n    commands:\n      - a: b: c\n'],
      ['tasks.yaml', false, '- name: A\n  apt: {name: git\n'],
      ['tasks.yaml', false, '- hosts: all\n  tasks:\n    - title: "A\n'],
      ['tasks.yml', false, "version: '3'\ntasks:\n  build:\n    cmds:\n\t- title: A\n"],
      ['tasks.yaml', false, 'tasks:\n  - task: "a\ndocs:\n  - title: A\n'],
      ['tasks.yaml', false, 'apiVersion: v1\nkind: Pipeline\nspec:\n  tasks:\n\t- title: A\n'],
      ['tasks.yaml', false, 'items:\n  - title: "A\n'],
      ['tasks/tasks.json', true, '{"tasks":[{"id":1,"title":"A","subtasks":[]},{"id":2,'],
      ['tasks/tasks.json', true, '{"a":{},"b":{"tasks":[{"id":1,"testStrategy":""},]}}'],
      ['tasks/tasks.json', true, '{\n  "master": {\n    "tasks": [\n      {\n        "id": 1,\n '],
      ['tasks/tasks.json', true, '{"tasks":['],
      ['tasks/tasks.json', false, '{"tasks":[{"label":"build","comm'],
      ['tasks/tasks.json', false, '{"tasks":[{"id":1,"title":"A"},{"id":2'],
      ['tasks/tasks.json', false, '{"version":"2.0.0","tasks":['],
      ['tasks/tasks.json', false, '{"todos":[{"subtasks":[]}'],
      ['tasks/tasks.json', false, '{'],
    ] as const) {
      const path = await put(place, text);
      const found = (await knownSources(workspace)).map(source => source.path);
      assert.deepEqual(found, isIts ? [path, other] : [other], text);
      assert.equal(await findStoryFile(workspace), found[0]);
      await rm(path);
    }
  });

  test('a file without stories does not count, and there is no guess between two in one place', async t => {
    const workspace = await folderFor(t);
    const put = putIn(workspace);
    await put('.beads/issues.jsonl', '');
    await put('PLAN.md', '# Only prose\n\n```\n- [ ] example\n```\n');
    await put('.claude/orchestration/_template.yaml', 'phases: [{tasks: [{id: a}]}]');
    await mkdir(join(workspace, 'fix_plan.md'));
    await put('openspec/changes/archive/tasks.md', '- [ ] x');
    assert.equal(await findStoryFile(workspace), undefined);
    const first = await put('specs/001-a/tasks.md', '- [ ] x');
    await put('specs/002-b/notes.md', '- [ ] x');
    assert.equal(await findStoryFile(workspace), first);
    const second = await put('specs/002-b/tasks.md', '- [ ] x');
    assert.equal(await findStoryFile(workspace), undefined);
    // What is done is not what somebody wants to work on.
    await put('specs/001-a/tasks.md', '- [x] x');
    assert.equal(await findStoryFile(workspace), second);
    const planned = join(workspace, 'specs', '003-c', 'tasks.md');
    assert.equal(await storyFileWith(workspace, planned), undefined);
    await put('specs/002-b/tasks.md', '- [x] x');
    assert.equal(await findStoryFile(workspace), undefined);
    assert.equal(await storyFileWith(workspace, planned), planned);
    const graph = join(workspace, '.ralph', 'tasks.jsonl');
    assert.equal(await storyFileWith(workspace, graph), graph);
    const prd = await put('prd.json', '[]');
    assert.equal(await storyFileWith(workspace, graph), prd);
  });

  test('orchestrations are in one place, whether their names end with .yaml or .yml', async t => {
    const workspace = await folderFor(t);
    const put = putIn(workspace);
    const first = await put('.claude/orchestration/a.yaml', 'phases: [{tasks: [{id: a}]}]');
    assert.equal(await findStoryFile(workspace), first);
    const planned = join(workspace, '.claude', 'orchestration', 'c.yml');
    assert.equal(await storyFileWith(workspace, planned), undefined);
    const second = await put('.claude/orchestration/b.yml', 'phases: [{tasks: [{id: b}]}]');
    assert.equal(await findStoryFile(workspace), undefined);
    await put('.claude/orchestration/a.yaml', 'phases: [{tasks: [{id: a, status: completed}]}]');
    assert.equal(await findStoryFile(workspace), second);
  });
});

test('an edit on disk keeps BOM, CRLF and a missing final newline in every format', async t => {
  const folder = await folderFor(t);
  for (const [name, id, from, to] of [
    ['plan.md', 'T002', '[ ] T002 ', '[x] T002 '],
    ['issues.jsonl', 'g-2', '水","status":"open"', '水","status":"closed"'],
    ['orchestration.yaml', '1.10', '"in_progress"', '"completed"'],
  ] as const) {
    const text = `\uFEFF${(await fixture(name)).trimEnd().replaceAll('\n', '\r\n')}`;
    const path = join(folder, name);
    await writeFile(path, text);
    assert.equal((await setStoryDone(path, { id }, true)).changed, true);
    assert.equal(await readFile(path, 'utf8'), text.replace(from, to));
  }
});
