import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { appendFile, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { readRunState } from '../../src/orchestrator/journal/foldJournal.ts';
import { readRun } from '../../src/orchestrator/workspace/runCheckpoint.ts';
import { fakeAgent, openStories, Workspace } from '../support/ralph.ts';
import { JOURNALS } from '../support/recordedJournals.ts';
import { recordScenario } from '../support/recordScenario.ts';
import { sameValue } from '../support/sameValue.ts';

const LINES = 30_000;

test('a current run produces the journal that the view tests read', async () => {
  // What differs for a reason is recorded anew: npm run journals.
  for (const name of ['twoChecksGreen', 'firstCheckRed']) {
    const text = await readFile(path.join(JOURNALS, `${name}.jsonl`), 'utf8');
    sameValue((await recordScenario(name)).split('\n'), text.split('\n'), name);
  }
});

describe('what runs keep for later commands', { concurrency: 2 }, () => {
  test('a chatty agent leaves a short journal that says where the rest is', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.cliWith(
      { FAKE_AGENT_LINES: String(LINES) },
      ...['run', '--agent', 'claude', '--claude-path', fakeAgent('chatters')],
    );
    const { code, stderr, stdout } = await cli.finished;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /prints more than the journal keeps.* stream\.jsonl in the folder/);
    const [runId = ''] = await workspace.runIds();
    const texts = (await workspace.events('agent.text')).map(({ text }) => text);
    assert.ok(texts.length <= 3_800, `${texts.length} texts`);
    sameValue(texts.slice(0, 2), ['I say line 1.', 'I say line 2.']);
    assert.ok(texts.includes('Working on US-001.'), 'the last words are there');
    assert.equal((await workspace.events('agent.overflow')).length, 1);
    assert.ok((await stat(workspace.files.journalFile(runId))).size < 2_000_000);
    const stream = path.join(workspace.files.iterationDir(runId, 1), 'stream.jsonl');
    assert.match(await readFile(stream, 'utf8'), new RegExp(`I say line ${LINES}\\.`));
    assert.equal((await workspace.event('iteration.ended')).outcome, 'storyDone');
  });

  test('a 50 MB journal of an older version is read with little memory', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    assert.equal((await workspace.run('succeeds').finished).code, 0);
    const [runId = ''] = await workspace.runIds();
    const journal = workspace.files.journalFile(runId);
    const [first = '', second = '', ...rest] = (await readFile(journal, 'utf8')).split('\n');
    await writeFile(journal, `${first}\n${second}\n`);
    const { at } = JSON.parse(second);
    for (let block = 0; block < 60; block += 1) {
      const words = Array.from({ length: 5_000 }, (_, line) =>
        JSON.stringify({
          ...{ seq: 3 + block * 5_000 + line, at, type: 'agent.text' },
          text: `${'I say more than anybody reads. '.repeat(4)}${line}`,
        }),
      );
      await appendFile(journal, `${words.join('\n')}\n`);
    }
    const later = rest.map(line =>
      line === ''
        ? ''
        : JSON.stringify({ ...JSON.parse(line), seq: JSON.parse(line).seq + 300_000 }),
    );
    await appendFile(journal, later.join('\n'));
    const small = { NODE_OPTIONS: '--max-old-space-size=60' };
    for (const [words, ...args] of [
      [/^COMPLETE/, 'status'],
      [/^1\/1 stories complete/, 'stories'],
      [/^All stories are complete/, 'next'],
      [/1× +US-001/, 'receipt'],
    ] as const) {
      await rm(workspace.files.checkpointFile(runId), { force: true });
      const { code, stderr, stdout } = await workspace.cliWith(small, ...args).finished;
      sameValue([code, stderr], [0, ''], args.join(' '));
      assert.match(stdout, words);
    }
  });

  test('the loop keeps a checkpoint of its journal at the end, and later events are added', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    assert.equal((await workspace.run('succeeds').finished).code, 0);
    const [runId = ''] = await workspace.runIds();
    const { files } = workspace;
    const kept = files.checkpointFile(runId);
    assert.ok(existsSync(kept));
    sameValue(await readRun(files, runId), await readRunState(files.journalFile(runId)));
    assert.equal((await workspace.cli('untick', 'US-001').finished).code, 0);
    const told = async () => (await workspace.cli('stories').finished).stdout;
    const before = await told();
    assert.match(before, /^0\/1 stories complete/m);
    for (const damage of [
      () => rm(kept),
      () => writeFile(kept, '{"fold":1'),
      () => appendFile(files.journalFile(runId), 'no event\n'),
    ]) {
      await damage();
      assert.equal(await told(), before);
    }
  });
});
