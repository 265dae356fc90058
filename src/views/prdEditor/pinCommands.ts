import path from 'node:path';
import { type LogOutputChannel, l10n, ProgressLocation, Uri, window } from 'vscode';
import * as z from 'zod';
import type { Disposable } from '../../base/emitter.ts';
import { runOwnCommand } from '../../orchestrator/workspace/ownCommand.ts';
import { Command } from '../common/contributions.ts';
import { registerTrustedCommands } from '../common/registerCommand.ts';
import { type Folders, folderOf } from '../folders/folders.ts';
import { requireSaved } from '../run/storyFileOf.ts';

/** What `ralph-fresh pin --json` prints, as far as it matters here. */
const answerSchema = z.looseObject({ file: z.string(), changed: z.boolean() });

/** Places of the Pin, relative to the folder. */
const PLACES = [
  ['specs', 'INDEX.md'],
  ['.ralph', 'specs', 'INDEX.md'],
] as const;
const MESSAGE_MS = 5_000;

/**
 * "Update the Pin": generates or updates `specs/INDEX.md`, and opens it.
 * @param program `dist/cli.js` of this extension
 */
export function pinCommands(folders: Folders, program: string, log: LogOutputChannel): Disposable {
  async function updatePin(): Promise<void> {
    const folder = folderOf(folders, undefined);
    for (const place of PLACES) {
      requireSaved(path.join(folder.path, ...place));
    }
    const answer = await window.withProgress(
      { location: ProgressLocation.Notification, title: l10n.t('Ralph is updating the Pin…') },
      () =>
        runOwnCommand({
          ...{ program, workspace: folder.path },
          args: ['pin', '--json'],
          env: process.env,
        }),
    );
    const { changed, file } = answerSchema.parse(JSON.parse(answer));
    log.info(changed ? `Updated ${file}` : `${file} is up to date`);
    await window.showTextDocument(Uri.file(file));
    window.setStatusBarMessage(
      changed ? l10n.t('The Pin is updated.') : l10n.t('The Pin was up to date.'),
      MESSAGE_MS,
    );
  }

  return registerTrustedCommands(log, { [Command.updatePin]: updatePin });
}
