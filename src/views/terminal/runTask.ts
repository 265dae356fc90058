import {
  CustomExecution,
  commands,
  type LogOutputChannel,
  l10n,
  type Memento,
  Task,
  TaskPanelKind,
  TaskRevealKind,
  TaskScope,
  type Terminal,
  TerminalExitReason,
  tasks,
  window,
} from 'vscode';
import { HumanError } from '../../base/humanError.ts';
import { Command, TASK_TYPE } from '../common/contributions.ts';
import { Owner } from '../common/disposableStore.ts';
import { reportingErrors } from '../common/errors.ts';
import { plainLabel, plainSentence } from '../common/plainText.ts';
import { parseStoryRef } from '../common/refs.ts';
import { registerTrustedCommand } from '../common/registerCommand.ts';
import type { Folder } from '../folders/folder.ts';
import { type Folders, folderOf, folderPathOf } from '../folders/folders.ts';
import { closeEmptyShell } from './emptyShell.ts';
import type { KeptTerminals } from './keptTerminals.ts';
import { runLinks } from './runLinks.ts';
import { RunTerminal, type RunTerminalOptions } from './runTerminal.ts';
import { ShowRequests } from './showRequests.ts';
import type { StoryTerminal } from './storyTerminal.ts';
import { pickRunStory, StoryTerminals } from './storyTerminals.ts';
import { ToolAllowance } from './toolAllowance.ts';

const SOURCE = 'Ralph';
/** In a title, between the run and the only story whose lines are shown. */
const OF_STORY = ' · ';
/** Maximum length of a story's id in a title, in UTF-16 units. */
const MAX_NAME = 60;
/** Key of the person's "don't show again", for all windows. */
const QUIET_KEY = 'terminal.closedQuietly';

/** The terminals of runs, and the background task "Ralph: Fresh Run". They show a run, but do not contain it. */
export class RunTask extends Owner {
  private readonly folders: Folders;
  private readonly start: () => Promise<void>;
  private readonly memory: Memento;
  private readonly log: LogOutputChannel;
  private readonly kept: KeptTerminals;
  private readonly stories: StoryTerminals;
  private readonly tools: ToolAllowance;
  /** The newest of each folder, with or without a task. */
  private readonly newest = new Map<Folder, RunTerminal>();
  /** Those without a task. */
  private readonly attached = new Map<Folder, Terminal>();
  private readonly showRequests = new ShowRequests();
  /** Runs whose closed terminal was reported. */
  private readonly told = new Set<string>();

  /** @param remembered which terminals are open (workspace state), and the person's choices (global state) */
  constructor(
    folders: Folders,
    start: () => Promise<void>,
    remembered: { readonly kept: KeptTerminals; readonly memory: Memento },
    log: LogOutputChannel,
  ) {
    super();
    const { kept, memory } = remembered;
    this.kept = kept;
    this.folders = folders;
    this.start = start;
    this.memory = memory;
    this.log = log;
    this.stories = this.own(new StoryTerminals());
    this.tools = new ToolAllowance((folder, text) => {
      for (const shown of [this.newest.get(folder), ...this.stories.of(folder)]) {
        shown?.say('success', text);
      }
    });
    this.own(
      runLinks(
        terminal => this.shownIn(terminal),
        (folder, tool) => reportingErrors(log, () => this.tools.allow(folder, tool)),
      ),
    );
    this.own(this.tools.register(folders, log));
    this.own(window.onDidOpenTerminal(() => this.keepOpen(false)));
    this.own(
      window.onDidCloseTerminal(({ exitStatus }) => {
        // A closing window takes its terminals with it, and the next window restores them.
        if (exitStatus?.reason !== TerminalExitReason.Shutdown) {
          this.keepOpen(true);
        }
      }),
    );
    this.own(
      // Otherwise VS Code would ask for trust in a dialog, since the terminal belongs to a task.
      registerTrustedCommand(Command.showTerminal, log, argument =>
        this.show(folderOf(folders, folderPathOf(argument))),
      ),
    );
    this.own(
      registerTrustedCommand(Command.filterTerminal, log, argument => this.filter(argument)),
    );
    this.own(
      registerTrustedCommand(Command.showStoryTerminal, log, argument => this.showStory(argument)),
    );
    this.own(folders.onDidChange(() => this.closeRemoved()));
  }

  override dispose(): void {
    // The window is closing, and its terminals with it.
    for (const terminal of this.newest.values()) {
      terminal.letGo();
    }
    super.dispose();
  }

  /** For the Tasks menu. */
  tasks(): Task[] {
    const folder = this.folders.active;
    return folder === undefined ? [] : [this.task(folder, this.start)];
  }

  /** Reveals the terminal that shows the folder's newest run, or opens one. */
  private async show(folder: Folder): Promise<void> {
    const shown = this.newest.get(folder);
    const terminal = this.openedFor(folder);
    if (shown?.isCurrent && terminal) {
      // Executing the task again would ask whether to end the running one.
      terminal.show(true);
      return;
    }
    await folder.runs.refresh();
    shown?.letGo();
    this.attached.get(folder)?.dispose();
    this.attached.delete(folder);
    const { alive, runId } = folder.runs.current;
    if (alive || this.openedFor(folder)) {
      this.showRequests.add(folder.path, { runId });
      // The terminal of the last task is reused.
      await tasks.executeTask(this.task(folder));
    } else {
      this.open(folder).show(true);
    }
  }

  /** Shows the lines of one story of the run alone, or all of them again. */
  private async filter(argument: unknown): Promise<void> {
    const ref = parseStoryRef(argument);
    const folder = folderOf(this.folders, ref?.folder ?? folderPathOf(argument));
    await folder.runs.refresh();
    const { runId } = folder.runs.current;
    if (runId === undefined) {
      throw new HumanError(l10n.t('There has been no run in this folder yet. Start one first.'));
    }
    const choice =
      ref ??
      (await pickRunStory(folder, l10n.t('Whose lines should the terminal of the run show?'), {
        all: true,
        shown: this.kept.storyOf(folder.path, runId),
      }));
    if (choice === undefined) {
      return;
    }
    this.kept.keepStory(folder.path, runId, choice.storyId);
    const shown = this.newest.get(folder);
    if (shown?.isCurrent && shown.canChange) {
      shown.showOnly(choice.storyId);
    } else if (shown?.isCurrent) {
      // VS Code has closed the task, and accepts no more output for its terminal.
      shown.letGo();
    }
    await this.show(folder);
  }

  private async showStory(argument: unknown): Promise<void> {
    const ref = parseStoryRef(argument);
    const folder = folderOf(this.folders, ref?.folder ?? folderPathOf(argument));
    await folder.runs.refresh();
    const { storyId } =
      ref ?? (await pickRunStory(folder, l10n.t('Which story?'), { all: false })) ?? {};
    if (storyId !== undefined) {
      this.stories.show(folder, storyId, this.folders.all.length > 1);
    }
  }

  /** Opens the terminal that the window restores, unless a person has already opened one. */
  bringBack(folder: Folder): void {
    if (!this.newest.has(folder)) {
      this.open(folder);
    }
  }

  /**
   * Opens one without a task: while a window is still starting, VS Code (1.139) accepts a task but never runs it.
   */
  private open(folder: Folder): Terminal {
    const isBroughtBack = !this.newest.has(folder) && this.kept.of(folder.path) === 'alone';
    const terminal = window.createTerminal({
      name: `${SOURCE}: ${this.name(folder)}`,
      // Without a task, the terminal would close at the end of the run; a task's stays readable.
      pty: this.terminal(folder, { staysOpen: true }, isBroughtBack),
      isTransient: true,
    });
    this.attached.set(folder, terminal);
    return terminal;
  }

  /** Nothing new is heard of these runs here. A folder that is added again gets its terminal back. */
  private closeRemoved(): void {
    const { all } = this.folders;
    for (const [folder, shown] of this.newest) {
      if (!all.includes(folder)) {
        const terminals = this.allOpenedFor(folder);
        shown.letGo();
        this.newest.delete(folder);
        this.attached.delete(folder);
        for (const terminal of terminals) {
          terminal.dispose();
        }
      }
    }
    this.stories.closeRemoved(all);
  }

  private terminal(
    folder: Folder,
    options: Pick<RunTerminalOptions, 'staysOpen' | 'start'>,
    isBroughtBack = false,
  ): RunTerminal {
    this.newest.get(folder)?.letGo();
    const onOpened = () => {
      // A task's terminal opens in the window before its owner is known.
      this.keepOpen(false);
      if (!this.folders.all.includes(folder)) {
        throw new HumanError(
          l10n.t('That folder is not in this window any more. Add it again, then try again.'),
        );
      }
      if (isBroughtBack) {
        const isOther = (other: Terminal) => this.shownIn(other) === undefined;
        const others = () => window.terminals.filter(isOther);
        this.own(closeEmptyShell(others, listen => window.onDidOpenTerminal(listen)));
      }
    };
    const onClosed = () => void reportingErrors(this.log, () => this.tellClosed(folder));
    const onlyIn = (runId: string) => this.kept.storyOf(folder.path, runId);
    const nameFor = (story: string | undefined) => {
      const name = `${SOURCE}: ${this.name(folder)}`;
      return story === undefined ? name : `${name}${OF_STORY}${plainLabel(story, MAX_NAME)}`;
    };
    const terminal = new RunTerminal({
      ...{ ...options, folder, title: this.name(folder) },
      ...{ onOpened, onClosed, nameFor, onlyIn },
    });
    this.newest.set(folder, terminal);
    return terminal;
  }

  private openedFor(folder: Folder): Terminal | undefined {
    const attached = this.attached.get(folder);
    return attached !== undefined && window.terminals.includes(attached)
      ? attached
      : this.allOpenedFor(folder).at(-1);
  }

  /** VS Code opens another terminal for a run that starts while it still closes the task of the last one. */
  private allOpenedFor(folder: Folder): readonly Terminal[] {
    return window.terminals.filter(
      terminal =>
        terminal === this.attached.get(folder) ||
        (isNamed(terminal.name, this.titleOf(folder)) && this.stories.find(terminal) === undefined),
    );
  }

  /** The next window restores what is open in this one. */
  private keepOpen(isClosing: boolean): void {
    const kept = window.terminals.every(terminal => this.shownIn(terminal))
      ? 'alone'
      : 'amongOthers';
    for (const folder of this.newest.keys()) {
      if (this.openedFor(folder)) {
        this.kept.keep(folder.path, kept);
      } else if (isClosing) {
        this.kept.keep(folder.path, undefined);
      }
    }
  }

  /** @param start starts a run if none is running */
  private task(folder: Folder, start?: () => Promise<void>): Task {
    const task = new Task(
      // VS Code takes tasks with the same definition for one, and executes it once.
      this.folders.all.length > 1 ? { type: TASK_TYPE, folder: folder.path } : { type: TASK_TYPE },
      TaskScope.Workspace,
      this.name(folder),
      SOURCE,
      new CustomExecution(async () =>
        this.terminal(folder, {
          staysOpen: false,
          start: this.showRequests.take(folder.path, folder.runs.current) ? undefined : start,
        }),
      ),
    );
    task.isBackground = true;
    task.presentationOptions = {
      reveal: TaskRevealKind.Always,
      panel: TaskPanelKind.Dedicated,
      clear: true,
      showReuseMessage: false,
    };
    return task;
  }

  private name(folder: Folder): string {
    const name = l10n.t('Fresh Run');
    return this.folders.all.length > 1 ? `${name} (${folder.name})` : name;
  }

  /** Of its open terminal; the name of a folder changes with the number of folders. */
  private titleOf(folder: Folder): string {
    return this.newest.get(folder)?.title ?? this.name(folder);
  }

  /** VS Code does not report which terminal a task got. */
  private shownIn(terminal: Terminal): RunTerminal | StoryTerminal | undefined {
    const ofStory = this.stories.find(terminal);
    if (ofStory !== undefined) {
      return ofStory;
    }
    for (const [folder, shown] of this.newest) {
      if (this.attached.get(folder) === terminal || isNamed(terminal.name, shown.title)) {
        return shown;
      }
    }
    return undefined;
  }

  /** Once per run: afterwards, the person knows. */
  private async tellClosed({ name, path, runs }: Folder): Promise<void> {
    const { runId = '' } = runs.current;
    if (this.told.has(runId) || this.memory.get<unknown>(QUIET_KEY) === true) {
      return;
    }
    this.told.add(runId);
    const show = l10n.t('Show Terminal');
    const stop = l10n.t('Stop');
    const never = l10n.t("Don't Show Again");
    const choice = await window.showInformationMessage(
      this.folders.all.length > 1
        ? l10n.t('The run in {0} continues without the terminal.', plainSentence(name))
        : l10n.t('The run continues without the terminal.'),
      show,
      stop,
      never,
    );
    if (choice === never) {
      await this.memory.update(QUIET_KEY, true);
    } else if (choice !== undefined) {
      // Meanwhile, another folder may be the active one.
      await commands.executeCommand(choice === show ? Command.showTerminal : Command.stopRun, {
        folder: path,
      });
    }
  }
}

/**
 * A task's terminal has the task's name, possibly after its source and before a story; further ones are numbered. With several folders in
 * the window, VS Code puts one of their names behind it, in brackets.
 */
function isNamed(terminal: string, name: string): boolean {
  return [name, `${SOURCE}: ${name}`].some(
    known =>
      terminal === known ||
      terminal.startsWith(`${known}${OF_STORY}`) ||
      (terminal.startsWith(`${known} (`) && terminal.endsWith(')')),
  );
}
