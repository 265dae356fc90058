import type { CodeIndex } from './codeIndex.ts';
import { nameOf } from './codeIndex.ts';
import { kindWords, storyWords } from './codeWords.ts';

/** One value for each file. */
type Values = Float64Array;

/** Files that a ranking looks at closely. */
const CANDIDATES = 100;
/** The best files of the first look, from which others are reached. */
const LEADERS = 15;
/** Commits whose subjects are most like the story. */
const SIMILAR = 40;

/** The signals of one story: which files were looked at closely, and what speaks for each. */
export interface Signals {
  /** Files as numbers of the index. */
  readonly files: readonly number[];
  /** By signal: one value for each of {@link files}. */
  readonly values: ReadonlyMap<string, Float64Array>;
}

const TEST = /(?:^|[/_.-])(?:tests?|spec|__tests__)(?:[/_.-]|$)/i;
const DOCUMENT = /\.(?:md|html|rst|txt)$/i;
const SETTINGS = /\.(?:json|ya?ml|toml)$/i;
const ABOUT_TESTS = /\btests?\b|\btesting\b|\bcoverage\b/i;
const ABOUT_DOCUMENTS = /\b(?:docs?|readme|documentation|typo|changelog|guide)\b/i;
const ABOUT_SETTINGS =
  /\b(?:ci|bump|deps?|dependenc\w*|upgrade|build|workflow|release|version|actions?)\b|\d+\.\d+/i;

/**
 * Computes what speaks for each file. All values are between 0 and about 1.
 * @param story its title, or more of its text
 */
export function signalsOf(index: CodeIndex, story: string): Signals {
  const { past, paths } = index;
  const count = paths.length;
  const words = storyWords(story);
  const rawContent = index.content.scores(words);
  const content = inUnits(rawContent);
  const path = inUnits(index.pathIndex.scores(words));
  const history = inUnits(past.history.scores(words));
  const often = logarithmic(past.recently);
  const lately = logarithmic(past.lately);
  const { similar, similarLately } = similarCommits(index, words);

  // The first look: what a plain mix of the strongest signals finds.
  const first = Float64Array.from(
    paths,
    (_, file) =>
      at(content, file) +
      at(path, file) +
      1.2 * at(history, file) +
      at(similar, file) +
      0.5 * at(often, file),
  );
  const candidates = best(first, CANDIDATES, true);
  const leaders = candidates.slice(0, LEADERS);
  const top = at(first, leaders[0] ?? 0) || 1;
  /** The values of the candidates; nobody looks at the others. */
  const each = (value: (file: number) => number): Values => {
    const values = new Float64Array(count);
    for (const file of candidates) {
      values[file] = value(file);
    }
    return values;
  };

  const passage = inUnits(each(index.passages.scorer(words)));
  const partner = each(
    file => Math.max(0, ...(index.partners[file] ?? []).map(other => at(first, other))) / top,
  );
  const folderOfLeaders = new Map<string, number>();
  leaders.forEach((file, rank) => {
    const folder = index.folders[file] ?? '';
    folderOfLeaders.set(folder, (folderOfLeaders.get(folder) ?? 0) + 1 / (1 + rank));
  });
  const folderMeans = meansByFolder(index, first);
  const known = [...words];
  const rarities = known.map(word => index.content.rarity(word) + 0.1);
  const allRarities = rarities.reduce((sum, rarity) => sum + rarity, 0) || 1;
  const coverage = (sets: readonly ReadonlySet<string>[]): Values =>
    each(file => {
      const own = sets[file];
      return (
        known.reduce((sum, word, i) => sum + (own?.has(word) ? (rarities[i] ?? 0) : 0), 0) /
        allRarities
      );
    });

  const isTest = each(file => Number(TEST.test(paths[file] ?? '')));
  const isDocument = each(file => Number(DOCUMENT.test(paths[file] ?? '')));
  const isSettings = each(file => Number(SETTINGS.test(paths[file] ?? '')));
  const aboutTests = Number(ABOUT_TESTS.test(story));
  const aboutDocuments = Number(ABOUT_DOCUMENTS.test(story));
  const aboutSettings = Number(ABOUT_SETTINGS.test(story));
  const hasPartner = each(file => Number((index.partners[file]?.length ?? 0) > 0));
  const kind = kindsOf(index, story);
  const longest = Math.log(1 + index.sizes.reduce((most, size) => Math.max(most, size), 0)) || 1;
  // A story of many words, and one whose words are found clearly, needs less of what holds for all stories.
  const length = Math.min(1, words.size / 12);
  const clarity = Math.min(1, largest(rawContent) / 30);

  const all: Record<string, Values> = {
    content,
    path,
    name: inUnits(index.names.scores(words)),
    definition: inUnits(index.definitions.scores(words)),
    history,
    similar,
    similarLately,
    kind,
    lately,
    often,
    ever: logarithmic(past.ever),
    age: each(file => 1 / (1 + at(past.age, file) / 30)),
    mention: each(mentionIn(index, story)),
    size: each(file => Math.log(1 + (index.sizes[file] ?? 0)) / longest),
    contentRank: byRank(content),
    historyRank: byRank(history),
    passage,
    pathCoverage: coverage(index.pathWords),
    folderCoverage: coverage(index.folderWords),
    leadersFolder: each(file => folderOfLeaders.get(index.folders[file] ?? '') ?? 0),
    folderMean: each(file => (folderMeans.get(index.folders[file] ?? '') ?? 0) / top),
    partner,
    hasPartner,
    isTest,
    isDocument,
    isSettings,
    testForTests: each(file => aboutTests * at(isTest, file)),
    documentForDocuments: each(file => aboutDocuments * at(isDocument, file)),
    settingsForSettings: each(file => aboutSettings * at(isSettings, file)),
    documentForSettings: each(file => aboutSettings * at(isDocument, file)),
    partnerOfTest: each(file => at(partner, file) * at(isTest, file)),
    partnerOfCode: each(file => at(partner, file) * (1 - at(isTest, file))),
    contentRoot: content.map(Math.sqrt),
    historyRoot: history.map(Math.sqrt),
    similarRoot: similar.map(Math.sqrt),
    kindRoot: kind.map(Math.sqrt),
    passageRoot: passage.map(Math.sqrt),
    partnerRoot: partner.map(Math.sqrt),
    latelyUnclear: lately.map(value => value * (1 - clarity)),
    oftenShort: often.map(value => value * (1 - length)),
    contentClear: content.map(value => value * clarity),
    historyLong: history.map(value => value * length),
    similarLong: similar.map(value => value * length),
    contentHistory: each(file => at(content, file) * at(history, file)),
    pathContent: each(file => at(path, file) * at(content, file)),
    pathHistory: each(file => at(path, file) * at(history, file)),
  };
  const chosen = (values: Values) => Float64Array.from(candidates, file => at(values, file));
  return {
    files: candidates,
    values: new Map(Object.entries(all).map(([name, values]) => [name, chosen(values)])),
  };
}

/** Votes of earlier commits that are like the story, for the files that they changed. */
function similarCommits(
  { past, paths }: CodeIndex,
  words: ReadonlySet<string>,
): { similar: Values; similarLately: Values } {
  const likeness = past.messages.scores(words, { b: 0.5 });
  let all = 0;
  for (const word of words) {
    all += past.messages.rarity(word);
  }
  const similar = new Float64Array(paths.length);
  const similarLately = new Float64Array(paths.length);
  for (const commit of best(likeness, SIMILAR)) {
    const changed = past.filesOf[commit] ?? [];
    const vote = (at(likeness, commit) / (all || 1)) ** 2 / Math.sqrt(changed.length);
    for (const file of changed) {
      similar[file] = at(similar, file) + vote;
      similarLately[file] = at(similarLately, file) + vote * 0.5 ** (commit / 200);
    }
  }
  return {
    similar: similar.map(value => Math.min(1, value / 2)),
    similarLately: similarLately.map(value => Math.min(1, value)),
  };
}

/** What commits of the same kind changed. */
function kindsOf({ past, paths }: CodeIndex, story: string): Values {
  const values = new Float64Array(paths.length);
  const kinds = kindWords(story).flatMap(kind => past.kinds.get(kind) ?? []);
  for (const { files: changed, total } of kinds) {
    for (const [file, weight] of changed) {
      values[file] = at(values, file) + weight / (total + 5) / kinds.length;
    }
  }
  return values;
}

/** How clearly the story names a file: by path, by name, or by name without its ending. */
function mentionIn({ paths }: CodeIndex, story: string): (file: number) => number {
  const named = new Set(
    story
      .toLowerCase()
      .split(/[^a-z0-9_./-]+/)
      .map(word => word.replace(/^[./-]+|[./-]+$/g, '')),
  );
  return file => {
    const lower = (paths[file] ?? '').toLowerCase();
    const name = nameOf(lower);
    const bare = name.replace(/\.[^.]*$/, '');
    if (named.has(lower)) {
      return 1;
    }
    return named.has(name) ? 0.9 : bare.length > 3 && named.has(bare) ? 0.6 : 0;
  };
}

function meansByFolder({ folders }: CodeIndex, values: Values): Map<string, number> {
  const sums = new Map<string, { sum: number; count: number }>();
  folders.forEach((folder, file) => {
    const known = sums.get(folder) ?? { sum: 0, count: 0 };
    sums.set(folder, { sum: known.sum + at(values, file), count: known.count + 1 });
  });
  return new Map(Array.from(sums, ([folder, { count, sum }]) => [folder, sum / count]));
}

/** The documents with the best scores, best first; equal ones in their order. */
export function best(scores: Values, count: number, withZero = false): number[] {
  // Sorting plain numbers is fast; only what can be among the best is then sorted with its document.
  const sorted = scores.toSorted();
  const least = sorted[Math.max(0, sorted.length - count)] ?? 0;
  const found: number[] = [];
  scores.forEach((score, document) => {
    if (score >= least && (withZero || score > 0)) {
      found.push(document);
    }
  });
  return found.sort((a, b) => at(scores, b) - at(scores, a) || a - b).slice(0, count);
}

/** Values as parts of the largest one. */
export function inUnits(values: Values): Values {
  const most = largest(values) || 1;
  return values.map(value => value / most);
}

export function logarithmic(values: Values): Values {
  return inUnits(values.map(value => Math.log(1 + value)));
}

function byRank(scores: Values): Values {
  const ranks = new Float64Array(scores.length);
  best(scores, 50).forEach((document, rank) => {
    ranks[document] = 1 / (1 + rank);
  });
  return ranks;
}

function largest(values: Values): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

function at(values: Values, index: number): number {
  return values[index] ?? 0;
}
