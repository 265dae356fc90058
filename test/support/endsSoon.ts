import { execFile } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { cleanEnv, tempDir } from './cleanEnv.ts';

/** Far more than any algorithm with linear run time needs, however slow and busy the machine is. */
const NEVER_MS = 5 * 60_000;

/**
 * Fails if the code does not end. The code gets a module of the repository as `module` and runs in a separate process,
 * since a function that takes minutes could not be interrupted in this one.
 */
export async function endsSoon(file: string, code: string): Promise<void> {
  await using home = await tempDir('ends-soon-');
  const url = pathToFileURL(path.resolve(import.meta.dirname, '../..', file)).href;
  await promisify(execFile)(
    process.execPath,
    [
      ...['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval'],
      `const module = await import(${JSON.stringify(url)});\n${code}`,
    ],
    {
      cwd: home.path,
      env: cleanEnv({ home: home.path }),
      timeout: NEVER_MS,
      killSignal: 'SIGKILL',
    },
  );
}
