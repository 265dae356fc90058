import type { Vocabulary } from './vocabulary.ts';
import { countsOf, type WordCounts } from './wordIndex.ts';

/** What the index keeps of a file's content; the text itself is not kept. */
export interface FileWords {
  /** Of the text, in UTF-16 units. */
  readonly size: number;
  readonly content: WordCounts;
  /** The words of the names that it defines. */
  readonly definitions: WordCounts;
  /** Of each part of some lines. */
  readonly passages: readonly WordCounts[];
}

/** A passage: so many lines, which overlap the next passage. */
const PASSAGE_STEP = 40;
const PASSAGE_LINES = 50;
/** A definition in the common languages: what introduces it, and its name. */
const DEFINITION =
  /^\s*(?:(?:export|pub(?:\([^)]*\))?|public|private|protected|static|default|async|abstract|final|declare|unsafe|const|override|open|internal|suspend|inline|data|sealed)\s+)*(?:function\*?|class|interface|type|enum|const|let|var|def|fn|func|struct|trait|impl|mod|module|fun|val|object|macro_rules!|#define)\s+(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*)/gm;

/** Reads the words of a file. */
export function fileWordsOf(text: string, vocabulary: Vocabulary): FileWords {
  const lines = text.split('\n').map(line => vocabulary.numbersOf(line));
  const passages: WordCounts[] = [];
  for (let at = 0; at < lines.length; at += PASSAGE_STEP) {
    passages.push(countsOf(...lines.slice(at, at + PASSAGE_LINES)));
  }
  return {
    size: text.length,
    content: countsOf(lines.flat()),
    definitions: countsOf(vocabulary.numbersOf(definitionsIn(text).join(' '))),
    passages,
  };
}

/** The names that a file defines, in order. */
export function definitionsIn(text: string): string[] {
  return Array.from(text.matchAll(DEFINITION), ([, name = '']) => name);
}
