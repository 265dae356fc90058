// A reporter for `node --test` that prints one line of JSON at the end: how many tests passed, failed and were skipped,
// and which failed why. Suites do not count as tests. It also reports every event as progress, including those that are
// printed later, in order.
import path from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import { type FailedTest, shortened } from './failedTest.ts';
import { tellProgress } from './progressReporter.ts';

export default async function* countReporter(source: AsyncIterable<TestEvent>) {
  const counts = { passed: 0, failed: 0, skipped: 0, failures: [] as FailedTest[] };
  for await (const event of source) {
    tellProgress();
    if (event.type !== 'test:pass' && event.type !== 'test:fail') {
      continue;
    }
    const { details, skip, todo } = event.data;
    if (details.type === 'suite') {
      continue;
    }
    if (skip !== undefined || todo !== undefined) {
      counts.skipped += 1;
    } else if (event.type === 'test:pass') {
      counts.passed += 1;
    } else {
      counts.failed += 1;
      const { file, line, name } = event.data;
      const { error } = event.data.details;
      const where = file === undefined ? '' : `${path.relative('.', file)}:${line} › `;
      const reason = shortened(inspect(error.cause ?? error));
      counts.failures.push({ name: `${where}${name}`, reason });
    }
  }
  yield `${JSON.stringify(counts)}\n`;
}
