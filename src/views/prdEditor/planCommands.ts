import path from 'node:path';
import { type LogOutputChannel, l10n, ProgressLocation, Uri, window } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { type LaunchedDraft, launchPlan } from '../../orchestrator/planner/launchPlan.ts';
import { readStoryText, writePlan } from '../../orchestrator/planner/writePlan.ts';
import { STORY_FILE_PLACES } from '../../orchestrator/stories/storyFile.ts';
import { dollars } from '../../presentation/sentences.ts';
import { Command } from '../common/contributions.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import { registerCommand } from '../common/registerCommand.ts';
import { translate } from '../common/translate.ts';
import { requireTrust } from '../common/workspaceFolder.ts';
import type { Folder } from '../folders/folder.ts';
import { folderOf } from '../folders/folderOf.ts';
import type { Folders } from '../folders/folders.ts';
import { askText } from '../run/askText.ts';
import { requireSaved } from '../run/requireSaved.ts';
import { storyFileOf } from '../run/storyFileOf.ts';
import type { RunSettings } from '../settings/runSettings.ts';
import type { PlanPreview } from './planPreview.ts';

/** "Plan Stories from a Task": an agent drafts, the person reviews, and only then is anything written. */
export class PlanCommands implements Disposable {
  private readonly store = new DisposableStore();
  private readonly folders: Folders;
  private readonly settings: RunSettings;
  private readonly preview: PlanPreview;
  /** `dist/cli.js` of this extension. */
  private readonly program: string;
  private readonly log: LogOutputChannel;
  /** Ends the planners when the window closes. */
  private readonly closing = new AbortController();

  constructor(
    folders: Folders,
    settings: RunSettings,
    preview: PlanPreview,
    program: string,
    log: LogOutputChannel,
  ) {
    this.folders = folders;
    this.settings = settings;
    this.preview = preview;
    this.program = program;
    this.log = log;
    this.store.add(registerCommand(Command.planStories, log, () => this.planStories()));
  }

  dispose(): void {
    this.closing.abort();
    this.store.dispose();
  }

  private async planStories(): Promise<void> {
    requireTrust();
    const folder = folderOf(this.folders, undefined);
    const storyFile = await jsonFileOf(folder);
    requireSaved(storyFile);
    const budget = this.settings.given(folder.path).budgetUsd;
    const task = await askText({
      title: l10n.t('Plan Stories from a Task'),
      prompt:
        budget === undefined
          ? l10n.t(
              'An agent reads the project and drafts stories. You see them before anything is written.',
            )
          : l10n.t(
              'An agent reads the project and drafts stories, for at most {0}. You see them before anything is written.',
              dollars(budget, translate),
            ),
      placeholder: l10n.t('What should be there when all stories are done?'),
      draftOf: `plan ${folder.path}`,
    });
    if (task === undefined) {
      return;
    }
    const before = await readStoryText(storyFile);
    const draft = await this.draft(folder, storyFile, task);
    if (draft === undefined) {
      return;
    }
    const name = path.relative(folder.path, storyFile);
    const isWanted = await this.preview.show({
      before,
      after: draft.text,
      file: storyFile,
      title: l10n.t('{0}: now ↔ planned', path.basename(storyFile)),
      question: questionOf(draft, name, before !== undefined),
    });
    if (isWanted) {
      await this.write(folder, storyFile, draft, { text: before });
    }
  }

  private async draft(
    { files, path: folder }: Folder,
    storyFile: string,
    task: string,
  ): Promise<LaunchedDraft | undefined> {
    this.log.info(`Planning stories for ${storyFile}`);
    return window.withProgress(
      {
        location: ProgressLocation.Notification,
        title: l10n.t('Ralph is planning stories…'),
        cancellable: true,
      },
      (_, token) => {
        const cancelled = new AbortController();
        token.onCancellationRequested(() => cancelled.abort());
        return launchPlan({
          ...{ files, task, program: this.program, env: process.env },
          args: [...this.settings.plannerArguments(folder), `--file=${storyFile}`],
          signal: AbortSignal.any([cancelled.signal, this.closing.signal]),
        });
      },
    );
  }

  private async write(
    folder: Folder,
    storyFile: string,
    { stories, text }: LaunchedDraft,
    before: { readonly text: string | undefined },
  ): Promise<void> {
    requireTrust();
    requireSaved(storyFile);
    const { archived } = await writePlan({
      ...{ files: folder.files, storyFile, before },
      content: text,
    });
    this.log.info(`Wrote ${stories} stories to ${storyFile}`);
    await folder.stories.refresh();
    await window.showTextDocument(Uri.file(storyFile));
    if (archived !== undefined) {
      void window.showInformationMessage(
        l10n.t('The stories are written. What was there before is in {0}.', archived),
      );
    }
  }
}

/** Plans are JSON: the folder's own story file if it is JSON, otherwise the usual path. */
async function jsonFileOf(folder: Folder): Promise<string> {
  const { path: found } = await storyFileOf(folder);
  return found !== undefined && /\.json$/i.test(found)
    ? found
    : path.join(folder.path, STORY_FILE_PLACES[0]);
}

function questionOf({ costUsd, stories }: LaunchedDraft, name: string, isThere: boolean): string {
  const cost =
    costUsd === undefined ? '' : ` ${l10n.t('The plan cost {0}.', dollars(costUsd, translate))}`;
  return isThere
    ? `${l10n.t('Write these {0} stories to {1}? What is there now goes to the archive.', stories, name)}${cost}`
    : `${l10n.t('Write these {0} stories to {1}?', stories, name)}${cost}`;
}
