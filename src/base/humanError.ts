/** An error for the person who started the run: says what is wrong and what to do next, without a stack trace. */
export class HumanError extends Error {
  override readonly name = 'HumanError';
}
