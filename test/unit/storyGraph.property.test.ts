import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { editStoryDone } from '../../src/orchestrator/stories/edit/edit.ts';
import { nextStory, readyStories } from '../../src/orchestrator/stories/select.ts';
import type { StoryList } from '../../src/orchestrator/stories/story.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';

/** What each of some stories waits for, by index; more than there are means a story that is not in the file. */
type Graph = readonly (readonly number[])[];

const graphs: fc.Arbitrary<Graph> = fc.integer({ min: 1, max: 7 }).chain(size =>
  fc.array(fc.uniqueArray(fc.nat({ max: size }), { maxLength: 3 }), {
    minLength: size,
    maxLength: size,
  }),
);

const name = (index: number) => `Task ${'abcdefgh'[index]}`;
const named = (graph: Graph) =>
  graph.map((needs, i) => ({ title: name(i), needs: needs.map(name), index: i }));
const phases = (graph: Graph, task: (i: number) => object) =>
  stringify({
    phases: graph.map((needs, i) => ({
      ...{ name: name(i), blocked_by: needs.map(need => need + 1), tasks: [task(i)] },
    })),
  });
const jsonLines = (lines: readonly object[]) => lines.map(line => JSON.stringify(line)).join('\n');

/** Files whose n-th story waits for what the graph says, in the ways that their tools have. */
const FILES: readonly (readonly [title: string, path: string, text: (graph: Graph) => string])[] = [
  [
    'ids in a prd.json',
    'prd.json',
    graph =>
      JSON.stringify(graph.map((dependsOn, id) => ({ id, title: 't', dependsOn, passes: false }))),
  ],
  [
    'titles in a prd.json',
    'prd.json',
    graph =>
      JSON.stringify(
        named(graph).map(({ title, needs }) => ({ title, blockedBy: needs, passes: false })),
      ),
  ],
  [
    'numbers in a feature list',
    'feature_list.json',
    graph =>
      JSON.stringify(
        graph.map(needs => ({
          ...{ description: 't', passes: 'failing', dependencies: needs.map(need => need + 1) },
        })),
      ),
  ],
  [
    'epics in a prd.json',
    'prd.json',
    graph =>
      JSON.stringify({
        epics: named(graph).map(({ title, needs, index }) => ({
          id: `E${index}`,
          title,
          blockedBy: needs,
        })),
        userStories: graph.map((_, i) => ({
          id: `S${i}`,
          title: 't',
          parentEpic: `E${i}`,
          passes: false,
        })),
      }),
  ],
  [
    'tasks of an orchestration by name',
    'plan.yaml',
    graph =>
      stringify({
        tasks: named(graph).map(({ title, needs }) => ({ name: title, depends_on: needs })),
      }),
  ],
  ['phases by number', 'plan.yaml', graph => phases(graph, i => ({ id: `t${i}`, name: 't' }))],
  [
    'Task Master',
    '.taskmaster/tasks/tasks.json',
    graph =>
      JSON.stringify({
        master: {
          tasks: graph.map((needs, i) => ({
            ...{ id: i + 1, title: 't', status: 'pending', subtasks: [] },
            dependencies: needs.map(need => need + 1),
          })),
        },
      }),
  ],
  [
    'ralph-orchestrator',
    '.ralph/agent/tasks.jsonl',
    graph =>
      jsonLines(
        graph.map((needs, i) => ({
          ...{ id: `t${i}`, title: 't', status: 'open', priority: 1 },
          blocked_by: needs.map(need => `t${need}`),
        })),
      ),
  ],
  [
    'Beads',
    'issues.jsonl',
    graph =>
      jsonLines(
        graph.map((needs, i) => ({
          ...{ id: `t${i}`, title: 't', status: 'open' },
          dependencies: needs.map(need => ({ issue_id: `t${i}`, depends_on_id: `t${need}` })),
        })),
      ),
  ],
];

/** The stories that can never start: they wait for something missing, for themselves, or for such a story. */
function stuckIn(graph: Graph): Set<number> {
  const done = new Set<number>();
  for (let before = -1; before !== done.size; ) {
    before = done.size;
    graph.forEach((needs, i) => {
      if (needs.every(need => done.has(need))) {
        done.add(i);
      }
    });
  }
  return new Set([...graph.keys()].filter(i => !done.has(i)));
}

function hasCircle(graph: Graph): boolean {
  const inside = graph.map(needs => needs.filter(need => need < graph.length));
  return stuckIn(inside).size > 0;
}

function listOf(path: string, text: string): StoryList {
  const file = parseStoryFile(path, text);
  assert.ok(file.kind === 'stories', JSON.stringify(file));
  return file;
}

describe('order is never violated, whatever waits for whatever', () => {
  for (const [title, path, textOf] of FILES) {
    test(title, () => {
      fc.assert(
        fc.property(graphs, graph => {
          let text = textOf(graph);
          const { problems } = listOf(path, text);
          const codes = problems.map(({ code }) => code);
          const isUnknown = graph.some(needs => needs.includes(graph.length));
          assert.equal(codes.includes('unknownDependency'), isUnknown);
          assert.equal(codes.includes('circularDependency'), hasCircle(graph));
          const last = text.split('\n').length;
          assert.ok(problems.every(({ line }) => line >= 1 && line <= last));

          const done = new Set<number>();
          for (;;) {
            const { stories } = listOf(path, text);
            for (const { position } of readyStories(stories)) {
              assert.ok(
                graph[position]?.every(need => done.has(need)),
                `${position} is not ready`,
              );
            }
            const { story, reason } = nextStory(stories);
            if (story === undefined) {
              const stuck = stuckIn(graph);
              assert.equal(reason, stuck.size === 0 ? 'allDone' : 'waiting');
              assert.deepEqual(
                [...done].sort(),
                [...graph.keys()].filter(i => !stuck.has(i)),
              );
              return;
            }
            assert.ok(graph[story.position]?.every(need => done.has(need)));
            done.add(story.position);
            text = editStoryDone(text, { id: story.id, position: story.position }, true, path);
          }
        }),
        { numRuns: 60 },
      );
    });
  }
});
