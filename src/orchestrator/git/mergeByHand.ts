import { type Message, say, sentences } from '../../base/say.ts';
import { bringInCommand } from './bringInCommand.ts';
import { namedFiles } from './treeCommit.ts';

/** How a person brings the branch what has landed, without losing a file. */
export function mergeByHand(
  ref: string,
  { code, untracked = [] }: { readonly code: string; readonly untracked?: readonly string[] },
): Message {
  return sentences([
    ...moveAwayFirst(untracked),
    say('Merge it by hand: {0}', bringInCommand(ref, code)),
  ]);
}

/** @param untracked files that git does not track, and that a merge by hand would overwrite */
export function moveAwayFirst(untracked: readonly string[]): Message[] {
  return untracked.length === 0
    ? []
    : [
        say(
          'Move these files away first, because a merge would overwrite them: {0}.',
          namedFiles(untracked),
        ),
      ];
}
