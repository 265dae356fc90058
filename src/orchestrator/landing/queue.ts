import { Emitter } from '../../base/emitter.ts';
import { saidOf } from '../../base/messageOf.ts';
import type { Message } from '../../base/say.ts';
import { checkRecord } from '../proof/checks/gate.ts';
import type { Run } from '../run/run.ts';
import type { Verdict } from '../run/verdict.ts';
import { type Landable, Landing, type LandingHands } from './landing.ts';
import { Tip } from './tip.ts';

/** An iteration has left the queue: it has landed, or its story was returned; or it stays for later. */
export interface Settled {
  readonly iteration: number;
  /** What ends the run. */
  readonly verdict?: Verdict;
}

/**
 * Lands finished work on the branch, one story after the other: candidate, checks, reviewer, branch, tick. What is not
 * decided when the run ends stays queued in the journal, and lands when the run continues.
 */
export class LandingQueue {
  private readonly run: Run;
  private readonly landing: Landing;
  private readonly tip: Tip;
  private readonly waiting: Landable[] = [];
  private draining: Promise<void> | undefined;
  /** The commits of the branch and of what has landed that were to be joined last. */
  private triedJoin: string | undefined;
  private isHalted = false;
  private readonly settleEmitter = new Emitter<Settled>();
  readonly onDidSettle = this.settleEmitter.event;

  constructor(run: Run, hands: LandingHands) {
    this.run = run;
    this.tip = new Tip(run, hands);
    this.landing = new Landing(run, this.tip, hands);
  }

  /** Lets the branch catch up with what has landed, if it can. @returns the commit that the next work lands on */
  async follow(): Promise<string> {
    return (await this.tip.follow()).tip;
  }

  /**
   * As {@link follow}. If a person has committed on the branch meanwhile, both are joined in the background: the next
   * landing would do it, but perhaps none comes any more.
   */
  async catchUp(): Promise<string> {
    const { branch, kind, tip } = await this.tip.follow();
    const pair = `${branch} ${tip}`;
    if (kind === 'diverged' && this.draining === undefined && this.triedJoin !== pair) {
      this.triedJoin = pair;
      this.draining = Promise.resolve().then(() => this.join());
    }
    return tip;
  }

  /** The journal says already that it waits. */
  add(work: Landable): void {
    this.waiting.push(work);
    // Not at once: what ends before anything is awaited would count as draining forever.
    this.draining ??= Promise.resolve().then(() => this.drain());
  }

  /** Resolves when nothing is landing or waiting any more. */
  async idle(): Promise<void> {
    await this.draining;
  }

  private async join(): Promise<void> {
    const isOver = this.isHalted || this.run.stop.endSignal.aborted;
    try {
      await (isOver ? undefined : this.tip.commit());
    } catch (error) {
      this.tip.tellRefused(error);
    }
    await this.drain();
  }

  private async drain(): Promise<void> {
    while (this.waiting.length > 0) {
      await this.landAll(this.waiting.splice(0, this.batchSize));
    }
    this.draining = undefined;
  }

  /** A reviewer looks at each story by itself, and without checks there is nothing to save. */
  private get batchSize(): number {
    const { landBatch, reviewer, verify } = this.run.config;
    return reviewer || verify.length === 0 ? 1 : landBatch;
  }

  /**
   * Lands stories in their order. Several are stacked and checked once, at the top of the stack; if that is red, each
   * half is tried by itself, until the one that is at fault is alone.
   */
  private async landAll(works: readonly Landable[]): Promise<void> {
    const [first, ...others] = works;
    if (first === undefined) {
      return;
    }
    if (others.length === 0) {
      await this.settle(first, () => this.landing.land(first));
      return;
    }
    let landed: readonly Landable[];
    try {
      landed = await this.landStacked(works);
    } catch (error) {
      // They stay queued, as with one.
      for (const work of works) {
        await this.settle(work, () => Promise.reject(error));
      }
      return;
    }
    const left = works.filter(work => !landed.includes(work));
    if (landed.length > 0) {
      // They did not fit on the stack.
      for (const work of left) {
        await this.landAll([work]);
      }
    } else {
      const middle = Math.ceil(left.length / 2);
      await this.landAll(left.slice(0, middle));
      await this.landAll(left.slice(middle));
    }
  }

  private async settle(
    { scope: { iteration } }: Landable,
    land: () => Promise<Verdict | undefined>,
  ): Promise<void> {
    let verdict: Verdict | undefined;
    try {
      const isOver = this.isHalted || this.run.stop.endSignal.aborted;
      verdict = isOver ? undefined : await land();
    } catch (error) {
      // It stays queued: whatever prevented the landing, the commits are held.
      verdict = { kind: 'fatal', message: saidOf(error) };
    }
    // What ends the run would end the next landing, too.
    this.isHalted ||= verdict !== undefined;
    this.settleEmitter.fire({ iteration, verdict });
  }

  /** @returns those that have landed; none if the checks are red, or something else has come in between */
  private async landStacked(works: readonly Landable[]): Promise<readonly Landable[]> {
    const { run } = this;
    if (this.isHalted || run.stop.endSignal.aborted) {
      return [];
    }
    const from = await this.tip.commit();
    const stack: { work: Landable; commit: string; onto: string; notTicked?: Message }[] = [];
    let onto = from;
    for (const work of works) {
      const isLeftOut =
        this.landing.isTakenBack(work) || (await this.landing.landedBefore(work)) !== undefined;
      const made = isLeftOut ? undefined : await this.landing.candidateOf(work, onto);
      if (made?.kind === 'candidate') {
        stack.push({ work, commit: made.commit, onto, notTicked: made.notTicked });
        onto = made.commit;
      }
    }
    if (stack.length < 2) {
      return [];
    }
    await this.tip.hold(onto);
    for (const { commit, onto: below, work } of stack) {
      const { iteration, story } = work.scope;
      const about = { iteration, storyId: story.id };
      work.scope.append({ type: 'landing.candidate', ...about, commit, onto: below });
      work.scope.append({ type: 'gate.started', ...about, commands: [...run.config.verify] });
    }
    const searches = stack.map(({ commit, onto: below }) => this.landing.search(below, commit));
    const isGreen = await this.isStackGreen(onto, stack);
    if (!isGreen || stack.some(({ work }) => this.landing.isTakenBack(work))) {
      return [];
    }
    for (const { work } of stack) {
      const { iteration, story } = work.scope;
      work.scope.append({ type: 'gate.ended', iteration, storyId: story.id, green: true });
    }
    run.journal.sync();
    if (!(await this.tip.advance(from, onto))) {
      return [];
    }
    // Of all, before anybody hears of the first: from then on, a person may take each of the ticks back.
    const ticked = await Promise.all(
      stack.map(({ work }) => this.landing.isTicked(work.scope.story)),
    );
    for (const [index, { commit, notTicked, onto: below, work }] of stack.entries()) {
      await this.settle(work, async () => {
        await this.landing.finish(work, {
          commit,
          onto: below,
          notTicked,
          search: searches[index],
          wasTicked: ticked[index],
        });
        return undefined;
      });
    }
    return stack.map(({ work }) => work);
  }

  private async isStackGreen(
    commit: string,
    stack: readonly { readonly work: Landable }[],
  ): Promise<boolean> {
    const { journal } = this.run;
    const { cancelled, checks, green } = await this.tip.check(commit);
    if (!cancelled) {
      const failed = checks.find(({ ok }) => !ok);
      journal.append({
        type: 'stack.checked',
        commit,
        storyIds: stack.map(({ work }) => work.scope.story.id),
        failed: failed && checkRecord(failed),
      });
    }
    return green;
  }
}
