import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseDocument, stringify } from 'yaml';
import { editStoryDone } from '../../src/orchestrator/stories/edit/edit.ts';
import type { Story } from '../../src/orchestrator/stories/story.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';

const styles = fc.record({
  eol: fc.constantFrom('\n', '\r\n'),
  bom: fc.boolean(),
  lastNewline: fc.boolean(),
});

/** Lines as a file in some style. */
function inStyle(lines: fc.Arbitrary<readonly string[]>): fc.Arbitrary<string> {
  return fc
    .tuple(lines, styles)
    .map(
      ([all, { eol, bom, lastNewline }]) =>
        `${bom ? '\uFEFF' : ''}${all.join(eol)}${lastNewline ? eol : ''}`,
    );
}

const word = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom(
    '[ ] x',
    '```',
    '# a',
    'T001 b',
    'status: pending',
    '鳥\u2028',
    '"',
    "'",
    '- [x]',
  ),
);
const oneLine = word.map(text => `a${text.replaceAll(/[\r\n\u0085\p{Cc}]/gu, ' ')}`);

const planLine = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.constantFrom('', '  ', '\t', '      '),
        fc.constantFrom('-', '*', '+', '1.', '23)'),
        fc.constantFrom(' ', 'x', 'X', '~', '!', '-', '🚀', '\u00a0'),
        oneLine,
      )
      .map(([indent, marker, mark, text]) => `${indent}${marker} [${mark}] ${text}`),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '```',
      '~~~sh',
      '  ```js',
      '<!--',
      '-->',
      '<!-- a -->',
      '# A',
      '## B',
      '',
      '---',
      '- [P] a',
      '- [ ]',
      '  more',
    ),
  },
  { weight: 1, arbitrary: oneLine },
);
const plans = inStyle(
  fc
    .tuple(fc.array(planLine, { maxLength: 12 }), fc.array(planLine, { maxLength: 12 }))
    .map(([before, after]) => [...before, '- [ ] one', ...after]),
).filter(text => parseStoryFile('plan.md', text).kind === 'stories');

const issues = fc.record(
  {
    title: word,
    status: fc.constantFrom('open', 'closed', 'in_progress', 'tombstone', null, 7),
    description: fc.string({ unit: 'binary', maxLength: 12 }),
    closed_at: word,
    priority: fc.integer({ min: 0, max: 4 }),
    dependencies: fc.array(
      fc.record({
        depends_on_id: fc.constantFrom('i0', 'i1', 'gone'),
        type: fc.constantFrom('blocks', 'parent-child'),
      }),
      { maxLength: 2 },
    ),
    model: fc.constantFrom('opus', '-p', null),
    effort: fc.constantFrom('high', 'S'),
    extra: fc.jsonValue({ maxDepth: 2 }),
  },
  { requiredKeys: ['title'] },
);
const beads = inStyle(
  fc
    .array(fc.tuple(issues, fc.constantFrom('', ' ', '\t'), fc.boolean()), {
      minLength: 1,
      maxLength: 6,
    })
    .map(list =>
      list.flatMap(([issue, space, isSpaced], i) => {
        const line = JSON.stringify({ id: `i${i}`, ...issue }, null, isSpaced ? 1 : 0);
        return [`${space}${line.replaceAll('\n', '')}${space}`, ...(isSpaced ? [''] : [])];
      }),
    ),
);

const tasks = fc.record(
  {
    name: word,
    description: fc.array(word, { maxLength: 3 }).map(lines => lines.join('\n')),
    status: fc.constantFrom('pending', 'completed', 'in_progress', 'done', 'blocked', null),
    passes: fc.boolean(),
    depends_on: fc.array(fc.constantFrom('t0', 't1', 'gone'), { maxLength: 2 }),
    model: fc.constantFrom('opus', '-p', 'a b', null),
    effort: fc.constantFrom('high', '2 days'),
    max_turns: fc.constantFrom(7, 0),
    estimated_hours: fc.double({ noNaN: true, noDefaultInfinity: true }),
  },
  { requiredKeys: [] },
);
const orchestrations = inStyle(
  fc
    .record({
      phases: fc.array(fc.array(tasks, { minLength: 1, maxLength: 3 }), {
        minLength: 1,
        maxLength: 3,
      }),
      indent: fc.integer({ min: 2, max: 6 }),
      indentSeq: fc.boolean(),
      quote: fc.constantFrom('PLAIN', 'QUOTE_DOUBLE', 'QUOTE_SINGLE'),
      flow: fc.constantFrom('any', 'flow'),
      comment: fc.boolean(),
    })
    .map(({ phases, indent, indentSeq, quote, flow, comment }) => {
      let count = 0;
      const root = {
        phases: phases.map((list, i) => ({
          name: `Phase ${i}`,
          tasks: list.map(task => ({ id: `t${count++}`, ...task })),
        })),
      };
      const text = stringify(root, {
        indent,
        indentSeq,
        defaultStringType: quote as 'PLAIN',
        collectionStyle: flow as 'any',
        lineWidth: 0,
        aliasDuplicateObjects: false,
      });
      const lines = text.trimEnd().split('\n');
      return comment
        ? ['# odd   comment', ...lines.map(line => line.replace(/(status: \w+)$/, '$1   # a | b'))]
        : lines;
    }),
  // In braces, the library writes a few texts over several lines that it cannot read itself.
).filter(text => parseDocument(text).errors.length === 0);

const states = fc.constantFrom(
  'pending',
  'done',
  'in-progress',
  'review',
  'cancelled',
  'x',
  null,
  7,
);
const someNeeds = fc.array(fc.constantFrom<unknown>(1, '2', '1.1', 9, null, { id: 1 }), {
  maxLength: 3,
});
const part = { title: word, status: states, dependencies: someNeeds, extra: fc.jsonValue() };
const taskMasters = fc
  .record({
    tags: fc.array(
      fc.array(
        fc.record(
          {
            ...part,
            priority: fc.constantFrom('high', 'low', 3, null),
            subtasks: fc.array(fc.record(part, { requiredKeys: ['title'] }), { maxLength: 3 }),
            details: word,
          },
          { requiredKeys: ['title'] },
        ),
        { minLength: 1, maxLength: 4 },
      ),
      { minLength: 1, maxLength: 3 },
    ),
    isFlat: fc.boolean(),
    indent: fc.constantFrom(0, 1, 2, '\t'),
  })
  .map(({ tags, isFlat, indent }) => {
    const lists = tags.map(list =>
      list.map((task, i) => ({
        id: i + 1,
        ...task,
        ...(task.subtasks && { subtasks: task.subtasks.map((sub, j) => ({ id: j + 1, ...sub })) }),
      })),
    );
    const root = isFlat
      ? { tasks: lists[0] }
      : Object.fromEntries(lists.map((tasks, i) => [i === 0 ? 'master' : `tag${i}`, { tasks }]));
    return JSON.stringify(root, null, indent);
  });

const orchestratorTasks = inStyle(
  fc
    .array(
      fc.record(
        {
          title: word,
          status: fc.constantFrom('open', 'closed', 'in_progress', 'failed', 'x', null),
          priority: fc.integer({ min: 1, max: 5 }),
          blocked_by: fc.array(fc.constantFrom('t0', 't1', 'gone'), { maxLength: 2 }),
          key: word,
        },
        { requiredKeys: ['title'] },
      ),
      { minLength: 1, maxLength: 6 },
    )
    .map(list => list.map((task, i) => JSON.stringify({ id: `t${i}`, ...task }))),
);

function storiesOf(path: string, text: string): readonly Story[] {
  const file = parseStoryFile(path, text);
  assert.ok(file.kind === 'stories', JSON.stringify(file));
  return file.stories;
}

/** Where two texts begin and end to differ. */
function difference(before: string, after: string): { readonly old: string; readonly now: string } {
  let start = 0;
  while (start < before.length && before[start] === after[start]) {
    start++;
  }
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) {
    end++;
  }
  return {
    old: before.slice(start, before.length - end),
    now: after.slice(start, after.length - end),
  };
}

/** An edit sets one story, and leaves all facts of the others and all bytes around the change. */
function checkEdit(path: string, text: string, pick: number, isSmall: RegExp): void {
  const stories = storiesOf(path, text);
  const story = stories[pick % stories.length];
  assert.ok(story);
  const selector = { id: story.id, position: story.position };
  assert.equal(editStoryDone(text, selector, story.done, path), text);

  const edited = editStoryDone(text, selector, !story.done, path);
  const after = storiesOf(path, edited);
  assert.equal(after[story.position]?.done, !story.done);
  // Lines move when a key is added; who waits for whom changes when what was put aside is not any more, and subtasks
  // are put aside with their task. The next tag has its turn when one is done.
  const facts = (list: readonly Story[]) =>
    list
      .filter(({ position }) => position !== story.position)
      .map(({ afterTag, line, dependsOn, parked, ...rest }) => rest);
  assert.deepEqual(facts(after), facts(stories));
  const { old, now } = difference(text, edited);
  assert.match(`${old}→${now}`, isSmall);
  assert.equal(edited.startsWith('\uFEFF'), text.startsWith('\uFEFF'));
  assert.equal(/(?<!\r)\n/.test(edited), /(?<!\r)\n/.test(text));

  const back = editStoryDone(edited, selector, story.done, path);
  assert.deepEqual(
    storiesOf(path, back).map(({ done }) => done),
    stories.map(({ done }) => done),
  );
}

describe('an edit has its effect, and everything else stays byte for byte', () => {
  test('in a plan', () => {
    fc.assert(
      fc.property(plans, fc.nat(), (text, pick) => {
        checkEdit('plan.md', text, pick, /^(?:.{1,2})→[xX ]$/u);
      }),
      { numRuns: 500 },
    );
  });

  test('in Beads', () => {
    fc.assert(
      fc.property(beads, fc.nat(), (text, pick) => {
        checkEdit('issues.jsonl', text, pick, /^[\w"]*→[\w", :]*$/);
      }),
      { numRuns: 500 },
    );
  });

  test('in our task graph', () => {
    fc.assert(
      fc.property(beads, fc.nat(), (text, pick) => {
        checkEdit('.ralph/tasks.jsonl', text, pick, /^[\w"]*→[\w", :]*$/);
      }),
      { numRuns: 300 },
    );
  });

  test('in Task Master, for each tag, task and subtask', () => {
    fc.assert(
      fc.property(taskMasters, fc.nat(), (text, pick) => {
        checkEdit('.taskmaster/tasks/tasks.json', text, pick, /^[\w"-]*→[\w", :\r\n\t-]*$/);
      }),
      { numRuns: 300 },
    );
  });

  test('in ralph-orchestrator', () => {
    fc.assert(
      fc.property(orchestratorTasks, fc.nat(), (text, pick) => {
        checkEdit('.ralph/agent/tasks.jsonl', text, pick, /^[\w"]*→[\w", :]*$/);
      }),
      { numRuns: 300 },
    );
  });

  test('in an orchestration', () => {
    fc.assert(
      fc.property(orchestrations, fc.nat(), (text, pick) => {
        // Where a task has both, `passes` and `status` change, and whatever stands between them is part of this.
        const isBoth = /passes/.test(text);
        const small = isBoth ? /→/ : /^[\w"']*→[\w"', :\r\n]*$/;
        checkEdit('plan.yaml', text, pick, small);
      }),
      { numRuns: 300 },
    );
  });
});

describe('any content is read without an error', () => {
  for (const path of [
    'plan.md',
    'specs/INDEX.md',
    'issues.jsonl',
    'tasks.jsonl',
    'plan.yaml',
    'stories',
  ]) {
    test(`as ${path}`, () => {
      const pieces = fc.array(
        fc.oneof(
          fc.constantFrom(
            '- [ ] ',
            '```',
            '\n',
            ' ',
            '{"id":',
            '{"master":{"tasks":[',
            '{"tasks":[{"id":1,"title":"a","subtasks":[',
            '"blocked_by":[',
            ']}',
            '},{',
            '{}',
            '- [] ',
            '1',
            '}',
            '[',
            'phases:',
            'tasks:',
            '  - id: ',
            '&a',
            '*a',
            '<<: ',
            '!!x',
            '<!--',
            '"',
            '\r',
            '\t',
            '|',
            '? ',
            '---\n',
          ),
          fc.string({ maxLength: 5 }),
        ),
        { maxLength: 20 },
      );
      fc.assert(
        fc.property(pieces, parts => {
          const text = parts.join('');
          const file = parseStoryFile(path, text);
          const problems = file.problems;
          const lines = text.split(/\r\n|\n|\r/).length;
          assert.ok(problems.every(({ line }) => line >= 1 && line <= lines + 1));
          assert.ok(file.kind === 'stories' || problems.length > 0);
        }),
        { numRuns: 500 },
      );
    });
  }
});
