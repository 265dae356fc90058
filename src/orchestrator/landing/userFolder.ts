import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { HumanError, requireHuman } from '../../base/humanError.ts';
import { saidOf } from '../../base/messageOf.ts';
import { say } from '../../base/say.ts';
import type { Run } from '../run/run.ts';
import { progressFileOf } from '../run/runWork.ts';
import type { Scope } from '../run/scope.ts';
import { warn } from '../run/warn.ts';
import { setStoryDone } from '../stories/edit/edit.ts';
import { requireInside } from '../stories/outsideLinks.ts';
import { readStoryList } from '../stories/storyFile.ts';
import { storyNow } from '../stories/storyNow.ts';
import { hasEntries, type LandingStory, placeNow, withEntries } from './sharedFiles.ts';

/**
 * Writes into the user's folder what a landing did not bring there with the commit, because git does not track these
 * files, or the work tree does not follow the branch: the tick of the story, and the new entries of the progress log.
 * The same twice changes nothing.
 * @param landed.wasTicked whether the story was ticked there when it had just landed: then a person has set it to not
 * done since
 * @returns whether the story is ticked there
 */
export async function bringToFolder(
  run: Run,
  scope: Scope & { readonly story: LandingStory },
  { progressText, wasTicked }: { readonly progressText: string; readonly wasTicked: boolean },
): Promise<boolean> {
  const isTicked = wasTicked || (await tick(run, scope));
  await appendProgress(run, scope, progressText);
  return isTicked;
}

/** Whether a story is ticked in the user's folder. */
export async function isTickedInFolder(
  { storyFile }: Pick<Run, 'storyFile'>,
  story: LandingStory,
): Promise<boolean> {
  const list = storyFile === undefined ? undefined : await readStoryList(storyFile);
  return list !== undefined && storyNow(list.stories, story)?.done === true;
}

async function tick(
  { storyFile }: Pick<Run, 'storyFile'>,
  scope: Scope & { readonly story: LandingStory },
): Promise<boolean> {
  if (storyFile === undefined) {
    return false;
  }
  const { story } = scope;
  try {
    // A person, or another agent's report, may add stories at the same time.
    await setStoryDone(storyFile, story, true, {
      find: stories => placeNow(storyFile, stories, story),
    });
    return true;
  } catch (error) {
    requireHuman(error);
    // The journal says that it has landed, which counts.
    warn(scope, 'tickNotWritten', error.said);
    return false;
  }
}

/** Appends to the progress log in the user's folder what it does not have yet. */
export async function appendProgress(
  run: Run,
  scope: Pick<Scope, 'append'>,
  text: string,
): Promise<void> {
  if (text.trim() === '') {
    return;
  }
  const file = progressFileOf(run);
  try {
    requireInside(file);
    await mkdir(path.dirname(file), { recursive: true });
    const { O_APPEND, O_CREAT, O_NONBLOCK = 0, O_RDWR } = constants;
    const handle = await open(file, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK, 0o644);
    try {
      if (!(await handle.stat()).isFile()) {
        throw new HumanError(say('{0} is not a file. Put a text file there, or remove it.', file));
      }
      const before = await handle.readFile();
      // As a landing writes it, so that the branch can follow later.
      const after = withEntries(before, text);
      if (!hasEntries(before, text) && after.subarray(0, before.length).equals(before)) {
        await handle.appendFile(after.subarray(before.length));
      }
    } finally {
      await handle.close();
    }
  } catch (error) {
    warn(scope, 'progressNotWritten', saidOf(error));
  }
}
