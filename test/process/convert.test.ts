import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { openStories, Workspace } from '../support/ralph.ts';

const YAML = '.claude/orchestration/prd.yaml';

describe('convert', { concurrency: 2 }, () => {
  test('writes the stories in another format, and back, where nothing is lost', async t => {
    const [first, second] = openStories(2);
    const stories = [
      { ...first, id: 'US-001', title: 'First', passes: true },
      { ...second, id: 'US-002', title: 'Second', passes: false, dependsOn: ['US-001'] },
    ];
    const workspace = await Workspace.create(t, { stories });
    const { code, stderr, stdout } = await workspace.cli('convert', '--to', 'yaml').finished;
    assert.equal(code, 0, stderr);
    assert.match(
      stdout,
      /^Wrote 2 stories to .*prd\.yaml\.\n\.omc\/prd\.json is still used; use the new file with --file \.claude\/orchestration\/prd\.yaml\n$/,
    );
    assert.match(await workspace.read(YAML), /- id: US-002\n\s+name: Second/);
    const next = await workspace.cli('next', '--file', YAML).finished;
    assert.match(next.stdout, /^US-002/);

    const out = 'plans/back.json';
    const back = await workspace.cli('convert', YAML, '--to', 'prd', '--out', out).finished;
    assert.equal(back.code, 0, back.stderr);
    const again = JSON.parse(await workspace.read(out));
    assert.deepEqual(
      again.userStories.map(({ dependsOn, id, passes }: Record<string, unknown>) => [
        ...[id, passes, dependsOn],
      ]),
      [
        ['US-001', true, undefined],
        ['US-002', false, ['US-001']],
      ],
    );
  });

  test('says what is lost, and writes only if a person agrees', async t => {
    const stories = openStories(2).map((story, index) => ({
      ...story,
      ...(index === 1 && { dependsOn: ['US-001'], estimate: '2 h\u001b[31m' }),
    }));
    const workspace = await Workspace.create(t, { stories });
    const refused = await workspace.cli('convert', '--to', 'plan').finished;
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /IMPLEMENTATION_PLAN\.md would not have what .*prd\.json has:/);
    assert.match(refused.stderr, /^ {2}what they wait for: US-002$/m);
    assert.match(refused.stderr, /^ {2}other keys \(estimate\): US-002$/m);
    assert.match(refused.stderr, /Nothing was written\. .* add --yes\.$/m);
    const plan = path.join(workspace.folder, 'IMPLEMENTATION_PLAN.md');
    assert.ok(!existsSync(plan));

    const data = await workspace.cli('convert', '--to', 'plan', '--json').finished;
    assert.equal(data.code, 1);
    const { losses, written } = JSON.parse(data.stdout);
    assert.equal(written, false);
    assert.ok(losses.some((loss: { fact?: string }) => loss.fact === 'dependsOn'));

    const agreed = await workspace.cli('convert', '--to', 'plan', '--yes').finished;
    assert.equal(agreed.code, 0, agreed.stderr);
    assert.match(
      await workspace.read('IMPLEMENTATION_PLAN.md'),
      /^- \[ \] US-001: Story number 1$/m,
    );
  });

  test('says which file is used from then on, and what to do without a format', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    await workspace.write('IMPLEMENTATION_PLAN.md', '- [ ] T001 First\n- [ ] T002 Second\n');
    const none = await workspace.cli('convert').finished;
    assert.equal(none.code, 64);
    assert.match(none.stderr, /Name the format to write: ralph-fresh convert --to prd\. .*yaml/);

    const { code, stderr, stdout } = await workspace.cli('convert', '--to', 'tasks').finished;
    assert.equal(code, 0, stderr);
    const used =
      'From now on, .ralph/tasks.jsonl is used; for the old list add --file IMPLEMENTATION_PLAN.md';
    assert.equal(stdout.split('\n')[1], used);
    const list = await workspace.cli('stories', '--json').finished;
    assert.equal(JSON.parse(list.stdout).format, 'tasks');
  });

  test('never replaces a file unasked, and never the source', async t => {
    const workspace = await Workspace.create(t);
    await workspace.write('own.yaml', 'mine\n');
    const taken = await workspace.cli('convert', '--to', 'yaml', '--out', 'own.yaml', '--yes')
      .finished;
    assert.equal(taken.code, 1);
    assert.match(taken.stderr, /own\.yaml exists\. .* --force/);
    assert.equal(await workspace.read('own.yaml'), 'mine\n');
    const forced = await workspace.cli('convert', '--to', 'yaml', '--out', 'own.yaml', '--force')
      .finished;
    assert.equal(forced.code, 0, forced.stderr);
    // To replace a file is one question, what is lost is another.
    const lossy = ['convert', '--to', 'plan', '--out', 'own.md', '--force'] as const;
    const asked = await workspace.cli(...lossy).finished;
    assert.equal(asked.code, 1);
    assert.match(asked.stderr, /Nothing was written\. .* add --yes\.$/m);
    assert.equal((await workspace.cli(...lossy, '--yes').finished).code, 0);
    assert.match(await workspace.read('own.yaml'), /^ +- id: US-001$/m);

    const own = await workspace.cli('convert', '--to', 'prd', '--force').finished;
    assert.equal(own.code, 1);
    assert.match(own.stderr, /is the file that is to be converted/);

    const broken = await workspace.cli('convert', 'gone.json', '--to', 'yaml').finished;
    assert.match(broken.stderr, /no story file at .*gone\.json/);
  });
});
