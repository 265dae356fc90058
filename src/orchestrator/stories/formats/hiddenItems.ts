import { type Message, say } from '../../../base/say.ts';
import type { StoryProblem } from '../story.ts';
import type { HidingBlock } from './markdownBlocks.ts';
import type { TextLines } from './textLines.ts';

/** That a block which is not closed hides the items after it. */
export function unclosedProblem(
  { kind, offset, checkboxes }: HidingBlock,
  lines: TextLines,
): StoryProblem | undefined {
  return checkboxes === 0
    ? undefined
    : {
        code: 'unclosedBlock',
        message:
          kind === 'fence'
            ? say(
                'The code fence that begins here is never closed, so no checkbox after it is read: close it.',
              )
            : say(
                'The comment that begins here is never closed, so no checkbox after it is read: close it.',
              ),
        ...lines.at(offset),
      };
}

/** That all items are in blocks: a list that somebody, or a tool, has put into one code fence looks complete to a reader. */
export function allHidden(
  [first, ...others]: readonly HidingBlock[],
  lines: TextLines,
  fix: Message,
): StoryProblem | undefined {
  if (first === undefined) {
    return undefined;
  }
  const same = others.filter(({ kind }) => kind === first.kind);
  const count = [first, ...same].reduce((sum, { checkboxes }) => sum + checkboxes, 0);
  return {
    code: 'noStories',
    message:
      first.kind === 'fence'
        ? say(
            'The only checkboxes of the file are in a code fence, so they count as an example: {0}. If they are the stories, remove the marks of the fence that begins here. If not: {1}',
            count,
            fix,
          )
        : say(
            'The only checkboxes of the file are in a comment, so they are not read: {0}. If they are the stories, remove the marks of the comment that begins here. If not: {1}',
            count,
            fix,
          ),
    isPlaced: true,
    ...lines.at(first.offset),
  };
}
