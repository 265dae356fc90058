import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { openStories, type Step, Workspace } from '../support/ralph.ts';

const done: Step = { result: ['Done.'] };
/** The story without its commit. */
const tick = (id: string): Step[] => [{ write: [`${id}.txt`, 'work\n'] }, { tick: id }];
const tryToCommit: Step = { shell: 'git add -A && git commit --quiet -m "feat" || true' };

describe('uncommitted work of a done story', { concurrency: 3 }, () => {
  test('is reported with a stale git lock, at the end of the iteration and of the run', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const lock = path.join(workspace.folder, '.git', 'index.lock');
    const first: Step[] = [
      { write: ['.git/index.lock', ''] },
      ...tick('US-001'),
      tryToCommit,
      done,
    ];
    const second: Step[] = [...tick('US-002'), tryToCommit, done];
    const { code, stdout } = await workspace.script([first, second]).finished;
    assert.equal(code, 0, stdout);
    const ended = await workspace.events('iteration.ended');
    assert.deepEqual(
      ended.map(({ outcome, commits, uncommitted }) => [outcome, commits, uncommitted?.lock]),
      [
        ['storyDone', 0, lock],
        ['storyDone', 0, lock],
      ],
    );
    assert.match(
      stdout,
      /US-001 is done, but its changes are not committed: US-001\.txt\. \S+index\.lock exists: .*remove that file/,
    );
    const prompt = await workspace.prompt(2);
    assert.match(prompt, /There are uncommitted changes\*\*: `?US-001\.txt/);
    assert.match(
      stdout,
      /COMPLETE after 2 iterations\. Done, but not committed: US-001, US-002\..*US-001\.txt, US-002\.txt\..*index\.lock exists/,
    );
    const status = await workspace.cli('status').finished;
    assert.match(status.stdout, /Done, but not committed: US-001, US-002\..*index\.lock/);
  });

  test('is not reported any more once a person has committed it', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const locks: Step = { write: ['.git/index.lock', ''] };
    await workspace.script([
      [locks, { folder: 'new' }, { write: ['new/a.txt', 'work\n'] }, { tick: 'US-001' }, done],
    ]).finished;
    const status = async () => (await workspace.cli('status').finished).stdout;
    assert.match(
      await status(),
      /US-001 is done, but its changes are not committed: new\/.* exists/,
    );
    await rm(path.join(workspace.folder, '.git', 'index.lock'));
    assert.match(await status(), /US-001 is done, but .* such as a hook, and commit them/);
    workspace.git('add', '--all');
    assert.match(await status(), /US-001 is done, but its changes are not committed/);
    workspace.git('commit', '--quiet', '--message', 'feat: what the agent left');
    assert.doesNotMatch(await status(), /not committed/);
    await workspace.write('new/a.txt', 'other work\n');
    await workspace.write('new/b.txt', 'other work\n');
    assert.doesNotMatch(await status(), /not committed/);
    await rm(path.join(workspace.folder, '.git'), { recursive: true });
    assert.match(await status(), /US-001 is done, but its changes are not committed/);
  });

  test('is reported with a failing hook as a possible cause, until the next agent commits it', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const hook = '.git/hooks/pre-commit';
    const fails: Step[] = [
      { folder: '.git/hooks' },
      { write: [hook, '#!/bin/sh\nexit 1\n'] },
      { shell: `chmod +x ${hook}` },
    ];
    const first: Step[] = [...fails, ...tick('US-001'), tryToCommit, done];
    const { code, stdout } = await workspace.script([first, [{ delete: hook }, 'work']]).finished;
    assert.equal(code, 0, stdout);
    assert.match(
      stdout,
      /US-001 is done, but its changes are not committed: US-001\.txt\. .*such as a hook/,
    );
    assert.match(stdout, /✅ COMPLETE after 2 iterations\n/);
    assert.equal((await workspace.event('run.ended')).uncommitted, undefined);
  });

  test("is not reported if the story changed nothing or only a person's changes are uncommitted", async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await workspace.write('mine.txt', 'of the person\n');
    const { code, stdout } = await workspace.script([[{ tick: 'US-001' }, done]]).finished;
    assert.equal(code, 0, stdout);
    assert.doesNotMatch(stdout, /not committed/);
  });
});
