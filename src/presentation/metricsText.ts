import { withoutControls } from '../base/text.ts';
import type { RunMetrics } from '../orchestrator/journal/runMetrics.ts';
import { table } from './table.ts';
import { english, percent, type Translate, wholeNumber } from './translate.ts';

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
  const rows = shown.map(run => [run.startedAt.slice(0, 16).replace('T', ' '), ...cells(run, t)]);
  const headings = [
    t('run'),
    t('iterations'),
    t('stories per iteration'),
    t('prompts that led to a file'),
    t('used files that were named'),
    t('new code that repeats some'),
    t('tokens of a prompt'),
  ];
  const newest = shown.at(-1);
  const sections = Object.entries(newest?.sections ?? {})
    .sort(([, a], [, b]) => b - a)
    .map(([name, tokens]) => [name, wholeNumber(tokens, t)]);
  return withoutControls(
    [
      ...table(headings, rows, LEFT),
      '',
      t('Prompts of the newest run, by section:'),
      ...table([t('section'), t('tokens')], sections, LEFT),
      '',
      violations.length === 0
        ? t('No story was finished before one that it depends on.')
        : violations
            .map(({ dependency, story }) =>
              t('{0} was finished before {1}, which it depends on.', story, dependency),
            )
            .join('\n'),
    ].join('\n'),
  );
}

function cells(run: RunMetrics, t: Translate): string[] {
  const share = (part: number, whole: number): string =>
    whole === 0 ? UNKNOWN : percent(part / whole, t);
  return [
    wholeNumber(run.iterations, t),
    run.iterations === 0 ? UNKNOWN : (run.storiesDone / run.iterations).toFixed(2),
    share(run.hits, run.led),
    share(run.namedFiles, run.usedFiles),
    share(run.repeated, run.newCode),
    wholeNumber(run.promptTokens, t),
  ];
}
