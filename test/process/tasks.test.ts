import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { link, mkdir, readdir, symlink, utimes } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { openStories, Workspace } from '../support/ralph.ts';

const FULL_DISK = pathToFileURL(path.resolve(import.meta.dirname, '../support/fullDisk.mjs')).href;
const GRAPH = '.ralph/tasks.jsonl';
const KILL_AT_RENAME = pathToFileURL(
  path.resolve(import.meta.dirname, '../support/killAtRename.mjs'),
).href;

describe('the task graph', { concurrency: 2 }, () => {
  test('is imported from a prd.json, found by a run, and compacted with nothing lost', async t => {
    const [first, second] = openStories(2);
    const stories = [
      { ...first, id: 'US-001', title: 'First', passes: true, note: { kept: 1 } },
      { ...second, id: 'US-002', title: 'Second', passes: false, dependsOn: ['US-001'] },
    ];
    const workspace = await Workspace.create(t, { stories: undefined });
    const prd = `${JSON.stringify({ project: 'todo', userStories: stories }, null, 4)}\n`;
    await mkdir(path.join(workspace.folder, 'plans'));
    await workspace.write('plans/old.json', prd);
    const shown = await workspace.cli('tasks', 'import', 'plans/old.json', '--dry-run').finished;
    assert.equal(shown.code, 0, shown.stderr);
    assert.ok(!existsSync(path.join(workspace.folder, GRAPH)));
    const imported = await workspace.cli('tasks', 'import', 'plans/old.json', '--json').finished;
    assert.equal(imported.code, 0, imported.stderr);
    assert.deepEqual(JSON.parse(imported.stdout).imported, ['US-001', 'US-002']);
    assert.equal(imported.stderr, '');
    assert.equal(await workspace.read('plans/old.json'), prd);
    assert.match(await workspace.read(GRAPH), /"note":\{"kept": 1\},.*"status":"done"/);
    assert.match(await workspace.read('.ralph/context.json'), /"compactionLevel": 0/);
    const again = await workspace.cli('tasks', 'import', 'plans/old.json').finished;
    assert.equal(again.code, 1);
    assert.match(again.stderr, /has tasks with these ids already: US-001, US-002/);

    assert.match((await workspace.cli('next').finished).stdout, /^US-002/);
    const before = await workspace.read(GRAPH);
    assert.equal((await workspace.cli('tick', 'US-002').finished).code, 0);
    assert.equal(await workspace.read(GRAPH), before.replace('"ready"', '"done"'));
    const extra = '{"id":"T-3","title":"Third","status":"ready","blockedBy":["US-001","US-002"]}\n';
    const whole = (await workspace.read(GRAPH)) + extra;
    await workspace.write(GRAPH, whole);
    const would = await workspace.cli('tasks', 'compact', '--keep', '1', '--dry-run').finished;
    assert.match(would.stdout, /^Would move 1 finished task from.*\n {2}US-001 {2}First/);
    assert.equal(await workspace.read(GRAPH), whole);
    const made = await workspace.cli('tasks', 'compact', '--keep', '1', '--json').finished;
    assert.equal(made.code, 0, made.stderr);
    const { archive, compacted } = JSON.parse(made.stdout);
    assert.deepEqual(compacted, ['US-001']);
    const left = await workspace.read(GRAPH);
    for (const line of whole.trim().split('\n')) {
      assert.ok(left.includes(line) !== (await workspace.read(archive)).includes(line), line);
    }
    assert.match(
      await workspace.read('.ralph/compaction.log'),
      /Compacted 1 finished task .*US-001 First/,
    );
    assert.match(await workspace.read('.ralph/context.json'), /"compactionLevel": 1/);
    // Its blocker is in the archive.
    assert.match((await workspace.cli('next').finished).stdout, /^T-3/);
    assert.match((await workspace.cli('tasks', 'compact').finished).stdout, /^Nothing to compact/);
  });

  test('an import says what is not read, and which file a run takes', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const [story] = openStories(1);
    const prd = (blockedBy: string[]) =>
      JSON.stringify({ userStories: [{ ...story, blockedBy }], epics: { E1: {} } });
    await mkdir(path.join(workspace.folder, 'plans'));
    await workspace.write('plans/old.json', prd(['gone']));
    const found = await workspace.cli('tasks', 'import', 'plans/old.json').finished;
    assert.match(found.stderr, /^ralph-fresh: \S*old\.json: Line 1: .*waits for gone/m);
    assert.match(found.stderr, /^ralph-fresh: \S*old\.json: Line 1: Epics are only read/m);
    assert.match(found.stdout, /^Imported 1 task \(done: 0\) into \S+ \S+ stays as it is\.\n$/);
    await workspace.write('prd.json', prd(Array.from({ length: 7 }, (_, n) => `gone ${n}`)));
    const other = await workspace.cli('tasks', 'import', '--file', 'more.jsonl').finished;
    assert.equal(other.code, 0, other.stderr);
    assert.match(
      other.stdout,
      /While prd\.json is there, a run takes that: name the graph with --file more\.jsonl$/m,
    );
    const folder = await workspace.cli('tasks', 'import', 'plans').finished;
    assert.match(folder.stderr, /plans is a folder\. Name the prd\.json to import\.$/m);
    if (process.platform === 'linux') {
      const nowhere = await workspace.cli('tasks', 'import', '--file', '/proc/no/tasks.jsonl')
        .finished;
      assert.match(nowhere.stderr, /^ralph-fresh: There is no place for a folder at \/proc\/no /);
    }
  });

  test('is not compacted on a full disk, and no copy stays in the archive', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const graph = ['T-1', 'T-2']
      .map(id => `{"id":"${id}","title":"${id}","status":"done"}\n`)
      .join('');
    await mkdir(path.join(workspace.folder, '.ralph'));
    await workspace.write(GRAPH, graph);
    const env = { NODE_OPTIONS: `--import=${FULL_DISK}`, FULL_DISK_OF: 'ralph-fresh.tmp$' };
    const compact = workspace.cliWith(env, 'tasks', 'compact', '--keep', '1');
    const { code, stderr } = await compact.finished;
    assert.equal(code, 1);
    assert.match(stderr, /^ralph-fresh: No space is left on the disk \(ENOSPC\)[^\n]*\n$/);
    assert.equal(await workspace.read(GRAPH), graph);
    assert.deepEqual(await readdir(path.join(workspace.folder, '.omc/archive')), []);
  });

  test('is made from another list by convert, and no advice leads in circles', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    await workspace.write('PLAN.md', '- [ ] T001 Dig\n');
    const from = await workspace.cli('tasks', 'import').finished;
    assert.match(
      from.stderr,
      /PLAN\.md is not a prd\.json.*: ralph-fresh convert \S*PLAN\.md --to tasks$/m,
    );
    assert.match(
      (await workspace.cli('tasks', 'compact').finished).stderr,
      /no task graph at .*ralph-fresh convert FILE --to tasks/,
    );
    await mkdir(path.join(workspace.folder, '.ralph'), { recursive: true });
    await workspace.write(GRAPH, '{"id":"t-1","title":"Dig","status":"ready"}\n');
    assert.match(
      (await workspace.cli('tasks', 'import', GRAPH).finished).stderr,
      /tasks\.jsonl is already a task graph/,
    );
  });

  test('is never mistaken for the file that is imported, nor for a file of another tool', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const prd = `${JSON.stringify({ userStories: openStories(1) })}\n`;
    const issue = '{"id":"bd-1","title":"Done","status":"closed","issue_type":"task"}\n';
    const issues = `${issue}${issue.replace('bd-1', 'bd-2')}`;
    await mkdir(path.join(workspace.folder, '.beads'));
    await workspace.write('prd.json', prd);
    await workspace.write('.beads/issues.jsonl', issues);
    await workspace.write('other.json', prd);
    await workspace.write('notes.jsonl', issues);
    await symlink('prd.json', path.join(workspace.folder, 'tasks.jsonl'));
    await link(path.join(workspace.folder, 'prd.json'), path.join(workspace.folder, 'hard.jsonl'));
    for (const [graph, why] of [
      ['prd.json', /prd\.json is the file to import, .* --file \.ralph\/tasks\.jsonl/],
      ['tasks.jsonl', /tasks\.jsonl is the file to import/],
      ['hard.jsonl', /hard\.jsonl is the file to import/],
      ['other.json', /other\.json is not a task graph, so it was left as it is/],
      ['new.json', /new\.json is not a task graph/],
      ['.beads/issues.jsonl', /issues\.jsonl is not a task graph/],
      ['notes.jsonl', /notes\.jsonl is not a task graph/],
    ] as const) {
      const { code, stderr } = await workspace.cli('tasks', 'import', 'prd.json', '--file', graph)
        .finished;
      assert.equal(code, 1, graph);
      assert.match(stderr, why);
    }
    for (const graph of ['.beads/issues.jsonl', 'notes.jsonl', 'prd.json']) {
      const compact = ['tasks', 'compact', '--keep', '1', '--file', graph] as const;
      const { code, stderr } = await workspace.cli(...compact).finished;
      assert.equal(code, 1, graph);
      assert.match(stderr, /is not a task graph, so it was left as it is/);
    }
    assert.equal(await workspace.read('prd.json'), prd);
    assert.equal(await workspace.read('other.json'), prd);
    assert.equal(await workspace.read('.beads/issues.jsonl'), issues);
    assert.equal(await workspace.read('notes.jsonl'), issues);
    assert.ok(!existsSync(path.join(workspace.folder, 'new.json')));
  });

  test('keeps the dependencies of imported stories, whatever the name of the file', async t => {
    const [first, second, third] = openStories(3);
    const workspace = await Workspace.create(t, { stories: undefined });
    const stories = [
      { ...first, id: 'A', passes: true },
      { ...second, id: 'B', passes: true },
      { ...third, id: 'C', passes: false, dependsOn: ['A', 'D'] },
      { ...first, id: 'D', passes: false },
    ];
    const own = JSON.stringify({ userStories: stories });
    const text = own.replace('"id":"D"', '"__proto__":{"kept":1},"id":"D"');
    await workspace.write('plan.json', text);
    const imported = await workspace.cli('tasks', 'import', 'plan.json', '--file', 'g.jsonl')
      .finished;
    assert.equal(imported.code, 0, imported.stderr);
    assert.match(await workspace.read('g.jsonl'), /"__proto__":\{"kept":1\}/);
    const read = async () => {
      const { stdout } = await workspace.cli('stories', '--json', '--file', 'g.jsonl').finished;
      return JSON.parse(stdout);
    };
    const before = await read();
    assert.equal(before.format, 'tasks');
    assert.match((await workspace.cli('next', '--file', 'g.jsonl').finished).stdout, /^D/);
    const compact = ['tasks', 'compact', '--keep', '1', '--file', 'g.jsonl'] as const;
    const compacted = await workspace.cli(...compact).finished;
    assert.equal(compacted.code, 0, compacted.stderr);
    const after = await read();
    assert.equal(after.format, 'tasks');
    assert.deepEqual(
      after.stories.map(({ id }: { id: string }) => id),
      ['B', 'C', 'D'],
    );
    assert.match((await workspace.cli('next', '--file', 'g.jsonl').finished).stdout, /^D/);
  });

  test('is refused if it is not a regular file', async t => {
    const workspace = await Workspace.create(t);
    await mkdir(path.join(workspace.folder, 'folder.jsonl'));
    execFileSync('mkfifo', [path.join(workspace.folder, 'pipe.jsonl')]);
    for (const [graph, why] of [
      ['folder.jsonl', /folder\.jsonl is a folder\. Name a file\.$/m],
      ['pipe.jsonl', /pipe\.jsonl is not a file\. Name another one\.$/m],
      [`${'x'.repeat(300)}.jsonl`, /^ralph-fresh: The name of .* is too long\. .*$/m],
      [
        '.omc/prd.json/x.jsonl',
        /^ralph-fresh: There is no folder at .*prd\.json, where one is needed\./m,
      ],
    ] as const) {
      const { code, stderr } = await workspace.cli('tasks', 'import', '--file', graph).finished;
      assert.equal(code, 1, graph);
      assert.match(stderr, why);
      assert.equal(stderr.trim().split('\n').length, 1);
    }
  });

  test('a compaction that was killed leaves nothing behind after the next one, which does all of it', {
    skip: process.platform === 'win32' && 'Windows has no such signal',
  }, async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const dir = path.join(workspace.folder, '.ralph');
    await mkdir(dir);
    const lines = ['A', 'B', 'C'].map(id => `{"id":"T-${id}","title":"${id}","status":"done"}\n`);
    await workspace.write(GRAPH, lines.join(''));
    const compactedWith = async (keep: string, env: Readonly<Record<string, string>> = {}) =>
      workspace.cliWith(env, 'tasks', 'compact', '--keep', keep).finished;
    for (const [keep, file] of [
      ['2', 'tasks.jsonl'],
      ['1', 'context.json'],
    ] as const) {
      const killed = await compactedWith(keep, {
        NODE_OPTIONS: `--import=${KILL_AT_RENAME}`,
        KILL_AT_RENAME: file,
      });
      assert.equal(killed.signal, 'SIGKILL');
      const left = (await readdir(dir)).filter(name => name.endsWith('.tmp'));
      assert.equal(left.length, 1, file);
      // Its process has ended long ago.
      await utimes(path.join(dir, left[0] ?? ''), new Date(0), new Date(0));
      const { code, stderr } = await compactedWith(keep);
      assert.equal(code, 0, stderr);
    }
    await workspace.write(
      GRAPH,
      `${await workspace.read(GRAPH)}${lines[0]?.replace('T-A', 'T-D')}`,
    );
    assert.equal((await compactedWith('1')).code, 0);
    assert.deepEqual((await readdir(dir)).sort(), [
      'compaction.log',
      'context.json',
      'tasks.jsonl',
    ]);
  });

  test('a whole run works on it, and it cannot be compacted meanwhile', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    await mkdir(path.join(workspace.folder, '.ralph'));
    const lines = ['A', 'B'].map(id => `{"id":"T-${id}","title":"${id}","status":"ready"}\n`);
    await workspace.write(GRAPH, lines.join(''));
    const tick = (story: string) => [
      { shell: `sed -i '/T-${story}/s/ready/done/' ${GRAPH}` },
      { commit: `feat: ${story}` },
      { result: [`T-${story} is done.`, {}] as const },
    ];
    const run = workspace.script([[{ wait: 'go' }, ...tick('A')], tick('B')]);
    await workspace.event('agent.started');
    const refused = await workspace.cli('tasks', 'compact').finished;
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /already active/);
    await workspace.note('go');
    const { code, stderr } = await run.finished;
    assert.equal(code, 0, stderr);
    assert.equal(await workspace.read(GRAPH), lines.join('').replaceAll('ready', 'done'));
  });
});
