import { applyEdits } from 'jsonc-parser';
import { HumanError } from '../../../base/humanError.ts';
import type { Story } from '../story.ts';
import type { ParsedStoryFile } from '../storyFile.ts';

/** A key with its value, as JSON and YAML have them on one line. */
const PAIR = /("[^"\n]*"|[\w-]+)\s*:\s*("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s,#}\]'"][^,#}\]\n\r]*)/g;
/** A box of a plan, with its mark. */
const BOX = /\[[^\]\n]\]/g;

/**
 * What a tick would write for a story that is not done, as it would stand in the file: `"status": "done"`, `[x]`, or the
 * word alone where the key is the story itself. So an agent is told nothing else than what the file is read for.
 *
 * @returns `undefined` if a tick would change nothing, or cannot be written
 */
export function doneMark({ edits, file, text }: ParsedStoryFile, story: Story): string | undefined {
  let changes: ReturnType<typeof edits>;
  try {
    changes = story.done || file.kind === 'invalid' ? [] : edits(story, true);
  } catch (error) {
    // A tick says why it cannot be written. Here, no example is better than a wrong one.
    if (error instanceof HumanError) {
      return undefined;
    }
    throw error;
  }
  const ticked = applyEdits(text, [...changes]);
  let grown = 0;
  const marks: string[] = [];
  for (const { content, length, offset } of changes.toSorted((a, b) => a.offset - b.offset)) {
    const start = offset + grown;
    marks.push(...marksIn(ticked, start, start + content.length, file.format === 'bmad'));
    grown += content.length - length;
  }
  return marks.length === 0 ? undefined : [...new Set(marks)].join(', ');
}

/** The pairs, or else the boxes, of the lines that a change is in, as far as it touches them. */
function marksIn(text: string, start: number, end: number, isValueOnly: boolean): string[] {
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const until = text.indexOf('\n', end);
  const part = text.slice(from, until === -1 ? undefined : until);
  const touched = (pattern: RegExp) =>
    [...part.matchAll(pattern)].filter(
      ({ 0: all, index }) => from + index < end && from + index + all.length > start,
    );
  const pairs = touched(PAIR).map(([, key = '', value = '']) =>
    isValueOnly ? value.trim() : `${key}: ${value.trim()}`,
  );
  return pairs.length > 0 ? pairs : touched(BOX).map(([box]) => box);
}
