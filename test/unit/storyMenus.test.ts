import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { Command } from '../../src/views/common/contributions.ts';
import { STATE_KINDS } from '../../src/views/stories/storyState.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** States in which an open story's line offers a command, in the order of `STATE_KINDS`. */
async function offeredIn(command: string): Promise<string[]> {
  const { contributes } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  const items: { command: string; when: string }[] = contributes.menus['view/item/context'];
  const patterns = items
    .filter(item => item.command === command)
    .map(({ when }) => /^view == ralphFresh\.stories && viewItem =~ \/(.+)\/$/.exec(when)?.[1]);
  assert.notEqual(patterns.length, 0, command);
  const [first, ...others] = patterns.map(pattern =>
    STATE_KINDS.filter(kind => new RegExp(pattern ?? assert.fail()).test(`story.open.${kind}`)),
  );
  for (const other of others) {
    assert.deepEqual(other, first, 'a button and an entry of the menu');
  }
  return first ?? [];
}

test('a story that waits or is put aside is not offered to run: that run would end before its first agent, or start without what lands', async () => {
  const offered = await offeredIn(Command.runStory);
  assert.deepEqual(
    STATE_KINDS.filter(kind => !offered.includes(kind)),
    ['landing', 'queued', 'paused', 'waiting', 'parked'],
  );
});

test('what runs leave alone already cannot be skipped', async () => {
  const offered = await offeredIn(Command.skipStory);
  assert.deepEqual(
    STATE_KINDS.filter(kind => !offered.includes(kind)),
    ['skipped', 'parked'],
  );
});

test('an agent of its own can be stopped and paused, and whatever is paused continues', async () => {
  const { contributes } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  const items: { command: string; when: string }[] = contributes.menus['view/item/context'];
  const offered = (contextValue: string) =>
    [Command.stopStory, Command.pauseStory, Command.continueStory].filter(command =>
      items
        .filter(item => item.command === command)
        .some(({ when }) => {
          const pattern = /viewItem =~ \/(.+)\/$/.exec(when)?.[1] ?? assert.fail();
          return new RegExp(pattern).test(contextValue);
        }),
    );
  assert.deepEqual(offered('story.open.running'), []);
  assert.deepEqual(offered('story.open.running.lane.commits'), [
    ...[Command.stopStory, Command.pauseStory],
  ]);
  assert.deepEqual(offered('story.open.running.lane.isLast'), [
    ...[Command.stopStory, Command.continueStory],
  ]);
  assert.deepEqual(offered('story.open.paused.commits'), [Command.continueStory]);
  assert.deepEqual(offered('story.open.queued'), []);
});
