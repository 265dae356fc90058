import { closeSync, constants, openSync, rmSync, writeFileSync } from 'node:fs';
import { PLAIN } from '../../base/plainFile.ts';

const { O_CREAT, O_EXCL, O_RDONLY, O_WRONLY } = constants;

/**
 * An agent's standard input, as a file that is complete before the agent starts. A pipe would be filled afterwards:
 * if the loop were killed in between, the agent would work with an empty or partial prompt.
 *
 * The file is unlinked at once, so that nothing is left behind and nobody can change it.
 * @param file absolute path of a file that does not exist
 * @returns a file descriptor to pass to the process and then close
 */
export function openInput(text: string, file: string): number {
  rmSync(file, { force: true });
  const fd = openSync(file, O_WRONLY | O_CREAT | O_EXCL | PLAIN, 0o600);
  try {
    try {
      writeFileSync(fd, text);
    } finally {
      closeSync(fd);
    }
    return openSync(file, O_RDONLY | PLAIN);
  } finally {
    rmSync(file, { force: true });
  }
}
