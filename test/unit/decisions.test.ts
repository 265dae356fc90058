import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';

const folder = path.resolve(import.meta.dirname, '../../docs/adr');

test('every decision is in the index, and one that is replaced names the one that replaces it', async () => {
  const names = (await readdir(folder)).filter(name => /^\d{4}-/.test(name)).sort();
  const texts = new Map<string, string>();
  for (const name of names) {
    texts.set(name, await readFile(path.join(folder, name), 'utf8'));
  }
  const index = await readFile(path.join(folder, 'README.md'), 'utf8');
  const rows = [...index.matchAll(/^\| \[(\d{4})\]\((\S+)\) \|/gm)];
  assert.deepEqual(
    rows.map(([, , name]) => name),
    names,
  );
  let replaced = 0;
  for (const [name, text] of texts) {
    const [, said = ''] = /^(Replaces .*)$/m.exec(text) ?? [];
    // What only adds to another one leaves that one as it is.
    for (const [, older = ''] of (said.split('; adds to')[0] ?? '').matchAll(/\]\((\S+?\.md)\)/g)) {
      replaced += 1;
      assert.ok(texts.get(older)?.includes(`](${name})`), `${older} does not name ${name}`);
    }
  }
  assert.ok(replaced > 5);
});
