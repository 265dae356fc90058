import { say } from '../../../base/say.ts';
import type { StoryProblem } from '../story.ts';
import { findJsonError } from './jsonError.ts';
import { countMembers, membersOf } from './jsonOutline.ts';
import { plainText } from './plainText.ts';
import type { TextLines } from './textLines.ts';

/** Parses a JSON text. @returns the problem with its place, and the way to fix it, if it is not valid */
export function readJson(
  text: string,
  lines: TextLines,
): { readonly root: unknown } | StoryProblem {
  try {
    return { root: JSON.parse(text) };
  } catch {
    const error = findJsonError(text, lines) ?? {
      offset: 0,
      message: say('This is not valid JSON.'),
    };
    return { code: 'invalidJson', message: error.message, ...lines.at(error.offset) };
  }
}

/** An object in a text, as it was read. */
interface PlacedObject {
  readonly entry: object;
  readonly start: number;
}

/** Whether a key is that of a comment, such as `//` and `_note`. */
export function isCommentKey(key: string): boolean {
  return /^(?:\/\/|_)/.test(key);
}

/**
 * Keys that an object has twice: JSON allows it, and the last one counts, so that a person may read another value. Some
 * people write comments like that.
 * @param objects in a text that is valid
 * @param isWanted which keys matter
 */
export function findRepeatedKeys(
  text: string,
  objects: readonly PlacedObject[],
  lines: TextLines,
  isWanted: (key: string) => boolean = key => !isCommentKey(key),
): StoryProblem[] {
  return objects
    .filter(({ entry, start }) => countMembers(text, start) !== Object.keys(entry).length)
    .flatMap(({ start }) => {
      const members = membersOf(text, start);
      const last = new Map(members.map(({ key }, index) => [key, index]));
      return members
        .filter(({ key }, index) => last.get(key) !== index && isWanted(key))
        .map(({ key, name }) => ({
          code: 'repeatedKey' as const,
          message: say(
            'The key "{0}" is there again below, and only the last one counts: remove one of them.',
            plainText(key),
          ),
          ...lines.at(name.start),
        }));
    });
}
