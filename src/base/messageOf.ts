/**
 * What went wrong, in the words of the error, for a warning or a message: without the name of its class, which says
 * nothing to a person ("HumanError: …"). Never `String(error)` where a person reads it.
 */
export function messageOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : String(error);
}
