import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { RunEventBody } from '../../src/orchestrator/journal/events.ts';
import { JournalWriter } from '../../src/orchestrator/journal/journal.ts';
import { dropFoundWork } from '../../src/orchestrator/loop/decideFoundWork.ts';
import { deliverRequest } from '../../src/orchestrator/workspace/delivery.ts';
import { readFoundWork } from '../../src/orchestrator/workspace/foundWork.ts';
import { InboxReader } from '../../src/orchestrator/workspace/request.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { acquireRunLock } from '../../src/orchestrator/workspace/runLock.ts';
import { type TempDir, tempDir } from '../support/cleanEnv.ts';
import { until } from '../support/ralph.ts';

const EARLIER = '2026-11-24T10-00-00-000-abcdef';
const RUN = '2026-11-24T11-00-00-000-abcdef';
const ID = 'DISC-12345678-1-1';
const stories = { done: 0, total: 2 };
const ended: RunEventBody = {
  type: 'run.ended',
  ...{ outcome: 'stopped', exitCode: 130, stories, iterations: 1 },
};

function started(runId: string): RunEventBody {
  return {
    ...{ type: 'run.started', runId, version: '1', pid: 1, agent: 'x', mode: 'stories' },
    ...{ task: '', maxIterations: 9, stuckThreshold: 3, stories },
  };
}

/** This process holds the lock of a run, as its loop does before it writes anything. */
describe('a request to a loop that has just begun', () => {
  let temp: TempDir;
  let files: RunFiles;

  beforeEach(async () => {
    temp = await tempDir('starting-loop-');
    files = new RunFiles(temp.path);
  });
  afterEach(() => temp.remove());

  async function write(runId: string, ...events: readonly RunEventBody[]): Promise<void> {
    await mkdir(files.runDir(runId), { recursive: true });
    const journal = await JournalWriter.open(files.journalFile(runId));
    for (const event of events) {
      journal.append(event);
    }
    journal.close();
  }

  /** Waits for the request, and answers it with an event. */
  async function answer(type: string, event: RunEventBody): Promise<void> {
    const inbox = new InboxReader(files.inboxFile(RUN));
    await until(`the request ${type}`, async () =>
      (await inbox.takeNew()).some(request => request.type === type),
    );
    await write(RUN, event);
  }

  test('a stop that an earlier loop of this run got is not taken for one', async () => {
    const stop = { type: 'stop.requested', by: 'inbox', mode: 'end' } as const;
    await write(RUN, started(RUN), stop, ended);
    const attempt = await acquireRunLock(files, RUN);
    assert.equal(attempt.kind, 'acquired');
    const [delivered] = await Promise.all([
      deliverRequest(files, { type: 'stop', mode: 'end' }),
      answer('stop', stop),
    ]);
    assert.equal(delivered.kind, 'taken');
    await attempt.lock.release();
  });

  test('work that another run has left accepted can be dropped', async () => {
    await write(
      EARLIER,
      started(EARLIER),
      { type: 'discovery.reported', iteration: 1, id: ID, title: 'Limit the log in' },
      { type: 'discovery.accepted', id: ID, by: 'person' },
      ended,
    );
    await write(RUN, started(RUN));
    const attempt = await acquireRunLock(files, RUN);
    assert.equal(attempt.kind, 'acquired');
    await Promise.all([
      dropFoundWork(files, ID),
      answer('discovery', { type: 'discovery.dropped', id: ID }),
    ]);
    assert.deepEqual(
      (await readFoundWork(files)).map(({ state }) => state),
      ['dropped'],
    );
    await attempt.lock.release();
  });
});
