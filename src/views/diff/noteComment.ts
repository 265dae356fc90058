import {
  type Comment,
  type CommentAuthorInformation,
  CommentMode,
  type CommentReply,
  type CommentThread,
  l10n,
  MarkdownString,
  Uri,
} from 'vscode';
import { HumanError } from '../../base/humanError.ts';
import { shorten } from '../../base/text.ts';
import { appendWords } from '../common/plainText.ts';
import type { ReviewNote } from './reviewNote.ts';

/** Maximum length of a story id in a label, in UTF-16 units. */
const MAX_ID = 80;

/** A note as a comment in the editor. */
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

  /** Menus depend on it: a note cannot be withdrawn once an agent has been told. */
  get contextValue(): 'pending' | 'told' {
    return this.note.toldIn === undefined ? 'pending' : 'told';
  }

  get label(): string {
    const { storyId, toldIn } = this.note;
    return toldIn !== undefined
      ? l10n.t('Delivered in iteration {0}', toldIn)
      : storyId === undefined
        ? l10n.t('Goes to the next agent')
        : l10n.t('Goes to the next agent on {0}', shorten(storyId, MAX_ID));
  }

  preview(): void {
    // A note is text, and nothing in it is rendered as Markdown. A screen reader gets the raw Markdown.
    this.body = appendLines(new MarkdownString(), this.note.text);
    this.mode = CommentMode.Preview;
  }

  edit(): void {
    this.body = this.note.text;
    this.mode = CommentMode.Editing;
  }

  /** VS Code detects a new list, but not a changed comment in it. */
  redraw(): void {
    this.thread.comments = [...this.thread.comments];
  }
}

/** Keeps the line breaks. */
function appendLines(markdown: MarkdownString, text: string): MarkdownString {
  for (const [index, line] of text.split('\n').entries()) {
    appendWords(index === 0 ? markdown : markdown.appendMarkdown('\n\n'), line);
  }
  return markdown;
}

/** A command can be called with any argument. @throws {HumanError} */
export function requireNote(argument: unknown): NoteComment {
  if (!(argument instanceof NoteComment)) {
    throw noNote();
  }
  return argument;
}

/** @throws {HumanError} if it is not what the editor passes for a new comment */
export function requireReply(argument: unknown): CommentReply {
  const reply = argument as Partial<CommentReply> | undefined;
  if (typeof reply?.text !== 'string' || !(reply.thread?.uri instanceof Uri)) {
    throw noNote();
  }
  return reply as CommentReply;
}

/** The note cannot be changed any more. */
export function alreadyTold(): HumanError {
  return new HumanError(
    l10n.t('An agent has already received this note. Write another one for the next agent.'),
  );
}

/** A command got no line of a run's version of a file. */
export function noNote(): HumanError {
  return new HumanError(
    l10n.t(
      'Review notes belong to lines that a run has changed. Open the changes of a story first.',
    ),
  );
}
