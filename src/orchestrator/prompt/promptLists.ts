import { estimateTokens } from './tokens.ts';

/** As many from the front as fit. */
export function firstThatFit(
  lines: readonly string[],
  tokens: number,
): { shown: string[]; rest: number } {
  const shown: string[] = [];
  let left = tokens;
  for (const line of lines) {
    left -= estimateTokens(line) + 1;
    if (left < 0 && shown.length > 0) {
      break;
    }
    shown.push(line);
  }
  return { shown, rest: lines.length - shown.length };
}

/** As many from the end as fit, in their order. */
export function lastThatFit(
  lines: readonly string[],
  tokens: number,
): { shown: string[]; rest: number } {
  const { shown, rest } = firstThatFit([...lines].reverse(), tokens);
  return { shown: shown.reverse(), rest };
}

/** How many were left out, when some were. */
export function andMore(rest: number, what = 'more'): string[] {
  return rest > 0 ? [`…and ${rest} ${what}`] : [];
}

/** Below a list item. */
export function indented(block: string): string {
  return block.replaceAll('\n', '\n  ');
}

export function section(title: string, body: string): string {
  return `## ${title}\n${body}`;
}

export function numbered(steps: readonly string[]): string {
  return steps.map((step, i) => `${i + 1}. ${step}`).join('\n');
}

export function bullets(lines: readonly string[]): string {
  return lines.map(line => `- ${line}`).join('\n');
}

export function bulletsOrNone(lines: readonly string[]): string {
  return lines.length === 0 ? '- none yet' : bullets(lines);
}
