import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { lstat, readlink, rename, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { openStories, type Step, Workspace } from '../support/ralph.ts';

const kinds = async (workspace: Workspace) =>
  (await workspace.events('guard.found')).map(({ changes, restored }) => ({
    changes: changes.map(({ kind, storyId }) => `${kind} ${storyId}`),
    restored,
  }));

/** One iteration that tampers and does its story. */
async function tampered(
  t: Parameters<typeof Workspace.create>[0],
  steps: readonly Step[],
  ...args: string[]
): Promise<Workspace> {
  const workspace = await Workspace.create(t, { stories: openStories(3) });
  const cli = workspace.script([[...steps, 'work']], '--max-iterations', '1', ...args);
  const { code, stderr } = await cli.finished;
  assert.equal(code, 1, stderr);
  return workspace;
}

describe('the guard: an iteration changes only its own story', { concurrency: 3 }, () => {
  test('the tick of another story is removed', async t => {
    const workspace = await tampered(t, [{ tick: 'US-003' }]);
    assert.deepEqual(await kinds(workspace), [{ changes: ['tickedOther US-003'], restored: true }]);
    assert.deepEqual(await workspace.done(), ['US-001']);
    assert.deepEqual(
      (await workspace.events('iteration.ended')).map(({ outcome, stories }) => [
        outcome,
        stories.done,
      ]),
      [['storyDone', 1]],
    );
  });

  test('removed stories and reworded titles and criteria are restored', async t => {
    const workspace = await tampered(t, [
      { remove: 'US-002' },
      { retitle: ['US-003', 'Something easier'] },
      { criteria: ['US-001', ['It is there']] },
    ]);
    const stories = await workspace.stories();
    assert.deepEqual(
      stories.map(({ id, title, passes }) => [id, title, passes]),
      [
        ['US-001', 'Story number 1', true],
        ['US-002', 'Story number 2', false],
        ['US-003', 'Story number 3', false],
      ],
    );
    assert.deepEqual(stories[0]?.['acceptanceCriteria'], ['It works']);
    const [found] = await workspace.events('guard.found');
    assert.equal(found?.restored, true);
    const seen = found?.changes.map(({ kind }) => kind) ?? [];
    assert.ok(seen.includes('storyRemoved') && seen.includes('titleChanged'), seen.join());
  });

  test('stories and notes may be added', async t => {
    const workspace = await tampered(t, [
      { add: { id: 'US-004', title: 'Split off', acceptanceCriteria: ['x'], passes: false } },
    ]);
    assert.deepEqual(await workspace.events('guard.found'), []);
    assert.equal((await workspace.stories()).length, 4);
  });

  test('the next prompt says what was restored', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const cli = workspace.script([[{ tick: 'US-002' }, 'work'], ['work']]);
    assert.equal((await cli.finished).code, 0);
    assert.match(await workspace.prompt(2), /US-002/);
    assert.equal((await workspace.events('iteration.ended')).length, 2);
  });

  test('an agent that gives the id of its story to another item is told, and does not use up the run', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const plan = 'IMPLEMENTATION_PLAN.md';
    const text = '# Tasks\n\n- [ ] T001 Build it\n- [ ] T002 Ship it\n';
    await workspace.write(plan, text);
    workspace.git('add', '-A');
    workspace.git('commit', '-qm', 'A plan');
    const log = '\n## Log\n\n- [x] T001 verified by hand\n';
    const shared = { write: [plan, text.replace('[ ] T001', '[x] T001') + log] };
    const { stdout } = await workspace.script(
      [
        [
          shared,
          { shell: 'date +%N > work.txt' },
          { git: ['add', '-A'] },
          { commit: 'T001' },
          { result: ['Done.'] },
        ],
      ],
      ...['--max-iterations', '3'],
    ).finished;
    const outcomes = await workspace.events('iteration.ended');
    assert.deepEqual(
      outcomes.map(({ outcome, storyId }) => [outcome, storyId]),
      [1, 2, 3].map(() => ['rejected', 'T001']),
    );
    const why =
      /The agent gave the id T001 to 2 items \(lines 3, 8\), so that no story had it any more\./;
    assert.match(await workspace.prompt(2), why);
    assert.match(stdout, /T001 has failed too often in a row \(3\); the run leaves it alone\./);
    assert.match(stdout.trimEnd().split('\n').at(-1) ?? '', why);
    assert.equal(await workspace.read(plan), text);
  });

  test('a broken file is backed up, and the last good version is restored', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const cli = workspace.script(
      [['breakStories', { commit: 'oops' }, { result: ['Done.'] }]],
      ...['--max-iterations', '1'],
    );
    assert.equal((await cli.finished).code, 1);
    assert.equal((await workspace.stories()).length, 2);
    const [found] = await workspace.events('guard.found');
    assert.equal(found?.restored, true);
    assert.ok(found?.keptAside);
    assert.ok(existsSync(path.join(workspace.folder, found?.keptAside ?? '')));
  });

  const prd = '.omc/prd.json';
  for (const [what, steps, kept] of [
    ['a named pipe', [{ delete: prd }, { pipe: prd }], false],
    ['a folder', [{ delete: prd }, { folder: prd }, { write: [`${prd}/notes.md`, 'mine'] }], true],
    ['a link that leads nowhere', [{ delete: prd }, { link: [prd, 'nowhere.json'] }], false],
    ['a link that leads out', [{ delete: prd }, { link: [prd, '/etc/passwd'] }], false],
    ['a link to itself', [{ delete: prd }, { link: [prd, 'prd.json'] }], false],
  ] as const) {
    test(`${what} in place of the story file is moved aside, and the stories are restored`, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(2) });
      const cli = workspace.script(
        [[...steps, { result: ['Done.'] }], ['work'], ['work']],
        ...['--max-iterations', '3'],
      );
      assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
      const [found, ...others] = await workspace.events('guard.found');
      assert.deepEqual(others, []);
      assert.equal(found?.changes[0]?.kind, 'fileReplaced');
      assert.equal(found?.restored, true);
      assert.equal(found?.keptAside !== undefined, kept);
      if (kept) {
        assert.equal(await workspace.read(path.join(found?.keptAside ?? '', 'notes.md')), 'mine');
      }
      assert.ok((await lstat(path.join(workspace.folder, prd))).isFile());
      assert.equal((await workspace.events('iteration.ended')).length, 3);
    });
  }

  test('a story file that the agent moved and linked to is put back in its place', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script([
      ['work', { rename: [prd, 'stories.json'] }, { link: [prd, '../stories.json'] }],
    ]);
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    assert.ok((await lstat(path.join(workspace.folder, prd))).isFile());
    assert.equal((await workspace.events('guard.found'))[0]?.restored, true);
  });

  test('a link made by the person stays a link', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const file = path.join(workspace.folder, prd);
    await rename(file, path.join(workspace.folder, 'stories.json'));
    await symlink('../stories.json', file);
    const cli = workspace.script([
      [{ delete: 'stories.json' }, { result: ['Done.'] }],
      [{ delete: prd }, { link: [prd, 'nowhere.json'] }, { result: ['Done.'] }],
      ['work'],
    ]);
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    assert.equal(await readlink(file), '../stories.json');
    assert.deepEqual(await workspace.done(), ['US-001']);
    assert.equal((await workspace.events('guard.found')).length, 2);
  });

  test('with --guard warn nothing is restored, with off nothing is reported', async t => {
    const warned = await tampered(t, [{ tick: 'US-003' }], '--guard', 'warn');
    assert.deepEqual(await kinds(warned), [{ changes: ['tickedOther US-003'], restored: false }]);
    assert.deepEqual(await warned.done(), ['US-001', 'US-003']);
    const silent = await tampered(t, [{ tick: 'US-003' }], '--guard', 'off');
    assert.deepEqual(await kinds(silent), []);
    assert.deepEqual(await silent.done(), ['US-001', 'US-003']);
  });
});
