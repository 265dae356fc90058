import assert from 'node:assert/strict';
import { appendFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isChatter } from '../../src/orchestrator/journal/chatter.ts';
import {
  HELD_REASONS,
  ITERATION_OUTCOMES,
  PAUSE_REASONS,
  PROCESS_END_REASONS,
  RETURN_REASONS,
  RUN_OUTCOMES,
  STOP_MODES,
  STOP_SOURCES,
} from '../../src/orchestrator/journal/eventCodes.ts';
import { parseRunEvent, type RunEvent } from '../../src/orchestrator/journal/events.ts';
import { foldJournal } from '../../src/orchestrator/journal/foldJournal.ts';
import { applyEvent, foldRun } from '../../src/orchestrator/journal/foldRun.ts';
import { readDecisions } from '../../src/orchestrator/journal/journal.ts';
import { INITIAL_RUN_STATE, runningIteration } from '../../src/orchestrator/journal/runState.ts';
import {
  fromStored,
  type StoredRunState,
  toStored,
} from '../../src/orchestrator/journal/storedRunState.ts';
import { tempDir } from '../support/cleanEnv.ts';
import { sameValue } from '../support/sameValue.ts';

const storyId = fc.constantFrom('A', 'B', '#1', '__proto__', '');
/** Few, so that events are often about the same ones. */
const iteration = fc.integer({ min: 1, max: 5 });
const words = fc.string({ unit: 'binary', maxLength: 20 });
const stories = fc.record({ done: fc.nat(9), total: fc.nat(9) });
const ms = fc.nat(100_000);
const uncommitted = fc.record(
  {
    storyIds: fc.array(storyId, { maxLength: 2 }),
    files: fc.array(words, { maxLength: 2 }),
    more: iteration,
    lock: words,
  },
  { requiredKeys: ['storyIds', 'files'] },
);
/** Sums of these are exact, so that they can be compared. */
const cost = fc.nat(1_000).map(quarters => quarters / 4);

/** One event body of each type, with and without its optional fields. */
const kinds: Readonly<Record<RunEvent['type'], fc.Arbitrary<object>>> = {
  'run.started': fc.record(
    {
      runId: words,
      version: words,
      pid: fc.integer(),
      agent: words,
      mode: fc.constantFrom('stories', 'freeForm'),
      task: words,
      maxIterations: iteration,
      stuckThreshold: iteration,
      stories,
      model: words,
      storyFile: words,
      branch: words,
      startCommit: words,
      lanes: fc.integer({ min: 1, max: 4 }),
      isolated: fc.boolean(),
    },
    {
      requiredKeys: [
        ...(['runId', 'version', 'pid', 'agent', 'mode', 'task'] as const),
        ...(['maxIterations', 'stuckThreshold', 'stories'] as const),
      ],
    },
  ),
  'iteration.started': fc.record(
    {
      iteration,
      maxIterations: iteration,
      stories,
      promptBytes: ms,
      handoffBytes: ms,
      stuckFor: fc.nat(9),
      storyId,
      storyTitle: words,
      startCommit: words,
    },
    {
      requiredKeys: [
        ...(['iteration', 'maxIterations', 'stories', 'promptBytes'] as const),
        ...(['handoffBytes', 'stuckFor'] as const),
      ],
    },
  ),
  'agent.started': fc.record(
    { iteration, pid: iteration, startId: words },
    { requiredKeys: ['iteration', 'pid'] },
  ),
  'run.resumed': fc.record(
    {
      version: words,
      pid: fc.integer(),
      agent: words,
      maxIterations: iteration,
      stuckThreshold: iteration,
      stories,
      model: words,
      branch: words,
      budgetUsd: iteration,
      verify: fc.array(words, { maxLength: 2 }),
      lanes: fc.integer({ min: 1, max: 4 }),
      isolated: fc.boolean(),
    },
    {
      requiredKeys: [
        ...(['version', 'pid', 'agent', 'maxIterations', 'stuckThreshold', 'stories'] as const),
      ],
    },
  ),
  'plan.written': fc.record({ storyFile: words, stories: fc.nat(9), attempts: iteration }),
  'plan.refused': fc.record({ attempt: iteration, problems: fc.array(words, { maxLength: 3 }) }),
  'call.retried': fc.record({
    iteration: fc.nat(50),
    attempt: iteration,
    maxAttempts: iteration,
    delayMs: ms,
    error: fc.record({ kind: words, message: words }),
  }),
  'agent.replaced': fc.record({ from: words, to: words, reason: words }),
  'limit.waiting': fc.record({
    iteration: fc.nat(50),
    until: words,
    remainingMs: ms,
    known: fc.boolean(),
    message: words,
  }),
  'limit.ended': fc.record({
    iteration: fc.nat(50),
    by: fc.constantFrom('time', 'person', 'stop'),
  }),
  'pause.requested': fc.record({}),
  'pause.started': fc.record(
    { reason: fc.constantFrom(...PAUSE_REASONS), storyId, detail: words },
    { requiredKeys: ['reason'] },
  ),
  'pause.ended': fc.record({ by: fc.constantFrom('person', 'change', 'stop') }),
  'hint.given': fc.record({ text: words, storyId }, { requiredKeys: ['text'] }),
  'question.answered': fc.record(
    { question: words, answer: words, storyId },
    { requiredKeys: ['question', 'answer'] },
  ),
  'story.skipped': fc.record({ storyId, by: fc.constantFrom('person', 'stuck') }),
  'story.reset': fc.record({ storyId }),
  'story.stuck': fc.record({
    storyId,
    iterations: iteration,
    action: fc.constantFrom('warn', 'later', 'skip', 'ask', 'stop'),
  }),
  'guard.found': fc.record(
    {
      iteration,
      changes: fc.array(fc.record({ kind: words, storyId }), { maxLength: 3 }),
      restored: fc.boolean(),
      keptAside: words,
    },
    { requiredKeys: ['iteration', 'changes', 'restored'] },
  ),
  'branch.left': fc.record(
    {
      iteration,
      branch: words,
      found: words,
      commits: fc.array(fc.record({ hash: words, subject: words }), { maxLength: 3 }),
      onNoBranch: fc.array(fc.record({ hash: words, subject: words }), { maxLength: 3 }),
      broughtBack: fc.boolean(),
      reason: words,
      detail: words,
    },
    { requiredKeys: ['iteration', 'branch', 'found', 'commits', 'broughtBack'] },
  ),
  'commits.lost': fc.record({
    iteration: fc.nat(50),
    branch: words,
    commits: fc.array(fc.record({ hash: words, subject: words, storyId }), { maxLength: 3 }),
  }),
  'duplicates.found': fc.record(
    {
      ...{ iteration, storyId, looked: iteration },
      duplicates: fc.array(
        fc.record({
          ...{ kind: fc.constantFrom('name', 'body', 'file'), file: words, line: iteration },
          ...{ name: words, other: fc.record({ file: words, line: iteration, name: words }) },
        }),
        { maxLength: 3 },
      ),
    },
    { requiredKeys: ['iteration', 'looked', 'duplicates'] },
  ),
  'gate.started': fc.record(
    { iteration, commands: fc.array(words, { maxLength: 2 }), storyId },
    { requiredKeys: ['iteration', 'commands'] },
  ),
  'check.started': fc.record(
    { iteration, command: words, pid: iteration, startId: words, cgroup: words },
    { requiredKeys: ['iteration', 'command', 'pid'] },
  ),
  'check.ended': fc.record(
    {
      iteration,
      command: words,
      ok: fc.boolean(),
      timedOut: fc.boolean(),
      durationMs: ms,
      outputTail: words,
      exitCode: fc.nat(255),
    },
    { requiredKeys: ['iteration', 'command', 'ok', 'timedOut', 'durationMs', 'outputTail'] },
  ),
  'gate.ended': fc.record(
    { iteration, green: fc.boolean(), storyId },
    { requiredKeys: ['iteration', 'green'] },
  ),
  'review.ended': fc.record(
    {
      iteration,
      storyId,
      approved: fc.boolean(),
      objections: fc.array(words, { maxLength: 2 }),
      costUsd: cost,
    },
    { requiredKeys: ['iteration', 'storyId', 'approved', 'objections'] },
  ),
  'agent.init': fc.record(
    { model: words, version: words, apiKeySource: words, sessionId: words },
    { requiredKeys: [] },
  ),
  'agent.text': fc.record({ iteration, text: words, cut: iteration }, { requiredKeys: ['text'] }),
  'agent.tool': fc.record(
    {
      ...{ iteration, id: words, name: words, gist: words },
      parent: fc.record({ id: words, name: words }),
    },
    { requiredKeys: ['id', 'name', 'gist'] },
  ),
  'agent.toolFailed': fc.record({ id: words, gist: words }),
  'agent.subagentEnded': fc.record(
    { subagent: fc.record({ id: words, name: words }), gist: words, tokens: iteration },
    { requiredKeys: ['subagent', 'gist'] },
  ),
  'agent.toolResult': fc.record({ id: words, head: words, lines: fc.integer({ min: 1 }) }),
  'agent.retry': fc.record(
    {
      attempt: fc.nat(9),
      maxAttempts: fc.nat(9),
      delayMs: ms,
      error: words,
      status: fc.integer({ min: 400, max: 599 }),
    },
    { requiredKeys: ['attempt', 'maxAttempts', 'delayMs', 'error'] },
  ),
  'agent.denied': fc.record({ tool: words, message: words }),
  'agent.compacted': fc.record({ tokens: fc.nat() }, { requiredKeys: [] }),
  'agent.overflow': fc.record({ stream: words }),
  'agent.output': fc.record({ text: words, cut: iteration }, { requiredKeys: ['text'] }),
  'agent.ended': fc.record(
    {
      iteration,
      reason: fc.constantFrom(...PROCESS_END_REASONS),
      durationMs: ms,
      leftovers: fc.nat(9),
      exitCode: fc.nat(255),
      signal: words,
      error: fc.record({ kind: words, message: words }),
      costUsd: cost,
      usage: fc.record({ input: ms, output: ms, cacheRead: ms, cacheWrite: ms }),
    },
    { requiredKeys: ['iteration', 'reason', 'durationMs', 'leftovers'] },
  ),
  'commit.recorded': fc.record(
    { iteration, hash: words, subject: words, storyId, author: words },
    { requiredKeys: ['iteration', 'hash', 'subject'] },
  ),
  'story.changed': fc.record(
    {
      storyId,
      done: fc.boolean(),
      by: fc.constantFrom('agent', 'outside', 'gate', 'reviewer', 'guard'),
      iteration,
    },
    { requiredKeys: ['storyId', 'done', 'by'] },
  ),
  'discovery.reported': fc.record({
    id: fc.constantFrom('D1', 'D2'),
    title: fc.string(),
    why: fc.option(fc.string(), { nil: undefined }),
    iteration: fc.integer({ min: 1, max: 5 }),
  }),
  'discovery.edited': fc.record({ id: fc.constantFrom('D1', 'D3'), title: fc.string() }),
  'discovery.accepted': fc.record({
    id: fc.constantFrom('D1', 'D3'),
    by: fc.constantFrom('person' as const, 'setting' as const),
  }),
  'discovery.added': fc.record(
    { id: fc.constantFrom('D1', 'D3'), storyId: fc.string(), storyFile: fc.string() },
    { requiredKeys: ['id', 'storyId'] },
  ),
  'discovery.refused': fc.record({ id: fc.constantFrom('D1', 'D3'), reason: fc.string() }),
  'discovery.dropped': fc.record({ id: fc.constantFrom('D1', 'D2') }),
  'stories.renumbered': fc.record(
    {
      moves: fc.array(fc.record({ from: storyId, to: storyId }), { maxLength: 3 }),
      gone: fc.array(storyId, { maxLength: 2 }),
      iteration,
    },
    { requiredKeys: ['moves'] },
  ),
  'story.ticked': fc.record(
    {
      storyId,
      done: fc.boolean(),
      was: fc.record({
        entry: fc.string({ maxLength: 64 }),
        edits: fc.array(fc.record({ offset: fc.nat(), length: fc.nat(), content: fc.string() }), {
          maxLength: 3,
        }),
      }),
    },
    { requiredKeys: ['storyId', 'done'] },
  ),
  'run.rolledBack': fc.record({ iteration: fc.integer({ min: 1, max: 9 }), commit: fc.string() }),
  'promise.seen': fc.record({
    iteration,
    signal: fc.constantFrom('complete', 'needsHuman', 'blocked'),
    message: words,
    accepted: fc.boolean(),
  }),
  'iteration.ended': fc.record(
    {
      iteration,
      outcome: fc.constantFrom(...ITERATION_OUTCOMES),
      durationMs: ms,
      commits: fc.nat(9),
      stories,
      storyId,
      costUsd: cost,
      turns: fc.nat(100),
      usage: fc.record({ input: ms, output: ms, cacheRead: ms, cacheWrite: ms }),
      uncommitted,
    },
    { requiredKeys: ['iteration', 'outcome', 'durationMs', 'commits', 'stories'] },
  ),
  'work.kept': fc.record(
    {
      ...{ iteration, storyId, base: words, head: words, ref: words },
      ...{ uncommitted: words, commits: fc.nat(9), unfinished: words, problem: words },
    },
    { requiredKeys: ['iteration', 'commits'] },
  ),
  'landing.queued': fc.record(
    { iteration, storyId, base: words, head: words, by: fc.constant('person' as const) },
    { requiredKeys: ['iteration', 'storyId', 'base', 'head'] },
  ),
  'landing.candidate': fc.record({ iteration, storyId, commit: words, onto: words }),
  'landing.landed': fc.record(
    { iteration, storyId, commit: words, onto: words },
    { requiredKeys: ['iteration', 'storyId', 'onto'] },
  ),
  'landing.returned': fc.record(
    {
      ...{ iteration, storyId, base: words, head: words, onto: words },
      ...{ reason: fc.constantFrom(...RETURN_REASONS), files: fc.array(words), detail: words },
    },
    { requiredKeys: ['iteration', 'storyId', 'reason', 'base', 'head', 'onto'] },
  ),
  'target.held': fc.record({
    ...{ branch: words, reason: fc.constantFrom(...HELD_REASONS) },
    ...{ files: fc.array(words, { maxLength: 3 }), ref: words },
  }),
  'target.followed': fc.record({ branch: words }),
  'stack.checked': fc.record({ commit: words, storyIds: fc.array(storyId, { maxLength: 3 }) }),
  'lane.paused': fc.record({ lane: iteration, paused: fc.boolean() }),
  'story.paused': fc.record({ storyId, paused: fc.boolean() }),
  'story.settling': fc.record(
    { storyId, settling: fc.boolean(), iteration },
    { requiredKeys: ['storyId', 'settling'] },
  ),
  'progress.compacted': fc.record({
    ...{ file: words, linesBefore: fc.nat(900), linesAfter: fc.nat(900) },
    ...{ entries: fc.nat(50), archive: words },
  }),
  'lanes.changed': fc.record({ lanes: fc.integer({ min: 1, max: 4 }) }),
  warning: fc.record(
    { code: words, detail: words, iteration },
    { requiredKeys: ['code', 'detail'] },
  ),
  'stop.requested': fc.record(
    {
      by: fc.constantFrom(...STOP_SOURCES),
      mode: fc.constantFrom(...STOP_MODES),
      signal: words,
    },
    { requiredKeys: ['by', 'mode'] },
  ),
  'run.ended': fc.record(
    {
      outcome: fc.constantFrom(...RUN_OUTCOMES),
      exitCode: fc.nat(255),
      stories,
      iterations: fc.nat(50),
      detail: words,
      uncommitted,
    },
    { requiredKeys: ['outcome', 'exitCode', 'stories', 'iterations'] },
  ),
};

const anyEvent: fc.Arbitrary<RunEvent> = fc
  .tuple(
    fc.oneof(
      ...Object.entries(kinds).map(([type, fields]) => fields.map(body => ({ type, ...body }))),
    ),
    fc.integer({ min: 1, max: 30 }),
  )
  // As a reader gives them: plain objects.
  .map(([body, seq]) => JSON.parse(JSON.stringify({ seq, at: '2026-01-01T00:00:00Z', ...body })));

/** Numbers as a journal gives them. */
const journals = fc
  .array(anyEvent, { maxLength: 40 })
  .map(list => list.map((event, i) => ({ ...event, seq: i + 1 }) as RunEvent));

/** What the calls cost, or, where an iteration tells a sum of its own, that. */
function costOf(run: readonly RunEvent[], isolated: boolean): number {
  let total = 0;
  /** Of the calls of the iterations that are open, by their numbers, in the order of their starts. */
  let open = new Map<number, number>();
  let cutOff = open;
  for (const event of run) {
    switch (event.type) {
      case 'iteration.started':
        open.delete(event.iteration);
        open = new Map([...open, [event.iteration, 0] as const].slice(isolated ? 0 : -1));
        cutOff = new Map();
        break;
      case 'agent.ended': {
        const before = open.get(event.iteration);
        total += event.costUsd ?? 0;
        if (before !== undefined) {
          open.set(event.iteration, before + (event.costUsd ?? 0));
        }
        break;
      }
      case 'iteration.ended': {
        const calls = open.get(event.iteration) ?? 0;
        total += (event.costUsd ?? calls) - calls;
        open.delete(event.iteration);
        if (!isolated) {
          open.clear();
        }
        break;
      }
      case 'run.ended':
        cutOff = open.size > 0 ? open : cutOff;
        open = new Map();
        break;
      case 'run.resumed':
        isolated = event.isolated === true;
        open = cutOff.size > 0 ? cutOff : open;
        cutOff = new Map();
        break;
    }
  }
  return total;
}

describe('the fold of any journal', () => {
  test('every generated event is valid, so that the properties mean something', () => {
    fc.assert(
      fc.property(anyEvent, event => {
        sameValue(parseRunEvent(JSON.stringify(event)), event);
      }),
      { numRuns: 500 },
    );
  });

  test('never throws, for events in any order and number', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 60 }), list => {
        const state = foldRun(list);
        assert.equal(state.lastSeq, Math.max(0, ...list.map(({ seq }) => seq)));
        assert.ok(['idle', 'running', 'stopping', 'ended'].includes(state.phase));
      }),
    );
  });

  test('a repeated event changes nothing', () => {
    fc.assert(
      fc.property(journals, fc.nat(), (list, pick) => {
        const state = foldRun(list);
        const again = list[pick % Math.max(1, list.length)];
        assert.equal(again === undefined ? state : applyEvent(state, again), state);
        sameValue(foldRun(list.flatMap(event => [event, event])), state);
      }),
    );
  });

  test('a reader may pause anywhere', () => {
    fc.assert(
      fc.property(journals, fc.nat(), (list, at) => {
        const cut = at % (list.length + 1);
        const before = foldRun(list.slice(0, cut));
        const frozen = structuredClone(before);
        sameValue(list.slice(cut).reduce(applyEvent, before), foldRun(list));
        sameValue(before, frozen, 'the state before is left as it was');
      }),
    );
  });

  test('the state survives JSON', () => {
    fc.assert(
      fc.property(journals, list => {
        const state = foldRun(list);
        const stored: StoredRunState = JSON.parse(JSON.stringify(toStored(state)));
        sameValue(fromStored(stored), state);
      }),
      { numRuns: 500 },
    );
  });

  test('folding the file line by line from any position gives the same state', async t => {
    const temp = await tempDir('fold-');
    t.after(() => temp.remove());
    const file = path.join(temp.path, 'journal.jsonl');
    await fc.assert(
      fc.asyncProperty(journals, fc.nat(), async (list, at) => {
        const lines = list.map(({ seq, at, type, ...body }) =>
          JSON.stringify({ seq, at, type, ...body }),
        );
        const text = (some: readonly string[]) => some.map(line => `${line}\n`).join('');
        const cut = at % (list.length + 1);
        await writeFile(file, text(lines.slice(0, cut)));
        const before = await foldJournal(file);
        await appendFile(file, text(lines.slice(cut)));
        const after = await foldJournal(file, before);
        sameValue(after, {
          state: foldRun(list),
          offset: Buffer.byteLength(text(lines)),
        });
        sameValue(await foldJournal(file), after);
        const decisions = await readDecisions(file);
        sameValue(
          decisions.slice(0, -1),
          list
            .slice(0, -1)
            .filter(event => !isChatter(event))
            .slice(0, Math.max(0, decisions.length - 1)),
        );
        sameValue(decisions.at(-1), list.at(-1));
      }),
    );
  });

  test('of agents that speak in turn, each keeps its latest activity', async t => {
    const temp = await tempDir('fold-');
    t.after(() => temp.remove());
    const file = path.join(temp.path, 'journal.jsonl');
    const talk = fc.record({
      type: fc.constantFrom('agent.text', 'agent.output'),
      text: words,
      iteration: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(talk, { maxLength: 12 }), async talks => {
        const started = [1, 2, 3].map(n => ({
          ...{ type: 'iteration.started', iteration: n, maxIterations: 3, storyId: `${n}` },
          ...{ stories: { done: 0, total: 3 }, promptBytes: 1, handoffBytes: 1, stuckFor: 0 },
        }));
        const lines = [{ type: 'run.started', isolated: true, lanes: 3 }, ...started, ...talks].map(
          (event, i) => JSON.stringify({ seq: i + 1, at: '2026-01-01T00:00:00Z', ...event }),
        );
        await writeFile(file, lines.map(line => `${line}\n`).join(''));
        const { state } = await foldJournal(file);
        sameValue(state, foldRun(lines.flatMap(line => parseRunEvent(line) ?? [])));
      }),
    );
  });

  test('costs add up, and counts match the events', () => {
    fc.assert(
      fc.property(journals, list => {
        const state = foldRun(list);
        const begin = list.findLast(event => event.type === 'run.started');
        const run = list.slice(list.findLastIndex(({ type }) => type === 'run.started') + 1);
        // What a person has settled ends once more, and counts once.
        const ended = run.flatMap(event => {
          const before = () => foldRun(list.slice(0, list.indexOf(event)));
          return event.type === 'iteration.ended' &&
            runningIteration(before(), event.iteration)?.settled !== true
            ? [event]
            : [];
        });
        assert.equal(state.costUsd, costOf(run, begin?.isolated === true));
        sameValue(
          state.commits.map(({ hash }) => hash),
          run.flatMap(event => (event.type === 'commit.recorded' ? [event.hash] : [])),
        );
        const counted = [...state.storyRecords.values()].reduce(
          (sum, record) => sum + record.iterations,
          0,
        );
        const worked = ended.filter(
          ({ outcome }) => outcome !== 'stopped' && outcome !== 'skipped',
        ).length;
        // What is known of an item without an id is forgotten when the item is gone.
        const isForgotten = run.some(
          event => event.type === 'stories.renumbered' && event.gone?.includes('#1'),
        );
        assert.ok(isForgotten ? counted <= worked : counted === worked);
        for (const { stuckFor, failures, iterations } of state.storyRecords.values()) {
          assert.ok(failures <= iterations && stuckFor <= iterations);
        }
        const first = list.findLast(({ type }) => type === 'run.started');
        const told = list.flatMap(event => {
          if (event.type === 'plan.written') {
            return [{ done: 0, total: event.stories }];
          }
          return 'stories' in event ? [event.stories] : [];
        });
        sameValue(state.stories, told.at(-1) ?? INITIAL_RUN_STATE.stories);
        assert.equal(state.runId, first?.type === 'run.started' ? first.runId : undefined);
      }),
      { numRuns: 300 },
    );
  });

  test('an invalid line gives no event', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), text => {
        const event = parseRunEvent(text);
        assert.ok(event === undefined || Object.keys(kinds).includes(event.type));
      }),
    );
    fc.assert(
      fc.property(anyEvent, fc.nat(), (event, at) => {
        const line = JSON.stringify(event);
        assert.equal(parseRunEvent(line.slice(0, at % line.length)), undefined);
      }),
    );
  });
});
