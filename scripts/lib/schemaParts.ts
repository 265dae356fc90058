// What the schemas of story files are made of.
import * as z from 'zod';
import { EFFORT_LEVELS } from '../../src/orchestrator/stories/formats/callChoice.ts';
import { PRIORITY_WORDS } from '../../src/orchestrator/stories/formats/prdKeys.ts';

/** Formats a text of the schema, with values for its placeholders, in the language of a window. */
export type SchemaWords = (text: string, ...args: readonly string[]) => string;

const english: SchemaWords = (text, ...args) =>
  text.replace(/\{(\d+)\}/g, (place, index) => args[Number(index)] ?? place);

/** Offers the usual types, and accepts any value. */
export const usually = (...usual: [z.ZodType, ...z.ZodType[]]) => z.union([...usual, z.unknown()]);
export const text = () => usually(z.string());
export const texts = () => usually(z.array(usually(z.string())));

/** What a piece of work is, in words. */
export function descriptionField(t: SchemaWords) {
  return text()
    .describe(t('What is wanted and why, for an agent that knows nothing else of it.'))
    .optional();
}

export function priorityField(t: SchemaWords) {
  return usually(z.number(), z.enum([...PRIORITY_WORDS.keys()] as [string, ...string[]]))
    .describe(t('The lowest number runs first; without one a story runs after all others.'))
    .optional();
}

/** What a story chooses for its agent. @param turnKeys names of the most turns, the usual one first */
export function choiceFields(turnKeys: readonly string[], t: SchemaWords) {
  return {
    model: text()
      .describe(
        t(
          'The model for the agent of this story, such as opus or a full name; without it, the setting "{0}" counts.',
          'model',
        ),
      )
      .optional(),
    effort: usually(z.enum(EFFORT_LEVELS), z.string())
      .describe(
        t(
          'How much the agent of this story thinks: {0}. Without it, the setting "{1}" counts.',
          EFFORT_LEVELS.join(', '),
          'effort',
        ),
      )
      .optional(),
    ...fields(
      turnKeys,
      t(
        'The most turns that the agent of this story may take; without it, the setting "{0}" counts.',
        'maxTurnsPerIteration',
      ),
      () => usually(z.int().min(1)),
      t,
    ),
  };
}

/** A tab stop of a snippet. */
export const tab = (place: number, words: string) => `\${${place}:${words}}`;

/** Fields with other names besides the usual one, which is the first. */
export function fields(
  keys: readonly string[],
  words: string,
  one: () => z.ZodType,
  t: SchemaWords,
): Record<string, z.ZodType> {
  const [usual = ''] = keys;
  return Object.fromEntries(
    keys.map(key => [
      key,
      one()
        .describe(key === usual ? words : t('{0} The usual name is "{1}".', words, usual))
        .optional(),
    ]),
  );
}

/** @param translations by their English texts; English if absent */
export function wordsOf(translations: Readonly<Record<string, string>> = {}): SchemaWords {
  return (message, ...args) => english(translations[message] ?? message, ...args);
}

/** A schema as the text of a file. */
export function jsonSchemaText(schema: z.ZodType, own: object): string {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema }) => {
      // `"additionalProperties": {}` means the same as its absence.
      if (JSON.stringify(jsonSchema.additionalProperties) === '{}') {
        delete jsonSchema.additionalProperties;
      }
    },
  });
  return `${JSON.stringify({ $schema, ...own, ...rest }, null, 2)}\n`;
}
