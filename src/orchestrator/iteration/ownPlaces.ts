import path from 'node:path';
import type { RunState } from '../journal/runState.ts';
import { progressFileOf, type RunWork } from '../run/runWork.ts';
import { realPlace, workTreeRoot } from '../stories/outsideLinks.ts';
import { type Uncommitted, uncommittedOf } from './prompt/uncommitted.ts';

/** The repository's root, and what the loop and its agents keep notes in; absolute paths. */
export function ownPlaces(run: RunWork): {
  readonly own: readonly string[];
  readonly root: string;
} {
  const { files, planDir, storyFile } = run;
  // git names its files from the real root, so ours must be real, too.
  const real = (file: string) => realPlace(file) ?? file;
  const places = [path.join(files.workspace, '.omc'), progressFileOf(run), storyFile, planDir];
  return {
    root: workTreeRoot(real(files.workspace)),
    own: places.flatMap(place =>
      place === undefined
        ? []
        : [real(place), path.join(real(path.dirname(place)), path.basename(place))],
    ),
  };
}

/** Whose the files are that git says are uncommitted. */
export function uncommittedIn(
  run: RunWork & { state(): RunState },
  changed: readonly string[],
): Uncommitted {
  const { iteration, uncommittedBefore } = run.state();
  return uncommittedOf(changed, {
    ...ownPlaces(run),
    // A run of an older version has not noted them.
    before: uncommittedBefore ?? (iteration === 0 ? undefined : []),
  });
}
