import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { HumanError } from '../../src/base/humanError.ts';
import { englishOf } from '../../src/base/say.ts';
import { addToText } from '../../src/orchestrator/stories/edit/addStory.ts';
import { titleKey } from '../../src/orchestrator/stories/edit/newStory.ts';
import { nextStory } from '../../src/orchestrator/stories/select.ts';
import type { StoryList } from '../../src/orchestrator/stories/story.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';

const NEW = { id: 'DISC-12345678-3-1', title: 'Limit the log in', why: 'five tries', from: 'US-1' };

function listOf(path: string, text: string): StoryList {
  const file = parseStoryFile(path, text);
  assert.ok(file.kind === 'stories', JSON.stringify(file));
  return file;
}

/** The new text contains the old one around one insertion, and the story reads back. */
function checkAdded(path: string, text: string, story: typeof NEW): void {
  // One with the same title is refused.
  fc.pre(!listOf(path, text).stories.some(one => titleKey(one) === titleKey(story)));
  const { storyId, text: after } = addToText(path, text, story);
  let start = 0;
  while (start < text.length && text[start] === after[start]) {
    start++;
  }
  const inserted = after.length - text.length;
  // Where the insertion begins is not unique: some position must do.
  assert.ok(inserted > 0);
  assert.ok(
    Array.from({ length: start + 1 }, (_, n) => n).some(
      at => after.slice(0, at) + after.slice(at + inserted) === text,
    ),
    `${JSON.stringify(text)}\n→\n${JSON.stringify(after)}`,
  );
  const before = listOf(path, text).stories;
  const added = listOf(path, after).stories.at(-1);
  assert.equal(storyId, story.id);
  assert.deepEqual(
    [added?.id, added?.done, added?.parked, added?.title.includes(story.title)],
    [story.id, false, undefined, true],
  );
  assert.equal(listOf(path, after).stories.length, before.length + 1);
  assert.ok(`${added?.description}`.includes(story.why));
  if (text.includes('\n')) {
    assert.equal(/(?<!\r)\n/.test(after), /(?<!\r)\n/.test(text));
  }
  // Again, it is there already.
  assert.equal(addToText(path, after, story).text, after);
}

const words = fc
  .array(
    fc.constantFrom('a', 'Ü', '"', "'", '\\', '#', ':', '- [x]', '{', '<!--', '`', '|', '$&', '鳥'),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map(parts => `x ${parts.join(' ')} y`);
const stories = fc.record({
  id: fc.constant(NEW.id),
  title: words.filter(text => !text.includes('<!--')),
  why: words.filter(text => !text.includes('<!--')),
  from: fc.constantFrom('US-1', 'T 2'),
});
const eols = fc.constantFrom('\n', '\r\n');
const ends = fc.constantFrom('', '\n');

describe('a story is added with the smallest edit', () => {
  const entry = fc.record(
    {
      title: fc.string({ minLength: 1, maxLength: 6 }),
      description: fc.string({ minLength: 1, maxLength: 6 }),
      passes: fc.constantFrom(true, false, 'passing', 'failing'),
      status: fc.constantFrom('open', 'done', 'in_progress'),
      priority: fc.constantFrom(1, 2.5, 'high'),
      tested: fc.boolean(),
      tags: fc.array(fc.string({ maxLength: 3 }), { maxLength: 2 }),
    },
    { requiredKeys: ['title', 'passes'] },
  );

  test('to a prd.json of any indentation', () => {
    fc.assert(
      fc.property(
        fc.array(entry, { minLength: 1, maxLength: 4 }),
        fc.constantFrom(0, 1, 2, 4, '\t'),
        fc.constantFrom('userStories', 'tasks', undefined),
        fc.record({ eol: eols, end: ends, bom: fc.boolean() }),
        stories,
        (list, indent, key, { bom, end, eol }, story) => {
          const entries = list.map((one, i) => ({ id: `US-${i}`, ...one }));
          const root = key === undefined ? entries : { project: 'p', [key]: entries, last: [1] };
          const text = JSON.stringify(root, null, indent).replaceAll('\n', eol) + end;
          checkAdded('prd.json', bom ? `\uFEFF${text}` : text, story);
        },
      ),
      { numRuns: 400 },
    );
  });

  test('to a task graph', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ title: fc.string({ minLength: 1, maxLength: 5 }) }), {
          minLength: 1,
          maxLength: 4,
        }),
        fc.constantFrom(0, 1),
        fc.record({ eol: eols, end: fc.boolean() }),
        stories,
        (list, space, { end, eol }, story) => {
          const lines = list.map((one, i) =>
            JSON.stringify({ id: `b-${i}`, ...one, status: 'open' }, null, space).replaceAll(
              '\n',
              '',
            ),
          );
          checkAdded('tasks.jsonl', lines.join(eol) + (end ? eol : ''), story);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('to a plan, whatever its list looks like', () => {
    const item = fc
      .tuple(
        fc.constantFrom('', '  '),
        fc.constantFrom('-', '*', '1.', '9)'),
        fc.constantFrom(' ', 'x', '~'),
        fc.constantFrom('T001 one', 'two', '**bold**'),
        fc.constantFrom('', '    more', '\n      after a gap', '  ```\n  - [ ] code\n  ```'),
      )
      .map(([space, marker, mark, text, body]) =>
        [`${space}${marker} [${mark}] ${text}`, ...(body === '' ? [] : [body])].join('\n'),
      );
    fc.assert(
      fc.property(
        fc.array(item, { minLength: 1, maxLength: 4 }),
        fc.constantFrom('', '\n## After\n\nText.\n', '\n<!-- end -->\n', '\nText'),
        fc.record({ eol: eols, end: ends }),
        stories,
        (items, rest, { end, eol }, story) => {
          const text = `# Plan\n\n${items.join('\n')}${end}${rest}`.replaceAll('\n', eol);
          checkAdded('plan.md', text, story);
        },
      ),
      { numRuns: 400 },
    );
  });

  test('to an orchestration, behind the last task', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(0, 2, 4),
        fc.constantFrom('name', 'title', 'description'),
        fc.constantFrom('', '\nother: {a: 1}\n', '\n# end\n'),
        eols,
        stories,
        (indent, key, rest, eol, story) => {
          const space = ' '.repeat(indent);
          const text = [
            'project: p',
            'phases:',
            `  - name: "One"`,
            '    tasks:',
            `    ${space}- id: a   # first`,
            `    ${space}  ${key}: A task`,
            `    ${space}  status: completed`,
            '',
            `    ${space}# second`,
            `    ${space}- id: 'b'`,
            `    ${space}  ${key}: "B"`,
            `    ${space}  depends_on: [a]`,
            `    ${space}  status: pending  # soon`,
            rest,
          ].join('\n');
          checkAdded('plan.yaml', text.replaceAll('\n', eol), story);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('a story that is added', () => {
  test('is written as the other stories are', () => {
    const prd = JSON.stringify(
      { userStories: [{ id: 'US-1', title: 'A', priority: 3, status: 'todo', passes: false }] },
      null,
      2,
    );
    const { text } = addToText('prd.json', prd, NEW);
    const [, added] = JSON.parse(text).userStories;
    assert.deepEqual(added, {
      id: NEW.id,
      title: NEW.title,
      description: NEW.why,
      priority: 4,
      passes: false,
      status: 'todo',
      discoveredFrom: 'US-1',
    });
    assert.equal(text, JSON.stringify(JSON.parse(text), null, 2));
    assert.equal(listOf('prd.json', text).stories[1]?.discoveredFrom, 'US-1');
    assert.equal(nextStory(listOf('prd.json', text).stories).story?.id, 'US-1');
    assert.equal(
      addToText('plan.md', '# Plan\n- [x] US-1: A\n- [ ] US-2: B\n\nText\n', NEW).text,
      '# Plan\n- [x] US-1: A\n- [ ] US-2: B\n- [ ] DISC-12345678-3-1: Limit the log in\n  Discovered during US-1: five tries\n\nText\n',
    );
    // In the words that `convert --to yaml` writes, too.
    const tasks =
      'phases:\n  - tasks:\n      - id: US-1\n        status: pending\n        depends_on: []\n';
    assert.match(addToText('tasks.yaml', tasks, NEW).text, /^ {8}discovered_from: "?US-1"?$/m);
    const list = '{\n  "userStories": []\n}\n';
    assert.equal(listOf('prd.json', addToText('prd.json', list, NEW).text).stories.length, 1);
  });

  test('has an id only where others have one', () => {
    const feature = { category: 'functional', description: 'A', steps: ['a'], passes: true };
    const { storyId, text } = addToText('feature_list.json', JSON.stringify([feature]), NEW);
    assert.equal(storyId, '#2');
    assert.deepEqual(JSON.parse(text)[1], {
      description: `Limit the log in\nfive tries\n\nReported to Ralph Fresh as ${NEW.id}`,
      passes: false,
      discoveredFrom: 'US-1',
    });
    const [, added] = listOf('feature_list.json', text).stories;
    assert.deepEqual([added?.id, added?.title], ['#2', NEW.title]);
    assert.deepEqual(addToText('feature_list.json', text, NEW), { text, storyId });
    for (const [list, id] of [
      [[], NEW.id],
      [[{ ...feature, id: 7 }, feature], NEW.id],
      // Its text would not be read, because the description is the title.
      [[{ ...feature, details: 'more' }], NEW.id],
      [['no story', feature], '#3'],
    ] as const) {
      assert.equal(addToText('feature_list.json', JSON.stringify(list), NEW).storyId, id);
    }
  });

  test('is written like the last one, also behind an entry that is none', () => {
    for (const indent of [0, 2]) {
      const list = [{ id: 'A', title: 'a', passes: false }, 'text'];
      const before = JSON.stringify({ userStories: list }, null, indent);
      const { text } = addToText('prd.json', before, { ...NEW, from: 'A' });
      const added = {
        ...{ id: NEW.id, title: NEW.title, description: NEW.why },
        ...{ passes: false, discoveredFrom: 'A' },
      };
      assert.deepEqual(JSON.parse(text).userStories, [...list, added]);
      if (indent > 0) {
        assert.equal(text, JSON.stringify(JSON.parse(text), null, indent));
      }
    }
  });

  test('keeps a title that is another value in YAML', () => {
    const tasks = 'tasks:\n  - title: A\n    completed: false\n';
    for (const word of ['null', 'true', 'false', '-', '---', '~', 'x']) {
      const story = { ...NEW, title: word, why: word };
      const { storyId, text } = addToText('tasks.yaml', tasks, story);
      const added = listOf('tasks.yaml', text).stories.at(-1);
      assert.deepEqual([added?.id, added?.title], [storyId, word]);
      assert.equal(added?.description, `${word}\n\nReported to Ralph Fresh as ${NEW.id}`);
      assert.equal(addToText('tasks.yaml', text, story).text, text);
    }
  });

  test('is known again, whatever its title and its reason say', () => {
    const note = 'Reported to Ralph Fresh as DISC-9-9-9';
    const plan = ['plan.md', '- [ ] US-1: A\n'] as const;
    const numbered = ['specs/001/tasks.md', '- [ ] T001 A\n'] as const;
    for (const [path, before] of [plan, numbered]) {
      for (const story of [
        { ...NEW, title: 'Hide <!-- it' },
        { ...NEW, title: note },
        { ...NEW, why: note },
      ]) {
        const { text } = addToText(path, before, story);
        assert.equal(addToText(path, text, story).text, text);
      }
    }
  });

  test('gets another id if its own is taken, and is refused where there is no place', () => {
    const taken = `[{"id":"${NEW.id}","title":"Another","passes":true}]`;
    assert.equal(addToText('prd.json', taken, NEW).storyId, `${NEW.id}-2`);
    const flow = 'phases: [{name: a, tasks: [{id: t, name: T, status: pending}]}]\n';
    const refusal = (path: string, text: string) => {
      try {
        addToText(path, text, NEW);
      } catch (error) {
        assert.ok(error instanceof HumanError);
        return englishOf(error.said);
      }
      return undefined;
    };
    assert.match(
      refusal('a.yaml', flow) ?? '',
      /because its tasks are in brackets, .*Add it by hand: "Limit the log in: .*"/,
    );
    assert.match(
      refusal('.ralph/agent/tasks.jsonl', '{"id":"t","title":"T","status":"open"}\n') ?? '',
      /Only ralph-orchestrator adds .*: ralph tools task add "Limit the log in: five tries"/,
    );
    const sprint = 'development_status:\n  epic-1: in-progress\n  1-1-login: backlog\n';
    assert.match(
      refusal('sprint-status.yaml', sprint) ?? '',
      /sprint planning .*"Limit the log in: .*"\. Then .*: ralph-fresh discovered drop /s,
    );
    assert.match(refusal('prd.json', '{') ?? '', /Line 1/);
    const twin = JSON.stringify([
      { id: 'US-9', title: `${NEW.title.toUpperCase()}!`, passes: true },
    ]);
    assert.match(
      refusal('prd.json', twin) ?? '',
      /prd\.json has the story US-9 with this title already\. If it is the same work: .*drop DISC-/,
    );
    assert.match(
      refusal('plan.md', `- [ ] US-9: ${NEW.title}\n`) ?? '',
      /the story US-9 with this/,
    );
    assert.equal(refusal('plan.md', `- [ ] US-9: ${NEW.title} again\n`), undefined);
  });
});
