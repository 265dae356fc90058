import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, readFile, rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { gitResult, writeGit } from '../../src/orchestrator/git/runGit.ts';
import { trailersNamed, withTrailers } from '../../src/orchestrator/git/trailers.ts';
import {
  type Candidate,
  type CandidateOptions,
  makeCandidate,
} from '../../src/orchestrator/landing/candidate.ts';
import { describeConflict } from '../../src/orchestrator/landing/conflict.ts';
import {
  hasEntries,
  withEntries,
  withEntriesOf,
  withTick,
  withTicksOf,
} from '../../src/orchestrator/landing/sharedFiles.ts';
import { KEEPER } from '../../src/orchestrator/places/placeHolding.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { gitRepo, type TempDir, tempDir } from '../support/cleanEnv.ts';
import { gitFolder } from '../support/gitFolder.ts';

const STORIES = '.omc/prd.json';
const LOG = '.omc/progress.txt';
const TRAILERS = { 'Ralph-Story': 'US-1', 'Ralph-Run': 'run-1', 'Ralph-Iteration': '3' };

/** A list with one story on each line, so that two ticks are a conflict for git. */
function prd(...done: readonly string[]): string {
  const stories = ['US-1', 'US-2', 'US-3'].map(
    id => `  {"id": "${id}", "title": "Story ${id}", "passes": ${done.includes(id)}}`,
  );
  return `{"userStories": [\n${stories.join(',\n')}\n]}\n`;
}

const LINES = Array.from({ length: 30 }, (_, i) => `line ${i}`);
const lines = (changes: Readonly<Record<number, string>> = {}) =>
  LINES.map((line, i) => `${changes[i] ?? line}\n`).join('');

describe('a candidate', () => {
  let temp: TempDir;
  let folder: string;
  let base: string;

  const { git, write, commit, head } = gitFolder(() => ({ folder, home: temp.path }));
  const at = (file: string) => path.join(folder, file);

  beforeEach(async () => {
    temp = await tempDir('candidate-');
    folder = path.join(temp.path, 'my projeçt');
    await gitRepo(folder);
    await write('a.txt', lines());
    await write(STORIES, prd());
    await write(LOG, '# Log\n\n## First\n- one\n');
    base = await commit('Start');
  });
  afterEach(() => temp.remove());

  /** Work of an agent that started at `base`, and the main branch as it was. */
  async function agent(work: () => Promise<unknown>): Promise<string> {
    await git('switch', '--quiet', '--detach', base);
    await work();
    const made = await head();
    await git('switch', '--quiet', 'main');
    return made;
  }

  async function make(work: string, more: Partial<CandidateOptions> = {}) {
    return makeCandidate({
      root: folder,
      target: await head(),
      work,
      base,
      storyFile: STORIES,
      progressFile: LOG,
      story: { id: 'US-1', position: 0, title: 'Story US-1' },
      progressText: '',
      landAs: 'squash',
      trailers: TRAILERS,
      ...more,
    });
  }

  async function made(work: string, more: Partial<CandidateOptions> = {}): Promise<Candidate> {
    const found = await make(work, more);
    assert.equal(found.kind, 'candidate', JSON.stringify(found));
    return found as Candidate;
  }

  const show = (commitHash: string, file: string) => readGit('show', `${commitHash}:${file}`);
  /** Not trimmed. */
  async function readGit(...args: string[]): Promise<string> {
    return (await gitResult(folder, args)).stdout.toString();
  }
  const message = (hash: string) => readGit('log', '-1', '--format=%B', hash);
  const names = async (hash: string) =>
    (await readGit('ls-tree', '-r', '-z', '--name-only', hash)).split('\0').slice(0, -1);

  /** Whatever it does, the person's repository stays as it is. */
  async function state(): Promise<string> {
    const refs = await git('for-each-ref');
    return [refs, await git('status', '--porcelain'), await git('ls-files', '--stage')].join('\n');
  }

  describe('its form', () => {
    test("a single commit lands on the target with the agent's message, author and date", async () => {
      const work = await agent(async () => {
        await write('a.txt', lines({ 2: 'by agent' }));
        await write('b.txt', 'new\n');
        await git('add', '--all');
        await git(
          ...['-c', 'user.name=Agént', '-c', 'user.email=a@b.c', 'commit', '--quiet'],
          ...['--date=1700000000 +0530', '-m', 'Add b'],
          ...['-m', 'Because.', '-m', 'Co-Authored-By: Claude <c@x.y>'],
        );
      });
      await write('a.txt', lines({ 20: 'by person' }));
      const target = await commit();
      await write('a.txt', 'uncommitted\n');
      await write('staged.txt', 'staged\n');
      await git('add', 'staged.txt');
      const before = await state();
      const { commit: hash, notTicked } = await made(work, {
        progressText: '## Second\n- two\n',
      });
      assert.equal(await state(), before);
      assert.equal(notTicked, undefined);
      assert.equal(await git('log', '-1', '--format=%P', hash), target);
      assert.equal(await show(hash, 'a.txt'), lines({ 2: 'by agent', 20: 'by person' }));
      assert.equal(await show(hash, STORIES), prd('US-1'));
      assert.equal(await show(hash, LOG), '# Log\n\n## First\n- one\n\n## Second\n- two\n');
      assert.equal(
        await git('log', '-1', '--format=%an %ae %ad %cn', '--date=raw', hash),
        'Agént a@b.c 1700000000 +0530 Test Person',
      );
      assert.equal(
        await message(hash),
        'Add b\n\nBecause.\n\nCo-Authored-By: Claude <c@x.y>\nRalph-Story: US-1\nRalph-Run: run-1\nRalph-Iteration: 3\n\n',
      );
      const value = '--format=%(trailers:key=Ralph-Iteration,valueonly,separator=)';
      assert.equal(await git('log', '-1', value, hash), '3');
      // The same as one commit, however several would land.
      const { commit: one } = await made(work, { landAs: 'merge' });
      assert.equal((await readGit('log', '-1', '--format=%P', one)).trim(), await head());
    });

    test('several commits are squashed into one that names all subjects and authors', async () => {
      const work = await agent(async () => {
        await write('b.txt', '1\n');
        await commit('First step\n\nCo-Authored-By: Claude <c@x.y>');
        await write('b.txt', '2\n');
        await commit('Second step');
        await write('b.txt', '3\n');
        await commit('Last step\n\nLong.\n\nCo-Authored-By: Claude <c@x.y>');
      });
      const { commit: hash } = await made(work);
      assert.equal(
        await message(hash),
        'Last step\n\n- Second step\n- First step\n\nCo-Authored-By: Claude <c@x.y>\nRalph-Story: US-1\nRalph-Run: run-1\nRalph-Iteration: 3\n\n',
      );
      assert.equal(await show(hash, 'b.txt'), '3\n');
    });

    test('several commits as a merge: they stay reachable', async () => {
      const work = await agent(async () => {
        await write('b.txt', '1\n');
        await commit('First step');
        await write('b.txt', '2\n');
        await git('add', '--all');
        await git('-c', 'user.name=Agent', 'commit', '-q', '-m', 'Last step', '-m', 'More');
      });
      await write('c.txt', 'c\n');
      const target = await commit();
      const { commit: hash } = await made(work, { landAs: 'merge' });
      assert.equal(await git('log', '-1', '--format=%P', hash), `${target} ${work}`);
      assert.equal(await git('log', '-1', '--format=%an', hash), 'Test Person');
      assert.equal(
        await message(hash),
        'Last step\n\nStory US-1: Story US-1\n\nRalph-Story: US-1\nRalph-Run: run-1\nRalph-Iteration: 3\n\n',
      );
      assert.equal(await show(hash, STORIES), prd('US-1'));
    });

    test('a merge made by the agent does not count as one of its commits', async () => {
      await write('c.txt', 'c\n');
      const target = await commit();
      const work = await agent(async () => {
        await write('b.txt', '1\n');
        await commit('The step');
        await git('merge', '--quiet', '--no-edit', '--no-ff', target);
      });
      const { commit: hash } = await made(work, { landAs: 'merge' });
      assert.match(await message(hash), /^The step\n/);
      assert.equal(await git('log', '-1', '--format=%P', hash), target);
      assert.deepEqual(await names(hash), [STORIES, LOG, 'a.txt', 'b.txt', 'c.txt']);
    });

    test('a merge that contains changes of its own also lands', async () => {
      await write('c.txt', 'c\n');
      const target = await commit();
      const work = await agent(async () => {
        await git('merge', '--quiet', '--no-commit', '--no-ff', target);
        await write('b.txt', 'in the merge\n');
        await commit('Merge and more');
      });
      const { commit: hash } = await made(work);
      assert.equal(await show(hash, 'b.txt'), 'in the merge\n');
      assert.match(await message(hash), /^Merge and more\n/);
    });

    for (const landAs of ['merge', 'squash'] as const) {
      test(`commits that a person removed from the history meanwhile stay removed (${landAs})`, async () => {
        await write('secret.txt', 'password\n');
        await write('a.txt', lines({ 1: 'of the commit that goes' }));
        const removed = await commit('A secret by mistake');
        const start = base;
        base = removed;
        const work = await agent(async () => {
          await write('b.txt', 'one\n');
          await commit('One');
          await write('a.txt', lines({ 1: 'of the commit that goes', 20: 'agent' }));
          await commit('Two');
        });
        await git('reset', '--quiet', '--hard', start);
        const { commit: hash } = await made(work, { landAs });
        assert.deepEqual(await names(hash), [LOG, STORIES, 'a.txt', 'b.txt'].sort());
        assert.equal(await show(hash, 'a.txt'), lines({ 20: 'agent' }));
        assert.equal(await show(hash, STORIES), prd('US-1'));
        const history = await readGit('rev-list', hash);
        assert.ok(!history.includes(removed), 'nor is it in the history');
        assert.match(await message(hash), /^Two\n/);
        // Lines that only were there with what was removed cannot be merged.
        base = removed;
        const other = await agent(async () => {
          await write('a.txt', lines({ 1: 'changed once more' }));
          await commit('Three');
        });
        const conflict = await make(other, { landAs });
        assert.ok(conflict.kind === 'conflict');
        assert.deepEqual(conflict.files, ['a.txt']);
      });
    }
    test('our commit of uncommitted work does not appear on the branch', async () => {
      const left = async () => {
        await write('left.txt', 'left\n');
        await git('add', '--all');
        const author = `${KEEPER.name} <${KEEPER.email}>`;
        await git('commit', '--quiet', '--author', author, '-m', 'Uncommitted work (kept)');
      };
      const add = async (file: string) => {
        await write(file, 'x\n');
        await git('add', '--all');
        await git('commit', '--quiet', '--author', 'An Agent <agent@example.com>', '-m', file);
      };
      const log = async (hash: string) =>
        (await readGit('log', '--format=%s, %an', hash, `^${await head()}`)).trim().split('\n');
      const person = (await readGit('log', '-1', '--format=%an', base)).trim();
      const alone = await made(await agent(left), { landAs: 'merge' });
      assert.deepEqual(await log(alone.commit), [`US-1: Story US-1, ${person}`]);
      const afterOne = async () => {
        await add('one.txt');
        await left();
      };
      const one = await made(await agent(afterOne), { landAs: 'merge' });
      assert.deepEqual(await log(one.commit), ['one.txt, An Agent']);
      assert.equal(await show(one.commit, 'left.txt'), 'left\n');
      const afterTwo = async () => {
        await add('one.txt');
        await add('two.txt');
        await left();
      };
      const two = await made(await agent(afterTwo), { landAs: 'merge' });
      assert.deepEqual((await log(two.commit)).sort(), [
        ...[`US-1: Story US-1, ${person}`, 'one.txt, An Agent', 'two.txt, An Agent'],
        `two.txt, ${person}`,
      ]);
      assert.equal(await show(two.commit, 'left.txt'), 'left\n');
    });

    test('without commits, our own commit is made for the tick and notes, if there are any', async () => {
      const own = await made(base);
      assert.match(await message(own.commit), /^US-1: done\n\nRalph-Story: US-1\n/);
      assert.equal(await show(own.commit, STORIES), prd('US-1'));
      const notes = await made(base, { story: undefined, progressText: '- n' });
      assert.match(await message(notes.commit), /^Work of an agent\n/);
      assert.equal((await make(base, { story: undefined })).kind, 'nothing');
      assert.equal((await make(base, { storyFile: undefined })).kind, 'nothing');
    });

    test('work that has already landed gives no candidate, including tick and notes', async () => {
      const work = await agent(async () => {
        await write('b.txt', '1\n');
        await commit('one');
        await write('b.txt', '2\n');
        await commit('two');
      });
      for (const landAs of ['squash', 'merge'] as const) {
        const options = { landAs, progressText: '## Two\n- 2\n' };
        const { commit: hash } = await made(work, options);
        await git('reset', '--quiet', '--hard', hash);
        assert.deepEqual(await make(work, options), { kind: 'nothing', notTicked: undefined });
        await git('reset', '--quiet', '--hard', base);
      }
    });
  });

  describe('the message', () => {
    async function messageAfter(text: string | Buffer, ...config: string[]): Promise<string> {
      const work = await agent(async () => {
        await write('b.txt', 'new\n');
        await git('add', '--all');
        const tree = await git('write-tree');
        const args = [...config, 'commit-tree', tree, '-p', base];
        const { stdout } = await gitResult(folder, args, { writes: true, input: text });
        await git('reset', '--quiet', '--hard', stdout.toString().trim());
      });
      return message((await made(work, { trailers: { 'Ralph-Story': 'US-1' } })).commit);
    }

    test('is kept if it is empty', async () => {
      assert.equal(await messageAfter(''), 'US-1: done\n\nRalph-Story: US-1\n\n');
      assert.equal(await messageAfter(' \n\n'), 'US-1: done\n\nRalph-Story: US-1\n\n');
    });

    test('is kept with CRLF and comment marks', async () => {
      assert.equal(
        await messageAfter('One\r\n\r\n# no comment\r\nCloses #3\r\n\r\nFixes: #1\r\n'),
        'One\n\n# no comment\nCloses #3\n\nFixes: #1\nRalph-Story: US-1\n\n',
      );
    });

    test('is kept in another encoding, declared or not', async () => {
      const latin = Buffer.from('Gr\u00fc\u00dfe\n', 'latin1');
      assert.equal(
        await messageAfter(latin, '-c', 'i18n.commitEncoding=ISO-8859-1'),
        'Grüße\n\nRalph-Story: US-1\n\n',
      );
      assert.equal(
        await messageAfter(latin, '-c', 'i18n.commitEncoding=binary'),
        'Grüße\n\nRalph-Story: US-1\n\n',
      );
    });

    test("gets trailers by git's rules", () => {
      const add = (text: string) => withTrailers(text, { 'Ralph-Story': 'A\n B' });
      assert.equal(add('subject: x'), 'subject: x\n\nRalph-Story: A B\n');
      assert.equal(add('s\n\nbody: with\nmore\n'), 's\n\nbody: with\nmore\n\nRalph-Story: A B\n');
      assert.equal(add('s\n\nA: b\n  c\n'), 's\n\nA: b\n  c\nRalph-Story: A B\n');
      assert.equal(
        add('s\n\nwords\nSigned-off-by: x\n'),
        's\n\nwords\nSigned-off-by: x\nRalph-Story: A B\n',
      );
      assert.equal(add('s\n\nralph-story: forged\n  twice\nA: b'), 's\n\nA: b\nRalph-Story: A B\n');
      assert.equal(add(''), 'Ralph-Story: A B\n');
      assert.equal(withTrailers('s\n\nb', {}), 's\n\nb\n');
      assert.deepEqual(trailersNamed('s\n\nA: b\nB: c\na: d', 'A'), ['A: b', 'a: d']);
    });

    test('is kept with an author that git would refuse', async () => {
      const work = await agent(async () => {
        await write('b.txt', 'new\n');
        await git('add', '--all');
        const tree = await git('write-tree');
        const raw = `tree ${tree}\nparent ${base}\nauthor <> x\ncommitter C <c@d> 1 +0000\n\nm\n`;
        const args = ['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'];
        await git('reset', '-q', '--hard', (await writeGit(folder, args, { input: raw })).trim());
      });
      const { commit: hash } = await made(work);
      assert.equal(await git('log', '-1', '--format=%an', hash), 'unknown');
    });
  });

  describe('shared files', () => {
    test('never conflict, whatever the agent wrote there', async () => {
      const work = await agent(async () => {
        await write('b.txt', 'new\n');
        await write(STORIES, '{"userStories": []}\n');
        await write(LOG, 'overwritten\n');
        await commit('Agent');
      });
      await write(STORIES, prd('US-2'));
      await write(LOG, '# Log\n\n## First\n- one\n\n## Other\n- x\n');
      await commit();
      const { commit: hash } = await made(work, { progressText: '\n## Mine\n- y' });
      assert.equal(await show(hash, STORIES), prd('US-1', 'US-2'));
      assert.equal(
        await show(hash, LOG),
        '# Log\n\n## First\n- one\n\n## Other\n- x\n\n## Mine\n- y\n',
      );
      assert.equal(
        await show((await made(work, { story: undefined })).commit, STORIES),
        prd('US-2'),
      );
    });

    test('keep their path if the agent moved or deleted them', async () => {
      const moved = await agent(async () => {
        await rename(at(STORIES), at('moved.json'));
        await rm(at(LOG));
        await write('b.txt', 'new\n');
        await commit('Agent');
      });
      await write(STORIES, prd('US-2'));
      await write(LOG, '# Log\n\n## First\n- changed\n');
      await commit();
      const { commit: hash } = await made(moved);
      assert.equal(await show(hash, STORIES), prd('US-1', 'US-2'));
      assert.equal(await show(hash, LOG), '# Log\n\n## First\n- changed\n');
      assert.ok((await names(hash)).includes('b.txt'));
    });

    test('do not conflict if one was moved and also ticked', async () => {
      const work = await agent(async () => {
        await git('mv', STORIES, 'moved.json');
        await write('moved.json', prd('US-1'));
        await commit('Agent');
      });
      await write(STORIES, prd('US-2'));
      await commit();
      assert.equal(await show((await made(work)).commit, STORIES), prd('US-1', 'US-2'));
    });

    test('conflict if a folder replaces one', async () => {
      const work = await agent(async () => {
        await rm(at(LOG));
        await write(`${LOG}/part`, 'x\n');
        await commit('Agent');
      });
      const found = await make(work);
      assert.deepEqual(found, { kind: 'conflict', reason: 'files', files: [LOG] });
    });

    test('are omitted if the target does not track them', async () => {
      await git('rm', '--quiet', '-r', '--cached', '.omc');
      base = await commitIndex('Untracked');
      const work = await agent(async () => {
        await write('b.txt', 'new\n');
        await write(STORIES, prd('US-1'));
        await write(LOG, 'mine\n');
        await git('add', '--all', '--force');
        await git('commit', '--quiet', '-m', 'Agent adds all');
        await git('rm', '--quiet', '-r', '--cached', '.omc');
        await git('stash', '--quiet', '--include-untracked');
        await git('reset', '--quiet', '--hard');
      });
      const { commit: hash, notTicked } = await made(work, { progressText: '- n' });
      assert.deepEqual(await names(hash), ['a.txt', 'b.txt']);
      assert.equal(notTicked, undefined);
      assert.equal((await make(base, { progressText: '- n' })).kind, 'nothing');
    });

    async function commitIndex(text: string): Promise<string> {
      await git('commit', '--quiet', '-m', text);
      return head();
    }

    test('are omitted if git ignores them and the agent force-added them', async () => {
      await git('rm', '--quiet', '-r', '--cached', '.omc');
      await write('.gitignore', '.omc/\n');
      base = await commit('Ignored');
      const work = await agent(async () => {
        await write('b.txt', 'new\n');
        await git('add', '--all');
        await git('add', '--force', '.omc');
        await git('commit', '--quiet', '-m', 'By force');
        // As the agent's clone has files of its own, this one must not be in the way.
        await git('update-index', '--force-remove', STORIES, LOG);
        await rm(at('.omc'), { recursive: true });
        await git('reset', '--quiet', '--hard');
        await git('rm', '--quiet', '-r', '--cached', '.omc');
        await git('reset', '--quiet', '--hard');
      });
      assert.deepEqual(await names((await made(work)).commit), ['.gitignore', 'a.txt', 'b.txt']);
    });

    test('keep their mode; a link is not followed', async () => {
      await chmod(at(LOG), 0o755);
      await rename(at(STORIES), at('real.json'));
      await symlink('../real.json', at(STORIES));
      base = await commit('Odd');
      const work = await agent(async () => {
        await chmod(at(LOG), 0o644);
        await write(LOG, 'x\n');
        await commit('Agent');
      });
      const { commit: hash } = await made(work, { progressText: '- n' });
      assert.match(await git('ls-tree', hash, LOG), /^100755 blob/);
      assert.match(await git('ls-tree', hash, STORIES), /^120000 blob/);
      assert.equal(await show(hash, LOG), '# Log\n\n## First\n- one\n\n- n\n');
    });

    test('leave the list alone if the target does not have the story', async () => {
      const work = await agent(async () => {
        await write('b.txt', 'new\n');
        await commit('Agent');
      });
      await write(STORIES, '{"userStories": [{"id": "US-9", "passes": false}]}\n');
      await commit();
      const { commit: hash, notTicked } = await made(work);
      assert.equal(notTicked, undefined);
      assert.match(await show(hash, STORIES), /US-9.*false/);
    });

    test('work at the top of the repository and deep inside it', async () => {
      await write('prd.json', prd());
      await write('x/y/z/progress.txt', 'log\n');
      base = await commit('More');
      const options = { storyFile: 'prd.json', progressFile: 'x/y/z/progress.txt' };
      const { commit: hash } = await made(base, { ...options, progressText: 'new' });
      assert.equal(await show(hash, 'prd.json'), prd('US-1'));
      assert.equal(await show(hash, 'x/y/z/progress.txt'), 'log\nnew\n');
      assert.equal(await git('fsck', '--strict', '--no-dangling'), '');
    });

    for (const [file, fixture] of [
      ['prd.json', 'userStories.json'],
      ['IMPLEMENTATION_PLAN.md', 'plan.md'],
      ['.beads/issues.jsonl', 'issues.jsonl'],
      ['.claude/orchestration/a.yaml', 'orchestration.yaml'],
    ] as const) {
      test(`${file}: ticks of neighboring stories are merged with the line endings of the file`, async () => {
        const fixtures = path.join(import.meta.dirname, '../fixtures/stories');
        const text = await readFile(path.join(fixtures, fixture), 'utf8');
        const content = text.replace(/\r?\n/g, '\r\n');
        await write(file, content);
        base = await commit('Stories');
        const list = parseStoryFile(file, content);
        assert.ok(list.kind === 'stories');
        const open = list.stories.filter(({ done }) => !done).slice(0, 2);
        assert.equal(open.length, 2);
        for (const story of open) {
          const { commit: hash } = await made(base, { storyFile: file, story });
          await git('reset', '--quiet', '--hard', hash);
        }
        const after = parseStoryFile(file, await show('HEAD', file));
        assert.ok(after.kind === 'stories');
        const done = (stories: typeof list.stories) =>
          stories.filter(story => story.done).map(story => story.position);
        const expected = [...done(list.stories), ...open.map(story => story.position)];
        assert.deepEqual(
          done(after.stories),
          expected.sort((a, b) => a - b),
        );
        assert.doesNotMatch(await show('HEAD', file), /(?<!\r)\n/);
      });
    }

    test('a story without an id is identified by its title', () => {
      const plan = Buffer.from('- [ ] new\n- [ ] one\n- [ ] two\n');
      const at0 = withTick(plan, 'plan.md', { id: '#1', position: 0, title: 'one' });
      assert.ok('content' in at0);
      assert.equal(at0.content.toString(), '- [ ] new\n- [x] one\n- [ ] two\n');
      const added = withTick(plan, 'plan.md', { id: '#1', position: 0, title: 'added later' });
      assert.ok('content' in added && added.content.equals(plan));
      const twins = Buffer.from('- [ ] new\n- [ ] one\n- [ ] one\n');
      const unclear = withTick(twins, 'plan.md', { id: '#1', position: 0, title: 'one' });
      assert.ok('notTicked' in unclear);
      const same = withTick(plan, 'plan.md', { id: '#2', position: 1, title: 'one' });
      assert.ok('content' in same && same.content.toString().includes('- [x] one'));
      const bad = withTick(Buffer.from([0x7b, 0xff]), 'prd.json', { id: 'a', position: 0 });
      assert.ok('notTicked' in bad);
    });

    test('notes are appended in the style of the log', () => {
      const append = (log: string, text: string) => withEntries(Buffer.from(log), text).toString();
      assert.equal(append('a', ''), 'a');
      assert.equal(append('a', ' \n'), 'a');
      assert.equal(append('', '\n\nb\n\n'), 'b\n');
      assert.equal(append('a', 'b'), 'a\nb\n');
      assert.equal(append('a\n', '\nb\n'), 'a\n\nb\n');
      assert.equal(append('a\n\nb\n', 'c\r\nd'), 'a\n\nb\n\nc\nd\n');
      assert.equal(append('a\r\n\r\nb\r\n\r\n', 'c\nd'), 'a\r\n\r\nb\r\n\r\nc\r\nd\r\n');
      assert.equal(append('\uFEFF', 'c'), '\uFEFFc\n');
      const bytes = withEntries(Buffer.from([0xff, 0xfe, 0x0a]), 'c');
      assert.deepEqual([...bytes], [0xff, 0xfe, 0x0a, 0x63, 0x0a]);
      assert.ok(hasEntries(Buffer.from('a\r\nb\r\nc\r\n'), 'b\nc\n'));
      assert.ok(!hasEntries(Buffer.from('ab\n'), 'b'));
    });

    test('two versions of a log are merged', () => {
      const join = (base_: string, ours: string, theirs: string) =>
        withEntriesOf(Buffer.from(ours), {
          base: Buffer.from(base_),
          theirs: Buffer.from(theirs),
        }).toString();
      assert.equal(join('a\n', 'a\n\nmine\n', 'a\n\nyours\n'), 'a\n\nmine\n\nyours\n');
      assert.equal(join('a\n', 'a\n\nx\n', 'a\n\nx\n\ny\n'), 'a\n\nx\n\ny\n');
      assert.equal(join('a\n', 'a\n\nx\n\ny\n', 'a\n\nx\n'), 'a\n\nx\n\ny\n');
      const ticks = withTicksOf(Buffer.from(prd('US-2')), 'prd.json', {
        base: Buffer.from(prd('US-3')),
        theirs: Buffer.from(prd('US-1', 'US-3')),
      });
      assert.equal(ticks.toString(), prd('US-1', 'US-2'));
    });
  });

  describe('a conflict', () => {
    test('names the files except the shared ones', async () => {
      const work = await agent(async () => {
        await write('a.txt', lines({ 3: 'agent' }));
        await write(STORIES, prd('US-1'));
        await write('näme "x"\n.txt', 'agent\n');
        await commit('Agent');
      });
      await write('a.txt', lines({ 3: 'person' }));
      await write(STORIES, prd('US-2'));
      await write('näme "x"\n.txt', 'person\n');
      await commit();
      const before = await state();
      assert.deepEqual(await make(work), {
        kind: 'conflict',
        reason: 'files',
        files: ['a.txt', 'näme "x"\n.txt'],
      });
      assert.equal(await state(), before);
    });

    test('is found for folders, deleted files, modes and renames', async () => {
      await write('dir', 'file\n');
      await write('gone.txt', lines());
      await write('old.txt', lines({ 1: 'old' }));
      base = await commit('More');
      const work = await agent(async () => {
        await rm(at('dir'));
        await write('dir/inside', 'x\n');
        await rm(at('gone.txt'));
        await git('mv', 'old.txt', 'by agent.txt');
        await commit('Agent');
      });
      await write('dir', 'changed\n');
      await write('gone.txt', lines({ 5: 'kept' }));
      await git('mv', 'old.txt', 'by person.txt');
      await commit();
      const found = await make(work);
      assert.ok(found.kind === 'conflict');
      for (const file of ['gone.txt', 'by agent.txt', 'by person.txt', 'old.txt']) {
        assert.ok(found.files.includes(file), `${file} in ${found.files}`);
      }
      assert.ok(found.files.some(file => file.startsWith('dir')));
    });

    test('is reported if the agent has replaced the history', async () => {
      const orphan = await agent(async () => {
        await git('checkout', '--quiet', '--orphan', 'other');
        await commit('Orphan');
      });
      assert.deepEqual(await make(orphan), { kind: 'conflict', reason: 'unrelated', files: [] });
    });

    test('does not arise if a renamed file was changed', async () => {
      const work = await agent(async () => {
        await git('mv', 'a.txt', 'renamed.txt');
        await chmod(at('renamed.txt'), 0o755);
        await symlink('renamed.txt', at('link'));
        await commit('Agent');
      });
      await write('a.txt', lines({ 4: 'person' }));
      await commit();
      const { commit: hash } = await made(work);
      assert.equal(await show(hash, 'renamed.txt'), lines({ 4: 'person' }));
      assert.match(await git('ls-tree', hash, 'renamed.txt', 'link'), /120000.*link\n100755/);
    });

    test('does not arise for submodules and non-UTF-8 names', async () => {
      const bytes = Buffer.concat([Buffer.from([0xe4, 0xff]), Buffer.from('.txt')]);
      const blob = await git('rev-parse', `${base}:a.txt`);
      const index = async (content: Buffer | string) =>
        writeGit(folder, ['update-index', '-z', '--index-info'], { input: content });
      const work = await agent(async () => {
        await index(Buffer.concat([Buffer.from(`100644 ${blob}\t.omc/`), bytes, Buffer.from([0])]));
        await index(`160000 ${base}\tsub\0`);
        await git('commit', '--quiet', '-m', 'Odd entries');
        await git('read-tree', base);
        await git('reset', '--quiet', '--hard');
      });
      const { commit: hash } = await made(work);
      const listed = (await gitResult(folder, ['ls-tree', '-r', '-z', hash])).stdout;
      assert.ok(listed.includes(bytes));
      assert.ok(listed.includes(`160000 commit ${base}\tsub`));
      assert.equal(await show(hash, STORIES), prd('US-1'));
    });

    test('is described by two diffs, cut at lines', async () => {
      await write('.gitattributes', '*.txt diff=evil\n*.bin binary\n');
      const mark = path.join(temp.path, 'ran');
      for (const key of ['diff.evil.command', 'diff.evil.textconv', 'diff.external']) {
        await git('config', key, `touch '${mark}'; cat`);
      }
      base = await commit('Attributes');
      const work = await agent(async () => {
        await write('a.txt', lines({ 3: 'agent' }));
        await write('p.bin', Buffer.from([0, 1, 2]));
        await write(STORIES, prd('US-1'));
        await commit('Agent');
      });
      await write('a.txt', lines({ 3: 'person' }));
      await write('other.txt', 'unrelated\n');
      const target = await commit();
      const question = { target, base, work, files: ['a.txt'], except: [STORIES, LOG] };
      const all = await describeConflict(folder, question, { own: 10_000, others: 10_000 });
      assert.match(all.own, /^\+agent$/m);
      assert.match(all.own, /^Binary files .*p\.bin differ$/m);
      assert.doesNotMatch(all.own, /prd\.json/);
      assert.match(all.others, /^\+person$/m);
      assert.doesNotMatch(all.others, /unrelated/);
      const cut = await describeConflict(folder, question, { own: 40, others: 0 });
      assert.equal(cut.own.split('\n')[0], 'diff --git a/a.txt b/a.txt');
      assert.match(cut.own, /\n\[… \d+ more lines with \d+ characters are left out\]\n$/);
      assert.match(cut.others, /^\[… \d+ more lines/);
      assert.ok(!existsSync(mark));
    });

    test('leaves earlier landings out of the diffs if work continues earlier work', async () => {
      const first = await agent(async () => {
        await write('b.txt', 'first attempt\n');
        await commit('First');
      });
      await write('landed.txt', 'landed before\n');
      const joined = await commit('Landed');
      await git('switch', '--quiet', '--detach', first);
      await git('merge', '--quiet', '--no-edit', joined);
      await write('a.txt', lines({ 3: 'agent' }));
      const work = await commit('Second');
      await git('switch', '--quiet', 'main');
      await write('a.txt', lines({ 3: 'person' }));
      const question = { target: await commit(), base, work, files: ['a.txt', 'landed.txt'] };
      const { others, own } = await describeConflict(folder, question, {
        own: 9_000,
        others: 9_000,
      });
      assert.match(own, /first attempt/);
      assert.match(own, /^\+agent$/m);
      assert.match(others, /^\+person$/m);
      assert.doesNotMatch(own + others, /landed before/);
    });

    test('finds a file again whose name is not UTF-8', async () => {
      const found = await describeConflict(
        folder,
        { target: base, base, work: base, files: ['[\uFFFD].txt', 'a*.txt'] },
        { own: 10, others: 10 },
      );
      assert.deepEqual(found, { own: '', others: '' });
    });
  });

  test('runs no hook and signs nothing', async () => {
    const mark = path.join(temp.path, 'ran');
    await git('config', 'commit.gpgSign', 'true');
    await git('config', 'gpg.program', 'false');
    await git('config', 'trailer.ralph.command', `touch '${mark}'`);
    for (const hook of ['commit-msg', 'pre-commit', 'reference-transaction', 'post-commit']) {
      await write(`.git/hooks/${hook}`, `#!/bin/sh\ntouch '${mark}'\nexit 1\n`);
      await chmod(at(`.git/hooks/${hook}`), 0o755);
    }
    await made(base);
    assert.ok(!existsSync(mark));
  });

  test('a missing commit gives an error for people', async () => {
    await assert.rejects(make('1'.repeat(40)), /git cannot bring in the work of an agent/);
  });
});
