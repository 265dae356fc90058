import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { CodeSearch } from '../../src/orchestrator/context/codeSearch.ts';
import { Briefer } from '../../src/orchestrator/iteration/briefing.ts';
import type { RunEventBody } from '../../src/orchestrator/journal/events.ts';
import { foldRun } from '../../src/orchestrator/journal/foldRun.ts';
import { userTree } from '../../src/orchestrator/places/place.ts';
import { readSnapshot } from '../../src/orchestrator/places/snapshot.ts';
import { DEFAULT_CONFIG } from '../../src/orchestrator/settings/config.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { gitRepo, tempDir } from '../support/cleanEnv.ts';
import { iterationEnded, iterationStarted, journalOf, runStarted } from '../support/runEvents.ts';

const stories = { done: 0, total: 2 };

/** A story failed, another one was refused by the checks, and a third has not been tried. */
const events = journalOf([
  runStarted({ stories }),
  iterationStarted({ iteration: 1, storyId: 'US-1', stories }),
  {
    ...{ type: 'agent.ended', iteration: 1, reason: 'exited', durationMs: 1, leftovers: 0 },
    error: { kind: 'api', message: 'bad day' },
  },
  iterationEnded({ iteration: 1, storyId: 'US-1', outcome: 'failed', stories }),
  iterationStarted({ iteration: 2, storyId: 'US-2', stories }),
  {
    ...{ type: 'guard.found', iteration: 2, restored: true },
    changes: [{ kind: 'storyRemoved', storyId: 'US-3' }],
  },
  {
    ...{ type: 'check.ended', iteration: 2, command: 'npm test', ok: false, timedOut: false },
    ...{ durationMs: 1, outputTail: 'expected 200' },
  },
  { type: 'gate.ended', iteration: 2, green: false, storyId: 'US-2' },
  iterationEnded({ iteration: 2, storyId: 'US-2', outcome: 'rejected', stories }),
] satisfies readonly RunEventBody[]);

/** What the agent of iteration 3 is told, if this story is its own. */
async function promptFor(storyId: string): Promise<string> {
  await using temp = await tempDir('briefing-');
  const storyFile = path.join(temp.path, '.omc', 'prd.json');
  await mkdir(path.dirname(storyFile));
  const userStories = ['US-1', 'US-2', 'US-3'].map(id => ({
    id,
    title: `Do ${id}`,
    passes: false,
  }));
  await writeFile(storyFile, JSON.stringify({ userStories }));
  await gitRepo(temp.path);
  const place = userTree(temp.path, storyFile);
  try {
    const before = await readSnapshot(storyFile, place.git);
    const story = before.stories?.stories.find(({ id }) => id === storyId);
    assert.ok(story);
    const run = {
      ...{ files: new RunFiles(temp.path), storyFile },
      config: { ...DEFAULT_CONFIG, contextTokens: 0 },
      code: new CodeSearch(undefined, { wait: true }),
      state: () => foldRun(events),
      journal: {
        append: (event: RunEventBody) => assert.fail(`${event.type} was written`),
      },
    };
    const briefer = new Briefer(run, undefined, before);
    return (await briefer.brief({ iteration: 3, story, place, before })).prompt;
  } finally {
    await place.dispose();
  }
}

describe('the prompt includes the results of the last iteration on the same story', () => {
  test('even if another story was worked on in between', async () => {
    const prompt = await promptFor('US-1');
    assert.match(prompt, /previous iteration on this story failed\*\*: bad day/);
    assert.doesNotMatch(prompt, /expected 200|what no agent may change/);
  });

  test('including checks and guard', async () => {
    const prompt = await promptFor('US-2');
    assert.match(prompt, /expected 200/);
    assert.match(prompt, /Iteration 2 changed what no agent may change/);
    assert.doesNotMatch(prompt, /bad day/);
  });

  test('and nothing for a story without an earlier iteration', async () => {
    const prompt = await promptFor('US-3');
    assert.doesNotMatch(prompt, /bad day|expected 200|what no agent may change/);
  });
});
