import v8 from 'node:v8';

/**
 * Called before agents are started. V8 lets its young generation grow with what passes through, and the loop passes an
 * agent's output through for hours: this keeps it small, at no cost that npm run bench shows. Loading the program is
 * another matter, and quicker without. Electron takes no flags any more once it runs.
 */
export function keepHeapSmall(): void {
  if (process.versions['electron'] === undefined) {
    v8.setFlagsFromString('--optimize-for-size');
    v8.setFlagsFromString('--max-semi-space-size=2');
    v8.setFlagsFromString('--semi-space-growth-factor=1');
  }
}
