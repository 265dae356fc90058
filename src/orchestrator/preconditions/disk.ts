import { statfs } from 'node:fs/promises';
import { say } from '../../base/say.ts';
import type { Precondition } from './precondition.ts';

/** In bytes. Enough for an agent with its tests; the journal needs little. */
const LITTLE_SPACE = 200 * 1024 * 1024;

/** The workspace's disk has enough space. */
export const disk: Precondition = {
  id: 'disk',
  async judge({ files }) {
    const { bavail, bsize } = await statfs(files.workspace);
    const free = bavail * bsize;
    return free < LITTLE_SPACE
      ? {
          level: 'warns',
          message: say('{0} MB free on the disk of the workspace.', Math.floor(free / 1024 ** 2)),
          next: say('Free some space.'),
        }
      : {
          level: 'holds',
          message: `${(free / 1024 ** 3).toFixed(1)} GB free on the disk of the workspace`,
        };
  },
};
