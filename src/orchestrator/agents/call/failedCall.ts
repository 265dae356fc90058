import { say } from '../../../base/say.ts';
import { shorten } from '../../../base/text.ts';

/** So much of an agent's words is told, in UTF-16 units. */
const MAX_REASON = 600;

/** On one line, and with an end. */
export function endedSentence(words: string): string {
  const sentence = shorten(words, MAX_REASON);
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** Why a call failed, with the next step where the agent's own words have none. Pure. */
export function failedCallSentence({
  kind,
  message,
}: {
  readonly kind: string;
  readonly message: string;
}): string {
  switch (kind) {
    case 'billing':
      return say(
        '{0} Add credit to the account, or choose another one (another log-in or API key); then the same command continues.',
        endedSentence(message),
      );
    case 'authentication':
      return say(
        '{0} Log in again (for Claude Code: run "claude" in a terminal), or give a valid API key; then the same command continues.',
        endedSentence(message),
      );
    default:
      return message;
  }
}
