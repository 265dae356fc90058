import { type Message, say } from '../../../base/say.ts';
import { withoutUndefined } from '../../../base/withoutUndefined.ts';
import type { CallChoice, StoryProblem } from '../story.ts';
import { plainText } from './plainText.ts';

/**
 * What a story chooses for the call of its agent: under which keys, and which values are accepted. A story file comes
 * with a repository, so a value is only accepted if it can be nothing but the value of an option.
 */

/** The keys of each choice; the first one that is present counts. */
export const CHOICE_KEYS = {
  model: ['model'],
  effort: ['effort'],
  maxTurns: ['maxTurns', 'max_turns'],
} as const satisfies Record<keyof CallChoice, readonly string[]>;

/** The effort levels of Claude Code. Other words under this key are usually an estimate of the work: `S`, `2 days`. */
export const EFFORT_LEVELS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

// Also the names of other providers: "openai/gpt-5", "claude-opus-4@20250514", "arn:aws:bedrock:…", "opus[1m]".
const MODEL = /^[\p{L}\p{N}_/@[][\p{L}\p{N}._:/@+[\]-]{0,199}$/u;

/** A story as it is in its file. */
type Entry = Readonly<Record<string, unknown>>;

/** The choices of a story. A value that is not accepted is no choice; {@link findChoiceProblems} reports it. */
export function readCallChoice(entry: Entry): CallChoice {
  const model = givenIn(entry, 'model')?.value;
  const effort = givenIn(entry, 'effort')?.value;
  const turns = givenIn(entry, 'maxTurns')?.value;
  return model === undefined && effort === undefined && turns === undefined
    ? {}
    : choiceOf({
        model: isModel(model) ? model : undefined,
        effort: effortOf(effort),
        maxTurns: turnsOf(turns),
      });
}

/** The choices alone, without what is left open. */
export function choiceOf({ effort, maxTurns, model }: CallChoice): CallChoice {
  return withoutUndefined({ model, effort, maxTurns });
}

/**
 * The choices that are not accepted.
 * @param entries by position; `undefined` for what is no story
 * @param placeOf finds the key of an entry
 */
export function findChoiceProblems(
  entries: readonly (Entry | undefined)[],
  placeOf: (position: number, key: string) => Pick<StoryProblem, 'line' | 'column'>,
): StoryProblem[] {
  return entries.flatMap((entry, position) =>
    (entry === undefined ? [] : refusedChoices(entry)).map(({ key, ...problem }) => ({
      ...{ code: 'storySetting' as const, ...problem, ...placeOf(position, key) },
      subject: { position, ids: [key] },
    })),
  );
}

interface Refused extends Pick<StoryProblem, 'message' | 'severity'> {
  readonly key: string;
}

function refusedChoices(entry: Entry): Refused[] {
  const model = givenIn(entry, 'model');
  const effort = givenIn(entry, 'effort');
  const turns = givenIn(entry, 'maxTurns');
  if (model === undefined && effort === undefined && turns === undefined) {
    return [];
  }
  const choice = readCallChoice(entry);
  const refused: Refused[] = [];
  if (model !== undefined && choice.model === undefined) {
    const expected = say('a name of letters, digits and {0} without spaces', '. _ - : / @ + [ ]');
    refused.push({ key: model.key, message: refusal(model, expected) });
  }
  if (effort !== undefined && choice.effort === undefined) {
    const expected = say('one of "{0}"', EFFORT_LEVELS.join('", "'));
    refused.push({ key: effort.key, message: refusal(effort, expected), severity: 'info' });
  }
  if (turns !== undefined && choice.maxTurns === undefined) {
    refused.push({ key: turns.key, message: refusal(turns, say('a whole number from {0}', 1)) });
  }
  return refused;
}

/** Like the message for such a setting, with what happens now. */
function refusal({ key, value }: Found, expected: Message): Message {
  const shown = plainText(JSON.stringify(value));
  return say(
    '{0} Until this is corrected or removed, the agent of this story gets the value of the settings.',
    say('"{0}" is {1}. It must be {2}.', key, shown, expected),
  );
}

interface Found {
  readonly key: string;
  readonly value: unknown;
}

/** `undefined` if the file leaves it open: no key, `null`, or an empty text. */
function givenIn(entry: Entry, choice: keyof CallChoice): Found | undefined {
  for (const key of CHOICE_KEYS[choice]) {
    const value = entry[key];
    if (value !== undefined) {
      const isOpen = value === null || (typeof value === 'string' && value.trim() === '');
      return isOpen ? undefined : { key, value };
    }
  }
  return undefined;
}

function isModel(value: unknown): value is string {
  return typeof value === 'string' && MODEL.test(value);
}

function effortOf(value: unknown): CallChoice['effort'] {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : undefined;
  return EFFORT_LEVELS.find(level => level === word);
}

/** Numbers of YAML are read as text. */
function turnsOf(value: unknown): number | undefined {
  const turns = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof turns === 'number' && Number.isSafeInteger(turns) && turns >= 1 ? turns : undefined;
}
