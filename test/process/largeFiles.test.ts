import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { FakeGithub } from '../support/fakeGithub.ts';
import { openStories, Workspace } from '../support/ralph.ts';

/** A text of this many bytes. */
const filling = (bytes: number, of = 'x') => of.repeat(bytes);
const TOO_LARGE =
  /^ralph-fresh: .* would have \d+(?:\.\d)? MB, and larger story files than 8 MB are not read, so nothing was written\. /;

describe('no story file is written that could not be read again', { concurrency: 2 }, () => {
  test('github sync names a label or a milestone as the way out, and keeps the copy', async t => {
    const issues = Array.from({ length: 150 }, (_, at) => ({
      number: at + 1,
      title: `Issue ${at + 1}`,
      body: filling(60_000),
      labels: at === 0 ? ['ralph'] : [],
    }));
    const github = await FakeGithub.start('octo/garden', issues);
    t.after(() => github[Symbol.asyncDispose]());
    const workspace = await Workspace.create(t, { stories: undefined });
    Object.assign(workspace.env, { GITHUB_ENTERPRISE_TOKEN: github.token });
    const sync = (...flags: readonly string[]) =>
      workspace.cli(
        ...['github', 'sync', '--github', 'octo/garden', '--github-url', github.url, ...flags],
      ).finished;
    const isRefused = async () => {
      const { code, stderr } = await sync();
      assert.equal(code, 1);
      assert.match(stderr, TOO_LARGE);
      assert.match(stderr, /Name a label or a milestone, so that there are fewer issues\.$/m);
    };
    await isRefused();
    assert.equal(existsSync(path.join(workspace.folder, '.omc/github.json')), false);
    assert.match((await sync('--label', 'ralph')).stdout, /: 1 issues, 0 done/);
    const copy = await workspace.read('.omc/github.json');
    await isRefused();
    assert.equal(await workspace.read('.omc/github.json'), copy);
  });

  test('tasks import leaves the task graph as it is', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    for (const id of ['A', 'B']) {
      const story = { ...openStories(1)[0], id, title: id, description: filling(5_000_000) };
      await workspace.write(`${id}.json`, JSON.stringify({ userStories: [story] }));
    }
    const into = ['--file', 'graph.jsonl'];
    const first = await workspace.cli('tasks', 'import', 'A.json', ...into).finished;
    assert.equal(first.code, 0, first.stderr);
    const graph = await workspace.read('graph.jsonl');
    for (const flags of [[], ['--dry-run']]) {
      const { code, stderr } = await workspace.cli('tasks', 'import', 'B.json', ...into, ...flags)
        .finished;
      assert.equal(code, 1);
      assert.match(stderr, TOO_LARGE);
      assert.match(stderr, /with "ralph-fresh tasks compact", or import into another file/);
    }
    assert.equal(await workspace.read('graph.jsonl'), graph);
  });

  test('convert writes nothing, and replaces nothing', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    // In JSON, each quote has two bytes.
    const items = Array.from({ length: 50 }, () => `- [ ] ${filling(100_000, '"')}\n`);
    await workspace.write('plan.md', `# Plan\n\n${items.join('')}`);
    const convert = ['convert', 'plan.md', '--to', 'prd', '--out', 'new.json', '--yes'];
    for (const flags of [[], ['--force']]) {
      const { code, stderr } = await workspace.cli(...convert, ...flags).finished;
      assert.equal(code, 1);
      assert.match(stderr, TOO_LARGE);
    }
    assert.equal(existsSync(path.join(workspace.folder, 'new.json')), false);
    await workspace.write('new.json', '[]\n');
    await workspace.cli(...convert, '--force').finished;
    assert.equal(await workspace.read('new.json'), '[]\n');
  });
});
