import * as z from 'zod';
import { shorten, withoutControls } from '../text.ts';
import type { AgentDecoder, AgentErrorKind, AgentEvent, TokenUsage } from './agent.ts';

/** Longest gist in UTF-16 units: one line of a tree view or of a narrow terminal. */
const MAX_GIST = 120;
/** Enough of a text to find its first line in; keeps huge tool results out of the regular expressions. */
const GIST_WINDOW = 4096;

// Every release of the CLI adds events and fields. A field of an unexpected type therefore counts as
// absent, and only what is read here is taken out of an event. `null` is accepted, since the way through
// `catch` is slow and every line has some.
const text = z.string().nullish().catch(undefined);
const count = z.number().nonnegative().nullish().catch(undefined);
const flag = z.boolean().nullish().catch(undefined);
const anything = z.unknown().optional();

const eventSchema = z.object({ type: z.string() });
const userSchema = z.object({ message: anything });
const systemSchema = z.object({
  subtype: text,
  // init
  session_id: text,
  model: text,
  cwd: text,
  claude_code_version: text,
  apiKeySource: text,
  // api_retry
  attempt: count,
  max_retries: count,
  retry_delay_ms: count,
  error_status: count,
  error: text,
  // permission_denied
  tool_name: text,
  message: text,
});
const assistantSchema = z.object({
  message: anything,
  parent_tool_use_id: text,
  error: text,
});
const resultSchema = z.object({
  subtype: text,
  is_error: flag,
  result: text,
  num_turns: count,
  total_cost_usd: count,
  duration_ms: count,
  usage: anything,
  errors: z.array(z.unknown()).nullish().catch(undefined),
  api_error_status: count,
});
type ResultEvent = z.infer<typeof resultSchema>;

const messageSchema = z.object({
  content: z.union([z.string(), z.array(z.unknown())]).catch([]),
});
const blockSchema = z.object({
  type: z.string(),
  text,
  id: text,
  name: text,
  input: z.record(z.string(), z.unknown()).nullish().catch(undefined),
  tool_use_id: text,
  is_error: flag,
  content: anything,
});
type Block = z.infer<typeof blockSchema>;

const usageSchema = z.object({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
});

/** What the CLI calls a failed request, in the words that decide what happens next. */
const errorKinds: ReadonlyMap<string, AgentErrorKind> = new Map([
  ['authentication_failed', 'authentication'],
  ['oauth_org_not_allowed', 'authentication'],
  ['account_on_hold', 'authentication'],
  ['verification_required', 'authentication'],
  ['cloud_credential_error', 'authentication'],
  ['billing_error', 'billing'],
  ['rate_limit', 'rateLimit'],
  ['overloaded', 'overloaded'],
  // No number of retries finds a model that does not exist.
  ['model_not_found', 'other'],
]);

/** Inputs that say in one line what a tool call is about, the most telling first. */
const gistInputs = ['command', 'pattern', 'url', 'query', 'description', 'skill', 'prompt'];
const pathInputs = ['file_path', 'notebook_path'];

/** Decodes what `claude -p --output-format stream-json --verbose` prints. */
export class StreamJsonDecoder implements AgentDecoder {
  private cwd = '';
  /** `error` of the newest assistant message: the `result` that follows carries only the status. */
  private lastError: string | undefined;

  decode(line: string): readonly AgentEvent[] {
    if (line.trim() === '') return [];
    const event = parseJson(line);
    switch (eventSchema.safeParse(event).data?.type) {
      case undefined:
        return [{ type: 'unknown', line }];
      case 'system':
        return [this.decodeSystem(event)];
      case 'assistant':
        return orActivity(this.decodeAssistant(event));
      case 'user':
        return orActivity(blocksOf(userSchema.parse(event).message).flatMap(decodeToolResult));
      case 'result':
        return [this.decodeResult(event)];
      default:
        // Usage-limit notices (`rate_limit_event`) count as a sign of life too, whatever their status.
        return [{ type: 'activity' }];
    }
  }

  private decodeSystem(event: unknown): AgentEvent {
    const system = systemSchema.parse(event);
    switch (system.subtype) {
      case 'init':
        this.cwd = system.cwd ?? this.cwd;
        return {
          type: 'init',
          ...(system.session_id != null && { sessionId: system.session_id }),
          ...(system.model != null && { model: system.model }),
          ...(system.claude_code_version != null && { version: system.claude_code_version }),
          ...(system.apiKeySource != null && { apiKeySource: system.apiKeySource }),
        };
      case 'api_retry':
        return {
          type: 'retry',
          attempt: system.attempt ?? 0,
          maxAttempts: system.max_retries ?? 0,
          delayMs: system.retry_delay_ms ?? 0,
          ...(system.error_status != null && { status: system.error_status }),
          error: system.error ?? 'unknown',
        };
      case 'permission_denied':
        return { type: 'denied', tool: system.tool_name ?? '', message: system.message ?? '' };
      default:
        return { type: 'activity' };
    }
  }

  private decodeAssistant(event: unknown): AgentEvent[] {
    const { message, parent_tool_use_id, error } = assistantSchema.parse(event);
    // A helper's failure is the helper's; the agent may well go on.
    if (parent_tool_use_id == null) this.lastError = error ?? undefined;
    return blocksOf(message).flatMap(block => this.decodeAssistantBlock(block));
  }

  private decodeAssistantBlock(block: Block): AgentEvent[] {
    if (block.type === 'text' && block.text) return [{ type: 'text', text: block.text }];
    if (block.type !== 'tool_use') return [];
    return [
      {
        type: 'tool',
        id: block.id ?? '',
        name: block.name ?? '',
        gist: this.gistOfInput(block.input ?? {}),
      },
    ];
  }

  private gistOfInput(input: Readonly<Record<string, unknown>>): string {
    for (const name of pathInputs) {
      const value = input[name];
      if (typeof value === 'string') return gistOf(this.relativePath(value));
    }
    for (const name of gistInputs) {
      const value = input[name];
      if (typeof value === 'string') return gistOf(value);
    }
    const { path } = input;
    return typeof path === 'string' ? gistOf(this.relativePath(path)) : '';
  }

  private relativePath(file: string): string {
    const inside = this.cwd !== '' && file.startsWith(this.cwd);
    const separator = file.charAt(this.cwd.length);
    return inside && (separator === '/' || separator === '\\')
      ? file.slice(this.cwd.length + 1)
      : file;
  }

  private decodeResult(event: unknown): AgentEvent {
    const result = resultSchema.parse(event);
    // A failed call says `subtype: "success"` with `is_error: true`, so both are needed.
    const isError = result.is_error === true || result.subtype?.startsWith('error') === true;
    const usage = usageOf(result.usage);
    const error = isError ? this.errorOf(result) : undefined;
    this.lastError = undefined;
    return {
      type: 'result',
      isError,
      ...(error !== undefined && { error }),
      text: result.result ?? '',
      turns: result.num_turns ?? 0,
      ...(result.total_cost_usd != null && { costUsd: result.total_cost_usd }),
      ...(usage !== undefined && { usage }),
      ...(result.duration_ms != null && { durationMs: result.duration_ms }),
    };
  }

  private errorOf(result: ResultEvent): { kind: AgentErrorKind; message: string } {
    const first = result.errors?.find(item => typeof item === 'string');
    const message = (result.result || first) ?? result.subtype ?? '';
    return { kind: this.errorKind(result), message };
  }

  private errorKind(result: ResultEvent): AgentErrorKind {
    if (result.subtype === 'error_max_turns') return 'maxTurns';
    if (result.subtype === 'error_max_budget_usd') return 'budget';
    const named = this.lastError === undefined ? undefined : errorKinds.get(this.lastError);
    if (named !== undefined) return named;
    const byStatus = kindOfStatus(result.api_error_status ?? undefined);
    if (byStatus !== undefined) return byStatus;
    // A lost connection has a name but no status; it is as transient as a failed request.
    return this.lastError !== undefined ? 'api' : 'other';
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function blocksOf(message: unknown): Block[] {
  const content = messageSchema.safeParse(message).data?.content ?? [];
  if (typeof content === 'string') return [blockSchema.parse({ type: 'text', text: content })];
  return content.flatMap(item => blockSchema.safeParse(item).data ?? []);
}

function decodeToolResult(block: Block): AgentEvent[] {
  if (block.type !== 'tool_result') return [];
  return [
    {
      type: 'toolResult',
      id: block.tool_use_id ?? '',
      isError: block.is_error === true,
      gist: gistOf(resultText(block.content)),
    },
  ];
}

function resultText(content: unknown): string {
  if (typeof content === 'string')
    return content.slice(0, GIST_WINDOW).replace(/<\/?tool_use_error>/g, '');
  if (!Array.isArray(content)) return '';
  for (const item of content) {
    const block = blockSchema.safeParse(item).data;
    if (block?.type === 'text' && block.text) return resultText(block.text);
  }
  return '';
}

/** An event with nothing to show still proves that the agent is alive. */
function orActivity(events: readonly AgentEvent[]): readonly AgentEvent[] {
  return events.length > 0 ? events : [{ type: 'activity' }];
}

/**
 * The first line with something in it, without the control and direction characters that could make it
 * show something else than it says.
 */
function gistOf(value: string): string {
  const lines = withoutControls(value.slice(0, GIST_WINDOW)).split('\n');
  const first = lines.find(line => line.trim() !== '') ?? '';
  return shorten(first.replace(/\p{Bidi_Control}/gu, ''), MAX_GIST);
}

function usageOf(value: unknown): TokenUsage | undefined {
  const usage = usageSchema.safeParse(value).data;
  if (usage === undefined) return undefined;
  return {
    input: usage.input_tokens ?? 0,
    output: usage.output_tokens ?? 0,
    cacheRead: usage.cache_read_input_tokens ?? 0,
    cacheWrite: usage.cache_creation_input_tokens ?? 0,
  };
}

function kindOfStatus(status: number | undefined): AgentErrorKind | undefined {
  switch (status) {
    case undefined:
      return undefined;
    case 401:
    case 403:
      return 'authentication';
    case 402:
      return 'billing';
    case 429:
      return 'rateLimit';
    case 529:
      return 'overloaded';
    default:
      return 'api';
  }
}
