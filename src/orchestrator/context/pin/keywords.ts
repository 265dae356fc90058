import type { PastCommit } from '../../git/fileHistory.ts';
import { codeWords, storyWords } from '../codeWords.ts';

/** What is known of a source file. */
export interface FileFacts {
  /** Relative to the project, with forward slashes. */
  readonly path: string;
  /** Names that other files can use. */
  readonly symbols: readonly string[];
  /** Libraries that it imports. */
  readonly libraries: readonly string[];
  /** One line each, without bodies. */
  readonly signatures: readonly string[];
}

/** Files that get keywords together. */
export interface KeywordGroup {
  readonly files: readonly FileFacts[];
  /** The folder or the title; its last part counts. */
  readonly name: string;
}

/** Keywords of a group. */
export const MAX_KEYWORDS = 20;
const MIN_LENGTH = 3;
const MAX_LENGTH = 24;
/** Commits that changed more files say nothing about any. */
const MAX_FILES = 30;
/** How much each source counts: its best word in a group has this value. */
const SOURCES = { name: 1, history: 0.9, symbol: 0.85, library: 0.7 } as const;
type Source = keyof typeof SOURCES;

/** Words of names and messages that tell no part of a project from another. */
const STOP = new Set(
  (
    'about after again away came come down here less all also any are array async back based because been before being both but bug bugs call can change changed changes class ' +
    'code constructor create data default delete does done each else error etc even every false few file files first from func function functions ' +
    'get give gives goes had handle has have how https http impl improve index info init input instead into items its item just key keep lib like list long look made main make makes ' +
    'many may misc mod module modules more most move moved must name names need needs new next none nor not now null number object off old once one only ' +
    'option options other others our out over own part pass per plus pre print private public put read release result return run same see self set sets ' +
    'should show size small some src start state static still stop str string struct style such support take tell tells test tested testing tests than that the their them then ' +
    'there these they thing things this those through time tmp too true try two type types undefined under until unit update updated updates use used user uses using util utils utility ' +
    'value values van var version very via void was way well were what when where which while who whole why will with within without work works wip would write written yet you your'
  ).split(' '),
);

/**
 * Keywords for groups of files: from their names, exported symbols, imported libraries and the messages of commits that
 * changed them. Words that tell a group apart from the others come first. Pure.
 */
export function keywordsOf(
  groups: readonly KeywordGroup[],
  commits: readonly PastCommit[],
): string[][] {
  const counts = groups.map(group => countWords(group));
  countMessages(groups, commits, counts);
  const spread = new Map<string, number>();
  for (const own of counts) {
    for (const word of own.words.keys()) {
      spread.set(word, (spread.get(word) ?? 0) + 1);
    }
  }
  const rarity = (word: string) => Math.log(1 + groups.length / (spread.get(word) ?? 1));
  return counts.map(own => bestWords(own, rarity));
}

/** How often each source has a word, by the word without its ending. */
class Words {
  readonly words = new Map<string, { forms: Map<string, number>; by: Map<Source, number> }>();

  add(form: string, source: Source, count = 1): void {
    // A library keeps its whole name.
    const key = source === 'library' && /\W/.test(form) ? form : (codeWords(form)[0] ?? form);
    const known = this.words.get(key) ?? { forms: new Map(), by: new Map() };
    this.words.set(key, known);
    known.forms.set(form, (known.forms.get(form) ?? 0) + count);
    known.by.set(source, (known.by.get(source) ?? 0) + count);
  }
}

function countWords({ files, name }: KeywordGroup): Words {
  const words = new Words();
  for (const word of tellingWords(name.slice(name.lastIndexOf('/') + 1))) {
    words.add(word, 'name', 2 + files.length / 2);
  }
  for (const word of tellingWords(name)) {
    words.add(word, 'name');
  }
  for (const { libraries, path, symbols } of files) {
    const base = path.slice(path.lastIndexOf('/') + 1).replace(/\.[^.]*$/, '');
    for (const word of new Set(tellingWords(base))) {
      words.add(word, 'name');
    }
    for (const word of symbols.flatMap(tellingWords)) {
      words.add(word, 'symbol');
    }
    for (const library of libraries) {
      words.add(library.toLowerCase(), 'library');
    }
  }
  return words;
}

function countMessages(
  groups: readonly KeywordGroup[],
  commits: readonly PastCommit[],
  counts: readonly Words[],
): void {
  const groupsOf = new Map<string, number[]>();
  groups.forEach(({ files }, group) => {
    for (const { path } of files) {
      groupsOf.set(path, [...(groupsOf.get(path) ?? []), group]);
    }
  });
  for (const { files, size, subject } of commits) {
    if (size > MAX_FILES) {
      continue;
    }
    const touched = new Set(files.flatMap(file => groupsOf.get(file) ?? []));
    // `fix(auth): …` is a word of the project and a word of its habits.
    const words = new Set(tellingWords(subject.replace(/^\s*\w+(?=[(!:])/, '')));
    for (const group of touched) {
      for (const word of words) {
        counts[group]?.add(word, 'history', 1 / Math.sqrt(touched.size));
      }
    }
  }
}

function bestWords({ words }: Words, rarity: (word: string) => number): string[] {
  const scores = new Map<string, number>();
  for (const source of Object.keys(SOURCES) as Source[]) {
    const own = Array.from(words, ([word, { by }]) => {
      return [word, Math.log(1 + (by.get(source) ?? 0)) * rarity(word)] as const;
    });
    const most = own.reduce((largest, [, score]) => Math.max(largest, score), 0) || 1;
    for (const [word, score] of own) {
      scores.set(word, (scores.get(word) ?? 0) + (SOURCES[source] * score) / most);
    }
  }
  return [...scores]
    .sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
    .slice(0, MAX_KEYWORDS)
    .map(([word]) => mostUsed(words.get(word)?.forms ?? new Map()));
}

function mostUsed(forms: ReadonlyMap<string, number>): string {
  const [best = ''] = [...forms].sort(
    ([a, one], [b, other]) => other - one || a.length - b.length || (a < b ? -1 : 1),
  )[0] ?? [''];
  return best;
}

/** The words of a name or a message that may tell something, in lower case, with their endings. */
function tellingWords(text: string): string[] {
  const words: string[] = [];
  for (const [name] of text.matchAll(/\p{L}[\p{L}\p{M}\p{N}]*/gu)) {
    for (const part of name.split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)) {
      const word = part.toLowerCase();
      if (isTelling(word)) {
        words.push(word);
      }
    }
  }
  return words;
}

function isTelling(word: string): boolean {
  const digits = word.match(/\d/g)?.length ?? 0;
  const isAscii = /^[a-z\d]+$/.test(word);
  return (
    word.length >= (isAscii ? MIN_LENGTH : 2) &&
    word.length <= MAX_LENGTH &&
    // A hash, a number, a key.
    digits <= 2 &&
    !STOP.has(word) &&
    (!isAscii || storyWords(word).size > 0)
  );
}
