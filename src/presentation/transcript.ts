import { assertNever } from '../orchestrator/assertNever.ts';
import type { RunEvent } from '../orchestrator/run/events.ts';
import { applyEvent } from '../orchestrator/run/foldRun.ts';
import { INITIAL_RUN_STATE, type RunState } from '../orchestrator/run/runState.ts';
import type { StoryCount } from '../orchestrator/run/storyCount.ts';
import { shorten, withoutControls } from '../orchestrator/text.ts';
import { outcomeWord } from './iterationWords.ts';
import {
  type Door,
  dollars,
  duration,
  iterationCount,
  outcomeSentence,
  runEnd,
  span,
  type Translate,
  waitingSentence,
} from './sentences.ts';
import { resultLines, type ToolCall, ToolCalls } from './toolLines.ts';
import type { Style, TranscriptLine } from './transcriptLine.ts';

export type { Style, TranscriptLine } from './transcriptLine.ts';

const PREFIX = '[Ralph Fresh]';

/** Lines of a check's output that are shown, its last ones. */
const MAX_CHECK_LINES = 20;
/** Longest of them, in UTF-16 units; also of a problem, an objection, a hint. */
const MAX_LINE = 500;
/** Problems of a plan, objections of a reviewer, changes that the guard found. */
const MAX_ITEMS = 10;

/** What is known besides the event. */
export interface Telling {
  /** The fold of all events before this one; without it, sentences that need it say less. */
  readonly state?: RunState;
  readonly door?: Door;
  /** Of a tool's result: the call that it belongs to, where that is known. */
  readonly call?: ToolCall | undefined;
}

/**
 * Tells a run's events as a person reads them in a terminal: the whitepaper's lines (5.2) and the agent's
 * work between them. Text of agents, stories and commits comes out without control characters.
 */
export function describeEvent(
  event: RunEvent,
  t: Translate,
  { state = INITIAL_RUN_STATE, door = 'terminal', call }: Telling = {},
): readonly TranscriptLine[] {
  return lines(event, t, state, door, call).map(({ style, text }) => ({
    style,
    text: withoutControls(text),
  }));
}

/** Tells the events of one run as they come, and remembers what its sentences need. */
export class Transcript {
  private readonly t: Translate;
  private readonly door: Door;
  private state = INITIAL_RUN_STATE;
  private readonly calls = new ToolCalls();

  constructor(t: Translate, door: Door = 'terminal') {
    this.t = t;
    this.door = door;
  }

  describe(event: RunEvent): readonly TranscriptLine[] {
    if (event.type === 'run.started') {
      // Another run's numbers begin anew.
      this.state = INITIAL_RUN_STATE;
    }
    const { door, state } = this;
    const described = describeEvent(event, this.t, { state, door, call: this.calls.take(event) });
    this.state = applyEvent(state, event);
    return described;
  }
}

function lines(
  event: RunEvent,
  t: Translate,
  state: RunState,
  door: Door,
  call: ToolCall | undefined,
): readonly TranscriptLine[] {
  switch (event.type) {
    case 'run.started':
      return [
        own('heading', t('Starting fresh-context orchestration')),
        ...settings(event, t),
        own('plain', t('Task: {0}', firstLine(event.task))),
      ];
    case 'run.resumed':
      return [
        own(
          'heading',
          state.runId === undefined
            ? t('Resuming the run')
            : t('Resuming run {0} at iteration {1}', state.runId, resumesAt(state)),
        ),
        ...settings(event, t),
        ...statusLine(event.stories, t),
      ];
    case 'plan.written':
      return [
        own(
          'success',
          event.stories === 1
            ? t('Planned 1 story in {0}', event.storyFile)
            : t('Planned {0} stories in {1}', event.stories, event.storyFile),
        ),
        ...(event.archived === undefined
          ? []
          : [own('dim', t('The stories that were there before are kept in {0}', event.archived))]),
      ];
    case 'plan.refused':
      return [
        own('warning', t('Draft {0} of the plan cannot be used:', event.attempt)),
        ...items('warning', event.problems, t),
      ];
    case 'iteration.started':
      return [
        line('plain', ''),
        own('heading', `=== ${t('Iteration {0}/{1}', event.iteration, event.maxIterations)} ===`),
        ...statusLine(event.stories, t),
        ...(event.storyId === undefined
          ? []
          : [own('plain', `${event.storyId}: ${event.storyTitle ?? ''}`)]),
        ...(event.stuckFor > 0
          ? [own('warning', t('No progress on it for {0}', iterationCount(event.stuckFor, t)))]
          : []),
        own('plain', t('Spawning a fresh agent…')),
      ];
    case 'agent.started':
      return event.purpose === 'plan'
        ? [own('plain', t('A fresh agent plans the stories…'))]
        : event.purpose === 'review'
          ? [own('plain', t('A fresh agent reviews the work…'))]
          : [];
    case 'agent.init': {
      const facts = [
        event.model,
        /^\d/.test(event.version ?? '') ? `Claude Code ${event.version}` : undefined,
        event.apiKeySource === 'ANTHROPIC_API_KEY' ? t('paid by ANTHROPIC_API_KEY') : undefined,
      ].filter(fact => fact !== undefined && fact !== '');
      return facts.length === 0 ? [] : [line('dim', `  ${facts.join(' · ')}`)];
    }
    case 'agent.text':
      return [
        ...event.text
          .trim()
          .split('\n')
          .map((text, at) =>
            line('plain', at === 0 ? `● ${text}` : text === '' ? '' : `  ${text}`),
          ),
        ...(event.cut === undefined
          ? []
          : [line('dim', `  ${t('… {0} more characters', event.cut)}`)]),
      ];
    case 'agent.tool':
      return [line('tool', `● ${event.name}${event.gist === '' ? '' : `(${event.gist})`}`)];
    case 'agent.toolFailed':
      return resultLines('error', event, t, { call, door, state });
    case 'agent.toolResult':
      return resultLines('dim', event, t, { call, door, state });
    case 'agent.retry':
      return [
        line(
          'warning',
          `  ${t('API error ({0}), trying again ({1} of {2})', event.status ?? event.error, event.attempt, event.maxAttempts)}`,
        ),
      ];
    case 'agent.denied':
      return [
        line('warning', `  ${t('Not allowed: {0}', `${event.tool} ${firstLine(event.message)}`)}`),
      ];
    case 'agent.output':
      return event.text.split('\n').map(text => line('dim', `  ${text}`));
    case 'agent.ended':
      return agentEnded(event, t);
    case 'call.retried':
      return [
        own(
          'warning',
          t(
            'The call failed ({0}); again in {1} ({2} of {3})',
            shorten(event.error.message, MAX_LINE) || event.error.kind,
            duration(event.delayMs, t),
            event.attempt,
            event.maxAttempts,
          ),
        ),
      ];
    case 'agent.replaced':
      return [
        own(
          'warning',
          t(
            'The agent {0} could not be started ({1}); {2} takes its place',
            event.from,
            shorten(event.reason, MAX_LINE),
            event.to,
          ),
        ),
      ];
    case 'limit.waiting':
      return limitWaiting(event, t, state, door);
    case 'limit.ended':
      return event.by === 'stop' ? [] : [own('plain', t('Trying again…'))];
    case 'pause.requested':
      return [own('plain', t('Will pause after this iteration'))];
    case 'pause.started':
      return [
        own(
          'warning',
          waitingSentence(
            {
              kind: 'pause',
              reason: event.reason,
              ...(event.storyId === undefined ? {} : { storyId: event.storyId }),
              ...(event.detail === undefined ? {} : { detail: event.detail }),
            },
            t,
            { now: Date.parse(event.at), door },
          ),
        ),
      ];
    case 'pause.ended':
      return event.by === 'stop' ? [] : [own('plain', t('Going on…'))];
    case 'hint.given':
      return [
        own(
          'plain',
          event.storyId === undefined
            ? t('Hint: {0}', shorten(event.text, MAX_LINE))
            : t('Hint for {0}: {1}', event.storyId, shorten(event.text, MAX_LINE)),
        ),
      ];
    case 'question.answered':
      return [own('plain', t('Answered: {0}', shorten(event.answer, MAX_LINE)))];
    case 'story.skipped':
      return [storySkipped(event, t, door)];
    case 'story.reset':
      return [own('plain', t('{0} gets another chance', event.storyId))];
    case 'story.stuck':
      return [storyStuck(event, t)];
    case 'guard.found':
      return guardFound(event, t);
    case 'gate.started':
      return [
        own(
          'plain',
          event.storyId === undefined ? t('Checking the work…') : t('Checking {0}…', event.storyId),
        ),
      ];
    case 'check.started':
      return [line('tool', `● ${t('Check')}(${shorten(event.command, MAX_LINE)})`)];
    case 'check.ended':
      return checkEnded(event, t);
    case 'gate.ended':
      return [gateEnded(event, t)];
    case 'review.ended':
      return event.approved
        ? [own('success', t('{0} is approved by the reviewer', event.storyId))]
        : [
            own('error', t('The reviewer does not approve {0}:', event.storyId)),
            ...items('error', event.objections, t),
          ];
    case 'commit.recorded':
      return [own('success', t('Commit {0} {1}', event.hash.slice(0, 7), event.subject))];
    case 'story.changed':
      return [storyChanged(event, t, state.verify.length > 0)];
    case 'story.ticked':
      return [
        own(
          'plain',
          event.done
            ? t('{0} ticked by hand', event.storyId)
            : t('{0} unticked by hand', event.storyId),
        ),
      ];
    case 'promise.seen':
      return [promiseSeen(event, t)];
    case 'iteration.ended':
      return [own('dim', iterationFacts(event, t)), ...statusLine(event.stories, t)];
    case 'warning':
      return [own('warning', warningWords(event, t))];
    case 'stop.requested':
      return [
        own(
          'warning',
          event.mode === 'afterIteration'
            ? willStop(event.by, t, door)
            : event.by === 'signal'
              ? t('Received SIGINT, saving state and exiting...')
              : t('Stop requested, saving state and exiting...'),
        ),
      ];
    case 'run.ended': {
      const end = { ...(state.runId === undefined ? {} : runEnd(state, event.outcome)), ...event };
      const { text, good } = outcomeSentence(end, t, door);
      return [line('plain', ''), own(good ? 'success' : 'warning', good ? `✅ ${text}` : text)];
    }
    default:
      return assertNever(event);
  }
}

/** What steers the run and who pays. */
function settings(
  event: Extract<RunEvent, { type: 'run.started' | 'run.resumed' }>,
  t: Translate,
): readonly TranscriptLine[] {
  const { verify = [], budgetUsd, payer, branch } = event;
  return [
    own('plain', t('Agent: {0}', [event.agent, event.model].filter(Boolean).join(', '))),
    ...(payer === 'apiKey'
      ? [own('warning', t('Billing: the API key in the environment'))]
      : payer === 'login'
        ? [own('plain', t('Billing: the account that is logged in'))]
        : []),
    ...(budgetUsd === undefined ? [] : [own('plain', t('Budget: {0}', dollars(budgetUsd, t)))]),
    own('plain', t('Max iterations: {0}', event.maxIterations)),
    own('plain', t('Stuck threshold: {0}', event.stuckThreshold)),
    ...(verify.length === 0
      ? []
      : [own('plain', t('Checks: {0}', shorten(verify.join(' · '), MAX_LINE)))]),
    ...(branch === undefined ? [] : [own('plain', t('Branch: {0}', branch))]),
  ];
}

/** The iteration that was cut off is judged first, so the next one has a new number all the same. */
function resumesAt(state: RunState): number {
  return state.iteration + 1;
}

/** The first minute of a wait is told, then ever rounder ones: a line a minute for five hours is noise. */
function limitWaiting(
  event: Extract<RunEvent, { type: 'limit.waiting' }>,
  t: Translate,
  state: RunState,
  door: Door,
): readonly TranscriptLine[] {
  const { until, known, message, remainingMs } = event;
  const { waiting } = state;
  if (waiting?.kind === 'limit' && waiting.until === until) {
    const minutes = Math.round(remainingMs / 60_000);
    const isRound = minutes % 30 === 0 || (minutes < 30 && minutes % 5 === 0) || minutes === 1;
    return isRound && minutes > 0
      ? [own('dim', t('Usage limit: goes on in {0}', span(remainingMs, t)))]
      : [];
  }
  const now = Date.parse(event.at);
  return [
    own('warning', waitingSentence({ kind: 'limit', until, known, message }, t, { now, door })),
    ...(message === '' ? [] : [line('dim', `  ${shorten(message, MAX_LINE)}`)]),
  ];
}

function willStop(
  by: Extract<RunEvent, { type: 'stop.requested' }>['by'],
  t: Translate,
  door: Door,
): string {
  if (by === 'window') {
    return t('The last window was closed. Will stop after this iteration');
  }
  return door === 'window'
    ? t('Stops after this iteration. Ctrl-C again stops now.')
    : t('Will stop after this iteration');
}

function storySkipped(
  { storyId, by }: Extract<RunEvent, { type: 'story.skipped' }>,
  t: Translate,
  door: Door,
): TranscriptLine {
  if (by === 'stuck') {
    return own('warning', t('{0} is skipped in this run', storyId));
  }
  return own(
    'plain',
    door === 'terminal'
      ? t('{0} is skipped; "ralph-fresh reset" takes that back', storyId)
      : t('{0} is skipped', storyId),
  );
}

function storyStuck(
  { storyId, iterations, action }: Extract<RunEvent, { type: 'story.stuck' }>,
  t: Translate,
): TranscriptLine {
  const what = storyId === '' ? t('The task') : storyId;
  const stuck = t('{0} has brought no progress for {1}', what, iterationCount(iterations, t));
  switch (action) {
    case 'warn':
      return own('warning', `${stuck}; ${t('its next agent is warned')}`);
    case 'skip':
      // What follows from it is an event of its own.
      return own('warning', stuck);
    case 'ask':
      return own('warning', `${stuck}; ${t('the run waits for you')}`);
    case 'stop':
      return own('warning', `${stuck}; ${t('the run ends')}`);
    default:
      return assertNever(action);
  }
}

function guardFound(
  { changes, restored, keptAside }: Extract<RunEvent, { type: 'guard.found' }>,
  t: Translate,
): readonly TranscriptLine[] {
  return [
    own(
      'warning',
      restored
        ? t('The agent changed what it was not given; that was put back:')
        : t('The agent changed what it was not given:'),
    ),
    ...items(
      'warning',
      changes.map(({ kind, storyId }) =>
        storyId === undefined ? changeWords(kind, t) : `${storyId}: ${changeWords(kind, t)}`,
      ),
      t,
    ),
    ...(keptAside === undefined
      ? []
      : [own('dim', t('Its version of the file is kept in {0}', keptAside))]),
  ];
}

/** A newer loop may find more than is known here. */
function changeWords(kind: string, t: Translate): string {
  switch (kind) {
    case 'storyRemoved':
      return t('removed');
    case 'storyAdded':
      return t('added');
    case 'titleChanged':
      return t('title changed');
    case 'descriptionChanged':
      return t('description changed');
    case 'criterionRemoved':
      return t('criterion removed');
    case 'criterionAdded':
      return t('criterion added');
    case 'criterionReworded':
      return t('criterion reworded');
    case 'tickedOther':
      return t('marked done');
    case 'untickedOther':
      return t('marked not done');
    case 'orderOrPriority':
      return t('moved in the order of work');
    case 'fileBroken':
      return t('the story file could not be read any more');
    case 'fileGone':
      return t('the story file was removed');
    default:
      return kind;
  }
}

function checkEnded(
  event: Extract<RunEvent, { type: 'check.ended' }>,
  t: Translate,
): readonly TranscriptLine[] {
  const { ok, timedOut, exitCode, durationMs, outputTail } = event;
  if (ok) {
    return [line('success', `  └  ${t('passed')} · ${duration(durationMs, t)}`)];
  }
  const why = timedOut
    ? t('not done within the time limit')
    : exitCode === undefined
      ? t('ended before it was done')
      : t('failed (exit code {0})', exitCode);
  return [line('error', `  └  ${why} · ${duration(durationMs, t)}`), ...outputLines(outputTail, t)];
}

/** The end of an output is where its failure is told. */
function outputLines(output: string, t: Translate): readonly TranscriptLine[] {
  const all = withoutControls(output).trimEnd().split('\n');
  const shown = all.slice(-MAX_CHECK_LINES);
  const more = all.length - shown.length;
  return [
    ...(more > 0 ? [line('dim', `     ${t('… {0} lines before', more)}`)] : []),
    ...shown.flatMap(text =>
      text === '' ? [] : [line('dim', `     ${cut(text.replaceAll('\t', '  '))}`)],
    ),
  ];
}

/** Indentation says something in an output, so that `shorten` is not for it. */
function cut(text: string): string {
  return text.length > MAX_LINE ? `${text.slice(0, MAX_LINE - 1)}…` : text;
}

function gateEnded(
  { green, storyId }: Extract<RunEvent, { type: 'gate.ended' }>,
  t: Translate,
): TranscriptLine {
  if (green) {
    return own(
      'success',
      storyId === undefined ? t('All checks passed') : t('{0} is verified', storyId),
    );
  }
  return own(
    'error',
    storyId === undefined ? t('Not all checks passed') : t('{0} is not verified', storyId),
  );
}

function items(style: Style, texts: readonly string[], t: Translate): readonly TranscriptLine[] {
  const more = texts.length - MAX_ITEMS;
  return [
    ...texts.slice(0, MAX_ITEMS).map(text => line(style, `  - ${shorten(text, MAX_LINE)}`)),
    ...(more > 0 ? [line('dim', `  ${t('… {0} more', more)}`)] : []),
  ];
}

function warningWords(
  { code, detail }: Extract<RunEvent, { type: 'warning' }>,
  t: Translate,
): string {
  const words = shorten(detail, MAX_LINE);
  switch (code) {
    case 'storyFileUnreadable':
      return t('The story file cannot be read; its last readable stories count: {0}', words);
    case 'progressUnreadable':
      return t('progress.txt cannot be read: {0}', words);
    case 'gitUnreadable':
      return t('git gave no answer: {0}', words);
    case 'inboxUnreadable':
      return t('Requests to this run cannot be read: {0}', words);
    case 'hintsNotTold':
      return t('Hints that wait were not told: {0}', words);
    case 'handoffNotWritten':
      return t('The last handoff was not written: {0}', words);
    case 'noChecks':
      return t(
        'There are no checks, so the promise of the agent alone ends this run. Add --verify.',
      );
    case 'costUnknown':
      return t('The budget cannot be watched, since the agent does not tell what it costs.');
    case 'guardCouldNotRestore':
      return t('What the agent changed could not be put back: {0}', words);
    case 'storyNotPutBack':
      return t('A refused story could not be put back to not done: {0}', words);
    case 'reviewFailed':
      return t('The reviewer gave no answer; the checks alone count: {0}', words);
    case 'approvalNotWritten':
      return t('The approval could not be written into the story file: {0}', words);
    case 'restorePointNotKept':
      return t('No restore point was kept for this iteration: {0}', words);
    default:
      return `${code}: ${words}`;
  }
}

function agentEnded(
  event: Extract<RunEvent, { type: 'agent.ended' }>,
  t: Translate,
): readonly TranscriptLine[] {
  const found: TranscriptLine[] = [];
  switch (event.reason) {
    case 'hardLimit':
      found.push(own('warning', t('The agent reached the time limit and was ended')));
      break;
    case 'idleLimit':
      found.push(own('warning', t('The agent was silent for too long and was ended')));
      break;
    case 'lingered':
      found.push(own('dim', t('The agent had finished but did not exit, and was ended')));
      break;
    case 'notStarted':
      found.push(own('error', t('The agent could not be started')));
      break;
    case 'exited':
    case 'cancelled':
      break;
    default:
      assertNever(event.reason);
  }
  if (event.error && event.error.message !== '') {
    found.push(own('error', t('The agent failed: {0}', event.error.message)));
  } else if (event.error && event.reason === 'exited') {
    found.push(
      own('error', t('The agent failed (exit code {0})', event.exitCode ?? event.signal ?? '?')),
    );
  }
  if (event.leftovers > 0) {
    found.push(
      own('dim', t('Ended {0} processes that the agent had left running', event.leftovers)),
    );
  }
  return found;
}

function storyChanged(
  { storyId, done, by }: Extract<RunEvent, { type: 'story.changed' }>,
  t: Translate,
  isChecked: boolean,
): TranscriptLine {
  switch (by) {
    case 'agent':
      if (done && isChecked) {
        return own('plain', t('{0} is marked done by its agent', storyId));
      }
      return done
        ? own('success', t('{0} is done', storyId))
        : own('warning', t('{0} was put back to not done', storyId));
    case 'outside':
      return own(
        'plain',
        done
          ? t('{0} was marked done by somebody else', storyId)
          : t('{0} was marked not done by somebody else', storyId),
      );
    case 'gate':
      return own('warning', t('{0} was put back to not done: its checks failed', storyId));
    case 'reviewer':
      return own('warning', t('{0} was put back to not done: the reviewer objects', storyId));
    case 'guard':
      return own(
        'warning',
        done
          ? t('{0} was put back to done: this iteration was not given it', storyId)
          : t('{0} was put back to not done: this iteration was not given it', storyId),
      );
    default:
      return assertNever(by);
  }
}

function promiseSeen(
  { signal, message, accepted }: Extract<RunEvent, { type: 'promise.seen' }>,
  t: Translate,
): TranscriptLine {
  switch (signal) {
    case 'complete':
      return accepted
        ? own('success', t('Completion promise detected!'))
        : own('warning', t('Completion promise not accepted: there are open stories'));
    case 'needsHuman':
      return own('warning', t('The agent needs you: {0}', message));
    case 'blocked':
      return own('warning', t('The story is blocked: {0}', message));
    default:
      return assertNever(signal);
  }
}

function iterationFacts(
  event: Extract<RunEvent, { type: 'iteration.ended' }>,
  t: Translate,
): string {
  return [
    t('Iteration {0}: {1}', event.iteration, outcomeWord(event.outcome, t)),
    duration(event.durationMs, t),
    event.commits === 1 ? t('1 commit') : t('{0} commits', event.commits),
    ...(event.turns === undefined
      ? []
      : [event.turns === 1 ? t('1 turn') : t('{0} turns', event.turns)]),
    ...(event.costUsd === undefined ? [] : [dollars(event.costUsd, t, event.costEstimated)]),
  ].join(' · ');
}

function statusLine({ done, total }: StoryCount, t: Translate): readonly TranscriptLine[] {
  return total === 0 ? [] : [own('plain', t('PRD Status: {0}/{1} stories complete', done, total))];
}

function own(style: Style, text: string): TranscriptLine {
  return line(style, `${PREFIX} ${text}`);
}

function line(style: Style, text: string): TranscriptLine {
  return { style, text };
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}
