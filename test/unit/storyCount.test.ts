import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { RunEventBody } from '../../src/orchestrator/journal/events.ts';
import { foldRun } from '../../src/orchestrator/journal/foldRun.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import type { WatchedRun } from '../../src/orchestrator/workspace/runWatcher.ts';
import { english } from '../../src/presentation/sentences.ts';
import {
  countStories,
  withFileCount,
  withFileCountUntilEnd,
} from '../../src/presentation/storyCount.ts';
import { completedWords } from '../../src/views/run/completedWords.ts';
import { NO_FILTER } from '../../src/views/stories/storyFilter.ts';
import { StoryNodes } from '../../src/views/stories/storyNodes.ts';
import { iterationEnded, iterationStarted, journalOf, runStarted } from '../support/runEvents.ts';

const FOLDER = path.resolve('/work', 'shop');
const before = { done: 1, total: 3 };
const work: RunEventBody[] = [
  runStarted({ storyFile: 'prd.json', stories: before }),
  iterationStarted({ iteration: 2, storyId: 'B', stories: before }),
];
const end = iterationEnded({
  iteration: 2,
  storyId: 'B',
  outcome: 'storyDone',
  stories: { done: 2, total: 3 },
});

function list(name: string, ...done: readonly string[]) {
  const userStories = ['A', 'B', 'C'].map(id => ({
    id,
    title: id,
    epic: id === 'C' ? 'Other' : 'Pay',
    passes: done.includes(id),
  }));
  const file = parseStoryFile(path.join(FOLDER, name), JSON.stringify({ userStories }));
  assert.ok(file.kind === 'stories');
  return file;
}

/** As view, status bar and progress page count. */
function counts(file: ReturnType<typeof list>, run: WatchedRun) {
  const nodes = new StoryNodes(FOLDER, 'shop');
  const states = [run.state];
  nodes.update({ file, run, states, filter: NO_FILTER, hasFolderLine: true });
  const [epic] = nodes.roots;
  assert.ok(epic?.kind === 'epic');
  return {
    sentence: countStories(file, FOLDER, run).done,
    folder: nodes.line.summary.done,
    epic: epic.done,
    run: withFileCount(run, file, FOLDER).state.stories.done,
  };
}

test('a claim counts as done in no place before its iteration is over, and then in all', () => {
  const claimed = list('prd.json', 'A', 'B');
  const working = { state: foldRun(journalOf(work)), alive: true };
  assert.deepEqual(counts(claimed, working), { sentence: 1, folder: 1, epic: 1, run: 1 });
  const judged = { state: foldRun(journalOf([...work, end])), alive: true };
  assert.deepEqual(counts(claimed, judged), { sentence: 2, folder: 2, epic: 2, run: 2 });
  // Nobody checks any more.
  const killed = { ...working, alive: false };
  assert.deepEqual(counts(claimed, killed), { sentence: 2, folder: 2, epic: 2, run: 2 });
});

test('what a person has ticked meanwhile counts at once', () => {
  const working = { state: foldRun(journalOf(work)), alive: true };
  assert.equal(withFileCount(working, list('prd.json', 'A', 'C'), FOLDER).state.stories.done, 2);
});

test('what a run has come to is told by its end, also while its process lives and the file is not read yet', () => {
  const stories = { done: 3, total: 3 };
  const journal = journalOf([
    ...work,
    { ...end, stories },
    { type: 'run.ended', outcome: 'completed', exitCode: 0, iterations: 2, stories },
  ]);
  const stale = list('prd.json', 'A');
  for (const alive of [true, false]) {
    const { state } = withFileCountUntilEnd({ state: foldRun(journal), alive }, stale, FOLDER);
    assert.deepEqual(state.stories, stories);
    assert.equal(completedWords(state, english), 'All stories are done, after 2 iterations.');
  }
  const working = { state: foldRun(journalOf(work)), alive: true };
  const ticked = list('prd.json', 'A', 'C');
  assert.equal(withFileCountUntilEnd(working, ticked, FOLDER).state.stories.done, 2);
});

test('a run on another file takes nothing from the count, and keeps its own', () => {
  const other = list('other.json', 'A', 'B');
  const working = { state: foldRun(journalOf(work)), alive: true };
  assert.equal(countStories(other, FOLDER, working).done, 2);
  assert.deepEqual(withFileCount(working, other, FOLDER).state.stories, before);
});
