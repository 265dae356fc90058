import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const source = path.resolve(import.meta.dirname, '../../src/orchestrator/context/codeSearch.ts');

/** The answers come while the thread is being ended in some of the rounds, on any machine. */
const PROGRAM = `
import { CodeSearch } from ${JSON.stringify(pathToFileURL(source).href)};
for (let round = 0; round < 30; round++) {
  const search = new CodeSearch(undefined, { wait: false });
  await search.duplicates('/', { from: 'a', to: 'a' });
  for (let n = 0; n < 4; n++) search.follow('/nowhere', 'a');
  for (const end = performance.now() + round / 5; performance.now() < end; );
  await search.dispose();
}
console.log('ended');
`;

test('a process waits for the end of the thread, also if an answer comes meanwhile', () => {
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '-'],
    { encoding: 'utf8', input: PROGRAM },
  );
  // Node ends with 13 if nothing keeps it alive that it waits for.
  assert.deepEqual([status, stdout], [0, 'ended\n'], stderr);
});
