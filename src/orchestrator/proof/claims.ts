import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { shortenBlock } from '../../base/text.ts';
import { agentEnv } from '../agents/agentEnv.ts';
import { endedSentence, failedCallSentence } from '../agents/call/failedCall.ts';
import type { Verdict } from '../loop/policy.ts';
import type { RunContext } from '../loop/runContext.ts';
import { setStoryDone } from '../stories/edit/edit.ts';
import { runGate } from './checks/gate.ts';
import { setArchitectVerified } from './reviewer/architectVerified.ts';
import { reviewClaim } from './reviewer/reviewer.ts';

/** So much of a check's output goes into the journal, in UTF-16 units; its log has the whole. */
const MAX_OUTPUT = 4_000;

/** What an iteration claims to have finished. */
export interface Claims {
  readonly iteration: number;
  /** The commit that the iteration started from. */
  readonly startCommit?: string;
  /** Ids of the stories that became done meanwhile, whoever ticked them. */
  readonly stories: readonly string[];
  /** Where there are no stories: the agent promised that all is done. */
  readonly isWholeTask: boolean;
  /** Looks at what the checks did to the files. @returns what ends the run, if anything */
  readonly afterChecks: () => Promise<Verdict | undefined>;
}

export type ClaimsJudgement =
  | { readonly kind: 'passed' }
  | { readonly kind: 'refused' }
  /** A stop, an error or the budget came first; nothing is decided yet, and `verdict` ends the run. */
  | { readonly kind: 'cutOff'; readonly verdict?: Verdict };

/**
 * Judges what an iteration claims: by the checks of the gate, then by the reviewer. What does not pass is
 * put back to not done.
 */
export async function judgeClaims(context: RunContext, claims: Claims): Promise<ClaimsJudgement> {
  if (claims.stories.length === 0 && !claims.isWholeTask) {
    return { kind: 'passed' };
  }
  const gate = await passGate(context, claims);
  return gate.kind === 'passed' ? passReview(context, claims) : gate;
}

async function passGate(
  context: RunContext,
  { afterChecks, iteration, stories }: Claims,
): Promise<ClaimsJudgement> {
  const { config, env, files, runId, stop } = context.options;
  if (config.verify.length === 0) {
    return { kind: 'passed' };
  }
  if (stop.endSignal.aborted) {
    return { kind: 'cutOff' };
  }
  const [storyId] = stories;
  const about = storyId === undefined ? {} : { storyId };
  context.append({
    type: 'gate.started',
    iteration,
    commands: [...config.verify],
    ...about,
  });
  const { cancelled, green } = await runGate({
    commands: config.verify,
    cwd: files.workspace,
    env: agentEnv(env),
    timeLimitMs: config.verifyTimeLimitMs,
    signal: stop.endSignal,
    killSignal: stop.killSignal,
    runId,
    dir: context.dir(iteration),
    onStarted: (command, process) =>
      void context.append({ type: 'check.started', iteration, command, ...process }),
    onEnded: ({ command, durationMs, exitCode, ok, outputTail, timedOut }) =>
      void context.append({
        type: 'check.ended',
        iteration,
        command,
        ok,
        ...(exitCode === undefined ? {} : { exitCode }),
        timedOut,
        durationMs: Math.round(durationMs),
        outputTail: tail(outputTail),
      }),
  });
  if (cancelled) {
    return { kind: 'cutOff' };
  }
  const verdict = await afterChecks();
  if (verdict !== undefined) {
    return { kind: 'cutOff', verdict };
  }
  for (const id of stories.length === 0 ? [undefined] : stories) {
    context.append({
      type: 'gate.ended',
      iteration,
      green,
      ...(id === undefined ? {} : { storyId: id }),
    });
  }
  context.journal.sync();
  if (green) {
    return { kind: 'passed' };
  }
  await putBack(context, stories, 'gate', iteration);
  return { kind: 'refused' };
}

async function passReview(
  context: RunContext,
  { iteration, startCommit, stories }: Claims,
): Promise<ClaimsJudgement> {
  const { config, stop, storyFile } = context.options;
  if (!config.reviewer || storyFile === undefined) {
    return { kind: 'passed' };
  }
  let isRefused = false;
  for (const storyId of stories) {
    const story = context.snapshot.stories?.stories.find(({ id }) => id === storyId);
    if (story === undefined) {
      continue;
    }
    if (stop.endSignal.aborted) {
      return { kind: 'cutOff' };
    }
    const costBefore = context.state.costUsd;
    const review = await reviewClaim({
      story,
      ...(startCommit === undefined ? {} : { startCommit }),
      earlierCommits: context.state.commits.flatMap(commit =>
        commit.storyId === storyId && commit.iteration < iteration ? [commit.hash] : [],
      ),
      git: context.git,
      call: context.caller.port('review', iteration, context.dir(iteration)),
      ...(config.reviewerModel === undefined ? {} : { model: config.reviewerModel }),
      verify: config.verify,
    });
    const costUsd = context.state.costUsd - costBefore;
    switch (review.kind) {
      case 'cancelled':
        return { kind: 'cutOff' };
      case 'failed':
        // Nothing is done without a verdict, and nothing has failed either: the review is made when the run goes on.
        if (!stop.endSignal.aborted) {
          context.warn('claimNotReviewed', review.message, iteration);
        }
        return cutOffBy(storyId, review, stop.requested);
      case 'approved':
        context.append({
          type: 'review.ended',
          iteration,
          storyId,
          approved: true,
          objections: [],
          ...(costUsd > 0 ? { costUsd } : {}),
        });
        await markApproved(context, storyFile, storyId, iteration);
        break;
      case 'rejected':
        context.append({
          type: 'review.ended',
          iteration,
          storyId,
          approved: false,
          objections: review.objections.slice(0, 20).map(text => shortenBlock(text, 1_000)),
          ...(costUsd > 0 ? { costUsd } : {}),
        });
        await putBack(context, [storyId], 'reviewer', iteration);
        isRefused = true;
        break;
    }
  }
  return { kind: isRefused ? 'refused' : 'passed' };
}

/** How the run ends without a verdict of its reviewer. */
function cutOffBy(
  storyId: string,
  { errorKind, message }: { readonly errorKind?: string; readonly message: string },
  isStopping: boolean,
): Extract<ClaimsJudgement, { kind: 'cutOff' }> {
  if (isStopping) {
    return { kind: 'cutOff' };
  }
  switch (errorKind) {
    case 'budget':
      return { kind: 'cutOff', verdict: { kind: 'budget' } };
    case 'billing':
    case 'authentication':
    case 'usageLimit':
      return {
        kind: 'cutOff',
        verdict: {
          kind: 'fatal',
          message: failedCallSentence({ kind: errorKind, message }),
        },
      };
    default:
      return {
        kind: 'cutOff',
        verdict: {
          kind: 'fatal',
          message: say(
            '{0} waits for its reviewer, which gave no verdict, so it is neither done nor failed. {1} Fix that and run again, which repeats only the checks and the review, or go on without a reviewer (--no-reviewer, setting ralphFresh.reviewer).',
            storyId,
            endedSentence(message),
          ),
        },
      };
  }
}

async function markApproved(
  context: RunContext,
  storyFile: string,
  storyId: string,
  iteration: number,
): Promise<void> {
  try {
    await setArchitectVerified(storyFile, storyId, true);
  } catch (error) {
    if (!(error instanceof HumanError)) {
      throw error;
    }
    context.warn('approvalNotWritten', error.message, iteration);
  }
}

/** Done is what the checks say: a refused story is not done, in its file too. */
async function putBack(
  context: RunContext,
  stories: readonly string[],
  by: 'gate' | 'reviewer',
  iteration: number,
): Promise<void> {
  const { storyFile } = context.options;
  if (storyFile === undefined) {
    return;
  }
  const list = context.snapshot.stories;
  let hash = list?.hash;
  for (const storyId of stories) {
    const story = list?.stories.find(({ done, id }) => id === storyId && done);
    try {
      const edit = await setStoryDone(
        storyFile,
        { id: storyId, ...(story && { position: story.position }) },
        false,
        hash === undefined ? {} : { expectedHash: hash },
      );
      // Our own edit does not make the next one's place uncertain.
      hash = edit.hash;
      context.append({ type: 'story.changed', storyId, done: false, by, iteration });
    } catch (error) {
      if (!(error instanceof HumanError)) {
        throw error;
      }
      context.warn('storyNotPutBack', error.message, iteration);
    }
  }
}

function tail(output: string): string {
  return output.length <= MAX_OUTPUT ? output : `…${output.slice(1 - MAX_OUTPUT)}`;
}
