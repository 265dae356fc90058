// Learns the weights of the signals from the history of repositories: npm run tune -- DIR…
// Each repository is replayed twice: its newest 150 commits, and the 150 commits before its newest 300. The weights go to
// src/orchestrator/context/weights.ts. With --ablation nothing is written: it prints how well the weights do without the
// signals of one reason after the other. To see how they do on other repositories: ralph-fresh eval context --repo DIR
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { CodeIndex } from '../src/orchestrator/context/codeIndex.ts';
import { replayOf } from '../src/orchestrator/context/evaluation/replay.ts';
import { reasonOf } from '../src/orchestrator/context/ranking.ts';
import { signalsOf } from '../src/orchestrator/context/signals.ts';

/** A story: the signals of its candidates, one row after the other, and which of them were changed. */
interface Example {
  /** Number of the repository. */
  readonly repository: number;
  readonly rows: Float64Array;
  /** 1 for a changed file. */
  readonly isChanged: Float64Array;
  /** Changed files, also those that are no candidates. */
  readonly changed: number;
}

const WINDOW = 150;
const SKIPS = [0, 300];
const STEPS = 400;
const RATE = 0.05;
/** Keeps weights small that the data does not ask for. */
const DECAY = 1e-3;
const target = path.resolve(import.meta.dirname, '../src/orchestrator/context/weights.ts');

const names: string[] = [];
const examples: Example[] = [];
const isAblation = process.argv.includes('--ablation');
const dirs = process.argv.slice(2).filter(arg => arg !== '--ablation');
for (const [repository, dir] of dirs.entries()) {
  for (const skip of SKIPS) {
    try {
      await addExamples(repository, dir, skip);
    } catch (error) {
      console.log(`[tune] ${dir} without its newest ${skip}: ${String(error)}`);
    }
  }
}
if (examples.length === 0) {
  console.error('Give the folders of repositories to learn from: npm run tune -- DIR…');
  process.exitCode = 64;
} else {
  tellHalves(examples, 'all signals');
  if (isAblation) {
    const groups = new Set(names.map(reasonOf));
    for (const group of groups) {
      const own = names.filter(name => reasonOf(name) === group);
      tellHalves(
        examples.map(example => without(example, new Set(own))),
        `without ${own.join(', ')}`,
      );
    }
    const roots = names.filter(name => name.endsWith('Root'));
    tellHalves(
      examples.map(example => without(example, new Set(roots))),
      'without the roots',
    );
  } else {
    writeWeights();
  }
}

/** How well the weights do on repositories they were not learned from: each half is tried with those of the other. */
function tellHalves(all: readonly Example[], what: string): void {
  const [even = [], odd = []] = [0, 1].map(half =>
    all.filter(({ repository }) => repository % 2 === half),
  );
  if (even.length === 0 || odd.length === 0) {
    return;
  }
  const results = [...results10(odd, learned(even)), ...results10(even, learned(odd))];
  console.log(
    `[tune] with the weights of the other half, ${what}: hit@10 ${mean(results.map(({ hit }) => hit))}, recall@10 ${mean(results.map(({ recall }) => recall))}`,
  );
}

function without(example: Example, signals: ReadonlySet<string>): Example {
  const rows = example.rows.map((value, i) =>
    signals.has(names[i % names.length] ?? '') ? 0 : value,
  );
  return { ...example, rows };
}

function writeWeights(): void {
  const weights = learned(examples);
  const lines = names.map((name, i) => `  ${name}: ${(weights[i] ?? 0).toFixed(3)},\n`);
  writeFileSync(
    target,
    `/** How much each signal counts. Learned by \`npm run tune\`; not to be edited by hand. */\nexport const WEIGHTS: Readonly<Record<string, number>> = {\n${lines.join('')}};\n`,
  );
  console.log(`[tune] ${examples.length} stories, ${names.length} weights: ${target}`);
}

async function addExamples(repository: number, dir: string, skip: number): Promise<void> {
  const { files, history, stories } = await replayOf(dir, WINDOW, skip);
  const index = CodeIndex.of(files, history);
  for (const { changed, title } of stories) {
    const { files: candidates, values } = signalsOf(index, title);
    names.splice(0, names.length, ...values.keys());
    const columns = [...values.values()];
    const rows = new Float64Array(candidates.length * columns.length);
    candidates.forEach((_, i) => {
      columns.forEach((column, c) => {
        rows[i * columns.length + c] = column[i] ?? 0;
      });
    });
    const isChanged = Float64Array.from(candidates, file =>
      Number(changed.has(files[file]?.path ?? '')),
    );
    examples.push({ repository, rows, isChanged, changed: changed.size });
  }
  console.log(`[tune] ${dir} without its newest ${skip}: ${stories.length} stories`);
}

/**
 * Weights that make the changed files of each story most probable among its candidates: a softmax over the candidates,
 * by gradient descent with momentum (Adam; Kingma and Ba, 2015).
 */
function learned(stories: readonly Example[]): Float64Array {
  const count = names.length;
  const spread = deviations(stories);
  const known = stories
    .map(({ isChanged, rows }) => ({
      rows: rows.map((value, i) => value / (spread[i % count] ?? 1)),
      shares: isChanged.map(value => value / isChanged.reduce((sum, one) => sum + one, 0)),
    }))
    .filter(({ shares }) => shares.some(share => share > 0));
  const weights = new Float64Array(count);
  const momentum = new Float64Array(count);
  const square = new Float64Array(count);
  for (let step = 1; step <= STEPS; step++) {
    const slope = weights.map(weight => weight * DECAY);
    for (const { rows, shares } of known) {
      const scores = scoresOf(rows, weights);
      const top = scores.reduce((most, score) => Math.max(most, score), Number.NEGATIVE_INFINITY);
      const powers = scores.map(score => Math.exp(score - top));
      const all = powers.reduce((sum, power) => sum + power, 0);
      for (let r = 0; r < powers.length; r++) {
        const error = ((powers[r] ?? 0) / all - (shares[r] ?? 0)) / known.length;
        for (let i = 0, at = r * count; i < count; i++, at++) {
          slope[i] = (slope[i] ?? 0) + error * (rows[at] ?? 0);
        }
      }
    }
    for (let i = 0; i < count; i++) {
      const own = slope[i] ?? 0;
      momentum[i] = 0.9 * (momentum[i] ?? 0) + 0.1 * own;
      square[i] = 0.99 * (square[i] ?? 0) + 0.01 * own * own;
      const unbiased = (momentum[i] ?? 0) / (1 - 0.9 ** step);
      const size = Math.sqrt((square[i] ?? 0) / (1 - 0.99 ** step));
      weights[i] = (weights[i] ?? 0) - (RATE * unbiased) / (size + 1e-8);
    }
  }
  return weights.map((weight, i) => weight / (spread[i] ?? 1));
}

function scoresOf(rows: Float64Array, weights: Float64Array): Float64Array {
  const count = weights.length;
  const scores = new Float64Array(rows.length / count);
  for (let r = 0, at = 0; r < scores.length; r++) {
    let score = 0;
    for (let i = 0; i < count; i++, at++) {
      score += (rows[at] ?? 0) * (weights[i] ?? 0);
    }
    scores[r] = score;
  }
  return scores;
}

function results10(stories: readonly Example[], weights: Float64Array) {
  return stories.map(({ changed, isChanged, rows }) => {
    const scores = scoresOf(rows, weights);
    const first = Array.from(scores.keys())
      .sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0))
      .slice(0, 10);
    const found = first.reduce((sum, file) => sum + (isChanged[file] ?? 0), 0);
    return { hit: Number(found > 0), recall: found / changed };
  });
}

function mean(values: readonly number[]): string {
  return `${((100 * values.reduce((sum, value) => sum + value, 0)) / values.length).toFixed(1)} %`;
}

/** The standard deviation of each signal. */
function deviations(stories: readonly Example[]): Float64Array {
  const count = names.length;
  const sums = new Float64Array(count);
  const squares = new Float64Array(count);
  let all = 0;
  for (const { rows } of stories) {
    all += rows.length / count;
    rows.forEach((value, i) => {
      sums[i % count] = (sums[i % count] ?? 0) + value;
      squares[i % count] = (squares[i % count] ?? 0) + value * value;
    });
  }
  return sums.map(
    (sum, i) => Math.sqrt(Math.max(0, (squares[i] ?? 0) / all - (sum / all) ** 2)) + 1e-6,
  );
}
