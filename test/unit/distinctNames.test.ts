import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { distinctNames } from '../../src/views/folders/distinctNames.ts';

const named = (...paths: readonly string[]) =>
  distinctNames(paths.map(path => ({ path, name: path.split('/').at(-1) ?? '' })));

test('folders with unique names keep them', () => {
  assert.deepEqual(named('/w/shop', '/w/docs'), ['shop', 'docs']);
});

test('folders with the same name get as much of their path as needed', () => {
  assert.deepEqual(named('/w/shop/api', '/w/bank/api', '/w/docs'), [
    'api (shop)',
    'api (bank)',
    'docs',
  ]);
  assert.deepEqual(named('/a/x/api', '/b/x/api'), ['api (a/x)', 'api (b/x)']);
  assert.deepEqual(named('/x/api', '/b/x/api'), ['api (/x/api)', 'api (b/x)']);
  assert.deepEqual(named('/api', '/b/api'), ['api (/api)', 'api (b)']);
});

test('no two folders ever have the same name', () => {
  const part = fc.constantFrom('a', 'b', 'a (b)');
  const paths = fc.uniqueArray(
    fc.array(part, { minLength: 1, maxLength: 4 }).map(parts => `/${parts.join('/')}`),
    { minLength: 1, maxLength: 6 },
  );
  fc.assert(
    fc.property(paths, folders => {
      assert.equal(new Set(named(...folders)).size, folders.length);
    }),
  );
});
