import assert from 'node:assert/strict';
import { link, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { TARGETS } from '../../src/orchestrator/stories/convert/conversion.ts';
import { targetsFor } from '../../src/orchestrator/stories/convert/targetPlaces.ts';
import { tempDir } from '../support/cleanEnv.ts';

describe('formats to convert to', () => {
  const others = TARGETS.filter(target => target !== 'prd');

  test('are all but the one in whose place the stories are', async t => {
    const temp = await tempDir('ralph-fresh-targets-');
    t.after(() => temp.remove());
    const folder = temp.path;
    const prd = path.join(folder, '.omc', 'prd.json');
    await mkdir(path.dirname(prd));
    await writeFile(prd, '[]');
    assert.deepEqual(await targetsFor(folder, prd), others);
    assert.deepEqual(await targetsFor(folder, path.join(folder, '.omc', '.', 'prd.json')), others);
    const another = path.join(folder, 'another.json');
    await writeFile(another, '[]');
    assert.deepEqual(await targetsFor(folder, another), TARGETS);
  });

  test('know it by other names: a link to it, a link to its folder, a second name', async t => {
    const temp = await tempDir('ralph-fresh-targets-');
    t.after(() => temp.remove());
    const folder = path.join(temp.path, 'workspace');
    const prd = path.join(folder, '.omc', 'prd.json');
    await mkdir(path.dirname(prd), { recursive: true });
    await writeFile(prd, '[]');
    const names = ['link.json', 'hard.json', path.join('same', 'prd.json')];
    await symlink(prd, path.join(folder, 'link.json'));
    await link(prd, path.join(folder, 'hard.json'));
    await symlink(path.dirname(prd), path.join(folder, 'same'));
    for (const name of names) {
      assert.deepEqual(await targetsFor(folder, path.join(folder, name)), others, name);
    }
    // The usual place is a link to what was chosen.
    const real = path.join(folder, 'docs.yaml');
    await writeFile(real, 'phases: []\n');
    await mkdir(path.join(folder, '.claude', 'orchestration'), { recursive: true });
    await symlink(real, path.join(folder, '.claude', 'orchestration', 'docs.yaml'));
    assert.deepEqual(
      await targetsFor(folder, real),
      TARGETS.filter(target => target !== 'yaml'),
    );
  });

  test('know it in other upper and lower case where the file system does not tell them apart', async t => {
    const temp = await tempDir('ralph-fresh-targets-');
    t.after(() => temp.remove());
    const prd = path.join(temp.path, '.omc', 'prd.json');
    await mkdir(path.dirname(prd));
    await writeFile(prd, '[]');
    // Where it does, there is nothing by the other name: as on such a system, the two are one file.
    const other = path.join(temp.path, '.omc', 'PRD.json');
    await link(prd, other).catch((error: NodeJS.ErrnoException) =>
      assert.equal(error.code, 'EEXIST'),
    );
    assert.deepEqual(await targetsFor(temp.path, other), others);
  });
});
