import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { applyEdits } from 'jsonc-parser';
import { HalfWritten } from '../../src/orchestrator/stories/edit/fileEdit.ts';
import { parseStoryFile, parseStoryText } from '../../src/orchestrator/stories/storyFile.ts';
import {
  blockersOf,
  type GithubIssue,
  issueEntry,
  priorityOf,
} from '../../src/orchestrator/trackers/github/githubIssue.ts';
import {
  mergeMirror,
  requireMirrorOf,
} from '../../src/orchestrator/trackers/github/githubMirror.ts';

const SOURCE = { repository: 'octo/garden', labels: ['ralph'] };

function entry(number: number, more: Partial<GithubIssue> = {}) {
  const issue: GithubIssue = {
    ...{ number, title: `Issue ${number}`, body: '', state: 'open', html_url: 'https://x.test' },
    ...{ author_association: 'OWNER', user: { login: 'octocat' }, labels: [], milestone: null },
    ...more,
  };
  return issueEntry(issue, { repository: SOURCE.repository, includesOutsiders: false });
}

const merge = (
  text: string | undefined,
  entries: readonly ReturnType<typeof entry>[],
  base: readonly ReturnType<typeof entry>[] = [],
) =>
  mergeMirror(text, {
    source: SOURCE,
    entries,
    base: new Map(base.map(one => [one.id, one])),
    keep: new Set(),
  });

describe('an issue as a story', () => {
  test('waits for what its body names, in the same repository and outside of code', () => {
    const found = (body: string) => blockersOf(body, 'octo/garden', 9);
    assert.deepEqual(found('Blocked by #1, #2 and #3.\ndepends on: octo/garden#4'), [1, 2, 3, 4]);
    assert.deepEqual(found('See #1. Fixes #2. Blocked by other/repo#3, and by #9'), []);
    assert.deepEqual(found('```\nblocked by #1\n```\n<!-- depends on #2 --> Depends on #5'), [5]);
    assert.deepEqual(found('blocked by #9'), []);
  });

  test('has the priority of its labels', () => {
    assert.equal(priorityOf(['bug', 'priority: high']), 1);
    assert.equal(priorityOf(['P2', 'priority/0']), 0);
    assert.equal(priorityOf(['prio-low', 'p', 'priority']), 3);
    assert.equal(priorityOf(['P10', 'good first issue']), undefined);
  });

  test('a long body of hostile text is read quickly', () => {
    for (const part of [
      '<!--',
      'blocked by a',
      '```\n',
      'depends on #1,',
      '- [ ] ',
      'a/'.repeat(9),
    ]) {
      entry(9, { body: part.repeat(66_000 / part.length) });
    }
  });
});

describe('the copy of the issues', () => {
  test('merging what is already there changes no byte, whatever its formatting', () => {
    const ids = fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { maxLength: 10 });
    fc.assert(
      fc.property(ids, fc.string(), (numbers, title) => {
        const entries = numbers.map(number => entry(number, { title }));
        const text = merge(undefined, entries);
        assert.equal(merge(text, entries, entries), text);
        assert.equal(merge(text, entries), text);
        const flat = JSON.stringify(JSON.parse(text));
        assert.equal(merge(flat, entries, entries), flat);
      }),
    );
  });

  test('only what has changed on GitHub comes in', () => {
    const here = JSON.parse(merge(undefined, [entry(1), entry(2)]));
    Object.assign(here.userStories[0], { passes: true, title: 'Mine', extra: 1 });
    const merged = (now: ReturnType<typeof entry>) =>
      JSON.parse(merge(JSON.stringify(here), [now, entry(2)], [entry(1), entry(2)])).userStories[0];
    const kept = merged(entry(1, { body: 'New' }));
    assert.deepEqual(
      [kept.passes, kept.title, kept.extra, kept.description],
      [true, 'Mine', 1, 'New'],
    );
    assert.equal(merged(entry(1, { title: 'Theirs' })).title, 'Theirs');
    // Closed there and opened again.
    const closed = entry(1, { state: 'closed' });
    const then = merge(JSON.stringify(here), [closed, entry(2)], [entry(1), entry(2)]);
    const again = JSON.parse(merge(then, [entry(1), entry(2)], [closed, entry(2)]));
    assert.equal(JSON.parse(then).userStories[0].passes, true);
    assert.equal(again.userStories[0].passes, false);
  });

  test('a restored copy gets all changes since then again, and keeps ticks', () => {
    const before = [entry(1), entry(2), entry(3)];
    const old = JSON.parse(merge(undefined, before));
    old.userStories[2].passes = true;
    const now = [entry(1, { title: 'New' }), entry(2, { state: 'closed' }), entry(3)];
    const { userStories } = JSON.parse(merge(JSON.stringify(old), now, now));
    assert.deepEqual(
      userStories.map(({ passes, title }: Record<string, unknown>) => [title, passes]),
      [
        ['New', false],
        ['Issue 2', true],
        ['Issue 3', true],
      ],
    );
  });

  test('a copy whose last sync was not recorded because of a kill keeps what a person did since', () => {
    const now = [entry(1, { state: 'closed' }), entry(2)];
    const here = JSON.parse(merge(undefined, now));
    here.userStories[0].passes = false;
    assert.equal(
      JSON.parse(merge(JSON.stringify(here), now, [entry(1), entry(2)])).userStories[0].passes,
      false,
    );
  });

  test('ticks that came with the repository do not count', () => {
    const here = JSON.parse(merge(undefined, [entry(1), entry(2)]));
    Object.assign(here.userStories[0], { passes: true });
    const now = [entry(1), entry(2, { state: 'closed' })];
    const passes = (isForeign: boolean) =>
      JSON.parse(
        mergeMirror(JSON.stringify(here), {
          ...{ source: SOURCE, entries: now, base: new Map(), keep: new Set<string>(), isForeign },
        }),
      ).userStories.map((story: Record<string, unknown>) => story['passes']);
    assert.deepEqual(passes(true), [false, true]);
    assert.deepEqual(passes(false), [true, true]);
  });

  test('what an outsider wrote does not stay in it, also if nothing has changed on GitHub', () => {
    const mallory = { author_association: 'NONE', user: { login: 'mallory' }, body: '- [ ] Evil' };
    const issues = [entry(1), entry(2, { title: 'Evil', ...mallory })];
    const root = JSON.parse(merge(undefined, issues));
    Object.assign(root.userStories[1], {
      ...{ title: 'Evil', description: 'Evil', acceptanceCriteria: ['Evil'], note: 'mine' },
    });
    const merged = merge(JSON.stringify(root), issues, issues);
    assert.doesNotMatch(merged, /Evil/);
    assert.match(merged, /"note": "mine"/);
    assert.equal(merge(merged, issues, issues), merged);
  });

  test('a text that is not a copy, or only half of one, is not replaced', () => {
    const text = merge(undefined, [entry(1)]);
    for (const half of [text.slice(0, -9), '', '{ "userStories": [] }']) {
      assert.throws(() => merge(half, [entry(1)]));
      assert.throws(() => requireMirrorOf('a.json', half, SOURCE), HalfWritten);
    }
    requireMirrorOf('a.json', text, { ...SOURCE, repository: 'Octo/Garden' });
    assert.throws(
      () => requireMirrorOf('a.json', text, { ...SOURCE, repository: 'octo/other' }),
      /a\.json is a copy of the issues of octo\/garden/,
    );
  });
});

describe('a list that is read', () => {
  const issue = { id: 'GH-2', title: 'Evil', description: 'Evil', passes: false, number: 2 };
  const evil = { ...issue, acceptanceCriteria: ['Evil'], dependsOn: ['Evil'], summary: 'Evil' };
  const read = (story: object, root: object = { github: { ...SOURCE } }) => {
    const file = parseStoryFile('/w/any.json', JSON.stringify({ ...root, userStories: [story] }));
    assert.ok(file.kind === 'stories');
    return file;
  };

  for (const [name, more] of Object.entries({
    'of nobody': { association: 'NONE' },
    'of a contributor': { association: 'CONTRIBUTOR' },
    'in another case': { association: 'owner' },
    'of another kind': { association: ['OWNER'] },
    'that is not known': { association: 'CAPTAIN' },
    missing: {},
  })) {
    test(`has no text of an issue whose association is one ${name}`, () => {
      const file = read({ ...evil, ...more, author: 'Evil: do as I say' });
      assert.equal(file.isIssueCopy, true);
      const [story] = file.stories;
      assert.match(story?.title ?? '', /^Issue #2 by ghost \([A-Z]+, not a member\)$/);
      assert.equal(story?.parked, true);
      assert.deepEqual([story?.criteria, story?.dependsOn], [[], []]);
      assert.doesNotMatch(JSON.stringify(file), /Evil/);
      assert.deepEqual(file.problems, []);
    });
  }

  test('has no text of an issue that is known by its id alone, nor of one that is done', () => {
    const { number: _, ...bare } = evil;
    assert.match(read(bare).stories[0]?.title ?? '', /^Issue #2 by ghost/);
    const done = read({ ...evil, passes: true }).stories[0];
    assert.deepEqual([done?.done, done?.parked], [true, undefined]);
    assert.doesNotMatch(JSON.stringify(done), /Evil/);
  });

  test('has the text of insiders, of stories that somebody has added, and of lists of other kinds', () => {
    for (const association of ['OWNER', 'MEMBER', 'COLLABORATOR']) {
      assert.equal(read({ ...evil, association }).stories[0]?.title, 'Evil');
    }
    assert.equal(read({ id: 'MY-1', title: 'Mine', passes: false }).stories[0]?.title, 'Mine');
    for (const root of [{}, { github: 'https://github.com/octo/garden' }]) {
      const file = read(evil, root);
      assert.deepEqual([file.stories[0]?.title, file.isIssueCopy], ['Evil', undefined]);
    }
  });

  test('is ticked in place, and the text of the file stays', () => {
    const text = JSON.stringify({
      github: SOURCE,
      userStories: [{ ...evil, association: 'NONE' }],
    });
    const { edits, file } = parseStoryText('/w/any.json', text);
    assert.ok(file.kind === 'stories');
    const [story] = file.stories;
    assert.ok(story);
    assert.equal(
      applyEdits(text, [...edits(story, true)]),
      text.replace('"passes":false', '"passes":true'),
    );
  });
});
