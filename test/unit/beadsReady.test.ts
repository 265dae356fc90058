import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { beadsReadiness } from '../../src/orchestrator/stories/formats/beadsReady.ts';
import { nextStory, readyStories } from '../../src/orchestrator/stories/select.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';

interface Given {
  readonly id: string;
  readonly [key: string]: unknown;
}

const link = (from: string, to: string, type: string, more: object = {}) => ({
  ...{ issue_id: from, depends_on_id: to, type },
  ...more,
});

/** Ids of the issues that can begin now. */
function ready(...issues: readonly Given[]): readonly string[] {
  const lines = issues.map(issue => JSON.stringify({ title: 'T', status: 'open', ...issue }));
  const file = parseStoryFile('issues.jsonl', lines.join('\n'));
  assert.equal(file.kind, 'stories');
  return file.kind === 'stories' ? readyStories(file.stories).map(({ id }) => id) : [];
}

const open = (id: string, ...dependencies: readonly object[]) => ({ id, dependencies });

describe('what is ready in Beads', () => {
  test('blocks and conditional-blocks block until the other issue is closed; other relations do not', () => {
    for (const type of ['blocks', 'conditional-blocks']) {
      const waits = open('b', link('b', 'a', type));
      assert.deepEqual(ready(open('a'), waits), ['a'], type);
      assert.deepEqual(ready({ id: 'a', status: 'closed' }, waits), ['b'], type);
      assert.deepEqual(ready({ id: 'a', status: 'in_progress' }, waits), ['a'], type);
    }
    for (const type of ['related', 'discovered-from', 'duplicates', 'tracks', 'until']) {
      assert.deepEqual(ready(open('a'), open('b', link('b', 'a', type))), ['a', 'b'], type);
    }
  });

  test('issues that are deleted, pinned or in another tracker block nothing', () => {
    const waits = open('b', link('b', 'a', 'blocks'));
    for (const status of ['tombstone', 'pinned']) {
      assert.deepEqual(ready({ id: 'a', status }, waits), ['b'], status);
    }
    assert.deepEqual(ready(open('b', link('b', 'external:api:capability', 'blocks'))), ['b']);
    // An issue that is put off, or blocked by hand, is still to be done.
    for (const status of ['deferred', 'blocked', 'hooked']) {
      assert.deepEqual(ready({ id: 'a', status }, waits), [], status);
    }
  });

  test('children wait for what their parent waits for, over several levels; an open parent alone blocks nothing', () => {
    const part = open('e.1', link('e.1', 'e', 'parent-child'));
    const partOfPart = open('e.1.1', link('e.1.1', 'e.1', 'parent-child'));
    const epic = open('e', link('e', 'gate', 'blocks'));
    assert.deepEqual(ready(open('gate'), epic, part, partOfPart), ['gate']);
    assert.deepEqual(ready({ id: 'gate', status: 'closed' }, epic, part, partOfPart), [
      ...['e', 'e.1', 'e.1.1'],
    ]);
    // The whole is closed, so that nothing holds it back any more.
    assert.deepEqual(ready(open('gate'), { ...epic, status: 'closed' }, part), ['gate', 'e.1']);
  });

  test('an epic that waits for its children does not block them', () => {
    const parts = ['e.1', 'e.2'].map(id => open(id, link(id, 'e', 'parent-child')));
    const epic = open('e', link('e', 'e.1', 'blocks'), link('e', 'e.2', 'blocks'));
    assert.deepEqual(ready(epic, ...parts), ['e.1', 'e.2']);
  });

  test('waits-for waits for all children of the other issue, or for one of them', () => {
    const part = (id: string, status = 'open') => ({
      ...open(id, link(id, 's', 'parent-child')),
      status,
    });
    const all = open('w', link('w', 's', 'waits-for', { metadata: '{"gate":"all-children"}' }));
    const any = open('w', link('w', 's', 'waits-for', { metadata: '{"gate":"any-children"}' }));
    const found = (waits: Given, ...statuses: readonly string[]) =>
      ready(open('s'), ...statuses.map((status, n) => part(`p${n}`, status)), waits).includes('w');
    assert.equal(found(all), true);
    assert.equal(found(all, 'open', 'closed'), false);
    assert.equal(found(all, 'closed', 'closed', 'pinned'), true);
    assert.equal(found(any, 'open', 'open'), false);
    assert.equal(found(any, 'open', 'closed'), true);
  });

  test('entries that are not work, or not ready, are listed but never next', () => {
    const later = new Date(Date.now() + 3_600_000).toISOString();
    for (const more of [
      { status: 'deferred' },
      { status: 'blocked' },
      { status: 'hooked' },
      { status: 'pinned' },
      { pinned: true },
      { ephemeral: true },
      { is_template: true },
      { issue_type: 'message' },
      { issue_type: 'gate' },
      { defer_until: later },
    ]) {
      assert.deepEqual(ready({ id: 'a', ...more }), [], JSON.stringify(more));
    }
    for (const more of [
      { status: 'in_progress' },
      { issue_type: 'epic' },
      { defer_until: '2020-01-01T00:00:00Z' },
      { defer_until: 'soon' },
      { pinned: false },
    ]) {
      assert.deepEqual(ready({ id: 'a', ...more }), ['a'], JSON.stringify(more));
    }
    const part = open('b', link('b', 'a', 'parent-child'));
    assert.deepEqual(ready({ id: 'a', defer_until: later }, part), []);
  });

  test('memory entries of an export are not issues', () => {
    const memory = { _type: 'memory', key: 'style', value: 'Use tabs' };
    const lines = [memory, { _type: 'issue', id: 'a', title: 'T', status: 'open' }];
    const file = parseStoryFile('issues.jsonl', lines.map(one => JSON.stringify(one)).join('\n'));
    assert.equal(file.kind, 'stories');
    assert.deepEqual(file.kind === 'stories' && file.stories.map(({ id, line }) => [id, line]), [
      ['a', 2],
    ]);
  });

  test('any graph: the search ends, and nothing that waits for an open issue is ready', () => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const id = fc.constantFrom(...ids);
    const type = fc.constantFrom('blocks', 'parent-child', 'waits-for', 'conditional-blocks');
    const status = fc.constantFrom('open', 'closed', 'in_progress', 'tombstone', 'pinned');
    const graph = fc.array(fc.tuple(id, id, type), { maxLength: 12 });
    fc.assert(
      fc.property(graph, fc.array(status, { minLength: 5, maxLength: 5 }), (links, statuses) => {
        const issues = ids.map((one, n) => ({
          ...open(one, ...links.filter(([from]) => from === one).map(each => link(...each))),
          ...{ title: 'T', status: statuses[n] },
        }));
        const found = parseStoryFile('i.jsonl', issues.map(one => JSON.stringify(one)).join('\n'));
        assert.equal(found.kind, 'stories');
        if (found.kind === 'stories') {
          const next = nextStory(found.stories).story?.id;
          const hard = links.filter(([from, , kind]) => from === next && kind.includes('blocks'));
          for (const [, to] of hard) {
            const target = statuses[ids.indexOf(to)];
            assert.ok(target !== 'open' && target !== 'in_progress', `${next} waits for ${to}`);
          }
        }
      }),
    );
  });

  test('a chain of thousands of parents is resolved quickly', () => {
    const issues = Array.from({ length: 5_000 }, (_, n) => ({
      ...open(`i${n}`, link(`i${n}`, `i${n + 1}`, 'parent-child')),
    }));
    assert.equal(beadsReadiness(issues, Date.now()).length, 5_000);
  });
});
