import * as z from 'zod';
import { fenced } from '../../base/fenced.ts';
import { once } from '../../base/once.ts';
import { englishOf, type Message, say, sentences } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { problemsOf } from '../agents/call/agentAnswer.ts';
import { jsonSchemaOf } from '../agents/call/jsonSchema.ts';
import { type AgentWords, plainAgentWords } from '../context/pin/generatedLines.ts';
import type { UpdatedEntry } from '../context/pin/updatePin.ts';
import { askPlanner, MAX_ATTEMPTS } from './askPlanner.ts';
import type { DraftOptions, DraftResult } from './planner.ts';

/** Of each entry in the prompt. */
const MAX_FILES = 15;
const MAX_SIGNATURES = 12;
/** In UTF-16 units. */
const MAX_LINE = 160;
const MAX_PROMPT = 120_000;

/** Longer texts are cut when they are written; much longer ones are no keywords. */
const answerSchema = once(() =>
  z.looseObject({
    modules: z
      .array(
        z.looseObject({
          title: z.string().max(1_000).describe('exactly as given'),
          about: z.string().max(1_000).describe('one sentence: what this part does'),
          keywords: z
            .array(z.string().max(200))
            .max(100)
            .describe('10 to 20 words that somebody would search for'),
        }),
      )
      .min(1)
      .max(500),
  }),
);

/**
 * Lets a fresh agent say what the entries of a Pin are about, and the words that people would search for. Its words are
 * plain text when they come back; nothing is written.
 * @param onAnswer gets them by title
 */
export async function askForKeywords(
  { call, files, journal }: Pick<DraftOptions, 'call' | 'files' | 'journal'>,
  entries: readonly UpdatedEntry[],
  onAnswer: (said: ReadonlyMap<string, AgentWords>) => void,
): Promise<DraftResult> {
  const answer = await askPlanner(
    { call, journal },
    {
      prompt: problems => enrichPrompt(entries, problems),
      jsonSchema: jsonSchemaOf(answerSchema()),
      isFixed: false,
      async check(found) {
        return checkKeywords(found, entries);
      },
    },
  );
  switch (answer.kind) {
    case 'answered': {
      const { value, kind: _, ...facts } = answer;
      onAnswer(value);
      return { kind: 'drafted', text: '', stories: value.size, ...facts };
    }
    case 'refused':
      return {
        kind: 'failed',
        message: say(
          'The agent gave no valid keywords for the Pin of {0} in {1} tries: {2} The Pin is good without them; try again later.',
          files.workspace,
          MAX_ATTEMPTS,
          sentences(answer.problems.slice(0, 3)),
        ),
      };
    default:
      return answer;
  }
}

/** Checks an agent's answer. Entries that do not exist are left out. Pure. */
export function checkKeywords(
  answer: unknown,
  entries: readonly UpdatedEntry[],
):
  | { readonly value: ReadonlyMap<string, AgentWords>; readonly problems?: undefined }
  | { readonly problems: readonly Message[] } {
  const parsed = answerSchema().safeParse(answer);
  if (!parsed.success) {
    return { problems: problemsOf(parsed.error) };
  }
  const titles = new Set(entries.map(({ title }) => title));
  const value = new Map(
    parsed.data.modules
      .filter(({ title }) => titles.has(title))
      .map(({ about, keywords, title }) => [title, plainAgentWords({ about, keywords })]),
  );
  return value.size === 0
    ? { problems: [say('"title" must be one of the given titles, letter by letter.')] }
    : { value };
}

/** The prompt of the agent. Pure. */
function enrichPrompt(entries: readonly UpdatedEntry[], problems: readonly Message[]): string {
  const told = entries.map(({ files, keywords, title }) => {
    const signatures = files.flatMap(file => file.signatures).slice(0, MAX_SIGNATURES);
    return [
      `title: ${shorten(title, MAX_LINE)}`,
      `files: ${files
        .slice(0, MAX_FILES)
        .map(({ path }) => path)
        .join(', ')}`,
      ...signatures.map(signature => `  ${shorten(signature, MAX_LINE)}`),
      `known keywords: ${keywords.join(', ')}`,
    ].join('\n');
  });
  return `${[
    `# Ralph Fresh - Keywords for the Pin

The Pin (specs/INDEX.md) lists the parts of a project with keywords. Agents that start with a fresh context search it before they write code, often with other words than those of the code ("log in" for src/auth).
You only read: change no file, and run nothing.`,
    `## The Parts\n${fenced(told.join('\n\n').slice(0, MAX_PROMPT))}`,
    ...(problems.length === 0
      ? []
      : [
          `## The Last Answer Was Refused\n${fenced(problems.map(problem => `- ${englishOf(problem)}`).join('\n'))}`,
        ]),
    `## What to Do
1. **READ** the files of a part where names and signatures do not tell what it does.
2. **SAY** in one sentence what each part is for.
3. **NAME** 10 to 20 keywords for each: synonyms, words of users and of the domain, related terms, names of libraries. Leave out words that fit every part.`,
    `## Your Answer
One JSON object of this shape: as structured data when you are given a tool for that, else as the last thing you say, in one \`\`\`json block. \`title\` is exactly as given.

\`\`\`json
{
  "modules": [
    { "title": "src/auth", "about": "Signs users in and keeps their sessions.", "keywords": ["login", "sign in", "session", "password"] }
  ]
}
\`\`\``,
  ].join('\n\n')}\n`;
}
