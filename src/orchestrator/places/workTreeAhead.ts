import type { GitRepository, Head, WorkTreeStatus } from '../git/git.ts';

interface Answers {
  readonly status: Promise<WorkTreeStatus>;
  readonly head: Promise<Head>;
}

/**
 * The status of a work tree and its HEAD, queried from git before they are needed: while nobody works there, the
 * answers remain valid.
 */
export class WorkTreeAhead {
  private readonly git: GitRepository;
  private asked: Answers | undefined;

  constructor(git: GitRepository) {
    this.git = git;
  }

  /**
   * Starts a query. A query in progress was started too early.
   * @param since somebody has worked since this commit, so HEAD is needed first (see `GitRepository.headAndBranch`)
   */
  ask(since?: string): Answers {
    const first = since === undefined ? undefined : this.git.headAndBranch(since);
    const status = this.git.status();
    const head = first ?? status.catch(() => this.git.headAndBranch());
    // A failure is handled where the answer is used.
    for (const answer of [status, head]) {
      answer.catch(() => undefined);
    }
    this.asked = { status, head };
    return this.asked;
  }

  /** HEAD, for those who need it at once; `undefined` if there is no query, or somebody has worked since. */
  head(): Promise<Head> | undefined {
    return this.asked?.head;
  }

  /** The status, which is kept until it is read; starts a query if there is none. */
  now(): Promise<WorkTreeStatus> {
    return (this.asked ?? this.ask()).status;
  }

  /** Takes the status, once; `undefined` if there is no query, or somebody has worked since. */
  take(): Promise<WorkTreeStatus> | undefined {
    const { asked } = this;
    this.asked = undefined;
    return asked?.status;
  }
}
