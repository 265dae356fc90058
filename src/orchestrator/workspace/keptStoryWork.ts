import { asHumanError } from '../git/gitErrors.ts';
import { gitResult } from '../git/runGit.ts';
import { readDecisions } from '../journal/journal.ts';
import { type Ref, readRefs } from './refs.ts';
import { isRunId, type RunFiles } from './runFiles.ts';
import { partsOfWorkRef, tipRefsOf, workRefsOf } from './workRefs.ts';

const FULL_HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** Hashes in one command line. */
const CHUNK = 200;
/** Commits of a story that are listed. */
export const MAX_COMMITS = 1_000;

/** A ref that holds work of an agent. */
export interface WorkRef extends Ref {
  readonly runId: string;
  readonly iteration: number;
  /** The branch of its run has the commit, or it has landed in another form: squashed, or with other parents. */
  readonly isLanded: boolean;
}

/** A commit, for people. */
export interface KeptCommit {
  readonly hash: string;
  readonly subject: string;
}

/** The work on a story that refs of the repository hold. */
export interface KeptStoryWork {
  /** As in the story file; if its journal is gone, its part of the name of the ref. */
  readonly storyId: string;
  /** In the order of runs and iterations. */
  readonly refs: readonly WorkRef[];
  /** Those of the commits that have not landed, newest first, at most {@link MAX_COMMITS}; without merges of ours. */
  readonly commits: readonly KeptCommit[];
  /** All of it has landed. */
  readonly isLanded: boolean;
}

/**
 * The work of agents with places of their own that refs hold, by story, in the order in which they were begun.
 * Changes nothing.
 * @throws {HumanError} if the repository cannot be read
 */
export async function keptStoryWork(files: RunFiles): Promise<KeptStoryWork[]> {
  const { workspace } = files;
  const { landed, refs, storyIds } = await readWorkRefs(files);
  const byStory = new Map<string, WorkRef[]>();
  for (const ref of refs) {
    const storyId = storyIds.get(ref.name) ?? partsOfWorkRef(workspace, ref.name)?.story ?? '';
    byStory.set(storyId, [...(byStory.get(storyId) ?? []), ref]);
  }
  const open = refs.filter(({ isLanded }) => !isLanded);
  const elsewhere = open.length === 0 ? [] : await otherTips(workspace, open);
  const works: KeptStoryWork[] = [];
  for (const [storyId, own] of byStory) {
    const ownOpen = own.filter(({ isLanded }) => !isLanded);
    const commits = await commitsOf(workspace, ownOpen, [...landed, ...elsewhere]);
    works.push({ storyId, refs: own, commits, isLanded: ownOpen.length === 0 });
  }
  return works;
}

/** The refs with the work of agents, and what has landed of it. */
export async function readWorkRefs(files: RunFiles): Promise<{
  readonly refs: readonly WorkRef[];
  /** Story ids as in the story file, by the name of the ref. */
  readonly storyIds: ReadonlyMap<string, string>;
  /** Full hashes; their histories have landed, or were there before the work. */
  readonly landed: readonly string[];
}> {
  const { workspace } = files;
  const found = (await readRefs(workspace, workRefsOf(workspace))).flatMap(ref => {
    const parts = partsOfWorkRef(workspace, ref.name);
    return parts === undefined ? [] : [{ ...ref, ...parts }];
  });
  const landed = new Set<string>();
  const branches = new Set<string>();
  const stories = new Map<string, string>();
  let isAllTold = true;
  for (const runId of new Set(found.map(ref => ref.runId))) {
    const told = isRunId(runId) ? await landedIn(files, runId) : undefined;
    isAllTold &&= found.every(
      ref => ref.runId !== runId || told?.bases.has(placeOf(runId, ref.iteration)),
    );
    for (const hash of [...(told?.heads ?? []), ...(told?.bases.values() ?? [])]) {
      landed.add(hash);
    }
    for (const branch of told?.branches ?? []) {
      branches.add(`refs/heads/${branch}`);
    }
    for (const [place, storyId] of told?.stories ?? []) {
      stories.set(place, storyId);
    }
  }
  if (found.length > 0) {
    const tips = tipRefsOf(workspace);
    for (const { commit, name } of await readRefs(workspace, tips, ...branches)) {
      // Git also finds branches below a name.
      if (branches.has(name) || name.startsWith(tips)) {
        landed.add(commit);
      }
    }
  }
  if (!isAllTold) {
    // Where some of it began is not known any more.
    for (const tip of await otherTips(workspace, found)) {
      landed.add(tip);
    }
  }
  const open = new Set(await unlanded(workspace, found, [...landed]));
  const refs = found
    .map(({ commit, iteration, name, runId }) => ({
      ...{ name, commit, runId, iteration },
      isLanded: !open.has(commit),
    }))
    .sort((a, b) => (a.runId < b.runId ? -1 : a.runId > b.runId ? 1 : a.iteration - b.iteration));
  const storyIds = new Map(
    found.flatMap(({ iteration, name, runId }) => {
      const storyId = stories.get(placeOf(runId, iteration));
      return storyId === undefined ? [] : [[name, storyId] as const];
    }),
  );
  return { refs, storyIds, landed: [...landed] };
}

/** What a run's journal says of its landings. */
async function landedIn(files: RunFiles, runId: string) {
  const stories = new Map<string, string>();
  const queued = new Map<number, string>();
  /** What was kept of a story, and the next agents of the story continue. */
  const continued = new Map<string, { readonly iteration: number; readonly commit: string }[]>();
  const heads: string[] = [];
  const bases = new Map<string, string>();
  const branches = new Set<string>();
  for (const event of await readDecisions(files.journalFile(runId))) {
    switch (event.type) {
      case 'run.started':
      case 'run.resumed':
        if (event.isolated && event.branch !== undefined) {
          branches.add(event.branch);
        }
        break;
      case 'iteration.started':
        if (event.storyId !== undefined) {
          stories.set(placeOf(runId, event.iteration), event.storyId);
        }
        break;
      case 'work.kept': {
        const { base, head, iteration, storyId = '', uncommitted } = event;
        if (isHash(base)) {
          bases.set(placeOf(runId, iteration), base);
        }
        const kept = [head, uncommitted].filter(isHash).map(commit => ({ iteration, commit }));
        continued.set(storyId, [...(continued.get(storyId) ?? []), ...kept]);
        break;
      }
      case 'landing.queued':
        queued.set(event.iteration, event.head);
        break;
      case 'landing.returned':
        if (event.reason === 'conflict') {
          // The next agent starts without it.
          continued.delete(event.storyId);
        }
        break;
      case 'landing.landed': {
        const { commit, iteration, storyId } = event;
        const earlier = (continued.get(storyId) ?? []).filter(kept => kept.iteration < iteration);
        heads.push(...[queued.get(iteration), commit].filter(isHash));
        heads.push(...earlier.map(kept => kept.commit));
        continued.delete(storyId);
        break;
      }
      default:
    }
  }
  return { stories, heads, bases, branches };
}

/**
 * The tips of branches and tags, also those of remotes, but not of those that hold such work because a person has
 * looked at it or rescued it: then it has still not landed.
 */
async function otherTips(dir: string, refs: readonly Ref[]): Promise<string[]> {
  const places = ['refs/heads/', 'refs/remotes/', 'refs/tags/'];
  const holders = new Set<string>();
  for (let at = 0; at < refs.length; at += CHUNK) {
    const contains = refs.slice(at, at + CHUNK).map(({ commit }) => `--contains=${commit}`);
    for (const { name } of await readRefs(dir, ...contains, ...places)) {
      holders.add(name);
    }
  }
  const all = await readRefs(dir, ...places);
  return [...new Set(all.filter(({ name }) => !holders.has(name)).map(({ commit }) => commit))];
}

/** The commits that these refs have and `landed` does not. */
async function unlanded(
  dir: string,
  refs: readonly Ref[],
  landed: readonly string[],
): Promise<string[]> {
  const args = ['rev-list', '--topo-order', '--stdin'];
  return (await askUnlanded(dir, args, { refs, landed })).split(/\r?\n/).filter(Boolean);
}

/** The newest of these commits, for people: one process, however many there are. */
async function commitsOf(
  dir: string,
  refs: readonly Ref[],
  landed: readonly string[],
): Promise<KeptCommit[]> {
  const args = [
    ...['log', '-z', '--topo-order', '--no-merges', `--max-count=${MAX_COMMITS}`],
    ...['--format=%H%x00%s', '--no-show-signature', '--no-color', '--stdin'],
  ];
  const fields = (await askUnlanded(dir, args, { refs, landed })).split('\0');
  return Array.from({ length: Math.floor(fields.length / 2) }, (_, index) => ({
    hash: fields[2 * index] ?? '',
    subject: fields[2 * index + 1] ?? '',
  }));
}

async function askUnlanded(
  dir: string,
  args: readonly string[],
  { landed, refs }: { readonly refs: readonly Ref[]; readonly landed: readonly string[] },
): Promise<string> {
  if (refs.length === 0) {
    return '';
  }
  const input = [
    ...refs.map(({ commit }) => commit),
    // A commit that the repository does not have any more excludes nothing.
    ...(await existing(dir, landed)).map(hash => `^${hash}`),
  ].join('\n');
  const { code, stderr, stdout } = await gitResult(dir, ['--no-optional-locks', ...args], {
    input: `${input}\n`,
  });
  if (code !== 0) {
    throw asHumanError(new Error(stderr.trim() || `git ${args[0]} ended with ${code}.`));
  }
  return stdout.toString('utf8');
}

async function existing(dir: string, hashes: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (let at = 0; at < hashes.length; at += CHUNK) {
    const { stdout } = await gitResult(dir, ['cat-file', '--batch-check'], {
      input: hashes
        .slice(at, at + CHUNK)
        // A tag may be an object of its own.
        .map(hash => `${hash}^{commit}\n`)
        .join(''),
    });
    for (const line of stdout.toString('utf8').split('\n')) {
      const [hash = '', type] = line.split(' ');
      if (type === 'commit') {
        found.push(hash);
      }
    }
  }
  return found;
}

function placeOf(runId: string, iteration: number): string {
  return `${runId}/${iteration}`;
}

function isHash(hash: string | undefined): hash is string {
  return hash !== undefined && FULL_HASH.test(hash);
}
