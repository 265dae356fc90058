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
  tasks,
  window,
} from 'vscode';
import type { Disposable } from '../../orchestrator/emitter.ts';
import { Command, TASK_TYPE } from '../contributions.ts';
import { DisposableStore } from '../disposableStore.ts';
import { reportingErrors } from '../errors.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';
import { plainSentence } from '../plainSentence.ts';
import { registerTrustedCommand } from '../registerCommand.ts';
import { folderOf, folderPathOf } from '../run/folderOf.ts';
import { RunLinks } from './runLinks.ts';
import { RunTerminal } from './runTerminal.ts';

const SOURCE = 'Ralph';
/** Where the person's "don't show again" is kept, for all windows. */
const QUIET_KEY = 'terminal.closedQuietly';

/** The terminals of runs, and the background task "Ralph: Fresh Run": they show a run, but do not contain it. */
export class RunTask implements Disposable {
  private readonly store = new DisposableStore();
  private readonly folders: Folders;
  private readonly start: () => Promise<void>;
  private readonly memory: Memento;
  private readonly log: LogOutputChannel;
  /** The newest of each folder, by a task or not. */
  private readonly newest = new Map<Folder, RunTerminal>();
  /** Those without a task. */
  private readonly attached = new Map<Folder, Terminal>();
  /** Runs whose closed terminal was told of. */
  private readonly told = new Set<string>();

  /** @param memory of the person, for all windows */
  constructor(
    folders: Folders,
    start: () => Promise<void>,
    memory: Memento,
    log: LogOutputChannel,
  ) {
    this.folders = folders;
    this.start = start;
    this.memory = memory;
    this.log = log;
    this.store.add(new RunLinks(terminal => this.shownIn(terminal)));
    this.store.add(
      // VS Code would ask for trust in a dialog, since the terminal is a task's.
      registerTrustedCommand(Command.showTerminal, log, argument =>
        this.show(folderOf(folders, folderPathOf(argument))),
      ),
    );
    this.store.add(
      folders.inEach(folder => ({
        dispose: () => {
          this.newest.delete(folder);
          this.attached.delete(folder);
        },
      })),
    );
  }

  dispose(): void {
    // The window is closing, and with it its terminals.
    for (const terminal of this.newest.values()) {
      terminal.letGo();
    }
    this.store.dispose();
  }

  /** For the Tasks menu. */
  tasks(): Task[] {
    const folder = this.folders.active;
    return folder === undefined ? [] : [this.task(folder, this.start)];
  }

  /** Brings the terminal that follows the folder's run to the front, or opens one. */
  private async show(folder: Folder): Promise<void> {
    const following = this.newest.get(folder);
    const terminal = window.terminals.findLast(({ name }) => isNamed(name, this.name(folder)));
    if (following?.following && terminal) {
      // Executing the task once more would ask whether to end the one that runs.
      terminal.show(true);
    } else {
      following?.letGo();
      this.attached.get(folder)?.dispose();
      this.attached.delete(folder);
      await tasks.executeTask(this.task(folder));
    }
  }

  /**
   * Opens a terminal that follows the folder's run, unless there is one. It is one without a task: while a window
   * is still starting, VS Code (1.139) accepts a task and then never runs it.
   */
  attach(folder: Folder): void {
    if (this.newest.get(folder)?.following) {
      return;
    }
    this.attached.set(
      folder,
      window.createTerminal({
        name: `${SOURCE}: ${this.name(folder)}`,
        // A terminal of its own would vanish with the end of the run; a task's stays to be read.
        pty: this.terminal(folder, true),
        isTransient: true,
      }),
    );
  }

  private terminal(
    folder: Folder,
    staysOpen: boolean,
    start?: (() => Promise<void>) | undefined,
  ): RunTerminal {
    this.newest.get(folder)?.letGo();
    const onClosed = () => void reportingErrors(this.log, () => this.tellClosed(folder));
    const terminal = new RunTerminal({ folder, staysOpen, start, onClosed });
    this.newest.set(folder, terminal);
    return terminal;
  }

  /** @param start starts a run when none is going on */
  private task(folder: Folder, start?: () => Promise<void>): Task {
    const task = new Task(
      { type: TASK_TYPE },
      TaskScope.Workspace,
      this.name(folder),
      SOURCE,
      new CustomExecution(async () => this.terminal(folder, false, start)),
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

  /** VS Code does not tell which terminal a task got. */
  private shownIn(terminal: Terminal): RunTerminal | undefined {
    for (const [folder, shown] of this.newest) {
      if (this.attached.get(folder) === terminal || isNamed(terminal.name, this.name(folder))) {
        return shown;
      }
    }
    return undefined;
  }

  /** Once for each run: who has closed it knows by now. */
  private async tellClosed({ name, runs }: Folder): Promise<void> {
    const { runId = '' } = runs.current;
    if (this.told.has(runId) || this.memory.get<unknown>(QUIET_KEY) === true) {
      return;
    }
    this.told.add(runId);
    const show = l10n.t('Show Terminal');
    const stop = l10n.t('Stop Run');
    const never = l10n.t("Don't Show Again");
    const choice = await window.showInformationMessage(
      this.folders.all.length > 1
        ? l10n.t('The run in {0} goes on without the terminal.', plainSentence(name))
        : l10n.t('The run goes on without the terminal.'),
      show,
      stop,
      never,
    );
    if (choice === never) {
      await this.memory.update(QUIET_KEY, true);
    } else if (choice !== undefined) {
      await commands.executeCommand(choice === show ? Command.showTerminal : Command.stopRun);
    }
  }
}

/** A task's terminal has the task's name, perhaps behind its source; further ones of it are numbered. */
function isNamed(terminal: string, name: string): boolean {
  return terminal === name || terminal === `${SOURCE}: ${name}`;
}
