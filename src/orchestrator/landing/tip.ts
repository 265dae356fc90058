import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { say } from '../../base/say.ts';
import { agentEnv } from '../agents/agentEnv.ts';
import type { Place } from '../places/place.ts';
import { runGate } from '../proof/checks/gate.ts';
import type { Run } from '../run/run.ts';
import type { Held } from './branchForward.ts';
import type { Target } from './target.ts';

/** Files that a record of the journal names. */
const MAX_FILES = 50;

/** What a landing comes after, and how the branch gets it; what keeps the branch from following is recorded. */
export class Tip {
  private readonly run: Run;
  private readonly target: Target;
  private readonly placeAt: (commit: string) => Promise<Place>;

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
    if (kind === 'ahead') {
      await this.follow();
    }
    if (kind !== 'diverged') {
      return (await target.look()).tip;
    }
    const join = await target.joinBase();
    if (join?.kind === 'join' && (await this.isGreen(join.commit))) {
      await this.advance(tip, join.commit);
    } else {
      this.tellHeld({
        ...{ kind: 'held', code: 'diverged', files: join?.kind === 'conflict' ? join.files : [] },
        reason: say('Merge it by hand: git merge {0}', target.tipRef),
      });
    }
    return (await target.look()).tip;
  }

  /** Lets the branch catch up with what has landed, if it can. */
  async follow(): Promise<void> {
    const { target } = this;
    const { kind } = await target.look();
    if (kind === 'ahead') {
      this.tellHeld(await target.follow());
    } else if (kind === 'same') {
      this.tellFollowed();
    }
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

  /** Recorded once, until the reason changes. */
  private tellHeld(result: Held | { readonly kind: 'followed' }): void {
    if (result.kind === 'followed') {
      this.tellFollowed();
      return;
    }
    const { journal, state } = this.run;
    const { branch, tipRef: ref } = this.target;
    const files = result.files.slice(0, MAX_FILES);
    const { held } = state();
    if (
      held === undefined ||
      held.reason !== result.code ||
      !isDeepStrictEqual(held.files, files)
    ) {
      const { code, reason } = result;
      journal.append({ type: 'target.held', branch, reason: code, files, ref, detail: reason });
    }
  }

  private tellFollowed(): void {
    const { journal, state } = this.run;
    const { held } = state();
    if (held !== undefined) {
      journal.append({ type: 'target.followed', branch: this.target.branch });
    }
  }

  /** Whether the checks pass on a commit that is no story's: then nothing is recorded of them. */
  async isGreen(commit: string): Promise<boolean> {
    const { config, env, files, id, stop } = this.run;
    if (config.verify.length === 0) {
      return true;
    }
    const place = await this.placeAt(commit);
    const { green } = await runGate({
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
    return green;
  }
}
