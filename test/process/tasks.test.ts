import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { openStories, Workspace } from '../support/ralph.ts';

const GRAPH = '.ralph/tasks.jsonl';

describe('the task graph', { concurrency: 2 }, () => {
  test('is imported from a prd.json, found by a run, and compacted with nothing lost', async t => {
    const [first, second] = openStories(2);
    const stories = [
      { ...first, id: 'US-001', title: 'First', passes: true, note: { kept: 1 } },
      { ...second, id: 'US-002', title: 'Second', passes: false, dependsOn: ['US-001'] },
    ];
    const workspace = await Workspace.create(t, { stories: undefined });
    const prd = `${JSON.stringify({ project: 'todo', userStories: stories }, null, 4)}\n`;
    await mkdir(path.join(workspace.folder, 'plans'));
    await workspace.write('plans/old.json', prd);
    const shown = await workspace.cli('tasks', 'import', 'plans/old.json', '--dry-run').finished;
    assert.equal(shown.code, 0, shown.stderr);
    assert.ok(!existsSync(path.join(workspace.folder, GRAPH)));
    const imported = await workspace.cli('tasks', 'import', 'plans/old.json', '--json').finished;
    assert.equal(imported.code, 0, imported.stderr);
    assert.deepEqual(JSON.parse(imported.stdout).imported, ['US-001', 'US-002']);
    assert.equal(await workspace.read('plans/old.json'), prd);
    assert.match(await workspace.read(GRAPH), /"note":\{"kept":1\},.*"status":"done"/);
    assert.match(await workspace.read('.ralph/context.json'), /"compactionLevel": 0/);
    const again = await workspace.cli('tasks', 'import', 'plans/old.json').finished;
    assert.equal(again.code, 1);
    assert.match(again.stderr, /has tasks with these ids already: US-001, US-002/);

    assert.match((await workspace.cli('next').finished).stdout, /^US-002/);
    const before = await workspace.read(GRAPH);
    assert.equal((await workspace.cli('tick', 'US-002').finished).code, 0);
    assert.equal(await workspace.read(GRAPH), before.replace('"ready"', '"done"'));
    const extra = '{"id":"T-3","title":"Third","status":"ready","blockedBy":["US-001","US-002"]}\n';
    const whole = (await workspace.read(GRAPH)) + extra;
    await workspace.write(GRAPH, whole);
    const would = await workspace.cli('tasks', 'compact', '--keep', '1', '--dry-run').finished;
    assert.match(would.stdout, /^Would move 1 finished tasks.*\n {2}US-001 {2}First/);
    assert.equal(await workspace.read(GRAPH), whole);
    const made = await workspace.cli('tasks', 'compact', '--keep', '1', '--json').finished;
    assert.equal(made.code, 0, made.stderr);
    const { archive, compacted } = JSON.parse(made.stdout);
    assert.deepEqual(compacted, ['US-001']);
    const left = await workspace.read(GRAPH);
    for (const line of whole.trim().split('\n')) {
      assert.ok(left.includes(line) !== (await workspace.read(archive)).includes(line), line);
    }
    assert.match(
      await workspace.read('.ralph/compaction.log'),
      /Compacted 1 finished tasks .*US-001 First/,
    );
    assert.match(await workspace.read('.ralph/context.json'), /"compactionLevel": 1/);
    // Its blocker is in the archive.
    assert.match((await workspace.cli('next').finished).stdout, /^T-3/);
    assert.match((await workspace.cli('tasks', 'compact').finished).stdout, /^Nothing to compact/);
  });

  test('is made of another list by convert, and nobody is sent in a circle', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    await workspace.write('PLAN.md', '- [ ] T001 Dig\n');
    const from = await workspace.cli('tasks', 'import').finished;
    assert.match(
      from.stderr,
      /PLAN\.md is not a prd\.json.*: ralph-fresh convert \S*PLAN\.md --to tasks$/m,
    );
    assert.match(
      (await workspace.cli('tasks', 'compact').finished).stderr,
      /no task graph at .*ralph-fresh convert FILE --to tasks/,
    );
    await mkdir(path.join(workspace.folder, '.ralph'), { recursive: true });
    await workspace.write(GRAPH, '{"id":"t-1","title":"Dig","status":"ready"}\n');
    assert.match(
      (await workspace.cli('tasks', 'import', GRAPH).finished).stderr,
      /tasks\.jsonl is already a task graph/,
    );
  });

  test('a whole run works on it, and it cannot be compacted meanwhile', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    await mkdir(path.join(workspace.folder, '.ralph'));
    const lines = ['A', 'B'].map(id => `{"id":"T-${id}","title":"${id}","status":"ready"}\n`);
    await workspace.write(GRAPH, lines.join(''));
    const tick = (story: string) => [
      { shell: `sed -i '/T-${story}/s/ready/done/' ${GRAPH}` },
      { commit: `feat: ${story}` },
      { result: [`T-${story} is done.`, {}] as const },
    ];
    const run = workspace.script([[{ wait: 'go' }, ...tick('A')], tick('B')]);
    await workspace.event('agent.started');
    const refused = await workspace.cli('tasks', 'compact').finished;
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /already active/);
    await workspace.note('go');
    const { code, stderr } = await run.finished;
    assert.equal(code, 0, stderr);
    assert.equal(await workspace.read(GRAPH), lines.join('').replaceAll('ready', 'done'));
  });
});
