import type { GitRepository } from './git.ts';
import type { JournalWriter } from './run/journal.ts';

/**
 * Writes the commits of an iteration into the journal, oldest first; a warning when git cannot be read.
 * @param origin where the commits come from, and `since` which commit they are new
 * @returns how many there are
 */
export async function recordCommits(
  journal: JournalWriter,
  git: GitRepository,
  origin: {
    readonly iteration: number;
    readonly storyId?: string | undefined;
    readonly since?: string | undefined;
  },
): Promise<number> {
  const { iteration, storyId, since } = origin;
  try {
    const commits = await git.commits(since === undefined ? {} : { since });
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
      detail: String(error).slice(0, 2_000),
      iteration,
    });
    return 0;
  }
}
