/** One line of the table. */
export interface Row {
  readonly what: string;
  readonly budget: string;
  readonly value: string;
  /** Compared with something measured in the same run. */
  readonly ratio?: string;
  readonly isWithin: boolean;
  /** Whether it may fail the command; only values that do not depend on the speed of the machine. */
  readonly decides: boolean;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1
    ? (sorted[Math.floor(middle)] ?? 0)
    : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** Median of several synchronous runs, in ms; the first ones only warm up. */
export function medianMs(action: () => void, runs: number, warmUps = 3): number {
  const times = Array.from({ length: warmUps + runs }, () => {
    const startedAt = performance.now();
    action();
    return performance.now() - startedAt;
  });
  return median(times.slice(warmUps));
}

/** As Markdown, aligned for a terminal. */
export function tableOf(rows: readonly Row[]): string {
  const cells = [
    ['what', 'budget', 'value', 'ratio', ''],
    ...rows.map(({ budget, isWithin, ratio = '', value, what }) => [
      ...[what, budget, value, ratio, isWithin ? 'ok' : 'over'],
    ]),
  ];
  const widths = [0, 1, 2, 3, 4].map(i => Math.max(2, ...cells.map(row => row[i]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = cells;
  return [
    line(head),
    `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`,
    ...body.map(line),
  ].join('\n');
}
