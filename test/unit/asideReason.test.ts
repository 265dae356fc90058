import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HumanError } from '../../src/base/humanError.ts';
import { INITIAL_RUN_STATE } from '../../src/orchestrator/journal/runState.ts';
import { requireChosen } from '../../src/orchestrator/loop/chosenStories.ts';
import { decide } from '../../src/orchestrator/loop/policy.ts';
import { DEFAULT_CONFIG } from '../../src/orchestrator/settings/config.ts';
import { sourceDefaults } from '../../src/orchestrator/settings/sourceDefaults.ts';
import {
  asideCount,
  closedTaskOf,
  waitsForAside,
} from '../../src/orchestrator/stories/asideReason.ts';
import { editStoryDone } from '../../src/orchestrator/stories/edit/edit.ts';
import { nextStory } from '../../src/orchestrator/stories/select.ts';
import type { StoryList } from '../../src/orchestrator/stories/story.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { runEnd } from '../../src/presentation/runEnd.ts';
import { outcomeSentence } from '../../src/presentation/sentences.ts';
import { nextData, storyListData } from '../../src/presentation/storyListData.ts';
import { nextText, storyListText } from '../../src/presentation/storyListText.ts';
import { english } from '../../src/presentation/translate.ts';

const PATH = '.taskmaster/tasks/tasks.json';

function listOf(text: string, path = PATH): StoryList {
  const file = parseStoryFile(path, text);
  assert.ok(file.kind === 'stories', JSON.stringify(file));
  return file;
}

function tasks(...all: readonly (readonly [id: number, status: string, ...needs: number[]])[]) {
  return all.map(([id, status, ...dependencies]) => ({
    ...{ id, title: `Task ${id}`, status, dependencies, testStrategy: '' },
  }));
}

/** As it is printed. */
const asData = (list: StoryList) => JSON.parse(JSON.stringify(nextData(list)));
const next = (list: StoryList) => nextText(nextData(list), list);

describe('stories that are put aside', () => {
  const waiting = listOf(
    JSON.stringify({ master: { tasks: tasks([3, 'deferred'], [4, 'pending', 3]) } }),
  );

  test('are named with what waits for them', () => {
    assert.deepEqual(waitsForAside(waiting.stories), [{ id: '4', on: '3', status: 'deferred' }]);
    assert.deepEqual(asData(waiting), {
      id: null,
      reason: 'waiting',
      aside: [{ id: '3', status: 'deferred' }],
      waitsForAside: [{ id: '4', on: '3', status: 'deferred' }],
    });
    assert.equal(
      next(waiting),
      'No story is ready. 4 waits for 3, which is put aside (deferred). Reopen 3 in the story file, or run "ralph-fresh tick 3".',
    );
    assert.match(
      nextText(nextData(waiting), waiting, 'my tasks.json'),
      /or run "ralph-fresh tick --file \S*my tasks\.json\S* 3"\.$/,
    );
  });

  test('are counted where all others are done', () => {
    const list = listOf(JSON.stringify({ master: { tasks: tasks([1, 'done'], [2, 'deferred']) } }));
    assert.equal(asideCount(list.stories), 1);
    assert.deepEqual(asData(list), {
      id: null,
      reason: 'allDone',
      aside: [{ id: '2', status: 'deferred' }],
    });
    assert.equal(
      next(list),
      'All stories are complete; there is nothing to do. No agent works on what the story file has put aside: 1 story. Add a story, or reopen one: ralph-fresh untick ID.',
    );
    assert.match(storyListText(storyListData(list)), /^1\/2 stories complete · 1 put aside · /);
    const end = (putAside?: number) =>
      outcomeSentence(
        runEnd({ ...INITIAL_RUN_STATE, putAside, iteration: 2 }, 'completed'),
        english,
      ).text;
    assert.equal(end(), 'COMPLETE after 2 iterations');
    assert.equal(
      end(2),
      'COMPLETE after 2 iterations. No agent works on what the story file has put aside: 2 stories.',
    );
  });

  test('include a subtask whose task is done', () => {
    const [task] = tasks([2, 'done']);
    const subtasks = [{ id: 1, title: 'Beans', status: 'pending' }];
    const list = listOf(JSON.stringify({ master: { tasks: [{ ...task, subtasks }] } }));
    const [parent, story] = list.stories;
    assert.ok(story);
    assert.equal(story.parked, true);
    assert.equal(closedTaskOf(list, story), parent);
    assert.deepEqual(asData(list), {
      id: null,
      reason: 'allDone',
      aside: [{ id: '2.1', status: 'pending', task: '2' }],
    });
  });
});

describe('the tags of Task Master', () => {
  const text = JSON.stringify({
    api: { tasks: tasks([1, 'done']) },
    shop: { tasks: tasks([1, 'pending']) },
    master: { tasks: tasks([1, 'pending'], [2, 'deferred']) },
  });

  test('are worked on one after the other, with the ids that they had before', () => {
    const first = listOf(text);
    assert.deepEqual(
      first.stories.map(({ id, parked = false }) => [id, parked]),
      [
        ['api/1', false],
        ['shop/1', true],
        ['1', false],
        ['2', true],
      ],
    );
    assert.equal(nextStory(first.stories).story?.id, '1');
    const second = listOf(editStoryDone(text, { id: '1' }, true, PATH));
    assert.deepEqual(
      second.stories.map(({ epic, id }) => [id, epic]),
      first.stories.map(({ epic, id }) => [id, epic]),
    );
    assert.equal(nextStory(second.stories).story?.id, 'shop/1');
  });

  test('come later, which is not the same as put aside', () => {
    const list = listOf(text);
    assert.equal(asideCount(list.stories), 1);
    assert.deepEqual(
      storyListData(list).stories.map(({ afterTag, id, state }) => [id, state, afterTag]),
      [
        ['api/1', 'done', undefined],
        ['shop/1', 'later', 'master'],
        ['1', 'ready', undefined],
        ['2', 'parked', undefined],
      ],
    );
    const shown = storyListText(storyListData(list));
    assert.match(shown, /^1\/4 stories complete · 1 put aside · 1 after another tag · /);
    assert.match(shown, /shop\/1 +after the tag master /);
  });

  test('are worked on before their turn if they are chosen', () => {
    const list = listOf(text);
    assert.equal(nextStory(list.stories, { only: new Set(['shop/1']) }).story?.id, 'shop/1');
    assert.equal(nextStory(list.stories, { only: new Set(['2']) }).reason, 'allDone');
    requireChosen(['shop/1'], list);
  });
});

describe('what waits for ever in a later tag of Task Master', () => {
  const later = (...needs: readonly number[]) =>
    listOf(
      JSON.stringify({
        master: { tasks: tasks([1, 'pending', ...needs]) },
        beta: { tasks: tasks([1, 'deferred'], [2, 'pending', 1], [3, 'pending', 9]) },
      }),
    );
  const endOf = ({ problems, stories }: StoryList, onlyStories?: readonly string[]) => {
    const end = decide({
      state: { ...INITIAL_RUN_STATE, onlyStories },
      ...{ stories, problems, config: DEFAULT_CONFIG, stopRequested: false },
    });
    assert.ok(end.kind === 'end');
    return {
      open: end.open,
      aside: end.aside?.map(({ id }) => id),
      unknown: end.unknown?.map(({ id, on }) => [id, on]),
    };
  };

  test('is no reason as long as its turn has not come', () => {
    assert.deepEqual(waitsForAside(later().stories), []);
    assert.deepEqual(endOf(later(7)), { open: ['1'], aside: undefined, unknown: [['1', '7']] });
    const { waitsForAside: listed } = asData(later(7));
    assert.equal(listed, undefined);
  });

  test('is the reason if it is chosen', () => {
    assert.deepEqual(endOf(later(), ['beta/2']), {
      ...{ open: ['beta/2'], aside: ['beta/2'], unknown: undefined },
    });
    const [need, ...others] = endOf(later(7), ['beta/3']).unknown ?? [];
    assert.deepEqual([need?.[0], others], ['beta/3', []]);
  });
});

describe('a chosen story', () => {
  const refusal = (id: string, list: StoryList) => {
    try {
      requireChosen([id], list);
    } catch (error) {
      return error instanceof HumanError ? error.message : assert.fail();
    }
    return assert.fail('accepted');
  };

  test('that is put aside is refused with the word of the file', () => {
    const [task] = tasks([2, 'done']);
    const subtasks = [{ id: 1, title: 'Beans', status: 'pending' }];
    const done = listOf(JSON.stringify({ master: { tasks: [{ ...task, subtasks }] } }));
    assert.equal(
      refusal('2.1', done),
      'No agent works on 2.1, because its task 2 is done. Set that back first: ralph-fresh untick 2',
    );
    assert.equal(
      refusal('3', listOf(JSON.stringify({ master: { tasks: tasks([3, 'deferred']) } }))),
      'No agent works on 3, because the story file has put it aside (deferred). Reopen it there first.',
    );
    assert.equal(
      refusal('A', listOf('[{"id": "A", "title": "a", "parked": true}]', 'prd.json')),
      'No agent works on A, because the story file has put it aside. Reopen it there first.',
    );
  });

  test('that waits for one that is put aside is not told to run that', () => {
    const list = listOf(
      JSON.stringify({ master: { tasks: tasks([3, 'deferred'], [4, 'pending', 3]) } }),
    );
    assert.equal(
      refusal('4', list),
      '4 waits for 3, which is put aside (deferred). Reopen 3 in the story file, or mark it as done.',
    );
  });
});

test('a chosen story of a later tag that waits for an unknown one is refused with the line', () => {
  const list = listOf(
    JSON.stringify({
      master: { tasks: tasks([1, 'pending']) },
      beta: { tasks: tasks([1, 'pending', 9]) },
    }),
  );
  assert.throws(
    () => requireChosen(['beta/1'], list),
    /^HumanError: beta\/1 waits for 9, which the story file does not have \(tasks\.json:1\): correct/,
  );
});

test('a run without a ready story names only what is not put aside', () => {
  const { stories } = listOf(
    JSON.stringify({
      master: { tasks: tasks([3, 'deferred'], [4, 'pending', 3], [5, 'cancelled']) },
      shop: { tasks: tasks([1, 'pending']) },
    }),
  );
  const end = decide({
    state: INITIAL_RUN_STATE,
    stories,
    config: DEFAULT_CONFIG,
    stopRequested: false,
  });
  assert.ok(end.kind === 'end');
  assert.equal(end.outcome, 'noReadyStory');
  assert.deepEqual(end.open, ['4']);
  assert.equal(end.putAside, 2);
  const { text } = outcomeSentence({ ...runEnd(INITIAL_RUN_STATE, end.outcome), ...end }, english);
  assert.match(text, /^No story is ready\. Left: 4\. /);
  assert.match(text, / No agent works on what the story file has put aside: 2 stories\.$/);
});

describe('the defaults of a file', () => {
  test('are smaller for an orchestration with phases, and the general ones for a plain list', () => {
    const phases = listOf('phases:\n- tasks:\n  - {id: a, status: pending}\n', 'a.yaml');
    assert.equal(sourceDefaults(phases).maxIterations, 10);
    const ralphy = listOf('tasks:\n- title: Dig\n  completed: false\n', 'tasks.yaml');
    assert.deepEqual(sourceDefaults(ralphy), {});
    assert.deepEqual(sourceDefaults(waitingPlan), {});
  });
});

const waitingPlan = listOf('- [ ] T1: Dig\n', 'PLAN.md');

test('an unknown status word is not written when a tick is undone', () => {
  const file = JSON.stringify(
    tasks([1, 'done'], [2, 'zurück'], [3, 'zurück']).map(({ id, status }) => ({ id, status })),
  );
  const back = listOf(editStoryDone(file, { id: '1' }, false, 'prd.json'), 'prd.json');
  assert.equal(back.stories[0]?.status, 'pending');
});
