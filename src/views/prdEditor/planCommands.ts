import path from 'node:path';
import { commands, type LogOutputChannel, l10n, ProgressLocation, Uri, window } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import {
  type LaunchedDraft,
  type LaunchPlanOptions,
  launchPlan,
} from '../../orchestrator/planner/launchPlan.ts';
import { readStoryText, writePlan } from '../../orchestrator/planner/writePlan.ts';
import { writeSplit } from '../../orchestrator/planner/writeSplit.ts';
import { STORY_FILE_PLACES } from '../../orchestrator/stories/storyPlaces.ts';
import { dollars } from '../../presentation/translate.ts';
import { Command } from '../common/contributions.ts';
import { plainLabel } from '../common/plainText.ts';
import { parseStoryRef, type StoryRef } from '../common/refs.ts';
import { registerTrustedCommands } from '../common/registerCommand.ts';
import { translate } from '../common/translate.ts';
import { requireTrust } from '../common/workspaceFolder.ts';
import type { Folder } from '../folders/folder.ts';
import { type Folders, folderOf } from '../folders/folders.ts';
import { askText } from '../run/askText.ts';
import { chooseStory } from '../run/chooseStory.ts';
import { idInFile } from '../run/sendRequest.ts';
import { requireSaved, storyFileOf } from '../run/storyFileOf.ts';
import type { RunSettings } from '../settings/runSettings.ts';
import type { PlanPreview } from './planPreview.ts';

/**
 * "Plan Stories from a Task" and "Split Story with the Planner": an agent drafts, the person reviews, and only then is
 * anything written.
 * @param program `dist/cli.js` of this extension
 */
export function planCommands(
  folders: Folders,
  settings: RunSettings,
  preview: PlanPreview,
  program: string,
  log: LogOutputChannel,
): Disposable {
  /** Ends the planners when the window closes. */
  const closing = new AbortController();

  async function planStories(): Promise<void> {
    const folder = folderOf(folders, undefined);
    const storyFile = await jsonFileOf(folder);
    requireSaved(storyFile);
    const budget = settings.given(folder.path).budgetUsd;
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
    log.info(`Planning stories for ${storyFile}`);
    const made = await draft(folder, storyFile, l10n.t('Ralph is planning stories…'), { task });
    if (made === undefined) {
      return;
    }
    const name = path.relative(folder.path, storyFile);
    const isWanted = await preview.show({
      before,
      after: made.text,
      file: storyFile,
      title: l10n.t('{0}: now ↔ planned', path.basename(storyFile)),
      question: questionOf(made, name, before !== undefined),
    });
    if (isWanted) {
      await write(folder, storyFile, made, { text: before });
    }
  }

  function draft(
    { files, path: folder }: Folder,
    storyFile: string,
    title: string,
    { args = [], ...what }: Pick<LaunchPlanOptions, 'command' | 'task'> & { args?: string[] },
  ): Thenable<LaunchedDraft | undefined> {
    return window.withProgress(
      { location: ProgressLocation.Notification, title, cancellable: true },
      (_, token) => {
        const cancelled = new AbortController();
        token.onCancellationRequested(() => cancelled.abort());
        return launchPlan({
          ...{ ...what, files, program, env: process.env },
          args: [...settings.plannerArguments(folder), `--file=${storyFile}`, ...args],
          signal: AbortSignal.any([cancelled.signal, closing.signal]),
        });
      },
    );
  }

  async function write(
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
    log.info(`Wrote ${stories} stories to ${storyFile}`);
    await folder.stories.refresh();
    await window.showTextDocument(Uri.file(storyFile));
    if (archived !== undefined) {
      void window.showInformationMessage(
        l10n.t('The stories are written. What was there before is in {0}.', archived),
      );
    }
  }

  async function splitStory(argument: unknown): Promise<void> {
    const given = parseStoryRef(argument);
    const folder = folderOf(folders, given?.folder);
    const story =
      given ?? (await chooseStory(folder, l10n.t('Split which story?'), ({ done }) => !done));
    if (story !== undefined && (await canWriteNow(folder))) {
      await split(folder, story);
    }
  }

  async function split(folder: Folder, story: StoryRef): Promise<void> {
    const storyId = await idInFile(folder, story);
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
    const made = await draft(folder, storyFile, l10n.t('Ralph is splitting {0}…', name), {
      command: 'split',
      task: storyId,
      args: hint === '' ? [] : [`--hint=${hint}`],
    });
    if (made === undefined || before === undefined) {
      return;
    }
    const isWanted = await preview.show({
      before,
      after: made.text,
      file: storyFile,
      title: l10n.t('{0}: {1} ↔ split', path.basename(storyFile), name),
      question: `${l10n.t('Replace {0} with these {1} stories?', name, made.stories)}${costOf(made)}`,
    });
    if (!isWanted) {
      return;
    }
    requireTrust();
    requireSaved(storyFile);
    await writeSplit(folder.files, storyFile, { before, after: made.text });
    await folder.stories.refresh();
    const { alive, state } = folder.runs.current;
    if (alive && state.pause?.reason === 'stuck') {
      await commands.executeCommand(Command.resumeRun, { folder: folder.path });
    }
  }

  const registration = registerTrustedCommands(log, {
    [Command.planStories]: planStories,
    [Command.splitStory]: splitStory,
  });
  return {
    dispose: () => {
      closing.abort();
      registration.dispose();
    },
  };
}

/** Plans are JSON: the folder's own story file if it is JSON, otherwise the usual path. */
async function jsonFileOf(folder: Folder): Promise<string> {
  const { path: found } = await storyFileOf(folder);
  return found !== undefined && /\.json$/i.test(found)
    ? found
    : path.join(folder.path, STORY_FILE_PLACES[0]);
}

function costOf({ costUsd }: LaunchedDraft): string {
  return costUsd === undefined
    ? ''
    : ` ${l10n.t('The plan cost {0}.', dollars(costUsd, translate))}`;
}

function questionOf(made: LaunchedDraft, name: string, isThere: boolean): string {
  const { stories } = made;
  const cost = costOf(made);
  return isThere
    ? `${l10n.t('Write these {0} stories to {1}? What is there now goes to the archive.', stories, name)}${cost}`
    : `${l10n.t('Write these {0} stories to {1}?', stories, name)}${cost}`;
}

/** While an agent works, the guard would restore the story file; the run can wait for the change. */
async function canWriteNow(folder: Folder): Promise<boolean> {
  await folder.runs.refresh();
  const { alive, state } = folder.runs.current;
  if (!alive || state.pause !== undefined) {
    return true;
  }
  const pause = l10n.t('Pause After Iteration');
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
