import {
  type Comment,
  type CommentAuthorInformation,
  CommentMode,
  type CommentThread,
  l10n,
  MarkdownString,
} from 'vscode';
import { shorten } from '../../base/text.ts';
import { appendWords } from '../common/tooltipText.ts';
import type { ReviewNote } from './reviewNote.ts';

/** Longest id of a story in a label, in UTF-16 units. */
const MAX_ID = 80;

/** A note as the comment that shows it. */
export class NoteComment implements Comment {
  body: string | MarkdownString = '';
  mode = CommentMode.Preview;
  readonly author: CommentAuthorInformation = { name: l10n.t('You') };
  readonly timestamp: Date;
  readonly thread: CommentThread;
  note: ReviewNote;

  constructor(note: ReviewNote, thread: CommentThread) {
    this.note = note;
    this.thread = thread;
    this.timestamp = new Date(note.at);
    this.preview();
  }

  /** Menus go by it: what an agent was told cannot be taken back. */
  get contextValue(): 'pending' | 'told' {
    return this.note.toldIn === undefined ? 'pending' : 'told';
  }

  get label(): string {
    const { storyId, toldIn } = this.note;
    return toldIn !== undefined
      ? l10n.t('Told in iteration {0}', toldIn)
      : storyId === undefined
        ? l10n.t('Goes to the next agent')
        : l10n.t('Goes to the next agent on {0}', shorten(storyId, MAX_ID));
  }

  preview(): void {
    // A note is text; nothing in it is drawn as Markdown. A screen reader is given the Markdown as it is.
    this.body = appendLines(new MarkdownString(), this.note.text);
    this.mode = CommentMode.Preview;
  }

  edit(): void {
    this.body = this.note.text;
    this.mode = CommentMode.Editing;
  }

  /** VS Code sees another list, not another comment in it. */
  redraw(): void {
    this.thread.comments = [...this.thread.comments];
  }
}

/** Line by line, as it was written. */
function appendLines(markdown: MarkdownString, text: string): MarkdownString {
  for (const [index, line] of text.split('\n').entries()) {
    appendWords(index === 0 ? markdown : markdown.appendMarkdown('\n\n'), line);
  }
  return markdown;
}
