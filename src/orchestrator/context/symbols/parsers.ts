import { Tree } from '@lezer/common';
import { parser as cpp } from '@lezer/cpp';
import { parser as go } from '@lezer/go';
import { parser as java } from '@lezer/java';
import { parser as javascript } from '@lezer/javascript';
import type { LRParser } from '@lezer/lr';
import { parser as php } from '@lezer/php';
import { parser as python } from '@lezer/python';
import { parser as rust } from '@lezer/rust';
import type { Language } from './language.ts';

const PARSERS: Readonly<Record<Exclude<Language, 'javascript'>, LRParser>> = {
  ...{ cpp, go, java, php, python, rust },
};
const TYPESCRIPT = javascript.configure({ dialect: 'ts' });
/** In this dialect, a type assertion `<T>x` is an element. */
const ELEMENTS = javascript.configure({ dialect: 'ts jsx' });
/** A parser needs about one step for each token; more is an error of its own. */
const STEPS_PER_UNIT = 4;

/**
 * Parses a source file; wrong parts become error nodes. The tree is empty if the file is nested so deeply that the parser,
 * which calls itself for each level, runs out of stack. In a file of its own next to the bundles (`scripts/build.ts`),
 * which is loaded by the first call.
 * @param hasElements whether it is a file with JSX
 */
export function treeOf(language: Language, text: string, hasElements: boolean): Tree {
  const parser =
    language === 'javascript' ? (hasElements ? ELEMENTS : TYPESCRIPT) : PARSERS[language];
  try {
    return parsed(parser, text);
  } catch (error) {
    if (error instanceof RangeError) {
      return Tree.empty;
    }
    throw error;
  }
}

function parsed(parser: LRParser, text: string): Tree {
  const parse = parser.startParse(text);
  let steps = 1_000 + text.length * STEPS_PER_UNIT;
  for (;;) {
    const tree = parse.advance();
    if (tree !== null) {
      return tree;
    }
    steps -= 1;
    if (steps === 0) {
      parse.stopAt(parse.parsedPos);
    }
  }
}
