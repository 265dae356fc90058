import type * as z from 'zod';
import { fenced } from '../../base/fenced.ts';
import { englishOf, type Message, sentences } from '../../base/say.ts';
import { problemsOf } from '../agents/call/agentAnswer.ts';
import { endedSentence } from '../agents/call/failedCall.ts';
import { jsonSchemaOf } from '../agents/call/jsonSchema.ts';
import { askPlanner } from './askPlanner.ts';
import type { DraftOptions, DraftResult } from './planner.ts';

/** Problems of a last answer that a person is told. */
const MAX_TOLD = 3;

/** A question about entries of a document that a reading agent has something to say about. */
export interface EntryQuestion<Answer, Said> extends EntryAnswer<Answer, Said> {
  readonly prompt: EntryPrompt;
  /** What the person is told if no answer is valid. @param problems of the last one */
  refused(problems: Message): Message;
  /** What has become of the document if the agent fails, and what to do next. */
  readonly ifFailed: Message;
}

/** How an answer is read. */
export interface EntryAnswer<Answer, Said> {
  readonly schema: z.ZodType<Answer>;
  /** What it says, by what identifies an entry; what it says about no entry is left out. */
  read(answer: Answer): ReadonlyMap<string, Said>;
  /** The problem of an answer that says nothing about any entry. */
  readonly nothing: Message;
}

/** The parts of the prompt. */
export interface EntryPrompt {
  /** The title, and what the entries are for. */
  readonly about: string;
  /** Their text, with its own heading. */
  readonly entries: string;
  /** What to do, as a numbered list. */
  readonly steps: readonly string[];
  /** How an entry is identified in the answer. */
  readonly identity: string;
  /** An answer, as JSON. */
  readonly example: string;
}

/**
 * Lets a fresh agent that only reads say something about entries. Nothing is written.
 * @param onAnswer gets what it says, by what identifies an entry
 */
export async function askAboutEntries<Answer, Said>(
  { call, journal }: Pick<DraftOptions, 'call' | 'journal'>,
  question: EntryQuestion<Answer, Said>,
  onAnswer: (said: ReadonlyMap<string, Said>) => void,
): Promise<DraftResult> {
  const answer = await askPlanner(
    { call, journal },
    {
      prompt: problems => promptOf(question.prompt, problems),
      jsonSchema: jsonSchemaOf(question.schema),
      isFixed: false,
      async check(found) {
        return checkEntries(found, question);
      },
    },
  );
  switch (answer.kind) {
    case 'answered': {
      const { value, kind: _, ...facts } = answer;
      onAnswer(value);
      return { kind: 'drafted', text: '', stories: value.size, ...facts };
    }
    case 'refused': {
      const problems = sentences(answer.problems.slice(0, MAX_TOLD));
      return { kind: 'failed', message: question.refused(problems) };
    }
    case 'failed':
      return {
        kind: 'failed',
        message: sentences([endedSentence(answer.message), question.ifFailed]),
      };
    default:
      return answer;
  }
}

/** Checks an agent's answer. Pure. */
function checkEntries<Answer, Said>(
  answer: unknown,
  { nothing, read, schema }: EntryAnswer<Answer, Said>,
):
  | { readonly value: ReadonlyMap<string, Said>; readonly problems?: undefined }
  | { readonly problems: readonly Message[] } {
  const parsed = schema.safeParse(answer);
  if (!parsed.success) {
    return { problems: problemsOf(parsed.error) };
  }
  const value = read(parsed.data);
  return value.size === 0 ? { problems: [nothing] } : { value };
}

function promptOf(
  { about, entries, example, identity, steps }: EntryPrompt,
  problems: readonly Message[],
): string {
  return `${[
    about,
    entries,
    ...(problems.length === 0
      ? []
      : [
          `## The Last Answer Was Refused\n${fenced(problems.map(problem => `- ${englishOf(problem)}`).join('\n'))}`,
        ]),
    `## What to Do\n${steps.map((step, index) => `${index + 1}. ${step}`).join('\n')}`,
    `## Your Answer
One JSON object of this shape: as structured data when you are given a tool for that, else as the last thing you say, in one \`\`\`json block. ${identity}

\`\`\`json
${example}
\`\`\``,
  ].join('\n\n')}\n`;
}
