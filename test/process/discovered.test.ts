import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { filesIn, writeBacklog } from '../support/backlogFolder.ts';
import { builtCli } from '../support/builtCli.ts';
import { openStories, type Step, until, Workspace } from '../support/ralph.ts';
import { inAll } from '../support/variants.ts';

const PRD = '.omc/prd.json';
const LIMIT = '<discovered>Limit the log in | five tries</discovered>';
const TASKS = '.taskmaster/tasks/tasks.json';
const FILES: Readonly<Record<string, string>> = {
  'task-1': 'backlog/tasks/task-1 - First.md',
  'task-2': 'backlog/tasks/task-2 - Second.md',
  'task-3': 'backlog/tasks/task-3 - Limit-the-log-in.md',
};
const ROTATE = '<discovered>Rotate the keys</discovered>';

/** Does its story, and reports other work in its answer. */
const reports = (story: string, ...tags: readonly string[]): Step[] => [
  { write: [`${story}.txt`, `${story}\n`] },
  { tick: story },
  { commit: `feat: ${story}` },
  { result: [[`${story} is done.`, ...tags].join('\n'), {}] },
];

async function told(workspace: Workspace, code: number, ...args: readonly string[]) {
  const finished = await workspace.cli(...args).finished;
  assert.equal(finished.code, code, `${args.join(' ')}: ${finished.stdout}${finished.stderr}`);
  return finished.stdout + finished.stderr;
}

async function found(workspace: Workspace, ...flags: readonly string[]) {
  return JSON.parse(await told(workspace, 0, 'discovered', '--json', ...flags)).discovered;
}

describe('work that agents discover', { concurrency: 2 }, () => {
  test('waits for a person, who accepts, edits or drops it, and only then is a story', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const hostile = '<discovered>\u001b[31mRed\u0007 <b>| $(rm -rf x) `y`</discovered>';
    const calls = [reports('US-001', LIMIT, ROTATE, hostile), reports('US-002', LIMIT)];
    const run = await workspace.script(calls).finished;
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stdout, /Discovered: Limit the log in \(DISC-\d{8}-1-1\)/);
    assert.match(await workspace.prompt(1), /<discovered>title \| why<\/discovered>/);
    const [limit, rotate, ...others] = await found(workspace);
    assert.deepEqual(
      others.map(({ title, why }: Record<string, unknown>) => [title, why]),
      [['Red <b>', '$(rm -rf x) `y`']],
    );
    assert.deepEqual(
      [limit.title, limit.why, limit.from, limit.iteration, limit.state],
      ['Limit the log in', 'five tries', 'US-001', 1, 'open'],
    );
    for (const command of ['status', 'stories', 'receipt']) {
      assert.match(await told(workspace, 0, command), /^Discovered by agents.*: 3 \(ralph-fresh/m);
    }
    assert.equal(JSON.parse(await told(workspace, 0, 'receipt', '--json')).discovered, 3);
    // The second agent knows what was reported.
    const [runId = ''] = await workspace.runIds();
    const handoff = await workspace.read(`.omc/state/runs/${runId}/iterations/2/handoff.json`);
    assert.deepEqual(JSON.parse(handoff).alreadyReported, [
      'Limit the log in',
      'Rotate the keys',
      'Red <b>',
    ]);
    // It is no story: neither listed nor next.
    assert.match(await told(workspace, 0, 'next'), /done|complete/i);
    const before = await workspace.read(PRD);

    assert.match(
      await told(workspace, 64, 'discovered', 'edit', limit.id, '\u200b \u2060'),
      /The title is empty/,
    );
    assert.match(
      await told(workspace, 0, 'discovered', 'edit', limit.id, 'Limit log in tries'),
      /Limit log in tries/,
    );
    for (const { id } of [rotate, ...others]) {
      await told(workspace, 0, 'discovered', 'drop', id);
    }
    assert.equal(await workspace.read(PRD), before);
    assert.match(
      await told(workspace, 0, 'discovered', 'accept', limit.id),
      new RegExp(`Added to .*: ${limit.id} Limit log in tries`),
    );
    const after = await workspace.read(PRD);
    for (const words of [
      ['drop', limit.id],
      ['edit', limit.id, 'Other'],
      ['accept', limit.id],
    ]) {
      assert.match(
        await told(workspace, 1, 'discovered', ...words),
        new RegExp(`${limit.id} is already the story ${limit.id}: change or remove it`),
      );
    }
    const added = JSON.parse(after).userStories.at(-1);
    assert.equal(added.title, 'Limit log in tries');
    assert.equal(added.discoveredFrom, 'US-001');
    assert.equal(after, `${JSON.stringify(JSON.parse(after), null, 2)}\n`);
    assert.ok(after.startsWith(before.slice(0, before.lastIndexOf('}', before.lastIndexOf(']')))));
    // Nor does it become a story of another list.
    await workspace.write('other.md', '- [ ] Another task\n');
    assert.match(
      await told(workspace, 1, 'discovered', 'accept', limit.id, '--file', 'other.md'),
      new RegExp(
        `${limit.id} is already the story ${limit.id} in \\.omc/prd\\.json: change it there`,
      ),
    );
    assert.equal(await workspace.read('other.md'), '- [ ] Another task\n');
    assert.deepEqual(await found(workspace), []);
    assert.deepEqual(
      (await found(workspace, '--all')).map(({ state }: { state: string }) => state),
      ['added', 'dropped', 'dropped'],
    );
    // A story that is no longer in the file can become one again.
    await workspace.write(PRD, before);
    await told(workspace, 0, 'discovered', 'accept', limit.id);
    assert.equal(await workspace.read(PRD), after);
    assert.match(await told(workspace, 0, 'next'), new RegExp(limit.id));
    // An agent of the next run gets it.
    const again = await workspace.script([reports(limit.id)]).finished;
    assert.equal(again.code, 0, again.stderr);
    assert.ok((await workspace.done()).includes(limit.id));
    assert.match(
      await told(workspace, 64, 'discovered', 'drop', 'DISC-1'),
      /no discovered work .*"ralph-fresh discovered --all" shows/,
    );
  });

  test('is accepted during a run: between two agents, and the guard keeps it', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const run = workspace.script([
      reports('US-001', LIMIT),
      [{ wait: 'go' }, ...reports('US-002')],
      [{ shell: 'true' }, 'work'],
    ]);
    const { id } = await workspace.event('discovery.reported');
    await until(
      'the second agent',
      async () => (await workspace.events('agent.started')).length > 1,
    );
    const before = await workspace.read(PRD);
    assert.match(
      await told(workspace, 0, 'discovered', 'accept', id),
      /Accepted: Limit the log in\. The active run adds it/,
    );
    assert.equal(await workspace.read(PRD), before);
    await workspace.note('go');
    const { code, stderr, stdout } = await run.finished;
    assert.equal(code, 0, stderr + stdout);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002', id]);
    assert.deepEqual(await workspace.events('guard.found'), []);
    const [added] = await workspace.events('discovery.added');
    assert.equal(added?.storyId, id);
  });

  test('is accepted by a setting, and an agent cannot accept its own', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = [process.execPath, builtCli()].map(word => JSON.stringify(word)).join(' ');
    const run = await workspace.script(
      [
        [
          {
            shell: `${cli} discovered accept DISC-1 > accept.txt 2>&1 || true`,
          },
          ...reports('US-001', LIMIT),
        ],
        ['work'],
      ],
      '--accept-discovered',
    ).finished;
    assert.equal(run.code, 0, run.stderr);
    assert.match(await workspace.read('accept.txt'), /An agent cannot use "discovered accept"/);
    const [first, second] = await workspace.stories();
    assert.equal(first?.id, 'US-001');
    assert.deepEqual([second?.title, second?.passes], ['Limit the log in', true]);
    const [accepted] = await workspace.events('discovery.accepted');
    assert.equal(accepted?.by, 'setting');
  });

  inAll(test)('waits for a person after later runs, too', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const first = await workspace.script([reports('US-001', LIMIT)]).finished;
    assert.equal(first.code, 0, first.stderr);
    await told(workspace, 0, 'untick', 'US-001');
    const second = await workspace.script([reports('US-001')], '--new').finished;
    assert.equal(second.code, 0, second.stderr);
    assert.equal((await workspace.runIds()).length, 2);
    const { discovered } = JSON.parse(await told(workspace, 0, 'stories', '--json'));
    assert.deepEqual(
      discovered.map(({ title }: { title: string }) => title),
      ['Limit the log in'],
    );
    assert.equal(JSON.parse(await told(workspace, 0, 'status', '--json')).discovered, 1);
  });

  inAll(test)('is a story of three lanes, too', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const calls = {
      'US-001': [reports('US-001', LIMIT)],
      'US-002': [[{ wait: 'go' }, ...reports('US-002', ROTATE)]],
      'US-003': [reports('US-003')],
    };
    const run = workspace.scriptOf(calls, '--lanes', '3');
    const { id } = await workspace.event('discovery.reported');
    assert.match(await told(workspace, 0, 'discovered', 'accept', id), /Accepted/);
    await workspace.event('discovery.added');
    // Another agent is still at work: its list is a copy.
    assert.match(await workspace.read(PRD), new RegExp(id));
    await workspace.note('go');
    const { code, stderr, stdout } = await run.finished;
    assert.equal(code, 0, stderr + stdout);
    assert.deepEqual(await workspace.events('target.held'), []);
    assert.deepEqual((await workspace.done()).sort(), [id, 'US-001', 'US-002', 'US-003'].sort());
    assert.deepEqual(
      (await found(workspace)).map(({ title }: { title: string }) => title),
      ['Rotate the keys'],
    );
  });

  test('is not lost if the loop is killed between the report and its record', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    // The answer is printed, and the agent does not end.
    const run = workspace.script([
      [{ tick: 'US-001' }, { commit: 'feat: US-001' }, { result: [LIMIT, {}] }, 'stay'],
      ['work'],
    ]);
    await until('the answer', async () =>
      (await workspace.notes()).some(note => 'step' in note && note.step === 'stay'),
    );
    const { pid } = await workspace.event('run.started');
    await until('the answer in the record', async () => {
      const runId = (await workspace.runIds()).at(-1) ?? '';
      return (
        await workspace.read(`.omc/state/runs/${runId}/iterations/1/stream.jsonl`).catch(() => '')
      ).includes('<discovered>');
    });
    process.kill(pid, 'SIGKILL');
    await run.finished;
    const again = await workspace.script([['work'], ['work']]).finished;
    assert.equal(again.code, 0, again.stderr);
    const reported = await workspace.events('discovery.reported');
    assert.deepEqual(
      reported.map(({ iteration, title }) => [iteration, title]),
      [[1, 'Limit the log in']],
    );
    assert.equal((await found(workspace)).length, 1);
  });

  test('becomes no story in a branch that lacks what has landed, which would be a conflict there', async t => {
    const workspace = await Workspace.create(t, {
      prd: `${JSON.stringify({ branchName: 'ralph/q', userStories: openStories(2) }, null, 2)}\n`,
    });
    const run = await workspace.scriptOf(
      { 'US-001': [reports('US-001', LIMIT)], 'US-002': [reports('US-002', ROTATE)] },
      ...['--lanes', '2'],
    ).finished;
    assert.equal(run.code, 0, run.stderr + run.stdout);
    const [limit, rotate] = await found(workspace);
    const before = await workspace.read(PRD);
    const accept = (code: number, { id }: { readonly id: string }) =>
      told(workspace, code, 'discovered', 'accept', id);
    assert.match(
      await accept(1, limit),
      /This work has landed on the branch ralph\/q, and main is checked out\. Go there with "git switch --no-overwrite-ignore --merge ralph\/q", then try again\./,
    );
    assert.equal(await workspace.read(PRD), before);
    assert.equal((await found(workspace)).length, 2);
    // A mark is made, but git would lose it.
    assert.match(
      await told(workspace, 0, 'untick', 'US-001'),
      /may get lost, .*first take it back: ralph-fresh tick US-001\. .* on the branch ralph\/q, and main/,
    );
    assert.doesNotMatch(await told(workspace, 0, 'tick', 'US-001'), /branch/);
    assert.equal(await workspace.read(PRD), before);
    // Another list has no work there.
    await workspace.write('other.json', '[{"id":"A","title":"Other"}]');
    await told(workspace, 0, 'discovered', 'accept', rotate.id, '--file', 'other.json');

    workspace.git('switch', '--quiet', '--no-overwrite-ignore', '--merge', 'ralph/q');
    await accept(0, limit);
    assert.equal((await workspace.stories()).at(-1)?.id, limit.id);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
  });

  test('becomes a story where the branch of its run is gone, or its list has come here', async t => {
    for (const way of ['gone', 'merge', 'squash']) {
      const workspace = await Workspace.create(t, {
        prd: JSON.stringify(
          { project: 'Shop', branchName: 'ralph/q', userStories: openStories(1) },
          null,
          2,
        ),
      });
      const run = await workspace.script([reports('US-001', LIMIT)], '--isolate').finished;
      assert.equal(run.code, 0, run.stderr + run.stdout);
      const [{ id }] = await found(workspace);
      workspace.git('checkout', '--quiet', '--', '.');
      if (way === 'squash') {
        // The list that comes out has been in no commit of the branch.
        await workspace.write(
          '.omc/prd.json',
          (await workspace.read('.omc/prd.json')).replace('Shop', 'Store'),
        );
        workspace.git('commit', '--quiet', '-am', 'Another name');
      }
      if (way === 'gone') {
        workspace.git('branch', '--quiet', '-D', 'ralph/q');
      } else {
        workspace.git('merge', '--quiet', ...(way === 'squash' ? ['--squash'] : []), 'ralph/q');
      }
      if (way === 'squash') {
        workspace.git('commit', '--quiet', '-m', 'All of it');
        // From here on, the list of the branch is an old one.
        await workspace.write(
          '.omc/prd.json',
          (await workspace.read('.omc/prd.json')).replace('Story number', 'Part'),
        );
        workspace.git('commit', '--quiet', '-am', 'Say it better');
      }
      await told(workspace, 0, 'discovered', 'accept', id);
      assert.equal((await workspace.stories()).at(-1)?.id, id, way);
    }
  });

  test('reaches a plan, an orchestration, a task graph and issues in their own format', async t => {
    const files = {
      'plan.md': '# Plan\n\n- [ ] US-001: First\n\nText\n',
      'plan.yaml':
        'phases:\n  - name: One\n    tasks:\n      - id: US-001\n        name: First\n        status: pending\n',
      'tasks.jsonl': '{"id":"US-001","title":"First","status":"open"}\n',
      'issues.jsonl': '{"id":"US-001","title":"First","status":"open"}\n',
    };
    for (const [name, text] of Object.entries(files)) {
      const workspace = await Workspace.create(t, { stories: undefined });
      await workspace.write(name, text);
      const calls = [[{ tickAny: [name] }, { commit: 'feat: one' }, { result: [LIMIT, {}] }]];
      const run = await workspace.scriptOf({ 'US-001': calls[0] ? [calls[0]] : [] }, '--file', name)
        .finished;
      assert.equal(run.code, 0, `${name}: ${run.stderr}${run.stdout}`);
      const [limit] = await found(workspace, '--file', name);
      const before = await workspace.read(name);
      await told(workspace, 0, 'discovered', 'accept', limit.id, '--file', name);
      const after = await workspace.read(name);
      assert.deepEqual(await found(workspace, '--file', name), [], name);
      const tail = before.split('').findLastIndex((_, at) => !after.endsWith(before.slice(at)));
      assert.ok(after.startsWith(before.slice(0, tail + 1).trimEnd()), name);
      const next = JSON.parse(await told(workspace, 0, 'next', '--json', '--file', name));
      // Beads refuses ids with another prefix.
      assert.match(next.id, name === 'issues.jsonl' ? /^US-[a-z0-9]{6}$/ : /^DISC-/, name);
    }
  });

  inAll(test)(
    'is added as its tool numbers tasks: Task Master, Spec Kit, OpenSpec, Kiro, and lists of harnesses',
    async t => {
      const task = { id: 1, title: 'First', status: 'pending', dependencies: [], subtasks: [] };
      const feature = { category: 'functional', description: 'First', steps: ['a'], passes: false };
      const files = [
        [TASKS, JSON.stringify({ master: { tasks: [task] } }, null, 2), ['pending', 'done'], '2'],
        ['specs/001-a/tasks.md', '## Phase 1\n\n- [ ] T001 First\n', ['[ ]', '[x]'], 'T002'],
        ['openspec/changes/a/tasks.md', '## 1. One\n\n- [ ] 1.1 First\n', ['[ ]', '[x]'], '1.2'],
        ['.kiro/specs/a/tasks.md', '# Plan\n\n- [ ] 1. First\n  - detail\n', ['[ ]', '[x]'], '2'],
        ['feature_list.json', JSON.stringify([feature], null, 2), ['false', 'true'], '#2'],
        ['tasks.yaml', 'tasks:\n  - title: First\n    completed: false\n', ['false', 'true'], '#2'],
      ] as const;
      for (const [name, text, tick, id] of files) {
        const workspace = await Workspace.create(t, { stories: undefined });
        await mkdir(path.dirname(path.join(workspace.folder, name)), { recursive: true });
        await workspace.write(name, text);
        const steps = [
          { replace: [name, ...tick] },
          { commit: 'feat: one' },
          { result: [LIMIT, {}] },
        ];
        const run = await workspace.script([steps]).finished;
        assert.equal(run.code, 0, `${name}: ${run.stderr}${run.stdout}`);
        const [limit] = await found(workspace);
        const before = await workspace.read(name);
        const said = await told(workspace, 0, 'discovered', 'accept', limit.id);
        assert.match(said, new RegExp(`: ${id.replace('.', '\\.')} Limit the log in`), name);
        const after = await workspace.read(name);
        const tail = before.split('').findLastIndex((_, at) => !after.endsWith(before.slice(at)));
        assert.ok(after.startsWith(before.slice(0, tail + 1).trimEnd()), name);
        const next = JSON.parse(await told(workspace, 0, 'next', '--json'));
        assert.equal(next.id, id, name);
        assert.deepEqual(await found(workspace), [], name);
        // It is known as that story.
        const [{ state, storyId: known }] = await found(workspace, '--all');
        assert.deepEqual([state, known], ['added', id]);
      }
    },
  );

  test('has no id in a list without ids, and is known there by its text', async t => {
    const feature = { category: 'functional', description: 'First', steps: ['a'], passes: false };
    const workspace = await Workspace.create(t, { stories: undefined });
    const list = JSON.stringify([feature], null, 2);
    await workspace.write('feature_list.json', list);
    const steps = [
      { replace: ['feature_list.json', 'false', 'true'] },
      { commit: 'feat: one' },
      { result: [LIMIT, {}] },
    ];
    assert.equal((await workspace.script([steps]).finished).code, 0);
    const [{ id }] = await found(workspace);
    await told(workspace, 0, 'discovered', 'accept', id);
    const [, added] = JSON.parse(await workspace.read('feature_list.json'));
    assert.deepEqual(added, {
      description: `Limit the log in\nfive tries\n\nReported to Ralph Fresh as ${id}`,
      passes: false,
      discoveredFrom: '#1',
    });
    assert.doesNotMatch(await told(workspace, 0, 'stories'), /has no id/);
    // Its number changes with what stands above it.
    await workspace.write(
      'feature_list.json',
      JSON.stringify([feature, { ...feature, description: 'New' }, added], null, 2),
    );
    assert.match(
      await told(workspace, 1, 'discovered', 'accept', id),
      /is already the story "Limit the log in": change or remove it/,
    );
    assert.match(
      await told(workspace, 0, 'discovered', '--all'),
      /Limit the log in {2}\(a story\)/,
    );
    await workspace.write('other.json', '[{"id":"A","title":"Other"}]');
    assert.match(
      await told(workspace, 1, 'discovered', 'accept', id, '--file', 'other.json'),
      /is already the story "Limit the log in" in feature_list\.json: change it there/,
    );

    // Somebody takes it out, and another story gets its number.
    const second = { ...feature, description: 'Second' };
    await workspace.write('feature_list.json', JSON.stringify([feature, second], null, 2));
    assert.match(await told(workspace, 0, 'discovered', 'accept', id), /: #3 Limit the log in/);
  });

  test('is decided once if two processes decide at the same moment, with and without a run', async t => {
    const titles = ['One', 'Two', 'Three', 'Four'];
    const tags = titles.map(title => `<discovered>${title}</discovered>`);
    for (const isActive of [false, true]) {
      const workspace = await Workspace.create(t, { stories: openStories(2) });
      const run = workspace.script([
        reports('US-001', ...tags),
        [...(isActive ? [{ wait: 'go' }] : []), ...reports('US-002')],
        ...titles.map((): Step[] => ['work']),
      ]);
      if (isActive) {
        await until(
          'the second agent',
          async () => (await workspace.events('agent.started')).length > 1,
        );
      } else {
        assert.equal((await run.finished).code, 0);
      }
      const pieces: readonly { id: string }[] = await found(workspace);
      assert.equal(pieces.length, titles.length);
      const accepted: string[] = [];
      for (const [at, { id }] of pieces.entries()) {
        const decisions = [
          ['accept', id],
          ['drop', id],
        ];
        // Whichever is started first is not always the winner.
        const order = at % 2 === 0 ? decisions : decisions.toReversed();
        const ended = await Promise.all(
          order.map(words => workspace.cli('discovered', ...words).finished),
        );
        assert.deepEqual(ended.map(({ code }) => code).sort(), [0, 1], JSON.stringify(ended));
        const lost = ended.find(({ code }) => code === 1)?.stderr ?? '';
        const isAccepted = /is already the story|was accepted, and the active run/.test(lost);
        assert.ok(isAccepted || /was dropped\. To make it a story all the same/.test(lost), lost);
        accepted.push(...(isAccepted ? [id] : []));
      }
      if (isActive) {
        await workspace.note('go');
        assert.equal((await run.finished).code, 0);
      }
      const ids = (await workspace.stories()).map(({ id }) => id);
      assert.deepEqual(ids, ['US-001', 'US-002', ...accepted]);
      const states = await found(workspace, '--all');
      assert.deepEqual(
        states.map(({ id, state }: Record<string, string>) => [id, state]),
        pieces.map(({ id }) => [id, accepted.includes(id) ? 'added' : 'dropped']),
      );
      const dropped = pieces.find(({ id }) => !accepted.includes(id));
      if (dropped !== undefined) {
        await told(workspace, 1, 'discovered', 'edit', dropped.id, 'Other');
        await told(workspace, 0, 'discovered', 'accept', dropped.id.toLowerCase(), '--dropped');
        assert.equal((await workspace.stories()).at(-1)?.id, dropped.id);
      }
    }
  });

  test('gets a number of its own if two are accepted at the same moment', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    await writeBacklog(path.join(workspace.folder, 'backlog'), [{ id: 'task-1', title: 'First' }]);
    const run = await workspace.script([
      [
        { replace: [FILES['task-1'] ?? '', 'To Do', 'Done'] },
        { commit: 'feat: one' },
        { result: [[LIMIT, ROTATE].join('\n'), {}] },
      ],
    ]).finished;
    assert.equal(run.code, 0, run.stderr);
    const pieces: readonly { id: string }[] = await found(workspace);
    await Promise.all(pieces.map(({ id }) => told(workspace, 0, 'discovered', 'accept', id)));
    const { stories } = JSON.parse(await told(workspace, 0, 'stories', '--json'));
    assert.deepEqual(
      stories.map(({ id }: { id: string }) => id),
      ['task-1', 'task-2', 'task-3'],
    );
  });

  test('waits where only another tool adds stories, also during a run', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const name = 'sprint-status.yaml';
    await workspace.write(
      name,
      'development_status:\n  epic-1: in-progress\n  1-1-first: backlog\n',
    );
    const tick = { replace: [name, 'backlog', 'done'] };
    const steps = [tick, { commit: 'feat: one' }, { result: [LIMIT, {}] }];
    const run = await workspace.script([steps], '--accept-discovered').finished;
    assert.equal(run.code, 0, run.stderr + run.stdout);
    assert.deepEqual(await workspace.events('discovery.accepted'), []);
    assert.deepEqual(await workspace.events('discovery.refused'), []);
    const warnings = await workspace.events('warning');
    assert.equal(warnings.filter(({ code }) => code === 'discoveredWaits').length, 1);
    const [{ id }] = await found(workspace);
    const before = await workspace.read(name);
    const said = await told(workspace, 1, 'discovered', 'accept', id);
    assert.match(said, /Only BMAD adds stories .*sprint planning.*"Limit the log in: five tries"/);
    assert.match(said, new RegExp(`ralph-fresh discovered drop ${id}\n`));
    assert.equal(await workspace.read(name), before);
    // A later run does not know it by itself, and counts it like the list of stories.
    await workspace.write(name, before.replace('done', 'backlog'));
    const again = await workspace.script([[tick, { commit: 'feat: two' }]]).finished;
    assert.equal(again.code, 0, again.stderr + again.stdout);
    for (const command of ['status', 'stories']) {
      assert.match(await told(workspace, 0, command), /^Discovered by agents.*: 1 \(ralph-fresh/m);
    }
  });

  inAll(test)(
    'is a file of its own in a folder of Backlog.md, with one agent and with two',
    async t => {
      for (const flags of [[], ['--lanes', '2']]) {
        const workspace = await Workspace.create(t, { stories: undefined });
        const dir = path.join(workspace.folder, 'backlog');
        const [first, second] = [
          { id: 'task-1', title: 'First' },
          { id: 'task-2', title: 'Second' },
        ];
        await writeBacklog(dir, [first, second]);
        await workspace.git('add', '.');
        await workspace.git('commit', '-q', '-m', 'Tasks');
        const work = (story: string, ...tags: readonly string[]): Step[] => [
          { write: [`${story}.txt`, story] },
          { replace: [FILES[story] ?? '', 'To Do', 'Done'] },
          { commit: `feat: ${story}` },
          { result: [tags.join('\n'), {}] },
        ];
        const run = workspace.scriptOf(
          {
            'task-1': [work('task-1', LIMIT)],
            'task-2': [[{ wait: 'go' }, ...work('task-2')]],
            'task-3': [work('task-3')],
          },
          ...flags,
        );
        const { id } = await workspace.event('discovery.reported');
        await until(
          'the second agent',
          async () => (await workspace.events('agent.started')).length > 1,
        );
        assert.match(await told(workspace, 0, 'discovered', 'accept', id), /Accepted/);
        await workspace.note('go');
        const { code, stderr, stdout } = await run.finished;
        assert.equal(code, 0, stderr + stdout);
        const [added] = await workspace.events('discovery.added');
        assert.equal(added?.storyId, 'task-3');
        assert.deepEqual(await workspace.events('guard.found'), []);
        assert.deepEqual(await workspace.events('target.held'), []);
        const files = await filesIn(path.join(dir, 'tasks'));
        const text = files['task-3 - Limit-the-log-in.md'] ?? '';
        assert.match(text, /^id: task-3\ntitle: Limit the log in\nstatus: Done\n/m);
        assert.match(text, /Discovered during task-1: five tries/);
        assert.equal(Object.keys(files).length, 3);
      }
    },
  );
});
