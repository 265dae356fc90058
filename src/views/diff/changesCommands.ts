import path from 'node:path';
import { commands, type LogOutputChannel, l10n, ProgressLocation, Uri, window } from 'vscode';
import * as z from 'zod';
import type { Disposable } from '../../base/emitter.ts';
import { HumanError } from '../../base/humanError.ts';
import { shorten } from '../../base/text.ts';
import { changesBetween, changesOf, type FileChange } from '../../orchestrator/git/changes.ts';
import { GitRepository } from '../../orchestrator/git/git.ts';
import { runGit } from '../../orchestrator/git/runGit.ts';
import { iterationRows } from '../../orchestrator/journal/iterationRows.ts';
import { readDecisions } from '../../orchestrator/journal/journal.ts';
import { type CommitsOf, recordedCommits } from '../../orchestrator/workspace/recordedCommits.ts';
import { Command } from '../common/contributions.ts';
import { plainSentence } from '../common/plainText.ts';
import {
  type IterationRef,
  parseCommitRef,
  parseIterationRef,
  parseRunRef,
  parseStoryRef,
} from '../common/refs.ts';
import { registerTrustedCommands } from '../common/registerCommand.ts';
import type { Folder } from '../folders/folder.ts';
import { type Folders, folderOf } from '../folders/folders.ts';
import { type GitDocument, gitUri } from './gitFileSystem.ts';
import { commitCount, type RecordedWork, timeOf } from './recordedWork.ts';

const MAX_TITLE = 80;
/** Maximum number of lost commits named in a message. */
const MAX_NAMED = 5;

/** A hash in the active folder. */
const hashSchema = z.string().transform(hash => ({ folder: undefined, hash }));

/** Opens the changes of a commit, an iteration, a story or a run, over all files, in the multi-file diff editor. */
export function changesCommands(
  folders: Folders,
  work: RecordedWork,
  log: LogOutputChannel,
): Disposable {
  /** @throws {HumanError} if the repository has no such commit, or it changed no file */
  async function openCommit(argument: unknown): Promise<void> {
    const ref = parseCommitRef(argument) ?? hashSchema.safeParse(argument).data;
    if (ref === undefined) {
      throw new HumanError(l10n.t('Choose a commit in the Ralph views to open its changes.'));
    }
    const folder = folderOf(folders, ref.folder);
    const git = new GitRepository(folder.path);
    // Checked first: the diff editor only logs a file that it cannot find.
    const hash = await git.resolveCommit(ref.hash);
    const [info] = await git.commits({ limit: 1, at: hash });
    const { files } = await changesOf(folder.path, [hash]);
    if (files.length === 0) {
      throw new HumanError(l10n.t('Commit {0} changed no file.', hash.slice(0, 7)));
    }
    await show(folder, `${hash.slice(0, 7)} ${shorten(info?.subject ?? '', MAX_TITLE)}`, files);
  }

  async function openIteration(argument: unknown): Promise<void> {
    const given = parseIterationRef(argument);
    const folder = folderOf(folders, given?.folder);
    const ref =
      given ?? (await work.chooseIteration(folder, l10n.t('Open the changes of which iteration?')));
    if (ref !== undefined) {
      const name = l10n.t('Iteration {0}', ref.iteration);
      const landing = await notLanded(folder, ref);
      if (landing === undefined) {
        await open(folder, { ...ref, kind: 'iteration' }, name);
      } else {
        await openLanding(folder, landing, name);
      }
    }
  }

  /** What is to land, or did not, compared with what it lands on. */
  async function openLanding(
    folder: Folder,
    { commit, isWaiting, onto }: NotLanded,
    name: string,
  ): Promise<void> {
    const { files, missing } = await changesBetween(folder.path, onto, commit);
    if (missing.length > 0) {
      throw new HumanError(l10n.t('{0}: its changes are no longer in the repository.', name));
    }
    if (files.length === 0) {
      throw new HumanError(l10n.t('{0} changed no file.', name));
    }
    // The title stays while it lands, and afterwards.
    const title = isWaiting ? l10n.t('{0} · landing', name) : l10n.t('{0} · did not land', name);
    await show(folder, title, files);
  }

  async function openStory(argument: unknown): Promise<void> {
    const given = parseStoryRef(argument);
    const folder = folderOf(folders, given?.folder);
    const ref =
      given ?? (await work.chooseStory(folder, l10n.t('Open the changes of which story?')));
    if (ref !== undefined) {
      const { storyId } = ref;
      await open(folder, { kind: 'story', storyId }, shorten(storyId, MAX_TITLE));
    }
  }

  async function openRun(argument: unknown): Promise<void> {
    const given = parseRunRef(argument);
    const folder = folderOf(folders, given?.folder);
    const states = await work.states(folder);
    const state = given ? states.find(({ runId }) => runId === given.runId) : states.at(-1);
    if (state?.runId === undefined) {
      throw new HumanError(l10n.t('No run of this folder has made a commit yet.'));
    }
    const name = l10n.t('Run of {0}', timeOf(state.startedAt));
    await open(folder, { kind: 'run', runId: state.runId }, name);
  }

  /** @param name what the commits belong to, for the person */
  async function open(folder: Folder, of: CommitsOf, name: string): Promise<void> {
    const changes = await window.withProgress(
      { location: ProgressLocation.Window, title: l10n.t('Reading the changes…') },
      async () => {
        const commits = recordedCommits(await work.states(folder), of);
        return changesOf(
          folder.path,
          commits.map(({ hash }) => hash),
        );
      },
    );
    const { commits, files, missing } = changes;
    if (missing.length > 0) {
      const named = missing.slice(0, MAX_NAMED).map(hash => shorten(hash, 7));
      void window.showWarningMessage(
        plainSentence(
          l10n.t(
            '{0}: no longer in the repository, perhaps after a rebase: {1}. The other commits are shown.',
            name,
            missing.length > MAX_NAMED ? `${named.join(', ')}, …` : named.join(', '),
          ),
        ),
      );
    }
    if (files.length === 0) {
      throw new HumanError(
        commits.length === 0
          ? l10n.t('{0} has no commit to show.', name)
          : l10n.t('{0}: its {1} together changed no file.', name, commitCount(commits.length)),
      );
    }
    const shownOf = of.kind === 'run' ? of.kind : undefined;
    await show(folder, `${name} · ${commitCount(commits.length)}`, files, shownOf);
  }

  return registerTrustedCommands(log, {
    [Command.openCommit]: openCommit,
    [Command.openIterationChanges]: openIteration,
    [Command.openStoryChanges]: openStory,
    [Command.openRunChanges]: openRun,
  });
}

interface NotLanded {
  readonly onto: string;
  readonly commit: string;
  /** Its work waits to land, or is landing. */
  readonly isWaiting: boolean;
}

/** What an iteration with a place of its own has done, if it is not on the branch. */
async function notLanded(
  { files }: Folder,
  { iteration, runId }: IterationRef,
): Promise<NotLanded | undefined> {
  const events = await readDecisions(files.journalFile(runId));
  const rows = iterationRows(events, { alive: true });
  const row = rows.find(({ number }) => number === iteration);
  return row?.landing && { ...row.landing, isWaiting: row.isLanding === true };
}

/** The editor itself shows the number of files. */
async function show(
  folder: Folder,
  title: string,
  files: readonly FileChange[],
  of?: GitDocument['of'],
): Promise<void> {
  // The path as the folder is opened here, since that may be a link.
  const up = (await runGit(folder.path, 'rev-parse', '--show-cdup')).replace(/\r?\n$/, '');
  const root = path.join(folder.path, up);
  const resources = files.map(({ after, before }) => [
    Uri.file(path.join(root, (after ?? before)?.path ?? '')),
    before && gitUri(folder.path, before, 'before', of),
    after && gitUri(folder.path, after, 'after', of),
  ]);
  await commands.executeCommand('vscode.changes', title, resources);
}
