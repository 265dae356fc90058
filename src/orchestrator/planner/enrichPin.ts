import * as z from 'zod';
import { fenced } from '../../base/fenced.ts';
import { once } from '../../base/once.ts';
import { say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { type AgentWords, plainAgentWords } from '../context/pin/generatedLines.ts';
import type { UpdatedEntry } from '../context/pin/updatePin.ts';
import { askAboutEntries, type EntryAnswer, type EntryPrompt } from './askAboutEntries.ts';
import { MAX_ATTEMPTS } from './askPlanner.ts';
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
  { files, ...options }: Pick<DraftOptions, 'call' | 'files' | 'journal'>,
  entries: readonly UpdatedEntry[],
  onAnswer: (said: ReadonlyMap<string, AgentWords>) => void,
): Promise<DraftResult> {
  return askAboutEntries(
    options,
    {
      ...answerAbout(entries),
      prompt: enrichPrompt(entries),
      refused: problems =>
        say(
          'The agent gave no valid keywords for the Pin of {0} in {1} tries: {2} The Pin is good without them; try again later.',
          files.workspace,
          MAX_ATTEMPTS,
          problems,
        ),
      ifFailed: say('The Pin is good without the words of an agent; try again later.'),
    },
    onAnswer,
  );
}

function answerAbout(
  entries: readonly UpdatedEntry[],
): EntryAnswer<z.infer<ReturnType<typeof answerSchema>>, AgentWords> {
  const titles = new Set(entries.map(({ title }) => title));
  return {
    schema: answerSchema(),
    read: ({ modules }) =>
      new Map(
        modules
          .filter(({ title }) => titles.has(title))
          .map(({ about, keywords, title }) => [title, plainAgentWords({ about, keywords })]),
      ),
    nothing: say('"title" must be one of the given titles, letter by letter.'),
  };
}

/** Pure. */
function enrichPrompt(entries: readonly UpdatedEntry[]): EntryPrompt {
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
  return {
    about: `# Ralph Fresh - Keywords for the Pin

The Pin (specs/INDEX.md) lists the parts of a project with keywords. Agents that start with a fresh context search it before they write code, often with other words than those of the code ("log in" for src/auth).
You only read: change no file, and run nothing.`,
    entries: `## The Parts\n${fenced(told.join('\n\n').slice(0, MAX_PROMPT))}`,
    steps: [
      '**READ** the files of a part where names and signatures do not tell what it does.',
      '**SAY** in one sentence what each part is for.',
      '**NAME** 10 to 20 keywords for each: synonyms, words of users and of the domain, related terms, names of libraries. Leave out words that fit every part.',
    ],
    identity: '`title` is exactly as given.',
    example: `{
  "modules": [
    { "title": "src/auth", "about": "Signs users in and keeps their sessions.", "keywords": ["login", "sign in", "session", "password"] }
  ]
}`,
  };
}
