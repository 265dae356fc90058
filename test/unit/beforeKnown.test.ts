import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { ContextKey } from '../../src/views/common/contributions.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** Every `when` and `enablement` of the manifest. */
async function clauses(): Promise<string[]> {
  const found: string[] = [];
  JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'), (key, value) => {
    if (key === 'when' || key === 'enablement') {
      found.push(value);
    }
    return value;
  });
  return found;
}

test('Restricted Mode is not mentioned before VS Code knows whether it applies', async () => {
  const all = await clauses();
  assert.ok(all.length > 100);
  // While a window starts VS Code has not set the key yet, and what is not set is false.
  assert.deepEqual(
    all.filter(clause => clause.includes('!isWorkspaceTrusted')),
    [],
  );
});

test('each welcome depends on what the extension found, so none shows while it is still looking', async () => {
  const { contributes } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  const facts = [ContextKey.storyFile, ContextKey.runs].map(key => `${key} == `);
  // The window itself knows these two from its beginning.
  const known = ['workspaceFolderCount == 0', ' && virtualWorkspace', ...facts];
  for (const { contents, when } of contributes.viewsWelcome) {
    if (contents !== '%welcome.noClaude%') {
      assert.ok(
        known.some(fact => when?.includes(fact)),
        contents,
      );
    } else {
      assert.match(when, /ralphFresh\.claude == missing/);
    }
  }
});
