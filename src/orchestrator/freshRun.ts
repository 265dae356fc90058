import path from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import type { Agent } from './agents/agent.ts';
import { recordCommits } from './commitRecord.ts';
import type { RunConfig } from './config.ts';
import type { Disposable } from './emitter.ts';
import type { GitRepository } from './git.ts';
import {
  fitHandoff,
  initHandoff,
  type RalphFreshHandoff,
  refreshHandoffFromFiles,
  writeHandoff,
} from './handoff.ts';
import { runIteration } from './iteration.ts';
import { type Judgement, judge, storyChanges } from './judge.ts';
import { amount, whole } from './numbers.ts';
import { type Decision, decide } from './policy.ts';
import { generateIterationPrompt } from './prompt.ts';
import { writeReceipt } from './receipt.ts';
import { EXIT_CODES, type RunEvent, type StoryCount } from './run/events.ts';
import type { JournalWriter } from './run/journal.ts';
import { requirePlainState } from './run/plainFile.ts';
import { identify } from './run/processIdentity.ts';
import { RequestWatcher } from './run/requestWatcher.ts';
import type { RunFiles } from './run/runFiles.ts';
import { applyEvent, INITIAL_RUN_STATE, type RunState, storyRecord } from './run/runState.ts';
import { readSnapshot, type Snapshot } from './snapshot.ts';
import type { StopSwitch } from './stopSwitch.ts';
import type { Story } from './stories/story.ts';

export interface RunOptions {
  readonly files: RunFiles;
  readonly runId: string;
  readonly agent: Agent;
  readonly config: RunConfig;
  /** Absolute path; absent in free-form mode. */
  readonly storyFile?: string;
  /** What the person asked for; defaults to the story file's description. */
  readonly task?: string;
  /** Environment the agents start from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** This program's version, for the journal. */
  readonly version: string;
  readonly stop: StopSwitch;
  /** Told of every event, after it is in the journal. */
  readonly onEvent?: (event: RunEvent) => void;
}

/** The steps of one run, with the little it keeps between them; all of it can be read back from files. */
export class FreshRun {
  private readonly options: RunOptions;
  private readonly git: GitRepository;
  private readonly journal: JournalWriter;
  private snapshot: Snapshot;
  private state: RunState = INITIAL_RUN_STATE;
  private handoff: RalphFreshHandoff;
  private verdict: Judgement['verdict'];
  /** Stories that a person ticked since the last look at the file. */
  private handled = new Set<string>();
  private requests: RequestWatcher | undefined;
  private stopListener: Disposable | undefined;
  private readonly startedAt = new Date().toISOString();

  constructor(options: RunOptions, git: GitRepository, journal: JournalWriter, snapshot: Snapshot) {
    this.options = options;
    this.git = git;
    this.journal = journal;
    this.snapshot = snapshot;
    this.handoff = initHandoff({
      prompt: taskOf(options, snapshot),
      maxIterations: options.config.maxIterations,
      completionPromise: options.config.completionPromise,
    });
    journal.onDidAppend(event => {
      this.state = applyEvent(this.state, event);
      options.onEvent?.(event);
    });
  }

  async start(): Promise<void> {
    const { agent, config, files, runId, storyFile, version } = this.options;
    const branch = await this.git.branch();
    this.journal.append({
      type: 'run.started',
      runId,
      version,
      ...(await identify(process.pid)),
      agent: agent.id,
      ...(config.model === undefined ? {} : { model: config.model }),
      mode: storyFile === undefined ? 'freeForm' : 'stories',
      task: this.handoff.original_prompt.slice(0, 4_000),
      maxIterations: config.maxIterations,
      stuckThreshold: config.stuckThreshold,
      ...(storyFile === undefined ? {} : { storyFile: relative(files.workspace, storyFile) }),
      stories: this.count(),
      ...(branch === '' ? {} : { branch }),
      ...(this.snapshot.head === undefined ? {} : { startCommit: this.snapshot.head }),
    });
    this.journal.sync();
    await this.writeStateFile(true);
    this.listen();
  }

  decide(): Decision {
    return decide({
      state: this.state,
      ...(this.snapshot.stories && { stories: this.snapshot.stories.stories }),
      maxIterations: this.options.config.maxIterations,
      failThreshold: this.options.config.failThreshold,
      stopRequested: this.options.stop.requested,
      ...(this.verdict && { verdict: this.verdict }),
    });
  }

  /** Looks at the files between two iterations; what others changed meanwhile is theirs, not the agent's. */
  async refresh(): Promise<void> {
    await this.requests?.look();
    const before = this.snapshot;
    this.snapshot = await readSnapshot(this.options.storyFile, this.git, before);
    for (const change of this.changesSince(before)) {
      this.journal.append({ type: 'story.changed', ...change, by: 'outside' });
    }
  }

  async iterate({ iteration, story }: Extract<Decision, { kind: 'iterate' }>): Promise<void> {
    const { agent, config, env, files, runId, stop } = this.options;
    const before = this.snapshot;
    const { prompt, handoffBytes } = await this.handOff(iteration, story);
    this.journal.append({
      type: 'iteration.started',
      iteration,
      maxIterations: config.maxIterations,
      ...(story && { storyId: story.id, storyTitle: story.title }),
      stories: this.count(),
      ...(before.head === undefined ? {} : { startCommit: before.head }),
      promptBytes: Buffer.byteLength(prompt),
      handoffBytes,
      stuckFor: story ? storyRecord(this.state, story.id).stuckFor : 0,
    });
    this.journal.sync();
    await this.writeStateFile(true);

    const result = await runIteration({
      number: iteration,
      runId,
      prompt,
      agent,
      config,
      files,
      journal: this.journal,
      signal: stop.endSignal,
      killSignal: stop.killSignal,
      env,
    });

    await this.requests?.look();
    this.snapshot = await readSnapshot(this.options.storyFile, this.git, before);
    if (this.snapshot.storyFileProblem !== undefined) {
      this.warn('storyFileUnreadable', this.snapshot.storyFileProblem, iteration);
    }
    if (this.snapshot.gitProblem !== undefined) {
      this.warn('gitUnreadable', this.snapshot.gitProblem, iteration);
    }
    const commits =
      this.snapshot.head === undefined || this.snapshot.head === before.head
        ? 0
        : await recordCommits(this.journal, this.git, {
            iteration,
            storyId: story?.id,
            since: before.head,
          });
    const judgement = judge({
      ...(story && { story }),
      storiesBefore: before.stories?.stories ?? [],
      storiesAfter: this.snapshot.stories?.stories ?? [],
      commits,
      result,
      completionPromise: config.completionPromise,
      handled: this.handled,
      stopped: result.end.reason === 'cancelled',
    });
    this.handled.clear();
    this.verdict = judgement.verdict;
    for (const change of judgement.changes) {
      this.journal.append({ type: 'story.changed', ...change, by: 'agent', iteration });
    }
    if (judgement.signal) {
      const { kind, message, accepted } = judgement.signal;
      this.journal.append({
        type: 'promise.seen',
        iteration,
        signal: kind,
        message: message.slice(0, 2_000),
        accepted,
      });
    }
    const { costUsd, turns, usage } = result.end.result ?? {};
    const ended = this.journal.append({
      type: 'iteration.ended',
      iteration,
      ...(story && { storyId: story.id }),
      outcome: judgement.outcome,
      durationMs: Math.round(result.end.durationMs),
      ...(costUsd === undefined ? {} : { costUsd: amount(costUsd) }),
      ...(turns === undefined ? {} : { turns: whole(turns) }),
      ...(usage === undefined
        ? {}
        : {
            usage: {
              input: whole(usage.input),
              output: whole(usage.output),
              cacheRead: whole(usage.cacheRead),
              cacheWrite: whole(usage.cacheWrite),
            },
          }),
      commits,
      stories: this.count(),
    });
    this.journal.sync();
    await writeReceipt(files.iterationDir(runId, iteration), ended, this.state);
  }

  async end({ outcome, detail }: Extract<Decision, { kind: 'end' }>): Promise<RunState> {
    // Once more, so that a tick in the last moment is not lost.
    await this.requests?.look();
    this.requests?.dispose();
    this.stopListener?.dispose();
    try {
      await this.refreshHandoff(Math.max(1, this.state.iteration));
      this.handoff = {
        ...this.handoff,
        completed: outcome === 'completed',
        ...(detail === undefined ? {} : { completion_message: detail }),
      };
      await writeHandoff(this.options.files, this.handoff);
    } catch (error) {
      // The end itself must be recorded, also when the disk has room for nothing more than that.
      this.warn('handoffNotWritten', String(error));
    }
    this.journal.append({
      type: 'run.ended',
      outcome,
      exitCode: EXIT_CODES[outcome],
      ...(detail === undefined ? {} : { detail: detail.slice(0, 4_000) }),
      stories: this.count(),
      iterations: this.state.iteration,
    });
    this.journal.sync();
    await this.writeStateFile(false);
    return this.state;
  }

  private async handOff(
    iteration: number,
    story: Story | undefined,
  ): Promise<{ prompt: string; handoffBytes: number }> {
    const { config, files, storyFile } = this.options;
    await this.refreshHandoff(iteration, story);
    // The prompt is made of what fits into the handoff, so that it is as small at iteration 1,000.
    const handoff = fitHandoff(this.handoff);
    const handoffBytes = await writeHandoff(files, handoff);
    const prompt = generateIterationPrompt({
      handoff,
      task: this.handoff.original_prompt,
      ...(story && { story }),
      ...(storyFile === undefined ? {} : { storyFile: relative(files.workspace, storyFile) }),
      progressFile: relative(files.workspace, this.progressFile),
      stuckThreshold: config.stuckThreshold,
      ...(this.state.refusedPromise && { refusedPromise: this.state.refusedPromise }),
      ...(this.snapshot.storyFileProblem === undefined
        ? {}
        : { storyFileProblem: this.snapshot.storyFileProblem }),
    });
    return { prompt, handoffBytes };
  }

  private async refreshHandoff(iteration: number, story?: Story): Promise<void> {
    this.handoff = await refreshHandoffFromFiles(
      this.handoff,
      {
        ...(this.snapshot.stories && { stories: this.snapshot.stories }),
        progressFile: this.progressFile,
        git: this.git,
        state: this.state,
        iteration,
        ...(story && { storyId: story.id }),
      },
      (code, detail) => this.warn(code, detail, iteration),
    );
  }

  /** Beside the story file. */
  private get progressFile(): string {
    const { files, storyFile } = this.options;
    const dir =
      storyFile === undefined ? path.join(files.workspace, '.omc') : path.dirname(storyFile);
    return path.join(dir, 'progress.txt');
  }

  private changesSince(before: Snapshot): Judgement['changes'] {
    const changes = storyChanges({
      storiesBefore: before.stories?.stories ?? [],
      storiesAfter: this.snapshot.stories?.stories ?? [],
      handled: this.handled,
    });
    this.handled.clear();
    return changes;
  }

  private listen(): void {
    const { files, runId, stop } = this.options;
    const requests = new RequestWatcher(files, runId);
    this.requests = requests;
    requests.onRequest(request => {
      if (request.type === 'stop') {
        stop.request(request.mode, 'inbox');
      } else {
        this.handled.add(request.storyId);
        this.journal.append({
          type: 'story.ticked',
          storyId: request.storyId,
          done: request.done,
        });
      }
    });
    requests.onCancel(() => stop.request('end', 'stateFile'));
    this.stopListener = stop.onDidRequest(({ mode, by }) => {
      try {
        this.journal.append({ type: 'stop.requested', by, mode });
      } catch (error) {
        // Called from a signal handler, where nobody would catch it; the run ends in any case.
        process.stderr.write(`The stop could not be recorded: ${error}\n`);
      }
    });
    requests.onError(error => {
      try {
        this.warn('inboxUnreadable', error.message);
      } catch {
        // The journal cannot be written either; the loop meets that at its next event and ends.
      }
    });
  }

  private warn(code: string, detail: string, iteration?: number): void {
    this.journal.append({
      type: 'warning',
      code,
      detail: detail.slice(0, 2_000),
      ...(iteration === undefined ? {} : { iteration }),
    });
  }

  private async writeStateFile(active: boolean): Promise<void> {
    const { files, runId, stop } = this.options;
    // Written again after somebody asked to cancel through it, it would hide that request.
    if (active && stop.requested) {
      return;
    }
    requirePlainState(files, runId);
    const state = {
      active,
      started_at: this.startedAt,
      iteration: this.state.iteration,
      run_id: runId,
      pid: process.pid,
      workspace: files.workspace,
      ...(active ? {} : { outcome: this.state.outcome }),
    };
    await writeFileAtomic(files.stateFile, `${JSON.stringify(state, null, 2)}\n`);
  }

  private count(): StoryCount {
    const stories = this.snapshot.stories?.stories ?? [];
    return { done: stories.filter(story => story.done).length, total: stories.length };
  }
}

function taskOf({ task }: RunOptions, { stories }: Snapshot): string {
  return task?.trim() || stories?.description || stories?.project || 'Complete the stories.';
}

function relative(workspace: string, file: string): string {
  return path.relative(workspace, file).split(path.sep).join('/');
}
