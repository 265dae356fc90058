import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { HANDOFF_MAX_BYTES } from '../../src/orchestrator/iteration/handoff.ts';
import { claudeProject } from '../support/claudeProject.ts';
import {
  commitSubject,
  type ModelScript,
  ScriptedModel,
  storyScript,
} from '../support/scriptedModel.ts';

const stories = [
  { id: 'US-001', title: 'Add a todo' },
  { id: 'US-002', title: 'List all todos' },
  { id: 'US-003', title: 'Remove a todo' },
];

// The limit only ends a hanging run; no test measures time.
describe('ralph-fresh run with the real Claude Code', () => {
  const project = claudeProject('fresh-run-', stories);
  const prdFile = () => path.join(project.folder(), '.omc', 'prd.json');

  async function run(script: ModelScript, args: readonly string[] = []) {
    await using model = await ScriptedModel.start(script);
    return await project.run(model, ...args);
  }

  it('completes three stories with one commit each and reports it', async () => {
    const { code, stdout, events } = await run(storyScript(stories));

    assert.equal(code, 0, stdout);
    assert.match(stdout, /=== Iteration 3\/20 ===/);
    assert.match(stdout, /Completion promise detected!/);
    assert.match(stdout, /COMPLETE after 3 iterations/);

    const prd = JSON.parse(await readFile(prdFile(), 'utf8'));
    assert.deepEqual(
      prd.userStories.map(({ passes }: { passes: boolean }) => passes),
      [true, true, true],
    );
    const subjects = (await project.git('log', '--format=%s', '--reverse')).split('\n');
    assert.deepEqual(subjects.slice(1), stories.map(commitSubject));
    assert.equal(await project.git('status', '--porcelain'), '');

    const sessions = events.flatMap(event =>
      event.type === 'agent.init' ? [event.sessionId] : [],
    );
    assert.equal(new Set(sessions).size, 3, 'every iteration is a session of its own');
    assert.deepEqual(
      events.flatMap(event =>
        event.type === 'commit.recorded' ? [[event.iteration, event.storyId, event.subject]] : [],
      ),
      stories.map((story, index) => [index + 1, story.id, commitSubject(story)]),
    );
    assert.deepEqual(
      events.flatMap(event => (event.type === 'iteration.ended' ? [event.outcome] : [])),
      ['storyDone', 'storyDone', 'storyDone'],
    );
    const ended = events.at(-1);
    assert.equal(ended?.type === 'run.ended' && ended.outcome, 'completed');
  });

  it('gives each agent the story and the commits so far, but no earlier conversations', async () => {
    const prompts: string[] = [];
    await writeFile(path.join(project.folder(), 'todo.ts'), 'export function addTodo() {}\n');
    await project.git('add', '--all');
    await project.git('commit', '--quiet', '--message', 'the first todo');
    const play = storyScript(stories);
    const { events } = await run(turn => {
      if (turn.toolResults === 0) {
        prompts.push(turn.prompt);
      }
      return play(turn);
    });

    assert.equal(prompts.length, 3);
    for (const [i, prompt] of prompts.entries()) {
      const written = await project.prompt(i + 1);
      assert.ok(prompt.includes(written.trim()), `prompt ${i + 1} arrives whole`);
      assert.match(written, /^## Where to Look$[^#]+`todo\.ts`/m);
    }
    assert.match(prompts[1] ?? '', /Next story: US-002/);
    assert.match(prompts[1] ?? '', /feat: US-001/);
    assert.match(prompts[2] ?? '', /Progress: 2\/3 stories complete/);
    for (const event of events) {
      if (event.type === 'iteration.started') {
        assert.ok(event.handoffBytes <= HANDOFF_MAX_BYTES);
      }
    }
  });

  it('stops at once with the next step when the account cannot pay', async () => {
    const { code, stdout, events } = await run(() => ({
      error: {
        status: 400,
        type: 'invalid_request_error',
        message: 'Credit balance is too low',
      },
    }));

    assert.equal(code, 1, stdout);
    assert.match(stdout, /Cannot continue: .*[Cc]redit balance/);
    assert.equal(events.filter(event => event.type === 'iteration.started').length, 1);
  });

  it('gives up on a story after three failed calls and ends with the reason', async () => {
    const { code, events } = await run(
      () => ({
        error: { status: 529, type: 'overloaded_error', message: 'Overloaded' },
      }),
      ['--max-iterations=9', '--retry-attempts=0'],
    );

    assert.equal(code, 1);
    const outcomes = events.flatMap(event =>
      event.type === 'iteration.ended' ? [event.outcome] : [],
    );
    // Three stories, none waits for another, each tried three times.
    assert.deepEqual(outcomes, Array(9).fill('failed'));
    const ended = events.at(-1);
    assert.equal(ended?.type === 'run.ended' && ended.outcome, 'noReadyStory');
    assert.deepEqual(await readFile(prdFile(), 'utf8').then(text => /true/.test(text)), false);
  });
});
