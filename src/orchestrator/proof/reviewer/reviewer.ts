import * as z from 'zod';
import { saidOf } from '../../../base/messageOf.ts';
import { amount } from '../../../base/numbers.ts';
import { once } from '../../../base/once.ts';
import {
  englishOf,
  type Message,
  say,
  sentences,
  type Words,
  withTexts,
} from '../../../base/say.ts';
import { shorten } from '../../../base/text.ts';
import { answerJson, problemsOf } from '../../agents/call/agentAnswer.ts';
import type { CallAgent, CallResult } from '../../agents/call/callAgent.ts';
import { jsonSchemaOf } from '../../agents/call/jsonSchema.ts';
import type { GitRepository } from '../../git/git.ts';
import type { Story } from '../../stories/story.ts';
import { reviewerPrompt } from './reviewerPrompt.ts';
import { type StoryWork, storyWork } from './storyWork.ts';
import { readWorkDiff, type WorkDiff } from './workDiff.ts';

const MAX_ATTEMPTS = 2;
const READING_TOOLS: readonly string[] = ['Read', 'Glob', 'Grep'];
/** Size of a diff that is read before it is shortened for the prompt. */
const MAX_DIFF_BYTES = 2 * 1024 * 1024;
const MAX_OBJECTIONS = 20;
/** Longest objection, in UTF-16 units. */
const MAX_OBJECTION = 600;

const reviewSchema = once(() =>
  z.looseObject({
    approved: z.boolean(),
    objections: z.array(z.string()),
    criteria: z.array(
      z.looseObject({ criterion: z.string(), met: z.boolean(), evidence: z.string() }),
    ),
  }),
);

type Review = z.infer<ReturnType<typeof reviewSchema>>;

export interface ReviewOptions {
  /** The current version in the story file. */
  readonly story: Story;
  /** HEAD before the iteration; absent if there was no commit. */
  readonly startCommit?: string;
  /** Hashes of the story's commits in earlier iterations of the run, oldest first. */
  readonly earlierCommits?: readonly string[];
  readonly git: GitRepository;
  readonly call: CallAgent;
  readonly model?: string;
  /** Commands that passed. */
  readonly verify: readonly string[];
}

/** `costUsd` is the sum of all calls with a known cost. */
export type ReviewResult = { readonly costUsd?: number } & (
  | { readonly kind: 'approved' }
  /** At least one objection, one line each. */
  | { readonly kind: 'rejected'; readonly objections: readonly Words[] }
  /** There is no verdict; `message` says why. */
  | { readonly kind: 'failed'; readonly message: Words; readonly errorKind?: string }
  | { readonly kind: 'cancelled' }
);

/**
 * Lets a fresh agent with read-only tools judge whether a claimed story is done, based on its criteria and on the
 * changes. Never throws for errors of the agent or of git.
 */
export async function reviewClaim(options: ReviewOptions): Promise<ReviewResult> {
  const { story, startCommit, earlierCommits = [], git, call, model, verify } = options;
  let work: StoryWork;
  let diff: WorkDiff;
  try {
    work = await storyWork(git, {
      startCommit,
      earlier: earlierCommits,
    });
    const { from, paths } = work;
    diff = await readWorkDiff(git, from, { maxBytes: MAX_DIFF_BYTES, paths });
  } catch (error) {
    return { kind: 'failed', message: saidOf(error) };
  }
  let problems: readonly Message[] | undefined;
  let cost: { costUsd?: number } = {};
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const answer = await call({
      name: `review-${fileNameOf(story.id)}-${attempt}`,
      prompt: reviewerPrompt({
        ...{ story, work, diff, verify },
        problems,
      }),
      model,
      tools: READING_TOOLS,
      allowedTools: READING_TOOLS,
      jsonSchema: jsonSchemaOf(reviewSchema()),
    });
    if (answer.costUsd !== undefined) {
      cost = { costUsd: (cost.costUsd ?? 0) + amount(answer.costUsd) };
    }
    if (answer.cancelled) {
      return { kind: 'cancelled', ...cost };
    }
    if (answer.error) {
      const { kind: errorKind, message } = answer.error;
      return {
        kind: 'failed',
        message: say('The reviewer failed: {0}', message),
        errorKind,
        ...cost,
      };
    }
    const review = readReview(answer, story);
    if (!('problems' in review)) {
      return { ...judgementOf(review.review), ...cost };
    }
    problems = review.problems;
  }
  return {
    kind: 'failed',
    message: say(
      'The reviewer gave no usable answer in {0} tries: {1}',
      MAX_ATTEMPTS,
      sentences(problems?.slice(0, 3) ?? []),
    ),
    ...cost,
  };
}

/** An iteration may claim several stories; each review has its own files. */
function fileNameOf(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40);
}

function readReview(
  answer: CallResult,
  story: Story,
): { readonly review: Review } | { readonly problems: readonly Message[] } {
  const found = answerJson(answer);
  if (found.problem !== undefined) {
    return { problems: [found.problem] };
  }
  const parsed = reviewSchema().safeParse(found.value);
  if (!parsed.success) {
    return { problems: problemsOf(parsed.error) };
  }
  const judged = parsed.data.criteria.length;
  // An approval requires that everything was judged; a refusal is valid as it is.
  if (parsed.data.approved && judged < story.criteria.length) {
    return {
      problems: [
        say(
          'criteria: {0} judged, but the story has {1}. Judge every one.',
          judged,
          story.criteria.length,
        ),
      ],
    };
  }
  return { review: parsed.data };
}

function judgementOf({
  approved,
  criteria,
  objections,
}: Review): { kind: 'approved' } | { kind: 'rejected'; objections: Words[] } {
  const unmet = criteria.filter(({ met }) => !met);
  if (approved && unmet.length === 0) {
    return { kind: 'approved' };
  }
  const found = [
    ...objections,
    ...unmet.map(({ criterion, evidence }) =>
      evidence.trim() === ''
        ? say('Not met: {0}', criterion)
        : say('Not met: {0} ({1})', criterion, evidence),
    ),
  ]
    .map(objection => withTexts(objection, text => shorten(text, MAX_OBJECTION)))
    .filter(objection => englishOf(objection) !== '')
    .slice(0, MAX_OBJECTIONS);
  return {
    kind: 'rejected',
    objections:
      found.length > 0 ? found : [say('The reviewer did not approve, and gave no reason.')],
  };
}
