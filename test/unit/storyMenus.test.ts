import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { STATE_KINDS } from '../../src/presentation/storyState.ts';
import { Command } from '../../src/views/common/contributions.ts';
import { menuFacts } from '../../src/views/stories/storyNodes.ts';

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

test('a story that cannot start now, or waits to land, does not offer Run', async () => {
  const offered = await offeredIn(Command.runStory);
  assert.deepEqual(
    STATE_KINDS.filter(kind => !offered.includes(kind)),
    ['settling', 'running', 'landing', 'queued', 'paused', 'waiting', 'parked'],
  );
});

test('a story that is skipped or put aside cannot be skipped again', async () => {
  const offered = await offeredIn(Command.skipStory);
  assert.deepEqual(
    STATE_KINDS.filter(kind => !offered.includes(kind)),
    ['skipped', 'parked'],
  );
});

test('an agent in a lane can be stopped and paused, and everything paused can continue', async () => {
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

test('places, work and terminals go by the run of the folder of the story, whichever folder is active', async () => {
  const { contributes } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  const items: { command: string; when: string }[] = contributes.menus['view/item/context'];
  const commands = [Command.showStoryTerminal, Command.openPlace, Command.discardWork];
  const offered = (hasRun: boolean, place: boolean, work: boolean) => {
    const holds = { hasRun, place, work, conflict: false, commits: false };
    const facts = menuFacts({ done: false }, { kind: 'paused' }, holds);
    return commands.filter(command =>
      items
        .filter(item => item.command === command && item.when.includes('ralphFresh.stories'))
        .every(({ when }) => {
          assert.doesNotMatch(when, /ralphFresh\.(?:isolated|runs)\b/);
          return new RegExp(/viewItem =~ \/(.+)\/$/.exec(when)?.[1] ?? assert.fail()).test(facts);
        }),
    );
  };
  const [terminal, place, discard] = commands;
  assert.deepEqual(offered(false, false, false), []);
  assert.deepEqual(offered(true, false, false), [terminal]);
  assert.deepEqual(offered(true, true, true), commands);
  // Another story has its place now, and its work is kept.
  assert.deepEqual(offered(true, false, true), [terminal, discard]);
  assert.deepEqual(offered(true, true, false), [terminal, place]);
});

test('the button that starts a run and the one that stops it are never in the same place', async () => {
  const { contributes } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  const items: { command: string; when: string; group: string }[] = contributes.menus['view/title'];
  const buttons = (isRunning: boolean) =>
    items
      .filter(({ group, when }) => {
        const facts = when.split(' && ');
        return (
          group.startsWith('navigation') &&
          facts.includes('view == ralphFresh.stories') &&
          !facts.includes(isRunning ? '!ralphFresh.running' : 'ralphFresh.running') &&
          !facts.includes('ralphFresh.filtered') &&
          !facts.includes('ralphFresh.otherList')
        );
      })
      .sort((a, b) => a.group.localeCompare(b.group))
      .map(({ command }) => command);
  // They are aligned at the right end.
  const fromRight = (commands: string[], command: string) =>
    commands.length - commands.indexOf(command);
  const [idle, active] = [buttons(false), buttons(true)];
  assert.ok(idle.includes(Command.startRun) && active.includes(Command.stopRun), 'a double click');
  assert.notEqual(fromRight(idle, Command.startRun), fromRight(active, Command.stopRun));
});
