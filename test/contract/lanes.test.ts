import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
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
  { id: 'US-004', title: 'Sort the todos' },
];
const LANES = 3;
/** What only agents in places of their own are told. */
const RULES =
  /Other agents work on other stories at the same time, each in a clone of its own, .*\$RALPH_FRESH_PORT/;

/** The first line of a transcript in which the CLI says where it works, and who pays. */
interface Init {
  readonly cwd: string;
  readonly session_id: string;
  readonly apiKeySource: string;
}

type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>;

// The limit only ends a hanging run; no test measures time.
describe('lanes with the real Claude Code', () => {
  const { command, files, folder, git, home, run, runId } = claudeProject('lanes-', stories);

  it('lands four stories from three places, each with a transcript and a price', async () => {
    const { promise: allAtWork, resolve: release } = Promise.withResolvers<void>();
    // The variables that an agent's own shell has, by its folder.
    const variables = new Map<string, string[]>();
    let begun = 0;
    const storyOf = (prompt: string) => /\*\*WORK\*\* on story (US-\d+)/.exec(prompt)?.[1];
    const play = storyScript(stories, {
      storyOf,
      check: source => `node --check ${source} && pwd && env | cut -d= -f1`,
    });
    const script: ModelScript = async turn => {
      if (turn.toolResults === 0) {
        begun += 1;
        if (begun === LANES) {
          release();
        }
        // Nobody finishes before all lanes have an agent.
        await allAtWork;
      }
      if (turn.toolResults === 3) {
        const [cwd = '', ...names] = turn.lastResult.trim().split('\n');
        variables.set(cwd, names);
      }
      return play(turn);
    };
    await using model = await ScriptedModel.start(script);
    const { code, events, stdout } = await run(model, '--lanes', `${LANES}`);
    assert.equal(code, 0, stdout);

    // All have landed, each as one commit that says where it comes from.
    // The progress log is not tracked before the run, and stays so.
    assert.equal(await git('status', '--porcelain'), '?? .omc/progress.txt');
    const list = JSON.parse(await readFile(path.join(folder(), '.omc', 'prd.json'), 'utf8'));
    assert.ok(list.userStories.every(({ passes }: { passes: boolean }) => passes));
    const log = await git(
      ...['log', '--first-parent', '--reverse'],
      '--format=%s|%(trailers:key=Ralph-Story,valueonly,separator=)',
    );
    assert.deepEqual(
      log.split('\n').slice(1).sort(),
      stories.map(story => `${commitSubject(story)}|${story.id}`),
    );
    const progress = await readFile(path.join(folder(), '.omc', 'progress.txt'), 'utf8');
    for (const { id } of stories) {
      assert.match(progress, new RegExp(`^## ${id}$`, 'm'));
    }

    // Each agent was a session of its own, in the place of its lane.
    const started = ofType(events, 'iteration.started');
    assert.deepEqual(started.map(({ storyId }) => storyId).sort(), idsOf(stories));
    const places = new Map<number, string>();
    const sessions = new Set<string>();
    for (const { iteration, lane } of started) {
      const init = await initOf(iteration);
      const key = lane ?? 0;
      assert.equal(path.basename(init.cwd), `lane-${lane}`);
      assert.equal(places.get(key) ?? init.cwd, init.cwd);
      assert.equal(init.apiKeySource, 'ANTHROPIC_API_KEY');
      places.set(key, init.cwd);
      sessions.add(init.session_id);
    }
    assert.equal(sessions.size, stories.length);
    assert.equal(new Set(places.values()).size, LANES);
    for (const cwd of places.values()) {
      assert.ok(cwd.startsWith(path.join(home(), '.cache', 'ralph-fresh', 'places')), cwd);
    }

    // The environment is the one that this test has made; Claude Code gives its tools tokens of its own.
    assert.deepEqual([...variables.keys()].sort(), [...places.values()].sort());
    const given = new Set(Object.keys(model.env(home())));
    for (const names of variables.values()) {
      const secrets = names.filter(
        name => /^ANTHROPIC_|_(?:API_KEY|TOKEN|SECRET)$/.test(name) && !/^CLAUDE_CODE_/.test(name),
      );
      assert.deepEqual(
        secrets.filter(name => !given.has(name)),
        [],
      );
      assert.ok(names.includes('RALPH_FRESH_LANE') && names.includes('RALPH_FRESH_PORT'));
    }

    // Each prompt has the rules of the lanes.
    assert.equal(model.prompts.length, stories.length);
    assert.deepEqual(model.prompts.map(storyOf).sort(), idsOf(stories));
    for (const prompt of model.prompts) {
      assert.match(prompt, RULES);
    }

    // What the run has cost is the sum of what each call reports.
    const prices = ofType(events, 'agent.ended').map(({ costUsd }) => costUsd ?? 0);
    assert.equal(prices.length, stories.length);
    assert.ok(prices.every(price => price > 0));
    const status = JSON.parse((await command(model, 'status', '--json')).stdout);
    const sum = prices.reduce((total, price) => total + price, 0);
    assert.ok(Math.abs(status.cost.usd - sum) < 1e-9, `${status.cost.usd} for ${prices}`);
  });

  async function initOf(iteration: number): Promise<Init> {
    const file = path.join(files().iterationDir(await runId(), iteration), 'stream.jsonl');
    const lines = (await readFile(file, 'utf8')).trim().split('\n');
    const parsed = lines.map(line => JSON.parse(line));
    assert.equal(parsed.at(-1)?.type, 'result');
    return parsed.find(({ subtype }) => subtype === 'init');
  }
});

function ofType<T extends RunEvent['type']>(events: readonly RunEvent[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

function idsOf(list: typeof stories): string[] {
  return list.map(({ id }) => id);
}
