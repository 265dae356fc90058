import { say } from '../../../base/say.ts';
import type { StoryProblem } from '../story.ts';
import { findJsonError } from './jsonError.ts';
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
