import type { GitRepository, WorkTreeStatus } from '../git/git.ts';

/**
 * The status of a work tree, queried from git before it is needed: while nobody works there, the answer remains
 * valid.
 */
export class WorkTreeAhead {
  private readonly git: GitRepository;
  private status: Promise<WorkTreeStatus> | undefined;

  constructor(git: GitRepository) {
    this.git = git;
  }

  /** Starts a query, for the next handoff. A query in progress was started too early. */
  ask(): void {
    this.status = this.git.status();
    // A failure is handled where the answer is used.
    this.status.catch(() => undefined);
  }

  /** Whether there is a query, and nobody has worked since. */
  get isAsked(): boolean {
    return this.status !== undefined;
  }

  /** The answer, which is kept until it is read; starts a query if there is none. */
  now(): Promise<WorkTreeStatus> {
    if (this.status === undefined) {
      this.ask();
    }
    return this.status ?? this.git.status();
  }

  /** Takes the answer, once; `undefined` if there is no query, or somebody has worked since. */
  take(): Promise<WorkTreeStatus> | undefined {
    const { status } = this;
    this.status = undefined;
    return status;
  }
}
