import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { runStanding } from '../../src/orchestrator/journal/runStanding.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import type { WatchedRun } from '../../src/orchestrator/workspace/runWatcher.ts';
import { completedWords } from '../../src/presentation/sentences.ts';
import {
  countStories,
  withFileCount,
  withFileCountUntilEnd,
  withoutMoot,
} from '../../src/presentation/storyCount.ts';
import { storyStates } from '../../src/presentation/storyState.ts';
import { english } from '../../src/presentation/translate.ts';
import { NO_FILTER } from '../../src/views/stories/storyFilter.ts';
import { StoryNodes } from '../../src/views/stories/storyNodes.ts';
import { living, over } from '../support/recordedJournals.ts';

const FOLDER = path.resolve('/work', 'shop');
/** The second story is claimed in its file, and its iteration is not over. */
const working = living('severalStories', { type: 'story.changed', storyId: 'US-002' });
const judged = living('severalStories', { type: 'iteration.ended', iteration: 2 });

function list(name: string, ...done: readonly string[]) {
  const userStories = ['US-001', 'US-002', 'US-003'].map(id => ({
    id,
    title: id,
    epic: id === 'US-003' ? 'Other' : 'Pay',
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

test('a claim counts as done nowhere before its iteration ends, and everywhere afterwards', () => {
  const claimed = list('.omc/prd.json', 'US-001', 'US-002');
  assert.deepEqual(counts(claimed, working), { sentence: 1, folder: 1, epic: 1, run: 1 });
  assert.deepEqual(counts(claimed, judged), { sentence: 2, folder: 2, epic: 2, run: 2 });
  // Nobody checks any more.
  const killed = { ...working, alive: false };
  assert.deepEqual(counts(claimed, killed), { sentence: 2, folder: 2, epic: 2, run: 2 });
});

test('a claim that a run has left to be judged counts nowhere', () => {
  const left = over('stoppedInCheck');
  const claimed = list('.omc/prd.json', 'US-001');
  assert.deepEqual(counts(claimed, left), { sentence: 0, folder: 0, epic: 0, run: 0 });
});

test("a person's tick counts at once", () => {
  const ticked = list('.omc/prd.json', 'US-001', 'US-003');
  assert.equal(withFileCount(working, ticked, FOLDER).state.stories.done, 2);
});

test('the result of a run comes from its end, even before its process exits and the file is read', () => {
  const { state } = over('severalStories');
  const stale = list('.omc/prd.json', 'US-001');
  for (const alive of [true, false]) {
    const shown = withFileCountUntilEnd({ state, alive }, stale, FOLDER).state;
    assert.deepEqual(shown.stories, { done: 3, total: 3 });
    assert.equal(completedWords(shown, english), 'All stories are done, after 3 iterations.');
  }
  const ticked = list('.omc/prd.json', 'US-001', 'US-003');
  assert.equal(withFileCountUntilEnd(working, ticked, FOLDER).state.stories.done, 2);
});

test('a run on another file does not change this count and keeps its own', () => {
  const other = list('other.json', 'US-001', 'US-002');
  assert.equal(countStories(other, FOLDER, working).done, 2);
  assert.deepEqual(withFileCount(working, other, FOLDER).state.stories, { done: 1, total: 3 });
});

test('counting does not search the notes of all stories again for each story', () => {
  const file = list('.omc/prd.json', 'US-001');
  class Notes extends Map<string, never> {
    reads = 0;
    override values() {
      this.reads += 1;
      return super.values();
    }
  }
  for (const alive of [true, false]) {
    const storyNotes = new Notes();
    const run = { ...working, alive, state: { ...working.state, storyNotes } };
    countStories(file, FOLDER, run);
    storyStates(file.stories, { run, states: [run.state] });
    assert.equal(storyNotes.reads, 0);
  }
});

test('nobody has to answer a question whose story a person has finished after the end of the run', () => {
  const ended = over('question');
  const asks = (run: WatchedRun, file: ReturnType<typeof list>) =>
    runStanding(withoutMoot(run, file, FOLDER)).question?.message;
  const open = list('.omc/prd.json');
  const ticked = list('.omc/prd.json', 'US-001');
  assert.equal(asks(ended, open), 'Blue or green?');
  assert.equal(asks(ended, ticked), undefined);
  assert.equal(asks(ended, list('other.json', 'US-001')), 'Blue or green?');
  // The loop itself sees it.
  assert.equal(asks(living('questionWaits', { type: 'pause.started' }), ticked), 'Blue or green?');
  // What was asked as the story was finished is about more than that.
  const { state } = ended;
  const notes = state.storyNotes.get('US-001');
  const lastIteration = { number: 1, outcome: 'storyDone' } as const;
  const storyNotes = new Map(state.storyNotes).set('US-001', { ...notes, lastIteration });
  assert.equal(asks({ ...ended, state: { ...state, storyNotes } }, ticked), 'Blue or green?');
});
