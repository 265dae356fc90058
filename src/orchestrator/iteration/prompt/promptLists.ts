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

/**
 * A part of the prompt with its heading.
 * @param body goes in as it is: what others wrote must be made harmless before (foreignText.ts)
 */
export function section(title: string, body: string): string {
  return `## ${title}\n${body}`;
}

/** Steps as a list of Markdown; each must be one line. */
export function numbered(steps: readonly string[]): string {
  return steps.map((step, i) => `${i + 1}. ${step}`).join('\n');
}

/** Lines as a list of Markdown; each must be one line. '' for none, see {@link bulletsOrNone}. */
export function bullets(lines: readonly string[]): string {
  return lines.map(line => `- ${line}`).join('\n');
}

/** As {@link bullets}, and says so where there are none. */
export function bulletsOrNone(lines: readonly string[]): string {
  return lines.length === 0 ? '- none yet' : bullets(lines);
}
