/** Whether a person at this terminal can be asked. */
export function canAsk({ quiet }: { readonly quiet?: boolean } = {}): boolean {
  const { CI = '' } = process.env;
  const isCi = CI !== '' && CI !== '0' && CI !== 'false';
  return process.stdin.isTTY === true && process.stdout.isTTY === true && !isCi && quiet !== true;
}

/** Asks in this terminal. Everything but a yes is a no, also Ctrl-C and the end of the input. */
export async function askYes(question: string): Promise<boolean> {
  // Loaded on demand: few commands ask.
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const over = new AbortController();
  const end = () => over.abort();
  terminal.once('SIGINT', end).once('close', end);
  try {
    const answer = await terminal.question(`${question} [y/N] `, { signal: over.signal });
    return /^(?:y|yes)$/i.test(answer.trim());
  } catch (error) {
    if (!over.signal.aborted) {
      throw error;
    }
    process.stdout.write('\n');
    return false;
  } finally {
    terminal.close();
  }
}
