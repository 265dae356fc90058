import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { nextData, storyListData } from '../../src/presentation/storyListData.ts';
import { nextText, storyListText } from '../../src/presentation/storyListText.ts';
import { type EventMatch, living } from '../support/recordedJournals.ts';
import { sameValue } from '../support/sameValue.ts';

const text = `{"userStories":[
{"id":"A","title":"First","passes":true,"priority":2,"epic":"Core"},
{"id":"B","title":"Second","passes":false,"dependsOn":["A"],"model":"opus","max_turns":9},
{"id":"C","title":"Third","passes":false,"dependsOn":["A","B","gone"]}]}`;

test('a story file is returned as data', () => {
  const data = storyListData(parseStoryFile('/w/prd.json', text));
  sameValue(data, {
    source: '/w/prd.json',
    format: 'prd',
    stories: [
      {
        id: 'A',
        title: 'First',
        done: true,
        state: 'done',
        priority: 2,
        blockedBy: [],
        epic: 'Core',
        discoveredFrom: null,
        model: null,
        effort: null,
        maxTurns: null,
        question: null,
      },
      {
        id: 'B',
        title: 'Second',
        done: false,
        state: 'ready',
        priority: null,
        blockedBy: [],
        epic: null,
        discoveredFrom: null,
        model: 'opus',
        effort: null,
        maxTurns: 9,
        question: null,
      },
      {
        id: 'C',
        title: 'Third',
        done: false,
        state: 'waiting',
        priority: null,
        blockedBy: ['B', 'gone'],
        epic: null,
        discoveredFrom: null,
        model: null,
        effort: null,
        maxTurns: null,
        question: null,
      },
    ],
    problems: [
      {
        message:
          'C waits for gone, which this file does not have: correct the id, or remove it when that story is done elsewhere.',
        line: 4,
      },
    ],
    moreProblems: 0,
    discovered: [],
  });
});

test('a run may know more of a story than its file', () => {
  const userStories = ['US-001', 'US-002', 'US-003'].map((id, index) => ({
    ...{ id, title: `Story number ${index + 1}`, passes: index === 2 },
  }));
  const states = (name: string, until: EventMatch = { type: 'run.ended' }) => {
    const run = living(name, until);
    const file = parseStoryFile('prd.json', JSON.stringify({ userStories }));
    const { stories } = storyListData(file, { run, states: [run.state] });
    return stories.map(({ state, question }) => [state, question]);
  };
  sameValue(states('severalStories', { type: 'iteration.started' })[0], ['running', null]);
  sameValue(states('question')[0], ['blocked', 'Blue or green?']);
  sameValue(states('stuck')[0], ['ready', null]);
  sameValue(states('severalStories')[2], ['claimed', null]);
});

test('what a claim needs to be checked is told with a check of the project, if it has one', () => {
  const run = living('severalStories', { type: 'run.ended' });
  const userStories = [{ id: 'US-003', title: 'Story number 3', passes: true }];
  const file = parseStoryFile('prd.json', JSON.stringify({ userStories }));
  const data = storyListData(file, { run, states: [run.state] });
  const ways = (advice?: Parameters<typeof storyListText>[1]) =>
    /reopened first: (.*), then: (.*)$/m.exec(storyListText(data, advice))?.slice(1);
  sameValue(ways(), ['ralph-fresh untick ID', 'ralph-fresh run --verify "<command>"']);
  sameValue(ways({ check: 'npm run lint', file: 'a.json' }), [
    'ralph-fresh untick --file a.json ID',
    'ralph-fresh run --file a.json --verify "npm run lint"',
  ]);
});

test('a story put aside in the file is neither ready nor next', () => {
  const file = parseStoryFile('i.jsonl', '{"id":"a","title":"t","status":"tombstone"}');
  assert.equal(storyListData(file).stories[0]?.state, 'parked');
  const aside = [{ id: 'a', status: 'tombstone' }];
  sameValue(nextData(file), { id: null, reason: 'allDone', aside });
});

test('an unusable file has no stories and gives a reason', () => {
  const file = parseStoryFile('/w/PLAN.md', '# Nothing\n');
  const data = storyListData(file);
  sameValue([data.source, data.format, data.stories], ['/w/PLAN.md', 'plan', []]);
  assert.equal(data.problems[0]?.line, 1);
  sameValue(nextData(file), { id: null, reason: 'invalid' });
});

test('the next story is returned, or the reason why there is none', () => {
  const next = (content: string, skip?: ReadonlySet<string>) =>
    nextData(parseStoryFile('prd.json', content), skip && { skip });
  sameValue(next(text), { id: 'B', model: 'opus', maxTurns: 9 });
  sameValue(next(text, new Set(['B'])), { id: null, reason: 'skipped' });
  sameValue(next('[]'), { id: null, reason: 'empty' });
  sameValue(next('[{"id":1,"title":"t","passes":true}]'), { id: null, reason: 'allDone' });
  sameValue(next('[{"id":1,"title":"t","dependsOn":["x"]}]'), {
    id: null,
    reason: 'waiting',
  });
});

test('people see which stories are put aside in the file, and each id once', () => {
  const file = parseStoryFile(
    '/w/prd.json',
    '[{"id":"A","title":"First","parked":true,"passes":false}]',
  );
  assert.match(storyListText(storyListData(file)), /A +put aside +First/);
  const plan = parseStoryFile('/w/PLAN.md', '- [x] 1. Set up\n- [ ] T002 [P] Configure\n');
  assert.match(
    storyListText(storyListData(plan)),
    /✓ +1 +done +Set up\n· +T002 +ready +\[P\] Configure/,
  );
  assert.ok(plan.kind === 'stories');
  assert.equal(nextText(nextData(plan), plan), 'T002: [P] Configure');
  assert.equal(storyListData(plan).stories[1]?.title, 'T002 [P] Configure');
});

test('next counts the claims that are still to be judged', () => {
  const list = { stories: [] };
  const unjudged = (...ids: string[]) =>
    nextText({ id: null, reason: 'unjudged', unjudged: ids }, list);
  assert.match(unjudged('A'), /, but this claim is still to be judged: A\. /);
  assert.match(unjudged('A', 'B'), /, but these claims are still to be judged: A, B\. /);
});
