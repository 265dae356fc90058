import path from 'node:path';
import { type Message, say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import type { Story } from './story.ts';

/** Of an id in a message, in UTF-16 units. */
const MAX_ID = 80;

/** An open story that waits for one that its list does not have, so that it can never start. */
export interface WaitsUnknown {
  readonly id: string;
  /** The id that no story has. */
  readonly on: string;
  /** If the source is a folder: the story's own file, from there. */
  readonly file?: string | undefined;
  /** Of the story, 1-based. */
  readonly line: number;
}

/** Which stories wait like this, each with its first unknown id, in the order of the list. Pure. */
export function waitsForUnknown(stories: readonly Story[]): readonly WaitsUnknown[] {
  const known = new Set(stories.map(({ id }) => id));
  return stories.flatMap(({ dependsOn, done, file, id, line, parked }) => {
    const on = done || parked === true ? undefined : dependsOn.find(need => !known.has(need));
    return on === undefined ? [] : [{ id, on, file, line }];
  });
}

/** What a story waits for, where that is written, and the next step. @param list path of the story file */
export function unknownWords({ file, id, line, on }: WaitsUnknown, list: string): Message {
  return say(
    '{0} waits for {1}, which the story file does not have ({2}): correct the id, or remove it.',
    shorten(id, MAX_ID),
    shorten(on, MAX_ID),
    file ?? `${path.basename(list)}:${line}`,
  );
}
