import { env, type LogOutputChannel, l10n, ProgressLocation, window } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { HumanError } from '../../base/humanError.ts';
import { shorten } from '../../base/text.ts';
import { changesOf } from '../../orchestrator/git/changes.ts';
import { discardStory, openRefs, requireIdle } from '../../orchestrator/loop/discardStory.ts';
import { DISCARDED_DAYS } from '../../orchestrator/workspace/discardedWork.ts';
import { type KeptStoryWork, keptStoryWork } from '../../orchestrator/workspace/keptStoryWork.ts';
import { discardedRefsOf } from '../../orchestrator/workspace/workRefs.ts';
import { Command } from '../common/contributions.ts';
import { plainSentence } from '../common/plainText.ts';
import { registerTrustedCommands } from '../common/registerCommand.ts';
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
    await requireIdle(folder.files, work);
    const button = l10n.t('Discard Work');
    const choice = await window.showWarningMessage(
      plainSentence(l10n.t('Discard the work on {0} that has not landed?', name)),
      { modal: true, detail: await lossOf(folder, work) },
      button,
    );
    if (choice !== button) {
      return;
    }
    const refs = await discardStory(folder.files, work);
    log.info(`Discarded the work on ${storyId}: ${refs.map(ref => ref.name).join(', ')}`);
    // The command is complete, whether or not the message is closed.
    void tell(
      name,
      refs.map(ref => ref.name),
    );
  }

  return registerTrustedCommands(log, { [Command.discardWork]: discard });
}

/** What would be lost, in plain text: the dialog renders no markup. */
async function lossOf(folder: Folder, work: KeptStoryWork): Promise<string> {
  const { commits } = work;
  const hashes = commits.map(({ hash }) => hash).reverse();
  const { files } = await changesOf(folder.path, hashes);
  const isPartly = openRefs(work).some(({ name }) => name.endsWith('-uncommitted'));
  const count = (all: number, listed: number) =>
    all > listed ? [l10n.t('and {0} more', all - listed)] : [];
  return [
    [
      commits.length === 1 ? l10n.t('1 commit:') : l10n.t('{0} commits:', commits.length),
      ...commits
        .slice(0, MAX_LISTED)
        .map(({ hash, subject }) => `${hash.slice(0, 7)}  ${shorten(subject, MAX_LINE)}`),
      ...count(commits.length, MAX_LISTED),
    ].join('\n'),
    [
      files.length === 1 ? l10n.t('1 file:') : l10n.t('{0} files:', files.length),
      ...files
        .slice(0, MAX_LISTED)
        .map(({ after, before }) => shorten((after ?? before)?.path ?? '', MAX_LINE)),
      ...count(files.length, MAX_LISTED),
    ].join('\n'),
    ...(isPartly ? [l10n.t('What was not committed is one of these commits, too.')] : []),
    l10n.t(
      'The next agent of the story starts without it. For {0} days, refs below {1} hold it.',
      DISCARDED_DAYS,
      discardedRefsOf(folder.path),
    ),
  ].join('\n\n');
}

/** How to get it back: each ref is a part of the work, from another agent or not committed. */
async function tell(name: string, refs: readonly string[]): Promise<void> {
  const [only = ''] = refs;
  const isOne = refs.length === 1;
  const copy = isOne ? l10n.t('Copy Command') : l10n.t('Copy Commands');
  const text = isOne
    ? l10n.t(
        'The work on {0} is discarded. For {1} days, this gets it back: git branch rescued {2}',
        name,
        DISCARDED_DAYS,
        only,
      )
    : l10n.t(
        'The work on {0} is discarded. For {1} days, {2} refs hold its parts. A command for each gets it back: git branch rescued-1 {3}, and so on.',
        name,
        DISCARDED_DAYS,
        refs.length,
        only,
      );
  const choice = await window.showInformationMessage(plainSentence(text), copy);
  if (choice === copy) {
    const commands = refs.map((ref, index) =>
      ['git', 'branch', isOne ? 'rescued' : `rescued-${index + 1}`, ref].join(' '),
    );
    await env.clipboard.writeText(commands.join('\n'));
  }
}
