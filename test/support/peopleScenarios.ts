import { postRequest } from '../../src/orchestrator/workspace/request.ts';
import { until, Workspace } from './ralph.ts';
import type { Scenario } from './scenario.ts';
import { create, heard, RUN } from './scenario.ts';
import { asks, failed, idle, limitKnown, needs, said } from './scenarioSteps.ts';

/** A person stops the run during its second check. */
const stoppedInCheck: Scenario = async t => {
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
};

/** Runs in which a person acts: stops, steers, answers, kills. */
export const PEOPLE_SCENARIOS: Readonly<Record<string, Scenario>> = {
  limitWaited: async t => {
    const workspace = await create(t, 1);
    const cli = workspace.script([[failed(429, 'Claude usage limit reached.')], ['work']]);
    await workspace.event('limit.waiting');
    await workspace.cli('resume').finished;
    await cli.finished;
    return workspace;
  },
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
  stoppedInCheck,
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
    await postRequest(workspace.files, runId, { type: 'goodbye', window: 'one' });
    await workspace.event('stop.requested');
    await workspace.note('go');
    await cli.finished;
    return workspace;
  },
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
  checkedAgain: async t => {
    const workspace = await stoppedInCheck(t);
    await workspace.write('green', '');
    await workspace.script([['work']], '--resume').finished;
    return workspace;
  },
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
    const workspace = await Workspace.create(t, { stories: undefined, hasPointers: true });
    const args = ['Make it work', '--on-stuck', 'ask', '--stuck-threshold', '1'];
    const cli = workspace.script([idle], ...args);
    await workspace.event('pause.started');
    await workspace.cli('stop').finished;
    await cli.finished;
    return workspace;
  },
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
  hintsWaited: async t => {
    const workspace = await create(t, 2);
    await workspace.cli('hint', 'Use tabs').finished;
    await workspace.cli('hint', 'Look at the tests').finished;
    const cli = workspace.script([[{ wait: 'go' }, 'work'], ['work']]);
    await workspace.agent();
    await workspace.event('agent.init');
    await workspace.cli('hint', 'Now').finished;
    await until('the last hint', async () => (await workspace.events('hint.given')).length === 3);
    await workspace.note('go');
    await cli.finished;
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
  limitKnown: async t => {
    const workspace = await create(t, 1);
    const cli = workspace.script([limitKnown, ['work']]);
    await workspace.event('limit.waiting');
    await workspace.cli('resume').finished;
    await cli.finished;
    return workspace;
  },
};
