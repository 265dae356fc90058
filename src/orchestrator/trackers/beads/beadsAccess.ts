import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { Bd, type BdOptions } from './bd.ts';
import { beadsDatabase } from './beadsDatabase.ts';

/** What may be done for a story file whose issues are kept by another program. */
export interface TrackerAccess extends BdOptions {
  /** False in Restricted Mode: no program is run. */
  readonly mayRun: boolean;
  /** Said to the tracker when an issue is closed. */
  readonly reason?: string;
}

/** How `bd` is installed, as its own documentation says. */
export const BD_INSTALL = 'npm install -g @beads/bd';

/**
 * Closes or reopens an issue in the database of Beads, if it is not so already.
 * @throws {HumanError} if `bd` is not installed, may not run, or refuses
 */
export async function tellBeads(
  storyFile: string,
  id: string,
  done: boolean,
  { reason, ...access }: TrackerAccess,
): Promise<{ readonly hasChanged: boolean }> {
  const bd = await requireBd(storyFile, access);
  if ((await bd.isClosed(id)) === done) {
    return { hasChanged: false };
  }
  await (done ? bd.close(id, reason ?? 'Marked as done with Ralph Fresh') : bd.reopen(id));
  return { hasChanged: true };
}

/** @throws {HumanError} if it is not installed, or nothing may run */
export async function requireBd(
  storyFile: string,
  { mayRun, ...options }: Omit<TrackerAccess, 'reason'>,
): Promise<Bd> {
  if (!mayRun) {
    throw new HumanError(
      say(
        'These issues are in the database of Beads, which only its program bd may change. Trust this folder first: in Restricted Mode, nothing is run.',
      ),
    );
  }
  const bd = await Bd.find(storyFile, options);
  if (bd === undefined) {
    throw new HumanError(
      say(
        'These issues are in the database of Beads ({0}), of which {1} is only a copy, and its program bd was not found. Install it: {2}',
        (await beadsDatabase(storyFile)) ?? '.beads',
        storyFile,
        BD_INSTALL,
      ),
    );
  }
  return bd;
}
