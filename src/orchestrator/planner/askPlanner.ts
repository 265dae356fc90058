import { amount } from '../../base/numbers.ts';
import { distinct, type Message, say, withTexts } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { answerJson } from '../agents/call/agentAnswer.ts';
import type { CallAgent } from '../agents/call/callAgent.ts';
import { failedCallSentence } from '../agents/call/failedCall.ts';
import type { JournalWriter } from '../journal/journal.ts';

/** The first draft and two repairs. */
export const MAX_ATTEMPTS = 3;
/** Longest reason for a failure, in UTF-16 units. */
const MAX_REASON = 600;
/** A planning agent only reads. The loop writes the story file, once the plan is valid. */
const READING_TOOLS: readonly string[] = ['Read', 'Glob', 'Grep'];

/** A question to a planning agent, and the requirements for its answer. */
export interface PlannerQuestion<T> {
  /** @param problems why the last answer was rejected; empty the first time */
  prompt(problems: readonly Message[]): string;
  readonly jsonSchema: object;
  /** Validates an answer that is a JSON object. */
  check(
    answer: unknown,
  ): Promise<
    { readonly value: T; readonly problems?: undefined } | { readonly problems: readonly Message[] }
  >;
  /** If the next answer is not an object, the previous one is still the one to fix. */
  readonly isFixed: boolean;
}

export type PlannerAnswer<T> =
  | {
      readonly kind: 'answered';
      readonly value: T;
      readonly attempts: number;
      /** In US dollars, for all attempts. */
      readonly costUsd?: number;
    }
  /** No answer was valid. */
  | { readonly kind: 'refused'; readonly problems: readonly Message[] }
  | { readonly kind: 'cancelled' }
  /** `message` is a sentence for the person. */
  | { readonly kind: 'failed'; readonly message: Message };

/** Asks a fresh agent. An invalid answer is returned with its problems, twice. */
export async function askPlanner<T>(
  { call, journal }: { readonly call: CallAgent; readonly journal: Pick<JournalWriter, 'append'> },
  question: PlannerQuestion<T>,
): Promise<PlannerAnswer<T>> {
  let problems: readonly Message[] = [];
  let costUsd: number | undefined;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const answer = await call({
      name: `plan-${attempt}`,
      prompt: question.prompt(problems),
      tools: READING_TOOLS,
      allowedTools: READING_TOOLS,
      jsonSchema: question.jsonSchema,
    });
    costUsd = answer.costUsd === undefined ? costUsd : (costUsd ?? 0) + amount(answer.costUsd);
    if (answer.cancelled) {
      return { kind: 'cancelled' };
    }
    if (answer.error) {
      const { kind, message } = answer.error;
      const reason = failedCallSentence({
        kind,
        message: withTexts(message, text => shorten(text, MAX_REASON)),
      });
      return { kind: 'failed', message: say('The planning agent failed: {0}', reason) };
    }
    const found = answerJson(answer);
    const checked =
      found.problem === undefined
        ? await question.check(found.value)
        : { problems: [found.problem] };
    if (checked.problems === undefined) {
      return {
        kind: 'answered',
        value: checked.value,
        attempts: attempt,
        costUsd,
      };
    }
    journal.append({ type: 'plan.refused', attempt, problems: [...checked.problems] });
    const kept = found.problem !== undefined && question.isFixed ? problems : [];
    // Repeating a problem does not help an agent or a person.
    problems = distinct([...checked.problems, ...kept]);
  }
  return { kind: 'refused', problems };
}
