import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { orderViolations, type RunMetrics } from '../../src/orchestrator/journal/runMetrics.ts';
import { openStories, type Step, Workspace } from '../support/ralph.ts';

test('metrics count what prompts led to, run by run', async t => {
  const stories = openStories(2).map((story, i) => ({
    ...story,
    title: ['Throttle the logins', 'Empty the basket'][i] ?? '',
  }));
  const workspace = await Workspace.create(t, { stories, hasPointers: true });
  await workspace.write('throttle.ts', 'export function throttle(logins: number): void {}\n');
  await workspace.write('basket.ts', 'export class Basket {}\n');
  workspace.git('add', '--all');
  workspace.git('commit', '--quiet', '--message', 'start');
  const none = await workspace.cli('metrics').finished;
  assert.match(none.stdout, /No run in this folder yet/);

  const reads = (file: string): Step => ({
    event: {
      type: 'assistant',
      message: {
        content: [
          {
            ...{ type: 'tool_use', id: file, name: 'Read' },
            input: { file_path: path.join(workspace.folder, file) },
          },
        ],
      },
    },
  });
  await workspace.script([
    [
      reads('throttle.ts'),
      reads('unknown.txt'),
      {
        event: {
          ...{ type: 'system', subtype: 'compact_boundary' },
          compact_metadata: { trigger: 'auto', pre_tokens: 160_000 },
        },
      },
      'work',
    ],
    [reads('elsewhere.txt'), 'work'],
  ]).finished;
  const { code, stdout } = await workspace.cli('metrics', '--json').finished;
  assert.equal(code, 0);
  const { runs, violations } = JSON.parse(stdout) as {
    runs: RunMetrics[];
    violations: unknown[];
  };
  const [run] = runs;
  assert.equal(runs.length, 1);
  assert.ok(run);
  assert.deepEqual(
    [run.iterations, run.storiesDone, run.led, run.hits, run.usedFiles, run.namedFiles],
    [2, 2, 2, 1, 5, 1],
  );
  assert.deepEqual(run.done, ['US-001', 'US-002']);
  assert.equal(run.overflows, 1);
  const [full] = await workspace.events('agent.compacted');
  assert.deepEqual([full?.iteration, full?.tokens], [1, 160_000]);
  assert.ok((run.sections['code'] ?? 0) > 0 && (run.sections['mission'] ?? 0) > 0);
  assert.deepEqual(violations, []);
  const shown = (await workspace.cli('metrics').finished).stdout;
  assert.match(shown, /50 ?%\s+20 ?%/);
  assert.match(shown, /^1 +Stories per iteration +at least 1$/m);
  assert.ok(
    shown.split('\n').every(line => line.length <= 80),
    shown,
  );
  assert.match(shown, /No story was finished before one that it depends on\./);
});

test('a story that was finished before one it depends on is found', () => {
  const stories = [
    { id: 'a', dependsOn: ['b', 'c'] },
    { id: 'b', dependsOn: [] },
    { id: 'c', dependsOn: ['d'] },
  ];
  assert.deepEqual(orderViolations(['b', 'c', 'a'], stories), []);
  assert.deepEqual(orderViolations(['a', 'b'], stories), [{ story: 'a', dependency: 'b' }]);
  assert.deepEqual(orderViolations(['b'], stories), []);
});
