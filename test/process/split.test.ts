import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fakeAgent, openStories, type Step, Workspace } from '../support/ralph.ts';

const answer = (...parts: readonly object[]): Step => ({
  result: [`\`\`\`json\n${JSON.stringify({ parts })}\n\`\`\``],
});
const part = (title: string, more: object = {}) => ({
  ...{ title, acceptanceCriteria: [`${title} works`], ...more },
});
const two = answer(part('Store'), part('List', { after: [1] }));

function split(workspace: Workspace, calls: readonly (readonly Step[])[], ...args: string[]) {
  return workspace.cliWith(
    { FAKE_AGENT_SCRIPT: JSON.stringify(calls) },
    ...['split', '--agent', 'claude', '--claude-path', fakeAgent('scripted'), ...args],
  ).finished;
}

describe('split', { concurrency: 3 }, () => {
  test('shows the resulting story file and writes it only on request', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const before = await workspace.read('.omc/prd.json');
    const shown = await split(workspace, [[two]], 'US-001', '--json');
    assert.equal(shown.code, 0, shown.stderr);
    const draft: { text: string; stories: number; costUsd: number } = JSON.parse(shown.stdout);
    assert.equal(draft.stories, 2);
    assert.equal(draft.costUsd, 0.25);
    assert.equal(await workspace.read('.omc/prd.json'), before);
    const written = await split(workspace, [[two]], 'US-001', '--write');
    assert.equal(written.code, 0, written.stderr);
    assert.equal(await workspace.read('.omc/prd.json'), draft.text);
    assert.deepEqual(
      (await workspace.stories()).map(({ id }) => id),
      ['US-001.1', 'US-001.2', 'US-002'],
    );
    const run = workspace.script([['work']], '--story', 'US-001.1', '--story', 'US-001.2');
    assert.equal((await run.finished).code, 0, (await run.finished).stderr);
    assert.deepEqual(await workspace.done(), ['US-001.1', 'US-001.2']);
  });

  test('an invalid answer is sent back with its problems', async t => {
    const workspace = await Workspace.create(t);
    const { code, stdout, stderr } = await split(
      workspace,
      [[answer(part('One'))], [two]],
      ...['US-001', '--json', '--hint', 'Storage first'],
    );
    assert.equal(code, 0, stderr);
    assert.equal(JSON.parse(stdout).attempts, 2);
    const refused = await split(workspace, [[{ result: ['I cannot.'] }]], 'US-001');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /no valid split/);
  });

  test('the demo agent cannot split and names agents that can', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const { code, stdout, stderr } = await workspace.cli('split', 'US-001', '--agent=demo')
      .finished;
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(
      stderr,
      /^ralph-fresh: The demo agent [^\n]* cannot split a story\. Choose the agent claude or sdk [^\n]*\n$/,
    );
  });

  test('only stories in a file such as prd.json can be split, and the help says so', async t => {
    const workspace = await Workspace.create(t);
    const help = await workspace.cli('split', '--help').finished;
    assert.match(
      help.stdout.replaceAll(/\s+/g, ' '),
      /only stories in a JSON file such as prd\.json can be split/,
    );
    await workspace.write('plan.md', '- [ ] A1: Store\n');
    await workspace.write(
      'tasks.json',
      JSON.stringify({
        master: { tasks: [{ id: 1, title: 'A', status: 'pending', subtasks: [] }] },
      }),
    );
    for (const [file, id] of [
      ['plan.md', 'A1'],
      ['tasks.json', '1'],
    ] as const) {
      const refused = await split(workspace, [[two]], id, '--file', file);
      assert.deepEqual([refused.code, refused.stdout], [1, '']);
      assert.match(refused.stderr, /Only stories in a JSON file such as prd\.json can be split\./);
    }
    assert.equal((await workspace.agents()).length, 0);
  });

  test('is refused while an agent is working', async t => {
    const workspace = await Workspace.create(t);
    const run = workspace.script([['stay']]);
    await workspace.agent(1);
    const refused = await split(workspace, [[two]], 'US-001', '--write');
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /A run is working on the stories\. .*"ralph-fresh pause".*"ralph-fresh stop"/,
    );
    assert.equal((await workspace.agents()).length, 1);
    await workspace.cli('stop').finished;
    await run.finished;
  });
});
