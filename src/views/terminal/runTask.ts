import {
  CustomExecution,
  commands,
  type LogOutputChannel,
  type ProviderResult,
  Task,
  TaskPanelKind,
  type TaskProvider,
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
import type { ActiveRun } from '../folders/activeRun.ts';
import { RunTerminal } from './runTerminal.ts';

const SOURCE = 'Ralph';
const NAME = 'Fresh Run';

/** The background task "Ralph: Fresh Run": shows the run and can end it, but does not contain it. */
export class RunTask implements TaskProvider, Disposable {
  private readonly store = new DisposableStore();
  private readonly model: ActiveRun;
  private readonly start: () => Promise<void>;
  /** The newest terminal, by a task or not. */
  private newest: RunTerminal | undefined;
  /** The one without a task. */
  private attached: Terminal | undefined;

  constructor(model: ActiveRun, start: () => Promise<void>, log: LogOutputChannel) {
    this.model = model;
    this.start = start;
    this.store.add(tasks.registerTaskProvider(TASK_TYPE, this));
    this.store.add(
      commands.registerCommand(Command.showTerminal, () => reportingErrors(log, () => this.show())),
    );
    // After a reload the run goes on, and its terminal is to be there again. Only the first look counts:
    // a run that this window starts brings its terminal itself.
    const listener = this.store.add(
      model.onDidChange(({ alive }) => {
        listener.dispose();
        if (alive) {
          this.attach();
        }
      }),
    );
  }

  dispose(): void {
    this.store.dispose();
  }

  provideTasks(): ProviderResult<Task[]> {
    return [this.task(this.start)];
  }

  resolveTask(): ProviderResult<Task> {
    // Without a definition of its own there is nothing in tasks.json to fill in.
    return undefined;
  }

  /** Brings the terminal that follows the run to the front, or opens one. */
  private async show(): Promise<void> {
    const terminal = window.terminals.findLast(({ name }) => name.includes(NAME));
    if (this.newest?.following && terminal) {
      // Executing the task once more would ask whether to end the one that runs.
      terminal.show(true);
    } else {
      this.attached?.dispose();
      this.attached = undefined;
      await tasks.executeTask(this.task());
    }
  }

  /**
   * A terminal without a task: while a window is still starting, VS Code (1.139) accepts a task and then
   * never runs it.
   */
  private attach(): void {
    this.attached = window.createTerminal({
      name: `${SOURCE}: ${NAME}`,
      // A terminal of its own would vanish with the end of the run; a task's stays to be read.
      pty: this.terminal({ staysOpen: true }),
      isTransient: true,
    });
  }

  private terminal({
    staysOpen,
    start,
  }: {
    staysOpen: boolean;
    start?: (() => Promise<void>) | undefined;
  }): RunTerminal {
    this.newest = new RunTerminal(this.model, start, staysOpen);
    return this.newest;
  }

  /** @param start starts a run when none is going on */
  private task(start?: () => Promise<void>): Task {
    const task = new Task(
      { type: TASK_TYPE },
      TaskScope.Workspace,
      NAME,
      SOURCE,
      new CustomExecution(async () => this.terminal({ staysOpen: false, start })),
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
}
