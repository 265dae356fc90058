import v8 from 'node:v8';

/** What is set, and what takes it back. */
const FLAGS: readonly (readonly [string, string])[] = [
  ['--optimize-for-size', '--no-optimize-for-size'],
  ['--max-semi-space-size=2', '--max-semi-space-size=0'],
  ['--semi-space-growth-factor=1', '--semi-space-growth-factor=2'],
];

/**
 * Called when the first agent runs. V8 lets its young generation grow with what passes through, and the loop passes an
 * agent's output through for hours: this keeps it small, at no cost that npm run bench shows. Not when the
 * program is loaded: V8 takes nothing that was compiled with other flags, and Node keeps what it has compiled of the program.
 * Electron takes no flags any more once it runs.
 * @returns takes it back
 */
export function keepHeapSmall(): () => void {
  if (process.versions['electron'] !== undefined) {
    return () => undefined;
  }
  for (const [set] of FLAGS) {
    v8.setFlagsFromString(set);
  }
  return () => {
    for (const [, reset] of FLAGS) {
      v8.setFlagsFromString(reset);
    }
  };
}
