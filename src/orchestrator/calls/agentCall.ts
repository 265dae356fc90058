import path from 'node:path';
import type { Agent, AgentErrorKind, AgentEvent, AgentRequest } from '../agents/agent.ts';
import {
  type AgentEnd,
  type AgentProcessOptions,
  runAgentProcess,
} from '../agents/agentProcess.ts';
import { CostEstimate } from '../agents/costEstimate.ts';
import type { ProcessLimits } from '../agents/processLimits.ts';
import { HumanError } from '../humanError.ts';
import { whole } from '../numbers.ts';
import type { RunEventBody } from '../run/events.ts';
import type { Journal } from '../run/journal.ts';
import { shorten, shortenBlock } from '../text.ts';
import { callCost } from './callCost.ts';

/** Longest text of one event in the journal, in UTF-16 units; the raw stream has the rest. */
const MAX_TEXT = 4_000;
/** Longest name, id or gist in the journal, in UTF-16 units. */
const MAX_FACT = 300;
/** Lines outside the agent's protocol that go into the journal; a program gone wild stays in the raw stream. */
const MAX_OUTPUT_LINES = 50;
/** Tool calls at a time whose names are remembered. */
const MAX_OPEN_CALLS = 1_000;
/** Their results say no more than that they succeeded. */
const WRITING_TOOLS: ReadonlySet<string> = new Set([
  'Edit',
  'MultiEdit',
  'NotebookEdit',
  'TodoWrite',
  'Write',
]);

export interface AgentCallRequest {
  /** What the call is for; stories are the rule. */
  readonly purpose: 'story' | 'plan' | 'review';
  /** 0 before the first iteration. */
  readonly iteration: number;
  readonly runId: string;
  readonly agent: Agent;
  readonly request: AgentRequest;
  readonly limits: ProcessLimits;
  readonly journal: Journal;
  /** Everything the agent prints goes there, byte for byte. */
  readonly rawFile: string;
  /** Aborted: end the agent, SIGTERM first. */
  readonly signal: AbortSignal;
  /** Aborted: end the agent with SIGKILL. */
  readonly killSignal: AbortSignal;
  /** See {@link AgentProcessOptions.ready}. */
  readonly ready?: Promise<unknown>;
  /** See {@link AgentProcessOptions.onExit}. */
  readonly onExit?: () => void;
}

/** What one fresh agent's process came to, before the files are looked at. */
export interface AgentCallResult {
  readonly end: AgentEnd;
  /** The call failed, by its own result, its exit code, or a limit. */
  readonly error?: {
    readonly kind: AgentErrorKind | AgentEnd['reason'];
    readonly message: string;
    /** When a usage limit ends, in ms since the epoch, if the agent told. */
    readonly resetsAt?: number;
  };
  /** After a wait there was nothing left to do for the call, so it was not made again. */
  readonly notWanted?: true;
}

/**
 * One process of a fresh agent from start to end: writes what it does into the journal as it happens.
 * What it left in the files is not its business.
 */
export async function callAgentOnce(call: AgentCallRequest): Promise<AgentCallResult> {
  const { agent, iteration, journal, runId } = call;
  const purpose = call.purpose === 'story' ? {} : { purpose: call.purpose };
  const estimate = new CostEstimate();
  const writeEvent = journalWriterFor(journal);
  let end: AgentEnd;
  try {
    const command = await agent.command(call.request);
    end = await runAgentProcess(agent, command, {
      cwd: call.request.cwd,
      runId,
      limits: call.limits,
      signal: call.signal,
      killSignal: call.killSignal,
      rawFile: call.rawFile,
      ...(call.ready && { ready: call.ready }),
      ...(call.onExit && { onExit: call.onExit }),
      onStarted: identity =>
        void journal.append({
          type: 'agent.started',
          iteration,
          ...purpose,
          ...identity,
          stream: path.basename(call.rawFile),
        }),
      onEvent: event => {
        estimate.take(event);
        writeEvent(event);
      },
    });
  } catch (error) {
    if (!(error instanceof HumanError)) {
      throw error;
    }
    end = { reason: 'notStarted', durationMs: 0, leftovers: 0, stderr: error.message };
  }
  const error = errorOf(end);
  journal.append({
    type: 'agent.ended',
    iteration,
    ...purpose,
    reason: end.reason,
    ...(end.exitCode === undefined ? {} : { exitCode: end.exitCode }),
    ...(end.signal === undefined ? {} : { signal: end.signal }),
    durationMs: Math.round(end.durationMs),
    leftovers: end.leftovers,
    ...(error === undefined ? {} : { error: { kind: error.kind, message: error.message } }),
    ...callCost(end.result, estimate),
  });
  return { end, ...(error === undefined ? {} : { error }) };
}

function errorOf(end: AgentEnd): AgentCallResult['error'] {
  if (end.error) {
    return { ...end.error, message: shortenBlock(end.error.message, MAX_TEXT) };
  }
  switch (end.reason) {
    case 'cancelled':
      return undefined;
    case 'hardLimit':
    case 'idleLimit':
      return { kind: end.reason, message: lastWords(end) };
    case 'notStarted':
      return { kind: end.reason, message: lastWords(end) };
    case 'exited':
    case 'lingered': {
      if (end.result?.isError) {
        const { kind = 'other', message = end.result.text, resetsAt } = end.result.error ?? {};
        return {
          kind,
          message: shortenBlock(message, MAX_TEXT),
          ...(resetsAt === undefined ? {} : { resetsAt }),
        };
      }
      if (end.result === undefined || (end.reason === 'exited' && end.exitCode !== 0)) {
        return { kind: 'other', message: lastWords(end) };
      }
      return undefined;
    }
  }
}

function lastWords(end: AgentEnd): string {
  return shortenBlock(end.stderr, MAX_TEXT);
}

/** Turns an agent's events into the journal's; bounded, whatever the agent prints. */
function journalWriterFor(journal: Journal): (event: AgentEvent) => void {
  let outputLines = 0;
  /** Tool calls whose results have not come yet. */
  const names = new Map<string, string>();
  return event => {
    switch (event.type) {
      case 'init': {
        const { model, version, apiKeySource, sessionId } = event;
        const facts = { model, version, apiKeySource, sessionId };
        journal.append({ type: 'agent.init', ...shortFacts(facts) });
        break;
      }
      case 'text':
        if (event.text.trim() !== '') {
          journal.append({ type: 'agent.text', ...cut(event.text) });
        }
        break;
      case 'tool':
        journal.append({
          type: 'agent.tool',
          id: fact(event.id),
          name: fact(event.name),
          gist: fact(event.gist),
        });
        if (names.size < MAX_OPEN_CALLS) {
          names.set(event.id, event.name);
        }
        break;
      case 'toolResult':
        for (const body of toolResult(event, names.get(event.id))) {
          journal.append(body);
        }
        names.delete(event.id);
        break;
      case 'retry': {
        journal.append({
          type: 'agent.retry',
          attempt: whole(event.attempt),
          maxAttempts: whole(event.maxAttempts),
          delayMs: whole(event.delayMs),
          ...(event.status === undefined ? {} : { status: whole(event.status) }),
          error: fact(event.error),
        });
        break;
      }
      case 'denied':
        journal.append({
          type: 'agent.denied',
          tool: fact(event.tool),
          message: fact(event.message),
        });
        break;
      case 'unknown':
        outputLines += 1;
        if (outputLines <= MAX_OUTPUT_LINES) {
          journal.append({ type: 'agent.output', ...cut(event.line) });
        }
        break;
      case 'activity':
      case 'usage':
      case 'result':
        // A result's facts go into iteration.ended, with what the files say beside them.
        break;
    }
  };
}

/** What a tool gave back, as far as a person would look at it. */
function toolResult(
  { gist, head, id, isError, lines = 1 }: Extract<AgentEvent, { type: 'toolResult' }>,
  name: string | undefined,
): RunEventBody[] {
  const more = head === undefined ? {} : { head, lines };
  if (isError) {
    return [{ type: 'agent.toolFailed', id: fact(id), gist: fact(gist), ...more }];
  }
  if (gist === '' || (name !== undefined && WRITING_TOOLS.has(name))) {
    return [];
  }
  return name === 'Read'
    ? [{ type: 'agent.toolResult', id: fact(id), lines }]
    : [{ type: 'agent.toolResult', id: fact(id), head: head ?? fact(gist), lines }];
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

function cut(text: string): { text: string; cut?: number } {
  const kept = shortenBlock(text, MAX_TEXT);
  return text.length <= MAX_TEXT ? { text: kept } : { text: kept, cut: text.length - kept.length };
}
