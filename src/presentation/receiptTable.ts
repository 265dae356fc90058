import type { RunReceipt, Spent } from '../orchestrator/receipts.ts';
import { shorten, withoutControls } from '../orchestrator/text.ts';
import { table } from './table.ts';

/** Longest story id in the table, in UTF-16 units. */
const MAX_ID = 24;
const MAX_SUBJECT = 100;

const SPENT_HEADINGS = ['minutes', 'turns', 'tokens in', 'tokens out', 'cost', 'commits'];

/** A run's receipt as lines for a terminal: its iterations, its stories, the sum. */
export function receiptText(receipt: RunReceipt): string {
  const { agent, iterations, model, payer, planning, run, stories, total } = receipt;
  const facts = [
    ...(run === null ? [] : [`Run ${run}`]),
    [agent, model].filter(Boolean).join(', '),
    payer === 'apiKey' ? 'billed to the API account' : '',
  ];
  const rows = [
    ...(planning ? [['plan', '', '', ...spentCells(planning)]] : []),
    ...iterations.map(receipt => [
      String(receipt.iteration),
      shorten(receipt.story ?? '', MAX_ID),
      receipt.outcome ?? 'not ended',
      ...spentCells(receipt),
    ]),
  ];
  const sums = [
    ...(stories.length > 1 || stories[0]?.story
      ? stories.map(receipt => [
          times(receipt.iterations),
          shorten(receipt.story ?? '', MAX_ID),
          receipt.outcome ?? 'not ended',
          ...spentCells(receipt),
        ])
      : []),
    [times(total.iterations), 'total', '', ...spentCells(total)],
  ];
  return withoutControls(
    [
      facts.filter(fact => fact !== '').join(' · '),
      '',
      ...(rows.length === 0
        ? ['No iteration yet.']
        : table(['#', 'story', 'outcome', ...SPENT_HEADINGS], rows, LEFT)),
      '',
      ...table(['iterations', 'story', 'outcome', ...SPENT_HEADINGS], sums, LEFT),
    ].join('\n'),
  );
}

/** Receipt of one iteration, with its commits. */
export function iterationText(receipt: RunReceipt): string {
  const [iteration] = receipt.iterations;
  if (iteration === undefined) {
    return '';
  }
  const { commitList, durationMs, inputTokens, outputTokens, story, title } = iteration;
  return withoutControls(
    [
      `Iteration ${iteration.iteration}: ${iteration.outcome ?? 'not ended'}`,
      ...(story === null ? [] : [shorten(`${story}: ${title ?? ''}`, MAX_SUBJECT)]),
      `${minutes(durationMs)} min · ${iteration.turns} turns · ${cost(iteration)}`,
      `Tokens: ${count(inputTokens)} in, ${count(outputTokens)} out, ${count(iteration.cacheReadTokens)} read from the cache, ${count(iteration.cacheWriteTokens)} written to it`,
      ...(commitList.length === 0 ? ['No commit.'] : ['Commits:']),
      ...commitList.map(
        ({ hash, subject }) => `  ${hash.slice(0, 7)} ${shorten(subject, MAX_SUBJECT)}`,
      ),
    ].join('\n'),
  );
}

/** Texts to the left, numbers to the right. */
const LEFT: ReadonlySet<number> = new Set([1, 2]);

function spentCells(spent: Spent): string[] {
  return [
    minutes(spent.durationMs),
    String(spent.turns),
    // All that the model read, whether it came from the cache or not.
    count(spent.inputTokens + spent.cacheReadTokens + spent.cacheWriteTokens),
    count(spent.outputTokens),
    cost(spent),
    String(spent.commits),
  ];
}

function cost({ costEstimated, costUsd }: Spent): string {
  return `${costEstimated ? '≈ ' : ''}$${costUsd.toFixed(2)}`;
}

function times(iterations: number): string {
  return `${iterations}×`;
}

function minutes(ms: number): string {
  return (ms / 60_000).toFixed(1);
}

function count(tokens: number): string {
  return tokens.toLocaleString('en-US');
}
