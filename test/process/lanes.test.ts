import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { gitThat, isAlive, openStories, type Step, until, Workspace } from '../support/ralph.ts';
import { failed, verdict } from '../support/scenarioSteps.ts';
import { inAll, variants } from '../support/variants.ts';

/** A correct agent that writes this file. */
const writes = (story: string, file: string, content: string): readonly Step[] => [
  { write: [file, content] },
  { tick: story },
  { commit: `feat: ${story}` },
  { result: [`${story} is done.`] },
];
const four = (a: string, b: string): string => `${a}\n\n\n\n${b}\n`;
const subjects = (workspace: Workspace, ...args: readonly string[]) =>
  workspace.git('log', '--first-parent', '--format=%s', ...args).split('\n');
const outcomes = async (workspace: Workspace) =>
  (await workspace.events('iteration.ended')).map(({ outcome }) => outcome);
/** Commits something before the run. */
const committed = async (workspace: Workspace, files: Readonly<Record<string, string>>) => {
  for (const [file, content] of Object.entries(files)) {
    await workspace.write(file, content);
  }
  workspace.git('add', '-A');
  workspace.git('commit', '--quiet', '-m', 'Files of the project');
};

/** Starts a run whose branch cannot follow, as a local change is in the way; a second agent waits for the note `go`. */
async function heldBack(workspace: Workspace) {
  await committed(workspace, { 'shared.txt': four('one', 'two') });
  await workspace.write('shared.txt', four('mine', 'two'));
  const run = workspace.scriptOf(
    {
      'US-001': [writes('US-001', 'shared.txt', four('one', 'agent'))],
      'US-002': [[{ wait: 'go' }, { result: ['More to do.'] }]],
    },
    ...['--lanes', '2', '--max-iterations', '2', '--verify', 'test -f shared.txt'],
  );
  await until('a branch that is held back', async () =>
    Boolean((await workspace.events('target.held'))[0]),
  );
  return run;
}

describe('lanes', () => {
  test('several agents work in parallel, and each story lands as a commit that names its origin', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(4) });
    const calls = Object.fromEntries(
      ['US-001', 'US-002', 'US-003'].map(id => [
        id,
        // All three are at work before the first one finishes.
        [[{ text: `at ${id}` }, { wait: 'go' }, 'work'] as Step[]],
      ]),
    );
    const run = workspace.scriptOf(calls, '--lanes', '3');
    await workspace.agent(3);
    await workspace.note('go');
    const { code, stdout, stderr } = await run.finished;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /COMPLETE after 4 iterations/);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002', 'US-003', 'US-004']);
    assert.equal(workspace.git('status', '--short'), '');
    assert.deepEqual(subjects(workspace).sort(), [
      'First commit',
      ...['US-001', 'US-002', 'US-003', 'US-004'].map(id => `feat: ${id}`),
    ]);
    const [landed] = await workspace.events('landing.landed');
    const message = workspace.git('log', '-1', '--format=%B', String(landed?.['commit']));
    assert.match(message, new RegExp(`^Ralph-Story: ${landed?.['storyId']}$`, 'm'));
    assert.match(message, /^Ralph-Iteration: \d$/m);
    const started = await workspace.events('iteration.started');
    assert.deepEqual(
      started
        .slice(0, 3)
        .map(({ lane }) => lane)
        .sort(),
      [1, 2, 3],
    );
  });

  test('of two stories that pass alone but fail together, the second one goes back', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const check = 'test ! -f a.txt || test ! -f b.txt || test -f both.txt';
    const run = workspace.scriptOf(
      {
        'US-001': [[{ wait: 'both' }, ...writes('US-001', 'a.txt', 'a')]],
        'US-002': [
          [{ wait: 'landed' }, ...writes('US-002', 'b.txt', 'b')],
          writes('US-002', 'both.txt', 'b'),
        ],
      },
      ...['--lanes', '2', '--verify', check],
    );
    await workspace.agent(2);
    await workspace.note('both');
    await workspace.event('landing.landed');
    await workspace.note('landed');
    const { code, stdout } = await run.finished;
    assert.equal(code, 0, stdout);
    const returned = await workspace.events('landing.returned');
    assert.deepEqual(
      returned.map(({ reason, storyId }) => [reason, storyId]),
      [['checks', 'US-002']],
    );
    // Its next agent continues with its own work, on top of the other story.
    assert.match(await workspace.prompt(3), /The Last Check Failed/);
    assert.ok(existsSync(path.join(workspace.folder, 'b.txt')));
    for (const commit of workspace.git('rev-list', '--first-parent', 'HEAD').split('\n')) {
      const files = workspace.git('ls-tree', '--name-only', commit).split('\n');
      const isRed =
        files.includes('a.txt') && files.includes('b.txt') && !files.includes('both.txt');
      assert.ok(!isRed, commit);
    }
  });

  test('a conflict goes back to a fresh agent, which learns what others did and what was tried', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await committed(workspace, { 'shared.txt': 'one\ntwo\nthree\n' });
    const run = workspace.scriptOf(
      {
        'US-001': [[{ wait: 'both' }, ...writes('US-001', 'shared.txt', 'one\nFIRST\nthree\n')]],
        'US-002': [
          [{ wait: 'landed' }, ...writes('US-002', 'shared.txt', 'one\nSECOND\nthree\n')],
          writes('US-002', 'shared.txt', 'one\nFIRST and SECOND\nthree\n'),
        ],
      },
      ...['--lanes', '2'],
    );
    await workspace.agent(2);
    await workspace.note('both');
    await workspace.event('landing.landed');
    await workspace.note('landed');
    const { code, stderr } = await run.finished;
    assert.equal(code, 0, stderr);
    const [returned] = await workspace.events('landing.returned');
    assert.deepEqual(
      [returned?.['reason'], returned?.['files'], returned?.['storyId']],
      ['conflict', ['shared.txt'], 'US-002'],
    );
    const prompt = await workspace.prompt(3);
    assert.match(prompt, /Earlier Work on This Story Did Not Fit/);
    assert.match(prompt, /\+FIRST/);
    assert.match(prompt, /\+SECOND/);
    assert.equal(await workspace.read('shared.txt'), 'one\nFIRST and SECOND\nthree\n');
    assert.deepEqual(await outcomes(workspace), ['storyDone', 'rejected', 'storyDone']);
    // The first attempt is still there.
    const kept = workspace.git('for-each-ref', '--format=%(objectname)', 'refs/ralph-fresh/work');
    assert.ok(kept.split('\n').includes(String(returned?.['head'])));
  });

  test('a work tree on another branch stays unchanged, except for the ticks', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await workspace.write(
      '.omc/prd.json',
      JSON.stringify({ branchName: 'ralph/lanes', userStories: openStories(2) }),
    );
    await committed(workspace, { 'mine.txt': 'one\n' });
    await workspace.write('mine.txt', 'changed\n');
    await workspace.write('staged.txt', 'staged\n');
    workspace.git('add', 'staged.txt');
    const { code, stderr } = await workspace.scriptOf({}, '--lanes', '2').finished;
    assert.equal(code, 0, stderr);
    assert.equal(workspace.git('branch', '--show-current'), 'main');
    assert.equal(
      workspace.git('status', '--short'),
      ' M .omc/prd.json\n M mine.txt\nA  staged.txt',
    );
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
    assert.equal(subjects(workspace, 'ralph/lanes').length, 4);
    assert.ok(!existsSync(path.join(workspace.folder, 'US-001.txt')));
  });

  test('local changes hold back the branch while landing continues; once they are gone it catches up', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await committed(workspace, { 'shared.txt': four('one', 'two') });
    await workspace.write('shared.txt', four('mine', 'two'));
    const first = workspace.scriptOf(
      { 'US-001': [writes('US-001', 'shared.txt', four('one', 'agent'))] },
      ...['--lanes', '2'],
    );
    const { code, stdout, stderr } = await first.finished;
    assert.equal(code, 1, stderr);
    assert.match(stdout, /COMPLETE after /);
    assert.match(
      stdout,
      /main follows as soon as these files are committed, stashed or moved away:/,
    );
    const [held] = await workspace.events('target.held');
    assert.deepEqual([held?.['reason'], held?.['files']], ['localChanges', ['shared.txt']]);
    assert.equal(await workspace.read('shared.txt'), four('mine', 'two'));
    assert.equal(subjects(workspace, String(held?.['ref'])).length, 4);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
    assert.match(workspace.git('status', '--short'), /^ M \.omc\/prd\.json\n M shared\.txt$/);
    const early = await workspace.scriptOf({}, '--lanes', '2', '--new').finished;
    assert.equal(early.code, 1);
    assert.match(
      early.stderr,
      /main does not have everything that has landed\..*shared\.txt.*: git merge --ff-only --no-overwrite-ignore --autostash refs\//s,
    );
    workspace.git('stash', 'push', '--quiet', 'shared.txt');
    const stories = JSON.parse(await workspace.read('.omc/prd.json'));
    assert.ok(stories);
    // The next run lets the branch follow before it does anything else.
    const second = await workspace.scriptOf({}, '--lanes', '2', '--new').finished;
    assert.equal(second.code, 0, second.stderr);
    const head = workspace.git('rev-parse', 'HEAD').slice(0, 7);
    assert.equal(second.stdout.split('\n')[0], `main now has what had landed (${head}).`);
    assert.equal(subjects(workspace).length, 4);
    assert.equal(workspace.git('status', '--short'), '');
    workspace.git('stash', 'pop', '--quiet');
    assert.equal(await workspace.read('shared.txt'), four('mine', 'agent'));
  });

  test('what a person commits on a branch that is held back is joined, also if nothing else lands', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const run = await heldBack(workspace);
    workspace.git('commit', '--quiet', '-m', 'Mine', 'shared.txt');
    await workspace.note('go');
    await run.finished;
    assert.equal((await workspace.events('target.followed')).length, 1, run.stdout + run.stderr);
    assert.equal(await workspace.read('shared.txt'), four('mine', 'agent'));
    assert.deepEqual(subjects(workspace).slice(0, 2), ['Merge what has landed into main', 'Mine']);
    assert.equal(workspace.git('for-each-ref', 'refs/ralph-fresh/landed'), '');
  });

  test('nobody is asked to merge by hand what a person commits in the moment in which the branch follows', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const moment = path.join(workspace.notesDir, 'moment');
    const env = await gitThat(
      workspace,
      `case "$*" in *ff-only*) rm '${moment}' 2>/dev/null && git commit --quiet -m Mine shared.txt ;; esac`,
    );
    Object.assign(workspace.env, env);
    const run = await heldBack(workspace);
    await writeFile(moment, '');
    await until('the join', async () => Boolean((await workspace.events('target.followed'))[0]));
    await workspace.note('go');
    await run.finished;
    const reasons = (await workspace.events('target.held')).map(({ reason }) => reason);
    assert.deepEqual(reasons, ['localChanges'], run.stdout + run.stderr);
    assert.deepEqual(subjects(workspace).slice(0, 2), ['Merge what has landed into main', 'Mine']);
  });

  test('with one agent at a time, each starts from what the last one has landed', async t => {
    const ids = ['US-001', 'US-002', 'US-003', 'US-004'];
    const workspace = await Workspace.create(t, { stories: openStories(ids.length) });
    const calls = ids.map(id => [
      id,
      [
        [
          { shell: `echo ${id} >> shared.txt` },
          { tick: id },
          { commit: `feat: ${id}` },
          { result: [`${id} is done.`] },
        ],
      ],
    ]);
    const { code, stdout } = await workspace.scriptOf(
      Object.fromEntries(calls),
      ...['--isolate', '--verify', 'sleep 0.5'],
    ).finished;
    assert.equal(code, 0, stdout);
    assert.deepEqual(
      await outcomes(workspace),
      ids.map(() => 'storyDone'),
      stdout,
    );
    assert.deepEqual(await workspace.events('landing.returned'), []);
    assert.equal(await workspace.read('shared.txt'), ids.map(id => `${id}\n`).join(''));
  });

  test('a join that git refuses is reported with its reason, and the run ends', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const refused = path.join(workspace.notesDir, 'refused');
    const env = await gitThat(
      workspace,
      `case "$*" in *merge-tree*) [ -e '${refused}' ] && { echo 'fatal: no memory' >&2; exit 128; } ;; esac`,
    );
    Object.assign(workspace.env, env);
    const run = await heldBack(workspace);
    await writeFile(refused, '');
    workspace.git('commit', '--quiet', '-m', 'Mine', 'shared.txt');
    await workspace.note('go');
    const { stderr, stdout } = await run.finished;
    const [, held] = await workspace.events('target.held');
    assert.equal(held?.reason, 'refused', stdout + stderr);
    assert.match(stdout, /git cannot bring landed work into the branch main: fatal: no memory/);
  });

  test('before a merge by hand, files are named that git would overwrite', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await committed(workspace, { '.gitignore': '.env\n', 'shared.txt': 'before\n' });
    await workspace.write('.env', 'mine\n');
    const force = { shell: 'echo agent > .env; git add -f .env' };
    const run = workspace.scriptOf(
      {
        'US-001': [[force, ...writes('US-001', 'shared.txt', 'agent\n')]],
        'US-002': [[{ wait: 'go' }, 'work']],
      },
      ...['--lanes', '2'],
    );
    await workspace.event('target.held');
    await workspace.write('shared.txt', 'person\n');
    workspace.git('commit', '--quiet', '-m', 'Mine', 'shared.txt');
    await workspace.note('go');
    const { code, stdout } = await run.finished;
    assert.equal(code, 1, stdout);
    const held = (await workspace.events('target.held')).at(-1);
    assert.deepEqual(
      [held?.['reason'], held?.['files'], held?.['untracked']],
      ['diverged', ['shared.txt'], ['.env']],
    );
    const words = `Move these files away first, because a merge would overwrite them: .env. Merge it by hand: git merge --autostash ${held?.['ref']}`;
    assert.ok(stdout.includes(words), stdout);
    const early = await workspace.cli('status').finished;
    assert.ok(early.stdout.includes(words), early.stdout);
    await rm(path.join(workspace.folder, '.env'));
    const late = await workspace.cli('status').finished;
    assert.match(late.stdout, /^ {2}Merge it by hand: git merge --autostash refs/m);
  });

  test('several commits land unchanged under a merge, or squashed into one', async t => {
    for (const landAs of ['merge', 'squash']) {
      const workspace = await Workspace.create(t, { stories: openStories(1) });
      const steps: readonly Step[] = [
        { write: ['a.txt', 'a'] },
        { commit: 'test: a' },
        ...writes('US-001', 'b.txt', 'b'),
      ];
      const run = workspace.scriptOf({ 'US-001': [steps] }, '--isolate', '--land-as', landAs);
      assert.equal((await run.finished).code, 0, run.stderr);
      assert.deepEqual(subjects(workspace), ['feat: US-001', 'First commit']);
      const parents = workspace.git('log', '-1', '--format=%P').split(' ');
      assert.equal(parents.length, landAs === 'merge' ? 2 : 1);
      assert.equal(workspace.git('status', '--short'), '');
      assert.deepEqual(await workspace.done(), ['US-001']);
    }
  });

  test('unfinished work is kept, and the next agent of the story continues with it', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const run = workspace.scriptOf(
      {
        'US-001': [
          [{ write: ['half.txt', 'half'] }, { commit: 'wip' }, { result: ['More to do.'] }],
          [{ shell: 'test -f half.txt' }, ...writes('US-001', 'whole.txt', 'whole')],
        ],
      },
      ...['--isolate'],
    );
    const { code, stderr } = await run.finished;
    assert.equal(code, 0, stderr);
    assert.deepEqual(await outcomes(workspace), ['progress', 'storyDone']);
    assert.ok(existsSync(path.join(workspace.folder, 'half.txt')));
    assert.equal(subjects(workspace).length, 2);
  });

  // An agent with two commits ends in the middle of something else. `side` is a branch that conflicts with them.
  const side =
    'git checkout -q -b side HEAD~2 && echo side > a.txt && git add a.txt && git commit -qm side && git checkout -q main';
  const operations = [
    ['rebase', 'git rebase -q --force-rebase --exec false HEAD~2 || true'],
    ['merge', `${side}; git merge -q side || true`],
    ['cherry-pick', `${side}; git cherry-pick side || true`],
    [
      'cherry-pick of several commits',
      `${side}; git cherry-pick side main~1 || true; echo mine > a.txt; git add a.txt; git commit -qm picked`,
    ],
    ['revert', 'git revert --no-commit HEAD'],
    ['am', `${side}; git format-patch -q -1 -o .git side; git am -q .git/*.patch || true`],
    ['bisect', 'git bisect start HEAD HEAD~2'],
  ] as const;
  for (const [title, ending] of variants(operations, 2)) {
    test(`work of an agent that ends in the middle of git ${title} does not land`, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(1) });
      const isClean =
        'test -f a.txt && test -f b.txt && git symbolic-ref -q HEAD && ! git status | grep -i -E "progress|currently|bisect" && git diff --quiet HEAD -- a.txt b.txt';
      const run = workspace.scriptOf(
        {
          'US-001': [
            [
              { tick: 'US-001' },
              { write: ['a.txt', 'a'] },
              { commit: 'A' },
              { write: ['b.txt', 'b'] },
              { commit: 'B' },
              { shell: ending },
              { result: ['US-001 is done.'] },
            ],
            [{ shell: isClean }, ...writes('US-001', 'c.txt', 'c')],
          ],
        },
        ...['--isolate', '--verify', 'true'],
      );
      const { code, stderr, stdout } = await run.finished;
      assert.equal(code, 0, stdout + stderr);
      assert.deepEqual(await outcomes(workspace), ['rejected', 'storyDone']);
      const words = `The agent ended in the middle of "git ${title.split(' ')[0]}", so nothing of its work on US-001 lands.`;
      assert.ok(stdout.includes(words), stdout);
      assert.deepEqual(
        (await workspace.events('landing.queued')).map(({ iteration }) => iteration),
        [2],
      );
      assert.equal(await workspace.read('b.txt'), 'b');
      assert.equal(await workspace.read('c.txt'), 'c');
    });
  }

  test('work of which a part is on another branch does not land', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const run = workspace.scriptOf(
      {
        'US-001': [
          [
            { write: ['a.txt', 'a'] },
            { commit: 'A' },
            { git: ['switch', '--quiet', '-c', 'other', 'HEAD~1'] },
            ...writes('US-001', 'b.txt', 'b'),
          ],
        ],
      },
      ...['--isolate', '--max-iterations', '1'],
    );
    const { stdout } = await run.finished;
    assert.match(stdout, /The work is not on the branch main, but on other/);
    assert.deepEqual(await outcomes(workspace), ['rejected']);
    assert.deepEqual(subjects(workspace), ['First commit']);
    const places = await workspace.cli('places').finished;
    assert.match(places.stdout, /\/1-branches\/main$/m);
  });

  test('work of an agent that never commits lands after the checks', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const run = workspace.scriptOf(
      { 'US-001': [[{ write: ['new.txt', 'new'] }, { tick: 'US-001' }, { result: ['Done.'] }]] },
      ...['--isolate', '--verify', 'test -f new.txt'],
    );
    assert.equal((await run.finished).code, 0, run.stderr);
    assert.equal(await workspace.read('new.txt'), 'new');
    assert.equal(workspace.git('status', '--short'), '');
  });

  test('the story file and progress log in the folder are used, tracked by git or not', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await workspace.write('.gitignore', '.omc\n');
    workspace.git('rm', '--quiet', '-r', '--cached', '.omc');
    workspace.git('add', '.gitignore');
    workspace.git('commit', '--quiet', '-m', 'Ignore');
    const learns = (id: string): readonly Step[] => [
      { append: ['.omc/progress.txt', `## 2026-01-02 - ${id}\n- Learned by ${id}\n`] },
      'work',
    ];
    const run = workspace.scriptOf(
      { 'US-001': [learns('US-001')], 'US-002': [learns('US-002')] },
      ...['--lanes', '2'],
    );
    assert.equal((await run.finished).code, 0, run.stderr);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
    const log = await workspace.read('.omc/progress.txt');
    assert.match(log, /Learned by US-001/);
    assert.match(log, /Learned by US-002/);
    assert.equal(workspace.git('status', '--short'), '');
    assert.equal(workspace.git('ls-files', '.omc'), '');
  });
});

describe('what lanes share', () => {
  const lists: Readonly<Record<string, readonly [file: string, text: string, done: RegExp]>> = {
    'a Markdown plan': [
      'IMPLEMENTATION_PLAN.md',
      '# Plan\n\n- [ ] **T1**: First\n- [ ] **T2**: Second\n',
      /- \[x\] \*\*T1\*\*.*\n- \[x\] \*\*T2\*\*/,
    ],
    Beads: [
      '.beads/issues.jsonl',
      '{"id":"b-1","title":"First","status":"open","priority":1}\n{"id":"b-2","title":"Second","status":"open","priority":1}\n',
      /"b-1".*"status":"closed".*\n.*"b-2".*"status":"closed"/,
    ],
    'Task Master': [
      '.taskmaster/tasks/tasks.json',
      '{\n  "master": {\n    "tasks": [\n      { "id": "y-1", "title": "First", "status": "pending", "subtasks": [] },\n      { "id": "y-2", "title": "Second", "status": "pending", "subtasks": [] }\n    ]\n  }\n}\n',
      /"y-1".*"done".*\n.*"y-2".*"done"/,
    ],
    'ralph-orchestrator': [
      '.ralph/agent/tasks.jsonl',
      '{"id":"b-1","title":"First","status":"open","priority":1,"blocked_by":[]}\n{"id":"b-2","title":"Second","status":"open","priority":1,"blocked_by":[]}\n',
      /"b-1".*"status":"closed".*\n.*"b-2".*"status":"closed"/,
    ],
    'a feature list': [
      'feature_list.json',
      '{\n  "features": [\n    { "id": "y-1", "description": "First", "state": "pending" },\n    { "id": "y-2", "description": "Second", "state": "pending" }\n  ]\n}\n',
      /"y-1".*"completed".*\n.*"y-2".*"completed"/,
    ],
    'an orchestration': [
      '.claude/orchestration/plan.yaml',
      'name: Work\nphases:\n  - name: One\n    tasks:\n      - id: y-1\n        title: First\n        status: pending\n      - id: y-2\n        title: Second\n        status: pending\n',
      /y-1[\s\S]*status: completed[\s\S]*y-2[\s\S]*status: completed/,
    ],
  };
  for (const [index, [name, [file, text, done]]] of variants(
    [...Object.entries(lists).entries()],
    3,
  )) {
    for (const isTracked of variants([true, false], 1, index)) {
      test(`${name} that git ${isTracked ? 'tracks' : 'does not track'} never conflicts`, async t => {
        const workspace = await Workspace.create(t, { stories: undefined });
        await mkdir(path.dirname(path.join(workspace.folder, file)), { recursive: true });
        await workspace.write(file, text);
        if (isTracked) {
          workspace.git('add', '-A');
          workspace.git('commit', '--quiet', '-m', 'List');
        } else {
          await workspace.write('.git/info/exclude', `${file}\n`);
        }
        // Each agent ticks the list with the words of its format, as it finds it.
        const works: readonly Step[] = [
          { shell: 'echo work > "$RALPH_FRESH_LANE.txt"' },
          { tickAny: [file] },
          { commit: 'feat: a story' },
          { result: ['Done.'] },
        ];
        const ids = [...text.matchAll(/\b(?:T|b-|y-)\d/g)].map(([id]) => id);
        const run = workspace.scriptOf(
          Object.fromEntries(ids.map(id => [id, [works]])),
          ...['--lanes', '2', '--file', file],
        );
        const { code, stderr, stdout } = await run.finished;
        assert.equal(code, 0, stderr + stdout);
        assert.match(await workspace.read(file), done);
        assert.equal(workspace.git('status', '--short'), '');
        assert.deepEqual(await workspace.events('landing.returned'), []);
      });
    }
  }

  test('stacked stories are checked once; on failure the stack is halved to find the faulty one', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(4) });
    const ids = ['US-001', 'US-002', 'US-003', 'US-004'];
    const calls = Object.fromEntries(
      ids.map(id => [
        id,
        [
          [{ wait: 'go' }, ...writes(id, id === 'US-003' ? 'bad.txt' : `${id}.txt`, id)],
          [{ git: ['rm', '--quiet', 'bad.txt'] }, ...writes(id, `${id}.txt`, id)],
        ] as Step[][],
      ]),
    );
    const log = path.join(workspace.notesDir, 'checks.log');
    // The first check waits until all have finished, so that they wait together.
    const check = `echo $(ls US-00?.txt bad.txt 2>/dev/null) >> ${log}; test -f ${path.join(workspace.notesDir, 'slow')} || while test ! -f ${path.join(workspace.notesDir, 'all')}; do sleep 0.05; done; test ! -f bad.txt`;
    const run = workspace.scriptOf(
      { ...calls, 'US-001': [writes('US-001', 'US-001.txt', '1')] },
      ...['--lanes', '4', '--land-batch', '3', '--verify', check],
    );
    await workspace.event('check.started');
    await workspace.note('go');
    await until('all wait', async () => (await workspace.events('landing.queued')).length === 4);
    await workspace.note('slow');
    await workspace.note('all');
    assert.equal((await run.finished).code, 0, run.stderr);
    const returned = (await workspace.events('landing.returned')).map(({ storyId }) => storyId);
    assert.deepEqual(returned, ['US-003']);
    assert.deepEqual(await workspace.done(), ids);
    // The first one alone, then three at once, and halves of them; the story at fault once more at the end.
    const checked = (await readFile(log, 'utf8')).trim().split('\n');
    const stacks = await workspace.events('stack.checked');
    assert.deepEqual(stacks[0]?.storyIds.toSorted(), ['US-002', 'US-003', 'US-004']);
    assert.equal(stacks[0]?.failed?.outputTail, '');
    assert.match(run.stdout, /These stories fail the checks together, so they are tried in halves/);
    const sizes = checked.map(files => files.split(' ').length);
    assert.deepEqual([sizes[0], sizes[1], sizes.at(-1)], [1, 4, 4], checked.join('; '));
    assert.equal(stacks[1]?.storyIds.length, 2);
    for (const commit of workspace.git('rev-list', '--first-parent', 'HEAD').split('\n')) {
      assert.ok(!workspace.git('ls-tree', '--name-only', commit).includes('bad.txt'), commit);
    }
  });

  test('a check marked as flaky is repeated once before it counts as failed', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const once = path.join(workspace.notesDir, 'once');
    const check = `test -f ${once} || { touch ${once}; exit 1; }`;
    const run = workspace.scriptOf({}, '--verify', check, '--flaky-check', check);
    assert.equal((await run.finished).code, 0, run.stderr);
    assert.deepEqual(
      (await workspace.events('check.ended')).map(({ ok }) => ok),
      [false, true],
    );
    assert.deepEqual(await outcomes(workspace), ['storyDone']);
  });

  test('the reviewer sees exactly what would land and may send it back', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const review = (approved: boolean): readonly Step[] => [
      {
        shell:
          'git status --short > "$FAKE_AGENT_NOTES/review.txt"; git log -1 --format=%s >> "$FAKE_AGENT_NOTES/review.txt"',
      },
      verdict(approved, approved ? [] : ['Not good enough']),
    ];
    const run = workspace.scriptOf(
      {
        'US-001': [['work'], [{ append: ['US-001.txt', 'better'] }, 'work']],
        review: [review(false), review(true), review(true)],
      },
      ...['--isolate', '--reviewer'],
    );
    const { code, stderr } = await run.finished;
    assert.equal(code, 0, stderr);
    const [returned] = await workspace.events('landing.returned');
    assert.equal(returned?.['reason'], 'review');
    // While the reviewer looked at the first story, the lane took the next one.
    const again = (await workspace.events('iteration.started')).findLast(
      ({ storyId }) => storyId === 'US-001',
    );
    assert.match(await workspace.prompt(Number(again?.['iteration'])), /Not good enough/);
    assert.deepEqual((await outcomes(workspace)).sort(), ['rejected', 'storyDone', 'storyDone']);
    const seen = await readFile(path.join(workspace.notesDir, 'review.txt'), 'utf8');
    assert.match(seen, /^feat: US-00\d\n$/);
  });

  test('a usage limit stops all starts, with one countdown, and uses up no iteration', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const limited: readonly Step[] = [
      { wait: 'limit' },
      failed(429, `Claude AI usage limit reached|${Math.floor(Date.now() / 1_000) + 3_600}`),
    ];
    const run = workspace.scriptOf(
      { 'US-001': [limited, ['work']], 'US-002': [limited, ['work']] },
      ...['--lanes', '2'],
    );
    await workspace.agent(2);
    await workspace.note('limit');
    await until(
      'both wait',
      async () =>
        new Set((await workspace.events('limit.waiting')).map(({ iteration }) => iteration))
          .size === 2,
    );
    assert.equal(run.stdout.match(/Usage limit/g)?.length, 1);
    assert.equal((await workspace.agents()).length, 2);
    assert.equal((await workspace.cli('resume').finished).code, 0);
    assert.equal((await run.finished).code, 0, run.stderr);
    assert.equal((await workspace.events('iteration.started')).length, 3);
  });

  describe('a story that a person removes while agents work', () => {
    /** Removes US-003 while two agents work on others. */
    async function removed(
      t: Pick<TestContext, 'after'>,
      last: readonly Step[],
      ...args: readonly string[]
    ) {
      const workspace = await Workspace.create(t, { stories: openStories(4) });
      const waits: Step[] = [{ wait: 'go' }, 'work'];
      const calls = { 'US-001': [waits], 'US-002': [waits], 'US-004': [last] };
      const run = workspace.scriptOf(calls, '--lanes', '2', ...args);
      await workspace.agent(2);
      const file = JSON.parse(await workspace.read('.omc/prd.json'));
      const story = file.userStories[2];
      file.userStories.splice(2, 1);
      await workspace.write('.omc/prd.json', JSON.stringify(file, null, 2));
      await workspace.note('go');
      return { run, story, workspace };
    }
    const given = async (workspace: Workspace) =>
      (await workspace.events('iteration.started')).map(({ storyId }) => storyId).sort();

    test('is given to no agent, and the run does not end as complete', async t => {
      const { run, workspace } = await removed(t, ['work']);
      const { code, stdout } = await run.finished;
      assert.equal(code, 1, stdout);
      assert.deepEqual(await given(workspace), ['US-001', 'US-002', 'US-004']);
      assert.deepEqual(await workspace.done(), ['US-001', 'US-002', 'US-004']);
      assert.match(stdout, /Gone from the story file without being done, so still open: US-003/);
      assert.match(
        stdout,
        /No story was ready\. Left: US-003\. US-003 is gone from the story file\. Put it back, or run again without it\.$/m,
      );
      const again = await workspace.scriptOf({}, '--lanes', '2').finished;
      assert.equal(again.code, 0, again.stdout);
      assert.match(again.stdout, /All stories are complete; there is nothing to do/);
    });

    test('does not matter if it was not chosen', async t => {
      const { run, workspace } = await removed(t, [], '--story', 'US-001', '--story', 'US-002');
      const { code, stdout } = await run.finished;
      assert.equal(code, 0, stdout);
      assert.deepEqual(await given(workspace), ['US-001', 'US-002']);
    });

    inAll(test)('can be put back in a pause after the last agent has ended', async t => {
      const { run, story, workspace } = await removed(t, [{ wait: 'back' }, 'work']);
      await workspace.agent(3);
      assert.equal((await workspace.cli('pause').finished).code, 0);
      await workspace.note('back');
      await workspace.event('pause.started');
      const file = JSON.parse(await workspace.read('.omc/prd.json'));
      file.userStories.push(story);
      await workspace.write('.omc/prd.json', JSON.stringify(file, null, 2));
      assert.equal((await workspace.cli('resume').finished).code, 0);
      const { code, stdout } = await run.finished;
      assert.equal(code, 0, stdout);
      assert.deepEqual(await given(workspace), ['US-001', 'US-002', 'US-003', 'US-004']);
    });

    inAll(test)('is given to no agent when the run continues after a stop', async t => {
      const { run, workspace } = await removed(t, [{ wait: 'never' }, 'work']);
      await workspace.agent(3);
      assert.equal((await workspace.cli('stop', '--now').finished).code, 0);
      await run.finished;
      const again = await workspace.scriptOf({}, '--lanes', '2').finished;
      assert.equal(again.code, 0, again.stdout);
      assert.ok(!(await given(workspace)).includes('US-003'));
      assert.deepEqual(await workspace.done(), ['US-001', 'US-002', 'US-004']);
    });

    inAll(test)('is worked on when it is back', async t => {
      const { run, story, workspace } = await removed(t, [{ wait: 'back' }, 'work']);
      await workspace.agent(3);
      await until('the first two stories', async () => (await workspace.done()).length === 2);
      assert.deepEqual(await given(workspace), ['US-001', 'US-002', 'US-004']);
      const file = JSON.parse(await workspace.read('.omc/prd.json'));
      file.userStories.push(story);
      await workspace.write('.omc/prd.json', JSON.stringify(file, null, 2));
      await workspace.note('back');
      const { code, stdout } = await run.finished;
      assert.equal(code, 0, stdout);
      assert.deepEqual(await given(workspace), ['US-001', 'US-002', 'US-003', 'US-004']);
    });
  });

  describe('a story file that a person breaks while agents work', () => {
    /** Two agents have ended since, and one story is left. */
    async function broken(t: Pick<TestContext, 'after'>, then?: (workspace: Workspace) => unknown) {
      const workspace = await Workspace.create(t, { stories: openStories(3) });
      const waits: Step[] = [{ wait: 'go' }, 'work'];
      const run = workspace.scriptOf({ 'US-001': [waits], 'US-002': [waits] }, '--lanes', '2');
      await workspace.agent(2);
      const text = await workspace.read('.omc/prd.json');
      await workspace.write('.omc/prd.json', text.slice(0, -9));
      await then?.(workspace);
      await workspace.note('go');
      await until('both stories', async () => (await outcomes(workspace)).length === 2);
      return { run, text, workspace };
    }

    test('gets no further agent, until it is repaired', async t => {
      const { run, text, workspace } = await broken(t);
      await until('the warning', async () =>
        (await workspace.events('warning')).some(({ code }) => code === 'storyFileUnreadable'),
      );
      await workspace.write('.omc/prd.json', text);
      const { code, stdout } = await run.finished;
      assert.equal(code, 0, stdout);
      // The ticks of the first two may have been missing when the person wrote the file.
      assert.deepEqual(await outcomes(workspace), ['storyDone', 'storyDone', 'storyDone']);
      assert.ok((await workspace.done()).includes('US-003'));
    });

    inAll(test)('can be repaired in a pause', async t => {
      const { run, text, workspace } = await broken(
        t,
        workspace => workspace.cli('pause').finished,
      );
      await workspace.event('pause.started');
      await workspace.write('.omc/prd.json', text);
      assert.equal((await workspace.cli('resume').finished).code, 0);
      const { code, stdout } = await run.finished;
      assert.equal(code, 0, stdout);
      assert.deepEqual(await outcomes(workspace), ['storyDone', 'storyDone', 'storyDone']);
    });

    test('ends the run with its place if nobody repairs it, and nothing is lost', async t => {
      const { run, text, workspace } = await broken(t);
      const { code, stdout } = await run.finished;
      assert.equal(code, 1, stdout);
      assert.match(stdout, /Cannot continue: \S+prd\.json: Line \d+: /);
      assert.equal((await workspace.events('iteration.started')).length, 2);
      await workspace.write('.omc/prd.json', text);
      const again = await workspace.scriptOf({}, '--lanes', '2').finished;
      assert.equal(again.code, 0, again.stdout);
      assert.deepEqual(subjects(workspace).sort(), [
        'First commit',
        ...['US-001', 'US-002', 'US-003'].map(id => `feat: ${id}`),
      ]);
    });
  });

  test('all agents share one budget', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(6) });
    // Each call costs 0.25 USD, and none ends before all have reserved their share: else the rest is for one more.
    const together: readonly Step[] = [{ wait: 'all' }, 'work'];
    const run = workspace.scriptOf(
      { 'US-001': [together], 'US-002': [together], 'US-003': [together] },
      ...['--lanes', '3', '--budget', '0.75'],
    );
    await workspace.agent(3);
    await workspace.note('all');
    assert.equal((await run.finished).code, 1);
    const [end] = await workspace.events('run.ended');
    assert.equal(end?.['outcome'], 'budget');
    const ended = await workspace.events('agent.ended');
    const spent = ended.reduce((sum, { costUsd }) => sum + Number(costUsd ?? 0), 0);
    assert.equal(spent, 0.75);
    // Nobody was started who had nothing to spend.
    assert.equal((await workspace.events('iteration.started')).length, 3);
  });
});

describe('interrupted lanes', () => {
  test('a stop ends all agents without losing work, and the same command continues', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const run = workspace.scriptOf(
      {
        'US-001': [[{ write: ['a.txt', 'a'] }, { commit: 'wip: a' }, 'stay']],
        'US-002': [[{ write: ['b.txt', 'b'] }, { text: 'written' }, 'stay']],
      },
      ...['--lanes', '2'],
    );
    await workspace.agent(2);
    await until('both have written', async () => {
      const notes = await workspace.notes();
      return notes.filter(note => 'step' in note && note.step === 'stay').length === 2;
    });
    const agents = await workspace.agents();
    assert.equal((await workspace.cli('stop').finished).code, 0);
    assert.equal((await run.finished).code, 130);
    assert.deepEqual(agents.filter(isAlive), []);
    const second = workspace.scriptOf(
      {
        'US-001': [[], [{ shell: 'test -f a.txt' }, 'work']],
        'US-002': [[], ['work']],
      },
      ...['--lanes', '2'],
    );
    const { code, stderr } = await second.finished;
    assert.equal(code, 0, stderr);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002', 'US-003']);
    assert.ok(existsSync(path.join(workspace.folder, 'a.txt')));
    // What was not committed is kept, too.
    const refs = workspace.git('for-each-ref', '--format=%(refname)', 'refs/ralph-fresh/work');
    assert.match(refs, /-uncommitted$/m);
  });

  test('a run killed while one story waits to land and another is in progress continues with both', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const run = workspace.scriptOf(
      { 'US-001': [['work']], 'US-002': [[{ text: 'at work' }, 'stay']] },
      ...[
        '--lanes',
        '2',
        '--verify',
        `test -f ${path.join(workspace.notesDir, 'pass')} || sleep 60`,
      ],
    );
    await workspace.event('check.started');
    await workspace.agent(2);
    run.child.kill('SIGKILL');
    await run.finished;
    await workspace.note('pass');
    const second = workspace.scriptOf(
      { 'US-002': [[], ['work']] },
      ...['--lanes', '2', '--verify', `test -f ${path.join(workspace.notesDir, 'pass')}`],
    );
    const { code, stderr, stdout } = await second.finished;
    assert.equal(code, 0, stderr + stdout);
    const landed = (await workspace.events('landing.landed')).map(({ storyId }) => storyId);
    assert.deepEqual(landed.sort(), ['US-001', 'US-002']);
    // No second agent for the story that was finished.
    const started = (await workspace.events('iteration.started')).map(({ storyId }) => storyId);
    assert.deepEqual(started.filter(id => id === 'US-001').length, 1);
    assert.equal(subjects(workspace).length, 3);
  });

  inAll(test)('a resumed run lands on its own branch, whatever is checked out', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const run = workspace.scriptOf({ 'US-002': [['stay']] }, '--isolate');
    await workspace.event('landing.landed');
    await workspace.agent(2);
    assert.equal((await workspace.cli('stop').finished).code, 0);
    await run.finished;
    workspace.git('switch', '--quiet', '--create', 'other');
    const { code, stderr } = await workspace.scriptOf({}, '--isolate').finished;
    assert.equal(code, 0, stderr);
    assert.equal(subjects(workspace, 'main').length, 3);
    assert.equal(subjects(workspace, 'other').length, 2);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
  });

  inAll(test)('a removed place is recreated', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const home = workspace.env['HOME'] ?? '';
    const run = workspace.scriptOf({ 'US-001': [['work', 'stay']] }, '--isolate');
    await workspace.agent(1);
    run.child.kill('SIGKILL');
    await run.finished;
    await workspace.cli('stop').finished;
    await rm(path.join(home, '.cache'), { recursive: true, force: true });
    const { code, stderr } = await workspace.scriptOf({}, '--isolate').finished;
    assert.equal(code, 0, stderr);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
  });
});

test('status shows which agent works on what', async t => {
  const workspace = await Workspace.create(t, { stories: openStories(2) });
  workspace.scriptOf(
    { 'US-001': [[{ text: 'At it.' }, 'stay']], 'US-002': [[{ text: 'Me too.' }, 'stay']] },
    ...['--lanes', '2'],
  );
  await until('both speak', async () => (await workspace.events('agent.text')).length === 2);
  const { stdout } = await workspace.cli('status').finished;
  assert.match(stdout, /lane 1 · US-001: Story number 1 · At it\./);
  assert.match(stdout, /lane 2 · US-002: Story number 2 · Me too\./);
  const data = JSON.parse((await workspace.cli('status', '--json').finished).stdout);
  assert.equal(data.lanes, 2);
  assert.deepEqual(
    data.running.map(({ lane, story }: { lane: number; story: string }) => [lane, story]),
    [
      [1, 'US-001'],
      [2, 'US-002'],
    ],
  );
  await workspace.cli('stop', '--now').finished;
  assert.ok(await readFile(workspace.files.stateFile));
});
