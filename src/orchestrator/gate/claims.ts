import { agentEnv } from '../agents/agentEnv.ts';
import { HumanError } from '../humanError.ts';
import type { Verdict } from '../policy.ts';
import { setArchitectVerified } from '../reviewer/architectVerified.ts';
import { reviewClaim } from '../reviewer/reviewer.ts';
import type { RunContext } from '../runContext.ts';
import { setStoryDone } from '../stories/edit.ts';
import { shortenBlock } from '../text.ts';
import { runGate } from './gate.ts';

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
  { iteration, stories }: Claims,
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
  const { cancelled, checks, green } = await runGate({
    commands: config.verify,
    cwd: files.workspace,
    env: agentEnv(env),
    timeLimitMs: config.verifyTimeLimitMs,
    signal: stop.endSignal,
    killSignal: stop.killSignal,
    runId,
    dir: context.dir(iteration),
    onStarted: (command, identity) =>
      void context.append({ type: 'check.started', iteration, command, ...identity }),
  });
  if (cancelled) {
    return { kind: 'cutOff' };
  }
  for (const { command, durationMs, exitCode, ok, outputTail, timedOut } of checks) {
    context.append({
      type: 'check.ended',
      iteration,
      command,
      ok,
      ...(exitCode === undefined ? {} : { exitCode }),
      timedOut,
      durationMs: Math.round(durationMs),
      outputTail: tail(outputTail),
    });
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
      case 'failed': {
        context.warn('reviewFailed', review.message, iteration);
        const cut = cutOffBy(review, stop.requested);
        if (cut) {
          return cut;
        }
        if (config.verify.length === 0) {
          // Without checks the review is the only proof.
          await putBack(context, [storyId], 'reviewer', iteration);
          isRefused = true;
        }
        break;
      }
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

/** Errors after which a review is made when the run goes on, and not replaced by anything. */
function cutOffBy(
  { errorKind, message }: { readonly errorKind?: string; readonly message: string },
  isStopping: boolean,
): Extract<ClaimsJudgement, { kind: 'cutOff' }> | undefined {
  switch (errorKind) {
    case 'budget':
      return { kind: 'cutOff', verdict: { kind: 'budget' } };
    case 'billing':
    case 'authentication':
    case 'notStarted':
      return { kind: 'cutOff', verdict: { kind: 'fatal', message } };
    case 'usageLimit':
      return isStopping
        ? { kind: 'cutOff' }
        : { kind: 'cutOff', verdict: { kind: 'fatal', message } };
    default:
      return undefined;
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
