import { codeWords, storyWords } from '../codeWords.ts';
import { isAtOrBelow } from './pinFields.ts';
import { isEntry, placesOf, readPin } from './pinText.ts';

/** What an entry of the Pin leads to. */
export interface PinEntry {
  /** The words of each keyword, without endings. */
  readonly keywords: readonly (readonly string[])[];
  /** Paths of files, and of folders. */
  readonly places: readonly string[];
}

/** Entries that a story is led to, and files of each. */
const MAX_ENTRIES = 3;
const MAX_FILES = 6;
/** An entry that fits the story less than this, compared with the best one, is about something else. */
const LEAST_FIT = 0.5;
/** What a word of the description counts, compared with one of the title. */
const TEXT_SHARE = 0.5;
/** What a keyword counts that is in the code or its history: the index of the code knows better where. */
const KNOWN_SHARE = 0.15;

/** A file that the Pin names for a story. */
export interface PinnedFile {
  readonly path: string;
  /** How much the Pin's word counts, up to 1. */
  readonly weight: number;
}

/**
 * The entries of a Pin with what a person or an agent said. Generated keywords say nothing that the index of the code
 * does not know better. Pure.
 * @param withGenerated also generated keywords and files
 */
export function pinEntries(text: string, withGenerated = false): PinEntry[] {
  return readPin(text)
    .sections.filter(isEntry)
    .flatMap((section): PinEntry[] => {
      const { agent, generated, isMarked, keywords, specs, title } = section;
      const said = [
        ...(isMarked ? [] : [title]),
        ...keywords,
        ...(agent.keywords ?? []),
        ...(withGenerated ? generated.keywords : []),
      ];
      const words = said.map(codeWords).filter(own => own.length > 0);
      const places = [...placesOf(section), ...specs, ...(withGenerated ? generated.files : [])];
      return words.length === 0 || places.length === 0 ? [] : [{ keywords: words, places }];
    });
}

/**
 * The files that the Pin names for a story, best first. Pure.
 * @param paths all files, with those first that are named first of a folder
 * @param isKnown whether a word is in the code or its history
 */
export function filesByPin(
  entries: readonly PinEntry[],
  { text, title }: { readonly title: string; readonly text: string },
  paths: readonly string[],
  isKnown: (word: string) => boolean,
): PinnedFile[] {
  const spread = spreadOf(entries);
  const inTitle = storyWords(title);
  const inText = storyWords(text);
  const fits = entries.map(({ keywords, places }) => {
    const fit = { places, sum: 0, weight: KNOWN_SHARE };
    for (const [keyword, words] of new Map(keywords.map(own => [own.join(' '), own]))) {
      const has = (all: ReadonlySet<string>) => words.every(word => all.has(word));
      const share = has(inTitle) ? 1 : has(inText) ? TEXT_SHARE : 0;
      fit.sum += share * Math.log(1 + entries.length / (spread.get(keyword) ?? 1));
      if (share > 0 && !words.every(isKnown)) {
        fit.weight = 1;
      }
    }
    return fit;
  });
  const most = Math.max(0, ...fits.map(fit => fit.sum));
  const chosen = fits
    .filter(fit => fit.sum > 0 && fit.sum >= LEAST_FIT * most)
    .sort((a, b) => b.sum - a.sum)
    .slice(0, MAX_ENTRIES);
  const found = new Map<string, number>();
  for (const { places, weight } of chosen) {
    for (const path of filesAt(places, paths)) {
      found.set(path, Math.max(weight, found.get(path) ?? 0));
    }
  }
  return Array.from(found, ([path, weight]) => ({ path, weight }));
}

/** How many entries have a keyword. */
function spreadOf(entries: readonly PinEntry[]): Map<string, number> {
  const spread = new Map<string, number>();
  for (const { keywords } of entries) {
    for (const keyword of new Set(keywords.map(words => words.join(' ')))) {
      spread.set(keyword, (spread.get(keyword) ?? 0) + 1);
    }
  }
  return spread;
}

/** Files that are named themselves, then those in named folders. */
function filesAt(places: readonly string[], paths: readonly string[]): string[] {
  const all = new Set(paths);
  const found = new Set(places.filter(place => all.has(place)).slice(0, MAX_FILES));
  for (const path of paths) {
    if (found.size >= MAX_FILES) {
      break;
    }
    if (places.some(place => isAtOrBelow(path, place))) {
      found.add(path);
    }
  }
  return [...found];
}
