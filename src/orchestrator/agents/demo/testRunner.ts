import { fileURLToPath } from 'node:url';
import type { ChildProcesses, Exit } from './childProcesses.ts';

/** Runs the tests of the sample with a Node that understands TypeScript. */
export interface TestRunner {
  run(): Promise<Exit>;
}

/** The devDependency `node`, relative to `dist/`. */
const NODE_OF_THE_CLONE = fileURLToPath(
  new URL(
    `../node_modules/node/bin/node${process.platform === 'win32' ? '.exe' : ''}`,
    import.meta.url,
  ),
);
const STRIP_TYPES = '--experimental-strip-types';

/** @returns `undefined` if this machine has no such Node */
export async function findTestRunner(children: ChildProcesses): Promise<TestRunner | undefined> {
  // Inside VS Code the executable is the editor's, whose Node may be older than the person's own.
  const candidates = [
    { file: process.execPath, flags: [] },
    { file: process.execPath, flags: [STRIP_TYPES] },
    { file: 'node', flags: [] },
    { file: 'node', flags: [STRIP_TYPES] },
    // A clone of this project contains one that is new enough.
    { file: NODE_OF_THE_CLONE, flags: [] },
  ];
  for (const { file, flags } of candidates) {
    if (await stripsTypes(children, file, flags)) {
      const args = [
        ...flags,
        '--disable-warning=ExperimentalWarning',
        '--test',
        '--test-reporter=spec',
      ];
      return { run: () => children.run(file, args) };
    }
  }
  return undefined;
}

async function stripsTypes(
  children: ChildProcesses,
  file: string,
  flags: readonly string[],
): Promise<boolean> {
  if (file === process.execPath && flags.length === 0 && process.execArgv.length === 0) {
    // The same executable would give the same answer.
    return Boolean(process.features.typescript);
  }
  const probe = await children.run(file, [...flags, '-p', 'process.features.typescript']);
  return probe.code === 0 && ['strip', 'transform'].includes(probe.stdout.trim());
}
