import { statfs } from 'node:fs/promises';
import type { Finding } from '../../presentation/doctorReport.ts';
import { good, warn } from './findings.ts';
import type { Patient } from './patient.ts';

/** An agent with its tests needs some; the journal little. In bytes. */
const LITTLE_SPACE = 200 * 1024 * 1024;

/** Whether the disk of the workspace has room. */
export async function diskCheck({ files }: Patient): Promise<readonly Finding[]> {
  const { bavail, bsize } = await statfs(files.workspace);
  const free = bavail * bsize;
  const words = `${(free / 1024 ** 3).toFixed(1)} GB free on the disk of the workspace`;
  return [
    free < LITTLE_SPACE
      ? warn(
          'disk',
          `${Math.floor(free / 1024 ** 2)} MB free on the disk of the workspace.`,
          'Make room.',
        )
      : good('disk', words),
  ];
}
