import type { MarkdownString } from 'vscode';
import { withoutControls } from '../orchestrator/text.ts';

/**
 * Appends foreign text as text. `appendText` alone would glue all words together, so that long lines break within
 * words; the first two stay glued, since a line that begins with `1. ` would become a list.
 */
export function appendWords(markdown: MarkdownString, text: string): MarkdownString {
  const [first = '', second, ...words] = withoutControls(text, ' ').trim().split(/\s+/);
  markdown.appendText(second === undefined ? first : `${first} ${second}`);
  for (const word of words) {
    markdown.appendMarkdown(' ').appendText(word);
  }
  return markdown;
}
