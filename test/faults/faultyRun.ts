import { setTimeout as delay } from 'node:timers/promises';
import type { Finished, RunningCli } from '../support/ralph.ts';
import { endViolations, handoffViolations } from './checks.ts';
import { FaultWorkspace, kill, storyIds } from './faultWorkspace.ts';
import {
  agentMoment,
  describeMoment,
  type Moment,
  MomentWatch,
  startingMoment,
  workingMoment,
} from './moments.ts';
import { Random } from './random.ts';
import { Violation } from './violation.ts';
import { WatchedLoop } from './watchedLoop.ts';

/** Assumed until measured, in ms. */
const FIRST_ITERATION_MS = 600;
const START_MS = 900;
const AGENT_MS = 500;

const TARGETS = ['loop', 'agent', 'both'] as const;
type Target = (typeof TARGETS)[number];

export interface FaultyRunPlan {
  readonly seed: number;
  readonly stories: number;
  /** Maximum number of kills; fewer if the run is complete before. */
  readonly kills: number;
}

export interface FaultyRunReport {
  readonly seed: number;
  /** Number of kills, by what was killed. */
  readonly kills: Readonly<Record<string, number>>;
  /** The kills and their times, in order. */
  readonly log: readonly string[];
  /** Empty if all is well. */
  readonly violations: readonly string[];
  /** Where to inspect it; absent if all was well and it was removed. */
  readonly folder?: string;
}

/** Runs all stories of one workspace with kills, repeats the same command after each, and checks the result. */
export async function faultyRun(plan: FaultyRunPlan): Promise<FaultyRunReport> {
  const random = new Random(plan.seed);
  const hasGate = random.chance(0.5);
  const manner = {
    order: random.chance(0.7) ? ('commitFirst' as const) : ('tickFirst' as const),
    paceMs: random.whole(0, 20),
    tornWrites: random.chance(0.5),
    outlives: random.chance(0.5),
    children: storyIds(plan.stories).filter(() => random.chance(0.15)),
  };
  const workspace = await FaultWorkspace.create(plan.stories, {
    manner,
    ...(random.chance(0.5) && { branch: 'ralph/faults' }),
    args: [
      ...['--max-iterations', '1000', '--fail-threshold', '1000', '--stuck-threshold', '1000'],
      ...(hasGate ? ['--verify', GREEN_CHECK] : []),
    ],
  });
  const run = new FaultyRun(workspace, random, { ...plan, hasGate });
  run.log.push(`gate ${hasGate}, ${JSON.stringify(manner)}`);
  const violations: string[] = [];
  try {
    await run.toEnd();
    violations.push(...(await endViolations(workspace, manner.order)));
  } catch (error) {
    violations.push(error instanceof Violation ? error.message : String((error as Error).stack));
  }
  violations.push(...run.violations);
  await workspace.dispose({ keep: violations.length > 0 });
  return {
    seed: plan.seed,
    kills: run.kills,
    log: run.log,
    violations,
    ...(violations.length > 0 ? { folder: workspace.root } : {}),
  };
}

const GREEN_CHECK = 'node -e "setTimeout(() => {}, 20)"';

class FaultyRun {
  readonly kills: Record<Target, number> = { loop: 0, agent: 0, both: 0 };
  readonly log: string[] = [];
  readonly violations: string[] = [];
  private readonly workspace: FaultWorkspace;
  private readonly random: Random;
  private readonly plan: FaultyRunPlan & { readonly hasGate: boolean };
  private readonly loop: WatchedLoop;
  private readonly startedAt: number[] = [];
  private readonly done = new Set<string>();

  constructor(
    workspace: FaultWorkspace,
    random: Random,
    plan: FaultyRunPlan & { readonly hasGate: boolean },
  ) {
    this.workspace = workspace;
    this.random = random;
    this.plan = plan;
    this.loop = new WatchedLoop(workspace, event => {
      if (event.type === 'iteration.ended' && event.outcome === 'storyDone' && event.storyId) {
        this.done.add(event.storyId);
      }
      if (event.type === 'iteration.started') {
        this.startedAt.push(performance.now());
      }
    });
  }

  async toEnd(): Promise<void> {
    for (const after of this.turns()) {
      const isStarting = this.loop.current === undefined && (await this.start());
      const isAtStart = isStarting && this.done.size >= after;
      await this.loop.until(`${after} stories done`, () => this.done.size >= after);
      const isEnd = after >= this.plan.stories;
      const target = isEnd ? 'loop' : this.random.pick(TARGETS);
      const moment = this.drawMoment(target, isAtStart, isEnd);
      const watch = new MomentWatch(moment, this.workspace.files);
      await this.loop.until(describeMoment(moment), events => watch.hasCome(events));
      if (this.loop.finished) {
        this.log.push(`the end came before ${describeMoment(moment)}`);
        break;
      }
      await this.strike(target, moment);
    }
    if (this.loop.current === undefined) {
      await this.start();
    }
    await this.loop.until('the end of the run', () => false);
    const { code, signal, stderr } = this.loop.finished ?? {};
    if (code !== 0 || stderr !== '') {
      throw new Violation(`the last loop ended with ${code ?? signal}: ${stderr?.trim()}`);
    }
  }

  /** Number of done stories at which each kill happens, spread over the run. Starts are hit repeatedly. */
  private turns(): number[] {
    const { kills, stories } = this.plan;
    const turns = Array.from({ length: kills }, () => this.random.whole(0, stories - 1));
    if (this.random.chance(0.3)) {
      turns[0] = stories;
    }
    return turns.sort((a, b) => a - b);
  }

  /** @param isAtStart whether the loop has only just been started: later, what a start does cannot be waited for */
  private drawMoment(target: Target, isAtStart: boolean, isEnd: boolean): Moment {
    const { random } = this;
    if (isEnd) {
      return random.chance(0.5)
        ? { kind: 'event', types: ['run.ended'] }
        : { kind: 'delay', ms: random.next() * 20 };
    }
    if (target !== 'loop') {
      return agentMoment(random, AGENT_MS);
    }
    return isAtStart && random.chance(0.6)
      ? startingMoment(random, START_MS)
      : workingMoment(random, this.iterationMs(), this.plan.hasGate);
  }

  private iterationMs(): number {
    const [first] = this.startedAt;
    const last = this.startedAt.at(-1);
    const count = this.startedAt.length - 1;
    return first === undefined || last === undefined || count < 1
      ? FIRST_ITERATION_MS
      : Math.min((last - first) / count, 4 * FIRST_ITERATION_MS);
  }

  /**
   * Starts a loop; sometimes two at once, of which one must be refused.
   * @returns whether it has only just started
   */
  private async start(): Promise<boolean> {
    if (this.random.chance(0.25) && this.hasWork()) {
      await this.startTwo();
      return false;
    }
    this.loop.start();
    return true;
  }

  /** No loop can end while agents are held, so the one that ends was refused. */
  private async startTwo(): Promise<void> {
    await this.workspace.hold();
    const first = this.workspace.start();
    await delay(this.random.next() * START_MS * 0.5);
    const second = this.workspace.start();
    const ended = new Map<RunningCli, Finished>();
    for (const loop of [first, second]) {
      void loop.finished.then(finished => ended.set(loop, finished));
    }
    await this.loop.poll('the refusal of a second loop', () => ended.size > 0);
    const [entry] = ended;
    const [refused, { code, signal, stderr } = {}] = entry ?? [];
    if (code !== 1 || !/^ralph-fresh: A run is already active [^\n]*\n$/.test(stderr ?? '')) {
      throw new Violation(`of two loops one ended with ${code ?? signal}: ${stderr?.trim()}`);
    }
    const loop = refused === first ? second : first;
    if (ended.size > 1) {
      throw new Violation('of two loops that were started at once both ended');
    }
    this.log.push(`second loop refused (${refused === first ? 'the first' : 'the second'})`);
    this.loop.follow(loop);
    await this.workspace.release();
  }

  /** Whether a story is open, so that a loop starts an agent before it ends. */
  private hasWork(): boolean {
    this.loop.look();
    return this.done.size < this.plan.stories - 1;
  }

  private async strike(wanted: Target, moment: Moment): Promise<void> {
    const { loop, random, workspace } = this;
    const agent = workspace.livingAgent();
    const target = agent === undefined ? 'loop' : wanted;
    if (target !== 'loop' && agent !== undefined) {
      // Sometimes with its children, as in a crash of the machine: then git dies in the middle of a commit.
      const isGroup = process.platform !== 'win32' && random.chance(0.4);
      if (target === 'agent' || random.chance(0.5)) {
        kill(isGroup ? -agent : agent);
      }
    }
    const pid = loop.current?.pid;
    if (target !== 'agent') {
      if (!(await loop.kill())) {
        return;
      }
      if (target === 'both' && agent !== undefined) {
        kill(agent);
      }
      loop.forget();
    }
    this.kills[target] += 1;
    loop.look();
    this.log.push(
      `${target} killed at ${describeMoment(moment)}, ${this.done.size} done, agent ${agent}, loop ${pid}`,
    );
    this.violations.push(...handoffViolations(workspace.files));
    if (target === 'loop' && random.chance(0.3)) {
      await loop.poll('the end of the agent alone', () => workspace.livingAgent() === undefined);
    }
  }
}
