import { env, type LogOutputChannel, l10n, ProgressLocation, window } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { HumanError } from '../../base/humanError.ts';
import { shorten } from '../../base/text.ts';
import { changesOf } from '../../orchestrator/git/changes.ts';
import { runningIn, storyNotes } from '../../orchestrator/journal/runState.ts';
import { alone } from '../../orchestrator/loop/exclusiveWork.ts';
import { DISCARDED_DAYS, discardWork } from '../../orchestrator/workspace/discardedWork.ts';
import { type KeptStoryWork, keptStoryWork } from '../../orchestrator/workspace/keptStoryWork.ts';
import { livingRun } from '../../orchestrator/workspace/livingRun.ts';
import { discardedRefsOf } from '../../orchestrator/workspace/workRefs.ts';
import { Command } from '../common/contributions.ts';
import { plainSentence } from '../common/plainText.ts';
import { registerCommands, registerTrustedCommand } from '../common/registerCommand.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';
import { chosenStory } from './chooseStory.ts';

/** Maximum number of commits and of files that are listed before the person decides. */
const MAX_LISTED = 8;
const MAX_LINE = 80;

/** Throws work on a story away that has not landed, after one confirmation. */
export function discardCommands(folders: Folders, log: LogOutputChannel): Disposable {
  async function discard(argument: unknown): Promise<void> {
    const chosen = await chosenStory(folders, argument, {
      placeHolder: l10n.t('Discard the work on which story?'),
      idsOf: async ({ files }) =>
        (await keptStoryWork(files)).flatMap(({ isLanded, storyId }) =>
          isLanded ? [] : [storyId],
        ),
      none: l10n.t('All work of agents has landed, so there is nothing to discard.'),
    });
    if (chosen === undefined) {
      return;
    }
    const { folder, storyId } = chosen;
    const name = shorten(storyId, MAX_LINE);
    const work = await window.withProgress(
      { location: ProgressLocation.Window, title: l10n.t('Reading what would be lost…') },
      async () => (await keptStoryWork(folder.files)).find(kept => kept.storyId === storyId),
    );
    if (work === undefined || work.isLanded) {
      throw new HumanError(l10n.t('Nothing is kept of {0} that has not landed.', name));
    }
    await requireIdle(folder, storyId);
    const button = l10n.t('Discard Work');
    const choice = await window.showWarningMessage(
      plainSentence(l10n.t('Discard the work on {0} that has not landed?', name)),
      { modal: true, detail: await lossOf(folder, work) },
      button,
    );
    if (choice !== button) {
      return;
    }
    await requireIdle(folder, storyId);
    const { files } = folder;
    const open = work.refs.filter(({ isLanded }) => !isLanded);
    const isActive = (await livingRun(files))?.runId !== undefined;
    // An active run may go on with its other stories.
    const refs = isActive
      ? await discardWork(files, open)
      : await alone(files, () => discardWork(files, open));
    log.info(`Discarded the work on ${storyId}: ${refs.map(ref => ref.name).join(', ')}`);
    // The command is complete, whether or not the message is closed.
    void tell(name, refs.at(-1)?.name ?? '');
  }

  return registerCommands(log, { [Command.discardWork]: discard }, registerTrustedCommand);
}

/** @throws {HumanError} while an agent or a person works on the story, or it lands */
async function requireIdle(folder: Folder, storyId: string): Promise<void> {
  await folder.runs.refresh();
  const { alive, state } = folder.runs.current;
  const name = shorten(storyId, MAX_LINE);
  const current = alive ? runningIn(state, storyId) : undefined;
  if (current !== undefined) {
    throw new HumanError(
      current.queued
        ? l10n.t('{0} is landing now. Skip it first to take it back.', name)
        : l10n.t('An agent works on {0} now. Skip the story first, or stop the run.', name),
    );
  }
  if (storyNotes(state, storyId).settling !== undefined) {
    throw new HumanError(l10n.t('You settle the conflict of {0} now. Give it back first.', name));
  }
}

/** What would be lost, in plain text: the dialog renders no markup. */
async function lossOf(folder: Folder, { commits, refs }: KeptStoryWork): Promise<string> {
  const hashes = commits.map(({ hash }) => hash).reverse();
  const { files } = await changesOf(folder.path, hashes);
  const open = refs.filter(({ isLanded }) => !isLanded);
  const isPartly = open.some(({ name }) => name.endsWith('-uncommitted'));
  const count = (all: number, listed: number) =>
    all > listed ? [l10n.t('and {0} more', all - listed)] : [];
  return [
    commits.length === 1 ? l10n.t('1 commit:') : l10n.t('{0} commits:', commits.length),
    [
      ...commits
        .slice(0, MAX_LISTED)
        .map(({ hash, subject }) => `${hash.slice(0, 7)}  ${shorten(subject, MAX_LINE)}`),
      ...count(commits.length, MAX_LISTED),
    ].join('\n'),
    files.length === 1 ? l10n.t('1 file:') : l10n.t('{0} files:', files.length),
    [
      ...files
        .slice(0, MAX_LISTED)
        .map(({ after, before }) => shorten((after ?? before)?.path ?? '', MAX_LINE)),
      ...count(files.length, MAX_LISTED),
    ].join('\n'),
    ...(isPartly ? [l10n.t('Uncommitted changes are kept as commits, and are among them.')] : []),
    l10n.t(
      'The next agent of the story starts without it. For {0} days, refs below {1} hold it.',
      DISCARDED_DAYS,
      discardedRefsOf(folder.path),
    ),
  ].join('\n\n');
}

async function tell(name: string, ref: string): Promise<void> {
  const copy = l10n.t('Copy Command');
  const choice = await window.showInformationMessage(
    plainSentence(
      l10n.t(
        'The work on {0} is discarded. For {1} days, this gets it back: git branch rescued {2}',
        name,
        DISCARDED_DAYS,
        ref,
      ),
    ),
    copy,
  );
  if (choice === copy) {
    await env.clipboard.writeText(['git', 'branch', 'rescued', ref].join(' '));
  }
}
