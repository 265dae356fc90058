/** Words that say nothing about the code a text is about. */
const COMMON = new Set(
  'the and for with add fix feat chore docs test use this that from when into not remove update refactor to of in on is it as by be an or if at are no'
    .split(' ')
    .map(stem),
);
const MIN_LENGTH = 2;
const MAX_LENGTH = 40;

/**
 * The words of a text or of code, in lower case and without endings. A name of several words, such as `parseUrl` or
 * `MAX_SIZE`, counts as a whole and by its parts.
 */
export function codeWords(text: string): string[] {
  const words: string[] = [];
  const add = (word: string): void => {
    if (word.length >= MIN_LENGTH && word.length <= MAX_LENGTH) {
      words.push(stem(word.toLowerCase()));
    }
  };
  for (const [name] of text.matchAll(/[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*/g)) {
    add(name);
    const parts = name.split(/_|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/);
    if (parts.length > 1) {
      parts.forEach(add);
    }
  }
  return words;
}

/** The words that say what a story is about, each once. */
export function storyWords(text: string): Set<string> {
  return new Set(codeWords(text).filter(word => !COMMON.has(word)));
}

/**
 * What kind of work a subject names: the type and scope of a conventional commit, the first words, a version, a pull
 * request. Each has a prefix that no other word has.
 */
export function kindWords(subject: string): string[] {
  const lower = subject.toLowerCase();
  const [, type, scope] = /^\W*([a-z]+)(?:\(([^)]*)\))?!?\s*:/.exec(lower) ?? [];
  const [first, second] = lower.match(/[a-z]+/g) ?? [];
  return [
    ...(type === undefined ? [] : [`type:${type}`]),
    ...(scope === undefined ? [] : [`scope:${scope}`]),
    ...(first === undefined ? [] : [`first:${first}`]),
    ...(second === undefined ? [] : [`first:${first} ${second}`]),
    ...(/\bv?\d+\.\d+\.\d+/.test(subject) ? ['version'] : []),
    ...(/#\d+/.test(subject) ? ['number'] : []),
  ];
}

/** How often each word occurs. */
export function wordCounts(words: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

/** Cuts the ending off, so that "parsing", "parsed" and "parse" are one word. */
function stem(word: string): string {
  if (word.length <= 4) {
    return /[^isu]s$/.test(word) ? word.slice(0, -1) : word;
  }
  const cut = word
    .replace(/(?:ingly|edly)$/, '')
    .replace(/ies$/, 'y')
    .replace(/(?:ational|ation|ations|ments|ment|ness|ers|ing|ed|es|er|ly|s)$/, (ending, at) =>
      at >= 3 ? '' : ending,
    );
  return cut.replace(/(?<letter>[bdfglmnprt])\k<letter>$/, '$<letter>').replace(/e$/, '');
}
