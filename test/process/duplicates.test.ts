import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openStories, type Step, Workspace } from '../support/ralph.ts';

const HELPER = `/** The words of a title that fit. */
export function shortenTitle(title, most) {
  const words = title.trim().split(' ').filter(word => word.length > 0);
  let shown = words.shift() ?? 'untitled';
  for (const word of words) {
    if (shown.concat(' ', word).length > most) {
      return shown.concat('…');
    }
    shown = shown.concat(' ', word);
  }
  return shown.normalize('NFC');
}
`;
const COPY = HELPER.replaceAll('shortenTitle', 'cutHeading').replaceAll('title', 'heading');
const REST = `export function parseRange(text) {
  const [from, to] = text.split('-').map(Number);
  if (from === undefined || Number.isNaN(from)) {
    throw new RangeError(text);
  }
  return Array.from({ length: (to ?? from) - from + 1 }, (_, index) => from + index);
}
`;

/** A project with a helper, and the stories that agents work on. */
async function project(t: Parameters<typeof Workspace.create>[0], stories = 2) {
  const workspace = await Workspace.create(t, { stories: openStories(stories), hasPointers: true });
  await workspace.write('text.js', HELPER + REST);
  workspace.git('add', '-A');
  workspace.git('commit', '--quiet', '-m', 'A helper');
  return workspace;
}

const does = (id: string, ...steps: readonly Step[]): readonly Step[] => [
  ...steps,
  { tick: id },
  { commit: `feat: ${id}` },
  { result: [`${id} is done.`] },
];

describe('existing code that an agent wrote again', { concurrency: 2 }, () => {
  test('what is committed counts, and not what is in the folder now', async t => {
    const workspace = await project(t);
    const { stderr, code } = await workspace.script([
      [
        { write: ['copied.js', COPY] },
        { write: ['own.js', 'export const pages = 3;\n'] },
        { write: ['two\nlines.js', COPY] },
        { tick: 'US-001' },
        { commit: 'feat: US-001' },
        { write: ['copied.js', '// Nothing is left.\n'] },
        { write: ['own.js', COPY] },
        { result: ['US-001 is done.'] },
      ],
      ['work'],
    ]).finished;
    assert.equal(code, 0, stderr);
    const [found] = await workspace.events('duplicates.found');
    assert.deepEqual(
      found?.duplicates.map(({ file, name }) => [file, name]),
      [['copied.js', 'cutHeading']],
    );
  });

  test('a copied helper is in the journal, the receipt, the terminal and the next prompt', async t => {
    const workspace = await project(t, 3);
    const { stdout, stderr, code } = await workspace.script([
      does('US-001', { write: ['page.js', COPY] }),
      does('US-002', { write: ['notes.txt', 'no code'] }),
      ['work'],
    ]).finished;
    assert.equal(code, 0, stderr);
    const [found, ...others] = await workspace.events('duplicates.found');
    assert.deepEqual(others, []);
    const { duplicates, iteration, looked, storyId } = found ?? {};
    assert.deepEqual([iteration, storyId, looked], [1, 'US-001', 2]);
    assert.deepEqual(duplicates, [
      {
        ...{ kind: 'body', file: 'page.js', line: 2, name: 'cutHeading' },
        other: { file: 'text.js', line: 2, name: 'shortenTitle' },
      },
    ]);
    assert.match(stdout, /New code repeats what is there already:\n +- cutHeading \(page\.js:2\)/);
    const told =
      /Iteration 1 added what was there already.*`cutHeading` \(page\.js:2\) repeats `shortenTitle` \(text\.js:2\)/;
    assert.doesNotMatch(await workspace.prompt(1), /added what was there/);
    assert.match(await workspace.prompt(1), /Before implementing, find what exists/);
    assert.match(await workspace.prompt(2), told);
    // Another agent has committed since.
    assert.doesNotMatch(await workspace.prompt(3), /added what was there/);
    const receipt = async (...args: readonly string[]) =>
      (await workspace.cli('receipt', ...args).finished).stdout;
    assert.match(await receipt('1'), /Repeats what was there already:\n +cutHeading/);
    const [first, second] = JSON.parse(await receipt('--json')).iterations;
    assert.deepEqual([first.duplicates.length, second.duplicates], [1, null]);
  });

  test('moved and new functions are not reported; the empty list shows that the comparison ran, also without pointers', async t => {
    const workspace = await project(t);
    const { code, stderr, stdout } = await workspace.script(
      [
        does('US-001', { write: ['title.js', HELPER] }, { write: ['text.js', REST] }),
        does('US-002', {
          write: [
            'range.js',
            'export function sumOfAll(all) {\n  return all.reduce((a, b) => a + b);\n}\n',
          ],
        }),
      ],
      '--context-tokens',
      '0',
    ).finished;
    assert.equal(code, 0, stderr);
    const found = await workspace.events('duplicates.found');
    assert.deepEqual(
      found.map(({ duplicates, iteration, looked }) => [iteration, looked, duplicates]),
      [
        [1, 2, []],
        [2, 2, []],
      ],
    );
    assert.doesNotMatch(stdout, /repeats/);
    assert.doesNotMatch(await workspace.prompt(2), /added what was there/);
  });

  test('with lanes, what has landed is compared with the branch before it', async t => {
    const workspace = await project(t, 1);
    const run = workspace.scriptOf(
      { 'US-001': [does('US-001', { write: ['page.js', COPY] })] },
      ...['--lanes', '2', '--verify', 'true'],
    );
    assert.equal((await run.finished).code, 0, (await run.finished).stderr);
    const [found, ...others] = await workspace.events('duplicates.found');
    assert.deepEqual(others, []);
    assert.deepEqual([found?.iteration, found?.duplicates.length], [1, 1]);
    const [ended] = await workspace.events('iteration.ended');
    assert.ok(Number(found?.seq) < Number(ended?.seq));
  });

  test('eval duplicates without a commit to look at says so, and fails', async t => {
    const workspace = await Workspace.create(t, { hasPointers: true });
    const evaluated = () => workspace.cli('eval', 'duplicates').finished;
    const short = await evaluated();
    assert.deepEqual([short.code, short.stdout], [1, '']);
    assert.match(short.stderr, /^ralph-fresh: The history of .* is too short: .*--repo\.\n$/);
    await workspace.write('notes.txt', 'No code\n');
    workspace.git('add', '-A');
    workspace.git('commit', '--quiet', '-m', 'Notes');
    const idle = await evaluated();
    assert.deepEqual([idle.code, idle.stdout], [1, '']);
    assert.match(idle.stderr, /None of the newest 150 commits .* Replay more with --commits\./);
  });

  test('eval duplicates replays the past, as words and as data', async t => {
    const workspace = await project(t);
    await workspace.write('page.js', COPY);
    workspace.git('add', '-A');
    workspace.git('commit', '--quiet', '-m', 'A page');
    const evaluated = async (...args: readonly string[]) =>
      (await workspace.cli('eval', 'duplicates', ...args).finished).stdout;
    assert.match(
      await evaluated('--list'),
      /^2 commits, 5 new functions and files, 1 reports \(20\.0 %\) in 1 commit\..*\n\w{10} body: cutHeading \(page\.js:2\) repeats shortenTitle \(text\.js:2\)/,
    );
    const data = JSON.parse(await evaluated('--json', '--commits', '1'));
    assert.deepEqual([data.commits, data.looked, data.reports.length], [1, 2, 1]);
    assert.equal(data.reports[0].kind, 'body');
  });
});
