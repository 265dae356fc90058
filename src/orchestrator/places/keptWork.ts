import path from 'node:path';
import { messageOf } from '../../base/messageOf.ts';
import { type Message, say, sentences } from '../../base/say.ts';
import { unhurried } from '../git/gitPatience.ts';
import { gitResult } from '../git/runGit.ts';
import { ALONE, withObjects } from '../git/sharedClone.ts';
import { PlaceFiles, type PlaceRecord } from './placeFiles.ts';
import { type Holding, inspectPlace, noRecord, reason, type Tip } from './placeHolding.ts';

/** Hashes in one command line. */
const CHUNK = 200;

/** What was made safe in the user's repository. */
export interface Kept {
  /** HEAD of the place; absent if there is no commit, or it could not be kept. */
  readonly head?: string;
  /** Our commit of what was not committed. */
  readonly uncommitted?: string;
  /** The files in that commit, from the top folder. */
  readonly files: readonly string[];
  /** The refs in the user's repository with commits that were on no way to HEAD. */
  readonly others: readonly string[];
  /** What could not be kept, and why. The place still has it. */
  readonly problem?: Message;
}

/**
 * Makes what an agent left in its place safe in the user's repository: HEAD under `ref`, uncommitted changes as a
 * commit of ours on top of it under `<ref>-uncommitted`, and what other branches, tags and stashes of the place have
 * under `<ref>-branches/` and `<ref>-others/`. Files that git ignores are not kept; changes of nothing but the story
 * file and the progress log are no uncommitted work. A stop does not hurry it. Never throws.
 *
 * @param userRoot top folder of the user's work tree
 * @param ref full name (`refs/ralph-fresh/…`)
 */
export async function keepWork(
  place: { readonly root: string },
  userRoot: string,
  ref: string,
): Promise<Kept> {
  try {
    const files = PlaceFiles.of(place.root);
    const record = await files.readRecord();
    if (record === undefined) {
      return { files: [], others: [], problem: noRecord(files) };
    }
    return await unhurried(async () =>
      keepHolding(files, userRoot, ref, await inspectPlace(files, userRoot, record)),
    );
  } catch (error) {
    const problem = say('{0} cannot be read: {1}', place.root, reason(messageOf(error)));
    return { files: [], others: [], problem };
  }
}

/** {@link keepWork}, of what was found. */
export async function keepHolding(
  files: PlaceFiles,
  userRoot: string,
  ref: string,
  holding: Holding,
): Promise<Kept> {
  const { head, tips, uncommitted } = holding;
  const wanted = [
    ...(head === undefined ? [] : [{ ref, hash: head }]),
    ...(uncommitted === undefined ? [] : [{ ref: `${ref}-uncommitted`, hash: uncommitted.commit }]),
    ...tips.map(tip => ({ ref: refOfTip(ref, tip), hash: tip.hash })),
  ];
  const problems = [...holding.problems];
  const safe = new Set<string>();
  if ((await bring(userRoot, files, wanted)) === undefined) {
    wanted.forEach(one => void safe.add(one.ref));
  } else {
    // One that cannot be read does not take the others with it.
    for (const one of wanted) {
      const refused = await bring(userRoot, files, [one]);
      if (refused === undefined) {
        safe.add(one.ref);
      } else {
        problems.push(say('git cannot keep {0}: {1}', one.ref, refused));
      }
    }
  }
  const isKept = uncommitted !== undefined && safe.has(`${ref}-uncommitted`);
  const record = await files.readRecord();
  if (isKept && record !== undefined) {
    await files.writeRecord({ ...record, kept: uncommitted });
  }
  return {
    head: safe.has(ref) ? head : undefined,
    uncommitted: isKept ? uncommitted.commit : undefined,
    files: isKept ? holding.files : [],
    others: tips.map(tip => refOfTip(ref, tip)).filter(name => safe.has(name)),
    problem: problems.length === 0 ? undefined : sentences(problems),
  };
}

/** Whether refs of the user's repository hold everything that was found, so that the place may go. */
export async function isHeld(
  files: PlaceFiles,
  userRoot: string,
  record: PlaceRecord,
  { head, problems, tips, uncommitted }: Holding,
): Promise<boolean> {
  // When the place was prepared, a ref had it.
  const own = uncommitted?.tree === record.given ? undefined : uncommitted;
  if (problems.length > 0 || (own !== undefined && own.tree !== record.kept?.tree)) {
    return false;
  }
  const commits = [head, ...tips.map(({ hash }) => hash), own && record.kept?.commit].filter(
    hash => hash !== undefined,
  );
  const moreEnv = withObjects(path.join(files.gitDir, 'objects'));
  for (let at = 0; at < commits.length; at += CHUNK) {
    const chunk = commits.slice(at, at + CHUNK);
    const args = ['rev-list', '--max-count=1', ...chunk, '--not', '--all', '--'];
    const { code, stdout } = await gitResult(userRoot, args, { moreEnv });
    if (code !== 0 || stdout.length > 0) {
      return false;
    }
  }
  return true;
}

/** @returns git's reason if it refuses */
async function bring(
  userRoot: string,
  { reader }: PlaceFiles,
  wanted: readonly { readonly ref: string; readonly hash: string }[],
): Promise<string | undefined> {
  if (wanted.length === 0) {
    return undefined;
  }
  const args = [
    ...ALONE,
    // The second version of the protocol gives any commit by its hash.
    ...['-c', 'protocol.version=2', '-c', 'protocol.file.allow=always'],
    ...['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'],
    ...['--no-recurse-submodules', '--no-prune', '--no-write-commit-graph', '--force', reader],
    ...wanted.map(({ hash, ref }) => `+${hash}:${ref}`),
  ];
  const { code, stderr } = await gitResult(userRoot, args, { writes: true });
  return code === 0 ? undefined : reason(stderr);
}

function refOfTip(ref: string, { hash, name }: Tip): string {
  const [, branch] = /^refs\/heads\/(.+)$/.exec(name) ?? [];
  const folder = branch === undefined ? 'others' : 'branches';
  const own = branch ?? name.replace(/^refs\//, '');
  // A file in the place may have a name that no ref can have.
  return `${ref}-${folder}/${isRefName(own) ? own : hash}`;
}

function isRefName(name: string): boolean {
  return (
    /^(?!\.)[\w.+@-]+(?:\/(?!\.)[\w.+@-]+)*$/.test(name) &&
    !/\.\.|@\{|\.(?:lock)?(?:\/|$)/.test(name)
  );
}
