import { runsOnFile, storyStates } from '../../presentation/storyState.ts';
import type { Folder } from '../folders/folder.ts';
import { readyCount } from './proposedLanes.ts';

/** How many stories of a folder can be worked on at the same time now, as far as the window knows. */
export function readyNow({ path, runs, stories }: Folder): number {
  const { current: run, states } = runs;
  const { current: file, list } = stories;
  return readyCount(list, storyStates(list, runsOnFile(file?.path ?? '', path, { run, states })));
}
