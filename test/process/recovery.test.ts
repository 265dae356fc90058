import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import {
  chmod,
  cp,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { englishOf } from '../../src/base/say.ts';
import { identify } from '../../src/orchestrator/process/processIdentity.ts';
import {
  fakeAgent,
  gitThat,
  isAlive,
  openStories,
  type PrdStory,
  type Step,
  until,
  Workspace,
} from '../support/ralph.ts';
import { inAll } from '../support/variants.ts';

/** The git of a test is a shell script. */
const posix = { skip: process.platform === 'win32' && 'Windows has no such scripts' };
/** Loaded into the loop's process. */
const FULL_DISK = pathToFileURL(path.resolve(import.meta.dirname, '../support/fullDisk.mjs')).href;

const outcomes = async (workspace: Workspace) =>
  (await workspace.events('iteration.ended')).map(({ outcome }) => outcome);
const apiError = (status: number, text: string) => [
  {
    event: {
      type: 'assistant',
      message: { content: [{ type: 'text', text }] },
      error: status === 529 ? 'overloaded' : 'invalid_request',
    },
  },
  { result: [text, { is_error: true, api_error_status: status, total_cost_usd: 0 }] },
  { exit: 1 },
];

describe('transient errors', { concurrency: 3 }, () => {
  test('an overloaded server is retried in the same iteration', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script([
      apiError(529, 'Overloaded'),
      apiError(529, 'Overloaded'),
      ['work'],
    ]);
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    assert.deepEqual(await outcomes(workspace), ['storyDone']);
    const retries = await workspace.events('call.retried');
    assert.deepEqual(
      retries.map(({ attempt, maxAttempts, delayMs }) => [attempt, maxAttempts, delayMs]),
      [
        [1, 3, 10],
        [2, 3, 20],
      ],
    );
  });

  test('tool concurrency (400) is retried up to three times, then the iteration fails', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const error = apiError(400, 'API Error: 400 messages: `tool_use` ids must be unique');
    const cli = workspace.script([error], '--max-iterations', '1');
    assert.equal((await cli.finished).code, 1);
    assert.deepEqual(await outcomes(workspace), ['failed']);
    assert.equal((await workspace.events('call.retried')).length, 3);
    assert.equal((await workspace.agents()).length, 4);
  });

  test('a refused request (400) is not retried', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script([apiError(400, 'prompt is too long')], '--max-iterations', '1');
    assert.equal((await cli.finished).code, 1);
    assert.deepEqual(await workspace.events('call.retried'), []);
  });

  test('a stop ends the wait before a retry', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script([apiError(529, 'Overloaded')], '--retry-delay', '3600');
    await workspace.event('call.retried');
    cli.child.kill('SIGINT');
    assert.equal((await cli.finished).code, 130);
  });
});

describe('usage limits', { concurrency: 3 }, () => {
  const limited = [
    {
      event: {
        type: 'assistant',
        message: { content: [{ type: 'text', text: 'Limit' }] },
        error: 'rate_limit',
      },
    },
    {
      result: [
        "You've hit your session limit · resets 5pm (Europe/Berlin)",
        { is_error: true, api_error_status: 429, total_cost_usd: 0 },
      ],
    },
    { exit: 1 },
  ];
  const rejected = [
    {
      event: {
        type: 'rate_limit_event',
        rate_limit_info: {
          status: 'rejected',
          resetsAt: Math.round(Date.now() / 1000) + 3_600,
          rateLimitType: 'five_hour',
        },
      },
    },
    'stay',
  ];

  for (const [name, steps] of [
    ['in words', limited],
    ['as an event', rejected],
  ] as const) {
    test(`a limit reported ${name}: waits for the reset; "resume" continues at once and uses up no iteration`, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(1) });
      const cli = workspace.script([steps, ['work']], '--max-iterations', '1');
      const waiting = await workspace.event('limit.waiting');
      assert.equal(waiting.known, true);
      assert.ok(waiting.remainingMs > 0);
      const status = await workspace.cli('status', '--json').finished;
      assert.equal(JSON.parse(status.stdout).waiting.kind, 'limit');
      assert.equal((await workspace.cli('resume').finished).code, 0);
      assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
      assert.deepEqual(
        (await workspace.events('limit.ended')).map(({ by }) => by),
        ['person'],
      );
      assert.deepEqual(await outcomes(workspace), ['storyDone']);
    });
  }

  test('an unknown reset time is followed by a retry after a while', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const steps = [
      { result: ['Claude usage limit reached.', { is_error: true, api_error_status: 429 }] },
      { exit: 1 },
    ];
    const cli = workspace.script([steps, ['work']], '--limit-retry', '0.001');
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    const [waiting] = await workspace.events('limit.waiting');
    assert.equal(waiting?.known, false);
    assert.deepEqual(
      (await workspace.events('limit.ended')).map(({ by }) => by),
      ['time'],
    );
  });

  test('a stop ends the wait; the run can be resumed', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script([limited, ['work']]);
    await workspace.event('limit.waiting');
    cli.child.kill('SIGINT');
    assert.equal((await cli.finished).code, 130);
    assert.equal((await workspace.script([['work']]).finished).code, 0);
  });

  test('a limit that is reached after the story is done does not end the run; the next agent waits for it', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const cli = workspace.script([['work', ...limited], limited, ['work']], '--verify', 'true');
    assert.equal((await workspace.event('limit.waiting')).iteration, 2);
    assert.equal((await workspace.cli('resume').finished).code, 0);
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    assert.deepEqual(await outcomes(workspace), ['storyDone', 'storyDone']);
  });

  inAll(test)('a story that is skipped during the wait does not end the run', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const cli = workspace.script([limited, ['work']]);
    await workspace.event('limit.waiting');
    assert.equal((await workspace.cli('skip').finished).code, 0);
    await cli.finished;
    assert.deepEqual(await outcomes(workspace), ['skipped', 'storyDone']);
  });

  test('with --on-limit stop the run ends with the reason', async t => {
    for (const steps of [limited, ['work', ...limited]]) {
      const workspace = await Workspace.create(t, { stories: openStories(2) });
      const cli = workspace.script([steps], '--on-limit', 'stop');
      assert.equal((await cli.finished).code, 1);
      assert.match(englishOf((await workspace.event('run.ended')).detail ?? ''), /session limit/);
    }
  });
});

describe('after a wait for a usage limit', { concurrency: 3 }, () => {
  const limited = [
    { result: ['Claude usage limit reached.', { is_error: true, api_error_status: 429 }] },
    { exit: 1 },
  ];
  /** A person edits the story file. */
  const edit = async (workspace: Workspace, change: (stories: PrdStory[]) => PrdStory[]) =>
    workspace.write(
      '.omc/prd.json',
      JSON.stringify({ userStories: change(await workspace.stories()) }),
    );

  test('the next prompt has the hints and changes of the meantime', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script([limited, ['work']], '--max-iterations', '1');
    await workspace.event('limit.waiting');
    assert.doesNotMatch(await workspace.prompt(1), /Use the blue one|Another title/);
    assert.equal((await workspace.cli('hint', 'Use the blue one').finished).code, 0);
    await edit(workspace, stories => stories.map(story => ({ ...story, title: 'Another title' })));
    assert.equal((await workspace.cli('resume').finished).code, 0);
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    assert.match(await workspace.prompt(1), /Use the blue one/);
    assert.match(await workspace.prompt(1), /Another title/);
    assert.deepEqual(await outcomes(workspace), ['storyDone']);
    assert.deepEqual(await workspace.events('guard.found'), [], 'people may change stories');
    assert.equal((await workspace.stories())[0]?.title, 'Another title');
  });

  for (const [how, change] of [
    [
      'ticked by hand',
      (stories: PrdStory[]) => stories.map((s, i) => (i === 0 ? { ...s, passes: true } : s)),
    ],
    ['removed', (stories: PrdStory[]) => stories.slice(1)],
  ] as const) {
    test(`a story that was ${how} meanwhile gets no agent`, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(2) });
      const cli = workspace.script([limited, ['work']], '--verify', 'exit 0');
      await workspace.event('limit.waiting');
      await edit(workspace, change);
      assert.equal((await workspace.cli('resume').finished).code, 0);
      assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
      const agents = (await workspace.notes()).flatMap(({ story }) => story ?? []);
      assert.deepEqual(agents, ['US-001', 'US-002']);
      assert.deepEqual(await outcomes(workspace), ['skipped', 'storyDone']);
      assert.deepEqual(await workspace.events('guard.found'), []);
      const changed = await workspace.events('story.changed');
      assert.deepEqual(
        changed.map(({ storyId, by }) => [storyId, by]),
        [...(how === 'removed' ? [] : [['US-001', 'outside']]), ['US-002', 'agent']],
      );
    });
  }

  test('changes the agent made before the wait are still guarded', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const cli = workspace.script([[{ retitle: ['US-002', 'Easier'] }, ...limited], ['work']]);
    await workspace.event('limit.waiting');
    assert.equal((await workspace.cli('resume').finished).code, 0);
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    assert.equal((await workspace.events('guard.found')).length, 1);
    assert.equal((await workspace.stories())[1]?.title, 'Story number 2');
  });
});

describe('a call without a result', { concurrency: 3 }, () => {
  /** 60 cents by the list, of which each message has several lines. */
  const usage = { input_tokens: 100_000, output_tokens: 10_000 };
  const answer = (id: string) => ({
    event: {
      type: 'assistant',
      message: { id, model: 'claude-opus-5-5', usage, content: [{ type: 'text', text: id }] },
    },
  });
  const answers = (id: string) => [answer(id), answer(id)];

  test('is charged an estimate from its answers, which is marked as such and counts towards the budget', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const cli = workspace.script(
      [[...answers('one'), 'stay'], [...answers('two'), { exit: 1 }], ['work']],
      ...['--budget', '1'],
    );
    await workspace.event('agent.text');
    assert.equal((await workspace.cli('skip').finished).code, 0);
    assert.equal((await cli.finished).code, 1);
    assert.equal((await workspace.agents()).length, 2, 'no third agent');
    assert.equal((await workspace.event('run.ended')).outcome, 'budget');
    assert.match((await cli.finished).stdout, /The budget of \$1\.00 is used up \(≈ \$1\.20\)/);
    for (const type of ['agent.ended', 'iteration.ended'] as const) {
      assert.deepEqual(
        (await workspace.events(type)).map(event => [event.costUsd, event.costEstimated]),
        [
          [0.6, true],
          [0.6, true],
        ],
      );
    }
    const status = JSON.parse((await workspace.cli('status', '--json').finished).stdout);
    assert.deepEqual([status.cost.usd, status.cost.estimated], [1.2, true]);
    assert.match((await workspace.cli('status').finished).stdout, /≈ \$1\.20 of \$1\.00/);
    const receipt = JSON.parse((await workspace.cli('receipt', '--json').finished).stdout);
    assert.deepEqual([receipt.total.costUsd, receipt.total.costEstimated], [1.2, true]);
    assert.match((await workspace.cli('receipt').finished).stdout, /≈ \$0\.60/);
  });

  test('costs nothing before the first answer', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script([['stay']]);
    await workspace.event('agent.init');
    cli.child.kill('SIGINT');
    await cli.finished;
    const [ended] = await workspace.events('agent.ended');
    assert.deepEqual([ended?.costUsd, ended?.costEstimated], [undefined, undefined]);
    const status = JSON.parse((await workspace.cli('status', '--json').finished).stdout);
    assert.deepEqual([status.cost.usd, status.cost.estimated], [0, false]);
  });

  const streamHas = (workspace: Workspace, words: string) =>
    until(`${words} in the stream`, async () => {
      const [runId] = await workspace.runIds();
      if (runId === undefined) {
        return false;
      }
      const file = path.join(workspace.files.iterationDir(runId, 1), 'stream.jsonl');
      return (await readFile(file, 'utf8').catch(() => '')).includes(words);
    });

  test('is also charged if the loop was killed with it', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const first = workspace.script([[...answers('one'), { text: 'spoken' }, 'stay']]);
    await streamHas(workspace, 'spoken');
    first.child.kill('SIGKILL');
    await first.finished;
    const second = workspace.script([['work']], '--resume', '--budget', '0.5');
    assert.equal((await second.finished).code, 1, (await second.finished).stderr);
    assert.equal((await workspace.agents()).length, 1, 'nothing is left to pay an agent with');
    assert.deepEqual(
      (await workspace.events('run.ended')).map(({ outcome }) => outcome),
      ['interrupted', 'budget'],
    );
    const [ended] = await workspace.events('agent.ended');
    assert.deepEqual([ended?.costUsd, ended?.costEstimated], [0.6, true]);
    const receipt = JSON.parse((await workspace.cli('receipt', '--json').finished).stdout);
    assert.deepEqual([receipt.total.costUsd, receipt.total.costEstimated], [0.6, true]);
  });

  test('is not estimated after a kill if its stream has a result', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const first = workspace.script([[...answers('one'), { result: ['Done.'] }, 'stay']]);
    await streamHas(workspace, 'total_cost_usd');
    first.child.kill('SIGKILL');
    await first.finished;
    const second = workspace.script([['work']], '--resume', '--budget', '0.2');
    assert.equal((await second.finished).code, 1, (await second.finished).stderr);
    const [ended] = await workspace.events('agent.ended');
    assert.deepEqual([ended?.costUsd, ended?.costEstimated], [0.25, undefined]);
  });
});

describe('resuming', { concurrency: 3 }, () => {
  test('after Ctrl-C the same command continues the same run at the next iteration', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const first = workspace.script([['work'], ['stay']], '--max-iterations', '9');
    await workspace.agent(2);
    first.child.kill('SIGINT');
    assert.equal((await first.finished).code, 130);
    const second = workspace.script([['work']], '--max-iterations', '9');
    assert.equal((await second.finished).code, 0, (await second.finished).stderr);
    assert.equal((await workspace.runIds()).length, 1);
    assert.deepEqual(
      (await workspace.events('iteration.started')).map(({ iteration }) => iteration),
      [1, 2, 3, 4],
    );
    assert.equal((await workspace.events('run.resumed')).length, 1);
  });

  test('backups for iterations are removed once they are over, even after a kill', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const keptFiles = async () => {
      const [runId = ''] = await workspace.runIds();
      const names = await readdir(workspace.files.runDir(runId), { recursive: true });
      return names.filter(name => name.includes('stories-before')).sort();
    };
    const first = workspace.script([['work'], ['stay']]);
    await workspace.agent(2);
    await until('that of the first to go', async () => (await keptFiles()).length === 1);
    const [own = ''] = await keptFiles();
    assert.match(own, /\b2\b/);
    const [runId = ''] = await workspace.runIds();
    const kept = path.join(workspace.files.runDir(runId), own);
    const bytes = await readFile(kept);
    first.child.kill('SIGINT');
    assert.equal((await first.finished).code, 130);
    assert.deepEqual(await keptFiles(), []);
    // As a loop leaves them that is killed between the record of an iteration's end and the next agent, twice.
    for (const iteration of [1, 2]) {
      await writeFile(
        path.join(workspace.files.iterationDir(runId, iteration), path.basename(kept)),
        bytes,
      );
    }
    const second = workspace.script([['work']]);
    assert.equal((await second.finished).code, 0, (await second.finished).stderr);
    assert.deepEqual(await keptFiles(), []);
  });

  for (const [what, change] of [
    ['removes', 'rm "$copy"'],
    ['edits', 'cp .omc/prd.json "$copy"'],
  ] as const) {
    test(`ticks of an agent that ${what} the copy of the story file and kills its loop do not count`, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(3) });
      const ticks: Step[] = ['US-001', 'US-002', 'US-003'].map(tick => ({ tick }));
      const shell = `for copy in .omc/state/runs/*/iterations/1/stories-before*; do ${change}; done`;
      const first = workspace.script([['work', ...ticks, { shell }, { text: 'changed' }, 'stay']]);
      await until('the copy to change', async () =>
        (await workspace.events('agent.text')).some(({ text }) => text === 'changed'),
      );
      first.child.kill('SIGKILL');
      await first.finished;
      const second = await workspace.script([['work']]).finished;
      assert.equal(second.code, 1, second.stdout);
      assert.match(
        second.stdout,
        /the copy of \.omc\/prd\.json .* removed or changed\. .*: US-002, US-003\. .*untick/,
      );
      assert.equal((await workspace.agents()).length, 1);
      for (const id of ['US-002', 'US-003']) {
        assert.equal((await workspace.cli('untick', id).finished).code, 0);
      }
      const third = await workspace.script([['work']]).finished;
      assert.equal(third.code, 0, third.stdout + third.stderr);
      assert.deepEqual(await outcomes(workspace), ['storyDone', 'storyDone', 'storyDone']);
      assert.equal((await workspace.agents()).length, 3);
    });
  }

  test('an iteration killed with its loop is judged by what it left behind', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const first = workspace.script([
      [{ tick: 'US-001' }, { commit: 'feat: US-001' }, { text: 'committed' }, 'stay'],
    ]);
    await workspace.event('agent.text');
    first.child.kill('SIGKILL');
    await first.finished;
    const second = workspace.script([['stay'], ['work']], '--verify', 'exit 0');
    assert.equal((await second.finished).code, 0, (await second.finished).stderr);
    assert.deepEqual(await outcomes(workspace), ['storyDone', 'storyDone']);
    assert.equal((await workspace.agents()).length, 2, 'nothing was done twice');
    const commits = await workspace.events('commit.recorded');
    assert.deepEqual(
      commits.map(({ subject, iteration }) => [subject, iteration]),
      [
        ['feat: US-001', 1],
        ['feat: US-002', 2],
      ],
    );
    assert.equal(
      (await workspace.events('gate.ended')).length,
      2,
      'the claim of the killed iteration was checked too',
    );
  });

  for (const how of ['stopped', 'killed'] as const) {
    test(`changes by a person after an iteration was ${how} are not attributed to it`, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(3) });
      const git = (...args: string[]) =>
        promisify(execFile)('git', args, { cwd: workspace.folder });
      const verify = ['--verify', 'test -e ok || sleep 60; test -e ok'];
      const first = workspace.script([['work']], ...verify);
      await workspace.event('check.started');
      first.child.kill(how === 'stopped' ? 'SIGINT' : 'SIGKILL');
      await first.finished;
      if (how === 'killed') {
        // Any command that works with the run closes it.
        await workspace.cli('stop').finished;
      }
      assert.deepEqual(await workspace.done(), ['US-001']);

      await workspace.write('ok', '');
      await workspace.write('mine.txt', 'mine\n');
      await git('add', 'mine.txt');
      await git('commit', '-q', '-m', 'A commit of a person');
      assert.equal((await workspace.cli('tick', 'US-003').finished).code, 0);
      const edited = (await workspace.read('.omc/prd.json')).replace(
        'Story number 2',
        'Another title',
      );
      assert.match(edited, /Another title/);
      await workspace.write('.omc/prd.json', edited);

      const second = workspace.script([['work']], ...verify);
      assert.equal((await second.finished).code, 0, (await second.finished).stdout);
      assert.match(await workspace.read('.omc/prd.json'), /Another title/);
      assert.deepEqual(await workspace.events('guard.found'), []);
      assert.deepEqual(
        (await workspace.events('commit.recorded')).map(({ iteration, subject }) => [
          iteration,
          subject,
        ]),
        [
          [1, 'feat: US-001'],
          [2, 'feat: US-002'],
        ],
      );
      assert.deepEqual(
        (await workspace.events('gate.ended')).map(({ storyId }) => storyId),
        ['US-001', 'US-002'],
      );
      // Neither claimed nor verified.
      assert.match((await workspace.cli('stories').finished).stdout, /US-003 +done +Story/);
    });
  }

  test('a tick after a kill closes the run, so that it is not attributed to the agent', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const first = workspace.script([['work']], '--verify', 'sleep 60');
    await workspace.event('check.started');
    first.child.kill('SIGKILL');
    await first.finished;
    assert.equal((await workspace.cli('tick', 'US-002').finished).code, 0);
    const second = workspace.script([['work']], '--verify', 'exit 1', '--max-iterations', '1');
    await second.finished;
    assert.deepEqual(await workspace.done(), ['US-002']);
    assert.deepEqual(await outcomes(workspace), ['rejected']);
  });

  test('a killed run on a story file outside of the folder is closed', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const outside = `${workspace.folder}-list.json`;
    t.after(() => rm(outside, { force: true }));
    await rename(path.join(workspace.folder, '.omc/prd.json'), outside);
    const first = workspace.script([['stay']], '--file', outside);
    await workspace.event('agent.started');
    first.child.kill('SIGKILL');
    await first.finished;
    const stop = await workspace.cli('stop').finished;
    assert.equal(stop.code, 0, stop.stderr);
    assert.equal((await workspace.event('run.ended'))['outcome'], 'interrupted');
  });

  inAll(test)(
    'a run continues although its agent replaced all stories before the kill',
    async t => {
      const workspace = await Workspace.create(t, { stories: openStories(2) });
      const own = JSON.stringify({ userStories: [{ id: 'X-1', title: 'Mine', passes: true }] });
      const first = workspace.script([
        [{ write: ['.omc/prd.json', own] }, { text: 'written' }, 'stay'],
      ]);
      await workspace.event('agent.text');
      first.child.kill('SIGKILL');
      await first.finished;
      const second = workspace.script([['stay'], ['work']]);
      assert.equal((await second.finished).code, 0, (await second.finished).stderr);
      assert.equal((await workspace.runIds()).length, 1);
      // An agent may add stories.
      assert.deepEqual(await workspace.done(), ['US-001', 'US-002', 'X-1']);
    },
  );

  inAll(test)(
    'a run continues with its own stories although its agent moved their file before the kill',
    async t => {
      const workspace = await Workspace.create(t, { stories: openStories(2) });
      await workspace.write('PLAN.md', '- [ ] Other work\n');
      const first = workspace.script([
        [{ delete: '.omc/prd.json' }, { commit: 'Tidy up' }, { text: 'moved' }, 'stay'],
      ]);
      await workspace.event('agent.text');
      first.child.kill('SIGKILL');
      await first.finished;
      const second = workspace.script([['stay'], ['work']]);
      assert.equal((await second.finished).code, 0, (await second.finished).stderr);
      assert.equal((await workspace.runIds()).length, 1);
      assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
      assert.equal(await workspace.read('PLAN.md'), '- [ ] Other work\n');
    },
  );

  inAll(test)(
    'a claim is checked in a file that its agent broke and a person repaired',
    async t => {
      const workspace = await Workspace.create(t, { stories: openStories(1) });
      const ticked = (await workspace.read('.omc/prd.json')).replace(
        '"passes": false',
        '"passes": true',
      );
      const first = workspace.script([
        [{ write: ['.omc/prd.json', `${ticked} }`] }, { text: 'written' }, 'stay'],
      ]);
      await workspace.event('agent.text');
      first.child.kill('SIGKILL');
      await first.finished;
      await workspace.cli('stop').finished;
      await workspace.write('.omc/prd.json', ticked);
      const second = workspace.script([['work']], '--verify', 'exit 1', '--max-iterations', '2');
      assert.equal((await second.finished).code, 1);
      assert.deepEqual(await workspace.done(), []);
      assert.equal((await workspace.runIds()).length, 1);
      assert.deepEqual(await outcomes(workspace), ['rejected', 'rejected']);
    },
  );

  test('--resume says so if there is nothing to resume or no iteration is left', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const none = await workspace.script([['work']], '--resume').finished;
    assert.equal(none.code, 1);
    assert.match(none.stderr, /^ralph-fresh: There is no run to resume[^\n]*\n$/);
    await workspace.script([['work']], '--max-iterations', '1').finished;
    const used = await workspace.script([['work']], '--resume', '--max-iterations', '1').finished;
    assert.equal(used.code, 1);
    assert.match(
      used.stderr,
      /^ralph-fresh: The last run has used its only[^\n]* --resume --max-iterations 21\.\n$/,
    );
    const more = await workspace.script([['work']], '--resume', '--max-iterations', '5').finished;
    assert.equal(more.code, 0, more.stderr);
    assert.equal((await workspace.runIds()).length, 1);
    const complete = await workspace.script([['work']], '--resume').finished;
    assert.match(complete.stderr, /complete/);
  });

  test('--resume explains what --max-iterations counts if it allows no further iteration', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const asks = { result: ['<promise>NEEDS_HUMAN: Blue?</promise>'] };
    await workspace.script([['work'], [asks]]).finished;
    const fewer = await workspace.script([['work']], '--resume', '--max-iterations', '2').finished;
    assert.equal(fewer.code, 1);
    assert.match(
      fewer.stderr,
      /^ralph-fresh: The last run has already had 2 iterations, and --max-iterations 2 includes [^\n]* --resume --max-iterations 22\.\n$/,
    );
    const [, args = ''] = /ralph-fresh run (--resume .*)\./.exec(fewer.stderr) ?? [];
    const more = await workspace.script([['work']], ...args.split(' ')).finished;
    assert.equal(more.code, 0, more.stderr);
    assert.equal((await workspace.runIds()).length, 1);
  });

  test('settings from the first command line are kept: checks, budget, task', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const first = workspace.script(
      [['stay']],
      ...['--verify', 'test -f green', '--budget', '7', '--fail-threshold', '1', 'Make it blue'],
    );
    await workspace.agent();
    first.child.kill('SIGINT');
    await first.finished;
    const second = workspace.script([['work']]);
    assert.equal((await second.finished).code, 1);
    const [resumed] = await workspace.events('run.resumed');
    assert.deepEqual([resumed?.verify, resumed?.budgetUsd], [['test -f green'], 7]);
    assert.deepEqual(await outcomes(workspace), ['stopped', 'rejected', 'rejected']);
    assert.match(await workspace.prompt(2), /Make it blue/);
  });

  test('settings that only a person may set are not taken from a journal', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const first = workspace.script([['stay']]);
    await workspace.agent();
    first.child.kill('SIGINT');
    await first.finished;
    const file = workspace.files.journalFile((await workspace.runIds())[0] ?? '');
    const [begin = '', ...rest] = (await readFile(file, 'utf8')).split('\n');
    const settings = {
      ...{ skipPermissions: true, claudePath: '/bin/false', permissionMode: 'bypassPermissions' },
      ...{ extraArgs: ['--x'], verify: ['exit 0'], maxIterations: 'many', nothing: 1 },
    };
    const forged = JSON.stringify({ ...JSON.parse(begin), settings });
    await writeFile(file, [forged, ...rest].join('\n'));
    const { stdout } = await workspace.run('succeeds', '--dry-run').finished;
    assert.doesNotMatch(stdout, /skip-permissions|bypassPermissions|--x|bin\/false/);
    assert.match(stdout, /Checks: exit 0/);
  });

  test('--new starts a new run and keeps the unfinished one', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const first = workspace.script([['stay']]);
    await workspace.agent();
    first.child.kill('SIGINT');
    await first.finished;
    assert.equal((await workspace.script([['work']], '--new').finished).code, 0);
    assert.equal((await workspace.runIds()).length, 2);
  });
});

describe('an agent that fails to start', () => {
  test('twice is replaced by the SDK of the workspace for the rest of the run', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await cp(
      path.resolve(import.meta.dirname, '../support/fakeSdk'),
      path.join(workspace.folder, 'node_modules/@anthropic-ai/claude-agent-sdk'),
      { recursive: true },
    );
    await workspace.write('.gitignore', 'node_modules\n');
    // It is there, and the system refuses to start it.
    await workspace.write('no-program', '#!/no/such/interpreter\n');
    await chmod(path.join(workspace.folder, 'no-program'), 0o755);
    const cli = workspace.cli('run', '--claude-path', path.join(workspace.folder, 'no-program'));
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    assert.deepEqual(
      (await workspace.events('agent.ended')).map(({ iteration, reason }) => [iteration, reason]),
      [
        [1, 'notStarted'],
        [1, 'notStarted'],
        [1, 'exited'],
        [2, 'exited'],
      ],
    );
    const replaced = await workspace.events('agent.replaced');
    assert.deepEqual(
      replaced.map(({ from, to }) => [from, to]),
      [['claude', 'sdk']],
    );
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
    assert.equal((await workspace.event('run.ended')).iterations, 2);
  });

  test('ends the run at once with the next step if there is no SDK', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const program = path.join(workspace.notesDir, 'no-program');
    await writeFile(program, '#!/no/such/interpreter\n', { mode: 0o755 });
    const cli = workspace.cli('run', '--claude-path', program);
    assert.equal((await cli.finished).code, 1);
    assert.match(
      englishOf((await workspace.event('run.ended')).detail ?? ''),
      /the first line of .*no-program names/,
    );
    assert.equal((await workspace.events('iteration.started')).length, 1);
  });
});

describe('a full disk', { concurrency: 2 }, () => {
  for (const room of [0, 2_500, 4_000, 6_000]) {
    test(`after ${room} bytes of journal names the fix; once there is room it continues, nothing is done twice`, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(3) });
      const full = workspace.cliWith(
        { NODE_OPTIONS: `--import=${FULL_DISK}`, FULL_DISK_AFTER: String(room) },
        ...['run', '--agent', 'claude', '--claude-path', fakeAgent('succeeds')],
      );
      const { code, stderr } = await full.finished;
      assert.equal(code, 1);
      assert.match(stderr, /^ralph-fresh: No space is left on the disk \(ENOSPC\)[^\n]*\n$/);
      const again = workspace.run('succeeds');
      assert.equal((await again.finished).code, 0, (await again.finished).stderr);
      assert.deepEqual(await workspace.done(), ['US-001', 'US-002', 'US-003']);
      const did = (await workspace.notes()).flatMap(({ did }) => did ?? []);
      assert.deepEqual(did, ['US-001', 'US-002', 'US-003']);
      const recorded = (await workspace.events('commit.recorded')).map(({ subject }) => subject);
      assert.deepEqual(recorded, ['feat: US-001', 'feat: US-002', 'feat: US-003']);
      assert.equal((await workspace.journal()).at(-1)?.type, 'run.ended');
    });
  }
});

describe('git', () => {
  test('a hanging git does not block a stop, and the run continues once git responds', {
    skip: process.platform === 'win32' && 'Windows has no such pipes',
  }, async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const keepWaiting = { shell: 'mv .git/index .git/kept && mkfifo .git/index' };
    const cli = workspace.script([['work', keepWaiting], ['work']]);
    await workspace.event('iteration.ended');
    assert.equal((await workspace.cli('stop', '--now').finished).code, 0);
    assert.equal((await cli.finished).code, 130, (await cli.finished).stderr);
    assert.match((await cli.finished).stdout, /git did not respond, so it was ended \(git status/);
    await rename(
      path.join(workspace.folder, '.git/kept'),
      path.join(workspace.folder, '.git/index'),
    );
    const second = workspace.script([['work']]);
    assert.equal((await second.finished).code, 0, (await second.finished).stderr);
    assert.equal((await workspace.runIds()).length, 1);
  });

  for (const file of ['.git/HEAD', '.git/config']) {
    test(`a repository with garbage in ${file} gets no further agent, until it is repaired`, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(2) });
      const whole = await workspace.read(file);
      const claim: Step[] = [{ tick: 'US-001' }, { commit: 'unseen' }];
      const damage: Step = { write: [file, '[nonsense\n'] };
      const flags = ['--verify', 'git log --oneline | grep unseen'];
      const cli = workspace.script([[...claim, damage, { result: ['Done.'] }], ['work']], ...flags);
      const { code, stdout } = await cli.finished;
      assert.equal(code, 1, stdout);
      assert.match(stdout, /git has not been able to read the repository of .* since iteration 1/);
      const codes = (await workspace.events('warning')).map(event => event.code);
      assert.ok(codes.includes('gitUnreadable'), codes.join());
      assert.equal((await workspace.agents()).length, 1);
      const refused = await workspace.script([['work']], ...flags).finished;
      assert.equal(refused.code, 1, refused.stdout);
      assert.equal((await workspace.agents()).length, 1);
      await workspace.write(file, whole);
      const again = await workspace.script([['work']], '--verify', 'git log --oneline').finished;
      assert.equal(again.code, 0, again.stdout + again.stderr);
      assert.deepEqual(
        (await workspace.events('commit.recorded')).map(({ subject }) => subject),
        ['unseen', 'feat: US-002'],
      );
      assert.ok((await workspace.events('gate.ended')).every(({ green }) => green));
    });
  }

  test(
    'a HEAD that could not be read once does not give commits to the wrong story',
    posix,
    async t => {
      const workspace = await Workspace.create(t, { stories: openStories(3) });
      const failures = path.join(workspace.notesDir, 'failures');
      // One line for each answer that fails.
      const env = await gitThat(
        workspace,
        `case "$*" in *"HEAD^{commit}"*) if test -s '${failures}'; then sed 1d '${failures}' > '${failures}.new'; mv '${failures}.new' '${failures}'; echo 'fatal: passing trouble' >&2; exit 128; fi;; esac`,
      );
      const calls = [['work', { write: [failures, '1\n2\n'] }], ['work'], ['work']];
      const { code, stderr } = await workspace.cliWith(
        { ...env, FAKE_AGENT_SCRIPT: JSON.stringify(calls) },
        ...['run', '--agent', 'claude', '--claude-path', fakeAgent('scripted')],
      ).finished;
      assert.equal(code, 0, stderr);
      const codes = (await workspace.events('warning')).map(event => event.code);
      assert.ok(codes.includes('gitUnreadable'), codes.join());
      const commits = await workspace.events('commit.recorded');
      assert.deepEqual(
        commits.map(({ iteration, storyId }) => [iteration, storyId]),
        [1, 2, 3].map(n => [n, `US-00${n}`]),
      );
      assert.deepEqual(
        (await workspace.events('iteration.started')).slice(1).map(event => event.startCommit),
        commits.slice(0, 2).map(({ hash }) => hash),
      );
    },
  );

  test('every iteration has its restore point', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await workspace.script([['work']]).finished;
    const [runId = ''] = await workspace.runIds();
    const starts = (await workspace.events('iteration.started')).map(
      ({ startCommit }) => startCommit,
    );
    const { stdout } = await until('refs', async () => {
      return promisify(execFile)(
        'git',
        ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/ralph-fresh'],
        { cwd: workspace.folder, env: workspace.env },
      );
    });
    assert.deepEqual(
      stdout
        .trim()
        .split('\n')
        // One hash for the workspace comes first.
        .map(ref => ref.replace(/^refs\/ralph-fresh\/[0-9a-f]{12}\//, ''))
        .sort(),
      [1, 2].map(n => `${runId}/${n} ${starts[n - 1]}`),
    );
  });
});

// An open file cannot be removed on Windows.
const posixFiles = { skip: process.platform === 'win32' && 'files that are open stay' };

describe('an agent that removes the state (git clean -fdx)', {
  concurrency: 3,
  ...posixFiles,
}, () => {
  const clean = { delete: '.omc/state' };

  test('the run restores its files and continues with a complete journal', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const { files } = workspace;
    const cli = workspace.script(
      [['work'], [clean, 'work'], ['work']],
      ...['--verify', 'test -f US-001.txt'],
    );
    const { code, stderr } = await cli.finished;
    assert.deepEqual([code, stderr], [0, '']);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002', 'US-003']);
    const [runId] = await workspace.runIds();
    assert.equal((await workspace.runIds()).length, 1);
    const events = await workspace.journal(runId);
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index + 1),
    );
    assert.deepEqual(await outcomes(workspace), ['storyDone', 'storyDone', 'storyDone']);
    assert.deepEqual(
      (await workspace.events('warning')).map(({ code }) => code),
      ['stateDamaged'],
    );
    assert.equal(await readFile(path.join(files.stateDir, '.gitignore'), 'utf8'), '*\n');
    assert.equal(JSON.parse(await readFile(files.stateFile, 'utf8')).active, false);
    assert.equal(existsSync(files.lockFile), false);
    const { stdout } = await workspace.cli('status').finished;
    assert.match(stdout, /COMPLETE after 3 iterations/);
  });

  test('a pipe in the place of its folder is named, with what to do', async t => {
    const workspace = await Workspace.create(t);
    const steps = [{ delete: '.omc' }, { pipe: '.omc' }, { exit: 1 }];
    const { code, stderr, stdout } = await workspace.script([steps]).finished;
    assert.equal(code, 1);
    const words = /There is no folder at .*\/\.omc, where one is needed\. Move what is there /;
    assert.match(stdout, new RegExp(`Cannot continue: ${words.source}`));
    assert.match(stderr, new RegExp(`^ralph-fresh: ${words.source}.*$`, 'm'));
    assert.doesNotMatch(stdout + stderr, /ENOTDIR: |\.tmp/);
    await workspace.write('plan.md', '- [ ] One\n');
    const tick = await workspace.cli('tick', '#1', '--file', 'plan.md').finished;
    assert.match(tick.stderr, /cannot write its state to .*\/\.omc \(ENOTDIR\)\./);
  });

  inAll(test)('the run can still be watched and stopped, and no second loop starts', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const cli = workspace.script([[clean, { wait: 'never' }]]);
    const agent = await workspace.agent();
    await until('the journal again', async () => (await workspace.events('warning')).length > 0);
    const second = await workspace.script([['work']]).finished;
    assert.equal(second.code, 1);
    assert.match(second.stderr, /already active/);
    const stop = await workspace.cli('stop').finished;
    assert.deepEqual([stop.code, (await cli.finished).code], [0, 130]);
    assert.equal(isAlive(agent), false);
    const resumed = await workspace.script([['stay'], ['work']]).finished;
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.equal((await workspace.runIds()).length, 1);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
  });

  for (const command of ['stop', 'cancel']) {
    test(`${command} waits until the loop has restored its files, then ends it`, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(1) });
      const cli = workspace.script([[{ wait: 'told' }, clean, { wait: 'never' }]]);
      const agent = await workspace.agent();
      await workspace.note('told');
      // The loop may have restored it before anybody looks.
      await until('the state to go', async () => {
        const notes = await workspace.notes();
        return notes.filter(note => 'step' in note && note.step === 'wait').length === 2;
      });
      const stop = await workspace.cli(command).finished;
      assert.deepEqual([stop.code, stop.stderr], [0, '']);
      assert.match(stop.stdout, /^Stopped\./);
      assert.equal((await cli.finished).code, 130);
      assert.equal(isAlive(agent), false);
    });
  }

  test('stop repeats its request if it was removed before the loop read it', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.run('hangs');
    await workspace.agent();
    await workspace.event('agent.init');
    const [runId = ''] = await workspace.runIds();
    const inbox = workspace.files.inboxFile(runId);
    cli.child.kill('SIGSTOP');
    const stop = workspace.cli('stop');
    const isAsked = () => existsSync(inbox) && readFileSync(inbox, 'utf8').endsWith('\n');
    await until('the request', isAsked);
    await rm(inbox);
    cli.child.kill('SIGCONT');
    assert.deepEqual([(await stop.finished).code, (await cli.finished).code], [0, 130]);
  });

  test('files that cannot be restored yet are restored later', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const { stateDir } = workspace.files;
    const cli = workspace.run('hangs');
    const agent = await workspace.agent();
    await workspace.event('agent.init');
    // A loop that works would put the folder back between the two steps.
    cli.child.kill('SIGSTOP');
    await rm(stateDir, { recursive: true });
    await writeFile(stateDir, 'in the way');
    cli.child.kill('SIGCONT');
    await until('the loop has tried', () => cli.stderr.includes('could not be restored yet'));
    await rm(stateDir);
    await until('the journal again', async () => (await workspace.events('warning')).length > 0);
    const stop = await workspace.cli('stop').finished;
    assert.deepEqual([stop.code, (await cli.finished).code], [0, 130]);
    assert.equal(isAlive(agent), false);
    assert.equal(cli.stderr.split('could not be restored yet').length, 2);
  });

  test('checks that remove it all run', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    // The loop may write a file while they are removed.
    const remove = 'until rm -rf .omc/state; do :; done';
    const checks = [remove, 'test -f US-001.txt', remove];
    const cli = workspace.script([['work']], ...checks.flatMap(check => ['--verify', check]));
    const { code, stderr } = await cli.finished;
    assert.equal(code, 0);
    assert.match(stderr, /^(?:The state could not be restored yet: .*\n)*$/);
    assert.deepEqual(
      (await workspace.events('check.ended')).map(({ ok }) => ok),
      [true, true, true],
    );
  });

  test('the run ends with the reason and leaves the other loop alone if one has started meanwhile', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const { files } = workspace;
    // As good as a loop: a process that lives, this one.
    const owner = `${JSON.stringify({ ...(await identify(process.pid)), runId: 'other-run' })}\n`;
    const state = '{"active":true,"run_id":"other-run"}\n';
    const cli = workspace.script([
      [
        { wait: 'go' },
        { delete: '.omc/state/runs' },
        { write: ['.omc/state/ralph-fresh-lock.json', owner] },
        { write: ['.omc/state/ralph-fresh-state.json', state] },
        'work',
      ],
    ]);
    // This loop writes its own state while its agent starts.
    await until('its own state', async () =>
      /"iteration": 1,/.test(await readFile(files.stateFile, 'utf8').catch(() => '')),
    );
    await workspace.note('go');
    const { code, stderr } = await cli.finished;
    assert.equal(code, 1);
    assert.match(
      stderr,
      new RegExp(`^ralph-fresh: .*another loop \\(process ${process.pid}\\) has started here`),
    );
    assert.equal(await readFile(files.lockFile, 'utf8'), owner);
    assert.equal(await readFile(files.stateFile, 'utf8'), state);
    const [ended] = await workspace.events('run.ended');
    assert.deepEqual(
      [ended?.outcome, /another loop/.test(englishOf(ended?.detail ?? ''))],
      ['error', true],
    );
  });
});

test('run folders with later names that no loop created are not mistaken for the newest run', async t => {
  const workspace = await Workspace.create(t, { stories: openStories(2) });
  const { files } = workspace;
  assert.equal((await workspace.script([['work']], '--max-iterations', '1').finished).code, 1);
  const [runId = '', ...more] = await workspace.runIds();
  assert.deepEqual(more, []);
  const events = await workspace.journal();
  const [started] = events;
  const lines = (...of: readonly object[]) =>
    of.map(event => `${JSON.stringify(event)}\n`).join('');
  const forged = {
    '2999-01-01T00-00-00-000-aaaaaa': '',
    '2999-01-01T00-00-00-000-bbbbbb': 'no event\n',
    // As another run wrote it.
    '2999-01-01T00-00-00-000-cccccc': lines(...events),
    '2999-01-01T00-00-00-000-dddddd': lines(...events.slice(1)),
    // The line is not whole.
    '2999-01-01T00-00-00-000-eeeeee': JSON.stringify({
      ...started,
      runId: '2999-01-01T00-00-00-000-eeeeee',
    }),
  };
  for (const [id, text] of Object.entries(forged)) {
    await mkdir(files.runDir(id));
    await writeFile(files.journalFile(id), text);
  }
  const told = async (...args: readonly string[]) =>
    JSON.parse((await workspace.cli(...args).finished).stdout);
  assert.equal((await told('status', '--json')).run, runId);
  assert.equal((await told('receipt', '--json')).run, runId);
  assert.equal((await workspace.cli('tick', 'US-002').finished).code, 0);
  assert.equal((await workspace.events('story.ticked', runId)).length, 1);
  assert.equal((await workspace.cli('untick', 'US-002').finished).code, 0);
  const goesOn = workspace.script([['work']], '--resume', '--max-iterations', '2');
  assert.equal((await goesOn.finished).code, 0, (await goesOn.finished).stderr);
  assert.equal((await workspace.events('run.resumed', runId)).length, 1);
  for (const [id, text] of Object.entries(forged)) {
    assert.equal(await readFile(files.journalFile(id), 'utf8'), text);
  }
});

test('ticks before the first run share one journal, which does not count as a run', async t => {
  const workspace = await Workspace.create(t, { stories: openStories(3) });
  for (const id of ['US-001', 'US-002']) {
    assert.equal((await workspace.cli('tick', id).finished).code, 0);
  }
  assert.equal((await workspace.runIds()).length, 1);
  assert.equal((await workspace.events('story.ticked')).length, 2);
  assert.match((await workspace.cli('status').finished).stdout, /^No run in this folder yet/);
  const resumed = await workspace.script([['work']], '--resume').finished;
  assert.match(resumed.stderr, /no run to resume/);
  const pause = await workspace.cli('pause').finished;
  assert.match(
    pause.stderr,
    /^ralph-fresh: No run is active here\. Start one with "ralph-fresh run"\.\n$/,
  );
  assert.equal((await workspace.script([['work']]).finished).code, 0);
  assert.equal((await workspace.runIds()).length, 2);
  const { stories } = JSON.parse((await workspace.cli('stories', '--json').finished).stdout);
  assert.deepEqual(
    stories.map(({ state }: { state: string }) => state),
    ['done', 'done', 'claimed'],
  );
});

const canLink = { skip: process.platform === 'win32' && 'links need rights there' };

describe('old runs', canLink, () => {
  test('keep their journals; the last 20 stay complete, and foreign files are left alone', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const { files } = workspace;
    const idOf = (n: number) => `2026-01-${String(n).padStart(2, '0')}T00-00-00-000-aaaaaa`;
    const ids = Array.from({ length: 25 }, (_, index) => idOf(index + 1));
    const started = await workspace.script([['stay']]);
    const begin = await workspace.event('run.started');
    await workspace.event('agent.init');
    started.child.kill('SIGINT');
    await started.finished;
    const [first = ''] = await workspace.runIds();
    const journal = await readFile(files.journalFile(first), 'utf8');
    await rm(files.runDir(first), { recursive: true });
    for (const id of ids) {
      await mkdir(files.iterationDir(id, 1), { recursive: true });
      await writeFile(path.join(files.iterationDir(id, 1), 'stream.jsonl'), 'much');
      await writeFile(files.inboxFile(id), '');
      await writeFile(files.logFile(id), 'words');
      await writeFile(files.journalFile(id), journal.replaceAll(begin.runId, id));
    }
    // A start that came to no run; somebody's own note; a link; a run that came with the repository.
    const failed = '2026-01-01T00-00-00-000-failed';
    await mkdir(files.runDir(failed));
    await writeFile(files.logFile(failed), 'There is no plan.');
    await writeFile(path.join(files.runDir(idOf(1)), 'note.txt'), 'mine');
    const outside = path.join(workspace.notesDir, 'outside');
    await rename(files.iterationDir(idOf(2), 1), outside);
    await rm(path.dirname(files.iterationDir(idOf(2), 1)), { recursive: true });
    await symlink(workspace.notesDir, path.dirname(files.iterationDir(idOf(2), 1)));
    await promisify(execFile)('git', ['add', '-f', files.runDir(idOf(3))], {
      cwd: workspace.folder,
      env: workspace.env,
    });

    // Runs that say to be younger push none out.
    for (let n = 0; n < 25; n++) {
      const id = `2999-01-01T00-00-00-000-${String(n).padStart(6, '0')}`;
      await mkdir(files.runDir(id));
      await writeFile(files.journalFile(id), '');
    }

    const run = workspace.script([['work']], '--new');
    assert.equal((await run.finished).code, 0, (await run.finished).stderr);
    const left = async (id: string) => (await readdir(files.runDir(id))).sort();
    const whole = ['inbox.jsonl', 'iterations', 'journal.jsonl', 'loop.log'];
    assert.deepEqual(await left(idOf(1)), ['journal.jsonl', 'note.txt']);
    assert.deepEqual(await left(idOf(2)), ['journal.jsonl']);
    assert.deepEqual(await left(idOf(3)), whole);
    for (const id of ids.slice(3, 6)) {
      assert.deepEqual(await left(id), ['journal.jsonl'], id);
    }
    for (const id of ids.slice(6)) {
      assert.deepEqual(await left(id), whole, id);
    }
    assert.equal(existsSync(files.runDir(failed)), false);
    assert.deepEqual(await readdir(outside), ['stream.jsonl']);
    assert.deepEqual(await workspace.events('warning'), []);

    const { code, stdout } = await workspace.cli('receipt', '--run', idOf(4)).finished;
    assert.deepEqual([code, stdout.includes(idOf(4))], [0, true]);
    const raw = await workspace.cli('logs', '--raw', '--iteration', '1', '--run', idOf(4)).finished;
    assert.deepEqual([raw.code, raw.stdout], [1, '']);
    assert.match(raw.stderr, /raw stream of iteration 1 is gone; "ralph-fresh logs --iteration 1"/);
  });
});
