import { assertNever } from '../base/assertNever.ts';
import { shorten, withoutControls } from '../base/text.ts';
import type { RunEvent } from '../orchestrator/journal/events.ts';
import { applyEvent } from '../orchestrator/journal/foldRun.ts';
import { INITIAL_RUN_STATE, type RunState } from '../orchestrator/journal/runState.ts';
import { agentLines, type Telling } from './agentLines.ts';
import { discoveryLines } from './discoveryLines.ts';
import type { Door } from './door.ts';
import { duplicatesFound } from './duplicateLines.ts';
import { iterationEnded, iterationStarted, statusLine } from './iterationLines.ts';
import { landingLine, stackChecked, stillHeld, targetHeld, workKept } from './landingLines.ts';
import { branchLeft, commitsLost, guardFound, proofLines } from './proofLines.ts';
import { runEnd } from './runEnd.ts';
import { limitWaiting, settings, warningWords, willStop } from './runLines.ts';
import { outcomeSentence, rolledBackWords } from './sentences.ts';
import { promiseSeen, stillAsked, stillPaused, storyLines } from './storyLines.ts';
import { withStoryPrefix } from './storyPrefix.ts';
import { withSubagent } from './subagentLines.ts';
import { type ToolCall, ToolCalls } from './toolLines.ts';
import { firstLine, items, line, MAX_LINE, own, type TranscriptLine } from './transcriptLine.ts';
import type { Translate } from './translate.ts';
import { waitingSentence } from './waitingWords.ts';

export interface TranscriptOptions {
  /** State of the run before the first event. */
  readonly earlier?: RunState | undefined;
  /** Only lines of one story, or one iteration, are shown, so they need not say which one. */
  readonly isOfOneStory?: boolean;
  /** Selects the events that are described; called for all events, in order. Default: all. */
  readonly isShown?: (event: RunEvent) => boolean;
  /** A tool that was not allowed can be allowed where this is read. */
  readonly offersTools?: boolean;
}

/** Describes the events of one run as they arrive, and keeps the context that its sentences need. */
export class Transcript {
  private readonly t: Translate;
  private readonly door: Door;
  private readonly options: TranscriptOptions;
  private state: RunState;
  /** Tools that were not allowed: each is reported once in a run, however many agents want it. */
  private readonly denied = new Set<string>();
  /** By iteration: with several lanes, the calls of several agents alternate. */
  private readonly calls = new Map<number | undefined, ToolCalls>();

  constructor(t: Translate, door: Door = 'terminal', options: TranscriptOptions = {}) {
    this.t = t;
    this.door = door;
    this.options = options;
    this.state = options.earlier ?? INITIAL_RUN_STATE;
  }

  describe(event: RunEvent): readonly TranscriptLine[] {
    if (event.type === 'run.started') {
      // The numbers of another run start again.
      this.state = INITIAL_RUN_STATE;
      this.denied.clear();
    }
    const { door, options, state } = this;
    const call = this.callOf(event);
    this.state = applyEvent(state, event);
    if (options.isShown?.(event) === false || this.isToldAgain(event)) {
      return [];
    }
    const offersTools = options.offersTools === true;
    const described = describeEvent(event, this.t, { state, door, call, offersTools });
    return options.isOfOneStory ? described : withStoryPrefix(described, event, state);
  }

  private isToldAgain(event: RunEvent): boolean {
    if (event.type !== 'agent.denied') {
      return false;
    }
    const isTold = this.denied.has(event.tool);
    this.denied.add(event.tool);
    return isTold;
  }

  private callOf(event: RunEvent): ToolCall | undefined {
    const found = 'iteration' in event ? event.iteration : undefined;
    const iteration = typeof found === 'number' ? found : undefined;
    if (event.type === 'iteration.ended') {
      this.calls.delete(iteration);
      return undefined;
    }
    const calls = this.calls.get(iteration) ?? new ToolCalls();
    this.calls.set(iteration, calls);
    return calls.take(event);
  }
}

/**
 * Describes a run's event as it appears in a terminal: the whitepaper's lines (5.2) and the agent's work between
 * them. Without the state, some sentences are less specific. Text of agents, stories and commits is returned without
 * control characters.
 */
export function describeEvent(
  event: RunEvent,
  t: Translate,
  {
    state = INITIAL_RUN_STATE,
    door = 'terminal',
    call,
    offersTools = false,
  }: Partial<Telling> = {},
): readonly TranscriptLine[] {
  const told = lines(event, t, { state, door, call, offersTools });
  return withSubagent(told, event).map(({ style, text }) => ({
    style,
    text: withoutControls(text),
  }));
}

function lines(event: RunEvent, t: Translate, telling: Telling): readonly TranscriptLine[] {
  const { door, state } = telling;
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
      return iterationStarted(event, t, state);
    case 'agent.started':
    case 'agent.init':
    case 'agent.text':
    case 'agent.tool':
    case 'agent.toolFailed':
    case 'agent.toolResult':
    case 'agent.subagentEnded':
    case 'agent.retry':
    case 'agent.denied':
    case 'agent.compacted':
    case 'agent.output':
    case 'agent.overflow':
    case 'agent.ended':
    case 'call.retried':
    case 'agent.replaced':
      return agentLines(event, t, telling);
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
    case 'stories.renumbered':
      // What follows says which story it is about.
      return [];
    case 'story.skipped':
    case 'story.reset':
    case 'story.stuck':
    case 'story.changed':
    case 'story.ticked':
    case 'story.paused':
    case 'story.settling':
      return storyLines(event, t, state, door);
    case 'guard.found':
      return guardFound(event, t);
    case 'branch.left':
      return branchLeft(event, t, state);
    case 'commits.lost':
      return commitsLost(event, t);
    case 'gate.started':
    case 'check.started':
    case 'check.ended':
    case 'gate.ended':
    case 'review.ended':
      return proofLines(event, t);
    case 'commit.recorded':
      return [own('success', t('Commit {0} {1}', event.hash.slice(0, 7), event.subject))];
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
      return iterationEnded(event, t, state);
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
    case 'run.rolledBack':
      return [own('warning', rolledBackWords(event, t))];
    default:
      return assertNever(event);
  }
}

/** The interrupted iteration is judged first, but the next one gets a new number anyway. */
function resumesAt(state: RunState): number {
  return state.iteration + 1;
}
