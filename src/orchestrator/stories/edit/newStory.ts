/** A story to add to a file. */
export interface NewStory {
  readonly id: string;
  /** One line. */
  readonly title: string;
  readonly why?: string | undefined;
  /** The story during which it was found. */
  readonly from?: string | undefined;
}

/** Why there is this story, for formats without a place of its own for that. */
export function originText({ from, why }: NewStory): string {
  const origin = from === undefined ? '' : `Discovered during ${from}`;
  return [origin, why ?? ''].filter(text => text !== '').join(': ');
}
