import type { MarkdownString } from 'vscode';
import { withoutControls } from '../../base/text.ts';

/** Text like `1. ` starts a list; `appendText` escapes only the other list markers. */
const LIST_NUMBER = /^\d+[.)]$/;

/**
 * Appends foreign text verbatim. `appendText` alone would join all words by `&nbsp;`: long lines would break within
 * words, and a screen reader, which gets the raw Markdown, would spell them.
 */
export function appendWords(markdown: MarkdownString, text: string): MarkdownString {
  const [first = '', ...words] = withoutControls(text, ' ').trim().split(/\s+/);
  markdown.appendText(LIST_NUMBER.test(first) ? `${first} ${words.shift() ?? ''}` : first);
  for (const word of words) {
    markdown.appendMarkdown(' ').appendText(word);
  }
  return markdown;
}
