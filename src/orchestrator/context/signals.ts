import { type CodeIndex, nameOf, workOf } from './codeIndex.ts';
import { kindWords, storyWords } from './codeWords.ts';
import { at, best, inUnits, largest, type Values } from './values.ts';

/** Files that a ranking looks at closely. */
const CANDIDATES = 100;
/** The best files of the first look, from which others are reached. */
const LEADERS = 15;
/** Commits whose subjects are most like the story. */
const SIMILAR = 40;
/** Files that a rank is given to. */
const RANKED = 50;

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
  const { past } = index;
  const words = storyWords(story);
  const rawContent = index.content.scores(words);
  const all = {
    content: inUnits(rawContent),
    path: inUnits(index.facts.pathIndex.scores(words)),
    history: inUnits(past.history.scores(words)),
    ...similarCommits(index, words),
  };
  const first = firstLook(index, all);
  const files = best(first, CANDIDATES, true);
  const top = at(first, files[0] ?? 0) || 1;
  /** The values of the candidates; nobody looks at the others. */
  const each = (value: (file: number) => number): Values => {
    // `Float64Array.from` with a function takes ten times as long, which is a quarter of a ranking.
    const values = new Float64Array(files.length);
    files.forEach((file, i) => {
      values[i] = value(file);
    });
    return values;
  };
  const of = (values: Values): Values => each(file => at(values, file));

  const content = of(all.content);
  const path = of(all.path);
  const history = of(all.history);
  const similar = of(all.similar);
  const often = of(past.often);
  const lately = of(past.lately);
  const kind = each(kindsOf(index, story));
  const passage = inUnits(each(index.passages.scorer(words)));
  const partner = each(
    file => Math.max(0, ...(index.facts.partners[file] ?? []).map(other => at(first, other))) / top,
  );
  const folderOf = (file: number): number => index.facts.folders[file] ?? 0;
  const folderOfLeaders = new Map<number, number>();
  files.slice(0, LEADERS).forEach((file, rank) => {
    const folder = folderOf(file);
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

  const isKind = (pattern: RegExp): Values =>
    each(file => Number(pattern.test(index.paths[file] ?? '')));
  const isTest = isKind(TEST);
  const isDocument = isKind(DOCUMENT);
  const isSettings = isKind(SETTINGS);
  const aboutTests = Number(ABOUT_TESTS.test(story));
  const aboutDocuments = Number(ABOUT_DOCUMENTS.test(story));
  const aboutSettings = Number(ABOUT_SETTINGS.test(story));
  const longest = Math.log(1 + index.largestSize) || 1;
  // A story of many words, and one whose words are found clearly, needs less of what holds for all stories.
  const length = Math.min(1, words.size / 12);
  const clarity = Math.min(1, largest(rawContent) / 30);

  const values: Record<string, Values> = {
    content,
    path,
    name: of(inUnits(index.facts.names.scores(words))),
    definition: of(inUnits(index.definitions.scores(words))),
    history,
    similar,
    similarLately: of(all.similarLately),
    kind,
    lately,
    often,
    ever: of(past.ever),
    age: each(file => 1 / (1 + at(past.age, file) / 30)),
    mention: each(mentionIn(index, story)),
    size: each(file => Math.log(1 + (index.sizes[file] ?? 0)) / longest),
    contentRank: each(byRank(all.content)),
    historyRank: each(byRank(all.history)),
    passage,
    pathCoverage: coverage(index.facts.pathWords),
    folderCoverage: coverage(index.facts.folderWords),
    leadersFolder: each(file => folderOfLeaders.get(folderOf(file)) ?? 0),
    folderMean: each(file => at(folderMeans, folderOf(file)) / top),
    partner,
    hasPartner: each(file => Number((index.facts.partners[file]?.length ?? 0) > 0)),
    isTest,
    isDocument,
    isSettings,
    testForTests: isTest.map(value => aboutTests * value),
    documentForDocuments: isDocument.map(value => aboutDocuments * value),
    settingsForSettings: isSettings.map(value => aboutSettings * value),
    documentForSettings: isDocument.map(value => aboutSettings * value),
    partnerOfTest: partner.map((value, i) => value * at(isTest, i)),
    partnerOfCode: partner.map((value, i) => value * (1 - at(isTest, i))),
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
    contentHistory: content.map((value, i) => value * at(history, i)),
    pathContent: path.map((value, i) => value * at(content, i)),
    pathHistory: path.map((value, i) => value * at(history, i)),
  };
  return { files, values: new Map(Object.entries(values)) };
}

/** What a plain mix of the strongest signals finds. */
function firstLook(
  { past: { often }, paths }: CodeIndex,
  {
    content,
    history,
    path,
    similar,
  }: Readonly<Record<'content' | 'history' | 'path' | 'similar', Values>>,
): Values {
  const scores = new Float64Array(paths.length);
  for (let file = 0; file < scores.length; file++) {
    scores[file] =
      at(content, file) +
      at(path, file) +
      1.2 * at(history, file) +
      at(similar, file) +
      0.5 * at(often, file);
  }
  return scores;
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

/** How much of it commits of the same kind changed. */
function kindsOf({ past, paths }: CodeIndex, story: string): (file: number) => number {
  const kinds = kindWords(story)
    .map(kind => workOf(past, kind, paths.length))
    .filter(({ total }) => total > 0);
  return file =>
    kinds.reduce((sum, { files, total }) => sum + at(files, file) / (total + 5) / kinds.length, 0);
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

/** By folder: the mean of its files. */
function meansByFolder({ facts: { folderSizes, folders } }: CodeIndex, values: Values): Values {
  const sums = new Float64Array(folderSizes.length);
  for (let file = 0; file < values.length; file++) {
    const folder = folders[file] ?? 0;
    sums[folder] = at(sums, folder) + at(values, file);
  }
  return sums.map((sum, folder) => sum / (folderSizes[folder] ?? 1));
}

/** How far to the front a document is. */
function byRank(scores: Values): (document: number) => number {
  const ranks = new Map(best(scores, RANKED).map((document, rank) => [document, 1 / (1 + rank)]));
  return document => ranks.get(document) ?? 0;
}
