import {
  LanguageModelTextPart,
  LanguageModelToolResult,
  type LogOutputChannel,
  l10n,
  MarkdownString,
  type PreparedToolInvocation,
  workspace,
} from 'vscode';
import * as z from 'zod';
import { messageOf } from '../../base/messageOf.ts';
import { once } from '../../base/once.ts';
import { givenSettings, recalledSettings } from '../../orchestrator/settings/settings.ts';
import { livingRun } from '../../orchestrator/workspace/livingRun.ts';
import { statusData } from '../../presentation/statusData.ts';
import { runsOnFile } from '../../presentation/storyState.ts';
import { dollars } from '../../presentation/translate.ts';
import { Tool, type ToolName } from '../common/contributions.ts';
import { appendWords } from '../common/plainText.ts';
import { translate } from '../common/translate.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';
import { willContinue } from '../run/fittingActions.ts';
import type { Steering } from '../run/steering.ts';
import { payerSentence } from '../setup/payerSentence.ts';
import { answerText, storiesAnswer } from './toolAnswers.ts';

const inputSchema = once(() =>
  z.object({
    folder: z.string().optional(),
    state: z.enum(['all', 'open', 'done']).default('all'),
  }),
);
type Input = z.infer<ReturnType<typeof inputSchema>>;

/**
 * Ralph as tools of a language model: the state of a run, its stories, and a start that the person confirms. Errors
 * are written for the model and say what to do next.
 */
export function languageModelTools(
  folders: Folders,
  { claude, settings, start }: Steering,
  log: LogOutputChannel,
) {
  /** @param input as given by the model */
  async function invoke(tool: ToolName, input: unknown): Promise<LanguageModelToolResult> {
    const answers: Readonly<Record<ToolName, (input: Input) => Promise<object>>> = {
      [Tool.getRunStatus]: runStatus,
      [Tool.listStories]: listStories,
      [Tool.startRun]: startRun,
    };
    const text = answerText(await answers[tool](inputSchema().parse(input)));
    return new LanguageModelToolResult([new LanguageModelTextPart(text)]);
  }

  /** The question to the person before a run is started. */
  async function beforeStart(input: unknown): Promise<PreparedToolInvocation> {
    return {
      invocationMessage: l10n.t('Starting a Ralph run'),
      confirmationMessages: {
        title: l10n.t('Start a Ralph run?'),
        message: await question(folderOf(inputSchema().parse(input))),
      },
    };
  }

  async function runStatus(input: Input): Promise<object> {
    const { files, name, path, runs } = folderOf(input);
    await runs.refresh();
    return { folder: path, name, ...(await statusData(files, runs.current, false)) };
  }

  async function listStories(input: Input): Promise<object> {
    const { path, runs, stories } = folderOf(input);
    await Promise.all([stories.refresh(), runs.refresh()]);
    const file = stories.current;
    if (file === undefined) {
      throw new Error(
        `There is no story file in ${path}. Offer the person to write .omc/prd.json with them; the command "Ralph: Create a Story File" shows its form.`,
      );
    }
    const facts = runsOnFile(file.path, path, { run: runs.current, states: runs.states });
    return storiesAnswer(file, { ...facts, filter: input.state });
  }

  async function startRun(input: Input): Promise<object> {
    if (!workspace.isTrusted) {
      throw new Error(
        'Nothing was started: the workspace is not trusted. Ask the person to trust it first with the command "Workspaces: Manage Workspace Trust"; do not try again before that.',
      );
    }
    const folder = folderOf(input);
    if ((await livingRun(folder.files)) !== undefined) {
      throw new Error(
        `A run is already active in ${folder.path}. Use ${Tool.getRunStatus} to see its state.`,
      );
    }
    // The person views this one now.
    folders.activate(folder);
    log.info(`A language model starts a run in ${folder.path}`);
    if (!(await start(folder))) {
      throw new Error(
        `Nothing was started: there is nothing to do in ${folder.path}. Look at the stories with ${Tool.listStories}.`,
      );
    }
    return {
      started: true,
      ...(await runStatus(input)),
      next: `The run continues in the background for minutes or hours. Do not wait for it; tell the person, and use ${Tool.getRunStatus} when they ask.`,
    };
  }

  /** What the person agrees to. Text from files is shown verbatim, not as Markdown. */
  async function question(folder: Folder): Promise<MarkdownString> {
    const { name, path, stories } = folder;
    await stories.refresh();
    const open = stories.list.filter(({ done }) => !done).length;
    const { budgetUsd, maxIterations } = settings.given(path);
    const sentences = [
      l10n.t(
        'Agents will work on the {0} open stories of {1}, change its files and commit to git.',
        open,
        name,
      ),
      ...(workspace.isTrusted ? await howMany(folder) : []),
      ...(workspace.isTrusted ? [await whoPays(folder)] : []),
      ...(budgetUsd === undefined
        ? [l10n.t('No budget is set in the settings of this window.')]
        : [l10n.t('The run ends before it costs more than {0}.', dollars(budgetUsd, translate))]),
      ...(maxIterations === undefined
        ? []
        : [l10n.t('It ends after at most {0} iterations.', maxIterations)]),
    ];
    return appendWords(new MarkdownString(), sentences.join(' '));
  }

  /** More than one agent at once; the number may come from the window, from a file, or from the run that continues. */
  async function howMany({ path, runs }: Folder): Promise<readonly string[]> {
    const { settings: before, ...last } = runs.current.state;
    try {
      const { lanes = 1 } = await givenSettings({
        flags: settings.given(path),
        recalled: willContinue(last) ? recalledSettings(before ?? {}) : {},
        workspace: path,
      });
      return lanes > 1 ? [l10n.t('Up to {0} agents work at once.', lanes)] : [];
    } catch (error) {
      // The start says what is wrong with the file.
      log.warn(messageOf(error));
      return [];
    }
  }

  /** A person should know this before they agree; if it cannot be determined, that is said, too. */
  async function whoPays(folder: Folder): Promise<string> {
    try {
      const state = await claude.look(folder);
      return state.kind === 'missing'
        ? l10n.t('Claude Code was not found, so the run will probably not start.')
        : payerSentence(state.payer);
    } catch (error) {
      log.warn(String(error));
      return l10n.t('Could not find out who pays.');
    }
  }

  /** @throws an error that names the existing folders for the model */
  function folderOf({ folder: wanted }: Input): Folder {
    const found = folders.at(wanted) ?? folders.all.find(({ name }) => name === wanted);
    if (found !== undefined) {
      return found;
    }
    const known = folders.all.map(({ path }) => path).join(', ');
    throw new Error(
      known === ''
        ? 'No folder on a disk is open in this window. Ask the person to open one.'
        : `There is no folder ${JSON.stringify(wanted)} in this window. There are: ${known}.`,
    );
  }

  return { invoke, beforeStart };
}
