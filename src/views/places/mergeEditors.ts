import path from 'node:path';
import { commands, l10n, type Tab, TabInputText, Uri, window, workspace } from 'vscode';
import { fileVersion } from '../../orchestrator/git/changes.ts';
import type { Settlement } from '../../orchestrator/loop/settlement.ts';
import type { ConflictedFile } from '../../orchestrator/places/conflictedPlace.ts';
import { plainLabel } from '../common/plainText.ts';
import { gitUri } from '../diff/gitFileSystem.ts';
import type { Folder } from '../folders/folder.ts';

/** VS Code's own merge editor; the git extension opens it by this command, too. */
const OPEN_MERGE_EDITOR = '_open.mergeEditor';
/** Saves and closes the active one. @returns whether nothing is in conflict any more, or the person wants it so */
const COMPLETE_MERGE = 'mergeEditor.acceptMerge';
const MAX_NAME = 80;

/** In the merge editor; as it is, with its marks, if VS Code has none or a side of the file has another name. */
export async function openMerge(
  folder: Folder,
  { base, branch, ours, root, theirs }: Settlement,
  { path: file }: ConflictedFile,
): Promise<void> {
  const output = Uri.file(path.join(root, file));
  const has = async (commit: string | undefined) =>
    commit !== undefined &&
    (await fileVersion(folder.path, { commit, path: file }).then(
      () => true,
      () => false,
    ));
  const isWhole = (await Promise.all([base, ours, theirs].map(has))).every(Boolean);
  const hasEditor = (await commands.getCommands(false)).includes(OPEN_MERGE_EDITOR);
  if (!isWhole || !hasEditor) {
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
 * conflict. Files that are open as text are saved.
 * @returns false if the person wants to go on with one
 */
export async function completeMerges(settlement: Settlement): Promise<boolean> {
  for (const tab of tabsOf(settlement)) {
    const { input } = tab;
    const merged = mergedFile(tab);
    if (merged !== undefined) {
      // Otherwise VS Code may ask whether to save it, while it is being completed.
      await workspace.textDocuments.find(({ uri }) => `${uri}` === `${merged}`)?.save();
      await reveal(tab);
      const result = await commands.executeCommand<unknown>(COMPLETE_MERGE);
      const isComplete =
        typeof result === 'object' && result !== null && 'successful' in result
          ? result.successful === true
          : true;
      if (!isComplete) {
        return false;
      }
    } else if (tab.isDirty && input instanceof TabInputText) {
      const document = await window.showTextDocument(input.uri);
      await document.document.save();
    }
  }
  return true;
}

/** Only the active editor can be completed. */
async function reveal(tab: Tab): Promise<void> {
  const group = tab.group;
  const at = group.tabs.indexOf(tab);
  const FOCUS = [
    'workbench.action.focusFirstEditorGroup',
    'workbench.action.focusSecondEditorGroup',
    'workbench.action.focusThirdEditorGroup',
    'workbench.action.focusFourthEditorGroup',
  ];
  await commands.executeCommand(FOCUS[(group.viewColumn ?? 1) - 1] ?? FOCUS[0] ?? '');
  await commands.executeCommand('workbench.action.openEditorAtIndex', at);
}

export async function closeFilesOf(settlement: Settlement): Promise<void> {
  await window.tabGroups.close(tabsOf(settlement), true);
}

function tabsOf({ root }: Settlement): Tab[] {
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
  return scheme === 'file' && !relative.startsWith('..') && !path.isAbsolute(relative);
}
