import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { describeFailures, playwrightFailures } from '../../scripts/lib/failedTest.ts';
import { QuietTime } from '../../scripts/lib/quietTime.ts';
import { SuiteOutput } from '../../scripts/lib/suiteOutput.ts';
import { runSuiteProcess } from '../../scripts/lib/suiteProcess.ts';
import { tempDir } from '../support/cleanEnv.ts';

describe('a suite hangs if nothing happens in it, not if it is slow', () => {
  test('it may continue as long as it reports anything', () => {
    let now = 0;
    const quiet = new QuietTime(60_000, () => now);
    for (let hour = 0; hour < 1_000; hour++) {
      now += 60_000;
      assert.equal(quiet.isTooLong(), false);
      quiet.end();
    }
    now += 60_001;
    assert.equal(quiet.isTooLong(), true);
  });

  test('otherwise its process is ended with the reason', async () => {
    let printed = '';
    const code = await runSuiteProcess(
      process.execPath,
      ['--eval', 'console.log("one test"); setInterval(() => {}, 1_000);'],
      {
        cwd: import.meta.dirname,
        print: text => {
          printed += text;
        },
        quietMs: 1_000,
      },
    );
    assert.equal(code, 1);
    assert.match(printed, /\[test\] nothing has happened for 0 minutes: it hangs\n$/);
  });

  test('node:test and Playwright report progress without printing it', async () => {
    const root = path.resolve(import.meta.dirname, '../..');
    const reporter = path.join(root, 'scripts/lib/progressReporter.ts');
    let heard = 0;
    const code = await runSuiteProcess(
      process.execPath,
      [
        ...['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval'],
        `const { default: Reporter } = await import(${JSON.stringify(reporter)});
         new Reporter().onStepEnd();`,
      ],
      { cwd: root, print: assert.fail, quietMs: 600_000, onProgress: () => (heard += 1) },
    );
    assert.deepEqual([code, heard], [0, 1]);
  });
});

describe('suites running in parallel', () => {
  function printed() {
    let text = '';
    const output = new SuiteOutput(['one', 'two', 'three'], more => {
      text += more;
    });
    return { output, text: () => text };
  }

  test('are printed as if they had run one after another', () => {
    const { output, text } = printed();
    const [one, two, three] = ['one', 'two', 'three'].map(name => output.of(name));
    three?.('3a ');
    one?.('1a ');
    two?.('2a ');
    assert.equal(text(), '1a ');
    three?.('3b ');
    output.end('three');
    one?.('1b ');
    output.end('one');
    assert.equal(text(), '1a 1b 2a ');
    two?.('2b ');
    output.end('two');
    assert.equal(text(), '1a 1b 2a 2b 3a 3b ');
  });

  test('lose no output when the run is interrupted', () => {
    const { output, text } = printed();
    output.of('two')('2 ');
    output.of('three')('3 ');
    output.flush();
    assert.equal(text(), '2 3 ');
  });
});

test('failures are repeated at the end, with their first lines and with what the window showed', async () => {
  const long = Array.from({ length: 100 }, (_, line) => `\u001b[31mline ${line}\u001b[39m`).join(
    '\n',
  );
  await using temp = await tempDir('ralph-fresh-failures-');
  const context = path.join(temp.path, 'error-context.md');
  await writeFile(context, '# Error details\n\n```\nno\n```\n\n```yaml\n- tree "Stories"\n```\n');
  const attachments = [context, context, `${context}.gone`].map(file => ({
    name: 'error-context',
    path: file,
  }));
  const failures = playwrightFailures({
    suites: [
      {
        specs: [
          { title: 'fine', file: 'a.test.ts', line: 3, ok: true, tests: [] },
          {
            ...{ title: 'a story', file: 'a.test.ts', line: 9, ok: false },
            tests: [{ results: [{ error: { message: long } }] }],
          },
          {
            ...{ title: 'of a window', file: 'a.test.ts', line: 12, ok: false },
            tests: [{ results: [{ error: { message: 'not found' }, attachments }] }],
          },
        ],
      },
    ],
  });
  const lines = describeFailures('ui', failures).split('\n');
  assert.deepEqual(lines.slice(0, 2), ['ui: a.test.ts:9 › a story', '    line 0']);
  assert.deepEqual(lines.slice(40, 44), [
    '    line 39',
    '    …',
    '',
    'ui: a.test.ts:12 › of a window',
  ]);
  assert.deepEqual(lines.slice(44), ['    not found', '    - tree "Stories"', '    ', '']);
  assert.equal(describeFailures('ui', []), '');
});
