import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { link, mkdir, symlink, utimes } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { openStories, Workspace } from '../support/ralph.ts';

const FULL_DISK = pathToFileURL(path.resolve(import.meta.dirname, '../support/fullDisk.mjs')).href;
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
      /^Wrote 2 stories of \.omc\/prd\.json to .*prd\.yaml\.\n\.omc\/prd\.json is still used; use the new file with --file \.claude\/orchestration\/prd\.yaml\n$/,
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

  test('reports what is lost, and writes only if a person agrees', async t => {
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

  test('names all keys that --yes would agree to lose', async t => {
    const keys = Array.from({ length: 15 }, (_, index) => `own${index}`);
    const own = Object.fromEntries(keys.map(key => [key, 'x']));
    const stories = openStories(1).map(story => ({ ...story, ...own }));
    const workspace = await Workspace.create(t, { stories });
    const { code, stderr } = await workspace.cli('convert', '--to', 'yaml').finished;
    assert.equal(code, 1);
    assert.ok(stderr.includes(`  other keys (${keys.join(', ')}): US-001\n`), stderr);
  });

  test('lists the stories of a plan in the order of their turns', async t => {
    const stories = openStories(3).map((story, index) => ({
      ...story,
      priority: index === 1 ? 2 : 1,
      ...(index === 0 && { dependsOn: ['US-002'] }),
    }));
    const workspace = await Workspace.create(t, { stories });
    const { code, stderr } = await workspace.cli('convert', '--to', 'plan', '--yes').finished;
    assert.equal(code, 0, stderr);
    const plan = await workspace.read('IMPLEMENTATION_PLAN.md');
    assert.deepEqual(plan.match(/US-\d+/g), ['US-003', 'US-002', 'US-001']);
    const file = ['--file', 'IMPLEMENTATION_PLAN.md'];
    assert.match((await workspace.cli('next', ...file).finished).stdout, /^US-003/);
  });

  test('says which file is used from then on, and what to do if no format is given', async t => {
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

  test('replaces a file next to which a killed process has left a part of one', async t => {
    const workspace = await Workspace.create(t);
    await workspace.write('own.yaml', 'mine\n');
    const left = path.join(workspace.folder, 'own.yaml.ralph-fresh.tmp');
    await workspace.write('own.yaml.ralph-fresh.tmp', 'half of it');
    await utimes(left, new Date(0), new Date(0));
    const { code, stderr } = await workspace.cli(
      ...['convert', '--to', 'yaml', '--out', 'own.yaml', '--yes', '--force'],
    ).finished;
    assert.equal(code, 0, stderr);
    assert.match(await workspace.read('own.yaml'), /US-001/);
    assert.ok(!existsSync(left));
  });

  test('names the next step on a full disk and in a folder that may not be written', async t => {
    const workspace = await Workspace.create(t);
    await workspace.write('own.yaml', 'mine\n');
    const convert = async (code: string, ...args: string[]) => {
      const env = { NODE_OPTIONS: `--import=${FULL_DISK}`, FULL_DISK_OF: 'tmp$' };
      const cli = workspace.cliWith(
        { ...env, FULL_DISK_CODE: code },
        ...['convert', '--to', 'yaml', '--yes', ...args],
      );
      return (await cli.finished).stderr;
    };
    for (const args of [[], ['--out', 'own.yaml', '--force']]) {
      assert.match(
        await convert('ENOSPC', ...args),
        /No space is left on the disk \(ENOSPC\), so \S+\.yaml cannot be written\. Free some space/,
      );
      assert.match(
        await convert('EACCES', ...args),
        /\.yaml cannot be written \(EACCES\): check the permissions of the file and its folder\./,
      );
    }
    assert.equal(await workspace.read('own.yaml'), 'mine\n');
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
    await symlink('prd.json', path.join(workspace.folder, '.omc/link.json'));
    await link(
      path.join(workspace.folder, '.omc/prd.json'),
      path.join(workspace.folder, '.omc/hard.json'),
    );
    const before = await workspace.read('.omc/prd.json');
    for (const name of ['link', 'hard']) {
      const same = ['convert', '--to', 'prd', '--force', '--yes', '--out', `.omc/${name}.json`];
      const { code, stderr } = await workspace.cli(...same).finished;
      assert.equal(code, 1);
      assert.match(stderr, /is the file that is to be converted/);
    }
    assert.equal(await workspace.read('.omc/prd.json'), before);

    const broken = await workspace.cli('convert', 'gone.json', '--to', 'yaml').finished;
    assert.match(broken.stderr, /no story file at .*gone\.json/);
  });

  test('writes only to a separate file, and says at once why it cannot', async t => {
    const workspace = await Workspace.create(t);
    const task = '---\nid: task-1\ntitle: First\nstatus: To Do\n---\n';
    await mkdir(path.join(workspace.folder, 'backlog/tasks'), { recursive: true });
    await mkdir(path.join(workspace.folder, 'folder.md'));
    await workspace.write('backlog/tasks/task-1 - First.md', task);
    execFileSync('mkfifo', [path.join(workspace.folder, 'pipe.jsonl')]);
    await symlink('nowhere', path.join(workspace.folder, 'dangling.json'));
    const inList = /is in the story list .*backlog\. Name a file outside of this folder\.$/m;
    const tooLong = /^ralph-fresh: The name of .* is too long\. Choose a shorter one\./m;
    for (const [from, to, out, why] of [
      ['backlog', 'prd', 'backlog/tasks/task-1 - First.md', inList],
      ['backlog', 'prd', 'backlog/new.json', inList],
      ['.omc/prd.json', 'plan', 'backlog/tasks/task-1 - First.md', inList],
      ['.omc/prd.json', 'tasks', 'pipe.jsonl', /pipe\.jsonl is not a file\. Name another one\./],
      ['.omc/prd.json', 'plan', 'folder.md', /folder\.md is a folder\. Name a file\./],
      ['.omc/prd.json', 'yaml', 'dangling.json', /is a link that leads nowhere\./],
      [
        '.omc/prd.json',
        'yaml',
        '.omc/prd.json/x',
        /There is no folder at .*prd\.json, where one is needed\./,
      ],
      ['.omc/prd.json', 'yaml', `${'x'.repeat(300)}.yaml`, tooLong],
      // Only the temporary file next to it has too long a name.
      ['.omc/prd.json', 'yaml', `${'x'.repeat(245)}.yaml`, tooLong],
    ] as const) {
      for (const flags of [['--yes'], ['--yes', '--force']]) {
        const line = ['convert', from, '--to', to, '--out', out, ...flags];
        const { code, stderr } = await workspace.cli(...line).finished;
        assert.equal(code, 1, out);
        assert.match(stderr, why);
        assert.doesNotMatch(stderr, /--force|unexpected|\n {4}at /);
      }
    }
    assert.equal(await workspace.read('backlog/tasks/task-1 - First.md'), task);
    assert.ok(!existsSync(path.join(workspace.folder, 'backlog/new.json')));
  });

  test('names the file of what is not read in a folder of Backlog.md', async t => {
    const workspace = await Workspace.create(t);
    await mkdir(path.join(workspace.folder, 'backlog/tasks'), { recursive: true });
    const convert = () => workspace.cli('convert', 'backlog', '--to', 'plan', '--yes').finished;
    await workspace.write('backlog/tasks/task-2 - B.md', '---\nid: task-2\n');
    const noTasks = await convert();
    assert.match(noTasks.stderr, /backlog\/tasks\/task-2 - B\.md, line 1: /);
    await workspace.write('backlog/tasks/task-1 - A.md', '---\nid: task-1\ntitle: A\n---\n');
    const { code, stderr } = await convert();
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^ {2}an entry that is not read as a story: tasks\/task-2 - B\.md:1$/m);
  });

  test('names the documents next to the list of a tool, to which agents would not be led', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const list = 'specs/001-shop/tasks.md';
    await mkdir(path.join(workspace.folder, 'specs/001-shop'), { recursive: true });
    await workspace.write(list, '- [ ] T001 Cart\n');
    await workspace.write('specs/001-shop/plan.md', '# Plan\n');
    const convert = workspace.cli('convert', list, '--to', 'prd', '--out', 'shop.json');
    const { code, stderr } = await convert.finished;
    assert.equal(code, 1);
    assert.match(stderr, /^ {2}the documents next to the list \(plan\.md\); agents would not be/m);
  });

  test('counts no line twice in what a plan loses', async t => {
    const workspace = await Workspace.create(t);
    await workspace.write(
      'PLAN.md',
      `# Shop

Words of nobody.

- [ ] Basket

  - [] inside of the description
  \`\`\`
  - [] an example
  \`\`\`
- [] not read
- [ ] Till
`,
    );
    const { stderr } = await workspace.cli('convert', 'PLAN.md', '--to', 'tasks').finished;
    assert.match(
      stderr,
      /has:\n {2}1 line of comments or other text\n {2}items that are not read as stories, on the lines 7, 11\nralph/,
    );
  });

  test('writes only what can be read under that name', async t => {
    const stories = openStories(2).map((story, index) => ({
      ...story,
      ...(index === 1 && { dependsOn: ['US-001'] }),
    }));
    const workspace = await Workspace.create(t, { stories });
    for (const [to, out, ending] of [
      ['plan', 'x.json', /ends with \.md, such as --out IMPLEMENTATION_PLAN\.md\./],
      ['yaml', 'x.md', /ends with \.yaml, such as --out stories\.yaml\./],
      ['tasks', 'out.json', /ends with \.jsonl, such as --out tasks\.jsonl\./],
      ['prd', 'x.jsonl', /ends with \.json, such as --out prd\.json\./],
    ] as const) {
      const { code, stderr } = await workspace.cli('convert', '--to', to, '--out', out, '--yes')
        .finished;
      assert.equal(code, 1, out);
      assert.match(stderr, /could not be read as/);
      assert.match(stderr, ending);
      assert.ok(!existsSync(path.join(workspace.folder, out)));
    }
    const named = await workspace.cli('convert', '--to', 'tasks', '--out', 'x.jsonl').finished;
    assert.equal(named.code, 0, named.stderr);
    const list = JSON.parse(
      (await workspace.cli('stories', '--json', '--file', 'x.jsonl').finished).stdout,
    );
    assert.equal(list.format, 'tasks');
    assert.equal(list.stories[1].state, 'waiting');
    // Its ids are those of ralph-orchestrator, but not its keys.
    await mkdir(path.join(workspace.folder, '.ralph/agent'), { recursive: true });
    await workspace.write(
      '.ralph/agent/tasks.jsonl',
      '{"id":"task-1737000000-ab12","title":"One","status":"open","priority":1,"blocked_by":[]}\n',
    );
    const other = ['convert', '.ralph/agent/tasks.jsonl', '--to', 'tasks', '--out', 'out/ro.jsonl'];
    const ofOther = await workspace.cli(...other, '--yes').finished;
    assert.equal(ofOther.code, 0, ofOther.stderr);
    const odd = 'a\u001b[31m\nb.jsonl';
    const { stdout } = await workspace.cli('convert', '--to', 'tasks', '--out', odd).finished;
    assert.match(stdout, /^Wrote 2 stories of .* to .*a b\.jsonl\.\n.*\n$/);
    assert.ok(!stdout.includes('\u001b'));
  });

  test('says how its own command line names a file in a folder', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    for (const folder of ['specs/001-a', 'specs/002-b', 'backlog/tasks']) {
      await mkdir(path.join(workspace.folder, folder), { recursive: true });
    }
    await workspace.write('specs/001-a/tasks.md', '- [ ] T001 One\n');
    await workspace.write('specs/002-b/tasks.md', '- [ ] T001 Two\n');
    const told = async (...from: string[]) =>
      (await workspace.cli('convert', ...from, '--to', 'yaml').finished).stderr;
    assert.match(
      await told('specs/001-a'),
      /Name the file in it: ralph-fresh convert specs.001-a.tasks\.md --to yaml$/m,
    );
    assert.match(await told(), /such as ralph-fresh convert specs.001-a.tasks\.md --to yaml\.$/m);
    const task = 'backlog/tasks/task-1 - First.md';
    await workspace.write(task, '---\nid: task-1\ntitle: First\n---\n');
    assert.match(await told(task), /Name the folder: ralph-fresh convert backlog --to yaml$/m);
    await workspace.write('notes.md', '# Notes\n');
    for (const from of ['specs', 'notes.md', 'nope']) {
      assert.doesNotMatch(await told(from), /--file/);
    }
    const none = await Workspace.create(t, { stories: undefined });
    const { stderr } = await none.cli('convert', '--to', 'prd').finished;
    assert.match(stderr, /or name yours with ralph-fresh convert FILE --to prd\.$/m);
  });

  test('names the missing source before a file that is in the way', async t => {
    const workspace = await Workspace.create(t);
    await workspace.write('IMPLEMENTATION_PLAN.md', '- [ ] Mine\n');
    const { code, stderr } = await workspace.cli('convert', 'nope', '--to', 'plan').finished;
    assert.equal(code, 1);
    assert.match(stderr, /^ralph-fresh: There is no story file at .*nope\./);
  });
});
