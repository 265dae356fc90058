import type { MarkdownString } from 'vscode';
import { withoutControls } from '../../base/text.ts';

/** As `1. ` begins a list; `appendText` escapes the other marks of one. */
const LIST_NUMBER = /^\d+[.)]$/;

/**
 * Appends foreign text as text. `appendText` alone would glue all words together by `&nbsp;`, so that long lines break
 * within words, and a screen reader, which is given the Markdown as it is, would spell them.
 */
export function appendWords(markdown: MarkdownString, text: string): MarkdownString {
  const [first = '', ...words] = withoutControls(text, ' ').trim().split(/\s+/);
  markdown.appendText(LIST_NUMBER.test(first) ? `${first} ${words.shift() ?? ''}` : first);
  for (const word of words) {
    markdown.appendMarkdown(' ').appendText(word);
  }
  return markdown;
}
