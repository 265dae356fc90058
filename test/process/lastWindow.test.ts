import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { identify } from '../../src/orchestrator/process/processIdentity.ts';
import { postRequest } from '../../src/orchestrator/workspace/request.ts';
import { fakeAgent, openStories, type Step, until, Workspace } from '../support/ralph.ts';

/** The agents of the second story on work only when the test says so. */
const CALLS: readonly (readonly Step[])[] = [
  [{ wait: 'first' }, 'work'],
  [{ wait: 'second' }, 'work'],
];

function start(workspace: Workspace, graceSeconds: string, ...args: string[]) {
  return workspace.cliWith(
    { FAKE_AGENT_SCRIPT: JSON.stringify(CALLS), RALPH_FRESH_WINDOW_GRACE_SECONDS: graceSeconds },
    ...['run', '--agent', 'claude', '--claude-path', fakeAgent('scripted'), ...args],
  );
}

const STOPS = ['--on-last-window', 'stopAfterIteration'];

describe('when the last window closes', { concurrency: 3 }, () => {
  test('the run stops after its iteration', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const cli = start(workspace, '0.2', ...STOPS);
    await workspace.agent(1);
    const [runId = ''] = await workspace.runIds();
    postRequest(workspace.files, runId, { type: 'hello', window: 'one' });
    postRequest(workspace.files, runId, { type: 'hello', window: 'two' });
    postRequest(workspace.files, runId, { type: 'goodbye', window: 'one' });
    // Taken behind the others, so that both windows are known by now.
    postRequest(workspace.files, runId, { type: 'hint', text: 'on' });
    await workspace.event('hint.given');
    assert.deepEqual(await workspace.events('stop.requested'), []);
    postRequest(workspace.files, runId, { type: 'goodbye', window: 'two' });
    const stop = await workspace.event('stop.requested');
    assert.deepEqual([stop.by, stop.mode], ['window', 'afterIteration']);
    await workspace.note('first');
    assert.equal((await cli.finished).code, 130);
    assert.deepEqual(await workspace.done(), ['US-001']);
    assert.equal((await workspace.events('run.started'))[0]?.onLastWindow, 'stopAfterIteration');
  });

  test('a crashed window is noticed', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const cli = start(workspace, '0.2', ...STOPS);
    await workspace.agent(1);
    const [runId = ''] = await workspace.runIds();
    const window = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    t.after(() => window.kill('SIGKILL'));
    await once(window, 'spawn');
    const { pid = 0, startId } = await identify(window.pid ?? 0);
    const hello = { type: 'hello', window: 'one', pid, startId } as const;
    postRequest(workspace.files, runId, hello);
    postRequest(workspace.files, runId, { type: 'hint', text: 'on' });
    await workspace.event('hint.given');
    window.kill('SIGKILL');
    await workspace.event('stop.requested');
    await workspace.note('first');
    assert.equal((await cli.finished).code, 130);
  });

  test('a reload within the grace period changes nothing', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const cli = start(workspace, '30', ...STOPS);
    await workspace.agent(1);
    const [runId = ''] = await workspace.runIds();
    postRequest(workspace.files, runId, { type: 'hello', window: 'before' });
    postRequest(workspace.files, runId, { type: 'goodbye', window: 'before' });
    postRequest(workspace.files, runId, { type: 'hello', window: 'after' });
    await workspace.note('first');
    await workspace.note('second');
    assert.equal((await cli.finished).code, 0);
    assert.deepEqual(await workspace.events('stop.requested'), []);
  });

  test('a run without that setting continues', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const cli = start(workspace, '0.01');
    await workspace.agent(1);
    const [runId = ''] = await workspace.runIds();
    postRequest(workspace.files, runId, { type: 'hello', window: 'one' });
    postRequest(workspace.files, runId, { type: 'goodbye', window: 'one' });
    postRequest(workspace.files, runId, { type: 'hint', text: 'on' });
    await until('the hint', async () => (await workspace.events('hint.given')).length === 1);
    await workspace.note('first');
    await workspace.note('second');
    assert.equal((await cli.finished).code, 0);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
  });
});
