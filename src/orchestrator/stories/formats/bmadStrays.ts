import { isAlias, isMap, isScalar, isSeq } from 'yaml';
import { type Message, say } from '../../../base/say.ts';
import { otherListMessage } from '../storyProblems.ts';
import { isNameOfOthers, isNameOfPast } from './listNames.ts';
import { plainText } from './plainText.ts';
import { isDoneWord, isParkedWord } from './prdKeys.ts';
import { isKnownStatus } from './statusWord.ts';

/** The key of the map with the stories of BMAD. */
export const LIST = 'development_status';

/** A story where BMAD has none, so that nothing reads it. */
export interface Stray {
  readonly message: Message;
  /** Offset of its key. */
  readonly start: number;
}

/** What tells a story from an epic or anything else. */
interface Keys {
  /** Whether a key is one of a story that the list does not have. */
  readonly isMissing: (key: string) => boolean;
  /** Whether a key of the list is a story that is read. */
  readonly isRead: (key: string) => boolean;
  readonly isEpic: (key: string) => boolean;
}

/** Stories that are indented too far, or too little: a list must not become shorter without a word. */
export function strayStories(root: unknown, keys: Keys): Stray[] {
  return pairsOf(root).flatMap(({ key, value }) => {
    const name = nameOf(key);
    if (name === LIST) {
      return pairsOf(value).flatMap(pair => belowPair(pair, keys));
    }
    if (keys.isMissing(name) && isState(value)) {
      const message = say(
        '"{0}" is not read as a story, because it is not below "{1}:". Move it there, and indent it like the stories there.',
        plainText(name),
        LIST,
      );
      return [{ message, start: startOf(key) }];
    }
    return keys.isEpic(name)
      ? belowPair({ key, value }, keys)
      : otherMap({ key, value }, keys.isMissing);
  });
}

/** The keys of the list with stories below them. */
export function keysAbove(list: unknown, keys: Keys): ReadonlySet<string> {
  return new Set(
    pairsOf(list)
      .filter(pair => belowPair(pair, keys).length > 0)
      .map(({ key }) => nameOf(key)),
  );
}

/** The stories below a key of the list. */
function belowPair({ key, value }: Pair, { isMissing, isRead }: Keys): Stray[] {
  const name = nameOf(key);
  // What a story names in a list is what it waits for.
  const hasNames = !isRead(name);
  return [...storiesIn(value, isMissing, hasNames)].map(story => ({
    message: say(
      '"{0}" is not read as a story, because it is below "{1}". Write it directly below "{2}:", as in "{0}: backlog".',
      plainText(nameOf(story)),
      plainText(name),
      LIST,
    ),
    start: startOf(story),
  }));
}

/** Keys under which an item of a list may name its story. */
const NAME_KEYS: ReadonlySet<string> = new Set(['id', 'key', 'name', 'story', 'story_key']);

/** @param hasNames whether a name alone, in a list, is a story */
function* storiesIn(
  node: unknown,
  isMissing: Keys['isMissing'],
  hasNames: boolean,
): Generator<unknown> {
  for (const { key, value } of pairsOf(node)) {
    if (isMissing(nameOf(key)) && isState(value)) {
      yield key;
    } else {
      yield* storiesIn(value, isMissing, hasNames);
    }
  }
  for (const item of isSeq(node) ? node.items : []) {
    const named = pairsOf(item).find(
      ({ key, value }) => NAME_KEYS.has(nameOf(key)) && isMissing(nameOf(value)),
    );
    const story = named === undefined ? item : named.value;
    if (hasNames && isMissing(nameOf(story))) {
      yield story;
    } else {
      yield* storiesIn(item, isMissing, hasNames);
    }
  }
}

/** Another key of the file with stories and their states. Those that only describe stories have other values. */
function otherMap({ key, value }: Pair, isMissing: Keys['isMissing']): Stray[] {
  const states = [...statesBelow({ key, value }, isMissing)];
  // A list in which nothing is left to do is an archive.
  return states.every(state => isDoneWord(state) || isParkedWord(state))
    ? []
    : [{ message: otherListMessage(nameOf(key), states.length, LIST), start: startOf(key) }];
}

function* statesBelow({ key, value }: Pair, isMissing: Keys['isMissing']): Generator<string> {
  // The list of BMAD is itself one of states, so that the word alone does not make a key one of other things.
  const name = nameOf(key).replaceAll(/status(?:es)?/gi, '');
  if (!isNameOfPast(name) && !isNameOfOthers(name)) {
    yield* statesIn(value, isMissing);
  }
}

/** The states of stories there: the word of a key, or that of an entry with an id. */
function* statesIn(node: unknown, isMissing: Keys['isMissing']): Generator<string> {
  for (const { key, value } of pairsOf(node)) {
    const state = isMissing(nameOf(key)) ? (knownWord(value) ?? stateOf(value)) : undefined;
    if (state === undefined) {
      yield* statesBelow({ key, value }, isMissing);
    } else {
      yield state;
    }
  }
  for (const item of isSeq(node) ? node.items : []) {
    const isStory = pairsOf(item).some(
      ({ key, value }) => NAME_KEYS.has(nameOf(key)) && isMissing(nameOf(value)),
    );
    const state = isStory ? stateOf(item) : undefined;
    if (state === undefined) {
      yield* statesIn(item, isMissing);
    } else {
      yield state;
    }
  }
}

function stateOf(node: unknown): string | undefined {
  return pairsOf(node)
    .map(({ key, value }) => (nameOf(key) === 'status' ? knownWord(value) : undefined))
    .find(word => word !== undefined);
}

function knownWord(node: unknown): string | undefined {
  const word = isScalar(node) ? node.value : undefined;
  return typeof word === 'string' && isKnownStatus(word) ? word : undefined;
}

/** Whether a value can be the state of a story: nothing yet, a word, or a map with one. */
function isState(value: unknown): boolean {
  if (!isScalar(value)) {
    return value === null || isMap(value) || isAlias(value);
  }
  const word = value.value ?? '';
  return typeof word === 'string' && (isKnownStatus(word) || /^[a-z][a-z_-]*$/i.test(word.trim()));
}

interface Pair {
  readonly key: unknown;
  readonly value: unknown;
}

function pairsOf(node: unknown): readonly Pair[] {
  return isMap(node) ? node.items : [];
}

function nameOf(key: unknown): string {
  return isScalar(key) && typeof key.value === 'string' ? key.value : '';
}

function startOf(key: unknown): number {
  return isScalar(key) ? (key.range?.[0] ?? 0) : 0;
}
