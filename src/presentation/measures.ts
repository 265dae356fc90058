import type { RunMetrics } from '../orchestrator/journal/runMetrics.ts';
import { percent, type Translate, wholeNumber } from './translate.ts';

/** One of the numbers by which it is judged how well agents are led. */
export interface Measure {
  readonly title: string;
  /** What a good run has; absent where nothing in particular is good. */
  readonly goal?: string;
  /** `undefined` if nothing could be measured. */
  readonly valueIn: (run: RunMetrics) => number | undefined;
  readonly wordsFor: (value: number) => string;
}

/** All measures, in the order in which they are shown. */
export function measures(t: Translate): readonly Measure[] {
  const asPercent = (value: number): string => percent(value, t);
  return [
    {
      title: t('Stories per iteration'),
      goal: t('at least {0}', '1'),
      valueIn: ({ iterations, storiesDone }) => share(storiesDone, iterations),
      wordsFor: value => value.toFixed(2),
    },
    {
      title: t('Prompts that led to a file'),
      goal: t('over {0}', percent(0.8, t)),
      valueIn: ({ hits, led }) => share(hits, led),
      wordsFor: asPercent,
    },
    {
      title: t('Used files that were named'),
      valueIn: ({ namedFiles, usedFiles }) => share(namedFiles, usedFiles),
      wordsFor: asPercent,
    },
    {
      title: t('New code that repeats some'),
      goal: t('under {0}', percent(0.05, t)),
      valueIn: ({ newCode, repeated }) => share(repeated, newCode),
      wordsFor: asPercent,
    },
    {
      title: t('Iterations with a full context'),
      goal: t('rare'),
      valueIn: ({ iterations, overflows }) => share(Math.min(overflows, iterations), iterations),
      wordsFor: asPercent,
    },
    {
      title: t('Tokens of a prompt'),
      valueIn: ({ promptTokens }) => promptTokens || undefined,
      wordsFor: value => wholeNumber(Math.round(value), t),
    },
  ];
}

/** Whether stories were finished in an order that their dependencies allow, in sentences. */
export function orderWords(
  violations: readonly { readonly story: string; readonly dependency: string }[],
  t: Translate,
): string {
  return violations.length === 0
    ? t('No story was finished before one that it depends on.')
    : violations
        .map(({ dependency, story }) =>
          t('{0} was finished before {1}, which it depends on.', story, dependency),
        )
        .join('\n');
}

function share(part: number, whole: number): number | undefined {
  return whole === 0 ? undefined : part / whole;
}
