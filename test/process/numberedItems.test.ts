import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { recordRequest } from '../../src/orchestrator/workspace/delivery.ts';
import { readRun } from '../../src/orchestrator/workspace/runCheckpoint.ts';
import { openStories, type RunningCli, type Step, Workspace } from '../support/ralph.ts';
import { verdict } from '../support/scenarioSteps.ts';

const PLAN = 'IMPLEMENTATION_PLAN.md';

async function planOf(t: TestContext, text: string): Promise<Workspace> {
  const workspace = await Workspace.create(t, { stories: undefined });
  await workspace.write(PLAN, text);
  workspace.git('add', '-A');
  workspace.git('commit', '-qm', 'A plan');
  return workspace;
}

/** An agent that leaves the plan like this, and commits something. */
const leaves = (text: string): readonly Step[] => [
  { write: [PLAN, text] },
  { write: ['work.txt', text] },
  { commit: 'Work' },
];

/** A run whose agent leaves the plan like this, with a done item, in the middle of a check that never ends. */
async function inCheck(workspace: Workspace, text: string): Promise<RunningCli> {
  const run = workspace.script(
    [leaves(text)],
    ...['--verify', 'node -e "setInterval(() => {}, 1000)"', '--max-iterations', '1'],
  );
  await workspace.event('check.started');
  return run;
}

const titles = async (workspace: Workspace) =>
  (await workspace.events('iteration.started')).map(({ storyTitle }) => storyTitle);

describe('items without ids are the same ones when the list changes', { concurrency: 2 }, () => {
  test('an agent that adds a done item and rewords its own has not finished it', async t => {
    const plan = '# Plan\n\n- [ ] Alpha task\n- [ ] Beta task\n';
    const workspace = await planOf(t, plan);
    const { code, stdout } = await workspace.script(
      [leaves(plan.replace('- [ ] Alpha task', '- [x] Explore\n- [ ] Alpha task (begun)'))],
      ...['--verify', 'true', '--max-iterations', '1'],
    ).finished;
    assert.notEqual(code, 0, stdout);
    assert.doesNotMatch(await workspace.read(PLAN), /\[x\] Alpha/);
    const [ended] = await workspace.events('iteration.ended');
    assert.equal(ended?.outcome, 'progress');
  });

  for (const how of ['stopped', 'killed'] as const) {
    test(`a claim is still checked if a person adds an item above it after the run was ${how}`, async t => {
      const workspace = await planOf(t, '# Plan\n\n- [ ] Alpha\n- [ ] Beta\n');
      const run = await inCheck(workspace, '# Plan\n\n- [x] Alpha\n- [ ] Beta\n');
      if (how === 'killed') {
        run.child.kill('SIGKILL');
      } else {
        await workspace.cli('stop').finished;
      }
      await run.finished;
      await workspace.write(PLAN, '# Plan\n\n- [ ] New\n- [x] Alpha\n- [ ] Beta\n');
      const { stderr, stdout } = await workspace.script(
        [[{ result: ['Nothing done.'] }]],
        ...['--resume', '--verify', 'false', '--max-iterations', '2'],
      ).finished;
      const [gate] = await workspace.events('gate.ended');
      assert.equal(gate?.green, false, stdout + stderr);
      assert.equal(await workspace.read(PLAN), '# Plan\n\n- [ ] New\n- [ ] Alpha\n- [ ] Beta\n');
    });
  }

  test('a new run does not trust a claim that a person has moved since its loop was killed', async t => {
    const workspace = await planOf(t, '# Plan\n\n- [ ] Alpha\n- [ ] Beta\n');
    const killed = await inCheck(workspace, '# Plan\n\n- [x] Alpha\n- [ ] Beta\n');
    killed.child.kill('SIGKILL');
    await killed.finished;
    await workspace.write(PLAN, '# Plan\n\n- [ ] New\n- [x] Alpha\n- [ ] Beta\n');
    const { stdout } = await workspace.script(
      [[{ result: ['Nothing done.'] }]],
      ...['--verify', 'true', '--max-iterations', '1'],
    ).finished;
    assert.equal(
      await workspace.read(PLAN),
      '# Plan\n\n- [ ] New\n- [ ] Alpha\n- [ ] Beta\n',
      stdout,
    );
  });

  test('a run of one item stays with it', async t => {
    const workspace = await planOf(t, '# Plan\n\n- [ ] Alpha\n- [ ] Beta\n');
    const { code, stdout } = await workspace.script(
      [
        leaves('# Plan\n\n- [ ] Prepare\n- [ ] Alpha\n- [ ] Beta\n'),
        leaves('# Plan\n\n- [ ] Prepare\n- [ ] Alpha\n- [x] Beta\n'),
      ],
      ...['--story', '#2', '--verify', 'true', '--max-iterations', '3'],
    ).finished;
    assert.equal(code, 0, stdout);
    assert.deepEqual(await titles(workspace), ['Beta', 'Beta']);
    assert.equal(await workspace.read(PLAN), '# Plan\n\n- [ ] Prepare\n- [ ] Alpha\n- [x] Beta\n');
  });

  test('a person ticks what the file shows, while an agent adds an item', async t => {
    const workspace = await planOf(t, '# Plan\n\n- [ ] Alpha\n- [ ] Beta\n- [ ] Gamma\n');
    const run = workspace.script(
      [
        [
          { write: [PLAN, '# Plan\n\n- [ ] Prepare\n- [ ] Alpha\n- [ ] Beta\n- [ ] Gamma\n'] },
          { text: 'added' },
          { wait: 'ticked' },
          { commit: 'Prepared' },
        ],
      ],
      ...['--verify', 'true', '--max-iterations', '1'],
    );
    await workspace.event('agent.text');
    const { code, stderr } = await workspace.cli('tick', '#3').finished;
    assert.equal(code, 0, stderr);
    await workspace.note('ticked');
    await run.finished;
    assert.deepEqual(await workspace.events('guard.found'), []);
    assert.equal(
      await workspace.read(PLAN),
      '# Plan\n\n- [ ] Prepare\n- [ ] Alpha\n- [x] Beta\n- [ ] Gamma\n',
    );
    const [runId = ''] = await workspace.runIds();
    const { storyRecords } = await readRun(workspace.files, runId);
    assert.deepEqual(
      [...storyRecords].flatMap(([id, { doneBy }]) => (doneBy === 'hand' ? [id] : [])),
      ['#3'],
    );
  });

  test('hints and pauses are for what the file shows, while an agent adds an item', async t => {
    const workspace = await planOf(t, '# Plan\n\n- [ ] Alpha\n- [ ] Beta\n- [ ] Gamma\n');
    const run = workspace.script(
      [
        [
          { write: [PLAN, '# Plan\n\n- [ ] Prepare\n- [ ] Alpha\n- [ ] Beta\n- [ ] Gamma\n'] },
          { text: 'added' },
          { wait: 'never' },
        ],
      ],
      ...['--verify', 'true', '--max-iterations', '1'],
    );
    await workspace.event('agent.text');
    const done = async (...args: string[]) => {
      const { code, stderr, stdout } = await workspace.cli(...args).finished;
      assert.equal(code, 0, stderr);
      return stdout;
    };
    await done('hint', 'Take care', '--story', '#3');
    await done('pause', '#3');
    assert.match(await done('resume', '#2'), /#2 is not paused/);
    await done('resume', '#3');
    const refused = await workspace.cli('pause', '#1').finished;
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /cannot tell which of its stories "Prepare" is/);
    assert.match(await done('stop', '#2'), /The agent of #2 ends/);
    await run.finished;
    const [hint] = await workspace.events('hint.given');
    assert.equal(hint?.storyId, '#2');
    assert.deepEqual(
      (await workspace.events('story.paused')).map(({ paused, storyId }) => [storyId, paused]),
      [
        ['#2', true],
        ['#2', false],
        ['#1', true],
      ],
    );
  });

  test('an answer is for the item that the file shows, while the run waits for it', async t => {
    const workspace = await planOf(t, '# Plan\n\n- [ ] Alpha\n- [ ] Beta\n');
    const run = workspace.script(
      [[{ result: ['<promise>NEEDS_HUMAN: Blue or green?</promise>'] }]],
      ...['--on-question', 'wait', '--verify', 'true', '--max-iterations', '1'],
    );
    await workspace.event('pause.started');
    await workspace.write(PLAN, '# Plan\n\n- [ ] New\n- [ ] Alpha\n- [ ] Beta\n');
    const refused = await workspace.cli('answer', 'Red', '--story', '#1').finished;
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /cannot tell which of its stories "New" is/);
    const none = await workspace.cli('answer', 'Red', '--story', '#3').finished;
    assert.match(none.stderr, /#3 has no open question\. These have one: #2\./);
    const { code, stderr, stdout } = await workspace.cli('answer', 'Green', '--story', '#2')
      .finished;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^Answered: Blue or green\?/);
    const [answered] = await workspace.events('question.answered');
    assert.deepEqual([answered?.storyId, answered?.answer], ['#1', 'Green']);
    await run.finished;
  });

  test('a hint that waits for the next run is for what the file shows', async t => {
    const workspace = await planOf(t, '# Plan\n\n- [ ] Alpha\n- [ ] Beta\n');
    await workspace.script([[{ result: ['Nothing done.'] }]], '--max-iterations', '1').finished;
    await workspace.write(PLAN, '# Plan\n\n- [ ] New\n- [ ] Alpha\n- [ ] Beta\n');
    for (const [text, story] of [
      ['Of the new one', '#1'],
      ['Of Alpha', '#2'],
    ] as const) {
      const { code, stderr } = await workspace.cli('hint', text, '--story', story).finished;
      assert.equal(code, 0, stderr);
    }
    await workspace.write(PLAN, '# Plan\n\n- [ ] Alpha\n- [ ] New\n- [ ] Beta\n');
    await workspace.script(
      [[{ result: ['Nothing done.'] }]],
      ...['--story', '#2', '--verify', 'true', '--max-iterations', '1'],
    ).finished;
    assert.equal((await titles(workspace)).at(-1), 'New');
    const prompt = await workspace.prompt(1);
    assert.match(prompt, /Of the new one/);
    assert.doesNotMatch(prompt, /Of Alpha/);
  });

  test('a hint for an item waits while a run does something else, and follows the item', async t => {
    const workspace = await planOf(t, '# Plan\n\n- [ ] Alpha\n- [ ] Beta\n');
    await workspace.script([[{ result: ['Nothing done.'] }]], '--max-iterations', '1').finished;
    // As a window does it that shows the item as the run calls it.
    const hint = { type: 'hint', text: 'Of Beta', storyId: '#2' } as const;
    assert.equal((await recordRequest(workspace.files, hint)).kind, 'kept');
    await workspace.write(PLAN, '# Plan\n\n- [ ] New\n- [ ] Beta again\n- [ ] Alpha\n- [ ] Beta\n');
    const other = workspace.script([[{ result: ['Done.'] }]], 'Tidy up', '--max-iterations', '1');
    await other.finished;
    assert.doesNotMatch(await workspace.prompt(1), /Of Beta/);
    await workspace.script(
      [[{ result: ['Nothing done.'] }]],
      ...['--story', '#4', '--verify', 'true', '--max-iterations', '1'],
    ).finished;
    assert.match(await workspace.prompt(1), /Of Beta/);
  });

  test('a paused item that was reworded is not said to be running', async t => {
    const workspace = await planOf(t, '# Plan\n\n- [ ] Alpha\n- [ ] Beta\n');
    const run = workspace.script(
      [[{ text: 'at work' }, { wait: 'go' }]],
      ...['--verify', 'true', '--max-iterations', '1'],
    );
    await workspace.event('agent.text');
    assert.equal((await workspace.cli('pause', '#2').finished).code, 0);
    await workspace.write(PLAN, '# Plan\n\n- [ ] Alpha\n- [ ] Something else\n');
    const { code, stderr } = await workspace.cli('resume', '#2').finished;
    assert.equal(code, 1);
    assert.match(stderr, /cannot tell which of its stories "Something else" is/);
    await workspace.note('go');
    await run.finished;
  });

  test('what a person ticked by command hides no tick of another item in the editor', async t => {
    const workspace = await planOf(t, '# Plan\n\n- [ ] Alpha\n- [ ] Beta\n- [ ] Gamma\n');
    const claim = `sed -i 's/\\[ \\] Alpha/[x] Alpha/' ${PLAN}`;
    const run = workspace.scriptOf(
      {
        '#1': [
          [
            { write: [PLAN, '# Plan\n\n- [ ] Prepare\n- [ ] Alpha\n- [ ] Beta\n- [ ] Gamma\n'] },
            { text: 'added' },
            { wait: 'ticked' },
            { write: ['work.txt', 'Alpha'] },
            { shell: claim },
            { commit: 'Alpha' },
          ],
        ],
        review: [[{ text: 'reads' }, { wait: 'edited' }, verdict(true, [])]],
      },
      ...['--reviewer', '--verify', 'true', '--max-iterations', '1'],
    );
    await workspace.event('agent.text');
    const { code, stderr } = await workspace.cli('tick', '#4').finished;
    assert.equal(code, 0, stderr);
    await workspace.note('ticked');
    await workspace.agent(2);
    const before = await workspace.read(PLAN);
    await workspace.write(PLAN, before.replace('[ ] Beta', '[x] Beta'));
    await workspace.note('edited');
    await run.finished;
    assert.deepEqual(
      (await workspace.events('story.changed')).map(({ by, storyId }) => [storyId, by]),
      [
        ['#2', 'agent'],
        ['#3', 'outside'],
      ],
    );
  });

  test('work that an agent has found stays with its item', async t => {
    const workspace = await planOf(t, '# Plan\n\n- [ ] Alpha\n- [ ] Beta\n');
    await workspace.script(
      [
        [
          ...leaves('# Plan\n\n- [ ] Prepare\n- [ ] Alpha\n- [ ] Beta\n'),
          { result: ['<discovered>Limit the log in | five tries</discovered>'] },
        ],
      ],
      ...['--verify', 'true', '--max-iterations', '1'],
    ).finished;
    const { stdout } = await workspace.cli('discovered', '--json').finished;
    assert.deepEqual(
      JSON.parse(stdout).discovered.map(({ from }: { from: string }) => from),
      ['#2'],
      stdout,
    );
  });

  test('a refused claim counts for the item, wherever its agent has moved it', async t => {
    const workspace = await planOf(t, '# Plan\n\n- [ ] Alpha\n- [ ] Beta\n');
    await workspace.script(
      [leaves('# Plan\n\n- [ ] Beta\n- [x] Alpha\n')],
      ...['--verify', 'false', '--max-iterations', '1'],
    ).finished;
    const [runId = ''] = await workspace.runIds();
    const { storyRecords } = await readRun(workspace.files, runId);
    assert.deepEqual(
      [...storyRecords].map(([id, { failures, title }]) => [id, title, failures]),
      [['#2', 'Alpha', 1]],
    );
  });

  test('a claim whose agent has added an item above is checked once when the run continues', async t => {
    const workspace = await planOf(t, '# Plan\n\n- [ ] Alpha\n- [ ] Beta\n');
    const left = '# Plan\n\n- [ ] Prepare\n- [x] Alpha\n- [ ] Beta\n';
    const run = await inCheck(workspace, left);
    await workspace.cli('stop').finished;
    await run.finished;
    await workspace.script(
      [[{ result: ['Nothing done.'] }]],
      ...['--resume', '--verify', 'true', '--max-iterations', '2'],
    ).finished;
    const [ended] = await workspace.events('iteration.ended');
    assert.deepEqual([ended?.storyId, ended?.outcome], ['#2', 'storyDone']);
    assert.deepEqual(await workspace.events('guard.found'), []);
    assert.equal(await workspace.read(PLAN), left);
    assert.deepEqual(await titles(workspace), ['Alpha', 'Prepare']);
  });

  for (const [what, before, between] of [
    [
      'two items with one title',
      '# Plan\n\n- [ ] Write tests\n- [ ] Write tests\n',
      '# Plan\n\n- [ ] Write tests\n- [ ] Write tests\n',
    ],
    [
      'an item that a person rewords',
      '# Plan\n\n- [ ] Alpha\n- [ ] Beta task\n',
      '# Plan\n\n- [ ] New\n- [ ] Alpha\n- [ ] Beta task, also on Windows\n',
    ],
  ] as const) {
    test(`a run that continues knows ${what}`, async t => {
      const workspace = await planOf(t, before);
      await workspace.script(
        [[{ result: ['Nothing done.'] }]],
        ...['--story', '#2', '--verify', 'true', '--max-iterations', '1'],
      ).finished;
      await workspace.write(PLAN, between);
      await workspace.script(
        [[{ result: ['Nothing done.'] }]],
        ...['--resume', '--verify', 'true', '--max-iterations', '2'],
      ).finished;
      const last = between.trimEnd().split('- [ ] ').at(-1);
      assert.equal((await titles(workspace)).at(-1), last);
      assert.equal((await titles(workspace)).length, 2);
    });
  }

  test('ids that look like numbers are ids', async t => {
    const workspace = await Workspace.create(t, {
      stories: openStories(3).map((story, index) => ({
        ...story,
        id: `#${index + 12}`,
        title: 'Fix it',
      })),
    });
    const flags = ['--story', '#13', '--verify', 'true', '--max-iterations'];
    await workspace.script([[{ result: ['Nothing done.'] }]], ...flags, '1').finished;
    await workspace.script(
      [[{ result: ['Nothing done.'] }]],
      ...['--resume', '--verify', 'true', '--max-iterations', '2'],
    ).finished;
    assert.deepEqual(
      (await workspace.events('iteration.started')).map(({ storyId }) => storyId),
      ['#13', '#13'],
    );
  });

  test('an item that a person puts in the place of one at work gets an agent, too', async t => {
    const workspace = await planOf(t, '# Plan\n\n- [ ] Alpha task\n');
    const run = workspace.scriptOf(
      {
        '#1': [
          [{ text: 'hi' }, { wait: 'go' }, ...leaves('# Plan\n\n- [x] Alpha task\n')],
          [{ shell: `sed -i 's/\\[ \\] Omega/[x] Omega/' ${PLAN}` }, { commit: 'Omega' }],
        ],
      },
      ...['--isolate', '--verify', 'true', '--max-iterations', '3'],
    );
    await workspace.agent(1);
    await workspace.write(PLAN, '# Plan\n\n- [ ] Omega widget\n');
    workspace.git('commit', '-qam', 'Another item');
    await workspace.note('go');
    const { stdout } = await run.finished;
    assert.deepEqual((await titles(workspace)).slice(0, 2), ['Alpha task', 'Omega widget'], stdout);
  });

  test('a skip during the checks takes back the claim, wherever a person has moved it', async t => {
    const workspace = await planOf(t, '# Plan\n\n- [ ] Alpha\n- [ ] Beta\n');
    const run = await inCheck(workspace, '# Plan\n\n- [x] Alpha\n- [ ] Beta\n');
    await workspace.write(PLAN, '# Plan\n\n- [ ] New\n- [x] Alpha\n- [ ] Beta\n');
    const skip = await workspace.cli('skip', '#2').finished;
    assert.equal(skip.code, 0, skip.stderr);
    await run.finished;
    const [ended] = await workspace.events('iteration.ended');
    assert.equal(ended?.outcome, 'skipped');
    assert.equal(await workspace.read(PLAN), '# Plan\n\n- [ ] New\n- [ ] Alpha\n- [ ] Beta\n');
  });

  test('what a run has not read yet cannot be skipped by the number of another story', async t => {
    const workspace = await planOf(t, '# Plan\n\n- [ ] Alpha\n- [ ] Beta\n');
    await workspace.script([[{ result: ['Nothing done.'] }]], '--max-iterations', '1').finished;
    await workspace.write(PLAN, '# Plan\n\n- [ ] New\n- [ ] Alpha\n- [ ] Beta\n');
    const refused = await workspace.cli('skip', '#1').finished;
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /cannot tell which of its stories "New" is: .* Continue the run/);
    const { code, stderr } = await workspace.cli('skip', '#2').finished;
    assert.equal(code, 0, stderr);
    const [skipped] = await workspace.events('story.skipped');
    assert.equal(skipped?.storyId, '#1');
  });

  test('of two items with one title, the one under its heading is ticked', async t => {
    const tests = '# Plan\n\n## Login\n\n- [ ] Write tests\n\n## Search\n\n- [ ] Write tests\n';
    const workspace = await planOf(t, tests);
    const run = workspace.script(
      [
        [
          { text: 'hi' },
          { wait: 'go' },
          ...leaves(tests.replace(/\[ \] Write tests\n$/, '[x] Write tests\n')),
        ],
      ],
      ...['--isolate', '--story', '#2', '--verify', 'true', '--max-iterations', '1'],
    );
    await workspace.agent(1);
    const added = tests.replace('## Login\n', '## Login\n\n- [ ] Log out\n');
    await workspace.write(PLAN, added);
    await workspace.note('go');
    const { code, stdout } = await run.finished;
    assert.equal(code, 0, stdout);
    assert.equal(
      await workspace.read(PLAN),
      added.replace(/\[ \] Write tests\n$/, '[x] Write tests\n'),
    );
  });
});
