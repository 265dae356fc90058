import { EventEmitter, type LogOutputChannel, l10n, Uri, window, workspace } from 'vscode';
import {
  type GivenSettings,
  PLANNER_SETTINGS,
  settingArguments,
} from '../../orchestrator/settings/settingTable.ts';
import { SETTINGS_SECTION } from '../common/contributions.ts';
import { Owner } from '../common/disposableStore.ts';
import { openSettings } from './openSettings.ts';
import {
  type FoundValues,
  givenInWindow,
  RUN_SETTINGS,
  type RunSetting,
} from './windowSettings.ts';

/**
 * The settings of a run that are set in the window, per folder. Settings that are not set here come from the settings
 * files (docs/settings.md). Settings that are set become flags, and flags override the files.
 */
export class RunSettings extends Owner {
  private readonly changeEmitter = this.own(new EventEmitter<void>());
  readonly onDidChange = this.changeEmitter.event;
  private readonly log: LogOutputChannel;
  /** Settings with an invalid value that was already reported. */
  private readonly told = new Set<string>();

  constructor(log: LogOutputChannel) {
    super();
    this.log = log;
    this.own(
      workspace.onDidChangeConfiguration(event => {
        if (event.affectsConfiguration(SETTINGS_SECTION)) {
          this.told.clear();
          this.changeEmitter.fire();
        }
      }),
    );
  }

  /**
   * The settings that are set for a folder. An invalid value is ignored and reported once.
   * @param folder absolute path; without one, the settings for all folders
   */
  given(folder: string | undefined): GivenSettings {
    const { given, refused } = givenInWindow(setting => inspect(setting, folder));
    for (const { setting, expected } of refused) {
      this.tell(setting, expected);
    }
    return given;
  }

  /** Like {@link given}, as flags of `ralph-fresh run`. @param folder absolute path */
  runArguments(folder: string | undefined): string[] {
    return settingArguments(this.given(folder));
  }

  /** The settings that a planner uses, as flags of `ralph-fresh plan`. @param folder absolute path */
  plannerArguments(folder: string | undefined): string[] {
    return settingArguments(this.given(folder), PLANNER_SETTINGS);
  }

  /** Names of the settings that are set in the window for a folder. */
  names(folder: string | undefined): RunSetting[] {
    const given = this.given(folder);
    return RUN_SETTINGS.filter(setting => given[setting] !== undefined);
  }

  private tell(setting: RunSetting, expected: string): void {
    const id = `${SETTINGS_SECTION}.${setting}`;
    if (this.told.has(id)) {
      return;
    }
    this.told.add(id);
    this.log.warn(`The setting ${id} is passed over: it must be ${expected}.`);
    const open = l10n.t('Open Settings');
    void window
      .showWarningMessage(
        l10n.t('The setting {0} has a value that cannot be used, so it is ignored.', id),
        open,
      )
      .then(choice => (choice === open ? openSettings(id) : undefined));
  }
}

/** In an untrusted workspace, VS Code ignores the workspace's values of restricted settings. */
function inspect(setting: RunSetting, folder: string | undefined): FoundValues {
  const scope = folder === undefined ? undefined : Uri.file(folder);
  const found = workspace.getConfiguration(SETTINGS_SECTION, scope).inspect<unknown>(setting);
  return {
    person: found?.globalValue,
    workspace: [found?.workspaceValue, found?.workspaceFolderValue],
  };
}
