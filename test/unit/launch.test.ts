import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { errorOutput } from '../../src/base/errorOutput.ts';
import { say } from '../../src/base/say.ts';
import type { RunEventBody } from '../../src/orchestrator/journal/events.ts';
import { JournalReader } from '../../src/orchestrator/journal/journal.ts';
import { type Launch, launchRun } from '../../src/orchestrator/workspace/launch.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { cleanEnv, tempDir } from '../support/cleanEnv.ts';
import { runStarted } from '../support/runEvents.ts';
import { sameValue } from '../support/sameValue.ts';

const agent: RunEventBody = { type: 'agent.started', iteration: 1, pid: 1 };
const waits: RunEventBody = {
  type: 'limit.waiting',
  ...{ iteration: 1, until: '2030-01-01T00:00:00Z', remainingMs: 1, known: true, message: '' },
};
const stories = { done: 0, total: 1 };
const fails: RunEventBody = {
  type: 'run.ended',
  ...{ outcome: 'error', exitCode: 1, detail: 'no agent', stories, iterations: 0 },
};

/** A loop that writes these events behind its start, then stays or ends. */
async function launch(
  events: readonly RunEventBody[],
  last: string,
): Promise<Launch | { readonly refused: string }> {
  await using temp = await tempDir('launch-');
  const program = path.join(temp.path, 'loop.mjs');
  const begin = {
    type: 'run.started',
    ...{ version: '0', agent: 'claude', mode: 'stories', task: 'x', stories },
    ...{ maxIterations: 2, stuckThreshold: 3 },
  };
  await writeFile(
    program,
    `import { appendFileSync } from 'node:fs';
    import path from 'node:path';
    const given = name => process.argv.find(arg => arg.startsWith(name + '=')).slice(name.length + 1);
    const runId = given('--run-id');
    const journal = path.join(given('--cwd'), '.omc/state/runs', runId, 'journal.jsonl');
    const events = [{ ...${JSON.stringify(begin)}, runId, pid: process.pid }, ...${JSON.stringify(events)}];
    events.forEach((event, i) => appendFileSync(journal,
      JSON.stringify({ seq: i + 1, at: new Date().toISOString(), ...event }) + '\\n'));
    ${last}`,
  );
  const files = new RunFiles(temp.path);
  try {
    return await launchRun({ files, program, args: [], env: cleanEnv({ home: temp.path }) });
  } catch (error) {
    return { refused: String(error) };
  }
}

describe('a start in the background', () => {
  const exits = 'process.exit(1);';
  it('has succeeded when the first agent has started', async () => {
    assert.equal(((await launch([agent], exits)) as Launch).kind, 'works');
  });

  it('reports what the run waits for', async () => {
    const launched = await launch([waits, fails], exits);
    assert.ok('kind' in launched && launched.kind === 'waits');
    assert.equal(launched.waiting.kind, 'limit');
  });

  it('reports how the run ended before that', async () => {
    const launched = await launch([fails], exits);
    assert.ok('kind' in launched && launched.kind === 'ended');
    assert.deepEqual([launched.state.exitCode, launched.state.detail], [1, 'no agent']);
  });

  it('fails if the loop is killed before that', async () => {
    const launched = await launch([], "process.kill(process.pid, 'SIGKILL');");
    assert.match('refused' in launched ? launched.refused : '', /killed before its first agent/);
  });

  it('returns the last output of such a loop once', async () => {
    const output = errorOutput(say('Line {0}: {1}', 2, say('unknown error')), {
      ...{ asData: true, clean: text => text },
    });
    const launched = await launch([], `console.error(${JSON.stringify(output)}); process.exit(1);`);
    sameValue(launched, { refused: 'HumanError: Line 2: unknown error' });
  });

  it("reads the previous run's journal once, however long the loop takes", async t => {
    await using temp = await tempDir('launch-');
    const files = new RunFiles(temp.path);
    const before = '2020-01-01T00-00-00-000-abcdef';
    await mkdir(files.runDir(before), { recursive: true });
    await writeFile(
      files.journalFile(before),
      `${JSON.stringify({ seq: 1, at: 'now', ...runStarted({ runId: before, stories }) })}\n`,
    );
    const program = path.join(temp.path, 'loop.mjs');
    await writeFile(program, 'setTimeout(() => process.exit(0), 500);');
    const read = t.mock.method(JournalReader.prototype, 'readNew');
    const env = cleanEnv({ home: temp.path });
    assert.equal((await launchRun({ files, program, args: [], env })).kind, 'nothingToDo');
    assert.equal(new Set(read.mock.calls.map(call => call.this)).size, 1);
  });

  it('fails with the output of a loop that dies before that', async () => {
    const launched = await launch([], "throw new Error('what a day');");
    assert.match('refused' in launched ? launched.refused : '', /what a day/);
  });
});
