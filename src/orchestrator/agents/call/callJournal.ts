import { assertNever } from '../../../base/assertNever.ts';
import { amount, whole } from '../../../base/numbers.ts';
import { shorten, shortenBlock } from '../../../base/text.ts';
import type { RunEventBody } from '../../journal/events.ts';
import type { Journal } from '../../journal/journal.ts';
import type { StartedProcess } from '../../process/supervise.ts';
import type { AgentEvent, Subagent } from '../agent.ts';
import { CostEstimate } from '../claude/costEstimate.ts';

/** Longest text of one event in the journal, in UTF-16 units; the raw stream has the rest. */
const MAX_TEXT = 4_000;
/** Longest name, id or gist in the journal, in UTF-16 units. */
const MAX_FACT = 300;
/**
 * Lines outside the agent's protocol that are written to the journal; output of a misbehaving program stays in the
 * raw stream.
 */
const MAX_OUTPUT_LINES = 50;
const MAX_COMPACTIONS = 100;
/** Number of open tool calls whose names are remembered. */
const MAX_OPEN_CALLS = 1_000;
/** Events of one call that the journal keeps, and their bytes; a full day's work of an agent is below that. */
const MAX_EVENTS = 3_000;
const MAX_BYTES = 1024 * 1024;
/** After that, events are sampled at this interval, in ms, which doubles after a number of samples. */
const SAMPLE_MS = 5_000;
const SAMPLES_PER_PACE = 100;
/** Maximum number of samples, however long the call takes. */
const MAX_SAMPLES = 800;
/** Their results only report success. */
const WRITING_TOOLS: ReadonlySet<string> = new Set([
  'Edit',
  'MultiEdit',
  'NotebookEdit',
  'TodoWrite',
  'Write',
]);

/** A call of an agent, as the journal names it. */
export interface JournaledCall {
  readonly iteration: number;
  /** Absent: it works on a story. */
  readonly purpose?: 'plan' | 'review' | undefined;
  /** Name of the file with the agent's whole output. */
  readonly stream: string;
  readonly budgetUsd?: number | undefined;
}

/**
 * Turns an agent's events in one call into events of the journal. Bounded, because journals are read again and
 * again: above a limit the journal notes once that the raw stream has more, and then keeps only samples for
 * watchers, and the last words.
 */
export class CallJournal {
  private readonly journal: Pick<Journal, 'append'>;
  private readonly call: JournaledCall;
  private readonly now: () => number;
  private outputLines = 0;
  private compactions = 0;
  private events = 0;
  private bytes = 0;
  private isFull = false;
  private samples = 0;
  private nextSampleAt = 0;
  /** The latest text that was not kept. */
  private unkept: string | undefined;
  /** Tool calls without a result so far. */
  private readonly names = new Map<string, string>();
  /** The cost of what no result covers. */
  readonly estimate = new CostEstimate();
  /** As it reported itself. */
  model: string | undefined;

  /**
   * @param now in ms, from a monotonic clock
   */
  constructor(
    journal: Pick<Journal, 'append'>,
    call: JournaledCall,
    now: () => number = () => performance.now(),
  ) {
    this.journal = journal;
    this.call = call;
    this.now = now;
  }

  /** Its process has started. */
  started(process: StartedProcess): void {
    const { budgetUsd, iteration, purpose, stream } = this.call;
    this.journal.append({
      ...{ type: 'agent.started', iteration, purpose },
      ...process,
      ...{ stream, budgetUsd },
    });
  }

  take(event: AgentEvent): void {
    if (event.type === 'init') {
      this.model = event.model;
    }
    this.estimate.take(event);
    if (event.type === 'compacted') {
      this.compactions += 1;
      // Long calls have them, whose other events are no longer kept.
      if (this.compactions <= MAX_COMPACTIONS) {
        this.append({
          type: 'agent.compacted',
          tokens: event.tokens && whole(event.tokens),
        });
      }
    } else if (this.isFull) {
      this.sample(event);
    } else {
      this.keep(event);
    }
  }

  /** Call it at the end of the agent's call. */
  end(): void {
    if (this.unkept !== undefined) {
      this.append({ type: 'agent.text', ...cut(this.unkept) });
      this.unkept = undefined;
    }
  }

  private append(body: RunEventBody): void {
    this.journal.append(body, this.call.iteration);
  }

  private keep(event: AgentEvent): void {
    for (const body of this.bodiesOf(event)) {
      const size = Buffer.byteLength(JSON.stringify(body));
      if (this.events >= MAX_EVENTS || this.bytes + size > MAX_BYTES) {
        this.isFull = true;
        this.append({ type: 'agent.overflow', stream: this.call.stream });
        this.names.clear();
        this.sample(event);
        return;
      }
      this.events += 1;
      this.bytes += size;
      this.append(body);
    }
  }

  /** Shows a person the agent's current activity. */
  private sample(event: AgentEvent): void {
    if (event.type === 'text' && event.text.trim() !== '') {
      this.unkept = event.text;
    } else if (event.type !== 'tool') {
      return;
    }
    if (this.samples >= MAX_SAMPLES || this.now() < this.nextSampleAt) {
      return;
    }
    const pace = SAMPLE_MS * 2 ** Math.floor(this.samples / SAMPLES_PER_PACE);
    this.nextSampleAt = this.now() + pace;
    this.samples += 1;
    if (event.type === 'text') {
      this.unkept = undefined;
      this.append({
        type: 'agent.text',
        ...cut(event.text, MAX_FACT),
        ...ofSubagent(event),
      });
    } else {
      this.append(toolCall(event));
    }
  }

  private bodiesOf(event: AgentEvent): readonly RunEventBody[] {
    switch (event.type) {
      case 'init': {
        const { model, version, apiKeySource, sessionId } = event;
        const facts = { model, version, apiKeySource, sessionId };
        return [{ type: 'agent.init', ...shortFacts(facts) }];
      }
      case 'text':
        return event.text.trim() === ''
          ? []
          : [{ type: 'agent.text', ...cut(event.text), ...ofSubagent(event) }];
      case 'tool':
        if (this.names.size < MAX_OPEN_CALLS) {
          this.names.set(event.id, event.name);
        }
        return [toolCall(event)];
      case 'toolResult': {
        const name = this.names.get(event.id);
        this.names.delete(event.id);
        return toolResult(event, name);
      }
      case 'retry':
        return [
          {
            type: 'agent.retry',
            attempt: whole(event.attempt),
            maxAttempts: whole(event.maxAttempts),
            delayMs: whole(event.delayMs),
            status: event.status === undefined ? undefined : whole(event.status),
            error: fact(event.error),
          },
        ];
      case 'denied':
        return [
          {
            type: 'agent.denied',
            tool: fact(event.tool),
            message: fact(event.message),
            ...ofSubagent(event),
          },
        ];
      case 'subagentEnded':
        return [subagentEnd(event)];
      case 'unknown':
        this.outputLines += 1;
        return this.outputLines <= MAX_OUTPUT_LINES
          ? [{ type: 'agent.output', ...cut(event.line) }]
          : [];
      case 'activity':
      case 'compacted':
      case 'usage':
      case 'limit':
      case 'fatal':
      case 'result':
        // The data of a result is written to iteration.ended, together with the state of the files.
        return [];
      default:
        return assertNever(event);
    }
  }
}

function toolCall(event: Extract<AgentEvent, { type: 'tool' }>): RunEventBody {
  const { gist, id, name } = event;
  return {
    type: 'agent.tool',
    id: fact(id),
    name: fact(name),
    gist: fact(gist),
    ...ofSubagent(event),
  };
}

function subagentEnd(event: Extract<AgentEvent, { type: 'subagentEnded' }>): RunEventBody {
  const { durationMs, gist, isError, subagent, tokens, toolCalls } = event;
  return {
    type: 'agent.subagentEnded',
    subagent: shortSubagent(subagent),
    failed: isError || undefined,
    gist: fact(gist),
    durationMs: durationMs === undefined ? undefined : amount(durationMs),
    tokens: tokens === undefined ? undefined : whole(tokens),
    toolCalls: toolCalls === undefined ? undefined : whole(toolCalls),
    ...ofSubagent(event),
  };
}

function ofSubagent({ parent }: { readonly parent?: Subagent | undefined }): {
  parent?: Subagent;
} {
  return parent === undefined ? {} : { parent: shortSubagent(parent) };
}

function shortSubagent({ id, name }: Subagent): Subagent {
  return { id: fact(id), name: fact(name) };
}

/** The interesting part of a tool's result. */
function toolResult(
  event: Extract<AgentEvent, { type: 'toolResult' }>,
  name: string | undefined,
): RunEventBody[] {
  const { gist, head, id, isError, lines = 1 } = event;
  const of = ofSubagent(event);
  const more = head === undefined ? of : { head, lines, ...of };
  if (isError) {
    return [{ type: 'agent.toolFailed', id: fact(id), gist: fact(gist), ...more }];
  }
  if (gist === '' || (name !== undefined && WRITING_TOOLS.has(name))) {
    return [];
  }
  return name === 'Read'
    ? [{ type: 'agent.toolResult', id: fact(id), lines, ...of }]
    : [{ type: 'agent.toolResult', id: fact(id), head: head ?? fact(gist), lines, ...of }];
}

function fact(text: string): string {
  return shorten(text, MAX_FACT);
}

function shortFacts<K extends string>(
  facts: Readonly<Record<K, string | undefined>>,
): { [P in K]?: string } {
  const short: { [P in K]?: string } = {};
  for (const key in facts) {
    const value = facts[key];
    if (value !== undefined) {
      short[key] = fact(value);
    }
  }
  return short;
}

function cut(text: string, max = MAX_TEXT): { text: string; cut?: number } {
  const kept = shortenBlock(text, max);
  return text.length <= max ? { text: kept } : { text: kept, cut: text.length - kept.length };
}
