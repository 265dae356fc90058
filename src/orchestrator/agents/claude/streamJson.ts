import { jsonOf } from '../../../base/jsonOf.ts';
import type { AgentDecoder, AgentError, AgentEvent, ResultEvent, Subagent } from '../agent.ts';
import { blocksOf, count, type Fields, isRecord, text } from '../jsonFields.ts';
import { kindOf, kindOfFailure } from './errorKinds.ts';
import { gistOfInput } from './inputGist.ts';
import { gistOf, headOf, resultText } from './streamJsonTexts.ts';
import { decodeUsage, type Message, usageOf } from './streamJsonUsage.ts';
import { Subagents } from './subagents.ts';
import { readLimit, resetFromEpoch } from './usageLimit.ts';

/** One rejected login may be caused by a token being renewed; after a second one the CLI keeps trying in vain. */
const MAX_REFUSED_LOGINS = 2;

type SystemEvent = Fields<
  | 'subtype'
  // init
  | 'session_id'
  | 'model'
  | 'cwd'
  | 'claude_code_version'
  | 'apiKeySource'
  // api_retry
  | 'attempt'
  | 'max_retries'
  | 'retry_delay_ms'
  | 'error_status'
  | 'error'
  // permission_denied
  | 'tool_name'
  | 'tool_use_id'
  | 'message'
  // task_notification
  | 'status'
  | 'summary'
  | 'usage'
  // compact_boundary
  | 'compact_metadata'
>;
/** `task_description`: newer versions repeat it in the messages of a subagent. */
type OfParent = Fields<'parent_tool_use_id' | 'task_description'>;
type AssistantEvent = Fields<'message' | 'error'> & OfParent;
type UserEvent = Fields<'message' | 'tool_use_result'> & OfParent;
type RawResult = Fields<
  | 'subtype'
  | 'is_error'
  | 'result'
  | 'structured_output'
  | 'num_turns'
  | 'total_cost_usd'
  | 'duration_ms'
  | 'usage'
  | 'errors'
  | 'api_error_status'
  | 'permission_denials'
>;
type LimitInfo = Fields<
  'status' | 'resetsAt' | 'rateLimitType' | 'isUsingOverage' | 'overageStatus'
>;
/** Types of lines that are decoded. */
const readTypes: ReadonlySet<string> = new Set([
  'system',
  'assistant',
  'user',
  'result',
  'rate_limit_event',
]);
const readSubtypes: ReadonlySet<string> = new Set([
  'init',
  'api_retry',
  'permission_denied',
  'task_notification',
  'compact_boundary',
]);
const activity: readonly AgentEvent[] = [{ type: 'activity' }];

/** Decodes the output of `claude -p --output-format stream-json --verbose`. */
export class StreamJsonDecoder implements AgentDecoder {
  private cwd = '';
  /** `error` of the latest assistant message: the `result` that follows only has the status. */
  private lastError: string | undefined;
  private refusedLogins = 0;
  private readonly subagents = new Subagents();
  private readonly now: () => number;

  /** @param now clock in ms since the epoch, used to interpret "resets 5pm" */
  constructor(now: () => number = Date.now) {
    this.now = now;
  }

  decode(line: string): readonly AgentEvent[] {
    if (isSignOfLife(line)) return activity;
    if (line.trim() === '') return [];
    const event = jsonOf(line);
    if (!isRecord(event)) return [{ type: 'unknown', line }];
    switch ((event as Fields<'type'>).type) {
      case 'system':
        return this.decodeSystem(event);
      case 'assistant':
        return orActivity(this.decodeAssistant(event));
      case 'user':
        return orActivity(this.decodeUser(event));
      case 'result':
        return [this.decodeResult(event)];
      case 'rate_limit_event':
        return [this.decodeLimit(event)];
      default:
        return typeof (event as Fields<'type'>).type === 'string'
          ? activity
          : [{ type: 'unknown', line }];
    }
  }

  private decodeSystem(system: SystemEvent): readonly AgentEvent[] {
    switch (system.subtype) {
      case 'init':
        this.cwd = text(system.cwd) ?? this.cwd;
        return [decodeInit(system)];
      case 'api_retry':
        return this.decodeRetry(system);
      case 'permission_denied':
        return [
          {
            type: 'denied',
            tool: text(system.tool_name) ?? '',
            message: text(system.message) ?? '',
            parent: this.subagents.callerOf(text(system.tool_use_id)),
          },
        ];
      case 'task_notification':
        return this.decodeTaskEnd(system);
      case 'compact_boundary':
        return [decodeCompaction(system)];
      default:
        return activity;
    }
  }

  /** Also sent for commands in the background, which are no subagents. */
  private decodeTaskEnd(system: SystemEvent): readonly AgentEvent[] {
    const ended = this.subagents.end(text(system.tool_use_id) ?? '');
    if (ended === undefined) return activity;
    const usage: Fields<'total_tokens' | 'tool_uses' | 'duration_ms'> = isRecord(system.usage)
      ? system.usage
      : {};
    const status = text(system.status) ?? 'completed';
    return [
      {
        type: 'subagentEnded',
        ...ended,
        isError: status !== 'completed',
        gist: gistOf(text(system.summary) ?? (status === 'completed' ? '' : status)),
        durationMs: count(usage.duration_ms),
        tokens: count(usage.total_tokens),
        toolCalls: count(usage.tool_uses),
      },
    ];
  }

  private decodeRetry(system: SystemEvent): AgentEvent[] {
    const status = count(system.error_status);
    const error = text(system.error) ?? 'unknown';
    const retry: AgentEvent = {
      type: 'retry',
      attempt: count(system.attempt) ?? 0,
      maxAttempts: count(system.max_retries) ?? 0,
      delayMs: count(system.retry_delay_ms) ?? 0,
      status,
      error,
    };
    const kind = kindOf(error, status);
    this.refusedLogins = kind === 'authentication' ? this.refusedLogins + 1 : 0;
    if (kind === 'billing' || this.refusedLogins >= MAX_REFUSED_LOGINS) {
      const message = status === undefined ? error : `${error} (status ${status})`;
      return [retry, { type: 'fatal', error: { kind: kind ?? 'other', message } }];
    }
    return [retry];
  }

  private decodeLimit(event: Fields<'rate_limit_info'>): AgentEvent {
    const info: LimitInfo = isRecord(event.rate_limit_info) ? event.rate_limit_info : {};
    // If the account has credits beyond the subscription, the call continues despite the limit.
    const isExtended =
      info.isUsingOverage === true ||
      (info.isUsingOverage === undefined &&
        (info.overageStatus === 'allowed' || info.overageStatus === 'allowed_warning'));
    if (info.status !== 'rejected' || isExtended) return { type: 'activity' };
    const resets = count(info.resetsAt);
    const resetsAt = resets === undefined ? undefined : resetFromEpoch(resets, this.now());
    const limitType = text(info.rateLimitType);
    return {
      type: 'limit',
      resetsAt,
      limitType,
    };
  }

  private decodeAssistant(event: AssistantEvent): AgentEvent[] {
    // The failure of a subagent; the agent itself may continue.
    if (text(event.parent_tool_use_id) === undefined) this.lastError = text(event.error);
    if (this.lastError === undefined) this.refusedLogins = 0;
    const message = messageOf(event.message);
    const { content } = message;
    const usage = decodeUsage(message);
    const parent = this.parentOf(event);
    if (typeof content === 'string') {
      return content === '' ? usage : [{ type: 'text', text: content, parent }, ...usage];
    }
    const events: AgentEvent[] = [];
    for (const block of blocksOf(content)) {
      const said = block.type === 'text' ? text(block.text) : undefined;
      if (said) {
        events.push({ type: 'text', text: said, parent });
      } else if (block.type === 'tool_use') {
        const id = text(block.id) ?? '';
        const name = text(block.name) ?? '';
        const gist = isRecord(block.input) ? gistOfInput(block.input, this.cwd) : '';
        this.subagents.called({ id, name, gist, parent });
        events.push({ type: 'tool', id, name, gist, parent });
      }
    }
    events.push(...usage);
    return events;
  }

  private parentOf({ parent_tool_use_id, task_description }: OfParent): Subagent | undefined {
    const id = text(parent_tool_use_id);
    return id === undefined
      ? undefined
      : this.subagents.find(id, gistOf(text(task_description) ?? ''));
  }

  private decodeUser(event: UserEvent): AgentEvent[] {
    const parent = this.parentOf(event);
    return blocksOf(messageOf(event.message).content).flatMap((block): AgentEvent[] => {
      if (block.type !== 'tool_result') return [];
      const id = text(block.tool_use_id) ?? '';
      const isError = block.is_error === true;
      this.subagents.returned(id);
      if (!isError && this.subagents.has(id)) {
        return this.decodeReport(id, block.content, event.tool_use_result);
      }
      const gist = gistOf(resultText(block.content));
      return [{ type: 'toolResult', id, isError, gist, ...headOf(block.content), parent }];
    });
  }

  /** The report of a subagent is for the agent. Usually its end was announced, and then it has nothing new. */
  private decodeReport(id: string, content: unknown, result: unknown): AgentEvent[] {
    const facts: Fields<'status' | 'totalDurationMs' | 'totalTokens' | 'totalToolUseCount'> =
      isRecord(result) ? result : {};
    // It works in the background, and its end follows.
    const ended = facts.status === 'async_launched' ? undefined : this.subagents.end(id);
    return ended === undefined
      ? []
      : [
          {
            type: 'subagentEnded',
            ...ended,
            isError: false,
            gist: gistOf(resultText(content)),
            durationMs: count(facts.totalDurationMs),
            tokens: count(facts.totalTokens),
            toolCalls: count(facts.totalToolUseCount),
          },
        ];
  }

  private decodeResult(result: RawResult): ResultEvent {
    // A failed call has `subtype: "success"` with `is_error: true`, so both must be checked.
    const isError = result.is_error === true || text(result.subtype)?.startsWith('error') === true;
    const error = isError ? this.errorOf(result) : undefined;
    this.lastError = undefined;
    const costUsd = count(result.total_cost_usd);
    const usage = usageOf(result.usage);
    const durationMs = count(result.duration_ms);
    const denials = Array.isArray(result.permission_denials) ? result.permission_denials.length : 0;
    return {
      type: 'result',
      isError,
      error,
      text: text(result.result) ?? '',
      structured: result.structured_output != null ? result.structured_output : undefined,
      turns: count(result.num_turns) ?? 0,
      costUsd,
      usage,
      durationMs,
      permissionDenials: denials > 0 ? denials : undefined,
    };
  }

  private errorOf(result: RawResult): AgentError {
    const errors: readonly unknown[] = Array.isArray(result.errors) ? result.errors : [];
    const first = errors.find(item => typeof item === 'string');
    const message = (text(result.result) || first) ?? text(result.subtype) ?? '';
    if (result.subtype === 'error_max_turns') return { kind: 'maxTurns', message };
    if (result.subtype === 'error_max_budget_usd') return { kind: 'budget', message };
    // The message takes precedence: for a subscription that is used up, the status only means "too many requests".
    const limit = readLimit(message, this.now());
    return limit === undefined
      ? { kind: kindOfFailure(this.lastError, count(result.api_error_status), message), message }
      : { message, ...limit };
  }
}

function decodeCompaction({ compact_metadata: metadata }: SystemEvent): AgentEvent {
  const { pre_tokens: tokens }: Fields<'pre_tokens'> = isRecord(metadata) ? metadata : {};
  return { type: 'compacted', tokens: count(tokens) };
}

/**
 * Whether the line can only be a sign of life, judged by its start: the CLI prints `type` first and `subtype`
 * second, and many lines (progress, partial messages) need not be parsed at all.
 */
function isSignOfLife(line: string): boolean {
  if (!line.startsWith('{"type":"') || !line.endsWith('}')) return false;
  const end = line.indexOf('"', 9);
  const type = line.slice(9, end);
  if (!/^\w+$/.test(type)) return false;
  if (!readTypes.has(type)) return true;
  if (type !== 'system' || !line.startsWith(',"subtype":"', end + 1)) return false;
  const subtype = line.slice(end + 13, line.indexOf('"', end + 13));
  return /^\w+$/.test(subtype) && !readSubtypes.has(subtype);
}

function decodeInit(system: SystemEvent): AgentEvent {
  const sessionId = text(system.session_id);
  const model = text(system.model);
  const version = text(system.claude_code_version);
  const apiKeySource = text(system.apiKeySource);
  return {
    type: 'init',
    sessionId,
    model,
    version,
    apiKeySource,
  };
}

function messageOf(message: unknown): Message {
  return isRecord(message) ? message : {};
}

/** An event with nothing to display still shows that the agent is alive. */
function orActivity(events: readonly AgentEvent[]): readonly AgentEvent[] {
  return events.length > 0 ? events : activity;
}
