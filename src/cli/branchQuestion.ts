import { shorten, withoutControls } from '../base/text.ts';
import type { AskBranch, BranchAnswer } from '../orchestrator/loop/runOptions.ts';
import { askHere } from './canAsk.ts';

/** Maximum length of a branch name in the question, in UTF-16 units. */
const MAX_NAME = 200;

const ANSWERS: ReadonlyMap<string, BranchAnswer> = new Map([
  ['1', 'stay'],
  ['2', 'takeAlong'],
  ['3', 'cancel'],
]);

/** Asks in this terminal until one of the numbers is entered. Ctrl-C and the end of the input cancel. */
export const askBranch: AskBranch = async ({ current, signal, wanted }) => {
  if (signal.aborted) {
    return 'cancel';
  }
  const to = nameOf(wanted);
  const here = current === '' ? 'the detached HEAD' : nameOf(current);
  process.stdout.write(
    [
      `The story file asks for the branch ${to}, but there are uncommitted changes on ${here}.`,
      `  1  Work on ${here}`,
      `  2  Switch to ${to} with the changes, if git allows it`,
      '  3  Cancel',
      '',
    ].join('\n'),
  );
  const answer = await askHere(async ask => {
    for (;;) {
      const chosen = ANSWERS.get((await ask('Your choice (1, 2 or 3): ')).trim());
      if (chosen !== undefined) {
        return chosen;
      }
    }
  }, signal);
  return answer ?? 'cancel';
};

function nameOf(branch: string): string {
  return shorten(withoutControls(branch), MAX_NAME);
}
