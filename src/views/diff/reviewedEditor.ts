import { type Tab, type TextEditor, window } from 'vscode';
import { ContextKeyValue } from '../common/contextKey.ts';
import { ContextKey } from '../common/contributions.ts';
import { Owner } from '../common/disposableStore.ts';
import { gitDocument } from './gitFileSystem.ts';

/** Tracks where a person reviews a run's version of a file, and sets the context key for the menus. */
export class ReviewedEditor extends Owner {
  private readonly reviewable = new ContextKeyValue<boolean>(ContextKey.reviewable);
  /** The last cursor position in such a file; while a note is being written, the note has the focus. */
  private last: { readonly editor: TextEditor; readonly tab: Tab | undefined } | undefined;

  constructor() {
    super();
    const follow = (editor: TextEditor | undefined) => {
      this.reviewable.set(isReviewable(editor));
      if (isReviewable(editor)) {
        this.last = { editor, tab: window.tabGroups.activeTabGroup.activeTab };
      }
    };
    this.own(window.onDidChangeActiveTextEditor(follow));
    this.own(
      window.tabGroups.onDidChangeTabs(({ closed }) => {
        if (this.last?.tab !== undefined && closed.includes(this.last.tab)) {
          this.last = undefined;
        }
      }),
    );
    follow(window.activeTextEditor);
  }

  /** @returns the editor with the cursor, or the one in the visible tab while a note has the focus */
  get current(): TextEditor | undefined {
    const active = window.activeTextEditor;
    const { editor, tab } = this.last ?? {};
    const isSameTab = tab !== undefined && tab === window.tabGroups.activeTabGroup.activeTab;
    return isReviewable(active) ? active : isSameTab ? editor : undefined;
  }
}

/** Whether an editor shows a run's version of a file. */
function isReviewable(editor: TextEditor | undefined): editor is TextEditor {
  return editor !== undefined && gitDocument(editor.document.uri)?.side === 'after';
}
