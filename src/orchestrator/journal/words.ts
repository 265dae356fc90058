import * as z from 'zod';
import { once } from '../../base/once.ts';
import type { Message } from '../../base/say.ts';

/** Messages within messages; more levels are not ours, and reading them would take any depth of the stack. */
const MAX_DEPTH = 12;

function message(depth: number): z.ZodType<Message> {
  const value = [z.string(), z.number(), z.boolean()] as const;
  return z.object({
    key: z.string(),
    args: z.array(depth === 1 ? z.union(value) : z.union([...value, message(depth - 1)])),
  });
}

/**
 * Words for people: a sentence of ours as key and arguments, or a text of somebody else. In journals written before,
 * sentences of ours are English texts, too.
 */
export const wordsSchema = once(() => z.union([z.string(), message(MAX_DEPTH)]));
