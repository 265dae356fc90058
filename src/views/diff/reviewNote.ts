import * as z from 'zod';
import { once } from '../../base/once.ts';
import { shorten, withoutControls } from '../../base/text.ts';

/** Maximum amount of code that is sent with a note. */
const MAX_CODE_LINES = 12;
const MAX_CODE_LINE = 160;
const MAX_PATH = 200;

/** A note as it is stored. */
export const reviewNoteSchema = once(() =>
  z.object({
    /** The hint's id, by which the journal shows when an agent got it. */
    id: z.uuid(),
    folder: z.string(),
    commit: z.string(),
    path: z.string(),
    /** Where it was written, see `GitDocument`. */
    of: z.literal('run').optional(),
    /** From 0. */
    line: z.number().int().nonnegative(),
    endLine: z.number().int().nonnegative(),
    text: z.string(),
    storyId: z.string().optional(),
    /** ISO 8601. */
    at: z.string(),
    /** The iteration whose agent was told. */
    toldIn: z.number().int().positive().optional(),
  }),
);

/** A person's note about lines of a commit. */
export type ReviewNote = z.infer<ReturnType<typeof reviewNoteSchema>>;

/**
 * The hint for an agent: where, the code, and the person's note. Pure.
 * @param code the lines that the note is about
 */
export function hintOf(
  { commit, endLine, line, path, storyId, text }: Omit<ReviewNote, 'id' | 'at'>,
  code: readonly string[],
): string {
  const lines = endLine > line ? `${line + 1}-${endLine + 1}` : `${line + 1}`;
  const of = storyId === undefined ? '' : `, ${shorten(storyId, MAX_PATH)}`;
  const quoted = code.slice(0, MAX_CODE_LINES).map(text => `    ${shortCode(text)}`);
  const more = code.length > MAX_CODE_LINES ? ['    …'] : [];
  return [
    `Review note on ${shorten(path, MAX_PATH)}:${lines} (commit ${commit.slice(0, 7)}${of}): ${text.trim()}`,
    ...(quoted.length === 0 ? [] : ['The code there:', ...quoted, ...more]),
  ].join('\n');
}

/** Keeps the indentation. */
function shortCode(text: string): string {
  const line = withoutControls(text);
  return line.length > MAX_CODE_LINE ? `${line.slice(0, MAX_CODE_LINE)}…` : line;
}
