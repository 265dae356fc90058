import path from 'node:path';
import type { RunState } from '../journal/runState.ts';
import { progressFileOf, type RunWork } from '../run/runWork.ts';
import { realPlace, workTreeRoot } from '../stories/outsideLinks.ts';
import { type Uncommitted, uncommittedOf } from './prompt/uncommitted.ts';

/** The repository's root, and the places for notes of the loop and its agents; absolute paths. */
export function ownPlaces(run: RunWork): {
  readonly own: readonly string[];
  readonly root: string;
} {
  const { files, planDir, storyFile } = run;
  // Git reports paths below the real root, so ours must be real paths, too.
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

/** Who changed the files that git reports as uncommitted. */
export function uncommittedIn(
  run: RunWork & { state(): RunState },
  changed: readonly string[],
): Uncommitted {
  const { iteration, uncommittedBefore } = run.state();
  return uncommittedOf(changed, {
    ...ownPlaces(run),
    // A run of an older version has not recorded them.
    before: uncommittedBefore ?? (iteration === 0 ? undefined : []),
  });
}
