/**
 * A sentence of ours, as data: an English template, which is also the key of its translations, and the values of its
 * places. A value can be such a sentence, too. Journals, errors and other files hold this; the text is made where
 * somebody reads it, in the reader's language.
 */
export interface Message {
  readonly key: string;
  readonly args: readonly (string | number | boolean | Message)[];
}

/** Words for people: a sentence of ours, or a text of somebody else (an agent, a tool, the system). */
export type Words = Message | string;

/**
 * Maximum length of all values in a text, in UTF-16 units: a message may come from a file, and few nested ones could
 * otherwise make a text of any length.
 */
const MAX_VALUES = 100_000;

/**
 * A sentence for people, from an English template and its arguments: `say('There is no {0}.', name)`. All sentences of
 * the loop are created with this function, each as a whole; `npm run l10n` collects the templates.
 */
export function say(template: string, ...args: Message['args']): Message {
  return { key: template, args };
}

/** Several sentences in a row, or with something else between them. */
export function sentences(parts: readonly Words[], between = ' '): Message {
  return { key: parts.map((_, index) => `{${index}}`).join(between), args: parts };
}

/** The English text: for prompts, logs, the command line, and other programs. */
export function englishOf(words: Words): string {
  return textOf(words, key => key);
}

/**
 * The text of a message in any language.
 * @param template returns the template for a key
 */
export function textOf(words: Words, template: (key: string) => string): string {
  let left = MAX_VALUES;
  const make = (part: Words): string =>
    typeof part === 'string'
      ? part
      : template(part.key).replace(/\{(\d+)\}/g, (place, index) => {
          const value = part.args[Number(index)];
          if (value === undefined) {
            return place;
          }
          if (left <= 0) {
            return '…';
          }
          const text = typeof value === 'object' ? make(value) : String(value);
          left -= text.length + 1;
          return text;
        });
  return make(words);
}

/** The words with all texts of somebody else changed, such as shortened; the sentences of ours stay as they are. */
export function withTexts<T extends Words>(words: T, change: (text: string) => string): T;
export function withTexts(words: Words, change: (text: string) => string): Words {
  return typeof words === 'string'
    ? change(words)
    : {
        key: words.key,
        args: words.args.map(arg =>
          typeof arg === 'string' || typeof arg === 'object' ? withTexts(arg, change) : arg,
        ),
      };
}

/** Without repeated ones. */
export function distinct<T extends Words>(words: readonly T[]): T[] {
  return [...new Map(words.map(one => [englishOf(one), one])).values()];
}
