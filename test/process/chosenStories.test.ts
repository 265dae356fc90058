import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openStories, Workspace } from '../support/ralph.ts';

const three = () => openStories(3);
const storiesOf = async (workspace: Workspace) =>
  (await workspace.events('iteration.started')).map(({ storyId }) => storyId);

describe('run --story', { concurrency: 3 }, () => {
  test('works only on the named stories and then ends', async t => {
    const workspace = await Workspace.create(t, { stories: three() });
    const cli = workspace.script([['work']], '--story', 'us-003', '--story=Us-002');
    const { code, stderr } = await cli.finished;
    assert.equal(code, 0, stderr);
    assert.deepEqual(await storiesOf(workspace), ['US-002', 'US-003']);
    assert.deepEqual(await workspace.done(), ['US-002', 'US-003']);
    const [started] = await workspace.events('run.started');
    assert.deepEqual(started?.onlyStories, ['US-003', 'US-002']);
    const status: { onlyStories: unknown } = JSON.parse(
      (await workspace.cli('status', '--json').finished).stdout,
    );
    assert.deepEqual(status.onlyStories, ['US-003', 'US-002']);
    assert.match(
      (await workspace.cli('status').finished).stdout,
      /^2\/3 stories complete · works only on US-003, US-002 · /m,
    );
    // US-001 is open, so a preview does not call all stories complete.
    const preview = workspace.script([], '--dry-run', '--story', 'US-002');
    assert.match(
      (await preview.finished).stdout,
      /No agent would be started\. US-002 is complete; there is nothing to do$/m,
    );
  });

  test('an answer to a run of chosen stories is not lost in a run of all stories', async t => {
    const workspace = await Workspace.create(t, { stories: three() });
    const asks = [[{ result: ['<promise>NEEDS_HUMAN: Blue or green?</promise>'] }]] as const;
    await workspace.script(asks, '--story', 'US-002').finished;
    await workspace.cli('answer', 'Blue').finished;
    const refused = await workspace.script([['work']]).finished;
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /works only on US-002, and your answer waits there\. Continue it with --resume, or start a new run on all stories with --new\./,
    );
    const resumed = await workspace.script([...asks, ['work']], '--resume').finished;
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.match(await workspace.prompt(2), /Blue/);
    assert.deepEqual(await workspace.done(), ['US-002']);
  });

  test('a story that depends on another one is refused with the next step', async t => {
    const stories = three().map(story =>
      story.id === 'US-001' ? { ...story, dependsOn: ['US-002'] } : story,
    );
    const workspace = await Workspace.create(t, { stories });
    const refused = await workspace.script([['work']], '--story', 'US-001').finished;
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /US-001 waits for US-002\. .*--story US-002/);
    assert.deepEqual(await workspace.journal(), []);
    const unknown = await workspace.script([['work']], '--story', 'US-009').finished;
    assert.equal(unknown.code, 64);
    assert.match(unknown.stderr, /There is no story US-009/);
    // Together they are no problem, in whatever order they are named.
    const both = workspace.script([['work']], '--story', 'US-001', '--story', 'US-002');
    assert.equal((await both.finished).code, 0);
    assert.deepEqual(await storiesOf(workspace), ['US-002', 'US-001']);
  });

  test('a story that waits for an id that the file does not have is refused, and in a continued run warned of', async t => {
    const workspace = await Workspace.create(t, { stories: three() });
    const flags = ['--story', 'US-001', '--max-iterations', '1'];
    await workspace.script([[{ result: ['Not yet.'] }]], ...flags).finished;
    const file = JSON.parse(await workspace.read('.omc/prd.json'));
    Object.assign(file.userStories[0], { dependsOn: ['US-077'] });
    Object.assign(file.userStories[1], { dependsOn: ['US-078'] });
    await workspace.write('.omc/prd.json', JSON.stringify(file, undefined, 2));
    const words = /US-001 waits for US-077, which the story file does not have \(prd\.json:\d+\)/;
    const refused = await workspace.script([['work']], '--new', '--story', 'US-001').finished;
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, words);
    const resumed = await workspace.script([['work']], '--resume', '--max-iterations', '2')
      .finished;
    assert.equal(resumed.code, 1);
    assert.match(resumed.stdout, words);
    assert.doesNotMatch(resumed.stdout, /US-078|More of these/);
    assert.match(resumed.stdout, /No story is ready\. Left: US-001.* waits for US-077, which /);
  });

  test('a story that is put aside is refused, and not called complete', async t => {
    const stories = three().map(story =>
      story.id === 'US-001' ? { ...story, status: 'skipped' } : story,
    );
    const workspace = await Workspace.create(t, { stories });
    for (const flags of [[], ['--dry-run']]) {
      const refused = await workspace.script([['work']], '--story', 'US-001', ...flags).finished;
      assert.equal(refused.code, 1, refused.stdout);
      assert.match(refused.stderr, /the story file has put it aside \(skipped\)/);
    }
    assert.deepEqual(await workspace.journal(), []);
  });

  test('continues with the same stories, or with all stories if the flag is omitted', async t => {
    const workspace = await Workspace.create(t, { stories: three() });
    const first = workspace.script(
      [[{ commit: 'half' }, { result: ['Half of it.'] }]],
      ...['--story', 'US-002', '--max-iterations', '1'],
    );
    assert.equal((await first.finished).code, 1);
    const resumed = workspace.script(
      [['work'], ['work'], ['work']],
      ...['--resume', '--max-iterations', '9'],
    );
    assert.equal((await resumed.finished).code, 0, (await resumed.finished).stderr);
    assert.deepEqual(await storiesOf(workspace), ['US-002', 'US-002']);
    assert.deepEqual(await workspace.done(), ['US-002']);
    const whole = workspace.script([['work']]);
    assert.equal((await whole.finished).code, 0);
    assert.equal((await workspace.runIds()).length, 2);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002', 'US-003']);
  });
});
