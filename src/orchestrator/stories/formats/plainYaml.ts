import {
  boolCoreTag,
  EVENT_ID,
  type Event,
  getScalarValue,
  type MappingEvent,
  NOT_RESOLVED,
  nullCoreTag,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  type SequenceEvent,
} from 'js-yaml';

/**
 * What the two parsers read differently: one is stricter, or less. What stands at the start of a line is found by looking
 * back, because trying each line takes many times as long; and only behind the rare character, because Node.js 20 would
 * look back from each one.
 */
const ODD = [
  // Line breaks of old, tabs and byte order marks.
  /\r(?!\n)|[\t\uFEFF\0]/,
  // Blocks of text whose indentation is counted, that keep empty lines, or that begin on a line of their own.
  /[|>](?:\+|-?\d|(?<=^ *[|>]))/m,
  // Ends of a document, and what looks like one.
  /---(?<=^ +---)|\.\.\.(?<=^\.\.\.)/m,
  // A comment before a value: the other parser does not read all of them.
  /#(?<=:\s+#)/,
  // js-yaml takes `- "a"b:` for an item and the next key.
  /(?:"(?<=^ *(?:- +)+")[^"\n]*"|'(?<=^ *(?:- +)+')[^'\n]*'|[[{](?<=^ *(?:- +)+[[{])[^\n]*[\]}]) *[^\s:#,"'\]}]/m,
  /[[{](?<=^ *(?:- +)+[[{])[^\n]*[\]}] *["'][^\n"']*["'] *:/m,
];

/** The same number in two spellings is the same key for the other parser. */
const NUMBER_START = /^[-+.\d]/;

/** Words that are no text: true, false, null. */
const WORD_TAGS = [nullCoreTag, boolCoreTag];
/** A longer word is a text. */
const LONGEST_WORD = 'false'.length;

/** What a text says, and where the maps of it begin. */
export interface PlainYaml {
  readonly root: unknown;
  readonly startOf: (map: object) => number;
}

/**
 * Reads YAML without anchors, tags, directives and other rare things, several times as fast as `parseYaml`, and with
 * the same result.
 * @returns `undefined` for all other texts, and for those with errors, which `parseYaml` tells better
 */
export function readPlainYaml(text: string): PlainYaml | undefined {
  if (ODD.some(odd => odd.test(text))) {
    return undefined;
  }
  try {
    return readEvents(parseEvents(text, {}), text);
  } catch {
    return undefined; // The other parser says what is wrong, in the words that people know from here.
  }
}

/**
 * Makes the values of a text from its events, faster than the library, which prepares for each rare thing.
 * @throws {Error} for such a thing
 */
function readEvents(events: readonly Event[], text: string): PlainYaml {
  const starts = new Map<object, number>();
  // Each task has the same keys: each is judged once, and its one text is quicker to use than equal ones.
  const keys = new Map<unknown, string>();
  let at = 1;
  const isOpen = () => events[at]?.type !== EVENT_ID.POP;

  // It may call itself: the library limits how deeply a text is nested.
  function readNode(): unknown {
    const event = events[at++];
    switch (event?.type) {
      case EVENT_ID.SCALAR:
        requirePlain(event);
        return readScalar(event, text);
      case EVENT_ID.SEQUENCE:
        requirePlain(event);
        return readList();
      case EVENT_ID.MAPPING:
        requirePlain(event);
        return readMap(event.start);
      default:
        throw new Error('an alias, or nothing');
    }
  }

  function readList(): unknown[] {
    const list: unknown[] = [];
    while (isOpen()) {
      list.push(readNode());
    }
    at++;
    return list;
  }

  function readMap(start: number): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    starts.set(map, start);
    let count = 0;
    for (; isOpen(); count++) {
      map[readKey()] = readNode();
    }
    if (Object.keys(map).length < count) {
      throw new Error('a repeated key, or "__proto__"');
    }
    at++;
    return map;
  }

  function readKey(): string {
    const node = readNode();
    const known = keys.get(node);
    if (known !== undefined) {
      return known;
    }
    const key = commonKey(node);
    keys.set(key, key);
    return key;
  }

  const [document] = events;
  if (document?.type !== EVENT_ID.DOCUMENT || document.directives.length > 0) {
    throw new Error('no document, or one with a directive');
  }
  const root = readNode();
  if (at + 1 < events.length) {
    throw new Error('a second document');
  }
  return { root, startOf: map => starts.get(map) ?? 0 };
}

function requirePlain(event: MappingEvent | ScalarEvent | SequenceEvent): void {
  if (event.anchorStart !== -1 || event.tagStart !== -1) {
    throw new Error('an anchor or a tag');
  }
}

function commonKey(node: unknown): string {
  if (typeof node !== 'string' || node === '<<' || NUMBER_START.test(node)) {
    throw new Error('a rare key');
  }
  return node;
}

/** Numbers stay as they are written: 1.10 is an id. */
function readScalar(event: ScalarEvent, text: string): unknown {
  const value = getScalarValue(text, event);
  if (event.style !== SCALAR_STYLE.PLAIN || value.length > LONGEST_WORD) {
    return value;
  }
  for (const { resolve, tagName } of WORD_TAGS) {
    const found = resolve(value, false, tagName);
    if (found !== NOT_RESOLVED) {
      return found;
    }
  }
  return value;
}
