import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { addToText } from '../../src/orchestrator/stories/edit/addStory.ts';
import { packFolder, unpackFolder } from '../../src/orchestrator/stories/formats/folderText.ts';
import { idsWithReports } from '../../src/orchestrator/stories/reportNote.ts';
import type { Story } from '../../src/orchestrator/stories/story.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { backlogTask, fileOf } from '../support/backlogFolder.ts';

const REPORT = 'DISC-12345678-3-1';
const NOTE = `Reported to Ralph Fresh as ${REPORT}`;
const AT = new Date('2026-08-15T14:00:00Z');

const words = fc
  .array(
    fc.constantFrom(
      'a',
      'Ü',
      '"',
      "'",
      '\\',
      '#',
      ':',
      '- [x]',
      '{',
      '`',
      '|',
      '$&',
      '鳥',
      '/',
      '..',
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map(parts => `x ${parts.join(' ')} y`);
const news = fc.record({
  ...{ id: fc.constant(REPORT), title: words, at: fc.constant(AT) },
  why: fc.option(
    fc.oneof(
      words,
      fc
        .tuple(fc.constantFrom('## ', '- [x] ', '1. [ ] ', '```', '~~~'), words)
        .map(parts => parts.join('')),
      words.map(text => `=== ralph-fresh file tasks/${text}`),
    ),
    { nil: undefined },
  ),
  from: fc.option(fc.constantFrom('US-1', '2.3', 'T 2'), { nil: undefined }),
});
type New = Parameters<typeof addToText>[2];
const eols = fc.constantFrom('\n', '\r\n');

function storiesOf(path: string, content: string | Uint8Array): readonly Story[] {
  const file = parseStoryFile(path, content);
  assert.ok(file.kind === 'stories', JSON.stringify(file));
  // The title of one of these stories may look like two items; it is read all the same.
  const looksLikeTwo = new Set(
    file.stories.flatMap(({ line, title }) => (title.includes('- [x]') ? [line] : [])),
  );
  const others = file.problems.filter(
    ({ code, line }) =>
      code !== 'unknownDependency' && !(code === 'notAStory' && looksLikeTwo.has(line)),
  );
  assert.deepEqual(others, []);
  return file.stories;
}

/** What stands before and behind the new text is the old one. */
function checkInserted(before: string, after: string): void {
  const length = after.length - before.length;
  assert.ok(length > 0);
  let start = 0;
  while (start < before.length && before[start] === after[start]) {
    start++;
  }
  // Where an insertion begins is not unique.
  const isOne = Array.from({ length: start + 1 }, (_, back) => start - back).some(
    at => after.slice(at + length) === before.slice(at),
  );
  assert.ok(isOne, `${JSON.stringify(before)}\n→\n${JSON.stringify(after)}`);
}

/** Adds a story, and returns what is read back of it; all others are as before. */
function added(path: string, before: string | Uint8Array, story: New): Story & { after: string } {
  const { storyId, text: after } = addToText(path, before, story);
  const old = storiesOf(path, before);
  const now = storiesOf(path, after);
  const found = now.find(({ id }) => id === storyId);
  assert.ok(found !== undefined);
  const without = (stories: readonly Story[]) =>
    stories.map(one => ({ ...one, line: 0, position: 0 }));
  assert.deepEqual(without(now.filter(one => one !== found)), without(old));
  assert.equal(
    old.some(({ id }) => id === storyId),
    false,
  );
  assert.deepEqual(
    [found.done, found.parked, found.criteria, found.dependsOn],
    [false, undefined, [], []],
  );
  // With backslashes, its marks are no Markdown.
  const plain = (text: string) => text.replaceAll('\\', '');
  assert.ok(plain(found.description).includes(plain(story.why ?? '')), found.description);
  assert.ok(found.description.includes(NOTE));
  assert.ok(idsWithReports(now).has(REPORT));
  // The same report is not added again, whatever its title is by now.
  assert.deepEqual(addToText(path, after, { ...story, title: 'Other' }), { text: after, storyId });
  return { ...found, after };
}

describe('a story is added with the next number of its tool', () => {
  test('Backlog.md: a prefix that is no word counts as none', () => {
    const task = { id: 'task-7', title: 'Add a cart' };
    const files = new Map([
      ['config.yml', Buffer.from('task_prefix: "(("\n')],
      [`tasks/${fileOf(task)}`, Buffer.from(backlogTask(task))],
    ]);
    const story = { id: REPORT, title: 'Limit the log in', at: AT };
    assert.equal(
      addToText('/w/backlog', packFolder({ files, completed: [], unread: [] }), story).storyId,
      'task-8',
    );
  });

  const task = fc.record(
    {
      // Never the title of the report, which begins with x: that one is refused.
      title: fc.string({ maxLength: 6 }).map(text => `T${text}`),
      description: fc.string({ maxLength: 6 }),
      status: fc.constantFrom('pending', 'done', 'in-progress', 'deferred', 'cancelled'),
      dependencies: fc.constant([]),
      priority: fc.constantFrom('high', 'medium', 'low'),
      subtasks: fc.constantFrom([], [{ id: 1, title: 'Part', status: 'pending' }]),
    },
    { requiredKeys: ['title', 'status', 'subtasks'] },
  );

  test('to Task Master, in one list and by tags', () => {
    fc.assert(
      fc.property(
        fc.array(task, { maxLength: 4 }),
        fc.array(task, { maxLength: 2 }),
        fc.constantFrom('list', 'tags'),
        fc.record({ eol: eols, indent: fc.constantFrom(0, 2, 4, '\t'), texts: fc.boolean() }),
        news,
        (list, others, shape, { eol, indent, texts }, story) => {
          const numbered = (tasks: typeof list) =>
            tasks.map((one, index) => ({ id: texts ? `${index * 3 + 1}` : index * 3 + 1, ...one }));
          const tasks = numbered(list);
          const metadata = { created: '2026-08-15T14:00:00.000Z' };
          const root =
            shape === 'list'
              ? { tasks, metadata }
              : { master: { tasks, metadata }, shop: { tasks: numbered(others), metadata } };
          const text = JSON.stringify(root, null, indent).replaceAll('\n', eol);
          const path = '.taskmaster/tasks/tasks.json';
          const one = added(path, text, story);
          checkInserted(text, one.after);
          assert.equal(one.title, story.title);
          if (indent !== 0 && tasks.length > 0) {
            const now = JSON.stringify(JSON.parse(one.after), null, indent);
            assert.equal(one.after, now.replaceAll('\n', eol));
          }
          const [, number = ''] = /(\d+)$/.exec(one.id) ?? [];
          const all = JSON.parse(one.after);
          const lists = shape === 'list' ? [all] : [all.master, all.shop];
          const entry = lists
            .flatMap(({ tasks: now }) => now)
            .find(({ details }) => typeof details === 'string' && details.includes(NOTE));
          assert.equal(`${entry.id}`, number);
          assert.deepEqual(
            [entry.status, entry.priority, entry.dependencies, entry.subtasks],
            ['pending', 'medium', [], []],
          );
          assert.notEqual(entry.description, '');
        },
      ),
      { numRuns: 400 },
    );
  });

  test('to a folder of Backlog.md, as a file of its own', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('To Do', 'Done', 'In Progress'), { minLength: 1, maxLength: 4 }),
        fc.constantFrom('task', 'TASK'),
        fc.record({ eol: eols, ordinals: fc.boolean(), completed: fc.boolean() }),
        news,
        (statuses, prefix, { completed, eol, ordinals }, story) => {
          const tasks = statuses.map((status, index) => ({
            id: `${prefix}-${index + 9}`,
            title: `Task ${index}`,
            status,
            more: ordinals ? [`ordinal: ${index * 500}`] : [],
          }));
          const files = new Map(
            tasks.map(one => [
              `tasks/${fileOf(one)}`,
              Buffer.from(backlogTask(one).replaceAll('\n', eol)),
            ]),
          );
          const names = completed ? ['task-40 - Old.md'] : [];
          const before = packFolder({ files, completed: names, unread: [] });
          const one = added('backlog', before, story);
          checkInserted(before.toString('utf8'), one.after);
          const next = completed ? 41 : statuses.length + 9;
          assert.equal(one.id, `${prefix}-${next}`);
          assert.equal(one.title, story.title);
          assert.equal(one.status, 'To Do');
          const after = unpackFolder(Buffer.from(one.after));
          // In the order in which the folder is read again.
          assert.equal(packFolder(after).toString('utf8'), one.after);
          const name = [...after.files.keys()].find(file => !files.has(file)) ?? '';
          assert.match(name, new RegExp(`^tasks/task-${next} - x-[^/\\\\<>:"|?*]*\\.md$`));
          const text = after.files.get(name)?.toString('utf8') ?? '';
          assert.equal(/(?<!\r)\n/.test(text), eol === '\n');
          assert.match(text, /created_date: '2026-08-15 14:00'/);
          assert.equal(/^ordinal: /m.test(text), ordinals);
        },
      ),
      { numRuns: 300 },
    );
  });

  const body = fc.constantFrom('', '\n  more', '\n  - detail\n  - _Requirements: 1.1_');
  const marks = fc.constantFrom(' ', 'x', '-');

  test('to the tasks of Spec Kit and OpenSpec, at the end of the last open section', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('speckit', 'openspec'),
        fc.array(fc.array(fc.tuple(marks, body), { minLength: 1, maxLength: 3 }), {
          minLength: 1,
          maxLength: 3,
        }),
        fc.record({ eol: eols, end: fc.constantFrom('', '\n', '\n\n## Notes\n\nText.\n') }),
        news,
        (tool, sections, { end, eol }, story) => {
          let count = 0;
          const text = sections
            .map((items, section) => {
              const lines = items.map(([mark, below], index) => {
                count++;
                const id =
                  tool === 'openspec'
                    ? `${section + 1}.${index + 1}`
                    : `T${`${count}`.padStart(3, '0')}`;
                return `- [${mark}] ${id} Item${below}`;
              });
              return `## ${section + 1}. Section\n\n${lines.join('\n')}`;
            })
            .join('\n\n');
          const before = `# Tasks\n\n${text}${end}`.replaceAll('\n', eol);
          const isOpen = (items: (typeof sections)[number]) => items.some(([mark]) => mark !== 'x');
          const last = sections.findLastIndex(isOpen);
          const section = last === -1 ? sections.length - 1 : last;
          const one = added('specs/1/tasks.md', before, story);
          checkInserted(before, one.after);
          const expected =
            tool === 'openspec'
              ? `${section + 1}.${(sections[section]?.length ?? 0) + 1}`
              : `T${`${count + 1}`.padStart(3, '0')}`;
          assert.equal(one.id, expected);
          assert.equal(one.title, `${expected} ${story.title}`);
          assert.equal(one.epic, `${section + 1}. Section`);
          assert.equal(/(?<!\r)\n/.test(one.after), eol === '\n');
        },
      ),
      { numRuns: 300 },
    );
  });

  test('to the tasks of Kiro, as the next one that is no part of another', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(marks, fc.integer({ min: 0, max: 2 }), body), {
          minLength: 1,
          maxLength: 4,
        }),
        fc.record({ eol: eols, end: fc.constantFrom('', '\n', '\n\n## Notes\n\nText.\n') }),
        news,
        (items, { end, eol }, story) => {
          const text = items
            .map(
              ([mark, parts, below], index) =>
                [
                  `- [${mark}] ${index + 1}. Item`,
                  ...Array.from(
                    { length: parts },
                    (_, part) => `  - [${mark}] ${index + 1}.${part + 1} Part\n    - detail`,
                  ),
                ].join('\n') + below,
            )
            .join('\n');
          const before = `# Implementation Plan\n\n${text}${end}`.replaceAll('\n', eol);
          const one = added('.kiro/specs/a/tasks.md', before, story);
          checkInserted(before, one.after);
          assert.equal(one.id, `${items.length + 1}`);
          assert.equal(one.title, `${items.length + 1}. ${story.title}`);
          assert.ok(one.after.includes(`${eol}  - ${NOTE}`));
        },
      ),
      { numRuns: 300 },
    );
  });
});
