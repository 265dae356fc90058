import { CodeIndex } from '../codeIndex.ts';
import { rankedFiles } from '../ranking.ts';
import { type Finder, keywordGrep, simpleEngines } from './baselines.ts';
import type { Replay, ReplayedStory } from './replay.ts';

/** How well an engine found the changed files of all stories; shares from 0 to 1. */
export interface EngineResult {
  readonly name: string;
  /** Stories of which at least one changed file was among the first ten. */
  readonly hit10: number;
  /** The share of the changed files among the first ten, as a mean of all stories. */
  readonly recall10: number;
  /** The same among the first twenty. */
  readonly recall20: number;
  /** The mean of 1 / the place of the first changed file. */
  readonly mrr: number;
  /** For the index and all stories, in seconds. */
  readonly seconds: number;
}

const DEPTH = 20;

/** Lets all engines find the files of the same stories, from the same files and the same past. */
export function evaluate({ files, history, stories }: Replay): EngineResult[] {
  const engine = (): Finder => {
    const index = CodeIndex.of(files, history);
    return (story, limit) => rankedFiles(index, story, limit).map(({ path }) => path);
  };
  return [
    measured('engine', engine, stories),
    measured('mix', () => simpleEngines(files, history).mix, stories),
    measured('bm25', () => simpleEngines(files, history).bm25, stories),
    measured('grep', () => keywordGrep(files), stories),
  ];
}

function measured(
  name: string,
  make: () => Finder,
  stories: readonly ReplayedStory[],
): EngineResult {
  const start = performance.now();
  const find = make();
  const results = stories.map(({ changed, title }) => scored(find(title, DEPTH), changed));
  const mean = (value: (result: Scores) => number): number =>
    results.reduce((sum, result) => sum + value(result), 0) / (results.length || 1);
  return {
    name,
    hit10: mean(({ hit10 }) => hit10),
    recall10: mean(({ recall10 }) => recall10),
    recall20: mean(({ recall20 }) => recall20),
    mrr: mean(({ mrr }) => mrr),
    seconds: (performance.now() - start) / 1_000,
  };
}

type Scores = Omit<EngineResult, 'name' | 'seconds'>;

/** The scores of one story. */
export function scored(found: readonly string[], changed: ReadonlySet<string>): Scores {
  const places = found.flatMap((path, i) => (changed.has(path) ? [i + 1] : []));
  const within = (depth: number) => places.filter(place => place <= depth).length / changed.size;
  return {
    hit10: Number(within(10) > 0),
    recall10: within(10),
    recall20: within(20),
    mrr: places[0] === undefined ? 0 : 1 / places[0],
  };
}
