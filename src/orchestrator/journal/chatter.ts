import type { RunEvent } from './events.ts';

/** What agents say and do between the events that decide. A call has thousands of them, and they are shown, not used. */
const CHATTER = [
  'agent.text',
  'agent.tool',
  'agent.toolResult',
  'agent.toolFailed',
  'agent.retry',
  'agent.denied',
  'agent.output',
] as const satisfies readonly RunEvent['type'][];

const types: ReadonlySet<string> = new Set(CHATTER);
/** As our own writers begin a line; the type is what is not in quotes of a text. */
const line = new RegExp(
  `^\\{"seq":\\d{1,15},"at":"[^"]{0,40}","type":"(${CHATTER.map(type => type.replace('.', '\\.')).join('|')})"`,
);

export function isChatter({ type }: RunEvent): boolean {
  return types.has(type);
}

/**
 * Tells such a line of a journal by its beginning, far quicker than by parsing it.
 * @returns its type; `undefined` for any other line, and for one that another writer has written in another order
 */
export function isChatterLine(text: string): boolean {
  return line.test(text);
}

/** As {@link isChatterLine}, of what shows as what an agent does now. */
export function isActivityLine(text: string): boolean {
  const [, type] = line.exec(text) ?? [];
  return type === 'agent.text' || type === 'agent.tool';
}
