import type { RunEvent } from '../orchestrator/journal/events.ts';
import { applyEvent } from '../orchestrator/journal/foldRun.ts';
import { INITIAL_RUN_STATE, type RunState } from '../orchestrator/journal/runState.ts';
import type { Door } from './door.ts';
import { describeEvent } from './eventLines.ts';
import { withStoryPrefix } from './storyPrefix.ts';
import { type ToolCall, ToolCalls } from './toolLines.ts';
import type { TranscriptLine } from './transcriptLine.ts';
import type { Translate } from './translate.ts';

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
