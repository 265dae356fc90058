import { closeSync, constants, openSync, rmSync, writeFileSync } from 'node:fs';
import { PLAIN } from '../../base/plainFile.ts';

const { O_CREAT, O_EXCL, O_RDONLY, O_WRONLY } = constants;

/**
 * What an agent reads on standard input, as a file that is whole before the agent starts. A pipe would have to be filled
 * afterwards: a loop that is killed in between would leave an agent at work on an empty or a half prompt.
 *
 * The name goes at once, so that nothing is left behind and nobody can change the file.
 * @param file absolute path of a file that is not there
 * @returns a file descriptor to be given to the process, then closed
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
