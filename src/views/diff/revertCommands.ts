import path from 'node:path';
import { commands, type LogOutputChannel, l10n, ProgressLocation, window } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { HumanError } from '../../base/humanError.ts';
import { idWithTitle } from '../../base/storyTitle.ts';
import { shorten } from '../../base/text.ts';
import { namedFiles } from '../../orchestrator/git/treeCommit.ts';
import type { Revertible } from '../../orchestrator/revert/recordedWork.ts';
import {
  planWorkRevert,
  revertMessage,
  revertWork,
  type WorkRevert,
} from '../../orchestrator/revert/workRevert.ts';
import { livingRun } from '../../orchestrator/workspace/livingRun.ts';
import { Command } from '../common/contributions.ts';
import { FixableError } from '../common/errors.ts';
import { plainSentence } from '../common/plainText.ts';
import { type CommitRef, parseIterationRef, parseStoryRef } from '../common/refs.ts';
import { registerTrustedCommands } from '../common/registerCommand.ts';
import { translate } from '../common/translate.ts';
import type { Folder } from '../folders/folder.ts';
import { type Folders, folderOf } from '../folders/folders.ts';
import { commitCount, fileCount, type RecordedWork } from './recordedWork.ts';

/** Maximum number of commits listed before the person decides. */
const MAX_LISTED = 8;
const MAX_LINE = 80;

/** Reverts a story or an iteration with a new commit, after one confirmation. */
export function revertCommands(
  folders: Folders,
  work: RecordedWork,
  log: LogOutputChannel,
): Disposable {
  async function revertStory(argument: unknown): Promise<void> {
    const given = parseStoryRef(argument);
    const folder = folderOf(folders, given?.folder);
    const ref = given ?? (await work.chooseStory(folder, l10n.t('Revert which story?')));
    if (ref !== undefined) {
      await revert(folder, { kind: 'story', storyId: ref.storyId });
    }
  }

  async function revertIteration(argument: unknown): Promise<void> {
    const given = parseIterationRef(argument);
    const folder = folderOf(folders, given?.folder);
    const ref = given ?? (await work.chooseIteration(folder, l10n.t('Revert which iteration?')));
    if (ref !== undefined) {
      const { iteration, runId } = ref;
      await revert(folder, { kind: 'iteration', runId, iteration });
    }
  }

  async function revert(folder: Folder, of: Revertible): Promise<void> {
    await requireNoRun(folder);
    await folder.stories.refresh();
    const { current: file, list } = folder.stories;
    const planned = await window.withProgress(
      { location: ProgressLocation.Window, title: l10n.t('Checking what would be reverted…') },
      async () =>
        planWorkRevert(folder.files, {
          of,
          states: await work.states(folder),
          storyFile: file?.path,
        }),
    );
    const title = of.kind === 'story' ? list.find(({ id }) => id === of.storyId)?.title : undefined;
    const name =
      of.kind === 'story'
        ? shorten(idWithTitle(of.storyId, title ?? ''), MAX_LINE)
        : l10n.t('Iteration {0}', of.iteration);
    if (planned.plan.files.length === 0 && planned.reopens.length === 0) {
      throw new HumanError(l10n.t('{0}: nothing is left to revert.', name));
    }
    const count = planned.commits.length;
    const button =
      count === 0
        ? l10n.t('Reopen')
        : count === 1
          ? l10n.t('Revert 1 Commit')
          : l10n.t('Revert {0} Commits', count);
    const choice = await window.showWarningMessage(
      plainSentence(l10n.t('Revert {0}?', name)),
      { modal: true, detail: consequences(planned) },
      button,
    );
    if (choice !== button) {
      return;
    }
    await requireNoRun(folder);
    const commit = await window.withProgress(
      { location: ProgressLocation.Window, title: l10n.t('Reverting…') },
      () =>
        revertWork(folder.files, planned, revertMessage(planned, title), warning => {
          void window.showWarningMessage(plainSentence(translate.said(warning)));
        }),
    );
    await folder.stories.refresh();
    log.info(`Reverted ${name} in ${folder.path} by ${commit}`);
    // The command is complete, whether or not the message is closed.
    void tell(folder, name, commit);
  }

  return registerTrustedCommands(log, {
    [Command.revertStory]: revertStory,
    [Command.revertIteration]: revertIteration,
  });
}

/** @throws {FixableError} with a button that stops the run */
async function requireNoRun(folder: Folder): Promise<void> {
  if ((await livingRun(folder.files))?.runId !== undefined) {
    throw new FixableError(
      l10n.t('A run is active in this folder, and its agent works on these files. Stop it first.'),
      l10n.t('Stop'),
      Command.stopRun,
      { folder: folder.path },
    );
  }
}

/** The consequences, in plain text: the dialog renders no markup. */
function consequences({ commits, plan, reopens, storyFile }: WorkRevert): string {
  const listed = commits
    .slice(0, MAX_LISTED)
    .map(({ hash, subject }) => `${hash.slice(0, 7)}  ${shorten(subject, MAX_LINE)}`);
  const more = commits.length - listed.length;
  const ids = reopens.map(({ id }) => shorten(id, MAX_LINE)).join(', ');
  const file = path.basename(storyFile ?? '');
  const paragraphs = [
    commits.length === 0
      ? l10n.t('Its commits were taken back already.')
      : plan.files.length === 0
        ? l10n.t('The files no longer have any of these changes:')
        : l10n.t(
            'One new commit reverts {0}, in {1}:',
            commitCount(commits.length),
            fileCount(plan.fileCount),
          ),
    ...(commits.length === 0
      ? []
      : [[...listed, ...(more > 0 ? [l10n.t('and {0} more', more)] : [])].join('\n')]),
    ...(reopens.length === 0
      ? []
      : [
          reopens.length === 1
            ? l10n.t('{0} is set to not done in {1}, so that it can be done again.', ids, file)
            : l10n.t('{0} are set to not done in {1}, so that they can be done again.', ids, file),
        ]),
    ...(plan.kept.length === 0
      ? []
      : [
          l10n.t(
            'Not taken back (not committed when a run began): {0}.',
            translate.said(namedFiles(plan.kept)),
          ),
        ]),
    ...(plan.elsewhere.length === 0
      ? []
      : [
          l10n.t(
            'Not in the history of this branch, and left out: {0}.',
            plan.elsewhere.map(hash => shorten(hash, 7)).join(', '),
          ),
        ]),
    l10n.t('The history stays, so nothing is lost. What agents noted in progress.txt stays, too.'),
  ];
  return paragraphs.join('\n\n');
}

async function tell(folder: Folder, name: string, commit: string | undefined): Promise<void> {
  if (commit === undefined) {
    await window.showInformationMessage(plainSentence(l10n.t('{0} is open again.', name)));
    return;
  }
  const open = l10n.t('Open Changes');
  const choice = await window.showInformationMessage(
    plainSentence(
      l10n.t(
        '{0} is reverted by commit {1}. Revert that commit to have it back.',
        name,
        commit.slice(0, 7),
      ),
    ),
    open,
  );
  if (choice === open) {
    const ref: CommitRef = { folder: folder.path, hash: commit };
    await commands.executeCommand(Command.openCommit, ref);
  }
}
