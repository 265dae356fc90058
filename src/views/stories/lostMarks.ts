import { env, type LogOutputChannel, l10n, window, workspace } from 'vscode';
import { messageOf } from '../../base/messageOf.ts';
import { reportingErrors } from '../common/errors.ts';
import { plainSentence } from '../common/plainText.ts';
import { errorWords } from '../common/translate.ts';
import type { Folder } from '../folders/folder.ts';

const MAX_NAMED = 5;

/** What a person has ticked or unticked. */
export interface Mark {
  readonly folder: Folder;
  /** Absolute path. */
  readonly storyFile: string;
  readonly storyId: string;
  readonly done: boolean;
}

/**
 * Warns of marks that the branch with the work would lose, once for all marks of one step. It does not wait for the person,
 * and an error while git is asked is only logged: the marks are made.
 */
export function warnOfLostMarks(marks: readonly (Mark | undefined)[], log: LogOutputChannel): void {
  void reportingErrors(log, async () => {
    const lost = await lostOf(marks).catch((error: unknown) => {
      log.warn(messageOf(error));
    });
    if (lost === undefined) {
      return;
    }
    const { command, ids, way } = lost;
    const text = l10n.t(
      'The mark of {0} may get lost, or be a conflict, when you go to the branch that has the work. To make it there instead, first take it back.',
      ids.slice(0, MAX_NAMED).join(', ') + (ids.length > MAX_NAMED ? ', \u2026' : ''),
    );
    const copy = l10n.t('Copy Command');
    const words = plainSentence(`${text} ${errorWords(way)}`);
    if ((await window.showWarningMessage(words, copy)) === copy) {
      await env.clipboard.writeText(command);
    }
  });
}

async function lostOf(marks: readonly (Mark | undefined)[]) {
  const ids: string[] = [];
  let lost: { readonly way: Error; readonly command: string } | undefined;
  for (const mark of marks) {
    // A running loop lands the mark with its work. Without trust, nothing is asked of git.
    if (mark === undefined || mark.folder.runs.current.alive || !workspace.isTrusted) {
      continue;
    }
    const { done, folder, storyFile, storyId: id } = mark;
    // Loaded on demand: most marks need no git.
    const { markElsewhere } = await import('../../orchestrator/workspace/landedElsewhere.ts');
    const found = await markElsewhere(folder.files, storyFile, { done, id });
    if (found !== undefined) {
      lost ??= found;
      ids.push(id);
    }
  }
  return lost && { ...lost, ids };
}
