import path from 'node:path';
import { commands, type LogOutputChannel, l10n, ProgressLocation, window } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { type LaunchedDraft, launchPlan } from '../../orchestrator/planner/launchPlan.ts';
import { readStoryText } from '../../orchestrator/planner/writePlan.ts';
import { writeSplit } from '../../orchestrator/planner/writeSplit.ts';
import { dollars } from '../../presentation/sentences.ts';
import { Command } from '../common/contributions.ts';
import { plainLabel } from '../common/plainLabel.ts';
import { parseStoryRef, type StoryRef } from '../common/refs.ts';
import { registerTrustedCommand } from '../common/registerCommand.ts';
import { translate } from '../common/translate.ts';
import { requireTrust } from '../common/workspaceFolder.ts';
import type { Folder } from '../folders/folder.ts';
import { folderOf } from '../folders/folderOf.ts';
import type { Folders } from '../folders/folders.ts';
import { askText } from '../run/askText.ts';
import { chooseStory } from '../run/chooseStory.ts';
import { requireSaved } from '../run/requireSaved.ts';
import { storyFileOf } from '../run/storyFileOf.ts';
import type { RunSettings } from '../settings/runSettings.ts';
import type { PlanPreview } from './planPreview.ts';

/** "Split Story with the Planner": an agent drafts, the person reviews the diff, and only then is it written. */
export class SplitCommand implements Disposable {
  private readonly registration: Disposable;
  private readonly settings: RunSettings;
  private readonly preview: PlanPreview;
  /** `dist/cli.js` of this extension. */
  private readonly program: string;
  /** Ends the planners when the window closes. */
  private readonly closing = new AbortController();

  constructor(
    folders: Folders,
    settings: RunSettings,
    preview: PlanPreview,
    program: string,
    log: LogOutputChannel,
  ) {
    this.settings = settings;
    this.preview = preview;
    this.program = program;
    this.registration = registerTrustedCommand(Command.splitStory, log, async argument => {
      const given = parseStoryRef(argument);
      const folder = folderOf(folders, given?.folder);
      const story =
        given ?? (await chooseStory(folder, l10n.t('Split which story?'), ({ done }) => !done));
      if (story !== undefined && (await canWriteNow(folder))) {
        await this.split(folder, story);
      }
    });
  }

  dispose(): void {
    this.closing.abort();
    this.registration.dispose();
  }

  private async split(folder: Folder, { storyId }: StoryRef): Promise<void> {
    const storyFile = (await storyFileOf(folder)).path ?? '';
    requireSaved(storyFile);
    const before = await readStoryText(storyFile);
    const name = plainLabel(storyId, 60);
    const hint = await askText({
      title: l10n.t('Split {0} with the Planner', name),
      prompt: l10n.t(
        'An agent reads the project and drafts two to five stories. You see them before anything is written.',
      ),
      placeholder: l10n.t('How would you split it? Leave this empty to let the agent decide'),
      draftOf: `split\0${folder.path}\0${storyId}`,
      mayBeEmpty: true,
    });
    if (hint === undefined) {
      return;
    }
    const draft = await this.draft(folder, storyFile, storyId, hint);
    if (draft === undefined || before === undefined) {
      return;
    }
    const cost =
      draft.costUsd === undefined
        ? ''
        : l10n.t('The plan cost {0}.', dollars(draft.costUsd, translate));
    const isWanted = await this.preview.show({
      before,
      after: draft.text,
      file: storyFile,
      title: l10n.t('{0}: {1} ↔ split', path.basename(storyFile), name),
      question:
        `${l10n.t('Replace {0} with these {1} stories?', name, draft.stories)} ${cost}`.trim(),
    });
    if (!isWanted) {
      return;
    }
    requireTrust();
    requireSaved(storyFile);
    await writeSplit(folder.files, storyFile, { before, after: draft.text });
    await folder.stories.refresh();
    const { alive, state } = folder.runs.current;
    if (alive && state.pause?.reason === 'stuck') {
      await commands.executeCommand(Command.resumeRun, { folder: folder.path });
    }
  }

  private draft(
    { files, path: folder }: Folder,
    storyFile: string,
    storyId: string,
    hint: string,
  ): Thenable<LaunchedDraft | undefined> {
    return window.withProgress(
      {
        location: ProgressLocation.Notification,
        title: l10n.t('Ralph is splitting {0}…', plainLabel(storyId, 60)),
        cancellable: true,
      },
      (_, token) => {
        const cancelled = new AbortController();
        token.onCancellationRequested(() => cancelled.abort());
        return launchPlan({
          ...{ files, program: this.program, env: process.env },
          command: 'split',
          task: storyId,
          args: [
            ...this.settings.plannerArguments(folder),
            `--file=${storyFile}`,
            ...(hint === '' ? [] : [`--hint=${hint}`]),
          ],
          signal: AbortSignal.any([cancelled.signal, this.closing.signal]),
        });
      },
    );
  }
}

/** While an agent works, the guard would restore the story file; the run can wait for the change. */
async function canWriteNow(folder: Folder): Promise<boolean> {
  await folder.runs.refresh();
  const { alive, state } = folder.runs.current;
  if (!alive || state.pause !== undefined) {
    return true;
  }
  const pause = l10n.t('Pause After This Iteration');
  const choice = await window.showWarningMessage(
    l10n.t(
      'A run is working on the stories. Let it pause after this iteration, split the story, then resume.',
    ),
    ...(state.pauseRequested ? [] : [pause]),
  );
  if (choice === pause) {
    await commands.executeCommand(Command.pauseRun, { folder: folder.path });
  }
  return false;
}
