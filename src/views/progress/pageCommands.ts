import path from 'node:path';
import { commands, type LogOutputChannel, l10n } from 'vscode';
import { assertNever } from '../../base/assertNever.ts';
import { HumanError } from '../../base/humanError.ts';
import { readPlainFile } from '../../base/plainFile.ts';
import { runStanding } from '../../orchestrator/journal/runStanding.ts';
import { Command } from '../common/contributions.ts';
import { reportingErrors } from '../common/errors.ts';
import type { CommitRef, IterationRef, StoryRef } from '../common/refs.ts';
import { requireFolder } from '../common/workspaceFolder.ts';
import type { ActiveRun } from '../folders/activeRun.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';
import { limitSetting } from '../run/fittingActions.ts';
import { openRunSetting } from '../settings/openSettings.ts';
import { askedIn } from './askedQuestion.ts';
import { LaneRequests } from './laneRequests.ts';
import { promptOf, sectionLine } from './promptXray.ts';
import type { FromPage, IterationDocument, PageAction } from './protocol.ts';

/** A prompt has at most some hundred KB. */
const MAX_PROMPT_BYTES = 4 * 1024 * 1024;

const ACTIONS: Readonly<Record<Exclude<PageAction, 'openLimitSetting'>, string>> = {
  startRun: Command.startRun,
  pauseRun: Command.pauseRun,
  resumeRun: Command.resumeRun,
  continueStory: Command.continueStory,
  continueLane: Command.continueLane,
  stopAfterIteration: Command.stopAfterIteration,
  stopRun: Command.stopRun,
  skipStory: Command.skipStory,
  giveHint: Command.giveHint,
  openRunChanges: Command.openRunChanges,
  showTerminal: Command.showTerminal,
};

const DOCUMENTS: Readonly<Record<IterationDocument, string>> = {
  openIterationChanges: Command.openIterationChanges,
  openPrompt: Command.openPrompt,
  openTranscript: Command.openTranscript,
  openCheckOutput: Command.openCheckOutput,
};

/** Actions of a person on the page that affect something outside it: public commands, and requests about lanes. */
export type Wish = Exclude<FromPage, { readonly type: 'ready' | 'showIterations' | 'showPrompt' }>;

/** Performs the actions requested on the progress page, and reports failures to the person. */
export function pageCommands(
  folders: Folders,
  model: ActiveRun,
  log: LogOutputChannel,
): (wish: Wish) => Promise<void> {
  const laneRequests = new LaneRequests();

  async function act(wish: Wish): Promise<void> {
    switch (wish.type) {
      case 'startRun':
      case 'pauseRun':
      case 'resumeRun':
      case 'continueStory':
      case 'continueLane':
      case 'stopAfterIteration':
      case 'stopRun':
      case 'openRunChanges':
        await commands.executeCommand(ACTIONS[wish.type]);
        break;
      case 'skipStory':
      case 'giveHint':
        await commands.executeCommand(ACTIONS[wish.type], storyRef() ?? { folder: folder().path });
        break;
      case 'showTerminal':
        // Without a run, the task would start one; the page's state may be outdated.
        if (model.current.alive) {
          await commands.executeCommand(Command.showTerminal);
        }
        break;
      case 'openLimitSetting':
        await openRunSetting(limitSetting(model.current.state));
        break;
      case 'answer': {
        const asked = askedIn(wish.question);
        await commands.executeCommand(Command.answerQuestion, {
          ...asked,
          folder: folderOfRun(asked.runId).path,
          text: wish.text,
          storyId: wish.storyId,
        });
        break;
      }
      case 'openCommit': {
        const ref: CommitRef = { folder: folder().path, hash: wish.hash };
        await commands.executeCommand(Command.openCommit, ref);
        break;
      }
      case 'openIterationChanges':
      case 'openPrompt':
      case 'openTranscript':
      case 'openCheckOutput':
        await commands.executeCommand(DOCUMENTS[wish.type], iterationRef(wish.iteration));
        break;
      case 'showNextPrompt':
        await commands.executeCommand(Command.showNextPrompt);
        break;
      case 'openPromptSection':
        await openSection(wish.iteration, wish.section);
        break;
      case 'chooseFolder': {
        const folder = folders.at(wish.folder);
        if (folder) {
          folders.activate(folder);
        }
        break;
      }
      case 'moreLanes':
      case 'fewerLanes':
      case 'pauseLane':
      case 'resumeLane':
        await laneRequests.send(folder(), wish);
        break;
      default:
        assertNever(wish);
    }
  }

  /** Opens the prompt at the line of one of its sections. */
  async function openSection(iteration: number, section: number): Promise<void> {
    const ref = iterationRef(iteration);
    const { files } = folder();
    const file = path.join(files.iterationDir(ref.runId, iteration), 'prompt.md');
    const prompt = (await readPlainFile(file, MAX_PROMPT_BYTES))?.toString('utf8') ?? '';
    const sections = promptOf(model.events, iteration)?.promptSections ?? [];
    const line = sectionLine(prompt, sections, section);
    await commands.executeCommand(Command.openPrompt, ref, line);
  }

  function folder(): Folder {
    return requireFolder(model.folder);
  }

  function iterationRef(iteration: number): IterationRef {
    const { runId } = model.current;
    if (runId === undefined) {
      throw new HumanError(l10n.t('There has been no run in this folder.'));
    }
    return { folder: folder().path, runId, iteration };
  }

  /** Another folder may have become the active one after the page was drawn. */
  function folderOfRun(runId: string): Folder {
    return folders.all.find(({ runs }) => runs.current.runId === runId) ?? folder();
  }

  /** None if there are several: then the command asks which one. */
  function storyRef(): StoryRef | undefined {
    const { storyId } = runStanding(model.current);
    return storyId === undefined ? undefined : { folder: folder().path, storyId };
  }

  return wish => reportingErrors(log, () => act(wish));
}
