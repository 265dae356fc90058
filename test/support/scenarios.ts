import { chmod, cp } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { postRequest, postRequestNow } from '../../src/orchestrator/run/inbox.ts';
import { fakeAgent, openStories, type Step, until, Workspace } from './ralph.ts';
import {
  asks,
  claims,
  failed,
  idle,
  initWith,
  limitKnown,
  needs,
  planned,
  said,
  toolCalls,
  verdict,
  wroteSome,
} from './scenarioSteps.ts';

/** Runs something in a workspace until it is over; its newest journal is what it leaves. */
type Scenario = (t: Pick<TestContext, 'after'>) => Promise<Workspace>;

const create = (t: Pick<TestContext, 'after'>, stories: number) =>
  Workspace.create(t, { stories: openStories(stories) });

/** Does what the script says, to its end. */
function scripted(
  stories: number,
  calls: readonly (readonly Step[])[],
  ...args: readonly string[]
): Scenario {
  return async t => {
    const workspace = await create(t, stories);
    await workspace.script(calls, ...args).finished;
    return workspace;
  };
}

/** A run with the scripted agent, for environments of its own. */
const RUN = [
  ...['run', '--agent', 'claude', '--claude-path', fakeAgent('scripted')],
  ...['--retry-delay', '0.01'],
];

/** Waits until an agent has said this. */
const heard = (workspace: Workspace, words: string) =>
  until(words, async () =>
    (await workspace.events('agent.text')).some(({ text }) => text === words),
  );

/** What runs do, each a short one; npm run journals keeps their journals for the tests of views. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  severalStories: scripted(3, [['work']]),
  twoChecksGreen: scripted(1, [['work']], '--verify', 'echo one', '--verify', 'echo two'),
  firstCheckRed: scripted(
    1,
    [['work'], [{ write: ['green', ''] }, 'work']],
    ...['--verify', needs('green'), '--verify', 'echo two'],
  ),
  secondCheckRed: scripted(
    1,
    [['work'], [{ write: ['green', ''] }, 'work']],
    ...['--verify', 'echo one', '--verify', needs('green')],
  ),
  stuck: scripted(1, [idle], '--on-stuck', 'stop', '--stuck-threshold', '2'),
  guard: scripted(2, [[{ remove: 'US-002' }, 'work'], ['work']]),
  retry: scripted(1, [[failed(529, 'Overloaded')], ['work']]),
  limit: scripted(1, [[failed(429, 'Claude usage limit reached.')]], '--on-limit', 'stop'),
  limitWaited: async t => {
    const workspace = await create(t, 1);
    const cli = workspace.script([[failed(429, 'Claude usage limit reached.')], ['work']]);
    await workspace.event('limit.waiting');
    await workspace.cli('resume').finished;
    await cli.finished;
    return workspace;
  },
  failed: scripted(
    1,
    [[failed(400, 'prompt is too long')]],
    ...['--max-iterations', '2', '--fail-threshold', '2'],
  ),
  review: scripted(
    1,
    [['work'], [verdict(false, ['There is no test.'])], ['work'], [verdict(true, [])]],
    '--reviewer',
  ),
  checksAndReview: scripted(
    1,
    [['work'], [verdict(false, ['There is no test.'])], ['work'], [verdict(true, [])]],
    ...['--reviewer', '--verify', 'echo one', '--verify', 'echo two'],
  ),
  question: scripted(1, [asks]),
  answered: async t => {
    const workspace = await create(t, 1);
    await workspace.script([asks, ['work']]).finished;
    await workspace.cli('answer', 'Green').finished;
    await workspace.script([asks, ['work']], '--resume').finished;
    return workspace;
  },
  skip: async t => {
    const workspace = await create(t, 2);
    const cli = workspace.script([[{ wait: 'never' }], ['work']]);
    await workspace.agent();
    await workspace.event('agent.init');
    await workspace.cli('skip').finished;
    await cli.finished;
    return workspace;
  },
  stoppedInCheck: async t => {
    const workspace = await create(t, 1);
    const checks = ['--verify', 'echo one', '--verify', `${needs('green')} || sleep 60`];
    const cli = workspace.script([['work']], ...checks);
    await until(
      'the second check',
      async () => (await workspace.events('check.started')).length === 2,
    );
    cli.child.kill('SIGINT');
    await cli.finished;
    return workspace;
  },
  killedAndResumed: async t => {
    const workspace = await create(t, 2);
    const calls = [['work'], [{ text: 'I begin.' }, { wait: 'never' }], ['work']];
    const cli = workspace.script(calls);
    await workspace.agent(2);
    await heard(workspace, 'I begin.');
    cli.child.kill('SIGKILL');
    await cli.finished;
    await workspace.script(calls).finished;
    return workspace;
  },

  // Who ends it.
  maxIterations: scripted(
    5,
    [['work'], claims('US-002', 0.5), ['work']],
    ...['--budget', '4', '--max-iterations', '3'],
  ),
  budget: async t => {
    const workspace = await create(t, 2);
    const calls = [[initWith('ANTHROPIC_API_KEY'), ...claims('US-001', 0.31)]];
    const env = { ANTHROPIC_API_KEY: 'key', FAKE_AGENT_SCRIPT: JSON.stringify(calls) };
    await workspace.cliWith(env, ...RUN, '--budget', '0.3').finished;
    return workspace;
  },
  notStarted: async t => {
    const workspace = await create(t, 1);
    await workspace.cli('run', '--command', 'no-such-agent').finished;
    return workspace;
  },
  startedLater: async t => {
    const workspace = await create(t, 1);
    await workspace.cli('run', '--command', 'no-such-agent').finished;
    await workspace.script([['work']], '--resume').finished;
    return workspace;
  },
  stopped: async t => {
    const workspace = await create(t, 2);
    const cli = workspace.script([['work'], [said('I begin.'), { wait: 'never' }]]);
    await heard(workspace, 'I begin.');
    await workspace.cli('stop').finished;
    await cli.finished;
    return workspace;
  },
  stoppedAfterIteration: async t => {
    const workspace = await create(t, 2);
    const cli = workspace.script([[{ wait: 'go' }, 'work']]);
    await workspace.agent();
    await workspace.event('agent.init');
    // It waits for the end of the run.
    const stop = workspace.cli('stop', '--after-iteration');
    await workspace.event('stop.requested');
    await workspace.note('go');
    await Promise.all([cli.finished, stop.finished]);
    return workspace;
  },
  lastWindowClosed: async t => {
    const workspace = await create(t, 2);
    const calls = [[{ wait: 'go' }, 'work']];
    const env = {
      FAKE_AGENT_SCRIPT: JSON.stringify(calls),
      RALPH_FRESH_WINDOW_GRACE_SECONDS: '0.1',
    };
    const cli = workspace.cliWith(env, ...RUN, '--on-last-window', 'stopAfterIteration');
    await workspace.agent();
    await workspace.event('agent.init');
    const [runId = ''] = await workspace.runIds();
    await postRequest(workspace.files, runId, { type: 'hello', window: 'one' });
    postRequestNow(workspace.files, runId, { type: 'goodbye', window: 'one' });
    await workspace.event('stop.requested');
    await workspace.note('go');
    await cli.finished;
    return workspace;
  },

  // Why an iteration came out so.
  freeTask: async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const costs = { total_cost_usd: null, usage: null };
    const calls = [
      [...wroteSome.slice(0, -1), { result: ['More is to be done.', costs] }],
      [{ commit: 'feat: all' }, { result: ['<promise>DONE</promise>', costs] }],
    ];
    await workspace.script(calls, 'Make it work', '--completion-promise', 'DONE').finished;
    return workspace;
  },
  timeLimit: scripted(1, [['stay']], '--time-limit', '0.02', '--max-iterations', '1'),
  exitCode: scripted(
    1,
    [[{ stderr: 'Out of order' }, { exit: 3 }]],
    ...['--retry-attempts', '0', '--max-iterations', '1'],
  ),
  failedThenSkipped: async t => {
    const workspace = await create(t, 1);
    const calls = [[failed(400, 'prompt is too long')], [{ wait: 'never' }]];
    const cli = workspace.script(calls, '--stuck-threshold', '1');
    await workspace.agent(2);
    await until('its first words', async () => (await workspace.events('agent.init')).length === 2);
    await workspace.cli('skip').finished;
    await cli.finished;
    return workspace;
  },
  blocked: scripted(1, [[{ result: ['<promise>TASK BLOCKED: No key</promise>'] }]]),
  refusedPromise: scripted(
    1,
    [[{ result: ['<promise>DONE</promise>'] }], ['work']],
    ...['--completion-promise', 'DONE'],
  ),
  reviewRetried: scripted(
    1,
    [['work'], [failed(529, 'Overloaded')], [verdict(true, [])]],
    '--reviewer',
  ),
  manyObjections: scripted(
    1,
    [
      ['work'],
      [
        verdict(
          false,
          Array.from({ length: 40 }, (_, index) => `${index}\nsecond line`),
        ),
      ],
      ['work'],
      [verdict(true, [])],
    ],
    '--reviewer',
  ),
  guardTicks: scripted(3, [
    [{ tick: 'US-002' }, { remove: 'US-003' }, 'work'],
    [{ delete: '.omc/prd.json' }, { commit: 'wip: nothing' }, { result: ['Gone.'] }],
    ['work'],
  ]),
  checkOutput: scripted(
    1,
    [
      [{ write: ['check.sh', 'for n in $(seq 0 299); do echo "line $n"; done; exit 1\n'] }, 'work'],
      [
        {
          write: [
            'check.sh',
            `printf '\\033[2J\\033]0;title\\007'; printf 'x%.0s' $(seq 3000); exit 1\n`,
          ],
        },
        'work',
      ],
      [{ write: ['check.sh', 'echo much\n'] }, 'work'],
    ],
    ...['--verify', 'sh check.sh'],
  ),
  checkedAgain: async t => {
    const workspace = await create(t, 1);
    const checks = ['--verify', 'echo one', '--verify', `${needs('green')} || sleep 60`];
    const cli = workspace.script([['work']], ...checks);
    await until(
      'the second check',
      async () => (await workspace.events('check.started')).length === 2,
    );
    cli.child.kill('SIGINT');
    await cli.finished;
    await workspace.write('green', '');
    await workspace.script([['work']], '--resume').finished;
    return workspace;
  },

  // Stories that do not get on.
  stuckAsks: async t => {
    const workspace = await create(t, 2);
    const args = ['--on-stuck', 'ask', '--stuck-threshold', '2'];
    const cli = workspace.script([idle, idle, idle, ['work']], ...args);
    await workspace.event('pause.started');
    await workspace.cli('skip', 'US-001').finished;
    await cli.finished;
    return workspace;
  },
  freeTaskStuck: async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const args = ['Make it work', '--on-stuck', 'ask', '--stuck-threshold', '1'];
    const cli = workspace.script([idle], ...args);
    await workspace.event('pause.started');
    await workspace.cli('stop').finished;
    await cli.finished;
    return workspace;
  },
  stuckSkipped: scripted(
    2,
    [idle, idle, ['work']],
    ...['--on-stuck', 'skip', '--stuck-threshold', '1'],
  ),
  stuckLater: scripted(
    2,
    [idle, idle, idle, ['work'], wroteSome, ['work']],
    ...['--stuck-threshold', '1'],
  ),

  // What people ask for.
  questionWaits: async t => {
    const workspace = await create(t, 1);
    const cli = workspace.script([asks, ['work']], '--on-question', 'wait');
    await workspace.event('pause.started');
    await workspace.cli('answer', 'Blue').finished;
    await cli.finished;
    return workspace;
  },
  answeredLater: async t => {
    const workspace = await create(t, 1);
    await workspace.script([asks]).finished;
    await workspace.cli('answer', 'Blue.').finished;
    return workspace;
  },
  steered: async t => {
    const workspace = await create(t, 3);
    const args = ['--verify', 'echo one', '--budget', '5'];
    const cli = workspace.script([['work'], [{ wait: 'go' }, 'work']], ...args);
    await workspace.agent(2);
    await until('its first words', async () => (await workspace.events('agent.init')).length === 2);
    for (const words of [
      ['hint', 'Use tabs'],
      ['untick', 'US-001'],
      ['tick', 'US-001'],
      ['skip', 'US-003'],
      ['skip', 'US-003', '--undo'],
      ['pause'],
    ]) {
      await workspace.cli(...words).finished;
    }
    await workspace.event('pause.requested');
    await workspace.note('go');
    await workspace.event('pause.started');
    await workspace.cli('tick', 'US-003').finished;
    await workspace.cli('resume').finished;
    await cli.finished;
    return workspace;
  },

  ticked: async t => {
    const workspace = await create(t, 1);
    const cli = workspace.script([asks], '--on-question', 'wait');
    await workspace.event('pause.started');
    await workspace.cli('tick', 'US-001').finished;
    await workspace.cli('resume').finished;
    await cli.finished;
    return workspace;
  },

  // Agents.
  planned: async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    await workspace.script([[planned(2)], ['work']], '--prd', 'Build it').finished;
    return workspace;
  },
  limitKnown: async t => {
    const workspace = await create(t, 1);
    const cli = workspace.script([limitKnown, ['work']]);
    await workspace.event('limit.waiting');
    await workspace.cli('resume').finished;
    await cli.finished;
    return workspace;
  },
  demo: async t => {
    const workspace = await create(t, 1);
    await workspace.cli('run', '--agent', 'demo', '--max-iterations', '1').finished;
    return workspace;
  },
  replaced: async t => {
    const workspace = await create(t, 1);
    await cp(
      path.resolve(import.meta.dirname, 'fakeSdk'),
      path.join(workspace.folder, 'node_modules/@anthropic-ai/claude-agent-sdk'),
      { recursive: true },
    );
    await workspace.write('.gitignore', 'node_modules\n');
    // It is there, and the system refuses to start it.
    const program = path.join(workspace.folder, 'no-program');
    await workspace.write('no-program', '#!/no/such/interpreter\n');
    await chmod(program, 0o755);
    await workspace.cli('run', '--claude-path', program).finished;
    return workspace;
  },
  tools: scripted(1, [[...toolCalls, 'work']]),
};
