import path from 'node:path';
import { commands, type LogOutputChannel, l10n, Uri } from 'vscode';
import * as z from 'zod';
import type { Disposable } from '../../orchestrator/emitter.ts';
import { GitRepository } from '../../orchestrator/git/git.ts';
import { HumanError } from '../../orchestrator/humanError.ts';
import { shorten } from '../../orchestrator/text.ts';
import { Command } from '../contributions.ts';
import { reportingErrors } from '../errors.ts';
import { ralphFolder, requireTrust } from '../workspaceFolder.ts';
import { gitUri } from './gitFileSystem.ts';

/** A hash, or the line of the Stories view that a menu was opened on. */
const argumentSchema = z.union([
  z.string(),
  z.looseObject({ commit: z.looseObject({ hash: z.string() }) }),
]);

function hashOf(argument: unknown): string {
  const parsed = argumentSchema.safeParse(argument);
  if (!parsed.success) {
    throw new HumanError(l10n.t('Choose a commit in the Stories view to open its changes.'));
  }
  return typeof parsed.data === 'string' ? parsed.data : parsed.data.commit.hash;
}

/** Opens a commit's changes over all its files in the multi-file diff editor. */
export class CommitDiff implements Disposable {
  private readonly registration: Disposable;

  constructor(log: LogOutputChannel) {
    this.registration = commands.registerCommand(Command.openCommit, (argument: unknown) =>
      reportingErrors(log, () => this.open(hashOf(argument))),
    );
  }

  dispose(): void {
    this.registration.dispose();
  }

  /** @throws {HumanError} when the repository has no such commit, or it changed no file */
  private async open(hash: string): Promise<void> {
    requireTrust();
    const folder = ralphFolder();
    if (folder === undefined) {
      return;
    }
    const git = new GitRepository(folder);
    // Looked up first: the diff editor only logs a file that it cannot find.
    const commit = await git.resolveCommit(hash);
    const [root, parent, files, [info]] = await Promise.all([
      git.root(),
      git.parent(commit),
      git.changedFiles(commit),
      git.commits({ limit: 1, at: commit }),
    ]);
    if (files.length === 0) {
      throw new HumanError(l10n.t('Commit {0} changed no file.', commit.slice(0, 7)));
    }
    const resources = files.map(file => [
      Uri.file(path.join(root ?? folder, file.path)),
      file.status === 'added' || parent === undefined
        ? undefined
        : gitUri(parent, file.oldPath ?? file.path),
      file.status === 'deleted' ? undefined : gitUri(commit, file.path),
    ]);
    const title = `${commit.slice(0, 7)} ${shorten(info?.subject ?? '', 80)}`;
    await commands.executeCommand('vscode.changes', title, resources);
  }
}
