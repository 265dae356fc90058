import {
  boolCoreTag,
  constructFromEvents,
  defineMappingTag,
  EVENT_ID,
  type Event,
  FAILSAFE_SCHEMA,
  mapTag,
  nullCoreTag,
  parseEvents,
} from 'js-yaml';

/**
 * What the two parsers read differently: one is stricter, or less. What stands at the start of a line is found by looking
 * back from a rare character, because trying each line takes many times as long.
 */
const ODD = [
  // Line breaks of old, tabs and byte order marks.
  /\r(?!\n)|[\t\uFEFF\0]/,
  // Blocks of text whose indentation is counted, that keep empty lines, or that begin on a line of their own.
  /[|>](?:\+|-?\d)|(?<=^ *)[|>]/m,
  // Ends of a document, and what looks like one.
  /(?<=^ +)---|^\.\.\./m,
  // A comment before a value: the other parser does not read all of them.
  /(?<=:\s+)#/,
  // js-yaml takes `- "a"b:` for an item and the next key.
  /^ *(?:- +)+(?:"[^"\n]*"|'[^'\n]*'|[[{][^\n]*[\]}]) *[^\s:#,"'\]}]/m,
  /^ *(?:- +)+[[{][^\n]*[\]}] *["'][^\n"']*["'] *:/m,
];

/** The same number in two spellings is the same key for the other parser. */
const NUMBER_START = /^[-+.\d]/;

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
  const maps: object[] = [];
  try {
    const events = parseEvents(text, {});
    const starts: number[] = [];
    for (const event of events) {
      if (!isPlain(event)) {
        return undefined;
      }
      if (event.type === EVENT_ID.MAPPING) {
        starts.push(event.start);
      }
    }
    const documents = constructFromEvents(events, { source: text, schema: schemaOf(maps) });
    if (documents.length !== 1) {
      return undefined;
    }
    // A map is made for each such event, in their order.
    const startOf = new Map(maps.map((map, index) => [map, starts[index] ?? 0]));
    return { root: documents[0], startOf: map => startOf.get(map) ?? 0 };
  } catch {
    return undefined; // The other parser says what is wrong, in the words that people know from here.
  }
}

function isPlain(event: Event): boolean {
  switch (event.type) {
    case EVENT_ID.DOCUMENT:
      return event.directives.length === 0;
    case EVENT_ID.ALIAS:
      return false;
    case EVENT_ID.POP:
      return true;
    default:
      return event.anchorStart === -1 && event.tagStart === -1;
  }
}

/** Numbers stay as they are written: 1.10 is an id. Each map is noted when it begins. */
function schemaOf(maps: object[]) {
  return FAILSAFE_SCHEMA.withTags(
    nullCoreTag,
    boolCoreTag,
    defineMappingTag(mapTag.tagName, {
      create: () => {
        const map: Record<string, unknown> = {};
        maps.push(map);
        return map;
      },
      addPair: (map, key, value) =>
        typeof key === 'string' && key !== '<<' && !NUMBER_START.test(key)
          ? mapTag.addPair(map, key, value)
          : 'rare key',
      has: mapTag.has,
      keys: mapTag.keys,
      get: mapTag.get,
      identify: mapTag.identify,
    }),
  );
}
