// Every release of the CLI adds events and fields. A field of an unexpected type therefore counts as absent,
// and only what is read here is taken out of an event. This is by hand, and not by a schema, since a schema
// took more time than JSON.parse itself.
/** An object of which these fields may be read. */
export type Fields<Name extends string> = { readonly [field in Name]?: unknown };

/** A block of a message's `content`. */
export type Block = Fields<
  | 'type'
  | 'text'
  | 'id'
  | 'name'
  | 'input'
  | 'tool_use_id'
  | 'is_error'
  | 'content'
  | 'thinking'
  | 'signature'
  | 'data'
>;

/** Whether it is an object, and no list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text, when it is one. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The number, when it is one that can count something: finite, not negative. */
export function count(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value) ? value : undefined;
}

/** The blocks of a message's `content`, when it has any. */
export function blocksOf(content: unknown): Block[] {
  return Array.isArray(content) ? content.filter(isRecord) : [];
}
