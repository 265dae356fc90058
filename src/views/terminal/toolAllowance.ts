import { ConfigurationTarget, type LogOutputChannel, l10n, Uri, window, workspace } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { HumanError } from '../../base/humanError.ts';
import { isToolName } from '../../base/toolName.ts';
import {
  grantedToolsFile,
  grantTool,
  personsTools,
} from '../../orchestrator/settings/grantedTools.ts';
import { readWorkspaceSettings } from '../../orchestrator/settings/workspaceSettings.ts';
import { Command, SETTINGS_SECTION } from '../common/contributions.ts';
import { plainLabel } from '../common/plainText.ts';
import { registerTrustedCommand } from '../common/registerCommand.ts';
import type { Folder } from '../folders/folder.ts';
import { type Folders, folderOf, folderPathOf } from '../folders/folders.ts';

const SETTING = 'allowedTools';
/** How long the status bar says what was done, in ms. */
const TOLD_MS = 10_000;
/** Longest text there, in UTF-16 units. */
const MAX_TOLD = 300;

/** Tools that the newest run of a folder was not allowed to use, in order; names that the setting cannot have are left out. */
export function deniedTools({ runs }: Folder): readonly string[] {
  const tools = runs.events.flatMap(event =>
    event.type === 'agent.denied' && isToolName(event.tool) ? [event.tool] : [],
  );
  return [...new Set(tools)];
}

/**
 * Allows a tool that an agent was not allowed to use: in the person's own settings, for all folders, and for the next
 * agents of this run. Never in the settings of a workspace, which come with the repository.
 */
export class ToolAllowance {
  private readonly onAllowed: (folder: Folder, text: string) => void;

  /** @param onAllowed says in the folder's terminal what was done */
  constructor(onAllowed: (folder: Folder, text: string) => void) {
    this.onAllowed = onAllowed;
  }

  /** The command in the palette. */
  register(folders: Folders, log: LogOutputChannel): Disposable {
    return registerTrustedCommand(Command.allowTool, log, async argument => {
      const folder = folderOf(folders, folderPathOf(argument));
      await folder.runs.refresh();
      const tools = deniedTools(folder);
      if (tools.length === 0) {
        throw new HumanError(l10n.t('The newest run here was allowed every tool that it wanted.'));
      }
      const open = await this.stillDenied(folder, tools);
      const choice = await window.showQuickPick(
        tools.map(tool => ({
          label: tool,
          description: open.has(tool) ? '' : l10n.t('already allowed'),
          detail: l10n.t('Allow it for all agents, in your own settings'),
        })),
        { placeHolder: l10n.t('Which tool may agents use from now on?') },
      );
      if (choice !== undefined) {
        await this.allow(folder, choice.label);
      }
    });
  }

  /** @param tool one of the run's denied tools */
  async allow(folder: Folder, tool: string): Promise<void> {
    if (!workspace.isTrusted || !deniedTools(folder).includes(tool)) {
      return;
    }
    const before = await this.personsOwn(folder);
    const ofRepository = (await readWorkspaceSettings(folder.path)).allowedTools;
    if (!before.includes(tool)) {
      await workspace
        .getConfiguration(SETTINGS_SECTION)
        .update(SETTING, [...before, tool], ConfigurationTarget.Global);
    }
    const { alive, runId } = folder.runs.current;
    const file = runId && grantedToolsFile(process.env, process.platform, runId);
    if (file) {
      await grantTool(file, tool);
    }
    const text = [
      alive
        ? l10n.t(
            'Your settings now allow {0}. It takes effect with the next agent that starts.',
            tool,
          )
        : l10n.t('Your settings now allow {0}. It takes effect with the next run.', tool),
      ...(isReplaced(folder)
        ? [
            l10n.t(
              'But the workspace has a list of its own, which later runs here use: {0}.',
              `${SETTINGS_SECTION}.${SETTING}`,
            ),
          ]
        : ofRepository === undefined
          ? []
          : [
              l10n.t(
                'Your list now takes precedence over the one in {0}: {1}.',
                '.omc/config.json',
                ofRepository.join(', '),
              ),
            ]),
    ].join(' ');
    this.onAllowed(folder, text);
    window.setStatusBarMessage(`$(check) ${plainLabel(text, MAX_TOLD)}`, TOLD_MS);
  }

  private async stillDenied(
    folder: Folder,
    tools: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const own = await this.personsOwn(folder);
    return new Set(tools.filter(tool => !own.includes(tool)));
  }

  /** The list that applies to this person's agents if no folder has another one. */
  private async personsOwn(folder: Folder): Promise<readonly string[]> {
    const value = inspected(folder)?.globalValue;
    const own = Array.isArray(value) ? value.filter(tool => typeof tool === 'string') : [];
    // An empty list is the default, which is not written into the settings.
    return own.length > 0 ? own : personsTools(process.env, process.platform);
  }
}

function inspected({ path }: Folder) {
  return workspace
    .getConfiguration(SETTINGS_SECTION, Uri.file(path))
    .inspect<readonly string[]>(SETTING);
}

/** Settings of the workspace take precedence over the person's. */
function isReplaced(folder: Folder): boolean {
  const found = inspected(folder);
  return [found?.workspaceValue, found?.workspaceFolderValue].some(
    value => Array.isArray(value) && value.length > 0,
  );
}
