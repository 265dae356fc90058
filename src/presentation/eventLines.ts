import { assertNever } from '../base/assertNever.ts';
import { shorten, withoutControls } from '../base/text.ts';
import type { RunEvent } from '../orchestrator/journal/events.ts';
import { applyEvent } from '../orchestrator/journal/foldRun.ts';
import { INITIAL_RUN_STATE, type RunState } from '../orchestrator/journal/runState.ts';
import type { StoryCount } from '../orchestrator/journal/storyCount.ts';
import { tellsCost } from '../orchestrator/journal/tellsCost.ts';
import {
  agentEnded,
  agentInit,
  agentReplaced,
  agentStopped,
  agentText,
  callRetried,
} from './agentLines.ts';
import { choiceWords } from './choiceWords.ts';
import { discoveryLines } from './discoveryLines.ts';
import type { Door } from './door.ts';
import { duplicatesFound } from './duplicateLines.ts';
import { outcomeWord } from './iterationWords.ts';
import { landingLine, stackChecked, stillHeld, targetHeld, workKept } from './landingLines.ts';
import { branchLeft, checkEnded, commitsLost, gateEnded, guardFound } from './proofLines.ts';
import { limitWaiting, settings, warningWords, willStop } from './runLines.ts';
import { outcomeSentence, rolledBackWords, runEnd } from './sentences.ts';
import {
  promiseSeen,
  stillAsked,
  stillPaused,
  storyChanged,
  storyPaused,
  storySkipped,
  storyStuck,
} from './storyLines.ts';
import { isMixed } from './storyPrefix.ts';
import { titleNextTo } from './storyTitle.ts';
import { subagentEnded, withSubagent } from './subagentLines.ts';
import { resultLines, type ToolCall, toolDenied } from './toolLines.ts';
import {
  type EventOf,
  firstLine,
  items,
  line,
  MAX_LINE,
  own,
  type TranscriptLine,
} from './transcriptLine.ts';
import { dollars, duration, iterationCount, type Translate, wholeNumber } from './translate.ts';
import { uncommittedWords } from './uncommittedWords.ts';
import { waitingSentence } from './waitingWords.ts';

/** Context of the event. */
export interface Telling {
  /** The fold of all earlier events; without it, some sentences are less specific. */
  readonly state?: RunState;
  readonly door?: Door;
  /** For a tool's result: the call that it belongs to, if known. */
  readonly call?: ToolCall | undefined;
  /** A tool that was not allowed can be allowed where this is read. */
  readonly offersTools?: boolean;
}

/**
 * Describes a run's event as it appears in a terminal: the whitepaper's lines (5.2) and the agent's work between
 * them. Text of agents, stories and commits is returned without control characters.
 */
export function describeEvent(
  event: RunEvent,
  t: Translate,
  { state = INITIAL_RUN_STATE, door = 'terminal', call, offersTools = false }: Telling = {},
): readonly TranscriptLine[] {
  const told =
    event.type === 'agent.denied'
      ? toolDenied(event, t, offersTools)
      : lines(event, t, state, door, call);
  return withSubagent(told, event).map(({ style, text }) => ({
    style,
    text: withoutControls(text),
  }));
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
        ...settings(event, t, { door, mode: event.mode }),
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
        ...settings(event, t, { door, mode: state.mode }),
        ...statusLine(event.stories, t),
        ...stillPaused(state, t, door).map(text => own('warning', text)),
        ...stillAsked(state, applyEvent(state, event), t, door).map(text => own('warning', text)),
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
        ...items('warning', event.problems.map(t.said), t),
      ];
    case 'iteration.started':
      return [
        line('plain', ''),
        own('heading', `=== ${iterationHeading(event, t, state)} ===`),
        // With lanes, the end of another agent has just said it.
        ...(state.isolated ? [] : statusLine(event.stories, t)),
        ...(event.storyId === undefined
          ? []
          : [
              own(
                'plain',
                `${event.storyId}: ${titleNextTo(event.storyId, event.storyTitle ?? '')}`,
              ),
            ]),
        ...chosenLine(event, t),
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
    case 'agent.init':
      return agentInit(event, t);
    case 'agent.text':
      return agentText(event, t);
    case 'agent.tool':
      return [line('tool', `● ${event.name}${event.gist === '' ? '' : `(${event.gist})`}`)];
    case 'agent.toolFailed':
      return resultLines('error', event, t, { call, door, state });
    case 'agent.toolResult':
      return resultLines('dim', event, t, { call, door, state });
    case 'agent.subagentEnded':
      return subagentEnded(event, t);
    case 'agent.retry':
      return [
        line(
          'warning',
          `  ${t('API error ({0}), trying again ({1} of {2})', event.status ?? event.error, event.attempt, event.maxAttempts)}`,
        ),
      ];
    case 'agent.denied':
      return toolDenied(event, t, false);
    case 'agent.compacted':
      return [own('warning', contextFull(event, t))];
    case 'agent.output':
      return event.text.split('\n').map(text => line('dim', `  ${text}`));
    case 'agent.overflow':
      return [
        own(
          'dim',
          t(
            'The agent prints more than the journal keeps. From here on, only a part is shown; {0} in the folder of the iteration has everything',
            event.stream,
          ),
        ),
      ];
    case 'agent.ended':
      return [...agentStopped(event, t, state), ...agentEnded(event, t)];
    case 'call.retried':
      return [callRetried(event, t)];
    case 'agent.replaced':
      return [agentReplaced(event, t)];
    case 'limit.waiting':
      return limitWaiting(event, t, state, door);
    case 'limit.ended':
      return event.by === 'stop' ? [] : [own('plain', t('Trying again…'))];
    case 'pause.requested':
      return [
        own(
          'plain',
          state.running.length > 1
            ? t('Will pause when the agents at work have finished')
            : t('Will pause after this iteration'),
        ),
      ];
    case 'pause.started':
      return [
        own(
          'warning',
          waitingSentence(
            {
              kind: 'pause',
              reason: event.reason,
              storyId: event.storyId,
              detail: event.detail,
              stories: event.stories,
              settling: event.settling,
              lanes: event.lanes,
            },
            t,
            { now: Date.parse(event.at), door },
          ),
        ),
      ];
    case 'pause.ended':
      return event.by === 'stop' ? [] : [own('plain', t('Continuing…'))];
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
      return [
        own(
          'plain',
          event.storyId === undefined || !state.isolated
            ? t('Answered: {0}', shorten(event.answer, MAX_LINE))
            : t('Answered for {0}: {1}', event.storyId, shorten(event.answer, MAX_LINE)),
        ),
      ];
    case 'story.skipped':
      return [storySkipped(event, t, door)];
    case 'story.reset':
      return [own('plain', t('{0} gets another chance', event.storyId))];
    case 'story.stuck':
      return [storyStuck(event, t)];
    case 'guard.found':
      return guardFound(event, t);
    case 'branch.left':
      return branchLeft(event, t, state);
    case 'commits.lost':
      return commitsLost(event, t);
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
            ...items('error', event.objections.map(t.said), t),
          ];
    case 'commit.recorded':
      return [own('success', t('Commit {0} {1}', event.hash.slice(0, 7), event.subject))];
    case 'story.changed':
      return [storyChanged(event, t, state.verify.length > 0 || state.reviewer === true)];
    case 'story.ticked':
      return [
        own(
          'plain',
          event.done
            ? t('{0} ticked by hand', event.storyId)
            : t('{0} unticked by hand', event.storyId),
        ),
      ];
    case 'progress.compacted': {
      const { archive, file, linesAfter, linesBefore } = event;
      const change = [String(linesBefore), String(linesAfter)];
      return [
        own('dim', t('Condensed {0} from {1} to {2} lines; before: {3}', file, ...change, archive)),
      ];
    }
    case 'discovery.reported':
    case 'discovery.edited':
    case 'discovery.accepted':
    case 'discovery.added':
    case 'discovery.refused':
    case 'discovery.dropped':
      return discoveryLines(event, t);
    case 'duplicates.found':
      return duplicatesFound(event, t);
    case 'promise.seen':
      return [promiseSeen(event, t)];
    case 'iteration.ended':
      return [
        ...(event.uncommitted ? [own('warning', uncommittedWords(event.uncommitted, t))] : []),
        own('dim', iterationFacts(event, t, tellsCost(state.agent ?? ''))),
        ...statusLine(event.stories, t),
      ];
    case 'warning':
      return [own('warning', warningWords(event, t, door))];
    case 'stop.requested':
      return [
        own(
          'warning',
          event.mode === 'afterIteration'
            ? willStop(event.by, t, { door, isOne: state.running.length < 2 })
            : event.signal !== undefined
              ? t('Received {0}, saving state and exiting...', shorten(event.signal, 20))
              : t('Stop requested, saving state and exiting...'),
        ),
      ];
    case 'run.ended': {
      const known =
        state.runId === undefined ? {} : runEnd(applyEvent(state, event), event.outcome);
      const end = { ...known, ...event };
      const { text, good } = outcomeSentence(end, t, door);
      return [
        line('plain', ''),
        own(good ? 'success' : 'warning', good ? `✅ ${text}` : text),
        ...stillHeld(state, t, door),
      ];
    }
    case 'work.kept':
      return workKept(event, t);
    case 'landing.queued':
    case 'landing.candidate':
    case 'landing.landed':
    case 'landing.returned':
      return landingLine(event, t, state);
    case 'stack.checked':
      return stackChecked(event, t);
    case 'target.held':
      return targetHeld(event, t);
    case 'target.followed':
      return [own('success', t('{0} has everything that has landed', event.branch))];
    case 'lanes.changed':
      return [
        own(
          'plain',
          event.lanes === 1
            ? t('From now on, one agent works at once')
            : t('From now on, up to {0} agents work at once', event.lanes),
        ),
      ];
    case 'lane.paused':
      return [
        own(
          'plain',
          event.paused
            ? t('No further agent starts in lane {0}', event.lane)
            : t('Lane {0} continues', event.lane),
        ),
      ];
    case 'story.paused':
      return storyPaused(event, t, state);
    case 'story.settling':
      return [
        own(
          'plain',
          event.settling
            ? t('A person settles the conflict of {0}', event.storyId)
            : t('Nobody settles a conflict of {0} by hand any more', event.storyId),
        ),
      ];
    case 'run.rolledBack':
      return [own('warning', rolledBackWords(event, t))];
    default:
      return assertNever(event);
  }
}

/** Why this agent may differ from the run's settings. */
function chosenLine(event: EventOf<'iteration.started'>, t: Translate): TranscriptLine[] {
  const chosen = choiceWords(event, t);
  return chosen.length === 0
    ? []
    : [own('plain', t('Chosen by the story: {0}', chosen.join(' · ')))];
}

/** With several lanes, iterations need not begin in the order of their numbers. */
function iterationHeading(
  { iteration, lane, maxIterations }: EventOf<'iteration.started'>,
  t: Translate,
  state: RunState,
): string {
  return lane !== undefined && isMixed(state)
    ? t('Iteration {0}/{1}, lane {2}', iteration, maxIterations, lane)
    : t('Iteration {0}/{1}', iteration, maxIterations);
}

/** The interrupted iteration is judged first, but the next one gets a new number anyway. */
function resumesAt(state: RunState): number {
  return state.iteration + 1;
}

function iterationFacts(event: EventOf<'iteration.ended'>, t: Translate, isTold: boolean): string {
  return [
    t('Iteration {0}: {1}', event.iteration, outcomeWord(event.outcome, t)),
    // 0: it worked before the run was interrupted, or settled by a person, and nobody knows how long.
    ...(event.durationMs > 0 ? [duration(event.durationMs, t)] : []),
    event.commits === 1 ? t('1 commit') : t('{0} commits', event.commits),
    ...(event.turns === undefined || (event.turns === 0 && !isTold)
      ? []
      : [event.turns === 1 ? t('1 turn') : t('{0} turns', event.turns)]),
    ...(event.costUsd === undefined
      ? isTold
        ? []
        : [t('cost unknown')]
      : [dollars(event.costUsd, t, event.costEstimated)]),
  ].join(' · ');
}

function statusLine({ done, total }: StoryCount, t: Translate): readonly TranscriptLine[] {
  return total === 0 ? [] : [own('plain', t('PRD Status: {0}/{1} stories complete', done, total))];
}

function contextFull({ tokens }: EventOf<'agent.compacted'>, t: Translate): string {
  return tokens === undefined
    ? t("The agent's context was full, so it was condensed. Smaller stories leave more room")
    : t(
        "The agent's context was full ({0} tokens), so it was condensed. Smaller stories leave more room",
        wholeNumber(tokens, t),
      );
}
