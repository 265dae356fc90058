import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, before, beforeEach, describe, it } from 'node:test';
import { ensureAgentSdk, ensureClaudeCode } from '../../scripts/lib/claudeCode.ts';
import { englishOf } from '../../src/base/say.ts';
import type { AgentEvent, AgentRequest } from '../../src/orchestrator/agents/agent.ts';
import type { AgentEnd } from '../../src/orchestrator/agents/call/agentProcess.ts';
import { type SdkOptions, sdkAgent } from '../../src/orchestrator/agents/sdk/sdk.ts';
import type { TempDir } from '../support/cleanEnv.ts';
import { gitFolder } from '../support/gitFolder.ts';
import {
  commitSubject,
  type Scripted,
  ScriptedModel,
  storyScript,
} from '../support/scriptedModel.ts';
import { recordedCall, todoProject } from '../support/todoProject.ts';

const stories = [
  { id: 'US-001', title: 'Add a todo' },
  { id: 'US-002', title: 'List the todos' },
];

interface Call extends AgentEnd {
  readonly events: readonly AgentEvent[];
}

interface CallOptions extends SdkOptions {
  readonly request?: Partial<AgentRequest>;
  readonly onEvent?: (event: AgentEvent, stop: () => void) => void;
}

// The limit only ends a hanging run; no test measures time.
describe('the pinned Claude Agent SDK', () => {
  let claudePath: string;
  let sdkPath: string;
  let temp: TempDir;
  let home: string;
  let cwd: string;

  before(async () => {
    claudePath = await ensureClaudeCode(line => console.error(line));
    sdkPath = await ensureAgentSdk(line => console.error(line));
  });
  beforeEach(async () => {
    ({ temp, home, folder: cwd } = await todoProject('sdk-agent-', stories));
  });
  afterEach(() => temp.remove());

  const prdFile = () => path.join(cwd, '.omc', 'prd.json');

  const { git } = gitFolder(() => ({ folder: cwd, home }));

  async function call(model: ScriptedModel, options: CallOptions = {}): Promise<Call> {
    const { request, onEvent, ...sdk } = options;
    const agent = sdkAgent({ claudePath, sdkPath, ...sdk });
    const env = model.env(home, { CLAUDE_CODE_MAX_RETRIES: '1' });
    const command = await agent.command({ cwd, prompt: 'Work.', maxTurns: 20, env, ...request });
    return recordedCall({ folder: cwd, temp }, agent, command, {}, onEvent);
  }

  /** One call whose every turn is the same. */
  async function callWith(reply: Scripted, options: CallOptions = {}): Promise<Call> {
    await using model = await ScriptedModel.start(() => reply);
    // Awaited here, so that the model is there until the end of the call.
    return await call(model, options);
  }

  it('finishes each story in a fresh process with its own tools', async () => {
    await using model = await ScriptedModel.start(storyScript(stories));
    await writeFile(path.join(cwd, 'CLAUDE.md'), 'Always be terse, says the project.\n');
    await git('add', '.');
    for (const story of stories) {
      const { reason, exitCode, leftovers, result, events, stderr } = await call(model, {
        request: { prompt: `Work on ${story.id} of .omc/prd.json. “Quotes” and $HOME stay.` },
      });
      assert.deepEqual([reason, exitCode, leftovers], ['exited', 0, 0], stderr);
      assert(result && !result.isError);
      assert.match(result.text, new RegExp(`^${story.id} is done`));
      assert.equal(result.turns, 7);
      assert.ok((result.costUsd ?? 0) > 0);
      assert.equal(model.prompts.at(-1)?.includes('“Quotes” and $HOME stay.'), true);
      const [init] = events;
      assert(init?.type === 'init');
      assert.equal(init.apiKeySource, 'ANTHROPIC_API_KEY');
      assert.deepEqual(
        events.flatMap(event => (event.type === 'tool' ? [event.name] : [])),
        ['Read', 'Write', 'Bash', 'Edit', 'Bash', 'Bash'],
      );
      assert.ok(!events.some(event => event.type === 'unknown'));
    }
    const log = await git('log', '--format=%s');
    assert.deepEqual(log.split('\n'), [...stories.map(commitSubject).reverse(), 'First commit']);
    assert.ok(!(await readFile(prdFile(), 'utf8')).includes('false'));
  });

  it('reads the project’s CLAUDE.md, as the command line does', async () => {
    await writeFile(path.join(cwd, 'CLAUDE.md'), 'The secret word is rhubarb.\n');
    let isTold = false;
    await using model = await ScriptedModel.start(turn => {
      isTold = JSON.stringify([turn.system, turn.messages]).includes('rhubarb');
      return { text: 'Done.' };
    });
    await call(model);
    assert.ok(isTold);
  });

  it('answers in the requested form with the given tools', async () => {
    const answer = { verdict: 'pass' };
    let offered: readonly string[] = [];
    await using model = await ScriptedModel.start(turn => {
      offered = turn.tools;
      return { tools: [{ name: 'StructuredOutput', input: answer }] };
    });
    const { result } = await call(model, {
      request: {
        tools: ['Read', 'Grep'],
        jsonSchema: { type: 'object', properties: { verdict: { type: 'string' } } },
      },
    });
    assert.deepEqual(result?.structured, answer);
    // It may add placeholders of its own, which do nothing.
    const real = offered.filter(name => !name.endsWith('Placeholder'));
    assert.deepEqual(real.sort(), ['Grep', 'Read', 'StructuredOutput']);
  });

  it('denies what was not allowed, and continues', async () => {
    await using model = await ScriptedModel.start(({ toolResults }) =>
      toolResults === 0
        ? { tools: [{ name: 'WebFetch', input: { url: 'http://127.0.0.1:9/', prompt: 'x' } }] }
        : { text: 'I went on without it.' },
    );
    const { exitCode, result } = await call(model);
    assert.equal(exitCode, 0);
    assert.equal(result?.text, 'I went on without it.');
    assert.equal(result?.permissionDenials, 1);
  });

  const failures = [
    { status: 529, type: 'overloaded_error', message: 'Overloaded', kind: 'overloaded' },
    { status: 400, type: 'invalid_request_error', message: 'too odd', kind: 'request' },
  ] as const;
  for (const { kind, ...error } of failures) {
    it(`reports the kind of failure of status ${error.status}`, async () => {
      const { reason, exitCode, result } = await callWith({ error });
      assert.deepEqual([reason, exitCode, result?.error?.kind], ['exited', 1, kind]);
    });
  }

  it('stops at the turn limit and at the budget', async () => {
    const again = { tools: [{ name: 'Bash', input: { command: 'echo again' } }] };
    const turns = await callWith(again, { request: { maxTurns: 2 } });
    assert.equal(turns.result?.error?.kind, 'maxTurns');
    const budget = await callWith(again, { request: { maxBudgetUsd: 0.000001 } });
    assert.equal(budget.result?.error?.kind, 'budget');
  });

  it('ends without a result on SIGTERM', { skip: process.platform === 'win32' }, async () => {
    await using model = await ScriptedModel.start(({ toolResults }) =>
      toolResults === 0 ? { tools: [{ name: 'Bash', input: { command: 'echo begun' } }] } : 'hang',
    );
    const { reason, exitCode, signal, result } = await call(model, {
      onEvent: (event, stop) => {
        if (event.type === 'toolResult') stop();
      },
    });
    assert.deepEqual([reason, result], ['cancelled', undefined]);
    assert.ok(exitCode === 143 || signal === 'SIGTERM', `${exitCode} ${signal}`);
  });

  it('reports what the SDK itself cannot do', async () => {
    const broken = path.join(temp.path, 'sdk.mjs');
    await writeFile(broken, 'export const query = () => { throw new Error("no such engine"); };\n');
    const { exitCode, result } = await callWith({ text: 'x' }, { sdkPath: broken });
    assert.equal(exitCode, 1);
    assert.deepEqual(result?.error, { kind: 'other', message: 'no such engine' });
    await writeFile(broken, 'export const other = 1;\n');
    const { result: foreign } = await callWith({ text: 'x' }, { sdkPath: broken });
    assert.match(
      englishOf(foreign?.error?.message ?? ''),
      /is no Claude Agent SDK that is known here/,
    );
  });
});
