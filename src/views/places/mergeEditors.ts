import path from 'node:path';
import { commands, l10n, type Tab, TabInputText, Uri, window, workspace } from 'vscode';
import { fileVersion } from '../../orchestrator/git/changes.ts';
import { type Settlement, settleAsIs } from '../../orchestrator/loop/settlement.ts';
import type { ConflictedFile } from '../../orchestrator/places/conflictedPlace.ts';
import { SETTLE_SCHEME } from '../common/contributions.ts';
import { plainLabel } from '../common/plainText.ts';
import { gitUri } from '../diff/gitFileSystem.ts';
import type { Folder } from '../folders/folder.ts';
import { settledUri } from './settledFileSystem.ts';

/** VS Code's own merge editor; the git extension opens it by this command, too. */
const OPEN_MERGE_EDITOR = '_open.mergeEditor';
/** Saves and closes the active one. @returns whether nothing is in conflict any more, or the person wants it so */
const COMPLETE_MERGE = 'mergeEditor.acceptMerge';
/** By the column of the group. */
const FOCUS = [
  'workbench.action.focusFirstEditorGroup',
  'workbench.action.focusSecondEditorGroup',
  'workbench.action.focusThirdEditorGroup',
  'workbench.action.focusFourthEditorGroup',
  'workbench.action.focusFifthEditorGroup',
  'workbench.action.focusSixthEditorGroup',
  'workbench.action.focusSeventhEditorGroup',
  'workbench.action.focusEighthEditorGroup',
];
const MAX_NAME = 80;
/** A person may have opened a file by its real path, too. */
const OWN_SCHEMES: ReadonlySet<string> = new Set(['file', SETTLE_SCHEME]);

/**
 * In the merge editor; as it is, with its marks, if VS Code has none, or a side of the file has another name, or a
 * person has begun to settle it in the text: the merge editor replaces the whole text of a file that has marks.
 */
export async function openMerge(
  folder: Folder,
  { base, branch, ours, root, theirs }: Settlement,
  { marks, path: file }: ConflictedFile,
): Promise<void> {
  const output = settledUri(path.join(root, file));
  const has = async (commit: string | undefined) =>
    commit !== undefined &&
    (await fileVersion(folder.path, { commit, path: file }).then(
      () => true,
      () => false,
    ));
  const isWhole = (await Promise.all([base, ours, theirs].map(has))).every(Boolean);
  const hasEditor = (await commands.getCommands(false)).includes(OPEN_MERGE_EDITOR);
  if (!isWhole || !hasEditor || marks === 'edited') {
    await window.showTextDocument(output, { preview: false });
    return;
  }
  // Of the kind that takes no review notes.
  const side = (commit: string) => gitUri(folder.path, { commit, path: file }, 'before');
  await commands.executeCommand(OPEN_MERGE_EDITOR, {
    base: gitUri(folder.path, { commit: base ?? '', path: file }, 'before'),
    input1: {
      uri: side(theirs),
      title: l10n.t('Agent'),
      description: theirs.slice(0, 7),
    },
    input2: {
      uri: side(ours),
      title: l10n.t('Has Landed'),
      description: `${plainLabel(branch, MAX_NAME)} ${ours.slice(0, 7)}`,
    },
    output,
  });
  // The next one would take the place of an editor in preview mode.
  await commands.executeCommand('workbench.action.keepEditor');
}

/**
 * Completes the merge editors of a settlement, as their own button does: VS Code asks if something is still in
 * conflict. What is completed counts as settled. What is not saved yet is saved.
 * @returns false if the person wants to continue with one
 */
export async function completeMerges(settlement: Settlement): Promise<boolean> {
  // Otherwise VS Code may ask whether to save a file, while its merge is being completed.
  if (!(await saveFilesOf(settlement))) {
    return false;
  }
  for (const tab of tabsOf(settlement)) {
    const merged = mergedFile(tab);
    if (merged !== undefined) {
      if (!(await isRevealed(tab))) {
        return false;
      }
      const result = await commands.executeCommand<unknown>(COMPLETE_MERGE);
      if (!isSuccess(result)) {
        return false;
      }
      const file = path.relative(settlement.root, merged.fsPath).split(path.sep).join('/');
      await settleAsIs(settlement, file);
    }
  }
  return true;
}

function isSuccess(result: unknown): boolean {
  return (
    typeof result === 'object' &&
    result !== null &&
    'successful' in result &&
    result.successful === true
  );
}

/** Saves what is open of a place, in whatever editor. @returns false if something could not be saved */
export async function saveFilesOf({ root }: Pick<Settlement, 'root'>): Promise<boolean> {
  for (const document of [...workspace.textDocuments, ...workspace.notebookDocuments]) {
    if (document.isDirty && isBelow(root, document.uri) && !(await document.save())) {
      return false;
    }
  }
  return true;
}

/** Only the active editor can be completed, and it must not be another one. */
async function isRevealed(tab: Tab): Promise<boolean> {
  const group = tab.group;
  const at = group.tabs.indexOf(tab);
  const focus = FOCUS[group.viewColumn - 1];
  if (focus === undefined) {
    return false;
  }
  await commands.executeCommand(focus);
  await commands.executeCommand('workbench.action.openEditorAtIndex', at);
  const active = window.tabGroups.activeTabGroup.activeTab;
  return active !== undefined && `${mergedFile(active)}` === `${mergedFile(tab)}`;
}

/** Closes the merge editors and the files of a place. */
export async function closeFilesOf(place: Pick<Settlement, 'root'>): Promise<void> {
  await window.tabGroups.close(tabsOf(place), true);
}

function tabsOf({ root }: Pick<Settlement, 'root'>): Tab[] {
  return window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .filter(tab => {
      const uri =
        mergedFile(tab) ?? (tab.input instanceof TabInputText ? tab.input.uri : undefined);
      return uri !== undefined && isBelow(root, uri);
    });
}

/** The file that a merge editor writes. Its class is not part of VS Code's stable interface. */
function mergedFile({ input }: Tab): Uri | undefined {
  const result = typeof input === 'object' && input !== null && 'result' in input && input.result;
  return result instanceof Uri ? result : undefined;
}

export function isBelow(root: string, { fsPath, scheme }: Uri): boolean {
  const relative = path.relative(root, fsPath);
  return OWN_SCHEMES.has(scheme) && !relative.startsWith('..') && !path.isAbsolute(relative);
}
