// Every release of the CLI adds events and fields. A field of an unexpected type therefore counts as absent, and
// only the fields used here are read. No schema is used, because validation took more time than JSON.parse itself.
/** An object with these optional, unvalidated fields. */
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

/** Whether it is an object, but not a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value, if it is a string. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The value, if it is a finite, non-negative number. */
export function count(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value) ? value : undefined;
}

/** The blocks of a message's `content`; empty if it has none. */
export function blocksOf(content: unknown): Block[] {
  return Array.isArray(content) ? content.filter(isRecord) : [];
}
