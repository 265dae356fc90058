/** What becomes of a terminal that a person has opened in the place of a story. */
export type TerminalFate = 'stays' | 'closes' | 'asks';

/**
 * A terminal must not stay open unnoticed in a place that another story has now. One that nobody has typed into has
 * nothing to lose. Pure.
 * @param record what is known of the place now; `undefined` if it is gone
 * @param isUsed the person has typed into the terminal
 */
export function terminalFate({
  isUsed,
  record,
  storyId,
}: {
  readonly record: { readonly story?: string | undefined } | undefined;
  readonly storyId: string;
  readonly isUsed: boolean;
}): TerminalFate {
  if (record?.story === undefined || record.story === storyId) {
    return 'stays';
  }
  return isUsed ? 'asks' : 'closes';
}
