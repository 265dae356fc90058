import type { RunEvent } from './events.ts';

/**
 * What agents say and do. A call has thousands of these events. They are only displayed: no decision depends on
 * them.
 */
const CHATTER = [
  'agent.text',
  'agent.tool',
  'agent.toolResult',
  'agent.toolFailed',
  'agent.subagentEnded',
  'agent.retry',
  'agent.denied',
  'agent.output',
] as const satisfies readonly RunEvent['type'][];

const types: ReadonlySet<string> = new Set(CHATTER);
/**
 * The start of a line as our own writers write it. The type cannot be matched inside a text, because quotes are
 * escaped there.
 */
const line = new RegExp(
  `^\\{"seq":\\d{1,15},"at":"[^"]{0,40}","type":"(${CHATTER.map(type => type.replace('.', '\\.')).join('|')})"`,
);

export function isChatter({ type }: RunEvent): boolean {
  return types.has(type);
}

/**
 * Recognizes such a journal line by its start, which is much faster than parsing it.
 * @returns its type; `undefined` for any other line, including one with its fields in another order
 */
export function isChatterLine(text: string): boolean {
  return line.test(text);
}

/**
 * Like {@link isChatterLine}, for events that are displayed as the agent's current activity.
 * @returns the iteration as the line has it (`""` in journals that did not have it yet); `undefined` for any other line
 */
export function activityOfLine(text: string): string | undefined {
  const [, type] = line.exec(text) ?? [];
  if (type !== 'agent.text' && type !== 'agent.tool') {
    return;
  }
  // This key cannot be matched inside a text either.
  return /"iteration":(\d{1,15})/.exec(text)?.[1] ?? '';
}
