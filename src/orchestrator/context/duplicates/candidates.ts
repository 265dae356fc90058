import path from 'node:path';
import type { NewCode } from './newCode.ts';
import { isDistinctive, isOrdinary } from './ordinary.ts';

/** What to look for in the project, and which of its files are worth reading. Pure. */
export interface Candidates {
  /** Words of which a file must have some to be of interest. */
  readonly words: readonly string[];
  /**
   * The files to read, the most promising ones first.
   * @param found by file, the words that it has
   */
  files(found: ReadonlyMap<string, ReadonlySet<string>>): readonly string[];
}

/** Words that are no expressions for git. */
const PLAIN = /^\w{3,}$/;
/** Words of a body that its copy has as well, but for one. */
const WORDS_OF_BODY = 4;
const MIN_TOKENS = 40;
const MAX_WORDS = 160;
const MAX_FILES = 60;

/** What a copy of the new code would have in common with it: its name, and the longest names that it uses. */
export function candidatesFor({ files, functions }: NewCode): Candidates {
  const names = new Set(
    functions.flatMap(({ symbol }) =>
      symbol.kind === 'function' && isDistinctive(symbol.name) ? [symbol.name] : [],
    ),
  );
  const bodies = [...functions, ...files].flatMap(({ print }) =>
    print.tokens.length < MIN_TOKENS
      ? []
      : [
          [...print.names]
            .filter(name => PLAIN.test(name))
            .sort((a, b) => b.length - a.length)
            .slice(0, WORDS_OF_BODY),
        ],
  );
  const words = [...new Set([...names, ...bodies.flat()])].filter(word => PLAIN.test(word));
  const baseNames = new Set(files.map(({ file }) => path.posix.basename(file)));
  return {
    words: words.slice(0, MAX_WORDS),
    files: found => {
      const rated = [...found].flatMap(([file, own]) => {
        const isNamed = [...own].some(word => names.has(word));
        const most = Math.max(0, ...bodies.map(body => body.filter(word => own.has(word)).length));
        const isLike = most >= WORDS_OF_BODY - 1;
        const rating =
          Number(isNamed) * 2 +
          Number(isLike) * most +
          Number(baseNames.has(path.posix.basename(file)));
        return (isNamed || isLike) && isOrdinary(file) ? [{ file, rating }] : [];
      });
      return rated
        .sort((a, b) => b.rating - a.rating || (a.file < b.file ? -1 : 1))
        .slice(0, MAX_FILES)
        .map(({ file }) => file);
    },
  };
}
