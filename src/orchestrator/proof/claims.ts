import { HumanError } from '../../base/humanError.ts';
import { say, type Words, withTexts } from '../../base/say.ts';
import { shortenBlock } from '../../base/text.ts';
import { agentEnv } from '../agents/agentEnv.ts';
import { isSpent } from '../agents/call/budgetLedger.ts';
import { endedSentence, failedCallSentence } from '../agents/call/failedCall.ts';
import { StoriesInChecks } from '../iteration/guard/storiesInChecks.ts';
import { readStories, type Snapshot } from '../places/snapshot.ts';
import type { Run } from '../run/run.ts';
import type { Scope } from '../run/scope.ts';
import type { Verdict } from '../run/verdict.ts';
import { warn } from '../run/warn.ts';
import { setStoryDone } from '../stories/edit/edit.ts';
import { readStoryList } from '../stories/storyFile.ts';
import { idsNow } from '../stories/storyMatching.ts';
import { storyNow } from '../stories/storyNow.ts';
import { runGate } from './checks/gate.ts';
import { setArchitectVerified } from './reviewer/architectVerified.ts';
import { reviewClaim } from './reviewer/reviewer.ts';

/** What an iteration claims to have finished. */
export interface Claims {
  readonly scope: Scope;
  /** The files that contain the claims. */
  readonly after: Snapshot;
  /** Ids of the stories that became done, whoever ticked them. */
  readonly stories: readonly string[];
  /**
   * Absolute path of the story file in which they are done, so that refused ones are set back there; absent if they
   * are not ticked before they are judged.
   */
  readonly storyFile?: string;
  /** If there are no stories: the agent promised that everything is done. */
  readonly isWholeTask: boolean;
  /**
   * Examines changes made by the checks.
   * @returns the current files; the ids that the claimed stories have in these, if others were added above them; and
   * what ends the run, if anything
   */
  readonly afterChecks: () => Promise<{
    readonly after: Snapshot;
    readonly stories?: readonly string[];
    readonly astray?: Verdict;
  }>;
}

export type ClaimsJudgement =
  | { readonly kind: 'passed' }
  | { readonly kind: 'refused'; readonly stories: readonly string[] }
  /** A person skipped the story meanwhile; its claim is taken back. */
  | { readonly kind: 'skipped' }
  /** Interrupted by a stop, an error or the budget; nothing is decided yet, and `verdict` ends the run. */
  | { readonly kind: 'cutOff'; readonly verdict?: Verdict };

type ClaimedRun = Pick<
  Run,
  | 'branch'
  | 'caller'
  | 'config'
  | 'env'
  | 'files'
  | 'id'
  | 'journal'
  | 'requests'
  | 'state'
  | 'stop'
>;

/**
 * Judges an iteration's claims: by the checks of the gate, then by the reviewer. Refused stories are reset to not
 * done.
 */
export async function judgeClaims(run: ClaimedRun, claims: Claims): Promise<ClaimsJudgement> {
  if (claims.stories.length === 0 && !claims.isWholeTask) {
    return { kind: 'passed' };
  }
  if (run.config.verify.length === 0) {
    return passReview(run, claims, claims.after);
  }
  const gate = await passGate(run, claims);
  return gate.kind === 'passed'
    ? passReview(run, { ...claims, stories: gate.stories }, gate.after)
    : gate;
}

async function passGate(
  run: ClaimedRun,
  { after: claims, afterChecks, scope, stories: claimed, storyFile }: Claims,
): Promise<
  | Exclude<ClaimsJudgement, { kind: 'passed' }>
  | { readonly kind: 'passed'; readonly after: Snapshot; readonly stories: readonly string[] }
> {
  const { config, env, id: runId, stop } = run;
  const { iteration } = scope;
  if (stop.endSignal.aborted) {
    return { kind: 'cutOff' };
  }
  const [storyId] = claimed;
  const about = storyId === undefined ? {} : { storyId };
  scope.append({
    type: 'gate.started',
    iteration,
    commands: [...config.verify],
    ...about,
  });
  const held = storyFile === undefined ? undefined : await StoriesInChecks.hold(run, scope);
  const { cancelled, green } = await runGate({
    commands: config.verify,
    flaky: config.flakyChecks,
    cwd: scope.place.dir,
    env: { ...agentEnv(env), ...scope.place.env },
    timeLimitMs: config.verifyTimeLimitMs,
    signal: AbortSignal.any([stop.endSignal, scope.skip]),
    killSignal: stop.killSignal,
    runId,
    dir: scope.dir,
    record: { journal: run.journal, iteration },
    afterCheck: async command => held?.restore(command),
  });
  held?.tell();
  if (cancelled) {
    return interrupted(run, { after: claims, scope, stories: claimed, storyFile });
  }
  const { after, astray, stories = claimed } = await afterChecks();
  if (astray !== undefined) {
    return { kind: 'cutOff', verdict: astray };
  }
  for (const id of stories.length === 0 ? [undefined] : stories) {
    scope.append({
      type: 'gate.ended',
      iteration,
      green,
      storyId: id,
    });
  }
  run.journal.sync();
  if (green) {
    return { kind: 'passed', after, stories };
  }
  await putBack(scope, { after, stories, storyFile, by: 'gate' });
  return { kind: 'refused', stories };
}

async function passReview(
  run: ClaimedRun,
  { scope, stories, storyFile }: Claims,
  after: Snapshot,
): Promise<ClaimsJudgement> {
  const { config, stop } = run;
  const { before, dir, iteration, place } = scope;
  if (!config.reviewer) {
    return { kind: 'passed' };
  }
  const refused: string[] = [];
  for (const [index, storyId] of stories.entries()) {
    const story = after.stories?.stories.find(({ id }) => id === storyId);
    if (story === undefined) {
      continue;
    }
    if (stop.endSignal.aborted) {
      return { kind: 'cutOff' };
    }
    const review = await reviewClaim({
      story,
      startCommit: before.head,
      earlierCommits: run
        .state()
        .commits.flatMap(commit =>
          commit.storyId === storyId && commit.iteration < iteration ? [commit.hash] : [],
        ),
      git: place.git,
      call: run.caller.port('review', iteration, dir, {
        ...{ cwd: place.dir, env: place.env, skip: scope.skip },
      }),
      model: config.reviewerModel,
      verify: config.verify,
    });
    switch (review.kind) {
      case 'cancelled':
        return interrupted(run, { after, scope, stories: stories.slice(index), storyFile });
      case 'failed':
        if (isSkipped(run, scope)) {
          // While it waited for another attempt.
          return interrupted(run, { after, scope, stories: stories.slice(index), storyFile });
        }
        // Without a verdict nothing is done, and nothing has failed either: the review is repeated when the run
        // continues.
        if (!stop.endSignal.aborted) {
          warn(scope, 'claimNotReviewed', review.message);
        }
        return cutOffBy(run, storyId, review);
      case 'approved':
        scope.append({
          type: 'review.ended',
          iteration,
          storyId,
          approved: true,
          objections: [],
          costUsd: review.costUsd || undefined,
        });
        if (storyFile !== undefined) {
          await markApproved(scope, storyFile, storyId);
        }
        break;
      case 'rejected':
        scope.append({
          type: 'review.ended',
          iteration,
          storyId,
          approved: false,
          objections: review.objections
            .slice(0, 20)
            .map(words => withTexts(words, text => shortenBlock(text, 1_000))),
          costUsd: review.costUsd || undefined,
        });
        await putBack(scope, { after, stories: [storyId], storyFile, by: 'reviewer' });
        refused.push(storyId);
        break;
    }
  }
  return refused.length > 0 ? { kind: 'refused', stories: refused } : { kind: 'passed' };
}

function isSkipped({ stop }: ClaimedRun, { skip }: Scope): boolean {
  return skip.aborted && !stop.endSignal.aborted;
}

/**
 * A stop leaves the claims open until the run continues; a skip takes them back.
 * @param claims.after the files that contain the claims
 * @param claims.stories those without a verdict
 */
async function interrupted(
  run: ClaimedRun,
  {
    after: claims,
    scope,
    stories: claimed,
    storyFile,
  }: Pick<Claims, 'after' | 'scope' | 'stories' | 'storyFile'>,
): Promise<Extract<ClaimsJudgement, { kind: 'cutOff' | 'skipped' }>> {
  if (!isSkipped(run, scope)) {
    return { kind: 'cutOff' };
  }
  const after = await readStories(storyFile, scope.before);
  // Since the claim, people may have added others above it.
  const idNow = idsNow(claims.stories?.stories ?? [], after.stories?.stories ?? []);
  const undecided = claimed.map(id => idNow.get(id) ?? id);
  const isBack = await putBack(scope, { after, stories: undecided, storyFile, by: 'skip' });
  // Otherwise the file would say that it is done, and nothing would have checked that.
  return isBack
    ? { kind: 'skipped' }
    : {
        kind: 'cutOff',
        verdict: {
          kind: 'fatal',
          message: say(
            '{0} was skipped before its work was checked, and could not be set back to not done in its file. Make the file writable, and run again.',
            undecided.join(', '),
          ),
        },
      };
}

/** How the run ends without the reviewer's verdict. */
function cutOffBy(
  { config, state, stop }: ClaimedRun,
  storyId: string,
  { errorKind, message }: { readonly errorKind?: string; readonly message: Words },
): Extract<ClaimsJudgement, { kind: 'cutOff' }> {
  if (stop.requested) {
    return { kind: 'cutOff' };
  }
  switch (errorKind) {
    case 'budget': {
      const isOfRun = isSpent(config.budgetUsd, state().costUsd);
      const ofIteration = say(
        'The budget of one iteration is used up, so {0} was not reviewed.',
        storyId,
      );
      return {
        kind: 'cutOff',
        verdict: { kind: 'budget', message: isOfRun ? undefined : ofIteration },
      };
    }
    case 'billing':
    case 'authentication':
    case 'usageLimit':
      return {
        kind: 'cutOff',
        verdict: { kind: 'fatal', message: failedCallSentence({ kind: errorKind, message }) },
      };
    default:
      return {
        kind: 'cutOff',
        verdict: {
          kind: 'fatal',
          message: say(
            '{0} waits for its reviewer, which gave no verdict, so it is neither done nor failed. {1} Fix that and run again, which repeats only the checks and the review, or continue without a reviewer (--no-reviewer, setting ralphFresh.reviewer).',
            storyId,
            endedSentence(message),
          ),
        },
      };
  }
}

async function markApproved(scope: Scope, storyFile: string, storyId: string): Promise<void> {
  try {
    const list = await readStoryList(storyFile);
    if (list?.stories.some(({ done, id }) => id === storyId && done) !== true) {
      // Somebody has set it to not done meanwhile.
      return;
    }
    await setArchitectVerified(storyFile, storyId, true);
  } catch (error) {
    if (!(error instanceof HumanError)) {
      throw error;
    }
    warn(scope, 'approvalNotWritten', error.said);
  }
}

/** Resets stories to not done, in their file as well. @returns whether all of them are now */
async function putBack(
  scope: Scope,
  {
    after,
    by,
    stories,
    storyFile,
  }: {
    readonly after: Pick<Snapshot, 'stories'>;
    readonly by: 'gate' | 'reviewer' | 'skip';
    readonly stories: readonly string[];
    readonly storyFile: string | undefined;
  },
): Promise<boolean> {
  if (storyFile === undefined) {
    return true;
  }
  let isBack = true;
  const list = after.stories;
  let hash = list?.hash;
  for (const storyId of stories) {
    const story = list?.stories.find(({ done, id }) => id === storyId && done);
    try {
      const edit = await setStoryDone(
        storyFile,
        { id: storyId, position: story?.position },
        false,
        {
          expectedHash: hash,
          // Somebody may have added stories meanwhile. A position would be that of another list.
          find: now => story && storyNow(now, { ...story, position: undefined }),
        },
      );
      // Our own edit must not make the next story's position untrusted.
      hash = edit.hash;
      scope.append({ type: 'story.changed', storyId, done: false, by });
    } catch (error) {
      if (!(error instanceof HumanError)) {
        throw error;
      }
      warn(scope, 'storyNotPutBack', error.said);
      isBack = false;
    }
  }
  return isBack;
}
