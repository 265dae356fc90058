import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { commands, type LogOutputChannel, l10n, ProgressLocation, Uri, window } from 'vscode';
import type { Disposable } from '../../orchestrator/emitter.ts';
import { HumanError } from '../../orchestrator/humanError.ts';
import { postRequest } from '../../orchestrator/run/inbox.ts';
import { launchRun } from '../../orchestrator/run/launch.ts';
import { livingRun } from '../../orchestrator/run/livingRun.ts';
import type { RunFiles } from '../../orchestrator/run/runFiles.ts';
import type { WatchedRun } from '../../orchestrator/run/runWatcher.ts';
import { findStoryFile, STORY_FILE_PLACES } from '../../orchestrator/stories/storyFile.ts';
import type { ConfigValue } from '../configValue.ts';
import { Command, View } from '../contributions.ts';
import { DisposableStore } from '../disposableStore.ts';
import { reportingErrors } from '../errors.ts';
import type { ActiveRun } from '../folders/activeRun.ts';
import { requireTrust } from '../workspaceFolder.ts';

export interface RunSettings {
  readonly agent: ConfigValue<'agent'>;
  readonly claudePath: ConfigValue<'claudePath'>;
  readonly model: ConfigValue<'model'>;
  readonly maxIterations: ConfigValue<'maxIterations'>;
}

/** Starts and stops runs. The loop is a process of its own; this only launches it and leaves requests. */
export class RunCommands implements Disposable {
  private readonly store = new DisposableStore();
  private readonly model: ActiveRun;
  private readonly settings: RunSettings;
  private readonly log: LogOutputChannel;
  /** `dist/cli.js` of this extension. */
  private readonly program: string;
  /** A start that is under way, so that two clicks are one start. */
  private starting: Promise<void> | undefined;

  constructor(model: ActiveRun, settings: RunSettings, program: string, log: LogOutputChannel) {
    this.model = model;
    this.settings = settings;
    this.program = program;
    this.log = log;
    const register = (id: string, action: () => Promise<void>) =>
      this.store.add(commands.registerCommand(id, () => reportingErrors(log, action)));
    register(Command.startRun, async () => {
      await this.start();
      await commands.executeCommand(Command.showTerminal);
    });
    register(Command.stopRun, () => this.stop());
    register(Command.createStoryFile, () => this.createStoryFile());
  }

  dispose(): void {
    this.store.dispose();
  }

  /**
   * Starts the detached loop, unless one works here already; then there is nothing to start.
   * @throws {HumanError} when it cannot start, with the next step
   */
  start(): Promise<void> {
    this.starting ??= this.launch().finally(() => {
      this.starting = undefined;
    });
    return this.starting;
  }

  private async launch(): Promise<void> {
    requireTrust();
    const files = this.requireFolder();
    if ((await livingRun(files)) !== undefined) {
      await this.model.refresh();
      return;
    }
    if ((await findStoryFile(files.workspace)) === undefined) {
      throw new HumanError(
        l10n.t(
          'There is no prd.json in this folder. Create one with "Ralph: Create a Story File" (looked in {0}).',
          STORY_FILE_PLACES.join(', '),
        ),
      );
    }
    const { agent, claudePath, model, maxIterations } = this.settings;
    // What nobody has set here is left to the settings files (docs/settings.md).
    const args = [
      ...(agent.given === undefined ? [] : [`--agent=${agent.given}`]),
      ...(maxIterations.given === undefined ? [] : [`--max-iterations=${maxIterations.given}`]),
      ...(model.value === '' ? [] : [`--model=${model.value}`]),
      ...(claudePath.value === '' ? [] : [`--claude-path=${claudePath.value}`]),
    ];
    this.log.info(`Starting a run in ${files.workspace}: ${args.join(' ')}`);
    const runId = await window.withProgress({ location: { viewId: View.stories } }, () =>
      launchRun({ files, program: this.program, args, env: process.env }),
    );
    this.log.info(`Run ${runId} has started`);
    await this.model.refresh();
  }

  private async stop(): Promise<void> {
    const files = this.requireFolder();
    const owner = await livingRun(files);
    const { runId } = owner ?? {};
    if (runId === undefined) {
      throw new HumanError(l10n.t('No run is going on in this folder.'));
    }
    this.log.info(`Stopping run ${runId}`);
    await window.withProgress(
      { location: ProgressLocation.Window, title: l10n.t('Stopping Ralph…') },
      async () => {
        await postRequest(files, runId, { type: 'stop', mode: 'end' });
        await this.untilGone(runId);
      },
    );
    this.log.info(`Run ${runId} has stopped`);
  }

  /** Resolves when the run's loop is gone, also when it went before anybody listened. */
  private untilGone(runId: string): Promise<void> {
    return new Promise(resolve => {
      const look = (run: WatchedRun) => {
        if (run.runId !== runId || !run.alive) {
          listener.dispose();
          resolve();
        }
      };
      const listener = this.store.add(this.model.onDidChange(look));
      void this.model.refresh().then(() => look(this.model.current));
    });
  }

  private async createStoryFile(): Promise<void> {
    const files = this.requireFolder();
    const existing = await findStoryFile(files.workspace);
    const file = existing ?? path.join(files.workspace, STORY_FILE_PLACES[0]);
    if (existing === undefined) {
      await mkdir(path.dirname(file), { recursive: true });
      // Never over a file that appeared in between.
      await writeFile(file, `${JSON.stringify(firstStories(files), null, 2)}\n`, { flag: 'wx' });
    }
    await window.showTextDocument(Uri.file(file));
  }

  private requireFolder(): RunFiles {
    const { files } = this.model;
    if (!files) {
      throw new HumanError(
        l10n.t('Ralph works in a folder. Open one first ("File: Open Folder…").'),
      );
    }
    return files;
  }
}

/** A story file to be overwritten by the person: it says by example what goes where. */
function firstStories(files: RunFiles): object {
  return {
    project: path.basename(files.workspace),
    branchName: '',
    description: l10n.t(
      'What the stories together achieve, for an agent that knows nothing of it.',
    ),
    userStories: [
      {
        id: 'US-001',
        title: l10n.t('One small step that a single agent can finish'),
        description: l10n.t('As a user, I want …, so that …'),
        acceptanceCriteria: [l10n.t('Something that can be checked'), l10n.t('The tests pass')],
        priority: 1,
        passes: false,
      },
    ],
  };
}
