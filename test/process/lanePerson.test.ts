import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { gitThat, openStories, type Step, until, Workspace } from '../support/ralph.ts';
import { inAll } from '../support/variants.ts';

const posix = { skip: process.platform === 'win32' && 'a script stands in for git' };
const STORIES = 20;
const ids = openStories(STORIES).map(({ id }) => id);

/** Each story has a file of its own, and every fifth one also changes a line of a shared file. */
function works(id: string, index: number): readonly Step[] {
  return [
    { write: [`${id}.txt`, id] },
    ...(index % 5 === 0
      ? [{ shell: `sed -i 's/^line ${index}$/line ${index} of ${id}/' shared.txt` }]
      : []),
    { tick: id },
    { commit: `feat: ${id}` },
    { result: [`${id} is done.`] },
  ];
}

test('nothing is lost if a person edits, stages, commits, switches, amends and rebases during a run', async t => {
  const workspace = await Workspace.create(t, { stories: openStories(STORIES) });
  const shared = Array.from({ length: STORIES }, (_, line) => `line ${line}`).join('\n\n\n');
  await workspace.write('shared.txt', `${shared}\n`);
  await workspace.write('notes.md', 'first\n');
  workspace.git('add', '-A');
  workspace.git('commit', '--quiet', '-m', 'Files of the project');
  const start = workspace.git('rev-parse', 'HEAD');
  const run = workspace.scriptOf(
    Object.fromEntries(ids.map((id, index) => [id, [works(id, index)]])),
    ...['--lanes', '4', '--max-iterations', '60', '--verify', 'test -f shared.txt'],
  );

  /** A person repeats what git refuses because the loop is moving the branch at the same moment. */
  const git = (...args: readonly string[]) =>
    until(`git ${args.join(' ')}`, () => {
      try {
        return workspace.git(...args) || 'done';
      } catch (error) {
        // Ticks of the list, made in the middle of a switch or a rebase, make git refuse as well.
        if (
          /lock|cannot lock ref|would be overwritten by checkout:\s+\.omc\/prd\.json/.test(
            String(error),
          )
        ) {
          return undefined;
        }
        throw error;
      }
    });
  const commits: string[] = [];
  const commit = async (file: string, text: string, ...args: readonly string[]) => {
    await workspace.write(file, text);
    await git('add', file);
    await git('commit', '--quiet', '-m', `Mine: ${file}`, ...args);
    commits.push(workspace.git('rev-parse', 'HEAD'));
  };
  const landed = async () => (await workspace.events('landing.landed')).length;
  const nextLanding = async () => {
    const before = await landed();
    await until('a landing', async () => (await landed()) > before || run.child.exitCode !== null);
  };
  const actions: readonly (() => Promise<unknown>)[] = [
    () => workspace.write('draft.txt', 'not committed\n'),
    () => workspace.write('notes.md', 'first\nchanged, not committed\n'),
    async () => git('add', 'notes.md'),
    async () => git('commit', '--quiet', '-m', 'Mine: notes'),
    () => commit('own-1.txt', '1'),
    async () => git('switch', '--quiet', '--create', 'side'),
    () => commit('side.txt', 'side'),
    () => commit('side-2.txt', 'side'),
    // The ticks in the list are local changes on this branch, which the other branch has.
    async () => git('switch', '--quiet', '--merge', 'main'),
    () => commit('own-2.txt', '2'),
    async () => {
      await git('switch', '--quiet', '--merge', 'side');
      await git('rebase', '--quiet', '--autostash', 'main');
      await git('switch', '--quiet', '--merge', 'main');
    },
    // The last commit may be one that has landed: then its work must still be there.
    async () => git('commit', '--quiet', '--amend', '--no-edit', '--allow-empty'),
  ];
  for (const action of actions) {
    await nextLanding();
    await action();
  }
  const { code, stderr, stdout } = await run.finished;
  assert.equal(code, 0, stderr + stdout.slice(-3_000));

  assert.deepEqual(await workspace.done(), ids);
  assert.equal(workspace.git('branch', '--show-current'), 'main');
  const stories = (await workspace.events('landing.landed')).map(({ storyId }) => storyId);
  assert.deepEqual([...stories].sort(), [...ids].sort(), 'each story lands once');
  // What the person made, and what the agents made, is on the branch.
  const files = workspace.git('ls-tree', '-r', '--name-only', 'main').split('\n');
  for (const file of [...ids.map(id => `${id}.txt`), 'own-1.txt', 'own-2.txt', 'notes.md']) {
    assert.ok(files.includes(file), file);
  }
  const text = workspace.git('show', 'main:shared.txt');
  for (const [index, id] of ids.entries()) {
    assert.equal(text.includes(`line ${index} of ${id}`), index % 5 === 0);
  }
  assert.match(workspace.git('show', 'main:notes.md'), /changed, not committed/);
  assert.equal(workspace.git('ls-tree', '-r', '--name-only', 'side').includes('side-2.txt'), true);
  assert.equal(await workspace.read('draft.txt'), 'not committed\n');
  assert.equal(workspace.git('status', '--short'), '?? draft.txt');
  // Every commit on the way is green.
  const fresh = `${workspace.folder}-fresh`;
  t.after(() => rm(fresh, { recursive: true, force: true }));
  workspace.git('clone', '--quiet', workspace.folder, fresh);
  for (const hash of workspace.git('rev-list', '--first-parent', `${start}..main`).split('\n')) {
    execFileSync('git', ['checkout', '--quiet', hash], { cwd: fresh, env: workspace.env });
    execFileSync('test', ['-f', path.join(fresh, 'shared.txt')]);
  }
});

/** The work of an agent on an item of `tasks.md`. */
const item = (title: string): readonly Step[] => [
  { write: [`${title}.txt`, title] },
  { shell: `sed -i 's/^- \\[ \\] ${title}$/- [x] ${title}/' tasks.md` },
  { commit: `feat: ${title}` },
  { result: [`${title} is done.`] },
];

test('each item without an id is done once and ticked correctly, even if it moves while agents work', async t => {
  for (const isCommitted of [true, false]) {
    const workspace = await Workspace.create(t, { stories: [] });
    await workspace.write('tasks.md', '# Tasks\n\n- [ ] Alpha\n- [ ] Beta\n');
    workspace.git('add', '-A');
    workspace.git('commit', '--quiet', '-m', 'Tasks');
    const run = workspace.scriptOf(
      {
        '#1': [[{ text: 'hi' }, { wait: 'go' }, ...item('Alpha')], item('New')],
        '#2': [[{ text: 'hi' }, { wait: 'go' }, ...item('Beta')]],
      },
      ...['--file', 'tasks.md', '--lanes', '2', '--verify', 'true', '--max-iterations', '8'],
    );
    await workspace.agent(2);
    await workspace.write('tasks.md', '# Tasks\n\n- [ ] New\n- [ ] Alpha\n- [ ] Beta\n');
    if (isCommitted) {
      workspace.git('commit', '--quiet', '--all', '-m', 'A new task');
    }
    await workspace.note('go');
    const { code, stderr, stdout } = await run.finished;
    assert.equal(code, 0, stderr + stdout.slice(-3_000));

    assert.equal((await workspace.events('landing.landed')).length, 3);
    assert.equal(
      (await workspace.events('story.changed')).filter(e => e.by === 'outside').length,
      0,
    );
    assert.equal(
      await workspace.read('tasks.md'),
      '# Tasks\n\n- [x] New\n- [x] Alpha\n- [x] Beta\n',
    );
    assert.deepEqual(
      (await workspace.events('iteration.started')).map(({ storyTitle }) => storyTitle).sort(),
      ['Alpha', 'Beta', 'New'],
    );
  }
});

test('a run with lanes refuses to start and names two stories with the same id', async t => {
  const [one, two] = openStories(2);
  assert.ok(one && two);
  const workspace = await Workspace.create(t, { stories: [one, { ...two, id: one.id }] });
  const { code, stderr } = await workspace.scriptOf({}, '--lanes', '2').finished;
  assert.equal(code, 1);
  assert.match(stderr, /Several stories have the id US-001, .* or work with one lane\./);
  assert.equal((await workspace.runIds()).length, 0);
});

test('two stories get the same id while agents work: the run waits, says why, and continues once this is fixed', async t => {
  const workspace = await Workspace.create(t, { stories: openStories(3) });
  const run = workspace.scriptOf(
    {
      'US-001': [[{ text: 'hi' }, { wait: 'go' }, ...works('US-001', 1)]],
      'US-002': [[{ text: 'hi' }, { wait: 'go' }, ...works('US-002', 2)]],
    },
    ...['--lanes', '2', '--verify', 'true'],
  );
  await workspace.agent(2);
  const right = await workspace.read('.omc/prd.json');
  await workspace.write('.omc/prd.json', right.replace('"US-002"', '"US-001"'));
  await until('the warning', async () =>
    (await workspace.events('warning')).some(({ code }) => code === 'sameIds'),
  );
  await workspace.write('.omc/prd.json', right);
  await workspace.note('go');
  const { code, stderr, stdout } = await run.finished;
  assert.equal(code, 0, stderr + stdout.slice(-3_000));
  assert.match(stdout, /No further agent starts until .*Several stories have the id US-001/);
  assert.deepEqual(await workspace.done(), ['US-001', 'US-002', 'US-003']);
});

inAll(test)(
  'two stories that still have the same id when no agent works any more end the run',
  async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const run = workspace.scriptOf(
      {
        'US-001': [[{ text: 'hi' }, { wait: 'go' }, ...works('US-001', 1)]],
        'US-002': [[{ text: 'hi' }, { wait: 'go' }, ...works('US-002', 2)]],
      },
      ...['--lanes', '2', '--verify', 'true'],
    );
    await workspace.agent(2);
    const right = await workspace.read('.omc/prd.json');
    await workspace.write('.omc/prd.json', right.replace('"US-003"', '"US-001"'));
    await workspace.note('go');
    const { code } = await run.finished;
    assert.equal(code, 1);
    const [end] = await workspace.events('run.ended');
    assert.match(JSON.stringify(end?.['detail']), /Several stories have the id/);
    assert.equal((await workspace.events('iteration.started')).length, 2);
  },
);

test('commits that a person removes from the history during a run do not come back', async t => {
  const workspace = await Workspace.create(t, { stories: openStories(2) });
  await workspace.write('secret.txt', 'password');
  workspace.git('add', '-A');
  workspace.git('commit', '--quiet', '-m', 'A secret by mistake');
  const run = workspace.scriptOf(
    {
      'US-001': [[{ text: 'hi' }, { wait: 'go' }, ...works('US-001', 1)]],
      // Its first agent does not finish; the second one continues after the secret has gone.
      'US-002': [
        [{ text: 'hi' }, { wait: 'go' }, { write: ['half.txt', 'half'] }, { commit: 'feat: half' }],
        works('US-002', 2),
      ],
    },
    ...['--lanes', '2', '--verify', 'true', '--max-iterations', '6'],
  );
  await workspace.agent(2);
  workspace.git('rm', '--quiet', 'secret.txt');
  workspace.git('commit', '--quiet', '--amend', '--allow-empty', '-m', 'Nothing to see here');
  await workspace.note('go');
  const { code, stderr, stdout } = await run.finished;
  assert.equal(code, 0, stderr + stdout.slice(-3_000));
  assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
  const files = workspace.git('log', '--format=', '--name-only', 'main').split('\n');
  assert.ok(files.includes('half.txt') && files.includes('US-001.txt'));
  assert.ok(!files.includes('secret.txt'));
  assert.equal((await workspace.events('landing.returned')).length, 0);
});

test('a landed story is worked on again if a person reverts it, also just before the end, or removes it from the history', async t => {
  for (const how of ['commit', 'reset', 'file'] as const) {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const run = workspace.scriptOf(
      {
        'US-001': [works('US-001', 1), [{ write: ['again.txt', 'again'] }, ...works('US-001', 1)]],
        'US-002': [[{ text: 'hi' }, { wait: 'go' }, ...works('US-002', 2)]],
      },
      ...['--isolate', '--verify', 'true', '--max-iterations', '8'],
    );
    await workspace.agent(2);
    if (how === 'reset') {
      workspace.git('reset', '--quiet', '--hard', 'HEAD~1');
    } else {
      const list = await workspace.read('.omc/prd.json');
      await workspace.write('.omc/prd.json', list.replace('"passes": true', '"passes": false'));
      if (how === 'commit') {
        workspace.git('commit', '--quiet', '--all', '-m', 'Not good enough');
      }
    }
    await workspace.note('go');
    const { code, stderr, stdout } = await run.finished;
    assert.equal(code, 0, stderr + stdout.slice(-3_000));
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
    assert.equal(workspace.git('show', 'main:again.txt'), 'again');
    assert.doesNotMatch(stdout, /is missing from/);
    assert.equal(
      (await workspace.events('landing.landed')).filter(e => e.storyId === 'US-001').length,
      2,
    );
  }
});

/** Sets a story to not done when git is first asked for something after the landing of `landed` is told. */
async function unticksAfter(workspace: Workspace, landed: string, id: string): Promise<() => void> {
  const once = path.join(workspace.notesDir, 'once');
  const list = path.join(workspace.folder, '.omc', 'prd.json');
  const env = await gitThat(
    workspace,
    [
      `[ ! -e '${once}' ] && grep -qs '"landing.landed".*"${landed}"' '${workspace.files.runsDir}'/*/journal.jsonl`,
      `sed '/${id}/,$ s/"passes": true/"passes": false/' '${list}' > '${once}'`,
      `cat '${once}' > '${list}'`,
    ].join(' && '),
  );
  Object.assign(workspace.env, env);
  return () => assert.ok(existsSync(once));
}

test(
  'a story that a person sets to not done in the moment in which it lands is worked on again',
  posix,
  async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    // Before the folder gets the rest.
    const hasUnticked = await unticksAfter(workspace, 'US-001', 'US-001');
    const run = workspace.scriptOf(
      {
        'US-001': [works('US-001', 1), [{ write: ['again.txt', 'again'] }, ...works('US-001', 1)]],
      },
      ...['--isolate', '--max-iterations', '4'],
    );
    const { code, stderr, stdout } = await run.finished;
    assert.equal(code, 0, stderr + stdout.slice(-3_000));
    hasUnticked();
    assert.equal((await workspace.events('landing.landed')).length, 2);
    assert.equal(workspace.git('show', 'main:again.txt'), 'again');
  },
);

test(
  'so is one that lands with others, while those before it in the stack are told',
  posix,
  async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const hasUnticked = await unticksAfter(workspace, 'US-002', 'US-003');
    // The first one is checked until the others wait together.
    const check = `while test ! -f '${path.join(workspace.notesDir, 'all')}'; do sleep 0.05; done`;
    const run = workspace.scriptOf(
      {
        'US-001': [works('US-001', 1)],
        'US-002': [[{ wait: 'second' }, ...works('US-002', 2)]],
        'US-003': [
          [{ wait: 'third' }, ...works('US-003', 3)],
          [{ write: ['again.txt', 'again'] }, ...works('US-003', 3)],
        ],
      },
      ...['--lanes', '3', '--land-batch', '2', '--verify', check, '--max-iterations', '8'],
    );
    for (const [count, note] of ['second', 'third', 'all'].entries()) {
      await until(`queued before ${note}`, async () => {
        const queued = await workspace.events('landing.queued');
        return queued.length > count;
      });
      await (count === 0 ? workspace.event('check.started') : undefined);
      await workspace.note(note);
    }
    const { code, stderr, stdout } = await run.finished;
    assert.equal(code, 0, stderr + stdout.slice(-3_000));
    hasUnticked();
    assert.equal((await workspace.events('stack.checked')).length, 1);
    const landed = (await workspace.events('landing.landed')).map(({ storyId }) => storyId);
    assert.deepEqual(landed, ['US-001', 'US-002', 'US-003', 'US-003']);
    assert.equal(workspace.git('show', 'main:again.txt'), 'again');
  },
);

test('a story that a person adds without a commit is ticked there, and nothing is said to be missing', async t => {
  const workspace = await Workspace.create(t, { stories: openStories(1) });
  const [, added] = openStories(2);
  const run = workspace.scriptOf(
    { 'US-001': [[{ text: 'hi' }, { wait: 'go' }, ...works('US-001', 1)]] },
    ...['--isolate', '--max-iterations', '4'],
  );
  await workspace.agent(1);
  const list = JSON.parse(await workspace.read('.omc/prd.json'));
  list.userStories.push(added);
  await workspace.write('.omc/prd.json', `${JSON.stringify(list, null, 2)}\n`);
  await workspace.note('go');
  const { code, stderr, stdout } = await run.finished;
  assert.equal(code, 0, stderr + stdout.slice(-3_000));
  assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
  assert.doesNotMatch(stdout, /could not be ticked/);
  assert.match(workspace.git('status', '--short'), /^ ?M .omc.prd.json$/);
});

test("agents' notes are also written to a progress log that is a link within the repository", async t => {
  const workspace = await Workspace.create(t, { stories: openStories(1) });
  await workspace.write('LOG.md', '# Log\n');
  await symlink('../LOG.md', path.join(workspace.folder, '.omc', 'progress.txt'));
  workspace.git('add', '-A');
  workspace.git('commit', '--quiet', '-m', 'A log');
  const note = { shell: 'printf "\\n## US-001\\n- learned\\n" >> .omc/progress.txt' };
  const { code, stderr, stdout } = await workspace.scriptOf(
    { 'US-001': [[note, ...works('US-001', 1)]] },
    '--isolate',
  ).finished;
  assert.equal(code, 0, stderr + stdout.slice(-3_000));
  assert.match(workspace.git('show', 'main:LOG.md'), /^# Log\n\n## US-001\n- learned$/);
  assert.equal(workspace.git('status', '--short'), '');
  assert.equal(workspace.git('ls-tree', 'main', '.omc/progress.txt').split(' ')[0], '120000');
});

test('an agent that replaces the progress log with something else is reported', async t => {
  const workspace = await Workspace.create(t, { stories: openStories(1) });
  const other = { shell: 'rm -f .omc/progress.txt; mkdir .omc/progress.txt' };
  const { code, stderr, stdout } = await workspace.scriptOf(
    { 'US-001': [[other, ...works('US-001', 1)]] },
    '--isolate',
  ).finished;
  assert.equal(code, 0, stderr + stdout.slice(-3_000));
  assert.match(stdout, /The new entries of progress\.txt could not be written: .* is not a file/);
});
