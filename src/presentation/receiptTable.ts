import { titleNextTo } from '../base/storyTitle.ts';
import { shorten, withoutControls } from '../base/text.ts';
import type { RunEvent } from '../orchestrator/journal/events.ts';
import { iterationRows } from '../orchestrator/journal/iterationRows.ts';
import type { IterationReceipt, RunReceipt, Spent } from '../orchestrator/journal/receipt.ts';
import { duplicateWords } from './duplicateLines.ts';
import { outcomeWord, reasonLines, reasonWords } from './iterationWords.ts';
import { table } from './table.ts';
import { costWords, duration, english, type Translate, tenths, wholeNumber } from './translate.ts';
import { widthOf } from './wrapLine.ts';

/** Maximum length of a story id in the table, in UTF-16 units. */
const MAX_ID = 24;
const MAX_SUBJECT = 100;
const MAX_DUPLICATE = 300;
/** Shown instead of an unknown number. */
const UNTOLD = '–';

/**
 * A run's receipt as lines in a monospaced font: its iterations, its stories, the total.
 * @param columns of the terminal; in a narrow one, some numbers are left out
 */
export function receiptText(
  receipt: RunReceipt,
  t: Translate = english,
  columns = Number.POSITIVE_INFINITY,
): string {
  const { agent, iterations, model, payer, planning, run, stories, total } = receipt;
  const models = iterations.flatMap(({ model: own }) => own ?? []);
  const facts = [
    ...(run === null ? [] : [t('Run {0}', run)]),
    [...new Set([agent, ...(models.length === 0 ? [model] : models)])].filter(Boolean).join(', '),
    payer === 'apiKey' ? t('billed to the API account') : '',
  ];
  const rows = [
    ...(planning ? [[t('plan'), '', '', ...spentCells(planning, t)]] : []),
    ...iterations.map(receipt => [
      String(receipt.iteration),
      shorten(receipt.story ?? '', MAX_ID),
      outcomeCell(receipt, t),
      ...spentCells(receipt, t),
    ]),
  ];
  const sums = [
    ...(stories.length > 1 || stories[0]?.story
      ? stories.map(receipt => [
          times(receipt.iterations),
          shorten(receipt.story ?? '', MAX_ID),
          outcomeCell(receipt, t),
          ...spentCells(receipt, t),
        ])
      : []),
    [times(total.iterations), t('total'), '', ...spentCells(total, t)],
  ];
  const headings = ['#', t('story'), t('outcome'), ...spentHeadings(t)];
  const spare = [...SPARE];
  const tables = () =>
    [rows, sums].map(cells => {
      const shown = ([head = '', ...row]: readonly string[]) => [
        head,
        ...row.filter((_, i) => !without.includes(i + 1)),
      ];
      return table(shown(headings), cells.map(shown), LEFT);
    });
  const without: number[] = [];
  let lines = tables();
  while (spare.length > 0 && lines.flat().some(line => widthOf(line) > columns)) {
    without.push(...spare.splice(0, 1));
    lines = tables();
  }
  const left = without.map(column => headings[column]).join(', ');
  const [ofIterations = [], ofStories = []] = lines;
  return withoutControls(
    [
      facts.filter(fact => fact !== '').join(' · '),
      '',
      ...(rows.length === 0 ? [t('No iteration yet.')] : ofIterations),
      '',
      ...ofStories,
      ...(left === '' ? [] : ['', t('No room for: {0}. See them with --json.', left)]),
    ].join('\n'),
  );
}

/**
 * Receipt of one iteration, with its commits.
 * @param events of its run: they say why it ended like this
 */
export function iterationText(
  receipt: RunReceipt,
  events: readonly RunEvent[],
  t: Translate = english,
): string {
  const [iteration] = receipt.iterations;
  if (iteration === undefined) {
    return '';
  }
  const { reason } =
    iterationRows(events, { alive: false }).findLast(
      ({ number }) => number === iteration.iteration,
    ) ?? {};
  const { commitList, duplicates, durationMs, inputTokens, model, outputTokens, story, title } =
    iteration;
  return withoutControls(
    [
      t('Iteration {0}: {1}', iteration.iteration, outcomeCell(iteration, t)),
      ...(reason === undefined ? [] : reasonLines(reason, t)),
      ...(story === null
        ? []
        : [shorten(`${story}: ${titleNextTo(story, title ?? '')}`, MAX_SUBJECT)]),
      [
        time(durationMs, t),
        ...(isUntold(iteration, iteration.turns) ? [] : [turnCount(iteration.turns, t)]),
        costWords(iteration, t),
        ...(model === null ? [] : [shorten(model, MAX_SUBJECT)]),
      ].join(' · '),
      isUntold(iteration, tokensIn(iteration) + outputTokens)
        ? t('Tokens: not reported by the agent')
        : t(
            'Tokens: {0} in, {1} out, {2} read from the cache, {3} written to it',
            wholeNumber(inputTokens, t),
            wholeNumber(outputTokens, t),
            wholeNumber(iteration.cacheReadTokens, t),
            wholeNumber(iteration.cacheWriteTokens, t),
          ),
      ...(commitList.length === 0 ? [t('No commit.')] : [t('Commits:')]),
      ...commitList.map(
        ({ hash, subject }) => `  ${hash.slice(0, 7)} ${shorten(subject, MAX_SUBJECT)}`,
      ),
      ...(duplicates === null || duplicates.length === 0
        ? []
        : [t('Repeats what was there already:')]),
      ...duplicateWords(duplicates ?? [], t).map(words => `  ${shorten(words, MAX_DUPLICATE)}`),
    ].join('\n'),
  );
}

/** A receipt as data, with the reasons. @param events of its run */
export function receiptData(receipt: RunReceipt, events: readonly RunEvent[]) {
  const reasons = reasonsOf(events, english);
  return {
    ...receipt,
    iterations: receipt.iterations.map(one => ({
      ...one,
      reason: reasons.get(one.iteration) ?? null,
    })),
  };
}

/** Why iterations ended as they did, by their numbers; nothing about those that went well. */
function reasonsOf(events: readonly RunEvent[], t: Translate): ReadonlyMap<number, string> {
  return new Map(
    iterationRows(events, { alive: false }).flatMap(({ number, reason }) => {
      const words = reason && reasonWords(reason, t);
      return words === undefined ? [] : [[number, withoutControls(words)] as const];
    }),
  );
}

/** Text columns are aligned to the left, numbers to the right. */
const LEFT: ReadonlySet<number> = new Set([1, 2]);
/** Columns that a narrow terminal does without: turns, tokens, commits. */
const SPARE: readonly number[] = [4, 5, 6, 8];

function spentHeadings(t: Translate): string[] {
  return [t('time'), t('turns'), t('tokens in'), t('tokens out'), t('cost'), t('commits')];
}

function outcomeCell({ outcome }: Pick<IterationReceipt, 'outcome'>, t: Translate): string {
  return outcome === null ? t('not ended') : outcomeWord(outcome, t);
}

function spentCells(spent: Spent, t: Translate): string[] {
  return [
    time(spent.durationMs, t),
    isUntold(spent, spent.turns) ? UNTOLD : String(spent.turns),
    ...[tokensIn(spent), spent.outputTokens].map(tokens =>
      isUntold(spent, tokens) ? UNTOLD : wholeNumber(tokens, t),
    ),
    spent.costUnknown && spent.costUsd === 0 ? t('unknown') : costWords(spent, t),
    String(spent.commits),
  ];
}

/** All input tokens of the model, cached or not. */
function tokensIn(spent: Spent): number {
  return spent.inputTokens + spent.cacheReadTokens + spent.cacheWriteTokens;
}

/** An agent that does not report its cost reports neither turns nor tokens. */
function isUntold({ costUnknown }: Spent, count: number): boolean {
  return costUnknown && count === 0;
}

function turnCount(turns: number, t: Translate): string {
  return turns === 1 ? t('1 turn') : t('{0} turns', turns);
}

function times(iterations: number): string {
  return `${iterations}×`;
}

function time(ms: number, t: Translate): string {
  return Math.round(ms / 1_000) < 60 ? duration(ms, t) : t('{0} min', tenths(ms / 60_000, t));
}
