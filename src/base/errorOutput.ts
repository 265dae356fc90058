import { englishOf, type Words } from './say.ts';

/** In the environment of a command that another program of ours has started, which shows its error to a person. */
const ASKS_FOR_DATA = 'RALPH_FRESH_ERRORS';
/** Begins an error in English. */
export const ERROR_PREFIX = 'ralph-fresh: ';
/** Begins the same error as data. */
export const ERROR_DATA_PREFIX = 'ralph-fresh-error: ';

/** To be added to the environment of a command whose error is shown in another language. */
export const errorsAsData: Readonly<Record<string, string>> = { [ASKS_FOR_DATA]: 'json' };

/**
 * Whether the error of this process is to be written as data, too. The variable is removed, because it is not meant for
 * the processes that this one starts.
 */
export function takeAsksForData(env: NodeJS.ProcessEnv): boolean {
  const asks = env[ASKS_FOR_DATA] === 'json';
  delete env[ASKS_FOR_DATA];
  return asks;
}

/**
 * The last output of a command that fails: its error in English, for a log or a terminal; in a second line as data.
 * @param clean removes what a terminal must not get
 */
export function errorOutput(
  words: Words,
  { asData, clean }: { readonly asData: boolean; readonly clean: (text: string) => string },
): string {
  const english = `${ERROR_PREFIX}${clean(englishOf(words))}\n`;
  return asData ? `${english}${ERROR_DATA_PREFIX}${JSON.stringify(words)}\n` : english;
}
