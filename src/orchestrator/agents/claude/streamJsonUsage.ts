import type { AgentEvent, RequestUsage, TokenUsage } from '../agent.ts';
import { blocksOf, count, type Fields, isRecord, text } from '../jsonFields.ts';

/** Nesting limit for the inputs of tools. Anything deeper, which is not expected, is not counted. */
const MAX_DEPTH = 8;

/** The fields of an assistant's or a user's `message` that are read. */
export type Message = Fields<'id' | 'model' | 'content' | 'usage'>;

/** An API error is also reported as a message, which no model has written. */
const SYNTHETIC = '<synthetic>';

/** The usage of a message, to estimate a call without a result; empty if the message has none. */
export function decodeUsage(message: Message): AgentEvent[] {
  const usage = requestUsageOf(message.usage);
  const model = text(message.model);
  if (usage === undefined || model === SYNTHETIC) return [];
  const messageId = text(message.id);
  return [
    {
      type: 'usage',
      messageId,
      model,
      usage,
      outputChars: writtenLength(message.content),
    },
  ];
}

function requestUsageOf(value: unknown): RequestUsage | undefined {
  const usage = usageOf(value);
  if (usage === undefined) return undefined;
  const { cache_creation } = value as Fields<'cache_creation'>;
  const cacheWrite5m = isRecord(cache_creation)
    ? count((cache_creation as Fields<'ephemeral_5m_input_tokens'>).ephemeral_5m_input_tokens)
    : undefined;
  return { ...usage, cacheWrite5m };
}

/** Length of the model's output. Thinking with hidden text has a signature that grows with it. */
function writtenLength(content: unknown): number {
  if (typeof content === 'string') return content.length;
  let length = 0;
  for (const { data, input, signature, text: said, thinking } of blocksOf(content)) {
    length += lengthOf([said, thinking, signature, data, input]);
  }
  return length;
}

/** Total length of all strings in it. */
function lengthOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return 0;
  let length = 0;
  for (const part of Array.isArray(value) ? value : Object.values(value)) {
    length += lengthOf(part, depth + 1);
  }
  return length;
}

/** Token counts in the API's format; `undefined` if there are none. */
export function usageOf(value: unknown): TokenUsage | undefined {
  if (!isRecord(value)) return undefined;
  const usage: Fields<
    'input_tokens' | 'output_tokens' | 'cache_read_input_tokens' | 'cache_creation_input_tokens'
  > = value;
  return {
    input: count(usage.input_tokens) ?? 0,
    output: count(usage.output_tokens) ?? 0,
    cacheRead: count(usage.cache_read_input_tokens) ?? 0,
    cacheWrite: count(usage.cache_creation_input_tokens) ?? 0,
  };
}
