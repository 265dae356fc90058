import * as z from 'zod';

/** A zod schema as the plainest JSON Schema: validators that know only older drafts reject a newer `$schema`. */
export function jsonSchemaOf(schema: z.ZodType): object {
  const { $schema, ...plain } = z.toJSONSchema(schema, { target: 'draft-7', io: 'input' });
  return plain;
}
