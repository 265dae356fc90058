import { HumanError } from './humanError.ts';
import type { Words } from './say.ts';
import { systemRefusal } from './systemRefusal.ts';

/**
 * The message of an error, for a log or a text in English, without the name of its class, which is not useful for
 * people ("HumanError: …"). Never use `String(error)` for people.
 */
export function messageOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : String(error);
}

/**
 * The same for a warning or another message that people read in their own language. What the system refuses is told
 * with the next step.
 */
export function saidOf(error: unknown): Words {
  return error instanceof HumanError ? error.said : (systemRefusal(error) ?? messageOf(error));
}
