import assert from 'node:assert/strict';
import { symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { INITIAL_RUN_STATE, type RunState } from '../../src/orchestrator/journal/runState.ts';
import { storyOfLine } from '../../src/presentation/storyPrefix.ts';
import { linkedFile, placeNow } from '../../src/views/terminal/linkedFile.ts';
import { UserOfPlaces, writeAll } from '../support/placesOf.ts';
import { sameValue } from '../support/sameValue.ts';

const LONG = 'a story whose name is long';

function working(lanes: number, ...ids: readonly string[]): RunState {
  const running = ids.map((storyId, at) => ({ number: at + 1, storyId }) as never);
  return { ...INITIAL_RUN_STATE, isolated: true, lanes, running };
}

describe('a path in a terminal', () => {
  test('is about the story that its line names, or the only one', () => {
    const two = working(2, 'US-001', LONG);
    assert.equal(storyOfLine('US-001                   │ ● Edit(a.txt)', two), 'US-001');
    assert.equal(storyOfLine('a-story-whose-name-is…   │ ● Edit(a.txt)', two), LONG);
    assert.equal(storyOfLine('US-003 │ ● Edit(a.txt)', two), undefined);
    assert.equal(storyOfLine('[Ralph Fresh] a.txt', two), undefined);
    const alike = working(2, `${LONG} 1`, `${LONG} 2`);
    assert.equal(storyOfLine('a-story-whose-name-is…   │ ● Edit(a.txt)', alike), undefined);
    assert.equal(storyOfLine('● Edit(a.txt)', working(1, 'US-001')), 'US-001');
    const { isolated: _, ...inOwnTree } = working(1, 'US-001');
    assert.equal(storyOfLine('● Edit(a.txt)', inOwnTree), undefined);
  });

  test("leads to the agent's file, otherwise to the user's, and nowhere else", async () => {
    await using user = await UserOfPlaces.make();
    const taken = await user.take('lane-1', {}, { story: 'US-001', iteration: 1 });
    const run = { runId: 'run-1', state: working(2, 'US-001') };
    const place = await placeNow(user.folder, run, 'US-001');
    assert.equal(place?.root, taken.root);
    const inPlace = (name: string) => path.join(taken.root, name);
    const inFolder = (name: string) => path.join(user.root, name);
    await writeAll(taken.root, { 'new.txt': 'new\n', 'src/b.txt': 'changed\n' });
    await writeAll(user.root, { 'own.txt': 'own\n' });
    await writeFile(path.join(user.temp.path, 'secret.txt'), 'secret\n');
    await symlink(path.join(user.temp.path, 'secret.txt'), inPlace('link.txt'));
    const ofAgent = (name: string) => ({ file: inPlace(name), isOfAgent: true });
    const ofUser = (name: string) => ({ file: inFolder(name), isOfAgent: false });
    sameValue(await linkedFile('src/b.txt', user.root, place), ofAgent('src/b.txt'));
    sameValue(await linkedFile(inPlace('new.txt'), user.root, place), ofAgent('new.txt'));
    sameValue(await linkedFile('own.txt', user.root, place), ofUser('own.txt'));
    sameValue(await linkedFile('src/b.txt', user.root, undefined), ofUser('src/b.txt'));
    for (const name of ['link.txt', '../secret.txt', '/etc/hostname', 'src', 'gone.txt']) {
      assert.equal(await linkedFile(name, user.root, place), undefined, name);
    }
  });

  test('of a story whose agent has finished leads to the file of the user', async () => {
    await using user = await UserOfPlaces.make();
    await user.take('lane-1', {}, { story: 'US-001', iteration: 1 });
    const next = { number: 2, storyId: 'US-001' } as never;
    for (const running of [[], [next]]) {
      const run = { runId: 'run-1', state: { ...working(2), running } };
      assert.equal(await placeNow(user.folder, run, 'US-001'), undefined);
    }
  });
});
