import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { fakeAgent, openStories, type Step, Workspace } from '../support/ralph.ts';

const FULL_DISK = pathToFileURL(path.resolve(import.meta.dirname, '../support/fullDisk.mjs')).href;
const LOG = '.omc/progress.txt';
const HEAD = '# Log\n\n## Codebase Patterns\n- P1\n\n---\n\n';
const LONG = `${HEAD}${Array.from(
  { length: 100 },
  (_, index) => `## Iteration ${index + 1}\n- Did it\n- Learned ${index + 1}\n\n---\n`,
).join('')}`;

describe('compact', () => {
  test('shortens the log, and archives the text from before', async t => {
    const workspace = await Workspace.create(t);
    await workspace.write(LOG, LONG);
    const { code, stderr, stdout } = await workspace.cli('compact', '--json').finished;
    assert.equal(code, 0, stderr);
    const { archive, condensedEntries, linesAfter } = JSON.parse(stdout);
    assert.equal(await workspace.read(archive), LONG);
    const text = await workspace.read(LOG);
    assert.ok(text.startsWith(`${HEAD}## Compacted History (`));
    assert.ok(text.includes(`\nArchive: \`${archive}\`\n`));
    assert.ok(text.endsWith(LONG.slice(LONG.indexOf('## Iteration 61\n'))));
    assert.equal(condensedEntries, 60);
    assert.ok(linesAfter <= 300);
    const again = await workspace.cli('compact').finished;
    assert.match(again.stdout, /^Nothing to condense/);
    assert.equal(await workspace.read(LOG), text);
  });

  for (const full of ['progress.txt', 'progress.txt.ralph-fresh.tmp']) {
    test(`keeps the log, and no copy of it, if the disk has no space left for ${full}`, async t => {
      const workspace = await Workspace.create(t);
      await workspace.write(LOG, LONG);
      const env = { NODE_OPTIONS: `--import=${FULL_DISK}`, FULL_DISK_OF: `^${full}$` };
      const { code, stderr } = await workspace.cliWith(env, 'compact').finished;
      assert.equal(code, 1);
      assert.match(stderr, /^ralph-fresh: No space is left on the disk \(ENOSPC\)[^\n]*\n$/);
      assert.equal(await workspace.read(LOG), LONG);
      assert.deepEqual(await readdir(path.join(workspace.folder, '.omc/archive')), []);
    });
  }

  test('a run condenses a long log before its next agent, who still reads the patterns', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await workspace.write(LOG, LONG);
    const { code, stderr, stdout } = await workspace.script([['work'], ['work']]).finished;
    assert.equal(code, 0, stderr);
    const [event, ...others] = await workspace.events('progress.compacted');
    assert.deepEqual(others, []);
    assert.equal(event?.linesBefore, 507);
    assert.equal(await workspace.read(event.archive), LONG);
    assert.match(stdout, /Condensed \.omc\/progress\.txt from 507 to \d+ lines/);
    assert.ok((await workspace.read(LOG)).startsWith(`${HEAD}## Compacted History (`));
    for (const prompt of [await workspace.prompt(1), await workspace.prompt(2)]) {
      assert.match(prompt, /P1/);
      assert.match(prompt, /Learned 100/);
      assert.doesNotMatch(prompt, /progress\.txt.*not committed|cut off/);
    }
    assert.deepEqual(await workspace.events('warning'), []);
  });

  test('a run does not condense the log if a setting forbids it, and reports once why it cannot', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    await workspace.write(LOG, LONG);
    await workspace.script(
      [['work'], ['work'], ['work']],
      '--compact-at',
      '0',
      '--max-iterations',
      '1',
    ).finished;
    assert.equal(await workspace.read(LOG), LONG);
    await writeFile(path.join(workspace.folder, '.omc/archive'), 'a file');
    await workspace.script([['work'], ['work']]).finished;
    const codes = (await workspace.events('warning')).map(({ code }) => code);
    assert.deepEqual(
      codes.filter(code => code === 'progressNotCompacted'),
      ['progressNotCompacted'],
    );
    assert.equal(await workspace.read(LOG), LONG);
  });

  test('--dry-run writes nothing', async t => {
    const workspace = await Workspace.create(t);
    await workspace.write(LOG, LONG);
    const { code, stdout } = await workspace.cli('compact', '--dry-run').finished;
    assert.equal(code, 0);
    assert.match(stdout, /^Would shorten .* from 507 to \d+ lines/);
    assert.match(stdout, /## Compacted History/);
    assert.equal(await workspace.read(LOG), LONG);
    assert.ok(!existsSync(path.join(workspace.folder, '.omc/archive')));
  });

  test('a file that is not UTF-8 is refused, with its line', async t => {
    const workspace = await Workspace.create(t);
    const file = path.join(workspace.folder, LOG);
    await writeFile(file, Buffer.concat([Buffer.from(LONG), Buffer.from([0xff, 0x0a])]));
    const { code, stderr } = await workspace.cli('compact').finished;
    assert.equal(code, 1);
    assert.match(stderr, /progress\.txt: Line 508: /);
    assert.equal((await readFile(file)).at(-2), 0xff);
  });

  test('uses the limits of the settings, and says what it cannot read', async t => {
    const workspace = await Workspace.create(t);
    const none = await workspace.cli('compact').finished;
    assert.match(none.stdout, /^There is no progress log at .*progress\.txt yet\./);
    await workspace.write(LOG, LONG);
    await workspace.write('.omc/config.json', '{ "compactAt": 40 }');
    const { code, stdout } = await workspace.cli('compact', '--dry-run', '--json').finished;
    assert.equal(code, 0);
    // The newest entries in 20 lines stay.
    assert.equal(JSON.parse(stdout).condensedEntries, 96);
    await rename(
      path.join(workspace.folder, LOG),
      path.join(workspace.folder, '.omc/elsewhere.txt'),
    );
    await symlink('elsewhere.txt', path.join(workspace.folder, LOG));
    const link = await workspace.cli('compact').finished;
    assert.equal(link.code, 1);
    assert.match(link.stderr, /progress\.txt is a link, so it is left as it is\. Put a plain file/);
    assert.equal(await workspace.read('.omc/elsewhere.txt'), LONG);
    await rm(path.join(workspace.folder, LOG));
    await mkdir(path.join(workspace.folder, LOG));
    const folder = await workspace.cli('compact').finished;
    assert.match(
      folder.stderr,
      /progress\.txt is a folder, so it is left as it is\. Put a plain file/,
    );
  });

  test('is refused while a run is active', async t => {
    const workspace = await Workspace.create(t);
    await workspace.write(LOG, LONG);
    workspace.run('hangs', '--compact-at', '0');
    await workspace.agent();
    const { code, stderr } = await workspace.cli('compact').finished;
    assert.equal(code, 1);
    assert.match(stderr, /A run is already active .*ralph-fresh stop/);
    assert.ok(!(await readdir(path.join(workspace.folder, '.omc'))).includes('archive'));
  });

  test('--summarize uses the text of a read-only agent; what it omits is condensed as usual', async t => {
    const workspace = await Workspace.create(t);
    await workspace.write(LOG, LONG);
    const entries = [
      { number: 60, learnings: ['## Codebase Patterns\n- <!-- [x] Close the session', '', '---'] },
      { number: 60, learnings: ['Archive: nowhere'] },
      { number: 59, learnings: [] },
      { number: 4_711, learnings: ['of no entry'] },
    ];
    const before = await summarize(workspace, [answer({ entries })], '--dry-run');
    assert.equal(before.code, 0, before.stderr);
    assert.equal(await workspace.read(LOG), LONG);
    assert.ok(!existsSync(path.join(workspace.folder, '.omc/archive')));

    const { code, stderr, stdout } = await summarize(workspace, [answer({ entries })], '--json');
    assert.equal(code, 0, stderr);
    const { archive, condensedEntries, summarizedEntries } = JSON.parse(stdout);
    assert.deepEqual(
      { condensedEntries, summarizedEntries },
      { condensedEntries: 60, summarizedEntries: 1 },
    );
    assert.equal(await workspace.read(archive), LONG);
    const text = await workspace.read(LOG);
    assert.ok(text.startsWith(`${HEAD}## Compacted History (`));
    assert.ok(text.endsWith(LONG.slice(LONG.indexOf('## Iteration 61\n'))));
    assert.match(
      text,
      /\nEntry: Iteration 59\n- Did it\n- Learned 59\nEntry: Iteration 60\n- Codebase Patterns - \[x\] Close the session\n- Archive: nowhere\n/,
    );
    assert.doesNotMatch(text, /of no entry|<!--/);
    assert.equal(text.match(/^Archive: /gm)?.length, 1);

    const [note] = await workspace.notes();
    assert.ok(
      note?.args?.some(arg => /Read/.test(arg)) &&
        !note.args.some(arg => /Edit|Write|Bash/.test(arg)),
    );
  });

  test('the log stays unchanged if the agent of --summarize fails, lies or is missing', async t => {
    const workspace = await Workspace.create(t);
    await workspace.write(LOG, LONG);
    for (const call of [
      [{ result: ['I cannot.'] }],
      [answer({ entries: [{ number: 0, learnings: ['x'] }] })],
      [answer({ entries: [] })],
    ]) {
      const { code, stderr } = await summarize(workspace, call);
      assert.equal(code, 1);
      assert.match(
        stderr,
        /no valid summaries in 3 tries: .* The log is as it was\. Without --summarize/,
      );
      assert.equal(await workspace.read(LOG), LONG);
    }
    for (const [call, reason] of [
      [[{ exit: 3 }], 'exit code 3'],
      [[{ stderr: 'no disk space' }, { exit: 1 }], 'no disk space'],
    ] as const) {
      const { code, stderr } = await summarize(workspace, call);
      assert.equal(code, 1);
      assert.equal(
        stderr,
        `ralph-fresh: The planning agent failed: ${reason}. The log is as it was. Try again, or leave out --summarize: then it is condensed without an agent.\n`,
      );
      assert.equal(await workspace.read(LOG), LONG);
    }
    const demo = await workspace.cli('compact', '--summarize', '--agent', 'demo').finished;
    assert.equal(demo.code, 1);
    assert.match(demo.stderr, /The demo agent .* cannot summarize/);
    const useless = await workspace.cli('compact', '--agent', 'claude').finished;
    assert.equal(useless.code, 64);
    assert.match(useless.stderr, /Add --summarize\./);
    assert.equal(await workspace.read(LOG), LONG);
    assert.ok(!existsSync(path.join(workspace.folder, '.omc/archive')));
  });
});

function answer(value: object): Step {
  return { result: [`\`\`\`json\n${JSON.stringify(value)}\n\`\`\``] };
}

function summarize(workspace: Workspace, call: readonly Step[], ...args: readonly string[]) {
  return workspace.cliWith(
    { FAKE_AGENT_SCRIPT: JSON.stringify([call]) },
    ...['compact', '--summarize', '--agent', 'claude', '--claude-path', fakeAgent('scripted')],
    ...args,
  ).finished;
}
