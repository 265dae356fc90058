import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { openStories, Workspace } from '../support/ralph.ts';

describe('what the prompt says about earlier work', { concurrency: 3 }, () => {
  test("a person's own uncommitted files are named as such in every iteration", async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await workspace.write('draft.md', 'not yet\n');
    const cli = workspace.script([
      [
        { write: ['half.txt', 'half'] },
        { tick: 'US-001' },
        { git: ['commit', '--quiet', '-am', 'feat: US-001'] },
        { result: ['US-001 is done.'] },
      ],
      ['work'],
    ]);
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    const first = await workspace.prompt(1);
    assert.match(first, /You are the first agent iteration of this run/);
    assert.match(first, /Uncommitted changes from before this run\*\*: draft\.md\./);
    assert.doesNotMatch(first, /previous (agent )?iteration/i);
    const second = await workspace.prompt(2);
    assert.match(second, /You are continuing work that was started by a previous agent iteration/);
    assert.match(second, /There are uncommitted changes\*\*: half\.txt\. A previous iteration/);
    assert.match(second, /Uncommitted changes from before this run\*\*: draft\.md\./);
    const [started] = await workspace.events('iteration.started');
    assert.deepEqual(started?.['uncommitted'], ['draft.md']);
  });

  test('our own files are not reported as leftovers', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const cli = workspace.script([['work']], '--tasks', 'One|Two', '--max-iterations', '2');
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    assert.doesNotMatch(await workspace.prompt(1), /[Uu]ncommitted|cut off/);
  });

  test('an iteration cut off by a kill is reported as such', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await workspace.write('draft.md', 'not yet\n');
    const killed = workspace.script([[{ write: ['half.txt', 'half'] }, { text: 'x' }, 'stay']]);
    await workspace.event('agent.text');
    process.kill(killed.pid, 'SIGKILL');
    await killed.finished;
    const again = await workspace.script([['work'], ['work']]).finished;
    assert.equal(again.code, 0, again.stderr);
    assert.match(await workspace.prompt(2), /There are uncommitted changes\*\*: half\.txt\./);
    assert.match(await workspace.prompt(2), /from before this run\*\*: draft\.md\./);
  });
});

test('an error between two iterations leaves no copy of the story file behind', async t => {
  const workspace = await Workspace.create(t, { stories: openStories(2) });
  const cli = workspace.script([
    ['work', { shell: 'cd .omc/state/runs/*/iterations/1 && mkdir receipt.json' }],
  ]);
  assert.equal((await cli.finished).code, 1);
  assert.equal((await workspace.events('run.ended'))[0]?.outcome, 'error');
  assert.equal((await workspace.events('iteration.ended')).length, 1);
  const [runId = ''] = await workspace.runIds();
  const left = await readdir(workspace.files.iterationDir(runId, 1));
  assert.deepEqual(
    left.filter(name => name.startsWith('stories-before')),
    [],
  );
});
