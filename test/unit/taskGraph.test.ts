import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { englishOf } from '../../src/base/say.ts';
import { editStoryDone, tickText } from '../../src/orchestrator/stories/edit/edit.ts';
import { findStoryFile } from '../../src/orchestrator/stories/knownSources.ts';
import { nextStory, readyStories } from '../../src/orchestrator/stories/select.ts';
import type { StoryList } from '../../src/orchestrator/stories/story.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { compactTasks } from '../../src/orchestrator/stories/taskCompaction.ts';
import { tempDir } from '../support/cleanEnv.ts';

const FILE = '.ralph/tasks.jsonl';
const GRAPH = `[]
{"id":"T-1","title":"Schema","description":"Tables","acceptanceCriteria":["Migrates"],"priority":1,"status":"done","blockedBy":[],"discoveredFrom":null,"created":"2026-01-01T00:00:00Z"}

{"id":"T-2","title":"Tokens","priority":2,"status":"ready","blockedBy":["T-1","T-0"],"note":{"kept":[1, 2]}}
{"type":"compacted","ids":["T-0"],"archive":".ralph/archive/x.jsonl"}
{"id":"T-3","title":"Limits","priority":1,"status":"blocked"}
{"id":"T-4","title":"Logout","priority":3,"status":"in_progress","blockedBy":["T-2"],"discoveredFrom":"T-1"}
{"about":"nothing"}
`;

function listOf(text: string, file = FILE): StoryList {
  const read = parseStoryFile(file, text);
  assert.ok(read.kind === 'stories', JSON.stringify(read));
  return read;
}

describe('our own task graph', () => {
  test('has tasks with their state, what blocks them, and what they were discovered from', () => {
    const list = listOf(GRAPH);
    assert.equal(list.format, 'tasks');
    assert.deepEqual(
      list.stories.map(({ dependsOn, discoveredFrom, done, id, line, parked }) => [
        ...[id, done, dependsOn, discoveredFrom, parked, line],
      ]),
      [
        ['T-1', true, [], undefined, undefined, 2],
        // What was moved to the archive is done.
        ['T-2', false, ['T-1'], undefined, undefined, 4],
        ['T-3', false, [], undefined, true, 6],
        ['T-4', false, ['T-2'], 'T-1', undefined, 7],
      ],
    );
    assert.deepEqual(list.stories[0]?.criteria, [{ text: 'Migrates' }]);
    assert.deepEqual(
      list.problems.map(({ code, line }) => [code, line]),
      [['notAStory', 8]],
    );
    assert.equal(nextStory(list.stories).story?.id, 'T-2');
    assert.deepEqual(
      readyStories(list.stories).map(({ id }) => id),
      ['T-2'],
    );
  });

  test('a line with the type of the heading is a task, or a problem, if it looks like one', () => {
    const list = listOf(
      [
        ...['{"type":"graph","title":"Shop"}', '{"id":"A","title":"a","status":"done"}'],
        ...['{"type":"graph","id":"B","title":"b","status":"ready"}', '{"type":"graph","id":"C"}'],
        ...['{"type":"graph","title":"d","status":"ready"}', '{"type":"graph","status":"ready"}'],
        // A second import adds one.
        '{"type":"graph","title":"More","branchName":"x"}',
      ].join('\n'),
    );
    assert.deepEqual([list.project, list.branchName], ['Shop', '']);
    assert.deepEqual(
      list.stories.map(({ done, line }) => [done, line]),
      [
        [true, 2],
        [false, 3],
        [false, 4],
        [false, 5],
      ],
    );
    assert.deepEqual(
      list.problems.filter(({ code }) => code === 'notAStory').map(({ line }) => line),
      [6],
    );
  });

  test('a tick writes done, and ready when it is set back; nothing else changes', () => {
    const ticked = editStoryDone(GRAPH, { id: 'T-2' }, true, FILE);
    assert.equal(ticked, GRAPH.replace('"status":"ready"', '"status":"done"'));
    assert.equal(editStoryDone(ticked, { id: 'T-2' }, false, FILE), GRAPH);
    const alone = '{"id":"a","title":"A","status":"done"}';
    assert.match(editStoryDone(alone, { id: 'a' }, false, FILE), /"status":"ready"/);
  });

  test('a task that is in the file again counts, although a line says that it was compacted', () => {
    const marker = '{"type":"compacted","ids":["T-1","T-2"]}';
    const waiting = '{"id":"T-3","title":"C","status":"ready","blockedBy":["T-1","T-2"]}';
    const task = (status: string) => `{"id":"T-1","title":"A","status":"${status}"}`;
    for (const lines of [
      [task('ready'), marker, waiting],
      [marker, waiting, task('ready')],
    ]) {
      const { stories } = listOf(lines.join('\n'));
      assert.deepEqual(stories.find(({ id }) => id === 'T-3')?.dependsOn, ['T-1']);
      assert.deepEqual(
        readyStories(stories).map(({ id }) => id),
        ['T-1'],
      );
    }
    const { stories } = listOf([task('done'), marker, waiting].join('\n'));
    assert.equal(nextStory(stories).story?.id, 'T-3');
  });

  test('the status decides, whatever else a task says, and a tick changes it alone', () => {
    const others = '"passes":true,"completed":false,"state":"closed"';
    for (const [status, done, parked, ticked] of [
      ['ready', false, undefined, 'done'],
      ['blocked', false, true, 'done'],
      ['done', true, undefined, 'ready'],
    ] as const) {
      const text = `{"id":"a","title":"A",${others},"status":"${status}","blockedBy":[]}\n`;
      const [story] = listOf(text).stories;
      assert.deepEqual([story?.done, story?.parked, story?.status], [done, parked, status]);
      assert.deepEqual(listOf(text).problems, []);
      const tick = tickText(text, { id: 'a' }, !done, { path: FILE });
      assert.equal(tick.text, text.replace(`"status":"${status}"`, `"status":"${ticked}"`));
      assert.equal(listOf(tick.text).stories[0]?.done, !done);
      assert.ok(tick.undo);
      const back = tickText(tick.text, { id: 'a' }, done, { path: FILE, undos: [tick.undo] });
      assert.equal(back.text, text);
    }
    // Without a status, another key decides.
    const text = '{"id":"a","title":"A","passes":true}\n{"id":"b","title":"B","state":"done"}\n';
    assert.deepEqual(
      listOf(text).stories.map(({ done }) => done),
      [true, true],
    );
    const open = text.replace('true', 'false');
    assert.equal(editStoryDone(text, { id: 'a' }, false, FILE), open);
    // Nor does a compaction take an open task away.
    const now = new Date('2026-03-01T10:00:00Z');
    const graph = ['ready', 'done', 'done']
      .map((status, n) => `{"id":"${n}","title":"A","passes":${n === 0},"status":"${status}"}\n`)
      .join('');
    const made = compactTasks(graph, { archive: 'a', keep: 1, now });
    assert.deepEqual(
      made?.tasks.map(({ id }) => id),
      ['1'],
    );
  });

  test('unusable entries are reported with their line', () => {
    const problem = (text: string) => {
      const read = parseStoryFile(FILE, text);
      assert.ok(read.kind === 'invalid');
      return [read.problems[0].line, englishOf(read.problems[0].message)] as const;
    };
    assert.match(problem('{"id":"a","title":"A"}\n{"id":')[1], /^Each line must be one JSON/);
    assert.equal(problem('{"id":"a","title":"A"}\n{"id":')[0], 2);
    assert.match(problem('"a"')[1], /put a task there/);
    assert.match(problem('[]\n')[1], /ralph-fresh tasks import/);
    assert.match(problem('{"type":"compacted","ids":["a"]}')[1], /has no tasks/);
  });

  test('is found without a name, after a prd.json and before the files of other tools', async t => {
    const folder = await tempDir('ralph-graph-');
    t.after(folder.remove);
    for (const dir of ['.ralph', '.beads']) {
      await mkdir(path.join(folder.path, dir));
    }
    await writeFile(path.join(folder.path, '.beads/issues.jsonl'), '{"id":"b-1","title":"B"}\n');
    await writeFile(path.join(folder.path, FILE), GRAPH);
    assert.equal(await findStoryFile(folder.path), path.join(folder.path, FILE));
    await writeFile(path.join(folder.path, 'prd.json'), '{"userStories":[]}');
    assert.equal(await findStoryFile(folder.path), path.join(folder.path, 'prd.json'));
  });

  test('files of other tools are not recognized as this format', () => {
    const format = (file: string) => parseStoryFile(file, '').format;
    assert.equal(format('/w/.ralph/tasks.jsonl'), 'tasks');
    assert.equal(format('C:\\w\\tasks.jsonl'), 'tasks');
    assert.notEqual(format('/w/.ralph/agent/tasks.jsonl'), 'tasks');
    assert.equal(format('/w/.beads/tasks.jsonl'), 'beads');
    assert.equal(format('/w/.beads/issues.jsonl'), 'beads');
  });
});
