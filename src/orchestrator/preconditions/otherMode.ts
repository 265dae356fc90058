import { say } from '../../base/say.ts';
import { activeOtherMode } from './modes.ts';
import type { Precondition } from './precondition.ts';

/** No other mode is working on the same files. Other modes can detect us by our own state file. */
export const otherMode: Precondition = {
  id: 'otherModes',
  async judge({ files }) {
    const other = await activeOtherMode(files);
    return other === undefined
      ? { level: 'holds', message: 'No other mode of oh-my-claudecode is active here.' }
      : {
          level: 'refuses',
          message: say('The mode "{0}" of oh-my-claudecode is active in this folder.', other.mode),
          next: say(
            'Cancel it first with /oh-my-claudecode:cancel, or remove {0} if it is left over.',
            other.file,
          ),
        };
  },
};
