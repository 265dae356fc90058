import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { idWithTitle, titleAfterId, titleNextTo } from '../../src/base/storyTitle.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { storyName } from '../../src/views/folders/storyName.ts';
import { recorded } from '../support/recordedJournals.ts';

test('a title that begins with the id of its story is shown without it', () => {
  for (const [id, title, shown] of [
    ['T002', 'T002 [P] Configure linting', '[P] Configure linting'],
    ['2.1', '2.1 Create the model', 'Create the model'],
    ['1', '1. Set up', 'Set up'],
    ['T1', '**T1**: Begin', 'Begin'],
    ['T1', '[T1] Begin', 'Begin'],
    ['US-1', 'US-1 – Sign in', 'Sign in'],
    // The id of another story, a part of a name, a bold beginning, and nothing else.
    ['T1', 'T10 Begin', 'T10 Begin'],
    ['1', '1.2 Begin', '1.2 Begin'],
    ['US-1', 'US-1-b Begin', 'US-1-b Begin'],
    ['T1', '**T1 Begin** now', '**T1 Begin** now'],
    ['T1', 'T1', 'T1'],
    ['T1', 'Begin', 'Begin'],
    // A word of the title.
    ['3', '3 tries', '3 tries'],
    ['1', '1/2 is done', '1/2 is done'],
    ['A', 'A person signs in', 'A person signs in'],
    ['A', 'A: Sign in', 'Sign in'],
    ['api', 'api/v2 answers', 'api/v2 answers'],
    ['US-3', "US-3's cart", "US-3's cart"],
    ['T1', 'T1, T2 merge', 'T1, T2 merge'],
    ['T4', 'T4+T5', 'T4+T5'],
    ['T6', 'T6? maybe', 'T6? maybe'],
    ['T4', 'T4 - T6: Set up', 'T4 - T6: Set up'],
    ['1.2', '1.2 - 1.4 Set up', '1.2 - 1.4 Set up'],
    ['T1', 'T1 and T2 share a cart', 'T1 and T2 share a cart'],
    ['US-8', 'US-8 → US-9 redirect', 'US-8 → US-9 redirect'],
    ['T50', '[T50](docs/t50.md) Cart', '[T50](docs/t50.md) Cart'],
    ['US-1', 'US-1.a Cart', 'US-1.a Cart'],
    ['api', 'api.example.com answers', 'api.example.com answers'],
    ['T1', 'T1: T2 is next to it', 'T2 is next to it'],
  ] as const) {
    assert.equal(titleNextTo(id, title), shown);
  }
});

test('a title that says nothing but the id does not follow it', () => {
  for (const [id, title, shown] of [
    ['T1', 'T1 Begin', ': Begin'],
    ['T1', 'Begin', ': Begin'],
    ['T1', 'T1', ''],
    ['T1', ' **T1**: ', ''],
    ['T1', '', ''],
    ['#3', '#3', ''],
    ['T1', '**Begin**', ': **Begin**'],
  ] as const) {
    assert.equal(titleAfterId(id, title), shown);
  }
});

test('a story is called by its id once, whatever its title is', () => {
  for (const [id, title, shown] of [
    ['T002', 'T002 [P] Configure linting', 'T002 [P] Configure linting'],
    ['T1', '**T1**: Begin', 'T1 Begin'],
    ['T1', 'Begin', 'T1 Begin'],
    ['T1', ' T1 ', 'T1'],
    ['T1', '', 'T1'],
  ] as const) {
    assert.equal(idWithTitle(id, title), shown);
    const read = parseStoryFile('prd.json', JSON.stringify([{ id, title }]));
    const list = read.kind === 'stories' ? read.stories : [];
    assert.equal(storyName({ runs: { events: [] }, stories: { list } }, id), shown);
    const begun = recorded('answered').find(({ type }) => type === 'iteration.started');
    assert.ok(begun?.type === 'iteration.started');
    const events = [{ ...begun, storyId: id, storyTitle: title }];
    assert.equal(storyName({ runs: { events }, stories: { list: [] } }, id), shown);
  }
});

test('nothing but the id and what surrounds it is left out', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (id, title) => {
      const shown = titleNextTo(id, title);
      assert.ok(title.endsWith(shown) || title.trim().endsWith(shown));
      const left = title.trim().slice(0, title.trim().length - shown.trim().length);
      assert.ok(shown === title || left.includes(id));
    }),
  );
});
