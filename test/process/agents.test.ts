import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { englishOf } from '../../src/base/say.ts';
import { fakeAgent, openStories, until, Workspace } from '../support/ralph.ts';
import { messagesIn, storedSentences } from '../support/storedSentences.ts';

describe('any command-line agent', { concurrency: 3 }, () => {
  for (const [via, args] of [
    ['standard input', []],
    ['a file', ['--command-prompt', 'file', '--command-arg=--prompt-file={promptFile}']],
  ] as const) {
    test(`does the stories, with the prompt by ${via}`, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(2) });
      const cli = workspace.cli(
        ...['run', '--command', fakeAgent('plainText'), ...args],
        ...['--model', 'm1', '--command-arg=--model={model}'],
      );
      assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
      assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
      assert.equal((await workspace.event('run.started')).agent, 'command');
      const promises = await workspace.events('promise.seen');
      assert.deepEqual(
        promises.map(({ accepted, signal }) => [signal, accepted]),
        [['complete', true]],
      );
      const given = await readFile(path.join(workspace.notesDir, 'arguments.txt'), 'utf8');
      assert.match(given, /--model=m1/);
    });
  }

  test('a missing program is reported in one line with the fix', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const { code, stderr } = await workspace.cli('run', '--command', 'no-such-agent').finished;
    assert.equal(code, 1);
    assert.match(stderr, /^ralph-fresh: no-such-agent was not found [^\n]*\n$/);
    assert.deepEqual(await workspace.journal(), []);
  });
});

test('a script whose shebang names no program is reported as such', async t => {
  const workspace = await Workspace.create(t, { stories: openStories(1) });
  const script = path.join(workspace.notesDir, 'agent.sh');
  await writeFile(script, '#!/bin/nosuchshell\n', { mode: 0o755 });
  assert.equal((await workspace.cli('run', '--command', script).finished).code, 1);
  assert.match(
    englishOf((await workspace.event('run.ended')).detail ?? ''),
    /the first line of .*agent\.sh names .*was not found\. Correct that line/,
  );
  const journal = await workspace.journal();
  assert.deepEqual(storedSentences(journal), []);
  // Of the agent, and of the run.
  assert.equal(messagesIn(journal).length, 2);
});

describe('a custom prompt, .omc/prompt.md', { concurrency: 2 }, () => {
  test('replaces ours', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await workspace.write(
      '.omc/prompt.md',
      'Round {{N}} of {{MAX}}.\n\n{{mission}}\n\n{{#each recentCommits}}* {{message}}\n{{/each}}',
    );
    const cli = workspace.run('succeeds');
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    const prompt = await workspace.prompt(1);
    assert.match(prompt, /^Round 1 of 20\.\n/);
    assert.match(prompt, /\* First commit/);
  });

  test('with an unknown placeholder fails before the run and names its line', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await workspace.write('.omc/prompt.md', 'Hello\n{{storyy}}\n');
    const { code, stderr } = await workspace.run('succeeds').finished;
    assert.equal(code, 1);
    assert.match(stderr, /^ralph-fresh: [^\n]*prompt\.md:2: [^\n]*storyy[^\n]*{{story}}[^\n]*\n$/);
    assert.deepEqual(await workspace.runIds(), []);
  });
});

describe('another mode that becomes active during a run', () => {
  test('ends the run between two iterations and is named', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const cli = workspace.run('waits');
    await workspace.agent();
    await mkdir(workspace.files.stateDir, { recursive: true });
    await writeFile(path.join(workspace.files.stateDir, 'ralph-state.json'), '{"active":true}');
    await workspace.note('go');
    assert.equal((await cli.finished).code, 1);
    const end = await until('the end', async () => (await workspace.events('run.ended'))[0]);
    assert.match(englishOf(end.detail ?? ''), /"ralph"/);
    assert.deepEqual(await workspace.done(), ['US-001']);
  });
});
