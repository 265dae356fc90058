import assert from 'node:assert/strict';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { claudeProject } from '../support/claudeProject.ts';
import { type ModelScript, ScriptedModel } from '../support/scriptedModel.ts';

/** A source with one story that is done and one that is open. */
interface Source {
  /** By path: the files, of which the first one is ticked. */
  readonly files: Readonly<Record<string, string>>;
  readonly story: string;
  /** What the agent replaces to tick the open one. */
  readonly tick: readonly [from: string, to: string];
  /** Added to the file by the loop, besides the tick. */
  readonly commits?: true;
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

const sources: Readonly<Record<string, Source>> = {
  'Task Master': {
    files: {
      '.taskmaster/tasks/tasks.json': json({
        master: {
          tasks: [
            { id: 1, title: 'Add', status: 'done', dependencies: [], subtasks: [] },
            { id: 2, title: 'List', status: 'pending', dependencies: [1], subtasks: [] },
          ],
        },
      }),
    },
    story: '2',
    tick: ['"pending"', '"done"'],
  },
  'feature_list.json': {
    files: {
      'feature_list.json': json([
        { id: 'F1', description: 'Add', steps: ['Add one'], passes: true },
        { id: 'F2', description: 'List', steps: ['List all'], passes: false },
      ]),
    },
    story: 'F2',
    tick: ['"passes": false', '"passes": true'],
  },
  'an orchestration': {
    files: {
      '.claude/orchestration/todo.yaml':
        'phases:\n  - name: One\n    tasks:\n      - {id: T1, name: Add, status: completed}\n      - id: T2\n        name: List\n        status: pending\n        commits: []\n',
    },
    story: 'T2',
    tick: ['pending', 'completed'],
    commits: true,
  },
  'the task graph': {
    files: {
      '.ralph/tasks.jsonl':
        '{"id":"T-1","title":"Add","status":"done","blockedBy":[]}\n{"id":"T-2","title":"List","status":"ready","blockedBy":["T-1"]}\n',
    },
    story: 'T-2',
    tick: ['"ready"', '"done"'],
  },
  'ralph-orchestrator': {
    files: {
      '.ralph/agent/tasks.jsonl':
        '{"id":"task-1","title":"Add","status":"closed","priority":1,"blocked_by":[]}\n{"id":"task-2","title":"List","status":"open","priority":1,"blocked_by":["task-1"]}\n',
    },
    story: 'task-2',
    tick: ['"open"', '"closed"'],
  },
  'a folder of Backlog.md': {
    files: {
      'backlog/tasks/task-2 - List.md':
        '---\nid: task-2\ntitle: List\nstatus: To Do\ndependencies: [task-1]\n---\n\n## Description\n\nAll of them.\n',
      'backlog/tasks/task-1 - Add.md': '---\nid: task-1\ntitle: Add\nstatus: Done\n---\n',
      'backlog/config.yml': 'project_name: Todo\nstatuses: ["To Do", "In Progress", "Done"]\n',
    },
    story: 'task-2',
    tick: ['To Do', 'Done'],
  },
  'tasks of Spec Kit': {
    files: {
      'specs/001-todo/tasks.md': '# Tasks\n\n## Phase 1\n\n- [x] T001 Add\n- [ ] T002 List\n',
    },
    story: 'T002',
    tick: ['[ ] T002', '[x] T002'],
  },
  ralphy: {
    files: {
      '.ralphy/tasks.yaml':
        'tasks:\n  - title: Add\n    completed: true\n  - title: List\n    completed: false\n',
    },
    story: '#2',
    tick: ['false', 'true'],
  },
  'tasks of Kiro': {
    files: {
      '.kiro/specs/todo/tasks.md': '# Implementation Plan\n\n- [x] 1. Add\n- [ ] 2. List\n',
    },
    story: '2',
    tick: ['[ ] 2.', '[x] 2.'],
  },
  'tasks of OpenSpec': {
    files: {
      'openspec/changes/add-todos/tasks.md': '## 1. Todos\n\n- [x] 1.1 Add\n- [ ] 1.2 List\n',
    },
    story: '1.2',
    tick: ['[ ] 1.2', '[x] 1.2'],
  },
  BMAD: {
    files: {
      '_bmad-output/implementation-artifacts/sprint-status.yaml':
        'project: Todo\n\ndevelopment_status:\n  epic-1: in-progress\n  1-1-add: done\n  1-2-list: ready-for-dev\n',
      '_bmad-output/implementation-artifacts/1-2-list.md':
        '# Story 1.2: List\n\nStatus: ready-for-dev\n',
    },
    story: '1-2-list',
    tick: ['ready-for-dev', 'done'],
  },
};

// Each format is found without --file, by its place.
describe('ralph-fresh run with the real Claude Code, from each source', () => {
  const project = claudeProject('sources-', []);

  for (const [name, source] of Object.entries(sources)) {
    it(name, async () => {
      const folder = project.folder();
      await rm(path.join(folder, '.omc', 'prd.json'), { force: true });
      for (const [file, text] of Object.entries(source.files)) {
        await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
        await writeFile(path.join(folder, file), text);
      }
      await project.git('add', '--all');
      await project.git('commit', '--quiet', '--message', 'the list');
      const [[file, before] = ['', '']] = Object.entries(source.files);
      const prompts: string[] = [];
      await using model = await ScriptedModel.start(agentOf(source, file, prompts));
      const { code, events, stdout } = await project.run(model, '--max-iterations=1');

      assert.equal(code, 0, stdout);
      assert.ok(prompts[0]?.includes(source.story));
      const commits = events.flatMap(event => (event.type === 'commit.recorded' ? [event] : []));
      assert.deepEqual(
        commits.map(({ storyId }) => storyId),
        [source.story],
      );
      const [from, to] = source.tick;
      const ticked = before.replace(from, to);
      const hash = `["${commits[0]?.hash.slice(0, 10)}"]`;
      assert.equal(
        await readFile(path.join(folder, file), 'utf8'),
        source.commits ? ticked.replace('commits: []', `commits: ${hash}`) : ticked,
      );
      const ended = events.at(-1);
      assert.ok(ended?.type === 'run.ended' && ended.outcome === 'completed');
      assert.equal(ended.stories?.done, 2);
    });
  }
});

/** Works on the story, ticks it in the file, commits both, and says so. */
function agentOf({ story, tick }: Source, file: string, prompts: string[]): ModelScript {
  const [from, to] = tick;
  const edit = `const fs = require("fs"); const f = ${JSON.stringify(file)}; fs.writeFileSync(f, fs.readFileSync(f, "utf8").replace(${JSON.stringify(from)}, ${JSON.stringify(to)}));`;
  return ({ prompt, toolResults }) => {
    if (toolResults === 0) {
      prompts.push(prompt);
    }
    const command = [
      `echo list > list.txt && "${process.execPath}" -e '${edit}'`,
      `git add -A && git commit -q -m '[fresh-context] ${story} - list them'`,
    ][toolResults];
    return command === undefined
      ? { text: `${story} is done.\n\n<promise>TASK_COMPLETE</promise>` }
      : { tools: [{ name: 'Bash', input: { command } }] };
  };
}
