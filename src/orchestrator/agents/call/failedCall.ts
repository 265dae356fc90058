import { englishOf, say, sentences, type Words, withTexts } from '../../../base/say.ts';
import { shorten } from '../../../base/text.ts';

/** Maximum length of an agent's words in a message, in UTF-16 units. */
const MAX_REASON = 600;

/** One line, with a period at the end. */
export function endedSentence(words: Words): Words {
  const sentence = withTexts(words, text => shorten(text, MAX_REASON));
  return /[.!?\u2026]$/.test(englishOf(sentence)) ? sentence : sentences([sentence, '.'], '');
}

/** Why a call failed, with the next step if the agent's message has none. Pure. */
export function failedCallSentence({
  kind,
  message,
}: {
  readonly kind: string;
  readonly message: Words;
}): Words {
  switch (kind) {
    case 'billing':
      return say(
        '{0} Add credit to the account, or choose another one (another login or API key); then the same command continues.',
        endedSentence(message),
      );
    case 'authentication':
      return say(
        '{0} Log in again (for Claude Code: run "claude" in a terminal), or set a valid API key; then the same command continues.',
        endedSentence(message),
      );
    default:
      return message;
  }
}
