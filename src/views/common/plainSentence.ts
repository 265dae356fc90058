import { withoutControls } from '../../base/text.ts';

/**
 * One line that the workbench shows as it is: notifications and view messages draw Markdown links, and
 * what an agent, a story or a commit says must not become one.
 */
export function plainSentence(text: string): string {
  return withoutControls(text)
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('](', '] (');
}
