import { say } from '../../src/base/say.ts';
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
import type { RunEventBody } from '../../src/orchestrator/journal/events.ts';
import { iterationEnded, iterationStarted, runStarted } from './runEvents.ts';

/** Text of people and agents in these events: it contains no word of any language. */
const DATA = '№ 7';
/** The loop's own text, for events that contain a sentence of it. */
const SAID = say('The answer contains no JSON object.');
const stories = { done: 0, total: 4 };
const story = { storyId: 'US-001', storyTitle: DATA };

/** The codes of warnings; a test compares them with the code. */
export const WARNING_CODES = [
  ...['storyFileUnreadable', 'progressUnreadable', 'gitUnreadable', 'inboxUnreadable'],
  'storiesGone',
  ...[
    'hintsNotTold',
    'duplicatesUnknown',
    'progressNotCompacted',
    'handoffNotWritten',
    'leftNotKept',
    'noChecks',
    'costUnknown',
    'guardCouldNotRestore',
  ],
  ...[
    'checkChangedStories',
    'storyNotPutBack',
    'reviewFailed',
    'claimNotReviewed',
    'approvalNotWritten',
    'restorePointNotKept',
  ],
  ...['idShared', 'storiesMisread', 'storyLeftAlone', 'storyChoiceIgnored', 'codeNotSearched'],
  ...[
    'restorePointsNotRemoved',
    'guardWithoutCopy',
    'historyRewritten',
    'costNotRead',
    'answerNotRead',
  ],
  ...['stateFileNotWritten', 'stateDamaged', 'errorsLogNotWritten', 'oldRunsNotCleared'],
  ...['claimsNotChecked', 'gitLockRemoved', 'repositoryCommitted'],
  ...[
    'workNotContinued',
    'placePrepared',
    'placeGone',
    'tickNotWritten',
    'tickNotCommitted',
    'commitsNotListed',
  ],
  ...['numbersMoved', 'sameIds', 'beadsNotTold', 'discoveredWaits'],
  ...[
    'progressNotWritten',
    'conflictNotDescribed',
    'fewerLanes',
    'repositoryInside',
    'stateInside',
  ],
  'precondition',
];

/**
 * A run with everything that an event can contain: each kind of event, and each code in it.
 * @param commit of all its commits
 */
export function everyEvent(commit: string): RunEventBody[] {
  return [
    runStarted({
      ...{ startId: 'gone', agent: 'claude', model: '7', task: DATA, stories, branch: '7' },
      ...{ budgetUsd: 6, payer: 'apiKey', verify: ['7', '8'], storyFile: '.omc/prd.json' },
    }),
    { type: 'plan.refused', attempt: 1, problems: [SAID] },
    {
      ...{ type: 'plan.written', storyFile: '.omc/prd.json', stories: 4, attempts: 2 },
      ...{ archived: '.omc/7', costUsd: 0.2 },
    },
    { type: 'hint.given', text: DATA },
    { type: 'hint.given', text: DATA, storyId: 'US-001' },
    ...ITERATION_OUTCOMES.flatMap((outcome, index) => [
      iterationStarted({
        ...{ iteration: index + 1, ...story, stories, startCommit: commit, stuckFor: index },
        promptSections: [
          ...['heading', 'task', 'warnings', 'failedCheck', 'review', 'hints', 'answers'],
          ...['story', 'code', 'state', 'mission', 'rules', 'template'],
        ].map(name => ({ name, tokens: 100 })),
      }),
      ...iteration(index + 1, commit),
      iterationEnded({
        ...{ iteration: index + 1, storyId: 'US-001', outcome, commits: index, stories },
        ...{ costUsd: 0.05, costEstimated: index % 2 === 0, turns: 4, durationMs: 95_000 },
        usage: { input: 1_000, output: 2_000, cacheRead: 38_000, cacheWrite: 500 },
      }),
      ...between(index),
    ]),
    ...STOP_SOURCES.flatMap(by =>
      STOP_MODES.map(mode => ({ type: 'stop.requested', by, mode }) as const),
    ),
    { type: 'stop.requested', by: 'signal', mode: 'end', signal: '7' },
    { type: 'run.rolledBack', iteration: 2, commit },
    { type: 'run.rolledBack', iteration: 2, commit, of: '7' },
    // The last of them is `completed`: such a run is never continued.
    ...RUN_OUTCOMES.toReversed().flatMap<RunEventBody>(outcome => [
      {
        ...{ type: 'run.resumed', version: '0.1.0', pid: 1, agent: 'claude', maxIterations: 20 },
        ...{ stuckThreshold: 3, payer: 'login', stories },
      },
      {
        ...{ type: 'run.ended', outcome, exitCode: 1, stories, iterations: 9 },
        detail: outcome === 'error' ? SAID : DATA,
      },
    ]),
  ];
}

function iteration(number: number, commit: string): RunEventBody[] {
  const of = { iteration: number };
  const guarded = { storyId: 'US-002', before: DATA, after: DATA, text: DATA, problem: SAID };
  return [
    { type: 'agent.started', ...of, purpose: 'story', pid: 1, startId: 'gone', budgetUsd: 2 },
    { type: 'agent.init', model: '7', version: '7', apiKeySource: '7', sessionId: '7' },
    { type: 'agent.text', text: DATA, cut: 100 },
    ...['Bash', 'Read', 'Edit'].flatMap<RunEventBody>((name, index) => [
      { type: 'agent.tool', id: `${number}-${index}`, name, gist: '7' },
      index === 0
        ? { type: 'agent.toolFailed', id: `${number}-${index}`, gist: '7', head: DATA, lines: 30 }
        : {
            ...{ type: 'agent.toolResult', id: `${number}-${index}`, lines: 30 },
            head: index === 2 ? DATA : undefined,
          },
    ]),
    {
      ...{ type: 'agent.retry', attempt: 1, maxAttempts: 10, delayMs: 2_000, status: 529 },
      error: '7',
    },
    ...[true, undefined].flatMap<RunEventBody>(failed => [
      { type: 'agent.text', text: DATA, parent: { id: '7', name: '7' } },
      {
        ...{ type: 'agent.subagentEnded', subagent: { id: '7', name: '7' }, failed, gist: '7' },
        ...{ durationMs: 9_000, tokens: 1_200, toolCalls: failed ? 1 : 2 },
      },
    ]),
    { type: 'agent.denied', tool: 'Bash', message: DATA },
    { type: 'agent.compacted', tokens: 7_000 },
    { type: 'agent.compacted' },
    { type: 'agent.output', text: DATA, cut: 10 },
    { type: 'agent.overflow', stream: '7' },
    ...PROCESS_END_REASONS.map<RunEventBody>((reason, index) => ({
      ...{ type: 'agent.ended', ...of, purpose: 'story', reason, exitCode: index % 2 },
      ...{ durationMs: 9_000, leftovers: index, costUsd: 0.1, costEstimated: true, turns: 3 },
      error: number % 2 === 0 ? { kind: '7', message: SAID } : undefined,
    })),
    {
      ...{ type: 'call.retried', ...of, purpose: 'review', attempt: 1, maxAttempts: 3 },
      ...{ delayMs: 3_000, error: { kind: '7', message: SAID } },
    },
    { type: 'agent.replaced', from: 'claude', to: 'sdk', reason: say("the agent's command") },
    ...[true, false].map<RunEventBody>(known => ({
      ...{ type: 'limit.waiting', ...of, purpose: 'story', until: '2026-03-01T17:00:00.000Z' },
      ...{ remainingMs: 18_000_000, known, message: say('usage limit: {0}', '7') },
    })),
    ...(['time', 'person', 'stop'] as const).map(
      by => ({ type: 'limit.ended', ...of, by }) as const,
    ),
    ...[true, false].map<RunEventBody>(restored => ({
      ...{ type: 'guard.found', ...of, restored, keptAside: '7' },
      changes: [
        ...['storyRemoved', 'storyAdded', 'titleChanged', 'descriptionChanged', 'parked'],
        ...['criterionRemoved', 'criterionAdded', 'criterionReworded', 'tickedOther'],
        ...['untickedOther', 'orderOrPriority', 'fileBroken', 'fileGone', 'fileReplaced'],
      ].map(kind => ({ kind, ...guarded })),
    })),
    ...[
      { broughtBack: true, onNoBranch: [{ hash: commit, subject: DATA }] },
      ...['repositoryGone', 'repositoryOther', 'repositoryUnreadable', 'branchGone'].map(
        reason => ({
          ...{ broughtBack: false, reason, detail: DATA },
        }),
      ),
    ].map<RunEventBody>(end => ({
      ...{ type: 'branch.left', ...of, branch: '7', found: '8', ...end },
      commits: [{ hash: commit, subject: DATA }],
    })),
    ...[[{ hash: commit, subject: DATA, storyId: 'US-001' }], []].map<RunEventBody>(commits => ({
      ...{ type: 'commits.lost', ...of, branch: '7', commits },
    })),
    ...(['name', 'body', 'file'] as const).map<RunEventBody>((kind, index) => ({
      ...{ type: 'duplicates.found', ...of, storyId: 'US-001', looked: 7 },
      duplicates: Array.from({ length: index * 2 }, () => ({
        ...{ kind, file: '7', line: 7, name: DATA },
        other: { file: '8', line: 8, name: '8' },
      })),
    })),
    {
      type: 'duplicates.found',
      ...of,
      looked: 1,
      duplicates: [
        { kind: 'name', file: '7', line: 7, name: '7', other: { file: '8', line: 8, name: '8' } },
      ],
    },
    { type: 'gate.started', ...of, commands: ['7', '8', '9'], storyId: 'US-001' },
    ...['7', '8', '9'].flatMap<RunEventBody>((command, index) => [
      { type: 'check.started', ...of, command, pid: 1, startId: 'gone' },
      {
        ...{ type: 'check.ended', ...of, command, ok: index === 0, timedOut: index === 2 },
        ...{ durationMs: 8_400, outputTail: DATA, exitCode: index === 1 ? 3 : undefined },
      },
    ]),
    { type: 'gate.ended', ...of, green: number % 2 === 0, storyId: 'US-001' },
    ...[true, false].map<RunEventBody>(approved => ({
      ...{ type: 'review.ended', ...of, storyId: 'US-001', approved, costUsd: 0.1 },
      objections: approved ? [] : [DATA, SAID],
    })),
    {
      ...{ type: 'work.kept', ...of, storyId: 'US-001', base: commit, head: commit },
      ...{
        ref: '7',
        uncommitted: commit,
        commits: number % 2,
        problem: SAID,
        unfinished: 'merge',
      },
    },
    {
      ...{ type: 'work.kept', ...of, storyId: 'US-001', base: commit, head: commit },
      ...{ ref: '7', uncommitted: commit, lands: true, commits: number % 2 },
    },
    { type: 'landing.queued', ...of, storyId: 'US-001', base: commit, head: commit },
    {
      ...{ type: 'landing.queued', ...of, storyId: 'US-001', base: commit, head: commit },
      by: 'person',
    },
    { type: 'landing.candidate', ...of, storyId: 'US-001', commit, onto: commit },
    ...RETURN_REASONS.map<RunEventBody>(reason => ({
      ...{ type: 'landing.returned', ...of, storyId: 'US-001', reason, base: commit },
      ...{ head: commit, onto: commit, files: ['7'], detail: SAID },
    })),
    { type: 'landing.landed', ...of, storyId: 'US-001', commit, onto: commit },
    { type: 'commit.recorded', ...of, storyId: 'US-001', hash: commit, subject: DATA },
    ...(['complete', 'needsHuman', 'blocked'] as const).flatMap(signal =>
      [true, false].map<RunEventBody>(accepted => ({
        ...{ type: 'promise.seen', ...of, signal, message: DATA, accepted },
      })),
    ),
    ...(['agent', 'outside', 'gate', 'reviewer', 'guard'] as const).flatMap(by =>
      [true, false].map<RunEventBody>(done => ({
        ...{ type: 'story.changed', storyId: 'US-001', done, by, ...of },
      })),
    ),
    ...WARNING_CODES.map<RunEventBody>(code => ({ type: 'warning', code, detail: SAID, ...of })),
  ];
}

/** Events between two iterations; the first of several parts. */
function between(index: number): RunEventBody[] {
  const storyId = 'US-003';
  switch (index) {
    case 0:
      return [
        ...PAUSE_REASONS.flatMap<RunEventBody>(reason => [
          { type: 'pause.requested' },
          { type: 'pause.started', reason, storyId, detail: reason === 'stuck' ? '3' : DATA },
          { type: 'pause.ended', by: reason === 'person' ? 'stop' : 'person' },
        ]),
        { type: 'pause.started', reason: 'person', stories: [storyId] },
        { type: 'pause.ended', by: 'person' },
        { type: 'pause.started', reason: 'person', lanes: [1, 2] },
        { type: 'pause.ended', by: 'person' },
        { type: 'question.answered', question: DATA, answer: DATA, storyId },
      ];
    case 1:
      return [
        ...(['warn', 'later', 'skip', 'ask', 'stop'] as const).map(
          action => ({ type: 'story.stuck', storyId, iterations: 3, action }) as const,
        ),
        ...(['person', 'stuck'] as const).map(
          by => ({ type: 'story.skipped', storyId, by }) as const,
        ),
        { type: 'story.reset', storyId },
        {
          ...{ type: 'discovery.reported', id: '12', title: DATA },
          ...{ why: DATA, storyId, iteration: 1 },
        },
        { type: 'discovery.edited', id: '12', title: DATA },
        ...(['person', 'setting'] as const).map(
          by => ({ type: 'discovery.accepted', id: '12', by }) as const,
        ),
        { type: 'discovery.added', id: '12', storyId: '12' },
        { type: 'discovery.refused', id: '12', reason: SAID },
        { type: 'discovery.dropped', id: '12' },
        ...HELD_REASONS.map<RunEventBody>(reason => ({
          ...{ type: 'target.held', branch: '7', reason, files: ['8'], ref: '9', detail: SAID },
        })),
        { type: 'target.followed', branch: '7' },
        { type: 'stack.checked', commit: '1'.repeat(40), storyIds: ['US-001', 'US-002'] },
        {
          ...{ type: 'stack.checked', commit: '2'.repeat(40), storyIds: ['US-001', 'US-002'] },
          failed: {
            command: '10',
            timedOut: false,
            durationMs: 5,
            exitCode: 1,
            outputTail: '11',
          },
        },
        ...[1, 3].map(lanes => ({ type: 'lanes.changed', lanes }) as const),
        {
          ...{ type: 'progress.compacted', file: '7', linesBefore: 8, linesAfter: 7 },
          ...{ entries: 1, archive: DATA },
        } as const,
        ...[true, false].flatMap<RunEventBody>(paused => [
          { type: 'lane.paused', lane: 2, paused },
          { type: 'story.paused', storyId, paused },
          { type: 'story.settling', storyId, settling: paused, iteration: 1 },
        ]),
        { type: 'stories.renumbered', moves: [{ from: '#1', to: '#2' }], gone: ['#3'] },
        { type: 'story.skipped', storyId, by: 'person' },
        ...[true, false].map(done => ({ type: 'story.ticked', storyId: 'US-002', done }) as const),
        {
          type: 'story.ticked',
          storyId: 'US-002',
          done: true,
          was: { entry: 'a'.repeat(64), edits: [{ offset: 20, length: 4, content: 'false' }] },
        },
      ];
    default:
      return [];
  }
}
