import { asHumanError, type Commit, GitRepository } from '../git/git.ts';
import { gitResult } from '../git/runGit.ts';
import { readDecisions } from '../journal/journal.ts';
import { type Ref, readRefs } from './refs.ts';
import { isRunId, type RunFiles } from './runFiles.ts';
import { partsOfWorkRef, tipRefsOf, workRefsOf } from './workRefs.ts';

const FULL_HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** Hashes in one command line. */
const CHUNK = 200;

/** A ref that holds work of an agent. */
export interface WorkRef extends Ref {
  readonly runId: string;
  readonly iteration: number;
  /** The branch of its run has the commit, or it has landed in another form: squashed, or with other parents. */
  readonly isLanded: boolean;
}

/** The work on a story that refs of the repository hold. */
export interface KeptStoryWork {
  /** As in the story file; if its journal is gone, its part of the name of the ref. */
  readonly storyId: string;
  /** In the order of runs and iterations. */
  readonly refs: readonly WorkRef[];
  /** Those of the commits that have not landed, newest first; without merges of ours. */
  readonly commits: readonly Commit[];
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
  const git = new GitRepository(workspace);
  return Promise.all(
    [...byStory].map(async ([storyId, own]) => {
      const open = own.filter(({ isLanded }) => !isLanded);
      const hashes = await unlanded(workspace, open, landed, ['--no-merges']);
      const commits = await Promise.all(
        hashes.map(async at => (await git.commits({ at, limit: 1 }))[0]),
      );
      return {
        storyId,
        refs: own,
        commits: commits.filter(commit => commit !== undefined),
        isLanded: open.length === 0,
      };
    }),
  );
}

/** The refs with the work of agents, and what has landed of it. */
export async function readWorkRefs(files: RunFiles): Promise<{
  readonly refs: readonly WorkRef[];
  /** Story ids as in the story file, by the name of the ref. */
  readonly storyIds: ReadonlyMap<string, string>;
  /** Full hashes; their histories have landed. */
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
  for (const runId of new Set(found.map(ref => ref.runId))) {
    const told = isRunId(runId) ? await landedIn(files, runId) : undefined;
    for (const hash of told?.heads ?? []) {
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
  const heads: string[] = [];
  const branches = new Set<string>();
  for (const event of await readDecisions(files.journalFile(runId))) {
    switch (event.type) {
      case 'run.started':
      case 'run.resumed':
        if (event.isolated && event.branch !== undefined) {
          branches.add(event.branch);
        }
        break;
      case 'work.kept':
        if (event.storyId !== undefined) {
          stories.set(placeOf(runId, event.iteration), event.storyId);
        }
        break;
      case 'landing.queued':
        queued.set(event.iteration, event.head);
        break;
      case 'landing.landed':
        heads.push(...[queued.get(event.iteration), event.commit].filter(isHash));
        break;
      default:
    }
  }
  return { stories, heads, branches };
}

/** The commits that these refs have and `landed` does not, newest first. */
async function unlanded(
  dir: string,
  refs: readonly Ref[],
  landed: readonly string[],
  options: readonly string[] = [],
): Promise<string[]> {
  if (refs.length === 0) {
    return [];
  }
  const input = [
    ...refs.map(({ commit }) => commit),
    // A commit that the repository does not have any more excludes nothing.
    ...(await existing(dir, landed)).map(hash => `^${hash}`),
  ].join('\n');
  const args = ['--no-optional-locks', 'rev-list', '--topo-order', ...options, '--stdin'];
  const { code, stderr, stdout } = await gitResult(dir, args, { input: `${input}\n` });
  if (code !== 0) {
    throw asHumanError(new Error(stderr.trim() || `git rev-list ended with ${code}.`));
  }
  return stdout
    .toString('utf8')
    .split(/\r?\n/)
    .filter(line => line !== '');
}

async function existing(dir: string, hashes: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (let at = 0; at < hashes.length; at += CHUNK) {
    const { stdout } = await gitResult(dir, ['cat-file', '--batch-check'], {
      input: hashes
        .slice(at, at + CHUNK)
        .map(hash => `${hash}\n`)
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
