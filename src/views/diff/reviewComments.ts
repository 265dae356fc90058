import {
  type CommentController,
  type CommentReply,
  type CommentThread,
  CommentThreadCollapsibleState,
  commands,
  comments,
  type LogOutputChannel,
  l10n,
  Range,
  type TextDocument,
  Uri,
  window,
  workspace,
} from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { HumanError } from '../../base/humanError.ts';
import { shorten } from '../../base/text.ts';
import { readDecisions } from '../../orchestrator/journal/journal.ts';
import { requireOwnHints } from '../../orchestrator/workspace/ownHints.ts';
import {
  addPendingHint,
  removePendingHints,
  rewordPendingHint,
} from '../../orchestrator/workspace/pendingHints.ts';
import { runIds } from '../../orchestrator/workspace/runFiles.ts';
import { tickStory } from '../../orchestrator/workspace/tickStory.ts';
import { toldHints } from '../../orchestrator/workspace/toldHints.ts';
import { Command, REVIEW_CONTROLLER } from '../common/contributions.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import { reportingErrors } from '../common/errors.ts';
import { plainSentence } from '../common/plainSentence.ts';
import { registerCommand } from '../common/registerCommand.ts';
import { requireTrust } from '../common/workspaceFolder.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';
import { gitDocument, gitUri } from './gitFileSystem.ts';
import { NoteComment } from './noteComment.ts';
import type { RecordedWork } from './recordedWork.ts';
import { ReviewedEditor } from './reviewedEditor.ts';
import { hintOf, type ReviewNote } from './reviewNote.ts';
import type { ReviewNotes } from './reviewNotes.ts';

/** Maximum length of a note, in UTF-16 units; the prompt has less than two pages for one hint. */
const MAX_NOTE = 1_200;
const MAX_ID = 80;

/** A command can be called with any argument. @throws {HumanError} */
function requireNote(argument: unknown): NoteComment {
  if (!(argument instanceof NoteComment)) {
    throw noNote();
  }
  return argument;
}

/** @throws {HumanError} if it is not what the editor passes for a new comment */
function requireReply(argument: unknown): CommentReply {
  const reply = argument as Partial<CommentReply> | undefined;
  if (typeof reply?.text !== 'string' || !(reply.thread?.uri instanceof Uri)) {
    throw noNote();
  }
  return reply as CommentReply;
}

function alreadyTold(): HumanError {
  return new HumanError(
    l10n.t('An agent has already received this note. Write another one for the next agent.'),
  );
}

function noNote(): HumanError {
  return new HumanError(
    l10n.t(
      'Review notes belong to lines that a run has changed. Open the changes of a story first.',
    ),
  );
}

/** Comments on lines that runs have changed; each is a hint for the next agent on that story. */
export class ReviewComments implements Disposable {
  private readonly store = new DisposableStore();
  private readonly folders: Folders;
  private readonly work: RecordedWork;
  private readonly log: LogOutputChannel;
  private readonly notes: ReviewNotes;
  private readonly controller: CommentController;
  private readonly shown = new Map<string, NoteComment>();
  private readonly editors = this.store.add(new ReviewedEditor());
  /** Stories that the person was already asked about. */
  private readonly asked = new Set<string>();

  constructor(folders: Folders, work: RecordedWork, notes: ReviewNotes, log: LogOutputChannel) {
    this.folders = folders;
    this.work = work;
    this.log = log;
    this.notes = notes;
    const controller = comments.createCommentController(REVIEW_CONTROLLER, l10n.t('Review Notes'));
    this.controller = this.store.add(controller);
    controller.options = {
      prompt: l10n.t('Tell the next agent what to change here…'),
      placeHolder: l10n.t('What should the next agent change here?'),
    };
    controller.commentingRangeProvider = {
      provideCommentingRanges: document => this.rangesOf(document),
    };
    const register = (id: string, action: (argument: unknown) => Promise<void>) =>
      this.store.add(registerCommand(id, log, action));
    register(Command.noteOnLine, () => this.noteOnLine());
    register(Command.addReviewNote, reply => this.add(requireReply(reply)));
    register(Command.deleteReviewNote, comment =>
      this.delete(comment === undefined ? this.noteAtCursor() : requireNote(comment)),
    );
    register(Command.editReviewNote, async comment =>
      this.edit(comment === undefined ? this.noteAtCursor() : requireNote(comment)),
    );
    register(Command.saveReviewNote, comment => this.save(requireNote(comment)));
    register(Command.cancelReviewNote, async comment => this.cancel(requireNote(comment)));
    this.store.add(
      folders.inEach(folder =>
        folder.runs.onDidReadEvents(events => {
          if (events.some(({ type }) => type === 'iteration.started')) {
            void reportingErrors(log, () => this.markTold(folder, toldHints(folder.runs.events)));
          }
        }),
      ),
    );
    this.store.add(folders.onDidChange(() => this.showAll()));
    this.showAll();
    void this.lookAtOlderRuns();
  }

  dispose(): void {
    for (const { thread } of this.shown.values()) {
      thread.dispose();
    }
    this.store.dispose();
  }

  /** All lines of a run's version of a file. */
  private async rangesOf(document: TextDocument): Promise<Range[]> {
    const shown = gitDocument(document.uri);
    const folder = shown && this.folders.at(shown.folder);
    if (shown?.side !== 'after' || folder === undefined || !workspace.isTrusted) {
      return [];
    }
    const recorded = await this.work.commit(folder, shown.commit);
    return recorded === undefined ? [] : [new Range(0, 0, document.lineCount - 1, 0)];
  }

  /** Opens the input box for a note at the cursor, for people without a mouse. */
  private async noteOnLine(): Promise<void> {
    requireTrust();
    const document = this.editors.current?.document;
    if (document === undefined || (await this.rangesOf(document)).length === 0) {
      throw noNote();
    }
    await commands.executeCommand('workbench.action.addComment');
  }

  /** For the palette, which passes no note: the newest pending one. @throws {HumanError} */
  private noteAtCursor(): NoteComment {
    const editor = this.editors.current;
    const uri = editor?.document.uri.toString();
    const line = editor?.selection.active.line ?? -1;
    const here = [...this.shown.values()].filter(
      ({ note, thread }) =>
        thread.uri.toString() === uri && note.line <= line && line <= note.endLine,
    );
    const found = here.findLast(({ note }) => note.toldIn === undefined) ?? here.at(-1);
    if (found === undefined) {
      throw new HumanError(
        l10n.t(
          'There is no review note on this line. Go to a line that has one, in the changes of a story.',
        ),
      );
    }
    return found;
  }

  private async add({ text, thread }: CommentReply): Promise<void> {
    requireTrust();
    const shown = gitDocument(thread.uri);
    const folder = shown && this.folders.at(shown.folder);
    const words = text.trim();
    if (shown === undefined || folder === undefined || words === '') {
      return;
    }
    requireShort(words);
    await requireOwnHints(folder.files);
    const { start, end } = thread.range ?? new Range(0, 0, 0, 0);
    const recorded =
      (shown.of === 'run'
        ? await this.work.commitOfLines(folder, shown, start.line, end.line)
        : undefined) ?? (await this.work.commit(folder, shown.commit));
    const about = {
      folder: folder.path,
      commit: shown.commit,
      path: shown.path,
      of: shown.of,
      line: start.line,
      endLine: end.line,
      text: words,
      storyId: recorded?.storyId === undefined ? undefined : recorded.storyId,
    };
    const { at, id } = await addPendingHint(folder.files, {
      text: await hintText(about),
      storyId: about.storyId,
    });
    const note: ReviewNote = { ...about, id, at };
    await this.notes.set(note);
    this.attach(note, thread);
    if (about.storyId !== undefined) {
      // Not awaited: the note is stored, whatever the person answers.
      void reportingErrors(this.log, () => this.offerToReopen(folder, about.storyId ?? ''));
    }
  }

  private async delete(comment: NoteComment): Promise<void> {
    const { folder: path, id } = comment.note;
    const folder = this.folders.at(path);
    await this.requirePending(comment);
    if (folder !== undefined) {
      await removePendingHints(folder.files, new Set([id]));
    }
    await this.notes.remove(id);
    this.shown.delete(id);
    const { thread } = comment;
    thread.comments = thread.comments.filter(other => other !== comment);
    if (thread.comments.length === 0) {
      thread.dispose();
    }
  }

  private edit(comment: NoteComment): void {
    if (comment.note.toldIn !== undefined) {
      throw alreadyTold();
    }
    comment.edit();
    comment.redraw();
  }

  private cancel(comment: NoteComment): void {
    comment.preview();
    comment.redraw();
  }

  private async save(comment: NoteComment): Promise<void> {
    const words = (typeof comment.body === 'string' ? comment.body : comment.body.value).trim();
    if (words === '') {
      throw new HumanError(l10n.t('Write something first, or press Cancel.'));
    }
    requireShort(words);
    await this.requirePending(comment);
    const note = { ...comment.note, text: words };
    const folder = this.folders.at(note.folder);
    if (
      folder === undefined ||
      !(await rewordPendingHint(folder.files, note.id, await hintText(note)))
    ) {
      throw new HumanError(l10n.t('This note is no longer pending. Write a new one.'));
    }
    await this.notes.set(note);
    comment.note = note;
    comment.preview();
    comment.redraw();
  }

  /** The agent may have been told since the menu was shown. */
  private async requirePending(comment: NoteComment): Promise<void> {
    const folder = this.folders.at(comment.note.folder);
    await folder?.runs.refresh();
    if (folder !== undefined) {
      await this.markTold(folder, toldHints(folder.runs.events));
    }
    if (comment.note.toldIn !== undefined) {
      throw alreadyTold();
    }
  }

  /** Nobody works on a done story, so its note would wait forever. */
  private async offerToReopen(folder: Folder, storyId: string): Promise<void> {
    await folder.stories.refresh();
    const file = folder.stories.current;
    const story =
      file?.kind === 'stories' ? file.stories.find(({ id }) => id === storyId) : undefined;
    if (file === undefined || !story?.done || this.asked.has(storyId)) {
      return;
    }
    this.asked.add(storyId);
    const reopen = l10n.t('Set to Not Done');
    const choice = await window.showInformationMessage(
      plainSentence(
        l10n.t(
          '{0} is done, so no agent works on it. Set it to not done to have your notes worked on.',
          shorten(storyId, MAX_ID),
        ),
      ),
      reopen,
    );
    if (choice !== reopen) {
      return;
    }
    const { position } = story;
    const selector = { id: storyId, position };
    await tickStory(folder.files, file.path, selector, false, { expectedHash: file.hash });
    this.asked.delete(storyId);
    await folder.stories.refresh();
  }

  private showAll(): void {
    for (const note of this.notes.all) {
      if (!this.shown.has(note.id) && this.folders.at(note.folder) !== undefined) {
        this.show(note);
      }
    }
  }

  private show(note: ReviewNote): void {
    const uri = gitUri(note.folder, note, 'after', note.of);
    const range = new Range(note.line, 0, note.endLine, 0);
    const known = [...this.shown.values()].find(
      ({ thread }) => `${thread.uri}` === `${uri}` && thread.range?.isEqual(range),
    );
    this.attach(note, known?.thread ?? this.controller.createCommentThread(uri, range, []));
  }

  private attach(note: ReviewNote, thread: CommentThread): void {
    const comment = new NoteComment(note, thread);
    this.shown.set(note.id, comment);
    thread.label = l10n.t('Note for the Next Agent');
    thread.comments = [...thread.comments, comment];
    thread.collapsibleState =
      note.toldIn === undefined
        ? CommentThreadCollapsibleState.Expanded
        : CommentThreadCollapsibleState.Collapsed;
  }

  private async markTold(
    { path }: Folder,
    told: ReadonlyMap<string, { readonly iteration: number }>,
  ): Promise<void> {
    for (const note of this.notes.all) {
      const found = told.get(note.id);
      if (found === undefined || note.folder !== path || note.toldIn !== undefined) {
        continue;
      }
      const after = { ...note, toldIn: found.iteration };
      await this.notes.set(after);
      const comment = this.shown.get(note.id);
      if (comment !== undefined) {
        comment.note = after;
        comment.preview();
        comment.redraw();
      }
    }
  }

  /** Runs may have started and ended while no window was open. */
  private async lookAtOlderRuns(): Promise<void> {
    const isWaiting = ({ toldIn }: ReviewNote) => toldIn === undefined;
    try {
      for (const folder of this.folders.all) {
        const waits = () =>
          this.notes.all.some(note => note.folder === folder.path && isWaiting(note));
        const ids = waits() ? await runIds(folder.files) : [];
        for (const runId of ids.reverse()) {
          if (waits()) {
            await this.markTold(
              folder,
              toldHints(await readDecisions(folder.files.journalFile(runId))),
            );
          }
        }
      }
    } catch (error) {
      this.log.error(error instanceof Error ? error : String(error));
    }
  }
}

function requireShort(words: string): void {
  if (words.length > MAX_NOTE) {
    throw new HumanError(
      l10n.t(
        'This note has {0} characters, and agents get at most {1}. Write the long part to a file of the project and name it here.',
        words.length,
        MAX_NOTE,
      ),
    );
  }
}

async function hintText(about: Omit<ReviewNote, 'id' | 'at'>): Promise<string> {
  const document = await workspace.openTextDocument(gitUri(about.folder, about, 'after', about.of));
  const code: string[] = [];
  for (let line = about.line; line <= about.endLine && line < document.lineCount; line += 1) {
    code.push(document.lineAt(line).text);
  }
  return hintOf(about, code);
}
