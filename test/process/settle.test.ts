import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { type Settlement, settleWithSide } from '../../src/orchestrator/loop/settlement.ts';
import { conflictedFiles } from '../../src/orchestrator/places/conflictedPlace.ts';
import { openStories, type RunningCli, type Step, until, Workspace } from '../support/ralph.ts';
import { sameValue } from '../support/sameValue.ts';
import { heard } from '../support/scenario.ts';
import { inAll } from '../support/variants.ts';

/** An agent that does its story in a file that others change as well. */
const writes = (id: string, line: string): readonly Step[] => [
  { write: ['shared.txt', `one\n${line}\nthree\n`] },
  { write: [`${id}.txt`, `${id}\n`] },
  { tick: id },
  { commit: `feat: ${id}` },
  { result: [`${id} is done.`] },
];

interface Conflict {
  readonly workspace: Workspace;
  readonly loop: RunningCli;
}

/** US-001 has landed, US-002 conflicts with it, and its next agent waits. */
async function conflict(
  t: Parameters<typeof Workspace.create>[0],
  { args = [], next = [] }: { args?: readonly string[]; next?: readonly Step[] } = {},
): Promise<Conflict> {
  const found = await untilConflict(t, args, [
    [{ text: 'I begin again.' }, ...next, { wait: 'again' }, ...writes('US-002', 'AGAIN')],
  ]);
  await heard(found.workspace, 'I begin again.');
  return found;
}

/** The same, with these further agents of US-002. */
async function untilConflict(
  t: Parameters<typeof Workspace.create>[0],
  args: readonly string[],
  further: readonly (readonly Step[])[],
): Promise<Conflict> {
  const workspace = await Workspace.create(t, { stories: openStories(2) });
  await workspace.write('shared.txt', 'one\ntwo\nthree\n');
  workspace.git('add', '-A');
  workspace.git('commit', '--quiet', '-m', 'Files of the project');
  const loop = workspace.scriptOf(
    {
      'US-001': [[{ wait: 'first' }, ...writes('US-001', 'FIRST')]],
      'US-002': [
        [{ text: 'I begin US-002.' }, { wait: 'second' }, ...writes('US-002', 'SECOND')],
        ...further,
      ],
    },
    ...['--lanes', '2', ...args],
  );
  await heard(workspace, 'I begin US-002.');
  await workspace.note('first');
  await workspace.event('landing.landed');
  await workspace.note('second');
  return { workspace, loop };
}

/** What a command prints; fails if it ends with another code. */
async function told(workspace: Workspace, code: number, ...args: readonly string[]) {
  const finished = await workspace.cli(...args).finished;
  assert.equal(finished.code, code, `${args.join(' ')}: ${finished.stdout}${finished.stderr}`);
  return finished.stdout + finished.stderr;
}

async function settle(workspace: Workspace, ...args: readonly string[]) {
  // From anywhere: a command has options of its own next to those of the command above it.
  const named = ['--cwd', workspace.folder, '--json', ...args];
  const data = await told(workspace, 0, 'places', 'settle', 'us-002', ...named);
  return JSON.parse(data) as { place: string; branch: string; files: { path: string }[] };
}

const solution = 'one\nFIRST and SECOND\nthree\n';

/** A person settles the conflict as it should be, and says so. */
async function solve(place: string): Promise<void> {
  await writeFile(path.join(place, 'shared.txt'), solution);
  execFileSync('git', ['add', 'shared.txt'], { cwd: place });
}

async function marksIn(place: string) {
  return (await conflictedFiles({ root: place }, [])).map(({ marks }) => marks);
}

/** What the branch has at the end, exactly once. */
async function requireLanded(workspace: Workspace): Promise<void> {
  sameValue(await workspace.done(), ['US-001', 'US-002']);
  assert.equal(workspace.git('show', 'main:shared.txt'), solution.trimEnd());
  assert.equal(workspace.git('show', 'main:US-002.txt'), 'US-002');
  assert.equal(workspace.git('status', '--short'), '');
  const landed = (await workspace.events('landing.landed')).map(({ storyId }) => storyId);
  sameValue(landed, ['US-001', 'US-002']);
  const found = workspace.git('log', '--format=%s', '--grep', 'Ralph-Story: US-002', 'main');
  assert.equal(found, 'feat: US-002');
}

describe('a conflict that a person settles', { concurrency: 2 }, () => {
  test('lands through the queue of the active run, with its checks; its agent is ended first', async t => {
    const { loop, workspace } = await conflict(t, {
      args: ['--verify', 'grep -q FIRST shared.txt'],
      next: [{ write: ['half.txt', 'half\n'] }, { commit: 'feat: half' }],
    });
    assert.match(await told(workspace, 1, 'places', 'settle', 'US-001', '--stop'), /no conflict/);
    assert.match(
      await told(workspace, 1, 'places', 'settle', 'US-002'),
      /An agent works on US-002 now\. To end it .*places settle US-002 --stop/,
    );
    const { branch, files, place } = await settle(workspace, '--stop');
    sameValue([branch, files], ['main', [{ path: 'shared.txt', kind: 'text', settled: false }]]);
    const marked = await readFile(path.join(place, 'shared.txt'), 'utf8');
    assert.match(marked, /^<<<<<<< HEAD\nFIRST\n=======\nSECOND\n>>>>>>> ralph-fresh\/agent$/m);
    assert.equal(await readFile(path.join(place, 'US-002.txt'), 'utf8'), 'US-002\n');
    await until('the agent has ended', async () =>
      (await workspace.events('iteration.ended')).some(({ outcome }) => outcome === 'stopped'),
    );
    const listed = JSON.parse(await told(workspace, 0, 'stories', '--json'));
    assert.equal(listed.stories[1].state, 'settling');
    assert.match(await told(workspace, 0, 'stories'), /US-002 +you settle it/);
    // The run waits, and starts no other agent.
    await workspace.event('pause.started');
    assert.match(await told(workspace, 0, 'status'), / · you settle: US-002$/m);
    assert.match(
      await told(workspace, 1, 'land', 'US-002'),
      /cannot land yet: these files still have conflict markers: shared\.txt\./,
    );
    assert.deepEqual(await marksIn(place), ['untouched']);
    // What is settled in part must not be replaced by a merge editor.
    await writeFile(path.join(place, 'shared.txt'), `${marked}settled\n`);
    assert.deepEqual(await marksIn(place), ['edited']);
    // A merge editor in which no side was chosen saves the old text.
    await writeFile(path.join(place, 'shared.txt'), 'one\ntwo\nthree\n');
    assert.match(
      await told(workspace, 1, 'land', 'US-002'),
      /cannot land yet: git does not know that these files are settled: shared\.txt\. .*"git add"/,
    );
    assert.match(
      await told(workspace, 0, 'places', 'settle', 'US-002'),
      /shared\.txt: no conflict markers are left\..*"git add"/,
    );
    // Asked for once more, the place is as the person left it.
    await solve(place);
    const again = await settle(workspace);
    sameValue([again.place, again.files], [place, [{ ...files[0], settled: true }]]);
    assert.match(await told(workspace, 0, 'land', 'us-002'), /US-002 waits to land/);
    const { code, stderr } = await loop.finished;
    assert.equal(code, 0, stderr);
    await requireLanded(workspace);
    const checks = await workspace.events('check.ended');
    sameValue(
      checks.map(({ iteration, ok }) => [iteration, ok]),
      [
        [1, true],
        [2, true],
      ],
    );
    assert.ok(!existsSync(place), 'the place is removed');
    const ends = await workspace.events('iteration.ended');
    sameValue(
      ends.map(({ iteration, outcome }) => [iteration, outcome]),
      [
        [1, 'storyDone'],
        [2, 'rejected'],
        [3, 'stopped'],
        [2, 'storyDone'],
      ],
    );
    const receipt = JSON.parse(await told(workspace, 0, 'receipt', '--json'));
    sameValue(
      receipt.iterations.map(({ outcome }: { outcome: string }) => outcome),
      ['storyDone', 'storyDone', 'stopped'],
    );
    assert.match(await told(workspace, 1, 'places', 'settle', 'US-002'), /no conflict to settle/);
  });

  inAll(test)(
    'lands as the person settles it, also if the agent that was ended had marked the story as done',
    async t => {
      const { loop, workspace } = await conflict(t, {
        next: [
          { write: ['half.txt', 'half\n'] },
          { tick: 'US-002' },
          { text: 'I am nearly done.' },
        ],
      });
      await heard(workspace, 'I am nearly done.');
      const { place } = await settle(workspace, '--stop');
      await until('the agent has ended', async () =>
        (await workspace.events('iteration.ended')).some(({ outcome }) => outcome === 'stopped'),
      );
      await workspace.event('pause.started');
      await solve(place);
      await told(workspace, 0, 'land', 'US-002');
      const { code, stderr } = await loop.finished;
      assert.equal(code, 0, stderr);
      await requireLanded(workspace);
      assert.equal(workspace.git('ls-tree', '--name-only', 'main', 'half.txt'), '');
    },
  );

  test('goes back to an agent that continues with it if the checks fail', async t => {
    const { loop, workspace } = await conflict(t, {
      args: ['--verify', 'grep -q -e AGAIN -e "^FIRST$" shared.txt'],
    });
    const { place } = await settle(workspace, '--stop');
    await solve(place);
    await told(workspace, 0, 'land', 'US-002');
    const returned = await until('the return', async () =>
      (await workspace.events('landing.returned')).find(({ reason }) => reason === 'checks'),
    );
    assert.equal(returned.iteration, 2);
    await workspace.note('again');
    const { code, stderr } = await loop.finished;
    assert.equal(code, 0, stderr);
    sameValue(await workspace.done(), ['US-001', 'US-002']);
    assert.equal(workspace.git('show', 'main:shared.txt'), 'one\nAGAIN\nthree');
    // It is no failure of an agent, and the next one had the commit of the person.
    const subjects = workspace.git('log', '--format=%s', 'main').split('\n');
    assert.ok(subjects.includes('Settle the conflict of US-002 with what has landed'));
  });

  test('lands once even if the loop is killed while it lands', async t => {
    const look = "fs.readFileSync('shared.txt', 'utf8').includes(' and ')";
    const wait = "!fs.existsSync(process.env.FAKE_AGENT_NOTES + '/go')";
    const check = `node -e "${look} && ${wait} && setTimeout(() => 0, 600000)"`;
    const { loop, workspace } = await conflict(t, { args: ['--verify', check] });
    const { place } = await settle(workspace, '--stop');
    await solve(place);
    await told(workspace, 0, 'land', 'US-002');
    await until('the check of what was settled', async () =>
      (await workspace.events('check.started')).some(({ iteration }) => iteration === 2),
    );
    process.kill(loop.pid, 'SIGKILL');
    await loop.finished;
    await workspace.note('go');
    const { code, stderr, stdout } = await workspace.scriptOf({}, '--lanes', '2').finished;
    assert.equal(code, 0, stdout + stderr);
    await requireLanded(workspace);
  });

  inAll(test)(
    'lands even if the loop was killed meanwhile, and no agent starts before that',
    async t => {
      const { loop, workspace } = await conflict(t);
      const { place } = await settle(workspace, '--stop');
      await workspace.event('pause.started');
      process.kill(loop.pid, 'SIGKILL');
      await loop.finished;
      // The run continues, and still waits for the person.
      const second = workspace.scriptOf({}, '--lanes', '2');
      await until(
        'the next pause',
        async () => (await workspace.events('pause.started')).length > 1,
      );
      await solve(place);
      await told(workspace, 0, 'land', 'US-002');
      const { code, stderr, stdout } = await second.finished;
      assert.equal(code, 0, stdout + stderr);
      await requireLanded(workspace);
      assert.equal((await workspace.agents()).length, 3, 'no further agent');
    },
  );

  test('lands on top of later landings, and only with the commit that the person made', async t => {
    const { loop, workspace } = await conflict(t);
    const { place } = await settle(workspace, '--stop');
    await solve(place);
    await workspace.write('mine.txt', 'mine\n');
    workspace.git('add', 'mine.txt');
    workspace.git('commit', '--quiet', '-m', 'Mine');
    // A request that names another commit than the one that was made is refused.
    const [runId = ''] = await workspace.runIds();
    const forged = { type: 'land', storyId: 'US-002', head: 'a'.repeat(40) };
    await appendFile(workspace.files.inboxFile(runId), `${JSON.stringify(forged)}\n`);
    const returned = await until('the refusal', async () =>
      (await workspace.events('landing.returned')).find(({ reason }) => reason === 'gone'),
    );
    assert.equal(returned.head, forged.head);
    await workspace.note('again');
    const { code, stderr } = await loop.finished;
    assert.equal(code, 0, stderr);
    assert.equal(workspace.git('show', 'main:mine.txt'), 'mine');
  });

  test('needs a decision for binary and deleted files, and handles unusual file names', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const names = ['gone here.txt', '$(there)\u202e.txt', ':(top)image.bin'] as const;
    const [here, there, binary] = names;
    for (const name of names) {
      await workspace.write(name, name === binary ? 'a\0a' : 'first\n');
    }
    workspace.git('add', '-A');
    workspace.git('commit', '--quiet', '-m', 'Files of the project');
    const ends = (id: string) => [{ tick: id }, { commit: id }, { result: [`${id} is done.`] }];
    const loop = workspace.scriptOf(
      {
        'US-001': [
          [
            { wait: 'first' },
            ...[{ shell: `rm '${here}'` }, { write: [there, 'branch\n'] }],
            ...[{ write: [binary, 'b\0b'] }, ...ends('US-001')],
          ],
        ],
        'US-002': [
          [
            ...[{ text: 'I begin US-002.' }, { wait: 'second' }, { write: [here, 'agent\n'] }],
            ...[{ shell: `rm '${there}'` }, { write: [binary, 'c\0c'] }, ...ends('US-002')],
          ],
          [{ text: 'I begin again.' }, { wait: 'never' }],
        ],
      },
      ...['--lanes', '2'],
    );
    await heard(workspace, 'I begin US-002.');
    await workspace.note('first');
    await workspace.event('landing.landed');
    await workspace.note('second');
    await heard(workspace, 'I begin again.');
    const { files, place } = await settle(workspace, '--stop');
    sameValue(
      files.map(file => [file.path, (file as unknown as { kind: string }).kind]),
      [
        [there, 'deletedThere'],
        [binary, 'binary'],
        [here, 'deletedHere'],
      ],
    );
    assert.match(
      await told(workspace, 1, 'land', 'US-002'),
      /git cannot know which version counts of .*use "git add" .*or "git rm"/,
    );
    const settlement = { root: place } as Settlement;
    await settleWithSide(settlement, here, 'branch');
    await settleWithSide(settlement, there, 'agent');
    await settleWithSide(settlement, binary, 'agent');
    await told(workspace, 0, 'land', 'US-002');
    const { code, stderr } = await loop.finished;
    assert.equal(code, 0, stderr);
    assert.ok(!existsSync(path.join(workspace.folder, here)));
    assert.ok(!existsSync(path.join(workspace.folder, there)));
    assert.equal(await workspace.read(binary), 'c\0c');
  });

  test('lands first in the next run if none is active', async t => {
    const { loop, workspace } = await conflict(t);
    await told(workspace, 0, 'stop');
    assert.equal((await loop.finished).code, 130);
    const { place } = await settle(workspace);
    assert.match(await told(workspace, 0, 'status'), /^You settle: US-002\. .*land US-002$/m);
    assert.match(
      await told(workspace, 0, 'next'),
      /^No story is ready\. You settle US-002\. Land it with: ralph-fresh land US-002$/m,
    );
    await solve(place);
    assert.match(
      await told(workspace, 0, 'land', 'US-002'),
      /US-002 lands first when the run continues: ralph-fresh run --resume/,
    );
    assert.match(
      await told(workspace, 0, 'status'),
      /^Waits to land, first when the run continues \(ralph-fresh run --resume\): US-002$/m,
    );
    const { queuedStories } = JSON.parse(await told(workspace, 0, 'status', '--json'));
    sameValue(queuedStories, ['US-002']);
    assert.match(await told(workspace, 0, 'stories'), /US-002 +waits to land/);
    const next = JSON.parse(await told(workspace, 0, 'next', '--json'));
    sameValue(next, { id: null, reason: 'skipped', queued: ['US-002'] });
    const second = workspace.scriptOf({}, '--lanes', '2');
    const { code, stderr, stdout } = await second.finished;
    assert.equal(code, 0, stdout + stderr);
    assert.equal((await workspace.runIds()).length, 1, 'the same run continues');
    await requireLanded(workspace);
    assert.equal((await workspace.agents()).length, 3, 'no further agent');
    assert.match(await told(workspace, 0, 'places'), /Nothing is kept that has not landed\./);
  });

  test('is not said to have failed any more once it waits to land', async t => {
    const { loop, workspace } = await untilConflict(t, ['--fail-threshold', '1'], []);
    const { code, stdout } = await loop.finished;
    assert.equal(code, 1, stdout);
    const failed = /No story is ready\. Left: US-002\. US-002 has failed: .*shared\.txt/;
    assert.match(stdout, failed);
    assert.match(await told(workspace, 0, 'status'), failed);
    const { place } = await settle(workspace);
    await solve(place);
    await told(workspace, 0, 'land', 'US-002');
    const status = await told(workspace, 0, 'status');
    assert.match(status, /^No story was ready\. Left: US-002\.\n/);
    assert.match(status, /^Waits to land, first when the run continues .*: US-002$/m);
    assert.doesNotMatch(status, /has failed|Fix the cause/);
    const second = await workspace.scriptOf({}, '--resume', '--lanes', '2').finished;
    assert.equal(second.code, 0, second.stdout + second.stderr);
    await requireLanded(workspace);
  });

  test('is refused with the stories that there are if the id is mistyped', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const unknown = /has no story "US-999"\. It has US-001, US-002\./;
    for (const args of [['land'], ['places', 'settle'], ['places', 'settle', '--cancel']]) {
      assert.match(await told(workspace, 64, ...args, 'US-999'), unknown);
      const none = await told(workspace, 1, ...args, 'US-001');
      assert.match(none, /There is no run in this folder yet\. Start one with "ralph-fresh run"\./);
    }
  });

  test('can be given back: the changes are kept, and an agent starts', async t => {
    const { loop, workspace } = await conflict(t);
    const { place } = await settle(workspace, '--stop');
    await solve(place);
    await workspace.event('pause.started');
    assert.match(
      await told(workspace, 0, 'places'),
      /not been kept\. A conflict is settled there: ralph-fresh land US-002$/m,
    );
    assert.match(
      await told(workspace, 1, 'places', 'discard', 'US-002', '--yes'),
      /You settle the conflict of US-002 now\. Give it back first/,
    );
    const text = await told(workspace, 0, 'places', 'settle', 'US-002', '--cancel');
    const [, ref = ''] = /is kept: git show (\S+)/.exec(text) ?? [];
    assert.equal(workspace.git('show', `${ref}:shared.txt`), solution.trimEnd());
    assert.ok(!existsSync(place));
    assert.match(
      await told(workspace, 1, 'land', 'US-002'),
      /You are not settling a conflict of US-002/,
    );
    await workspace.note('again');
    const { code, stderr } = await loop.finished;
    assert.equal(code, 0, stderr);
    sameValue(await workspace.done(), ['US-001', 'US-002']);
  });
});
