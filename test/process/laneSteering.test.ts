import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { openStories, type Step, until, Workspace } from '../support/ralph.ts';

const posix = { skip: process.platform === 'win32' && 'a shell script' };
const subjects = (workspace: Workspace) =>
  workspace.git('log', '--first-parent', '--format=%s').split('\n');

describe('lanes that a person steers', () => {
  test('fewer lanes finish what they have, more start at once', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(4) });
    const waits = (id: string): readonly Step[] => [{ wait: id }, 'work'];
    const ids = ['US-001', 'US-002', 'US-003', 'US-004'];
    const run = workspace.scriptOf(
      Object.fromEntries(ids.map(id => [id, [waits(id)]])),
      ...['--lanes', '2'],
    );
    await workspace.agent(2);
    assert.equal((await workspace.cli('lanes', '4').finished).code, 0);
    await workspace.agent(4);
    assert.equal((await workspace.cli('lanes', '1').finished).code, 0);
    for (const id of ids) {
      await workspace.note(id);
    }
    assert.equal((await run.finished).code, 0, run.stderr);
    assert.deepEqual(await workspace.done(), ids);
  });

  test('a stopped story waits until it is resumed; the others continue', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const run = workspace.scriptOf(
      {
        'US-001': [[{ write: ['a.txt', 'a'] }, { commit: 'wip' }, 'stay'], ['work']],
        'US-002': [['work']],
      },
      ...['--lanes', '2'],
    );
    await until('it stays', async () =>
      (await workspace.notes()).some(note => 'step' in note && note.step === 'stay'),
    );
    const stop = await workspace.cli('stop', 'US-001').finished;
    assert.equal(stop.code, 0, stop.stderr);
    const pause = await workspace.event('pause.started');
    assert.equal(pause['reason'], 'person');
    assert.deepEqual(await workspace.done(), ['US-002']);
    assert.equal((await workspace.cli('resume', 'US-001').finished).code, 0);
    assert.equal((await run.finished).code, 0, run.stderr);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
    assert.equal(await workspace.read('a.txt'), 'a');
  });

  test('a question of one agent does not stop the others', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const run = workspace.scriptOf(
      {
        'US-001': [[{ result: ['<promise>NEEDS_HUMAN: Blue or green?</promise>'] }], ['work']],
      },
      ...['--lanes', '2', '--on-question', 'wait'],
    );
    const pause = await workspace.event('pause.started');
    assert.equal(pause['reason'], 'question');
    assert.deepEqual(await workspace.done(), ['US-002', 'US-003']);
    assert.equal((await workspace.cli('answer', 'Blue').finished).code, 0);
    assert.equal((await run.finished).code, 0, run.stderr);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002', 'US-003']);
    assert.match(await workspace.prompt(4), /Blue/);
  });

  test('of two questions, each is answered by its story', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const asks = (what: string): readonly Step[] => [
      { result: [`<promise>NEEDS_HUMAN: ${what}?</promise>`] },
    ];
    const run = workspace.scriptOf(
      { 'US-001': [asks('Blue'), ['work']], 'US-002': [asks('Round'), ['work']] },
      ...['--lanes', '2', '--on-question', 'wait'],
    );
    await workspace.event('pause.started');
    const other = await workspace.cli('answer', 'No', '--story', 'US-009').finished;
    assert.match(other.stderr, /US-009 has no open question\. These have one: US-00\d, US-00\d/);
    const answer = async (text: string, id: string) =>
      assert.equal((await workspace.cli('answer', text, '--story', id).finished).code, 0);
    // The first answer lets its story continue, while the other question stays open.
    await answer('Yes, blue', 'US-001');
    await workspace.event('landing.landed');
    await answer('Yes, round', 'US-002');
    assert.equal((await run.finished).code, 0, run.stderr);
    const started = await workspace.events('iteration.started');
    for (const [id, words] of [
      ['US-001', /Yes, blue/],
      ['US-002', /Yes, round/],
    ] as const) {
      const last = started.findLast(({ storyId }) => storyId === id);
      assert.match(await workspace.prompt(Number(last?.['iteration'])), words);
    }
  });

  test('a story that is skipped while its work is checked does not land', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const run = workspace.scriptOf(
      {},
      ...['--isolate', '--verify', `test ! -f US-001.txt || sleep 60`],
    );
    await workspace.event('check.started');
    assert.equal((await workspace.cli('skip', 'US-001').finished).code, 0);
    assert.equal((await run.finished).code, 1, run.stderr);
    assert.deepEqual(await workspace.done(), ['US-002']);
    const [returned] = await workspace.events('landing.returned');
    assert.equal(returned?.['reason'], 'person');
    assert.equal(subjects(workspace).length, 2);
  });

  test('a lane that is paused gets no agent, even if there is no other lane', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const run = workspace.scriptOf({ 'US-001': [[{ wait: 'go' }, 'work']] }, '--isolate');
    const told = async (...args: readonly string[]) => {
      const { code, stderr, stdout } = await workspace.cli(...args).finished;
      assert.equal(code, 0, stderr);
      return stdout;
    };
    await workspace.agent();
    const other = await workspace.cli('pause', '--lane', '2').finished;
    assert.match(other.stderr, /This run has 1 lane\. To have more: ralph-fresh lanes 2/);
    assert.match(await told('resume', '--lane', '1'), /^Lane 1 is not paused\.$/m);
    await told('pause', '--lane', '1');
    await workspace.note('go');
    assert.equal((await workspace.event('pause.started'))['reason'], 'person');
    assert.equal((await workspace.events('iteration.started')).length, 1);
    await told('resume', '--lane', '1');
    assert.equal((await run.finished).code, 0, run.stderr);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
  });

  test('an answer, or a story that is resumed, does not end a pause of the whole run', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const run = workspace.scriptOf(
      {
        'US-001': [[{ result: ['<promise>NEEDS_HUMAN: Blue or green?</promise>'] }], ['work']],
        'US-002': [[{ wait: 'go' }, 'work']],
      },
      ...['--isolate', '--on-question', 'wait'],
    );
    await workspace.agent(2);
    assert.equal((await workspace.cli('pause').finished).code, 0);
    await workspace.note('go');
    assert.equal((await workspace.event('pause.started'))['reason'], 'person');
    for (const args of [
      ['answer', 'Blue'],
      ['pause', 'US-003'],
      ['resume', 'US-003'],
      ['lanes', '2'],
    ]) {
      assert.equal((await workspace.cli(...args).finished).code, 0);
    }
    assert.equal((await workspace.events('iteration.started')).length, 2);
    assert.equal((await workspace.cli('resume').finished).code, 0);
    assert.equal((await run.finished).code, 0, run.stderr);
    const ends = await workspace.events('pause.ended');
    assert.deepEqual(
      ends.map(({ by }) => by),
      ['person'],
    );
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002', 'US-003']);
  });

  for (const { name, args, ends } of [
    { name: 'skipped', args: ['skip', 'US-001'], ends: 1 },
    { name: 'ticked', args: ['tick', 'US-001'], ends: 0 },
    { name: 'paused', args: ['pause', 'US-001'], ends: 0 },
    { name: 'stopped', args: ['stop', 'US-001'], ends: 0 },
  ]) {
    test(`a story that is ${name} while its place is prepared gets no agent`, posix, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(2) });
      const begun = path.join(workspace.notesDir, 'preparing');
      const run = workspace.scriptOf(
        {},
        ...['--isolate', '--place-setup', `test -e '${begun}' || { touch '${begun}'; sleep 600; }`],
      );
      await until('the preparation', () => existsSync(begun));
      const { code, stderr, stdout } = await workspace.cli(...args).finished;
      assert.equal(code, 0, stderr);
      if (name === 'stopped') {
        assert.match(stdout, /^No agent is working on US-001, and none starts until /);
      }
      await until('the other story', async () => (await workspace.done()).includes('US-002'));
      const agents = (await workspace.events('iteration.started')).map(({ storyId }) => storyId);
      assert.deepEqual(agents, ['US-002']);
      if (name === 'paused' || name === 'stopped') {
        await workspace.event('pause.started');
        assert.equal((await workspace.cli('resume', 'US-001').finished).code, 0);
      }
      assert.equal((await run.finished).code, ends, run.stderr);
    });
  }
});
