import {
  CustomExecution,
  commands,
  type ProviderResult,
  Task,
  TaskPanelKind,
  type TaskProvider,
  TaskRevealKind,
  TaskScope,
  tasks,
  window,
} from 'vscode';
import type { Disposable } from '../../orchestrator/emitter.ts';
import { Command, TASK_TYPE } from '../contributions.ts';
import { DisposableStore } from '../disposableStore.ts';
import type { RunModel } from '../run/runModel.ts';
import { RunTerminal } from './runTerminal.ts';

const TASK_NAME = 'Fresh Run';

/** The background task "Ralph: Fresh Run": shows the run and can end it, but does not contain it. */
export class RunTask implements TaskProvider, Disposable {
  private readonly store = new DisposableStore();
  private readonly model: RunModel;
  private readonly start: () => Promise<void>;

  constructor(model: RunModel, start: () => Promise<void>) {
    this.model = model;
    this.start = start;
    this.store.add(tasks.registerTaskProvider(TASK_TYPE, this));
    this.store.add(commands.registerCommand(Command.showTerminal, () => this.show(true)));
    // After a reload the run goes on, and its terminal is to be there again. Only the first look counts:
    // a run that this window starts brings its terminal itself.
    const listener = this.store.add(
      model.onDidChange(({ alive }) => {
        listener.dispose();
        if (alive) {
          void this.show(false);
        }
      }),
    );
  }

  dispose(): void {
    this.store.dispose();
  }

  provideTasks(): ProviderResult<Task[]> {
    return [this.task(TaskRevealKind.Always)];
  }

  resolveTask(): ProviderResult<Task> {
    // Without a definition of its own there is nothing in tasks.json to fill in.
    return undefined;
  }

  private async show(reveal: boolean): Promise<void> {
    const running = tasks.taskExecutions.some(({ task }) => task.definition.type === TASK_TYPE);
    if (!running) {
      await tasks.executeTask(this.task(reveal ? TaskRevealKind.Always : TaskRevealKind.Never));
    } else if (reveal) {
      // Executing it once more would ask whether to end the one that runs.
      window.terminals.find(({ name }) => name.includes(TASK_NAME))?.show(true);
    }
  }

  private task(reveal: TaskRevealKind): Task {
    const task = new Task(
      { type: TASK_TYPE },
      TaskScope.Workspace,
      TASK_NAME,
      'Ralph',
      new CustomExecution(async () => new RunTerminal(this.model, this.start)),
    );
    task.isBackground = true;
    task.presentationOptions = {
      reveal,
      panel: TaskPanelKind.Dedicated,
      clear: true,
      showReuseMessage: false,
    };
    return task;
  }
}
