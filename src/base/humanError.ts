import { englishOf, type Message, sentences, type Words } from './say.ts';

/**
 * An error for the person who started the run: says what is wrong and what to do next, without a stack trace. Its
 * `message` is English.
 */
export class HumanError extends Error {
  override readonly name = 'HumanError';
  /** What it says, to be shown in any language. */
  readonly said: Message;

  /** @param said a string is a text that is not translated any more: of the system, of a tool, of the window itself */
  constructor(said: Words, options?: ErrorOptions) {
    super(englishOf(said), options);
    this.said = typeof said === 'string' ? sentences([said]) : said;
  }
}

/** Throws an error again that is not for people. */
export function requireHuman(error: unknown): asserts error is HumanError {
  if (!(error instanceof HumanError)) {
    throw error;
  }
}
