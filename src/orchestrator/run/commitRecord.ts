import { saidOf } from '../../base/messageOf.ts';
import { withTexts } from '../../base/say.ts';
import type { GitRepository } from '../git/git.ts';
import type { Journal } from '../journal/journal.ts';
import type { RunState } from '../journal/runState.ts';
import type { Snapshot } from '../places/snapshot.ts';

/** Where commits come from, and the commit after which they are new. */
export interface CommitOrigin {
  readonly iteration: number;
  readonly storyId?: string | undefined;
  readonly since?: string | undefined;
  /** The last one that comes from there, '' for none; absent: HEAD. */
  readonly until?: string | undefined;
}

/**
 * Writes the commits of an iteration to the journal, oldest first; a warning if git cannot be read.
 * @returns the number of commits
 */
export async function recordCommits(
  journal: Journal,
  git: GitRepository,
  origin: CommitOrigin & {
    /** Commits that are already in the journal. */
    readonly known?: readonly { readonly hash: string }[];
  },
): Promise<number> {
  const { iteration, storyId, since, until, known = [] } = origin;
  if (until !== undefined && (until === since || until === '')) {
    return 0;
  }
  try {
    if (since === undefined && until === undefined && (await git.head()) === undefined) {
      return 0; // Not a single commit yet: git reports that as an error.
    }
    const recorded = new Set(known.map(({ hash }) => hash));
    const all =
      since !== undefined && until !== undefined
        ? (await git.difference(since, until)).added
        : await git.commits({ since, at: until });
    const commits = all.filter(({ hash }) => !recorded.has(hash));
    for (const { hash, subject, author } of commits.toReversed()) {
      journal.append({
        type: 'commit.recorded',
        iteration,
        storyId,
        hash,
        subject: subject.slice(0, 500),
        author: author.slice(0, 200),
      });
    }
    return commits.length;
  } catch (error) {
    journal.append({
      type: 'warning',
      code: 'gitUnreadable',
      detail: withTexts(saidOf(error), text => text.slice(0, 2_000)),
      iteration,
    });
    return 0;
  }
}

/** Records the commits of an earlier iteration as soon as git can be read again. */
export async function recordOwedCommits(
  run: {
    readonly journal: Journal;
    state(): Pick<RunState, 'commits'>;
    owedCommits: CommitOrigin | undefined;
  },
  git: GitRepository,
  { gitProblem, head }: Snapshot,
): Promise<void> {
  const { owedCommits } = run;
  if (owedCommits !== undefined && gitProblem === undefined) {
    run.owedCommits = undefined;
    await recordCommits(run.journal, git, {
      ...owedCommits,
      until: owedCommits.until ?? head,
      known: run.state().commits,
    });
  }
}
