import type { PastCommit } from '../git/fileHistory.ts';
import { codeWords, kindWords, storyWords, wordCounts } from './codeWords.ts';
import { WordIndex } from './wordIndex.ts';

/** A file as the index gets it. */
export interface IndexedFile {
  /** Relative to the repository's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** Commits that changed more files are moves and reformattings: they tell nothing about a file. */
const MAX_FILES = 60;
const MAX_FILES_FOR_WORDS = 30;
/** A body says less per word than a subject. */
const BODY_WEIGHT = 0.35;
const MAX_BODY = 1_500;
/** A passage: so many lines, which overlap the next passage. */
const PASSAGE_STEP = 40;
const PASSAGE_LINES = 50;
/** More files with one name, such as `index.ts`, do not belong together. */
const MAX_PARTNERS = 6;
/** A definition in the common languages: what introduces it, and its name. */
const DEFINITION =
  /^\s*(?:(?:export|pub(?:\([^)]*\))?|public|private|protected|static|default|async|abstract|final|declare|unsafe|const|override|open|internal|suspend|inline|data|sealed)\s+)*(?:function\*?|class|interface|type|enum|const|let|var|def|fn|func|struct|trait|impl|mod|module|fun|val|object|macro_rules!|#define)\s+(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*)/gm;

/** What happened to files in the past, weighted by age; each array has one value for each file. */
interface Past {
  readonly commits: readonly PastCommit[];
  /** Files of each commit, as numbers; empty for those that tell nothing. */
  readonly filesOf: readonly (readonly number[])[];
  /** Words of subjects and bodies, by commit. */
  readonly messages: WordIndex;
  /** The words of all commits that changed a file, by file. */
  readonly history: WordIndex;
  /** How often a file was changed: lately, in recent hundreds of commits, ever. */
  readonly lately: Float64Array;
  readonly recently: Float64Array;
  readonly ever: Float64Array;
  /** The number of commits since the last change. */
  readonly age: Float64Array;
  /** By kind of work: how much of it there was, and which files it changed. */
  readonly kinds: ReadonlyMap<string, { total: number; files: Map<number, number> }>;
}

/**
 * What can be said about the files of a repository without knowing the story: their words, names, definitions,
 * passages, and what the commits of the past did to them. In memory, made from texts that the caller read.
 */
export class CodeIndex {
  readonly files: readonly IndexedFile[];
  readonly content: WordIndex;
  readonly paths: WordIndex;
  readonly names: WordIndex;
  readonly definitions: WordIndex;
  readonly passages: WordIndex;
  /** The file of each passage. */
  readonly passageFile: readonly number[];
  readonly pathWords: readonly ReadonlySet<string>[];
  readonly folderWords: readonly ReadonlySet<string>[];
  readonly folders: readonly string[];
  /** Files that belong together by their names, such as a test and what it tests. */
  readonly partners: readonly (readonly number[])[];
  readonly past: Past;

  constructor(files: readonly IndexedFile[], history: readonly PastCommit[]) {
    this.files = files;
    this.folders = files.map(({ path }) => path.slice(0, Math.max(0, path.lastIndexOf('/'))));
    const words = (texts: readonly string[]) => texts.map(text => wordCounts(codeWords(text)));
    this.content = new WordIndex(words(files.map(({ text }) => text)));
    const paths = words(files.map(({ path }) => path));
    this.paths = new WordIndex(paths);
    this.pathWords = paths.map(counts => new Set(counts.keys()));
    this.folderWords = this.folders.map(folder => new Set(codeWords(folder)));
    this.names = new WordIndex(words(files.map(({ path }) => nameOf(path))));
    this.definitions = new WordIndex(words(files.map(({ text }) => definitionsIn(text).join(' '))));
    const passages = files.flatMap(({ text }, file) =>
      passagesOf(text).map(passage => ({ file, passage })),
    );
    this.passages = new WordIndex(words(passages.map(({ passage }) => passage)));
    this.passageFile = passages.map(({ file }) => file);
    this.partners = partnersOf(files);
    this.past = pastOf(files, history);
  }
}

/** The file's name without its folder. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The names that a file defines, in order. */
export function definitionsIn(text: string): string[] {
  return Array.from(text.matchAll(DEFINITION), ([, name = '']) => name);
}

function passagesOf(text: string): string[] {
  const lines = text.split('\n');
  const passages: string[] = [];
  for (let at = 0; at < lines.length; at += PASSAGE_STEP) {
    passages.push(lines.slice(at, at + PASSAGE_LINES).join('\n'));
  }
  return passages;
}

function partnersOf(files: readonly IndexedFile[]): number[][] {
  const subjects = files.map(({ path }) =>
    nameOf(path)
      .toLowerCase()
      .replace(/\..*$/s, '')
      .replace(/^tests?[_-]|[_-]?(?:tests?|specs?|it)$/g, ''),
  );
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

function pastOf(files: readonly IndexedFile[], commits: readonly PastCommit[]): Past {
  const count = files.length;
  const numbers = new Map(files.map(({ path }, file) => [path, file]));
  const lately = new Float64Array(count);
  const recently = new Float64Array(count);
  const ever = new Float64Array(count);
  const age = new Float64Array(count).fill(commits.length + 1);
  const kinds = new Map<string, { total: number; files: Map<number, number> }>();
  const history = files.map(() => new Map<string, number>());
  const messages = commits.map(messageWords);
  const filesOf = commits.map(({ files, size }) =>
    size > MAX_FILES ? [] : files.flatMap(path => numbers.get(path) ?? []),
  );
  filesOf.forEach((changed, at) => {
    // Each of many files that change together tells less.
    const share = 1 / Math.sqrt(changed.length);
    for (const file of changed) {
      lately[file] = (lately[file] ?? 0) + share * half(at, 40);
      recently[file] = (recently[file] ?? 0) + share * half(at, 300);
      ever[file] = (ever[file] ?? 0) + share;
      age[file] = Math.min(age[file] ?? at, at);
    }
    if (changed.length === 0) {
      return;
    }
    const tellsWords = changed.length <= MAX_FILES_FOR_WORDS;
    for (const [word, weight] of tellsWords ? (messages[at] ?? []) : []) {
      for (const file of changed) {
        const own = history[file];
        own?.set(word, (own.get(word) ?? 0) + weight * half(at, 800));
      }
    }
    for (const kind of kindWords(commits[at]?.subject ?? '')) {
      const known = kinds.get(kind) ?? { total: 0, files: new Map<number, number>() };
      kinds.set(kind, known);
      known.total += half(at, 500);
      for (const file of tellsWords ? changed : []) {
        const share = half(at, 500) / changed.length ** 0.3;
        known.files.set(file, (known.files.get(file) ?? 0) + share);
      }
    }
  });
  return {
    commits,
    filesOf,
    messages: new WordIndex(messages),
    history: new WordIndex(history),
    lately,
    recently,
    ever,
    age,
    kinds,
  };
}

/** The words of a message with their weights; those of the subject count fully. */
function messageWords({ body, subject }: PastCommit): Map<string, number> {
  const own = body.replace(/^(?:co-authored-by|signed-off-by):.*$/gim, '').slice(0, MAX_BODY);
  const words = new Map(Array.from(storyWords(own), word => [word, BODY_WEIGHT]));
  for (const word of storyWords(subject)) {
    words.set(word, 1);
  }
  return words;
}

/** A weight that falls to one half over so many commits. */
function half(age: number, halfLife: number): number {
  return 0.5 ** (age / halfLife);
}
