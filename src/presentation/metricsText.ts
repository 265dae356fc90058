import { withoutControls } from '../base/text.ts';
import type { RunMetrics } from '../orchestrator/journal/runMetrics.ts';
import { measures, orderWords } from './measures.ts';
import { table } from './table.ts';
import { english, type Translate, wholeNumber } from './translate.ts';

/** Runs in the table, the newest ones. */
const MAX_RUNS = 20;
const LEFT: ReadonlySet<number> = new Set([0]);
/** Shown instead of a number that cannot be known. */
const UNKNOWN = '–';

/** The metrics of a folder's runs as lines in a monospaced font, the newest run last. */
export function metricsText(
  runs: readonly RunMetrics[],
  violations: readonly { readonly story: string; readonly dependency: string }[],
  t: Translate = english,
): string {
  const shown = runs.slice(-MAX_RUNS);
  const all = measures(t);
  const rows = shown.map(run => [
    run.startedAt.slice(0, 16).replace('T', ' '),
    wholeNumber(run.iterations, t),
    ...all.map(({ valueIn, wordsFor }) => {
      const value = valueIn(run);
      return value === undefined ? UNKNOWN : wordsFor(value);
    }),
  ]);
  const newest = shown.at(-1);
  const sections = Object.entries(newest?.sections ?? {})
    .sort(([, a], [, b]) => b - a)
    .map(([name, tokens]) => [name, wholeNumber(tokens, t)]);
  return withoutControls(
    [
      // Their titles are too long for the headings of columns.
      ...table(
        ['#', t('Measure'), t('Goal')],
        all.map(({ goal = '', title }, i) => [String(i + 1), title, goal]),
        new Set([1, 2]),
      ),
      '',
      ...table([t('Run'), t('Iterations'), ...all.map((_, i) => `#${i + 1}`)], rows, LEFT),
      '',
      t('Prompts of the newest run, by section:'),
      ...table([t('section'), t('tokens')], sections, LEFT),
      '',
      orderWords(violations, t),
    ].join('\n'),
  );
}
