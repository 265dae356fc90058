import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodeIndex } from '../../src/orchestrator/context/codeIndex.ts';
import { isSpecPath } from '../../src/orchestrator/context/pin/specDocuments.ts';
import { rankedFiles } from '../../src/orchestrator/context/ranking.ts';
import { isShownPath } from '../../src/orchestrator/context/sourceFile.ts';

test('story files are not suggested to agents as code', () => {
  for (const path of [
    ...['prd.json', '.omc/prd.json', '.taskmaster/tasks/tasks.json', 'IMPLEMENTATION_PLAN.md'],
    ...['.kiro/specs/login/tasks.md', 'specs/001-a/tasks.md', 'backlog/tasks/task-1 - Do.md'],
    ...['packages/app/.kiro/specs/login/tasks.md', '.claude/orchestration/work.yaml'],
  ]) {
    assert.equal(isShownPath(path), false, path);
  }
  for (const path of [
    ...['.kiro/specs/login/design.md', 'specs/001-a/spec.md', 'specs/INDEX.md', 'tasks.yml'],
    ...['roles/web/tasks/tasks.json', 'src/prd.json', 'docs/PLAN.md', 'src/backlog/tasks/a.ts'],
  ]) {
    assert.equal(isShownPath(path), true, path);
  }
});

test('files that nobody can open by their name are not suggested', () => {
  // As git's answer is read if the bytes of a name are no UTF-8.
  const path = Buffer.from('src/caf\xe9/login.ts', 'latin1').toString('utf8');
  assert.equal(isShownPath(path), false);
  assert.equal(isShownPath('src/café/login.ts'), true);
  assert.equal(isSpecPath(path.replace('src', 'specs').replace('.ts', '.md')), false);
});

test('a file counts as often changed only after several commits', () => {
  const files = ['src/a.ts', 'src/b.ts', 'src/c.ts'].map(path => ({ path, text: 'export {};' }));
  const commit = (number: number, changed: readonly string[]) => ({
    hash: `${number}`.padStart(40, '0'),
    ...{ subject: 'Work', body: '', files: [...changed], size: changed.length },
  });
  const reasons = (commits: number) =>
    new Map(
      rankedFiles(
        CodeIndex.of(
          files,
          Array.from({ length: commits }, (_, number) => commit(number, ['src/a.ts'])),
        ),
        'Something else',
        10,
      ).map(({ path, reason }) => [path, reason]),
    );
  assert.ok(![...reasons(1).values()].includes('lately'));
  assert.equal(reasons(9).get('src/a.ts'), 'lately');
});
