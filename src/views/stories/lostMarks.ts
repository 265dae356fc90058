import { type LogOutputChannel, l10n, window, workspace } from 'vscode';
import type { HumanError } from '../../base/humanError.ts';
import type { StoryFile } from '../../orchestrator/stories/story.ts';
import { reportingErrors } from '../common/errors.ts';
import { plainSentence } from '../common/plainText.ts';
import type { StoryRef } from '../common/refs.ts';
import { errorWords } from '../common/translate.ts';
import type { Folder } from '../folders/folder.ts';

const MAX_NAMED = 5;

/** What a person has ticked or unticked. */
export interface Mark {
  readonly folder: Folder;
  readonly ref: StoryRef;
  readonly done: boolean;
  /** As the mark has left it. */
  readonly file: StoryFile;
}

/**
 * Warns of marks that the branch with the work would lose, once for all marks of one step. It does not wait for the person,
 * and an error while git is asked is only logged: the marks are made.
 * @param takeBack undoes what was warned of
 */
export function warnOfLostMarks(
  marks: readonly Mark[],
  takeBack: (marks: readonly Mark[]) => Promise<void>,
  log: LogOutputChannel,
): void {
  void reportingErrors(log, async () => {
    const lost = await lostOf(marks).catch((error: unknown) => {
      log.warn(String(error));
    });
    if (lost === undefined) {
      return;
    }
    const ids = lost.marks.slice(0, MAX_NAMED).map(({ ref }) => ref.storyId);
    const text = l10n.t(
      'The mark of {0} may get lost, or be a conflict, when you go to the branch that has the work. To make it there instead, first take it back.',
      ids.join(', ') + (lost.marks.length > MAX_NAMED ? ', \u2026' : ''),
    );
    const button = l10n.t('Take It Back');
    const words = plainSentence(`${text} ${errorWords(lost.way)}`);
    if ((await window.showWarningMessage(words, button)) === button) {
      await takeBack(lost.marks);
    }
  });
}

async function lostOf(
  marks: readonly Mark[],
): Promise<{ readonly marks: readonly Mark[]; readonly way: HumanError } | undefined> {
  const lost: Mark[] = [];
  let way: HumanError | undefined;
  for (const mark of marks) {
    const { done, file, folder, ref } = mark;
    // A running loop lands the mark with its work. Without trust, nothing is asked of git.
    if (folder.runs.current.alive || !workspace.isTrusted) {
      continue;
    }
    // Loaded on demand: most marks need no git.
    const { markElsewhere } = await import('../../orchestrator/workspace/landedElsewhere.ts');
    const found = await markElsewhere(folder.files, file.path, { done, id: ref.storyId });
    if (found !== undefined) {
      way ??= found;
      lost.push(mark);
    }
  }
  return way && { marks: lost, way };
}
