import { isNumberId } from '../../../base/numberId.ts';
import { reportNote } from '../reportNote.ts';

/** A story to add to a file. */
export interface NewStory {
  /** That of its report, or the next number of a file that numbers its stories. */
  readonly id: string;
  /** One line. */
  readonly title: string;
  readonly why?: string | undefined;
  /** The story during which it was found. */
  readonly from?: string | undefined;
  /** The id of its report, if it gets another one. */
  readonly report?: string | undefined;
  /** When it is added, for formats that keep this. */
  readonly at?: Date | undefined;
}

/** Why there is this story, for formats without a place of its own for that. */
export function originText({ from, why }: NewStory): string {
  const origin = from === undefined ? '' : `Discovered during ${from}`;
  return [origin, why ?? ''].filter(text => text !== '').join(': ');
}

/** The origin, and the report if the id does not say it; each is one line. */
export function originLines(story: NewStory): readonly string[] {
  const note = story.report === undefined ? '' : reportNote(story.report);
  return [originText(story), note].filter(text => text !== '');
}

/** The same for two titles that name the same work; that of an item in a plan begins with its id. */
export function titleKey({
  id = '',
  title,
}: {
  readonly id?: string;
  readonly title: string;
}): string {
  const words = wordsOf(title);
  const label = `${wordsOf(id)} `;
  return !isNumberId(id) && words.startsWith(label) ? words.slice(label.length) : words;
}

function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
