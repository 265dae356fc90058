import { statfs } from 'node:fs/promises';
import { say } from '../../base/say.ts';
import type { Precondition } from './precondition.ts';

/** An agent with its tests needs some; the journal little. In bytes. */
const LITTLE_SPACE = 200 * 1024 * 1024;

/** The disk of the workspace has room. */
export const disk: Precondition = {
  id: 'disk',
  async judge({ files }) {
    const { bavail, bsize } = await statfs(files.workspace);
    const free = bavail * bsize;
    return free < LITTLE_SPACE
      ? {
          level: 'warns',
          message: say('{0} MB free on the disk of the workspace.', Math.floor(free / 1024 ** 2)),
          next: say('Make room.'),
        }
      : {
          level: 'holds',
          message: `${(free / 1024 ** 3).toFixed(1)} GB free on the disk of the workspace`,
        };
  },
};
