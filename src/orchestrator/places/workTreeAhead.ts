import type { GitRepository, WorkTreeStatus } from '../git/git.ts';

/** The state of a work tree, asked of git before it is needed: while nobody works there, git's answer stays true. */
export class WorkTreeAhead {
  private readonly git: GitRepository;
  private status: Promise<WorkTreeStatus> | undefined;

  constructor(git: GitRepository) {
    this.git = git;
  }

  /** Asks git, for the next handoff. A question that is open already was asked too early. */
  ask(): void {
    this.status = this.git.status();
    // Whoever takes it hears of a failure.
    this.status.catch(() => undefined);
  }

  /** Whether it was asked for, and nobody has worked since. */
  get isAsked(): boolean {
    return this.status !== undefined;
  }

  /** What was asked for, which stays for whoever takes it; asks now when nobody has. */
  now(): Promise<WorkTreeStatus> {
    if (this.status === undefined) {
      this.ask();
    }
    return this.status ?? this.git.status();
  }

  /** What was asked for, once; `undefined` when nothing was, or somebody has worked since. */
  take(): Promise<WorkTreeStatus> | undefined {
    const { status } = this;
    this.status = undefined;
    return status;
  }
}
