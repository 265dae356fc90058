import { estimateTokens } from './tokens.ts';

/** As many items from the start as fit. */
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

/** As many items from the end as fit, in order. */
export function lastThatFit(
  lines: readonly string[],
  tokens: number,
): { shown: string[]; rest: number } {
  const { shown, rest } = firstThatFit([...lines].reverse(), tokens);
  return { shown: shown.reverse(), rest };
}

/** The number of omitted items, if any. */
export function andMore(rest: number, what = 'more'): string[] {
  return rest > 0 ? [`…and ${rest} ${what}`] : [];
}

/** Indents a block below a list item. */
export function indented(block: string): string {
  return block.replaceAll('\n', '\n  ');
}

/**
 * A part of the prompt with its heading.
 * @param body used unchanged: text from outside must be escaped before (foreignText.ts)
 */
export function section(title: string, body: string): string {
  return `## ${title}\n${body}`;
}

/** Steps as a numbered Markdown list; each must be one line. */
export function numbered(steps: readonly string[]): string {
  return steps.map((step, i) => `${i + 1}. ${step}`).join('\n');
}

/** Lines as a Markdown list; each must be one line. '' if there are none, see {@link bulletsOrNone}. */
export function bullets(lines: readonly string[]): string {
  return lines.map(line => `- ${line}`).join('\n');
}

/** Like {@link bullets}, but says so if there are none. */
export function bulletsOrNone(lines: readonly string[]): string {
  return lines.length === 0 ? '- none yet' : bullets(lines);
}
