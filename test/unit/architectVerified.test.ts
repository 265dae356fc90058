import assert from 'node:assert/strict';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { HumanError } from '../../src/base/humanError.ts';
import { setArchitectVerified } from '../../src/orchestrator/proof/reviewer/architectVerified.ts';
import { type TempDir, tempDir } from '../support/cleanEnv.ts';

describe('setArchitectVerified', () => {
  let temp: TempDir;
  before(async () => {
    temp = await tempDir('architect-verified-');
  });
  after(() => temp.remove());

  /** Writes a file, sets the fact in it, and gives what came of it. */
  async function set(text: string, id: string, value: boolean, name = 'prd.json') {
    const file = path.join(temp.path, name);
    await writeFile(file, text);
    const written = await setArchitectVerified(file, id, value);
    return { written, text: await readFile(file, 'utf8') };
  }

  test('adds the key at the end, formatted like the one before it', async () => {
    const text =
      '\uFEFF{\r\n\t"userStories": [\r\n\t\t{ "id": "A" },\r\n\t\t{\r\n\t\t\t"id": "B",\r\n\t\t\t"passes": true\r\n\t\t}\r\n\t]\r\n}';
    assert.deepEqual(await set(text, 'B', true), {
      written: true,
      text: text.replace('"passes": true', '"passes": true,\r\n\t\t\t"architectVerified": true'),
    });
    assert.deepEqual(await set(text, 'A', false), {
      written: true,
      text: text.replace('"id": "A"', '"id": "A", "architectVerified": false'),
    });
  });

  test('changes an existing value, and writes nothing if it is already set', async () => {
    const text = '[{"id":7,"title":"t","architectVerified" : null,"passes":true}]';
    const changed = text.replace('null', 'true');
    assert.deepEqual(await set(text, '7', true), { written: true, text: changed });
    assert.deepEqual(await set(changed, '7', true), { written: false, text: changed });
  });

  test('does not touch ambiguous, missing or foreign data', async () => {
    for (const text of [
      '[{"id":"A","passes":true},{"id":"A","passes":false}]',
      '[{"id":"B","passes":true}]',
      '[{"id":"A","passes":true,"architectVerified":{"by":"me"}}]',
      '[{"id":"A","passes":true,"architectVerified":[]}]',
    ]) {
      assert.deepEqual(await set(text, 'A', true), { written: false, text });
    }
    const unnamed = '[{"title":"a","passes":true}]';
    assert.deepEqual(await set(unnamed, '#1', true), { written: false, text: unnamed });
    const plan = '# Plan\n\n- [x] A\n- [ ] B\n';
    assert.deepEqual(await set(plan, 'A', true, 'plan.md'), { written: false, text: plan });
  });

  test('a broken or missing file is reported', async () => {
    await assert.rejects(set('{ "userStories": [', 'A', true), HumanError);
    await assert.rejects(setArchitectVerified(path.join(temp.path, 'none.json'), 'A', true), {
      message: /no story file/,
    });
  });

  test('the file mode is kept', async () => {
    const file = path.join(temp.path, 'mode.json');
    await writeFile(file, '[{"id":"A","passes":true}]');
    await chmod(file, 0o640);
    assert.equal(await setArchitectVerified(file, 'A', true), true);
    if (process.platform !== 'win32') {
      assert.equal((await stat(file)).mode & 0o777, 0o640);
    }
  });

  test('only this one fact changes, whatever the file contains', async () => {
    const hard = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom('"architectVerified": false', '}]', 'a\\', '\u2028', '__proto__'),
    );
    const entries = fc.array(
      fc.tuple(
        fc.record(
          {
            title: hard,
            passes: fc.boolean(),
            architectVerified: fc.constantFrom<unknown>(true, false, null, 'yes', 1),
            acceptanceCriteria: fc.array(hard, { maxLength: 2 }),
            extra: fc.jsonValue({ maxDepth: 3 }),
          },
          { requiredKeys: [] },
        ),
        fc.boolean(),
      ),
      { minLength: 1, maxLength: 5 },
    );
    const style = fc.record({
      indent: fc.constantFrom('', '  ', '\t'),
      eol: fc.constantFrom('\n', '\r\n'),
      bom: fc.boolean(),
      key: fc.constantFrom(undefined, 'userStories', 'stories'),
    });
    await fc.assert(
      fc.asyncProperty(
        entries,
        style,
        fc.nat(),
        fc.boolean(),
        async (list, { indent, eol, bom, key }, at, value) => {
          const stories = list.map(([rest, idFirst], n) =>
            idFirst ? { id: `S${n}`, title: 't', ...rest } : { ...rest, title: 't', id: `S${n}` },
          );
          const root = key === undefined ? stories : { before: 1, [key]: stories, after: [] };
          const json = JSON.stringify(root, null, indent).replaceAll('\n', eol);
          const text = `${bom ? '\uFEFF' : ''}${json}`;
          const position = at % stories.length;
          const { written, text: result } = await set(text, `S${position}`, value);

          const old = stories[position]?.architectVerified;
          assert.equal(written, old !== value);
          const expected = structuredClone(JSON.parse(json));
          (key === undefined ? expected : expected[key])[position].architectVerified = value;
          assert.deepEqual(JSON.parse(result.slice(bom ? 1 : 0)), expected);

          // One place differs, and nothing but this key and its value stands there.
          let from = 0;
          while (from < text.length && text[from] === result[from]) {
            from += 1;
          }
          let end = 0;
          while (
            end < Math.min(text.length, result.length) - from &&
            text.at(-1 - end) === result.at(-1 - end)
          ) {
            end += 1;
          }
          const removed = text.slice(from, text.length - end);
          const added = result.slice(from, result.length - end);
          if (old === undefined) {
            assert.equal(removed, '');
            assert.equal(
              added.replaceAll(/\s/g, '').length,
              `,"architectVerified":${value}`.length,
            );
            assert.equal(result.length - text.length, added.length);
          } else {
            assert.ok(JSON.stringify(old).includes(removed));
            assert.ok(String(value).includes(added));
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});
