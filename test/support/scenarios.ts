import type { TestContext } from 'node:test';
import { openStories, type Step, until, Workspace } from './ralph.ts';

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

/** Green when there is a file of this name. */
const needs = (file: string) => `test -f ${file}`;
const verdict = (approved: boolean, objections: readonly string[]): Step => {
  const criteria = [{ criterion: 'It works', met: approved, evidence: 'US-001.txt' }];
  return {
    result: ['Reviewed.', { structured_output: { approved, objections, criteria } }],
  };
};
const failed = (status: number, text: string): Step => ({
  result: [text, { is_error: true, api_error_status: status, total_cost_usd: 0 }],
});
const idle: readonly Step[] = [{ text: 'I have looked around.' }, { result: ['Nothing done.'] }];
const asks: readonly Step[] = [{ result: ['<promise>NEEDS_HUMAN: Blue or green?</promise>'] }];

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
    await until('its words', async () =>
      (await workspace.events('agent.text')).some(({ text }) => text === 'I begin.'),
    );
    cli.child.kill('SIGKILL');
    await cli.finished;
    await workspace.script(calls).finished;
    return workspace;
  },
};
