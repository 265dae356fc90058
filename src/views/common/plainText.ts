import type { MarkdownString } from 'vscode';
import { shorten, withoutControls } from '../../base/text.ts';

/**
 * One line for places that render `$(name)` as an icon and `[text](link)` as a link: the status bar, quick picks, the
 * prompts of input boxes. Text of an agent, a story or a commit must become neither.
 */
export function plainLabel(text: string, max: number): string {
  return shorten(text, max).replaceAll('$(', '$ (').replaceAll('](', '] (');
}

/**
 * One line that the workbench shows verbatim: notifications and view messages render Markdown links, and text of an
 * agent, a story or a commit must not become one.
 */
export function plainSentence(text: string): string {
  return withoutControls(text)
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('](', '] (');
}

/** Text of a line for a screen reader: it may read a dot between words as "middle dot", but a comma as a pause. */
export function heardWords(words: string): string {
  return words.replaceAll(' · ', ', ');
}

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
