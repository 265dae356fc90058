import { HumanError } from '../../base/humanError.ts';
import type { Words } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import type { Finding } from '../../presentation/doctorReport.ts';

/** Maximum length of text from other sources within a finding. */
export const MAX_WORDS = 300;
/** Maximum number of commands, problems or files that are named. */
const MAX_NAMED = 3;

/** Nothing to fix. */
export function good(id: string, message: Words): Finding {
  return { id, level: 'ok', message, fix: null };
}

/** A run can work like this, but a person should know. */
export function warn(id: string, message: Words, fix: Words | null): Finding {
  return { id, level: 'warning', message, fix };
}

/** No run can work like this. Many messages already contain their fix. */
export function wrong(id: string, message: Words, fix: Words | null): Finding {
  return { id, level: 'error', message, fix };
}

/** Turns a `HumanError` into a finding; rethrows any other error. */
export function wrongBy(id: string, error: unknown): Finding {
  if (error instanceof HumanError) {
    return wrong(id, error.said, null);
  }
  throw error;
}

/** The first few items, and how many more there are. */
export function some(words: readonly string[], separator: string): string {
  const named = words.slice(0, MAX_NAMED).map(word => shorten(word, MAX_WORDS));
  const more = words.length - named.length;
  return named.join(separator) + (more > 0 ? ` (and ${more} more)` : '');
}
