/** Whether a person at this terminal can be asked. */
export function canAsk({ quiet }: { readonly quiet?: boolean } = {}): boolean {
  const { CI = '' } = process.env;
  const isCi = CI !== '' && CI !== '0' && CI !== 'false';
  return process.stdin.isTTY === true && process.stdout.isTTY === true && !isCi && quiet !== true;
}

/** Asks in this terminal. Everything but a yes is a no, also Ctrl-C and the end of the input. */
export async function askYes(question: string): Promise<boolean> {
  const answer = await askHere(ask => ask(`${question} [y/N] `));
  return /^(?:y|yes)$/i.test(answer?.trim() ?? '');
}

/**
 * Asks questions in this terminal.
 * @returns `undefined` after Ctrl-C, the end of the input or the signal
 */
export async function askHere<T>(
  talk: (ask: (question: string) => Promise<string>) => Promise<T>,
  signal?: AbortSignal,
): Promise<T | undefined> {
  // Loaded on demand: few commands ask.
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const over = new AbortController();
  const end = () => over.abort();
  terminal.once('SIGINT', end).once('close', end);
  signal?.addEventListener('abort', end, { signal: over.signal });
  try {
    return await talk(question => terminal.question(question, { signal: over.signal }));
  } catch (error) {
    if (!over.signal.aborted) {
      throw error;
    }
    // What follows starts on a new line.
    process.stdout.write('\n');
    return undefined;
  } finally {
    terminal.close();
  }
}
