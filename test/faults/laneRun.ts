import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunningCli } from '../support/ralph.ts';
import { handoffViolations } from './checks.ts';
import { type FaultWorkspace, kill } from './faultWorkspace.ts';
import type { FaultyRunReport } from './faultyRun.ts';
import { runIdsNow, wholeJournal } from './journalTail.ts';
import { laneViolations } from './laneChecks.ts';
import { createLaneWorkspace, drawLaneWorld, userFiles } from './laneWorld.ts';
import {
  agentMoment,
  checkMoment,
  describeMoment,
  laneMoment,
  type Moment,
  MomentWatch,
  startingMoment,
} from './moments.ts';
import { Random } from './random.ts';
import { Violation } from './violation.ts';
import { NEVER_MS, WatchedLoop } from './watchedLoop.ts';

/** After this time, a kill comes without its moment. */
const PATIENCE_MS = 15_000;
const START_MS = 1_500;
const AGENT_MS = 600;
/** The longest time from `SIGTERM` to the end of the loop, where processes do not wait for a processor. */
const STOP_MS = 10_000;

/** `all`: the loop, its agents and the check; `stop`: the loop gets SIGTERM, and ends everything itself. */
const LANE_TARGETS = ['loop', 'loop', 'agent', 'check', 'all', 'stop'] as const;
type LaneTarget = (typeof LANE_TARGETS)[number];

export interface LaneRunPlan {
  readonly seed: number;
  readonly stories: number;
  /** Maximum number of kills; fewer if the run is complete before. */
  readonly kills: number;
  readonly lanes: number;
}

/** A run with several agents at once, killed repeatedly, and continued with the same command each time. */
export async function laneRun(plan: LaneRunPlan): Promise<FaultyRunReport> {
  const random = new Random(plan.seed);
  const world = drawLaneWorld(random, plan.stories, plan.lanes);
  const workspace = await createLaneWorkspace(plan.stories, world);
  const run = new LaneRun(workspace, random, { ...plan, checkMs: world.checkMs });
  run.log.push(JSON.stringify(world));
  const violations: string[] = [];
  try {
    const head = (await workspace.git('rev-parse', 'HEAD')).trim();
    const before = { head, user: await userFiles(workspace) };
    await run.toEnd();
    violations.push(...(await laneViolations(workspace, world, before)));
  } catch (error) {
    violations.push(error instanceof Violation ? error.message : String((error as Error).stack));
  }
  violations.push(...run.violations);
  const { notes } = workspace;
  const resolved = notes.call(workspace).filter(({ resolves }) => resolves !== undefined).length;
  run.log.push(`${resolved} conflicts told, ${run.returned} landings returned`);
  await workspace.dispose({ keep: violations.length > 0 });
  return {
    seed: plan.seed,
    kills: run.kills,
    log: run.log,
    violations,
    ...(violations.length > 0 ? { folder: workspace.root } : {}),
  };
}

class LaneRun {
  readonly kills: Record<LaneTarget, number> = { loop: 0, agent: 0, check: 0, all: 0, stop: 0 };
  readonly log: string[] = [];
  readonly violations: string[] = [];
  returned = 0;
  private readonly workspace: FaultWorkspace;
  private readonly random: Random;
  private readonly plan: LaneRunPlan & { readonly checkMs: number };
  private readonly loop: WatchedLoop;
  private readonly landed = new Set<string>();

  constructor(
    workspace: FaultWorkspace,
    random: Random,
    plan: LaneRunPlan & { readonly checkMs: number },
  ) {
    this.workspace = workspace;
    this.random = random;
    this.plan = plan;
    this.loop = new WatchedLoop(workspace, event => {
      if (event.type === 'landing.landed') {
        this.landed.add(event.storyId);
      }
      if (event.type === 'landing.returned') {
        this.returned += 1;
      }
    });
  }

  async toEnd(): Promise<void> {
    const { plan, random } = this;
    const turns = Array.from({ length: plan.kills }, () => random.whole(0, plan.stories - 1));
    for (const after of turns.sort((a, b) => a - b)) {
      const isStarting = this.loop.current === undefined;
      if (isStarting) {
        this.loop.start();
      }
      const isAtStart = isStarting && this.landed.size >= after;
      await this.loop.until(`${after} stories landed`, () => this.landed.size >= after);
      const target = random.pick(LANE_TARGETS);
      const moment = this.drawMoment(target, isAtStart);
      const watch = new MomentWatch(moment, this.workspace.files);
      const end = Date.now() + PATIENCE_MS;
      await this.loop.until(
        describeMoment(moment),
        events => watch.hasCome(events) || Date.now() > end,
      );
      if (this.loop.finished) {
        this.log.push(`the end came before ${describeMoment(moment)}`);
        break;
      }
      await this.strike(target, moment);
    }
    if (this.loop.current === undefined) {
      this.loop.start();
    }
    await this.loop.until('the end of the run', () => false);
    const { code, signal, stderr, stdout } = this.loop.finished ?? {};
    const isLeft =
      code === 1 &&
      /failed too often|has failed \d+ times|does not have everything that has landed/.test(
        stdout ?? '',
      );
    if ((code !== 0 && !isLeft) || code !== this.recordedExit() || stderr !== '') {
      throw new Violation(
        `the last loop ended with ${code ?? signal}: ${stderr?.trim()} ${stdout?.slice(-500)}`,
      );
    }
  }

  /** @param isAtStart whether the loop has only just been started: later, what a start does cannot be waited for */
  private drawMoment(target: LaneTarget, isAtStart: boolean): Moment {
    const { plan, random } = this;
    switch (target) {
      case 'agent':
        return agentMoment(random, AGENT_MS);
      case 'check':
        return checkMoment(random, plan.checkMs);
      default:
        return isAtStart && random.chance(0.4)
          ? startingMoment(random, START_MS)
          : laneMoment(random);
    }
  }

  private async strike(wanted: LaneTarget, moment: Moment): Promise<void> {
    const { loop, random, workspace } = this;
    const agents = workspace.livingAgents();
    const checks = workspace.livingChecks();
    const isMissing =
      (wanted === 'agent' && agents.length === 0) || (wanted === 'check' && checks.length === 0);
    const target = isMissing ? 'loop' : wanted;
    // Sometimes with its children, as in a crash of the machine: then git dies in the middle of a commit.
    const end = (pid: number) =>
      kill(process.platform !== 'win32' && random.chance(0.4) ? -pid : pid);
    const some = (pids: readonly number[]) =>
      pids.slice(random.whole(0, pids.length - 1)).slice(0, 1);
    const killsFirst = random.chance(0.5);
    if (target === 'agent') {
      some(agents).forEach(end);
    }
    if (target === 'check') {
      some(checks).forEach(end);
    }
    if (target === 'all' && killsFirst) {
      [...agents, ...checks].forEach(end);
    }
    const running = loop.current;
    if (target === 'stop' && running !== undefined) {
      await this.stop(running);
      loop.forget();
    } else if (target === 'loop' || target === 'all') {
      if (!(await loop.kill())) {
        return;
      }
      if (target === 'all') {
        [...agents, ...checks].forEach(end);
      }
      loop.forget();
    }
    this.kills[target] += 1;
    loop.look();
    this.log.push(
      `${target} at ${describeMoment(moment)}, ${this.landed.size} landed, agents ${agents}, checks ${checks}, loop ${running?.pid}`,
    );
    this.violations.push(...handoffViolations(workspace.files));
    if (target === 'loop' && random.chance(0.3)) {
      await loop.poll('the end of the agents alone', () => workspace.livingAgents().length === 0);
    }
  }

  /** The exit code of the newest run, as its journal says; absent if it has not ended. */
  private recordedExit(): number | undefined {
    const { files } = this.workspace;
    const [runId] = runIdsNow(files).slice(-1);
    const last = runId === undefined ? undefined : wholeJournal(files, runId).at(-1);
    return last?.type === 'run.ended' ? last.exitCode : undefined;
  }

  /** A stop must be quick, and leave nothing. */
  private async stop(loop: RunningCli): Promise<void> {
    const since = performance.now();
    const agents = new Set(this.workspace.livingAgents());
    loop.child.kill('SIGTERM');
    const { code, signal, stderr } = await Promise.race([
      loop.finished,
      delay(NEVER_MS, undefined, { ref: false }).then(() => {
        throw new Violation('a stopped loop does not end');
      }),
    ]);
    const ms = performance.now() - since;
    // A loop that the signal ends like any program has not taken over yet: what a killed one left waits for the next.
    const hadBegun = signal !== 'SIGTERM';
    const left = hadBegun
      ? this.workspace.processes()
      : this.workspace.livingAgents().filter(pid => !agents.has(pid));
    const isBusy = (loadavg()[0] ?? 0) > availableParallelism();
    if (ms > STOP_MS && !isBusy) {
      this.violations.push(`a stop took ${ms.toFixed(0)} ms`);
    }
    if (left.length > 0) {
      this.violations.push(`a stop left ${left.join()}`);
    }
    // What has landed until its end counts.
    this.loop.look();
    // A run that had come to its end when the signal came has an exit code of its own.
    if (hadBegun && code !== 130 && code !== 143 && code !== this.recordedExit()) {
      this.violations.push(`a stop ended with ${code ?? signal}: ${stderr}`);
    }
  }
}
