import type { PastCommit } from '../../git/fileHistory.ts';
import type { IndexedFile } from '../codeIndex.ts';
import { wordCounts } from '../codeWords.ts';
import { best, inUnits, logarithmic } from '../values.ts';
import { WordIndex } from '../wordIndex.ts';

/** Finds the files for a story, best first; as many as it has, up to the limit. */
export type Finder = (story: string, limit: number) => readonly string[];

/** Words of the simple engines: longer than two letters, whole and by their parts, without common endings. */
function plainWords(text: string): string[] {
  const words: string[] = [];
  const add = (word: string): void => {
    if (word.length > 2) {
      words.push(word.toLowerCase().replace(/(?:ing|ed|es|s)$/, ''));
    }
  };
  for (const [name] of text.matchAll(/[A-Za-z][A-Za-z0-9]+/g)) {
    add(name);
    const parts = name.split(/(?=[A-Z])/);
    if (parts.length > 1) {
      parts.forEach(add);
    }
  }
  return words;
}

const COMMON = new Set(
  plainWords(
    'the and for with add fix feat chore docs test tests use this that from when into not remove update refactor',
  ),
);
/** What the mix knows of the past. */
const HISTORY = 3_000;
const MAX_FILES = 30;
const MAX_SUBJECTS = 60;

/**
 * What the engine is compared with: BM25 over contents, and the simple mix of BM25 over contents, paths and subjects of
 * commits, plus how often a file was changed.
 */
export function simpleEngines(
  files: readonly IndexedFile[],
  history: readonly PastCommit[],
): { bm25: Finder; mix: Finder } {
  const subjects = new Map<string, string[]>(files.map(({ path }) => [path, []]));
  for (const { files: changed, size, subject } of history.slice(0, HISTORY)) {
    for (const file of size > MAX_FILES ? [] : changed) {
      subjects.get(file)?.push(subject);
    }
  }
  const own = files.map(({ path }) => subjects.get(path) ?? []);
  const indexOf = (texts: readonly string[]) =>
    WordIndex.of(texts.map(text => wordCounts(plainWords(text))));
  const contents = indexOf(files.map(({ text }) => text));
  const paths = indexOf(files.map(({ path }) => path));
  const past = indexOf(own.map(all => all.slice(0, MAX_SUBJECTS).join(' ')));
  const often = logarithmic(Float64Array.from(own, all => all.length));
  const wordsOf = (story: string) => new Set(plainWords(story).filter(word => !COMMON.has(word)));
  const pathsOf = (scores: Float64Array, limit: number) =>
    best(scores, limit).map(file => files[file]?.path ?? '');
  return {
    bm25: (story, limit) => pathsOf(contents.scores(wordsOf(story)), limit),
    mix: (story, limit) => {
      const words = wordsOf(story);
      const path = inUnits(paths.scores(words));
      const history = inUnits(past.scores(words));
      const scores = inUnits(contents.scores(words)).map(
        (content, i) => content + (path[i] ?? 0) + 1.2 * (history[i] ?? 0) + 0.5 * (often[i] ?? 0),
      );
      return pathsOf(scores, limit);
    },
  };
}

/** What an agent without help does: for each word of the story, the first file that contains it. */
export function keywordGrep(files: readonly IndexedFile[]): Finder {
  const lower = files.map(({ path, text }) => ({ path, text: text.toLowerCase() }));
  return (story, limit) => {
    const found = new Set<string>();
    for (const [word] of story.matchAll(/\b[A-Za-z]{3,}\b/g)) {
      const first = lower.find(({ text }) => text.includes(word.toLowerCase()));
      if (first !== undefined) {
        found.add(first.path);
      }
    }
    return [...found].slice(0, limit);
  };
}
