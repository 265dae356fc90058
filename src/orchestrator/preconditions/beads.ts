import { say } from '../../base/say.ts';
import { Bd } from '../trackers/beads/bd.ts';
import { BD_INSTALL } from '../trackers/beads/beadsAccess.ts';
import { beadsDatabase } from '../trackers/beads/beadsDatabase.ts';
import type { Precondition } from './precondition.ts';

/** Stories in a database of Beads: only its own program can close them. */
export const beads: Precondition = {
  id: 'beads',
  async judge({ env, storyFile }) {
    const database = storyFile === undefined ? undefined : await beadsDatabase(storyFile);
    if (storyFile === undefined || database === undefined) {
      return undefined;
    }
    return (await Bd.find(storyFile, { env })) === undefined
      ? {
          level: 'refuses',
          message: say(
            'The issues of Beads are in its database (.beads/{0}), and its program bd was not found.',
            database,
          ),
          next: say('Install it: {0}', BD_INSTALL),
        }
      : { level: 'holds', message: 'bd keeps the issues of Beads.' };
  },
};
