import type { PastCommit } from '../git/fileHistory.ts';
import { codeWords, kindWords, storyWords } from './codeWords.ts';
import { type FileWords, fileWordsOf } from './fileWords.ts';
import { HistoryIndex } from './historyIndex.ts';
import { PassageIndex } from './passageIndex.ts';
import { largest, logarithmic, type Values } from './values.ts';
import { Vocabulary } from './vocabulary.ts';
import { countsOf, type Earlier, type WordCounts, WordIndex, weighted } from './wordIndex.ts';

/** A file with its text. */
export interface IndexedFile {
  /** Relative to the repository's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** A file as the index gets it. */
export interface FileOfIndex {
  /** Relative to the repository's root, with forward slashes. */
  readonly path: string;
  /** The hash of its content, if it is in a repository. */
  readonly blob?: string;
  readonly words: FileWords;
}

/** Commits that changed more files are moves and reformattings: they tell nothing about a file. */
const MAX_FILES = 60;
const MAX_FILES_FOR_WORDS = 30;
/** A body says less per word than a subject. */
const BODY_WEIGHT = 0.35;
const MAX_BODY = 1_500;
/** More files with one name, such as `index.ts`, do not belong together. */
const MAX_PARTNERS = 6;
/** What happened to files in the past, weighted by age; each array has one value for each file. */
interface Past {
  readonly commits: readonly PastCommit[];
  /** Files of each commit, as numbers; empty for those that tell nothing. */
  readonly filesOf: readonly (readonly number[])[];
  /** Words of subjects and bodies, by commit. */
  readonly messages: WordIndex;
  /** What the messages say, by the commit's hash, for the next index. */
  readonly said: ReadonlyMap<string, Message>;
  /** The words of all commits that changed a file, by file. */
  readonly history: HistoryIndex;
  /** How often a file was changed: lately, in recent hundreds of commits, ever; as logarithms, from 0 to 1. */
  readonly lately: Values;
  readonly often: Values;
  readonly ever: Values;
  /** The number of commits that changed a file. */
  readonly changes: Uint32Array;
  /** The number of commits since the last change. */
  readonly age: Values;
  /** By kind of work: the commits that changed any of the files. */
  readonly kinds: ReadonlyMap<string, readonly number[]>;
}

/** What the message of a commit says. */
interface Message {
  readonly words: WordCounts;
  /** Of {@link kindWords}. */
  readonly kinds: readonly string[];
}

/** What a path says by itself. */
interface PathWords {
  readonly path: WordCounts;
  readonly name: WordCounts;
  readonly words: ReadonlySet<string>;
  /** What the file is about, by its name: files with the same one belong together. */
  readonly subject: string;
}

/** What the paths alone say. */
interface PathFacts {
  readonly paths: readonly string[];
  readonly numbers: ReadonlyMap<string, number>;
  readonly ofPaths: readonly PathWords[];
  readonly pathIndex: WordIndex;
  readonly names: WordIndex;
  readonly pathWords: readonly ReadonlySet<string>[];
  readonly folderWords: readonly ReadonlySet<string>[];
  /** The folder of each file, as a number from 0 on. */
  readonly folders: Uint32Array;
  /** By folder: how many files it has. */
  readonly folderSizes: Uint32Array;
  readonly partners: readonly (readonly number[])[];
}

/**
 * What can be said about the files of a repository without knowing the story: their words, names, definitions,
 * passages, and what the commits of the past did to them. In memory; it never changes.
 */
export class CodeIndex {
  readonly paths: readonly string[];
  readonly blobs: readonly (string | undefined)[];
  /** Of each file's text, in UTF-16 units. */
  readonly sizes: readonly number[];
  readonly largestSize: number;
  readonly content: WordIndex;
  readonly definitions: WordIndex;
  readonly passages: PassageIndex;
  readonly past: Past;
  readonly facts: PathFacts;

  /**
   * @param vocabulary the one that the files' words are numbers of
   * @param earlier an index with the same vocabulary: what commits, paths and contents say is taken from it
   */
  constructor(
    files: readonly FileOfIndex[],
    history: readonly PastCommit[],
    vocabulary: Vocabulary,
    earlier?: CodeIndex,
  ) {
    this.paths = files.map(({ path }) => path);
    this.blobs = files.map(({ blob }) => blob);
    this.sizes = files.map(({ words }) => words.size);
    this.largestSize = largest(Float64Array.from(this.sizes));
    this.facts =
      earlier && haveSame(earlier.paths, this.paths)
        ? earlier.facts
        : pathFactsOf(this.paths, vocabulary, earlier?.facts);
    const moved = movedTo(this.facts.numbers, earlier?.paths ?? []);
    const before = <Index>(index: Index | undefined): Earlier<Index> | undefined =>
      index && { index, moved };
    this.past = pastOf(this.facts.numbers, history, vocabulary, earlier?.past.said);
    this.content = new WordIndex(
      vocabulary,
      files.map(({ words }) => words.content),
      before(earlier?.content),
    );
    this.definitions = new WordIndex(
      vocabulary,
      files.map(({ words }) => words.definitions),
      before(earlier?.definitions),
    );
    this.passages = new PassageIndex(
      vocabulary,
      files.map(({ words }) => words.passages),
      before(earlier?.passages),
    );
  }

  /** An index of texts, with a vocabulary of its own. */
  static of(files: readonly IndexedFile[], history: readonly PastCommit[]): CodeIndex {
    const vocabulary = new Vocabulary();
    return new CodeIndex(
      files.map(({ path, text }) => ({ path, words: fileWordsOf(text, vocabulary) })),
      history,
      vocabulary,
    );
  }
}

/** Whether two lists are the same. */
export function haveSame(before: readonly string[], now: readonly string[]): boolean {
  return before.length === now.length && before.every((path, i) => path === now[i]);
}

/** By the number that a file had: its number now; -1 if it is gone. @param before the paths by that number */
function movedTo(numbers: PathFacts['numbers'], before: readonly string[]): Int32Array {
  const moved = new Int32Array(before.length);
  before.forEach((path, file) => {
    moved[file] = numbers.get(path) ?? -1;
  });
  return moved;
}

function pathFactsOf(
  paths: readonly string[],
  vocabulary: Vocabulary,
  earlier?: PathFacts,
): PathFacts {
  const numbers = new Map(paths.map((path, file) => [path, file]));
  const moved = earlier && movedTo(numbers, earlier.paths);
  const before = paths.map(path => earlier?.numbers.get(path) ?? -1);
  const ofPaths = paths.map(
    (path, file) => earlier?.ofPaths[before[file] ?? -1] ?? pathWordsOf(path, vocabulary),
  );
  const indexOf = (counts: readonly WordCounts[], index: WordIndex | undefined): WordIndex =>
    new WordIndex(vocabulary, counts, index && moved && { index, moved });
  // Many files share a folder.
  const known = new Map<string, { number: number; words: ReadonlySet<string>; size: number }>();
  const folderOf = paths.map((path, file) => {
    const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    const own = known.get(folder) ?? {
      number: known.size,
      words: earlier?.folderWords[before[file] ?? -1] ?? new Set(codeWords(folder)),
      size: 0,
    };
    known.set(folder, own);
    own.size += 1;
    return own;
  });
  return {
    paths,
    numbers,
    ofPaths,
    folders: Uint32Array.from(folderOf, ({ number }) => number),
    folderSizes: Uint32Array.from(known.values(), ({ size }) => size),
    pathIndex: indexOf(
      ofPaths.map(({ path }) => path),
      earlier?.pathIndex,
    ),
    names: indexOf(
      ofPaths.map(({ name }) => name),
      earlier?.names,
    ),
    pathWords: ofPaths.map(({ words }) => words),
    folderWords: folderOf.map(({ words }) => words),
    partners: partnersOf(ofPaths.map(({ subject }) => subject)),
  };
}

function pathWordsOf(path: string, vocabulary: Vocabulary): PathWords {
  const name = nameOf(path);
  return {
    path: countsOf(vocabulary.numbersOf(path)),
    name: countsOf(vocabulary.numbersOf(name)),
    words: new Set(codeWords(path)),
    subject: name
      .toLowerCase()
      .replace(/\..*$/s, '')
      .replace(/^tests?[_-]|[_-]?(?:tests?|specs?|it)$/g, ''),
  };
}

/** The file's name without its folder. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function partnersOf(subjects: readonly string[]): number[][] {
  const together = new Map<string, number[]>();
  subjects.forEach((subject, file) => {
    const same = together.get(subject);
    if (same === undefined) {
      together.set(subject, [file]);
    } else {
      same.push(file);
    }
  });
  return subjects.map((subject, file) => {
    const same = together.get(subject) ?? [];
    const isName = subject.length >= 3 && !['index', 'mod', 'readme'].includes(subject);
    return isName && same.length <= MAX_PARTNERS ? same.filter(other => other !== file) : [];
  });
}

function pastOf(
  numbers: PathFacts['numbers'],
  commits: readonly PastCommit[],
  vocabulary: Vocabulary,
  known: Past['said'] = new Map(),
): Past {
  const count = numbers.size;
  const lately = new Float64Array(count);
  const recently = new Float64Array(count);
  const ever = new Float64Array(count);
  const changes = new Uint32Array(count);
  const age = new Float64Array(count).fill(commits.length + 1);
  const kinds = new Map<string, number[]>();
  const messages = commits.map(commit => known.get(commit.hash) ?? messageOf(commit, vocabulary));
  const filesOf = commits.map(({ files, size }) =>
    size > MAX_FILES ? [] : files.flatMap(path => numbers.get(path) ?? []),
  );
  filesOf.forEach((changed, at) => {
    // Each of many files that change together tells less.
    const share = 1 / Math.sqrt(changed.length);
    const [shareLately, shareRecently] = [share * half(at, 40), share * half(at, 300)];
    for (const file of changed) {
      lately[file] = (lately[file] ?? 0) + shareLately;
      recently[file] = (recently[file] ?? 0) + shareRecently;
      ever[file] = (ever[file] ?? 0) + share;
      changes[file] = (changes[file] ?? 0) + 1;
      age[file] = Math.min(age[file] ?? at, at);
    }
    for (const kind of changed.length === 0 ? [] : (messages[at]?.kinds ?? [])) {
      const same = kinds.get(kind);
      if (same === undefined) {
        kinds.set(kind, [at]);
      } else {
        same.push(at);
      }
    }
  });
  const words = new WordIndex(
    vocabulary,
    messages.map(message => message.words),
  );
  return {
    commits,
    filesOf,
    messages: words,
    said: new Map(
      commits.flatMap(({ hash }, at) => {
        const message = messages[at];
        return hash === '' || message === undefined ? [] : [[hash, message]];
      }),
    ),
    history: new HistoryIndex(
      words,
      filesOf.map(tellingFiles),
      Float64Array.from(commits, (_, at) => half(at, 800)),
      count,
    ),
    lately: logarithmic(lately),
    often: logarithmic(recently),
    ever: logarithmic(ever),
    changes,
    age,
    kinds,
  };
}

/** Those that the words of their commit tell something about: not so if it changed too many. */
function tellingFiles(changed: readonly number[]): readonly number[] {
  return changed.length <= MAX_FILES_FOR_WORDS ? changed : [];
}

/** How much work of a kind there was, and by file, how much of it changed the file. */
export function workOf(
  { filesOf, kinds }: CodeIndex['past'],
  kind: string,
  fileCount: number,
): { readonly total: number; readonly files: Values } {
  const files = new Float64Array(fileCount);
  let total = 0;
  for (const commit of kinds.get(kind) ?? []) {
    const changed = filesOf[commit] ?? [];
    const weight = half(commit, 500);
    const share = weight / changed.length ** 0.3;
    total += weight;
    for (const file of tellingFiles(changed)) {
      files[file] = (files[file] ?? 0) + share;
    }
  }
  return { total, files };
}

/** The words of the subject count fully. */
function messageOf({ body, subject }: PastCommit, vocabulary: Vocabulary): Message {
  const own = body.replace(/^(?:co-authored-by|signed-off-by):.*$/gim, '').slice(0, MAX_BODY);
  const words = new Map<number, number>();
  for (const word of storyWords(own)) {
    words.set(vocabulary.add(word), BODY_WEIGHT);
  }
  for (const word of storyWords(subject)) {
    words.set(vocabulary.add(word), 1);
  }
  return { words: weighted(words), kinds: kindWords(subject) };
}

/** A weight that falls to one half over so many commits. */
function half(age: number, halfLife: number): number {
  return 0.5 ** (age / halfLife);
}
