import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { HumanError } from '../../base/humanError.ts';
import { messageOf } from '../../base/messageOf.ts';
import { say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { agentEnv } from '../agents/agentEnv.ts';
import { mergeByHand } from '../git/mergeByHand.ts';
import { writeGit } from '../git/runGit.ts';
import type { Place } from '../places/place.ts';
import { type GateResult, runGate } from '../proof/checks/gate.ts';
import type { Run } from '../run/run.ts';
import { candidateRef } from '../workspace/workRefs.ts';
import type { Held } from './branchForward.ts';
import type { Join, Target, TargetLook } from './target.ts';

/** Files that a record of the journal names. */
const MAX_FILES = 50;

/** What a landing comes after, and how the branch gets it; what keeps the branch from following is recorded. */
export class Tip {
  private readonly run: Run;
  private readonly target: Target;
  private readonly placeAt: (commit: string) => Promise<Place>;
  /** Commits of the branch and of what has landed that do not pass the checks together. */
  private redJoin: readonly [branch: string, tip: string] | undefined;

  constructor(
    run: Run,
    { placeAt, target }: { readonly target: Target; readonly placeAt: Tip['placeAt'] },
  ) {
    this.run = run;
    this.target = target;
    this.placeAt = placeAt;
  }

  /**
   * The commit to land on. If a person has committed on the branch while it could not follow, both are joined first,
   * which lands like any candidate; if that is not possible, the person has to do it.
   */
  async commit(): Promise<string> {
    const { target } = this;
    const { kind, tip } = await target.look();
    if (kind === 'same') {
      return tip;
    }
    if (kind === 'ahead') {
      return (await this.follow()).tip;
    }
    const join = await target.joinBase();
    const told = join?.kind === 'join' ? await this.landJoin(join) : (join?.files ?? []);
    if (told !== undefined) {
      const untracked = await target.untrackedInTheWay();
      this.tellHeld({
        ...{ kind: 'held', code: 'diverged', files: told, untracked },
        reason: mergeByHand(target.tipRef, { code: 'diverged', untracked }),
      });
    }
    return (await target.look()).tip;
  }

  /** @returns files to name to the person who has to do it; none if it has landed, or the run is being stopped */
  private async landJoin({ branch, commit, tip }: Join): Promise<readonly string[] | undefined> {
    const pair = [branch, tip] as const;
    if (isDeepStrictEqual(this.redJoin, pair)) {
      return [];
    }
    await this.hold(commit);
    const { cancelled, green } = await this.check(commit);
    if (green) {
      await this.advance(tip, commit);
      return undefined;
    }
    if (cancelled) {
      return undefined;
    }
    this.redJoin = pair;
    return [];
  }

  /** Until it has landed, nothing else holds a candidate against git's garbage collection. */
  async hold(commit: string): Promise<void> {
    const { root } = this.target;
    await writeGit(root, ['update-ref', candidateRef(this.run.files.workspace), commit]);
  }

  /** Lets the branch catch up with what has landed, if it can. @returns the commit that the next work lands on */
  async follow(): Promise<TargetLook> {
    const { target } = this;
    const look = await target.look();
    if (look.kind === 'ahead') {
      const result = await target.follow();
      // A person may have committed on the branch meanwhile. Whether both can be joined shows before the next landing.
      if (result.kind === 'followed' || result.code !== 'diverged') {
        this.tellHeld(result);
      }
      return target.look();
    }
    if (look.kind === 'same') {
      this.tellFollowed();
    }
    return look;
  }

  /** @returns whether it has landed; otherwise somebody else has moved the branch */
  async advance(from: string, to: string): Promise<boolean> {
    const result = await this.target.advance(from, to);
    if (result.kind === 'moved') {
      return false;
    }
    this.tellHeld(result);
    return true;
  }

  /** What has landed could not be joined with the commits of a person. */
  tellRefused(error: unknown): void {
    const reason =
      error instanceof HumanError
        ? error.said
        : say('git gives this reason: {0}', shorten(messageOf(error), 600));
    this.tellHeld({ kind: 'held', code: 'refused', reason, files: [] });
  }

  /** Recorded once, until the reason changes. */
  private tellHeld(result: Held | { readonly kind: 'followed' }): void {
    if (result.kind === 'followed') {
      this.tellFollowed();
      return;
    }
    const { journal, state } = this.run;
    const { branch, tipRef: ref } = this.target;
    const files = result.files.slice(0, MAX_FILES);
    const untracked = (result.untracked ?? []).slice(0, MAX_FILES);
    const { held } = state();
    if (
      held === undefined ||
      held.reason !== result.code ||
      !isDeepStrictEqual(held.files, files) ||
      !isDeepStrictEqual(held.untracked ?? [], untracked)
    ) {
      const { code, reason } = result;
      journal.append({
        ...{ type: 'target.held', branch, reason: code, files, ref, detail: reason },
        untracked: untracked.length === 0 ? undefined : untracked,
      });
    }
  }

  private tellFollowed(): void {
    const { journal, state } = this.run;
    const { held } = state();
    if (held !== undefined) {
      journal.append({ type: 'target.followed', branch: this.target.branch });
    }
  }

  /** Runs the checks on a commit that is not one story's. */
  async check(commit: string): Promise<GateResult> {
    const { config, env, files, id, stop } = this.run;
    if (config.verify.length === 0) {
      return { green: true, checks: [], cancelled: false };
    }
    const place = await this.placeAt(commit);
    return runGate({
      commands: config.verify,
      flaky: config.flakyChecks,
      cwd: place.dir,
      env: { ...agentEnv(env), ...place.env },
      timeLimitMs: config.verifyTimeLimitMs,
      signal: stop.endSignal,
      killSignal: stop.killSignal,
      runId: id,
      dir: path.join(files.runDir(id), 'join'),
    });
  }
}
