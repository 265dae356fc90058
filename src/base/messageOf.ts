/**
 * The message of an error, for a warning or another message, without the name of its class, which is not useful for
 * people ("HumanError: …"). Never use `String(error)` for people.
 */
export function messageOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : String(error);
}
