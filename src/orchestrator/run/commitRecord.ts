import { messageOf } from '../../base/messageOf.ts';
import type { GitRepository } from '../git/git.ts';
import type { Journal } from '../journal/journal.ts';
import type { RunState } from '../journal/runState.ts';
import type { Snapshot } from '../places/snapshot.ts';

/** Where commits come from, and since which commit they are new. */
export interface CommitOrigin {
  readonly iteration: number;
  readonly storyId?: string | undefined;
  readonly since?: string | undefined;
}

/**
 * Writes the commits of an iteration into the journal, oldest first; a warning when git cannot be read.
 * @returns how many there are
 */
export async function recordCommits(
  journal: Journal,
  git: GitRepository,
  origin: CommitOrigin & {
    /** HEAD now; nothing is asked of git when it is `since`. */
    readonly until?: string | undefined;
    /** Commits that are in the journal already. */
    readonly known?: readonly { readonly hash: string }[];
  },
): Promise<number> {
  const { iteration, storyId, since, until, known = [] } = origin;
  if (until !== undefined && until === since) {
    return 0;
  }
  try {
    if (since === undefined && until === undefined && (await git.head()) === undefined) {
      return 0; // Not one commit yet: git calls that an error.
    }
    const recorded = new Set(known.map(({ hash }) => hash));
    const all = await git.commits({
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { at: until }),
    });
    const commits = all.filter(({ hash }) => !recorded.has(hash));
    for (const { hash, subject, author } of commits.reverse()) {
      journal.append({
        type: 'commit.recorded',
        iteration,
        ...(storyId === undefined ? {} : { storyId }),
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
      detail: messageOf(error).slice(0, 2_000),
      iteration,
    });
    return 0;
  }
}

/** Records the commits of an iteration after which git could not be read, as soon as it can. */
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
      until: head,
      known: run.state().commits,
    });
  }
}
