import { withoutControls } from '../../base/text.ts';

/**
 * One line that the workbench shows verbatim: notifications and view messages render Markdown links, and text of an
 * agent, a story or a commit must not become one.
 */
export function plainSentence(text: string): string {
  return withoutControls(text)
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('](', '] (');
}
