import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LowestFirst } from '../../src/base/lowestFirst.ts';

test('the lowest number is taken first, also while others are added', () => {
  // `undefined` takes one.
  const steps = fc.array(fc.option(fc.nat({ max: 20 }), { nil: undefined }));
  fc.assert(
    fc.property(steps, all => {
      const queue = new LowestFirst();
      const expected: number[] = [];
      for (const step of [...all, ...all.map(() => undefined)]) {
        if (step === undefined) {
          expected.sort((a, b) => a - b);
          assert.equal(queue.take(), expected.shift());
        } else {
          queue.add(step);
          expected.push(step);
        }
      }
    }),
  );
});
