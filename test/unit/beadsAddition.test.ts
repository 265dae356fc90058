import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addToText } from '../../src/orchestrator/stories/edit/addStory.ts';

const NEW = { id: 'DISC-12345678-3-1', title: 'Limit the log in', why: 'five tries', from: 'x-1' };

const jsonLines = (entries: readonly object[]) =>
  entries.map(entry => `${JSON.stringify(entry)}\n`).join('');

describe('a new issue of Beads', () => {
  const path = '.beads/issues.jsonl';
  const at = new Date('2026-08-15T14:00:00Z');
  const dates = { created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-02T00:00:00Z' };
  const issues = ['my-shop-a1b', 'my-shop-a1b.1', 'my-shop-c-2de', 'DISC-1-1-1'].map(id => ({
    ...{ id, title: `Issue ${id}`, status: 'open', priority: 2, issue_type: 'task' },
    ...dates,
  }));

  test('has an id with the prefix of most others, and the keys that they have', () => {
    const before = jsonLines(issues);
    const { storyId, text } = addToText(path, before, { ...NEW, from: 'my-shop-a1b', at });
    assert.match(storyId, /^my-shop-(?=.*\d)(?=.*[a-z])[a-z0-9]{6}$/);
    assert.ok(text.startsWith(before));
    assert.deepEqual(JSON.parse(text.slice(before.length)), {
      id: storyId,
      title: NEW.title,
      description: `five tries\n\nReported to Ralph Fresh as ${NEW.id}`,
      status: 'open',
      priority: 2,
      issue_type: 'task',
      created_at: at.toISOString(),
      updated_at: at.toISOString(),
      dependencies: [{ issue_id: storyId, depends_on_id: 'my-shop-a1b', type: 'discovered-from' }],
    });
    // The same report is known again.
    assert.deepEqual(addToText(path, text, { ...NEW, title: 'Other' }), { storyId, text });
  });

  test('has none that is used, or that another one waits for', () => {
    const { storyId: first } = addToText(path, jsonLines(issues), NEW);
    const waits = (id: string) => ({
      ...{ ...issues[0], id: 'my-shop-w1' },
      dependencies: [
        { issue_id: 'my-shop-w1', depends_on_id: id, type: 'blocks', created_at: dates.created_at },
      ],
    });
    const needed = addToText(path, jsonLines([...issues, waits(first)]), { ...NEW, at });
    assert.notEqual(needed.storyId, first);
    assert.match(needed.text, /"type":"discovered-from","created_at":"2026-08-15T14:00:00.000Z"/);
    const used = jsonLines([...issues, { ...issues[0], id: first, title: 'Used' }]);
    assert.notEqual(addToText(path, used, NEW).storyId, first);
  });

  test('that bd has made keeps its id, and so does one among ids without a prefix', () => {
    assert.equal(
      addToText(path, jsonLines(issues), { ...NEW, id: 'my-shop-zz9' }).storyId,
      'my-shop-zz9',
    );
    const bare = jsonLines([{ id: 'a', title: 'A', status: 'open' }]);
    const { storyId, text } = addToText(path, bare, { ...NEW, at });
    assert.equal(storyId, NEW.id);
    assert.doesNotMatch(text, /created_at|Reported/);
  });
});
