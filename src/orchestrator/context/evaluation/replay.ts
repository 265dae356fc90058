import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import {
  fileHistory,
  isShallowClone,
  newestCommits,
  type PastCommit,
} from '../../git/fileHistory.ts';
import { runGit } from '../../git/runGit.ts';
import { blobSizes, blobTexts, treeFiles } from '../../git/treeFiles.ts';
import type { IndexedFile } from '../codeIndex.ts';
import { isModerate, isSourcePath } from '../sourceFile.ts';

/** A commit as a story: what it says, and which files it really changed. */
export interface ReplayedStory {
  readonly title: string;
  /** Paths of files that existed before. */
  readonly changed: ReadonlySet<string>;
}

/** A repository as it was before its newest commits, and these commits as stories. */
export interface Replay {
  readonly files: readonly IndexedFile[];
  readonly history: readonly PastCommit[];
  readonly stories: readonly ReplayedStory[];
}

/** A commit that changes more is no story. */
const MAX_CHANGED = 12;
/** How far back the history is read, in commits. */
const HISTORY = 4_000;

/**
 * Reads a repository as it was before its newest commits; what came later is only in the stories.
 * @param commits how many of the newest commits are replayed; merges do not count
 * @param skip how many even newer ones are left out
 * @throws {HumanError} if the repository has no more commits than that
 */
export async function replayOf(dir: string, commits: number, skip = 0): Promise<Replay> {
  const newest = await newestCommits(dir, commits, skip);
  const base = await parentOf(dir, newest.at(-1)?.hash ?? 'HEAD');
  if (base === undefined) {
    await requireOlderCommits(dir);
    throw new HumanError(
      newest.length < 2
        ? say(
            'The history of {0} is too short: there is nothing to learn from before its newest commit.',
            dir,
          )
        : say(
            'The history of {0} is too short: there is nothing to learn from before its newest commits. Give fewer than {1} with --commits.',
            dir,
            newest.length,
          ),
    );
  }
  const source = (await treeFiles(dir, base)).filter(({ path }) => isSourcePath(path));
  const sizes = await blobSizes(
    dir,
    source.map(({ blob }) => blob),
  );
  const tree = source.filter(({ blob }) => isModerate(sizes.get(blob) ?? 0));
  const texts = await blobTexts(
    dir,
    tree.map(({ blob }) => blob),
  );
  const files = tree.flatMap(({ path }, i) => {
    const text = texts[i];
    return text === undefined ? [] : [{ path, text }];
  });
  const known = new Set(files.map(({ path }) => path));
  const isKnown = (file: string): boolean => known.has(file);
  const history = await fileHistory(dir, { at: base, isKnown, limit: HISTORY });
  const stories = newest.flatMap(({ files: changed, subject }) => {
    const existing = new Set(changed.filter(isKnown));
    const isStory = existing.size > 0 && existing.size <= MAX_CHANGED;
    return isStory ? [{ title: subject, changed: existing }] : [];
  });
  return { files, history, stories };
}

async function parentOf(dir: string, commit: string): Promise<string | undefined> {
  const parent = await runGit(dir, 'rev-parse', '--verify', '--quiet', `${commit}^`);
  return parent.trim() || undefined;
}

/** @throws {HumanError} if this is a clone without them */
export async function requireOlderCommits(dir: string): Promise<void> {
  if (await isShallowClone(dir)) {
    throw new HumanError(
      say(
        '{0} is a shallow clone: it has only the newest commits, and nothing to learn from before them. Get the others with "git fetch --unshallow", then try again.',
        dir,
      ),
    );
  }
}
