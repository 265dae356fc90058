import { shorten } from '../../base/text.ts';

/**
 * One line for places that render `$(name)` as an icon and `[text](link)` as a link: the status bar, quick picks, the
 * prompts of input boxes. Text of an agent, a story or a commit must become neither.
 */
export function plainLabel(text: string, max: number): string {
  return shorten(text, max).replaceAll('$(', '$ (').replaceAll('](', '] (');
}
