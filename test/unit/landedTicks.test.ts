import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { isAncestor } from '../../src/orchestrator/git/isAncestor.ts';
import { LandedTicks } from '../../src/orchestrator/loop/landedTicks.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { gitRepo, tempDir } from '../support/cleanEnv.ts';
import { gitFolder } from '../support/gitFolder.ts';
import { openStories } from '../support/ralph.ts';
import { type EventMatch, living } from '../support/recordedJournals.ts';

/** What is not news of a file in which these stories are done. */
function known(until: EventMatch, ...done: readonly string[]): [string, boolean][] {
  const userStories = openStories(2).map(story => ({ ...story, passes: done.includes(story.id) }));
  const bytes = Buffer.from(JSON.stringify({ project: 'Test', userStories }));
  const stories = parseStoryFile('prd.json', bytes);
  assert.ok(stories.kind === 'stories');
  return [...new LandedTicks().known(living('lanes', until).state, { stories })];
}

test('the tick of a landing story is not attributed to others', () => {
  // The branch has it a moment before the journal says so.
  const candidate: EventMatch = { type: 'landing.candidate', iteration: 1 };
  assert.deepEqual(known(candidate, 'US-001'), [['US-001', true]]);
  assert.deepEqual(known({ type: 'landing.landed', iteration: 1 }, 'US-001'), [['US-001', true]]);
});

test('other ticks are reported as changes', () => {
  assert.deepEqual(known({ type: 'agent.text', iteration: 2 }, 'US-001'), []);
  assert.deepEqual(known({ type: 'landing.candidate', iteration: 1 }), []);
  assert.deepEqual(known({ type: 'landing.candidate', iteration: 1 }, 'US-002'), []);
});

describe('a landed story that is not done in the folder', () => {
  const fileOf = (done: readonly string[]) =>
    Buffer.from(
      JSON.stringify({
        project: 'Test',
        userStories: openStories(2).map(story => ({ ...story, passes: done.includes(story.id) })),
      }),
    );

  /** @returns what a first and a later look find, with US-001 landed at this commit */
  async function looks(
    t: TestContext,
    make: (git: ReturnType<typeof gitFolder>) => Promise<{ landed: string; tip: string }>,
    folder: readonly string[] = [],
  ): Promise<(readonly string[])[]> {
    const temp = await tempDir('ticks-');
    t.after(() => temp.remove());
    const root = path.join(temp.path, 'project');
    await gitRepo(root);
    const tools = gitFolder(() => ({ folder: root, home: temp.path }));
    const { landed, tip } = await make(tools);
    const stories = parseStoryFile('prd.json', fileOf(folder));
    assert.ok(stories.kind === 'stories');
    const { state } = living('lanes', { type: 'landing.landed', iteration: 1 });
    const ticks = new LandedTicks();
    t.mock.timers.enable({ apis: ['Date'] });
    const look = async () =>
      ticks.unticked(
        {
          ...state,
          running: [],
          commits: [
            { hash: landed, subject: '', at: '', iteration: 1, storyId: 'US-001', landed: true },
          ],
        },
        { stories, head: await tools.head(), branch: 'main' },
        {
          storyFile: 'prd.json',
          target: {
            root,
            isLanded: async commit => isAncestor(root, commit, tip),
            look: async () => ({ tip, branch: tip, kind: 'same' }),
          },
        },
      );
    const first = await look();
    t.mock.timers.tick(1_500);
    return [first, await look()];
  }

  const list = (git: ReturnType<typeof gitFolder>, ...done: readonly string[]) =>
    git.write('prd.json', fileOf(done).toString());

  /** The commit before the landing, and the landing. */
  async function landing(git: ReturnType<typeof gitFolder>) {
    await list(git);
    const before = await git.commit('Start');
    await list(git, 'US-001');
    await git.write('work.txt', 'work');
    return { before, landed: await git.commit('Landed') };
  }

  test('is redone at once if a person committed the change', async t => {
    const found = await looks(t, async git => {
      const { landed } = await landing(git);
      await list(git);
      return { landed, tip: await git.commit('Not good enough') };
    });
    assert.deepEqual(found, [['US-001'], ['US-001']]);
  });

  test('is redone at the second check if a person did not commit the change', async t => {
    const found = await looks(t, async git => {
      const { landed } = await landing(git);
      await list(git);
      return { landed, tip: landed };
    });
    assert.deepEqual(found, [[], ['US-001']]);
  });

  test('is not redone if a person is on a branch without the landing', async t => {
    const found = await looks(t, async git => {
      const { before, landed } = await landing(git);
      await git.git('switch', '--quiet', '--create', 'side', before);
      await git.write('side.txt', 'side');
      await git.commit('Side');
      return { landed, tip: landed };
    });
    assert.deepEqual(found, [[], []]);
  });

  test('is not redone if the branch could not follow yet', async t => {
    const found = await looks(t, async git => {
      const { before, landed } = await landing(git);
      await git.git('reset', '--quiet', '--hard', before);
      return { landed, tip: landed };
    });
    assert.deepEqual(found, [[], []]);
  });

  test('is redone if a person removed the landing from the history', async t => {
    const found = await looks(t, async git => {
      const { before, landed } = await landing(git);
      await git.git('reset', '--quiet', '--hard', before);
      return { landed, tip: before };
    });
    assert.deepEqual(found, [['US-001'], ['US-001']]);
  });

  test('stays landed if a person amended the landing and works elsewhere', async t => {
    const found = await looks(t, async git => {
      const { before, landed } = await landing(git);
      await git.git('commit', '--quiet', '--amend', '--message', 'Landed, in other words');
      const tip = await git.head();
      await git.git('switch', '--quiet', '--create', 'side', before);
      return { landed, tip };
    });
    assert.deepEqual(found, [[], []]);
  });
});
