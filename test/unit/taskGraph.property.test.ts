import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { addToText } from '../../src/orchestrator/stories/edit/addStory.ts';
import { tickText } from '../../src/orchestrator/stories/edit/edit.ts';
import type { Story } from '../../src/orchestrator/stories/story.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { compactTasks } from '../../src/orchestrator/stories/taskCompaction.ts';
import { importTasks } from '../../src/orchestrator/stories/taskImport.ts';

const FILE = 'tasks.jsonl';
const EMPTY = { ids: new Set<string>(), needs: [] };
const NOW = new Date('2026-03-01T10:00:00Z');
const id = fc.integer({ min: 0, max: 12 }).map(n => `T-${n}`);
const task = fc.record(
  {
    id,
    title: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
    status: fc.constantFrom('ready', 'done', 'completed', 'blocked', 'in_progress'),
    blockedBy: fc.array(id, { maxLength: 2 }),
    updated: fc.constantFrom('2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'),
    passes: fc.constantFrom(true, false),
    extra: fc.jsonValue({ maxDepth: 1 }),
  },
  { requiredKeys: ['title'] },
);
const graphs = fc
  .record({
    tasks: fc.array(task, { minLength: 1, maxLength: 12 }),
    eol: fc.constantFrom('\n', '\r\n'),
    bom: fc.constantFrom('', '\uFEFF'),
    end: fc.boolean(),
    first: fc.constantFrom('', '[]', '{"type":"compacted","ids":["T-0","gone"]}'),
  })
  .map(({ bom, end, eol, first, tasks }) => {
    const lines = [first, ...tasks.map(one => JSON.stringify(one)), ''];
    return bom + lines.join(eol) + (end ? eol : '');
  });

function storiesOf(text: string): readonly Story[] {
  const file = parseStoryFile(FILE, text);
  assert.ok(file.kind === 'stories', JSON.stringify(file));
  return file.stories;
}

/** Open stories that wait for nothing. */
function ready(stories: readonly Story[]): string[] {
  const done = (wanted: string) => {
    const same = stories.filter(story => story.id === wanted);
    return same.length > 0 && same.every(story => story.done);
  };
  return (
    stories
      .filter(story => !story.done && !story.parked && story.dependsOn.every(done))
      // Without a title and an id, a story is named after its place, which a compaction changes.
      .map(({ id: own, title }) => (title === own ? '' : title))
  );
}

const lines = (text: string) =>
  text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter(line => line !== '');

describe('compaction', () => {
  test('loses no line, and what waited for a compacted task is as ready as before', () => {
    fc.assert(
      fc.property(graphs, fc.integer({ min: 1, max: 4 }), (text, keep) => {
        const before = storiesOf(text);
        const made = compactTasks(text, { archive: 'a', keep, now: NOW });
        if (made === undefined) {
          const ids = before.map(story => story.id);
          const own = before.filter(
            story => story.done && ids.filter(one => one === story.id).length === 1,
          );
          assert.ok(own.filter(story => !story.id.startsWith('#')).length <= keep);
          return;
        }
        const left = lines(made.text);
        const marker = left.pop() ?? '';
        assert.deepEqual(
          JSON.parse(marker).ids,
          made.tasks.map(one => one.id),
        );
        assert.deepEqual([...left, ...lines(made.removed)].sort(), lines(text).sort());
        // What stays is as it was, in its order.
        assert.deepEqual(
          left,
          lines(text).filter(line => left.includes(line)),
        );
        const after = storiesOf(made.text);
        assert.deepEqual(ready(after), ready(before));
        assert.ok(after.every(story => !made.tasks.some(one => one.id === story.id)));
        assert.deepEqual(compactTasks(made.text, { archive: 'a', keep, now: NOW }), undefined);
      }),
      { numRuns: 500 },
    );
  });
});

test('a tick makes a task done or not, and taking it back restores every byte', () => {
  fc.assert(
    fc.property(graphs, fc.nat(), (text, n) => {
      const stories = storiesOf(text);
      const { done, id: own, position } = stories[n % stories.length] as Story;
      const selector = { id: own, position };
      const tick = tickText(text, selector, !done, { path: FILE });
      assert.deepEqual(
        storiesOf(tick.text).map(one => one.done),
        stories.map(one => (one.position === position ? !done : one.done)),
      );
      assert.ok(tick.undo);
      const undos = [tick.undo];
      assert.equal(tickText(tick.text, selector, done, { path: FILE, undos }).text, text);
    }),
    { numRuns: 500 },
  );
});

const story = fc.record(
  {
    id: fc.oneof(fc.integer({ min: 0, max: 9 }), id),
    title: fc.string({ minLength: 1, maxLength: 8 }),
    // A story without a title is named after its description, which must not look like the id of one without an id.
    description: fc.string({ maxLength: 8 }).filter(text => !text.startsWith('#')),
    acceptanceCriteria: fc.array(fc.string({ minLength: 1, maxLength: 5 }), { maxLength: 2 }),
    steps: fc.jsonValue({ maxDepth: 1 }),
    passes: fc.constantFrom(true, false, 'passing', null),
    tested: fc.boolean(),
    status: fc.constantFrom('done', 'todo', 'active', 7),
    priority: fc.constantFrom(1, 'high', 2.5),
    dependsOn: fc.array(id, { maxLength: 2 }),
    blockedBy: fc.constantFrom('T-1', ['T-2']),
    notes: fc.jsonValue({ maxDepth: 1 }),
  },
  { requiredKeys: ['title', 'passes'] },
);

test('accepted work gets the dates by which a compaction knows how old it is', () => {
  const text = '{"id":"T-1","title":"Do it","status":"done"}\n';
  const story = { id: 'DISC-1', title: 'Found', from: 'T-1', at: NOW };
  const { text: after } = addToText(FILE, text, story);
  const { created, updated } = JSON.parse(lines(after)[1] ?? '');
  assert.deepEqual([created, updated], [NOW.toISOString(), NOW.toISOString()]);
});

describe('import', () => {
  test('a new id is none that a task waits for, and an entry without a title gets it', () => {
    const text = '[{"passes": true}, {"id": "T-3", "title": "Do it"}]';
    const graph = { ids: new Set(['A']), needs: ['T-1'] };
    const { ids, lines: made } = importTasks({ path: 'prd.json', text }, graph, NOW);
    assert.deepEqual(ids, ['T-4', 'T-3']);
    assert.equal(JSON.parse(lines(made)[0] ?? '').title, 'T-4');
    const idsOf = (stories: unknown) =>
      importTasks({ path: 'prd.json', text: JSON.stringify(stories) }, graph, NOW).ids;
    assert.deepEqual(idsOf([{ title: 'One', passes: true }]), ['T-2']);
    // In the form of the file's own ids.
    const own = { id: 'US-001', title: 'One', passes: true };
    assert.deepEqual(idsOf([own, { title: 'Two', passes: false }]), ['US-001', 'US-002']);
  });

  test('a number that cannot be read exactly is refused', () => {
    const text = '[{"id": 9007199254740993, "title": "Do it"}]';
    assert.throws(() => importTasks({ path: 'prd.json', text }, EMPTY, NOW), /prd\.json/);
  });

  test('values stay as they are written, also those that JavaScript would change', () => {
    const [size, limits] = ['12345678901234567890', '{"max":1e400,"max":0.10000000000000000001}'];
    const text = `{"size": ${size}, "userStories": [
      {"id": "T-1", "//": "a", "//": "b", "title": "Do \\ud800 it", "passes": ${size}, "limits": ${limits.replaceAll(/[:,]/g, '$&\n ')}}
    ]}`;
    const made = importTasks({ path: 'prd.json', text }, EMPTY, NOW);
    const at = '"2026-03-01T10:00:00.000Z"';
    assert.deepEqual(lines(made.lines), [
      `{"type":"graph","size":${size}}`,
      `{"id":"T-1","//":"a","//":"b","title":"Do \\ud800 it","limits":${limits},"status":"ready","blockedBy":[],"created":${at},"updated":${at},"imported":{"passes":${size}}}`,
    ]);
    assert.equal(made.problems.length, 1);
    const odd =
      '{"type":"x","imported":{"a":1},"userStories":[{"id":"A","title":"a","imported":[],"type":[],"discoveredFrom":1,"discovered_from":"B","passes":false}]}';
    const [heading, task] = lines(importTasks({ path: 'prd.json', text: odd }, EMPTY, NOW).lines);
    assert.equal(heading, '{"type":"graph","imported":{"type":"x","imported":{"a":1}}}');
    assert.match(task ?? '', /"discoveredFrom":1,"discovered_from":"B",/);
    assert.match(task ?? '', /"imported":\{"imported":\[\],"type":\[\]\}/);
    const root = '{"id":"P","title":"Shop","status":"draft","tasks":[{"id":"A","title":"a"}]}';
    const [first] = lines(importTasks({ path: 'prd.json', text: root }, EMPTY, NOW).lines);
    // With its id and status, it would be a task.
    assert.equal(first, '{"type":"graph","title":"Shop","imported":{"id":"P","status":"draft"}}');
    const long = JSON.stringify([{ id: 'A', title: '\n'.repeat(3_500_000), passes: false }]);
    assert.deepEqual(importTasks({ path: 'prd.json', text: long }, EMPTY, NOW).ids, ['A']);
  });

  test('the tasks have the content of the stories, and no key is lost', () => {
    fc.assert(
      fc.property(
        fc.array(story, { minLength: 1, maxLength: 6 }),
        fc.record({ project: fc.string(), branchName: fc.string(), other: fc.jsonValue() }),
        (userStories, heading) => {
          const text = JSON.stringify({ ...heading, userStories }, null, 2);
          const from = parseStoryFile('prd.json', text);
          const made = importTasks({ path: 'prd.json', text }, EMPTY, NOW);
          const to = parseStoryFile(FILE, made.lines);
          assert.ok(from.kind === 'stories' && to.kind === 'stories');
          const facts = (stories: readonly Story[]) =>
            stories.map(({ criteria, dependsOn, description, done, priority, title }, index) => ({
              ...{ criteria, dependsOn, description, done, priority },
              // A story without a title is named after its id, which the import gives.
              title: from.stories[index]?.title === from.stories[index]?.id ? '' : title,
            }));
          assert.deepEqual(facts(to.stories), facts(from.stories));
          assert.deepEqual([to.project, to.branchName], [from.project, from.branchName]);
          const [graph, ...tasks] = lines(made.lines).map(line => JSON.parse(line));
          const json = (value: unknown) => JSON.parse(JSON.stringify(value));
          assert.deepEqual(graph, json({ type: 'graph', ...heading }));
          for (const [index, entry] of json(userStories).entries()) {
            const { imported = {}, ...task } = tasks[index];
            for (const [key, value] of Object.entries(entry)) {
              const isState = ['passes', 'tested'].includes(key) && typeof value === 'boolean';
              const kept = key in imported ? imported[key] : task[key];
              if (isState && !(key in imported)) {
                assert.equal(value, from.stories[index]?.done);
              } else if (key === 'dependsOn' && !(key in imported)) {
                assert.deepEqual(value, task.blockedBy);
              } else {
                assert.deepEqual(kept, value, key);
              }
            }
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  test('what is ready stays ready, and what waits for a title, a number or an epic still does', () => {
    const names = fc.constantFrom('T-0', 'T-1', 'T-2', 'Do 0', 'Do 1', 'E-0', 'Group 1', '#1', 2);
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            hasId: fc.boolean(),
            passes: fc.boolean(),
            dependsOn: fc.array(names, { maxLength: 2 }),
            parentEpic: fc.constantFrom(undefined, 'E-0', 'E-1', 'Group 0'),
            parked: fc.constantFrom(undefined, true),
            status: fc.constantFrom(undefined, 'blocked', 'todo', 'deferred'),
            discoveredFrom: fc.constantFrom(undefined, '#1', 'T-0', 'T-4'),
          }),
          { minLength: 1, maxLength: 5 },
        ),
        fc.array(fc.array(names, { maxLength: 1 }), { minLength: 2, maxLength: 2 }),
        (drawn, needs) => {
          const userStories = drawn.map(({ hasId, ...facts }, n) => ({
            ...(hasId && { id: `T-${n}` }),
            title: `Do ${n}`,
            ...facts,
          }));
          const epics = needs.map((blockedBy, n) => ({
            ...{ id: `E-${n}`, title: `Group ${n}`, blockedBy },
          }));
          const text = JSON.stringify({ epics, userStories });
          const made = importTasks({ path: 'prd.json', text }, EMPTY, NOW);
          const from = parseStoryFile('prd.json', text);
          const to = parseStoryFile(FILE, made.lines);
          assert.ok(from.kind === 'stories' && to.kind === 'stories');
          assert.deepEqual(ready(to.stories), ready(from.stories));
          const facts = (stories: readonly Story[]) =>
            stories.map(({ discoveredFrom: id, epic, parked = false }) => ({
              ...{ epic, parked },
              from: stories.find(one => one.id === id)?.title,
            }));
          assert.deepEqual(facts(to.stories), facts(from.stories));
        },
      ),
      { numRuns: 1000 },
    );
  });
});
