/** Of `npm`, by what it calls the same. */
const NPM_TEST: readonly string[] = ['test', 'tst', 't'];
const NPM_RUN: readonly string[] = ['run', 'run-script', 'rum', 'urn'];
/** Options that do not say where the script is, or whether it must be there. */
const PLAIN_OPTIONS: readonly string[] = ['-s', '--silent'];

/**
 * The script of package.json that a check runs.
 * @param words of the command
 * @returns `undefined` if it runs none, or if its options may choose another folder
 */
export function scriptOf(
  words: readonly string[],
): { readonly script: string; readonly isYarn: boolean } | undefined {
  const [manager, ...rest] = words;
  const end = rest.indexOf('--');
  // What follows is for the script.
  const own = (end < 0 ? rest : rest.slice(0, end)).filter(word => !PLAIN_OPTIONS.includes(word));
  if (own.some(word => word.startsWith('-'))) {
    return undefined;
  }
  const isYarn = manager === 'yarn';
  const script = named(manager, own);
  return script !== undefined && /^[\w.:-]+$/.test(script) ? { script, isYarn } : undefined;
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
      // Without `run`, most words are commands of yarn or programs.
      return first === 'test' ? first : first === 'run' ? second : undefined;
    default:
      return undefined;
  }
}
