import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import {
  changesIn,
  fileInPlace,
  placeOfStory,
} from '../../src/orchestrator/places/placeChanges.ts';
import { PlaceFiles } from '../../src/orchestrator/places/placeFiles.ts';
import { UserOfPlaces, writeAll } from '../support/placesOf.ts';
import { sameValue } from '../support/sameValue.ts';

describe('changes in a place', () => {
  test('include everything that differs from its start, committed or not; links are not followed', async () => {
    await using user = await UserOfPlaces.make({
      'gone.txt': 'gone\n',
      'same.txt': 'same\n',
      '.gitignore': 'out/\n',
    });
    await writeAll(user.root, { '.omc/prd.json': '{}\n', '.omc/progress.txt': 'log\n' });
    const place = await user.take('lane-1', {
      storyFile: path.join(user.root, '.omc/prd.json'),
      progressFile: path.join(user.root, '.omc/progress.txt'),
    });
    sameValue((await changesIn(place.root)).files, []);
    const agent = user.at(place.root);
    await agent.write('a.txt', 'committed\n');
    await agent.commit();
    await agent.write('src/b.txt', 'not committed\n');
    await agent.write('$(x) \u202e[y](z).txt', 'new\n');
    await agent.write('out/ignored.txt', 'ignored\n');
    await agent.write('.omc/prd.json', '{"ticked": true}\n');
    await rm(path.join(place.root, 'gone.txt'));
    await symlink('/etc/hostname', path.join(place.root, 'link.txt'));
    await symlink('/etc', path.join(place.root, 'folder'));
    const { files, start } = await changesIn(place.root);
    assert.equal(start, await user.user.head());
    sameValue(
      files.map(({ isNew, now, path: name }) => [name, isNew, now]),
      [
        ['$(x) \u202e[y](z).txt', true, 'file'],
        ['.omc/prd.json', true, 'file'],
        ['a.txt', false, 'file'],
        ['folder', true, 'other'],
        ['gone.txt', false, 'gone'],
        ['link.txt', true, 'other'],
        ['src/b.txt', false, 'file'],
      ],
    );
    // The index of that look is gone.
    const { reader } = PlaceFiles.of(place.root);
    sameValue(
      (await readdir(reader)).filter(name => name.startsWith('index-')),
      [],
    );
  });

  test('are read without running anything that the agent configured there', async () => {
    await using user = await UserOfPlaces.make();
    const place = await user.take();
    const agent = user.at(place.root);
    const mark = path.join(user.temp.path, 'has-run');
    const script = `#!/bin/sh\ntouch '${mark}'\n`;
    await mkdir(path.join(place.root, '.git', 'hooks'), { recursive: true });
    await agent.write('run.sh', script);
    for (const key of ['core.fsmonitor', 'filter.x.clean', 'diff.external', 'core.pager']) {
      await agent.git('config', key, `sh ${path.join(place.root, 'run.sh')}`);
    }
    await agent.write('.gitattributes', '* filter=x diff=x\n');
    await agent.write('a.txt', 'changed\n');
    const { files } = await changesIn(place.root);
    assert.ok(files.some(file => file.path === 'a.txt'));
    assert.ok(!existsSync(mark));
  });

  test('has files that are read only while the place serves the same agent, and never behind a link', async () => {
    await using user = await UserOfPlaces.make();
    const place = await user.take('lane-1', {}, { story: 'US-001', iteration: 3 });
    const file = { place: 'lane-1', runId: 'run-1', iteration: 3, path: 'src/b.txt' };
    const at = (other: Partial<typeof file>) => fileInPlace(user.folder, { ...file, ...other });
    assert.equal(await at({}), path.join(place.root, 'src', 'b.txt'));
    await symlink('/etc', path.join(place.root, 'folder'));
    for (const other of [
      ...[{ iteration: 4 }, { runId: 'run-2' }, { place: 'lane-2' }, { place: '../lane-1' }],
      ...[{ path: '../lane-1.own/record.json' }, { path: 'folder/hostname' }, { path: 'none' }],
    ]) {
      assert.equal(await at(other), undefined, JSON.stringify(other));
    }
  });

  test('are found by the story that has the place', async () => {
    await using user = await UserOfPlaces.make();
    const about = { runId: 'run-1', storyId: 'US-001' };
    assert.equal(await placeOfStory(user.folder, about), undefined);
    const place = await user.take('lane-1', {}, { story: 'US-001', iteration: 3 });
    const found = await placeOfStory(user.folder, about);
    sameValue([found?.root, found?.iteration, found?.usedBy], [place.root, 3, process.pid]);
    assert.equal(await placeOfStory(user.folder, { ...about, runId: 'run-2' }), undefined);
    await place.dispose();
    await user.take('lane-1', {}, { story: 'US-002', iteration: 4 });
    assert.equal(await placeOfStory(user.folder, about), undefined, 'another story has it now');
    const own = await user.take('settle-us-002-abcdef', {}, { story: 'US-002', iteration: 2 });
    const settled = await placeOfStory(user.folder, { ...about, storyId: 'US-002' });
    assert.equal(settled?.root, own.root, 'that of the person comes first');
  });
});
