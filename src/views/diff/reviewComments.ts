import {
  type CommentReply,
  type CommentThread,
  CommentThreadCollapsibleState,
  commands,
  comments,
  type LogOutputChannel,
  l10n,
  Range,
  type TextDocument,
  type TextEditor,
  window,
  workspace,
} from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { HumanError } from '../../base/humanError.ts';
import { shorten } from '../../base/text.ts';
import { readDecisions } from '../../orchestrator/journal/journal.ts';
import { tickStory } from '../../orchestrator/loop/tickStory.ts';
import { requireOwnHints } from '../../orchestrator/workspace/ownHints.ts';
import {
  addPendingHint,
  removePendingHints,
  rewordPendingHint,
} from '../../orchestrator/workspace/pendingHints.ts';
import { runIds } from '../../orchestrator/workspace/runIds.ts';
import { toldHints } from '../../orchestrator/workspace/toldHints.ts';
import { Command, REVIEW_CONTROLLER } from '../common/contributions.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import { reportingErrors } from '../common/errors.ts';
import { plainSentence } from '../common/plainText.ts';
import { registerCommands } from '../common/registerCommand.ts';
import { requireTrust } from '../common/workspaceFolder.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';
import { gitDocument, gitUri } from './gitFileSystem.ts';
import { alreadyTold, NoteComment, noNote, requireNote, requireReply } from './noteComment.ts';
import type { RecordedWork } from './recordedWork.ts';
import { ReviewedEditor } from './reviewedEditor.ts';
import { hintOf, type ReviewNote } from './reviewNote.ts';
import type { ReviewNotes } from './reviewNotes.ts';

/** Maximum length of a note, in UTF-16 units; the prompt has less than two pages for one hint. */
const MAX_NOTE = 1_200;
const MAX_ID = 80;

/** Comments on lines that runs have changed; each is a hint for the next agent on that story. */
export function reviewComments(
  folders: Folders,
  work: RecordedWork,
  notes: ReviewNotes,
  log: LogOutputChannel,
): Disposable {
  const store = new DisposableStore();
  const byId = new Map<string, NoteComment>();
  const editors = store.add(new ReviewedEditor());
  const controller = store.add(
    comments.createCommentController(REVIEW_CONTROLLER, l10n.t('Review Notes')),
  );
  /** Runs and stories that the person was already asked about. */
  const asked = new Set<string>();

  /** All lines of a run's version of a file. */
  async function rangesOf(document: TextDocument): Promise<Range[]> {
    const shown = gitDocument(document.uri);
    const folder = shown && folders.at(shown.folder);
    if (shown?.side !== 'after' || folder === undefined || !workspace.isTrusted) {
      return [];
    }
    const recorded = await work.commit(folder, shown.commit);
    return recorded === undefined ? [] : [new Range(0, 0, document.lineCount - 1, 0)];
  }

  /** Opens the input box for a note at the cursor, for people without a mouse. */
  async function noteOnLine(): Promise<void> {
    requireTrust();
    const editor = editors.current;
    if (editor === undefined || (await rangesOf(editor.document)).length === 0) {
      throw noNote();
    }
    if (editor === window.activeTextEditor && isCursorOutOfSight(editor)) {
      // A note on a line that the diff leaves out could not be seen, and the cursor of a diff often starts on one. This
      // moves the cursor to a line that is shown; if a person has only scrolled away from it, it stays on its line.
      await commands.executeCommand('cursorMove', { to: 'wrappedLineStart' });
    }
    await commands.executeCommand('workbench.action.addComment');
  }

  /** For the palette, which passes no note: the newest pending one. @throws {HumanError} */
  function noteAtCursor(): NoteComment {
    const editor = editors.current;
    const uri = editor?.document.uri.toString();
    const line = editor?.selection.active.line ?? -1;
    const here = [...byId.values()].filter(
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

  async function add({ text, thread }: CommentReply): Promise<void> {
    requireTrust();
    const shown = gitDocument(thread.uri);
    const folder = shown && folders.at(shown.folder);
    const words = text.trim();
    if (shown === undefined || folder === undefined || words === '') {
      return;
    }
    requireShort(words);
    await requireOwnHints(folder.files);
    const { start, end } = thread.range ?? new Range(0, 0, 0, 0);
    const recorded =
      (shown.of === 'run'
        ? await work.commitOfLines(folder, shown, start.line, end.line)
        : undefined) ?? (await work.commit(folder, shown.commit));
    const about = {
      folder: folder.path,
      commit: shown.commit,
      path: shown.path,
      of: shown.of,
      line: start.line,
      endLine: end.line,
      text: words,
      storyId: recorded?.storyId,
    };
    const { at, id } = await addPendingHint(folder.files, {
      text: await hintText(about),
      storyId: about.storyId,
    });
    const note: ReviewNote = { ...about, id, at };
    await notes.set(note);
    attach(note, thread);
    if (about.storyId !== undefined) {
      // Not awaited: the note is stored, whatever the person answers.
      void reportingErrors(log, () => offerToReopen(folder, about.storyId ?? ''));
    }
  }

  async function remove(comment: NoteComment): Promise<void> {
    const { folder: path, id } = comment.note;
    const folder = folders.at(path);
    await requirePending(comment);
    if (folder !== undefined) {
      await removePendingHints(folder.files, new Set([id]));
    }
    await notes.remove(id);
    byId.delete(id);
    const { thread } = comment;
    thread.comments = thread.comments.filter(other => other !== comment);
    if (thread.comments.length === 0) {
      thread.dispose();
    }
  }

  function edit(comment: NoteComment): void {
    if (comment.note.toldIn !== undefined) {
      throw alreadyTold();
    }
    comment.edit();
    comment.redraw();
  }

  function cancel(comment: NoteComment): void {
    comment.preview();
    comment.redraw();
  }

  async function save(comment: NoteComment): Promise<void> {
    const words = (typeof comment.body === 'string' ? comment.body : comment.body.value).trim();
    if (words === '') {
      throw new HumanError(l10n.t('Write something first, or press Cancel.'));
    }
    requireShort(words);
    await requirePending(comment);
    const note = { ...comment.note, text: words };
    const folder = folders.at(note.folder);
    if (
      folder === undefined ||
      !(await rewordPendingHint(folder.files, note.id, await hintText(note)))
    ) {
      throw new HumanError(l10n.t('This note is no longer pending. Write a new one.'));
    }
    await notes.set(note);
    comment.note = note;
    comment.preview();
    comment.redraw();
  }

  /** The agent may have been told since the menu was shown. */
  async function requirePending(comment: NoteComment): Promise<void> {
    const folder = folders.at(comment.note.folder);
    await folder?.runs.refresh();
    if (folder !== undefined) {
      await markTold(folder, toldHints(folder.runs.events));
    }
    if (comment.note.toldIn !== undefined) {
      throw alreadyTold();
    }
  }

  /** Nobody works on a done story, so its note would wait forever. */
  async function offerToReopen(folder: Folder, storyId: string): Promise<void> {
    await folder.stories.refresh();
    const { current: file, list } = folder.stories;
    const story = list.find(({ id }) => id === storyId);
    const question = `${folder.path} ${folder.runs.current.runId} ${storyId}`;
    if (file === undefined || !story?.done || asked.has(question)) {
      return;
    }
    asked.add(question);
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
    await tickStory(folder.files, file.path, selector, false, {
      expectedHash: file.hash,
      access: { mayRun: workspace.isTrusted, env: process.env },
    });
    asked.delete(question);
    await folder.stories.refresh();
  }

  function showAll(): void {
    for (const note of notes.all) {
      if (!byId.has(note.id) && folders.at(note.folder) !== undefined) {
        show(note);
      }
    }
  }

  function show(note: ReviewNote): void {
    const uri = gitUri(note.folder, note, 'after', note.of);
    const range = new Range(note.line, 0, note.endLine, 0);
    const known = [...byId.values()].find(
      ({ thread }) => `${thread.uri}` === `${uri}` && thread.range?.isEqual(range),
    );
    attach(note, known?.thread ?? controller.createCommentThread(uri, range, []));
  }

  function attach(note: ReviewNote, thread: CommentThread): void {
    const comment = new NoteComment(note, thread);
    byId.set(note.id, comment);
    thread.label = l10n.t('Note for the Next Agent');
    thread.comments = [...thread.comments, comment];
    thread.collapsibleState =
      note.toldIn === undefined
        ? CommentThreadCollapsibleState.Expanded
        : CommentThreadCollapsibleState.Collapsed;
  }

  async function markTold(
    { path }: Folder,
    told: ReadonlyMap<string, { readonly iteration: number }>,
  ): Promise<void> {
    for (const note of notes.all) {
      const found = told.get(note.id);
      if (found === undefined || note.folder !== path || note.toldIn !== undefined) {
        continue;
      }
      const after = { ...note, toldIn: found.iteration };
      await notes.set(after);
      const comment = byId.get(note.id);
      if (comment !== undefined) {
        comment.note = after;
        comment.preview();
        comment.redraw();
      }
    }
  }

  /** Runs may have started and ended while no window was open. */
  async function lookAtOlderRuns(): Promise<void> {
    const isWaiting = ({ toldIn }: ReviewNote) => toldIn === undefined;
    try {
      for (const folder of folders.all) {
        const waits = () => notes.all.some(note => note.folder === folder.path && isWaiting(note));
        const ids = waits() ? await runIds(folder.files) : [];
        for (const runId of ids.reverse()) {
          if (waits()) {
            await markTold(folder, toldHints(await readDecisions(folder.files.journalFile(runId))));
          }
        }
      }
    } catch (error) {
      log.error(error instanceof Error ? error : String(error));
    }
  }

  controller.options = {
    prompt: l10n.t('Tell the next agent what to change here…'),
    placeHolder: l10n.t('What should the next agent change here?'),
  };
  controller.commentingRangeProvider = { provideCommentingRanges: rangesOf };
  const noteOf = (argument: unknown) =>
    argument === undefined ? noteAtCursor() : requireNote(argument);
  store.add(
    registerCommands(log, {
      [Command.noteOnLine]: noteOnLine,
      [Command.addReviewNote]: reply => add(requireReply(reply)),
      [Command.deleteReviewNote]: comment => remove(noteOf(comment)),
      [Command.editReviewNote]: async comment => edit(noteOf(comment)),
      [Command.saveReviewNote]: comment => save(requireNote(comment)),
      [Command.cancelReviewNote]: async comment => cancel(requireNote(comment)),
    }),
  );
  store.add(
    folders.inEach(folder =>
      folder.runs.onDidReadEvents(events => {
        if (events.some(({ type }) => type === 'iteration.started')) {
          void reportingErrors(log, () => markTold(folder, toldHints(folder.runs.events)));
        }
      }),
    ),
  );
  store.add(folders.onDidChange(showAll));
  showAll();
  void lookAtOlderRuns();
  return {
    dispose: () => {
      for (const { thread } of byId.values()) {
        thread.dispose();
      }
      store.dispose();
    },
  };
}

function isCursorOutOfSight({ selection, visibleRanges }: TextEditor): boolean {
  return selection.isEmpty && visibleRanges.every(range => !range.contains(selection.active));
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
