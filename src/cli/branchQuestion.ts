import { shorten, withoutControls } from '../base/text.ts';
import type { AskBranch, BranchAnswer } from '../orchestrator/loop/runOptions.ts';

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
  // Loaded on demand: few runs ask.
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const over = new AbortController();
  const end = () => over.abort();
  terminal.once('SIGINT', end).once('close', end);
  signal.addEventListener('abort', end, { signal: over.signal });
  try {
    for (;;) {
      const words = await terminal.question('Your choice (1, 2 or 3): ', { signal: over.signal });
      const answer = ANSWERS.get(words.trim());
      if (answer !== undefined) {
        return answer;
      }
    }
  } catch (error) {
    if (!over.signal.aborted) {
      throw error;
    }
    // The error that follows starts on a new line.
    process.stdout.write('\n');
    return 'cancel';
  } finally {
    terminal.close();
  }
};

function nameOf(branch: string): string {
  return shorten(withoutControls(branch), MAX_NAME);
}
