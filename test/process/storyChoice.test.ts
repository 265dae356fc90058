import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { englishOf } from '../../src/base/say.ts';
import { fakeAgent, openStories, type PrdStory, Workspace } from '../support/ralph.ts';
import { verdict } from '../support/scenarioSteps.ts';

const CHOICE = { model: 'opus', effort: 'high', maxTurns: 40 };
const SETTINGS = ['--model', 'sonnet', '--effort', 'low', '--max-turns', '9'];

/** Two open stories, the first with these keys. */
function stories(keys: object): PrdStory[] {
  return openStories(2).map((story, index) => (index === 0 ? { ...story, ...keys } : story));
}

/** The values of `--model`, `--effort` and `--max-turns` of each call, with its story. */
async function calls(workspace: Workspace) {
  return (await workspace.notes()).flatMap(({ args, story }) =>
    args === undefined
      ? []
      : [
          [
            story ?? 'review',
            ...['--model', '--effort', '--max-turns'].map(flag => args[args.indexOf(flag) + 1]),
          ],
        ],
  );
}

describe('settings of a story for its agent', { concurrency: 2 }, () => {
  for (const lanes of [[], ['--lanes', '2']]) {
    test(`override the general settings only for that agent ${lanes.join(' ')}`, async t => {
      const workspace = await Workspace.create(t, { stories: stories(CHOICE) });
      const { code, stderr, stdout } = await workspace.scriptOf(
        { review: [[verdict(true, [])]] },
        ...[...SETTINGS, ...lanes, '--reviewer', '--reviewer-model', 'haiku'],
      ).finished;
      assert.equal(code, 0, stdout + stderr);
      assert.deepEqual((await calls(workspace)).sort(), [
        ['US-001', 'opus', 'high', '40'],
        ['US-002', 'sonnet', 'low', '9'],
        ['review', 'haiku', 'low', '9'],
        ['review', 'haiku', 'low', '9'],
      ]);

      const started = await workspace.events('iteration.started');
      assert.deepEqual(
        started
          .map(({ effort, maxTurns, model, storyId }) => [storyId, model, effort, maxTurns])
          .sort(),
        [
          ['US-001', 'opus', 'high', 40],
          ['US-002', undefined, undefined, undefined],
        ],
      );
      assert.match(stdout, /Chosen by the story: model opus · effort high · at most 40 turns$/m);
      assert.equal(stdout.match(/Chosen by the story/g)?.length, 1);

      const { stdout: printed } = await workspace.cli('receipt', '--json').finished;
      const { iterations } = JSON.parse(printed) as {
        iterations: { iteration: number; story: string; model: string }[];
      };
      assert.deepEqual(iterations.map(({ model, story }) => [story, model]).sort(), [
        ['US-001', 'opus'],
        ['US-002', 'sonnet'],
      ]);
      const [runId = ''] = await workspace.runIds();
      for (const { iteration, model } of iterations) {
        const dir = workspace.files.iterationDir(runId, iteration);
        const receipt = JSON.parse(await readFile(path.join(dir, 'receipt.json'), 'utf8'));
        assert.equal(receipt.model, model);
      }
      const { stdout: table } = await workspace.cli('receipt').finished;
      assert.match(table, /claude, (?:opus, sonnet|sonnet, opus)/);
      const [first] = await workspace.stories();
      assert.deepEqual(
        { ...first, architectVerified: undefined },
        { ...stories(CHOICE)[0], passes: true, architectVerified: undefined },
      );
    });
  }

  test('are never more than the value of an option', async t => {
    const keys = { model: '--dangerously-skip-permissions', effort: '-x y', maxTurns: '1 --x' };
    const workspace = await Workspace.create(t, { stories: stories(keys) });
    assert.equal((await workspace.script([['work']], ...SETTINGS).finished).code, 0);
    assert.deepEqual(await calls(workspace), [
      ['US-001', 'sonnet', 'low', '9'],
      ['US-002', 'sonnet', 'low', '9'],
    ]);
    const { stdout } = await workspace.cli('stories').finished;
    assert.match(
      stdout,
      /^Line \d+: "model" is "--dangerously-skip-permissions"\. It must be a name/m,
    );
    assert.match(stdout, /^Line \d+: "effort" is "-x y"\. It must be one of "low"/m);
    assert.match(stdout, /^Line \d+: "maxTurns" is "1 --x"\. It must be a whole number/m);
  });

  test('are passed to a program that has a place for them, and are otherwise named once', async t => {
    const workspace = await Workspace.create(t, { stories: stories(CHOICE) });
    const { code, stdout } = await workspace.cli(
      ...['run', '--command', fakeAgent('plainText'), '--command-arg=--model={model}'],
      ...['--model', 'sonnet'],
    ).finished;
    assert.equal(code, 0, stdout);
    assert.deepEqual(
      (await readFile(path.join(workspace.notesDir, 'arguments.txt'), 'utf8')).trim().split('\n'),
      ['--model=opus', '--model=sonnet'],
    );
    const words =
      'The agent command does not support "effort", "maxTurns", so what these stories choose has no effect: US-001.';
    const warnings = await workspace.events('warning');
    assert.deepEqual(
      warnings
        .filter(({ code }) => code === 'storyChoiceIgnored')
        .map(({ detail }) => englishOf(detail)),
      [words],
    );
    assert.equal(stdout.split(words).length, 2);
  });

  test('are shown by stories, next and --dry-run', async t => {
    const workspace = await Workspace.create(t, { stories: stories(CHOICE) });
    const printed = async (...args: readonly string[]) => {
      const { code, stderr, stdout } = await workspace.cli(...args).finished;
      assert.deepEqual([code, stderr], [0, '']);
      return stdout;
    };
    const list = JSON.parse(await printed('stories', '--json'));
    assert.deepEqual(
      list.stories.map(({ effort, maxTurns, model }: typeof CHOICE) => ({
        ...{ model, effort, maxTurns },
      })),
      [CHOICE, { model: null, effort: null, maxTurns: null }],
    );
    assert.deepEqual(JSON.parse(await printed('next', '--json')), { id: 'US-001', ...CHOICE });
    assert.equal(
      (await printed('next')).trim(),
      'US-001: Story number 1 · model opus · effort high · at most 40 turns',
    );
    const claude = ['--claude-path', fakeAgent('succeeds')];
    const dry = await printed('run', '--dry-run', ...claude, ...SETTINGS);
    assert.match(dry, /^Agent: claude, sonnet$/m);
    assert.match(dry, /^Chosen by US-001: model opus, effort high, at most 40 turns$/m);
    assert.match(dry, /^Command: .* --max-turns 40 .*--effort high --model opus/m);
    const demo = await printed('run', '--dry-run', '--agent', 'demo');
    assert.match(demo, /^Warning: The agent demo does not support "model", "effort", so /m);
  });
});
