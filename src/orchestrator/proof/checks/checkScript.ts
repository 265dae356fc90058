/** Of `npm`, by what it calls the same. */
const NPM_TEST: readonly string[] = ['test', 'tst', 't'];
const NPM_RUN: readonly string[] = ['run', 'run-script', 'rum', 'urn'];
/** What npm also runs without such a script. */
const OF_MANAGERS: readonly string[] = ['env', 'restart', 'start'];
/** Options that do not say where the script is, or whether it must be there. */
const PLAIN_OPTIONS: readonly string[] = ['-s', '--silent'];

/**
 * The script of package.json that a check runs.
 * @param words of the command
 * @returns its name; `undefined` if it runs none, or if its options may choose another folder
 */
export function scriptOf(words: readonly string[]): string | undefined {
  const [manager, ...rest] = words;
  const end = rest.indexOf('--');
  // What follows is for the script.
  const own = (end < 0 ? rest : rest.slice(0, end)).filter(word => !PLAIN_OPTIONS.includes(word));
  if (own.some(word => word.startsWith('-'))) {
    return undefined;
  }
  const script = named(manager, own);
  return script !== undefined && /^[\w.:-]+$/.test(script) && !OF_MANAGERS.includes(script)
    ? script
    : undefined;
}

function named(manager: string | undefined, [first = '', second]: readonly string[]) {
  switch (manager) {
    case 'npm':
      return NPM_TEST.includes(first) ? 'test' : NPM_RUN.includes(first) ? second : undefined;
    case 'pnpm':
      return ['test', 't'].includes(first)
        ? 'test'
        : ['run', 'run-script'].includes(first)
          ? second
          : undefined;
    case 'yarn':
      // Other words may be commands of yarn, or programs of dependencies in any folder above.
      return first === 'test' || (first === 'run' && second === 'test') ? 'test' : undefined;
    default:
      return undefined;
  }
}
