import { once } from '../../../base/once.ts';
import type { Checkbox } from './markdownBlocks.ts';
import { isParkedWord, normaliseWord, PARKED_WORDS } from './prdKeys.ts';
import { isTicked } from './tickMark.ts';

/** The id of an item, a dash after it, and tags such as `[P]` and `[US1]`. All bounded: a line may be very long. */
const BEFORE =
  '(?:[*_`[]{0,3}(?:[A-Z]{1,9}-){0,2}[A-Z]{0,9}\\d[\\w.-]{0,40}[*_`\\]:.)]{0,4}\\s{1,4}(?:[-\\u2013\\u2014]\\s{1,4})?)?(?:\\[[\\w-]{1,9}\\]\\s{1,4}){0,3}';

/** Agents write "Discovered: …" for work that is to be done; as a status of its own it is not. */
const WORDS = [...PARKED_WORDS].filter(word => word !== 'discovered');
const start = once(() => new RegExp(`^${BEFORE}`, 'iu'));
/** What an item that is struck through says. */
const STRUCK = 'dropped';
const aside = once(() => {
  const words = WORDS.join('|');
  return new RegExp(`^${BEFORE}[*_]{0,2}([([]?)(${words})(?![\\p{L}\\p{N}_])`, 'iu');
});

/**
 * The word with which each item of a plan says that nobody is to work on it, such as `dropped`, in the order of the
 * items. A mark of its own exists for that in no tool, so people take one for work in progress and begin the text with
 * the word: `- [~] T062 DROPPED - …`. Others strike the whole text of an open item through. What is indented below such an item is put
 * aside with it.
 */
export function asideWords(items: readonly Checkbox[]): readonly (string | undefined)[] {
  const words: (string | undefined)[] = [];
  const around = itemsAround(items);
  items.forEach((item, position) => {
    // What is done may be struck through as well, and its open parts are still work.
    const isDropped = !isTicked(item.mark) && struckText(item.text) !== undefined;
    const word = isDropped ? STRUCK : asideWord(item);
    words.push(word ?? words[around[position] ?? -1]);
  });
  return words;
}

/** The position of the item around each item by their indentation; `undefined` for those at the margin. */
export function itemsAround(items: readonly Checkbox[]): readonly (number | undefined)[] {
  const open: number[] = [];
  return items.map(({ indent }, position) => {
    while (open.length > 0 && (items[open.at(-1) ?? 0]?.indent ?? 0) >= indent) {
      open.pop();
    }
    const around = open.at(-1);
    open.push(position);
    return around;
  });
}

/** What an item with the mark {@link ASIDE_MARK} says before its title, so that it is read as put aside. */
export function asideLabel(status: string | undefined): string {
  const word = normaliseWord(status ?? '');
  return `(${WORDS.includes(word) ? word : 'deferred'})`;
}

export const ASIDE_MARK = '~';

/** Whether the text of an item with the mark {@link ASIDE_MARK} says that it is put aside. */
export function isAsideText(text: string): boolean {
  return asideWord({ mark: ASIDE_MARK, text }) !== undefined;
}

/**
 * The text of an item without the marks that strike all of it through, or all but its id and tags; `undefined` if there
 * are none, or only around a part.
 */
export function struckText(text: string): string | undefined {
  const [before = ''] = start().exec(text) ?? [];
  const struck = text.slice(before.length);
  const isWhole =
    struck.length > 4 && struck.startsWith('~~') && struck.indexOf('~~', 2) === struck.length - 2;
  return isWhole ? before + struck.slice(2, -2).trim() : undefined;
}

/** Not where the word only begins a sentence, as in "Deferred images load". */
function asideWord({ mark, text }: Pick<Checkbox, 'mark' | 'text'>): string | undefined {
  const found =
    mark === ASIDE_MARK || mark === '-' ? aside().exec(text.replaceAll('\u2019', "'")) : null;
  const [whole = '', bracket, word = ''] = found ?? [];
  if (!isParkedWord(word)) {
    return undefined;
  }
  const rest = text.slice(whole.length);
  const isAlone = /^[*_]{0,2}\s{0,4}(?:$|:|\s[-\u2013\u2014])/.test(rest);
  // Others write more in capitals: "DUPLICATE KEY errors are handled".
  const isShouted = word === word.toUpperCase() && !/^\s+\p{Lu}{2}/u.test(rest);
  return bracket !== '' || isShouted || isAlone ? word.toLowerCase() : undefined;
}
