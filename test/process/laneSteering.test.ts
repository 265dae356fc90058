import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { openStories, type Step, until, Workspace } from '../support/ralph.ts';
import { inAll } from '../support/variants.ts';

const posix = { skip: process.platform === 'win32' && 'a shell script' };
const subjects = (workspace: Workspace) =>
  workspace.git('log', '--first-parent', '--format=%s').split('\n');

describe('controlling lanes', () => {
  test('removed lanes finish their story, added lanes start at once', async t => {
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

  test('the number of agents that was chosen during the run counts when it continues', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const ids = ['US-001', 'US-002', 'US-003'];
    const waits: readonly Step[] = [{ wait: 'go' }, 'work'];
    const script = Object.fromEntries(ids.map(id => [id, [waits]]));
    const run = workspace.scriptOf(script, '--lanes', '2');
    await workspace.agent(2);
    assert.equal((await workspace.cli('lanes', '1').finished).code, 0);
    assert.equal((await workspace.cli('stop').finished).code, 0);
    assert.equal((await run.finished).code, 130, run.stderr);
    const { stderr } = await workspace.cli('lanes', '1').finished;
    assert.match(stderr, /Continue with "ralph-fresh run --resume --lanes 1 --isolate"/);

    const again = workspace.scriptOf(script);
    await workspace.agent(3);
    const resumed = await workspace.event('run.resumed');
    // One agent, in a place of its own as before, and not in the person's tree.
    assert.deepEqual([resumed['lanes'], resumed['isolated']], [1, true]);
    assert.equal((await workspace.cli('stop').finished).code, 0);
    assert.equal((await again.finished).code, 130, again.stderr);

    // It is kept from one time to the next, until a number is given.
    await workspace.note('go');
    const last = workspace.scriptOf(script, '--lanes', '3');
    assert.equal((await last.finished).code, 0, last.stderr);
    assert.deepEqual(
      (await workspace.events('run.resumed')).map(event => event['lanes']),
      [1, 3],
    );
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

  inAll(test)('a question stays open if the run is stopped and continues', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const script = {
      'US-001': [[{ wait: 'go' }, 'work']],
      'US-002': [[{ result: ['<promise>NEEDS_HUMAN: Blue or green?</promise>'] }], ['work']],
    } as const;
    const flags = ['--lanes', '2', '--on-question', 'wait'];
    const run = workspace.scriptOf(script, ...flags);
    await until('the question', async () =>
      (await workspace.events('iteration.ended')).some(({ storyId }) => storyId === 'US-002'),
    );
    assert.equal((await workspace.cli('stop').finished).code, 0);
    await run.finished;
    await workspace.note('go');
    const again = workspace.scriptOf(script, ...flags);
    await workspace.event('pause.started');
    assert.deepEqual(await workspace.done(), ['US-001']);
    assert.equal((await workspace.cli('answer', 'Green').finished).code, 0);
    const { code, stderr, stdout } = await again.finished;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /US-002 asks: Blue or green\?/);
    const last = (await workspace.events('iteration.started')).at(-1);
    assert.match(await workspace.prompt(Number(last?.['iteration'])), /Green/);
    // The iteration that asked is none without progress.
    assert.equal(last?.['stuckFor'], 0);
    // The iteration that was stopped had worked for some time.
    const stopped = (await workspace.events('iteration.ended')).find(
      ({ outcome }) => outcome === 'stopped',
    );
    assert.ok(Number(stopped?.['durationMs']) > 0);
  });

  test("a person's tick does not hold back the branch", async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const run = workspace.scriptOf(
      { 'US-001': [[{ wait: 'go' }, 'work']], 'US-002': [[{ wait: 'go' }, 'work']] },
      ...['--lanes', '2'],
    );
    await workspace.agent(2);
    assert.equal((await workspace.cli('tick', 'US-003').finished).code, 0);
    await workspace.note('go');
    const { code, stderr, stdout } = await run.finished;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^\[Ralph Fresh\] Lanes: 2, each agent in a clone of its own$/m);
    assert.doesNotMatch(stdout, /follows as soon as/);
    assert.deepEqual(await workspace.events('target.held'), []);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002', 'US-003']);
    // The person's tick is still theirs to commit.
    const committed = JSON.parse(workspace.git('show', 'main:.omc/prd.json'));
    assert.deepEqual(
      committed.userStories.map(({ passes }: { passes: boolean }) => passes),
      [true, true, false],
    );
    assert.equal(workspace.git('status', '--short'), ' M .omc/prd.json');
  });

  test('each command names the story or lane it affects and the next step', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(4) });
    const asks = (what: string): readonly Step[] => [
      { result: [`<promise>NEEDS_HUMAN: ${what}?</promise>`] },
    ];
    const run = workspace.scriptOf(
      {
        'US-001': [asks('Blue'), ['work']],
        'US-002': [[{ wait: 'go' }, ...asks('Round')], ['work']],
        'US-003': [[{ wait: 'end' }, 'work']],
      },
      ...['--lanes', '2', '--on-question', 'wait'],
      ...['--story', 'US-001', '--story', 'US-002', '--story', 'US-003'],
    );
    const says = async (code: number, words: RegExp, ...args: readonly string[]) => {
      const finished = await workspace.cli(...args).finished;
      assert.equal(finished.code, code, finished.stdout + finished.stderr);
      assert.match(finished.stdout + finished.stderr, words);
    };
    await until('the third agent', async () =>
      (await workspace.events('agent.started')).some(({ iteration }) => iteration === 3),
    );
    await says(
      0,
      /^US-001 asks: Blue\? Answer with: ralph-fresh answer "…" --story US-001$/m,
      'status',
    );
    await says(64, /Several stories are being worked on: US-002, US-003\. Name one/, 'skip');
    await says(0, /^No other story is ready\. Agents work on US-002, US-003\.$/m, 'next');
    await says(0, /^The next agent of US-003 will get it\.$/m, 'hint', 'x', '--story', 'US-003');
    await says(0, /./, 'pause', 'US-003');
    await says(0, /^Paused: US-003\. Continue with: ralph-fresh resume US-003$/m, 'resume');
    await says(0, /./, 'lanes', '1');
    await says(0, /^Up to 1 agent at once; 1 other finishes first · /m, 'status');
    await says(0, /./, 'lanes', '2');
    await workspace.note('go');
    await until('two questions', async () => {
      const { stdout } = await workspace.cli('status', '--json').finished;
      return JSON.parse(stdout).questions.length === 2;
    });
    await says(
      64,
      /Name one with --story:\n {2}US-001: Blue\?\n {2}US-002: Round\?/,
      'answer',
      'Yes',
    );
    await says(0, /^ {2}lane [12] · idle$/m, 'status');
    await says(0, /./, 'answer', 'Yes', '--story', 'us-001');
    await says(0, /./, 'answer', 'Yes', '--story', 'us-002');
    await workspace.note('end');
    // The work of an agent that was at work during the pause lands, too.
    assert.equal((await run.finished).code, 0, run.stderr);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002', 'US-003']);
  });

  test('status and resume name the open stories if all of them are paused', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const run = workspace.scriptOf({ 'US-001': [[{ wait: 'go' }, 'work']] }, '--isolate');
    await workspace.agent();
    assert.equal((await workspace.cli('pause', 'US-002').finished).code, 0);
    // It is done before the run waits.
    assert.equal((await workspace.cli('pause', 'US-001').finished).code, 0);
    await workspace.note('go');
    const pause = await workspace.event('pause.started');
    assert.deepEqual(pause['stories'], ['US-002']);
    const words =
      /Paused, and no other story is ready: US-002\. Continue with: ralph-fresh resume US-002/;
    assert.match((await workspace.cli('status').finished).stdout, words);
    const next = await workspace.cli('next').finished;
    assert.match(
      next.stdout,
      /^No story is ready\. Paused: US-002\. .*ralph-fresh resume US-002$/m,
    );
    const resumed = await workspace.cli('resume').finished;
    assert.equal(resumed.code, 1);
    assert.match(resumed.stderr, words);
    for (const command of ['pause', 'stop']) {
      const done = await workspace.cli(command, 'US-001').finished;
      assert.deepEqual([done.code, done.stdout], [1, '']);
      assert.match(done.stderr, /US-001 is done, so no agent starts for it\. .*untick US-001$/m);
    }
    assert.equal((await workspace.cli('resume', 'US-002').finished).code, 0);
    assert.equal((await run.finished).code, 0, run.stderr);
  });

  test('the run does not wait for the question of a skipped story', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const run = workspace.scriptOf(
      {
        'US-001': [[{ result: ['<promise>NEEDS_HUMAN: Blue or green?</promise>'] }]],
        'US-002': [[{ wait: 'go' }, 'work']],
      },
      ...['--lanes', '2', '--on-question', 'wait'],
    );
    await until('the question', async () =>
      (await workspace.events('iteration.ended')).some(({ storyId }) => storyId === 'US-001'),
    );
    assert.equal((await workspace.cli('skip', 'US-001').finished).code, 0);
    await workspace.note('go');
    assert.equal((await run.finished).code, 1, run.stderr);
    assert.deepEqual(await workspace.events('pause.started'), []);
    assert.deepEqual(await workspace.done(), ['US-002']);
  });

  inAll(test)('each of two questions is answered with its story id', async t => {
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

  test('a story that is skipped during its checks does not land', async t => {
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

  test('a paused lane gets no agent, even if it is the only one', async t => {
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

  inAll(test)('an answer or a resumed story does not end a pause of the whole run', async t => {
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
        assert.match((await workspace.cli('status').finished).stdout, /paused stories: US-001/);
        assert.match((await workspace.cli('stories').finished).stdout, /US-001 +paused/);
        assert.equal((await workspace.cli('resume', 'US-001').finished).code, 0);
      }
      assert.equal((await run.finished).code, ends, run.stderr);
    });
  }
});
