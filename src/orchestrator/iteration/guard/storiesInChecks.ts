import path from 'node:path';
import { say, sentences, type Words } from '../../../base/say.ts';
import { shorten } from '../../../base/text.ts';
import { handledIn } from '../../journal/runState.ts';
import type { Run } from '../../run/run.ts';
import { relativePath } from '../../run/runWork.ts';
import type { Scope } from '../../run/scope.ts';
import { warn } from '../../run/warn.ts';
import { readStoryBytes } from '../../stories/storyFile.ts';
import { type KeptVersion, readVersion, undoForbidden } from './guarding.ts';

type GuardedRun = Pick<Run, 'branch' | 'config' | 'files' | 'requests' | 'state'>;

/**
 * The story file while the checks of an iteration run. Unlike its agent, they have no story of their own: what they
 * change in it is undone before somebody judges by it, as far as people have not asked for it meanwhile.
 */
export class StoriesInChecks {
  private readonly run: GuardedRun;
  private readonly scope: Scope;
  private readonly storyFile: string;
  private readonly kept: KeptVersion;
  /** What people had ticked before, which the file has already. */
  private readonly handledBefore: ReadonlyMap<string, boolean>;
  private readonly changedBy = new Set<string>();
  private readonly problems: Words[] = [];

  private constructor(run: GuardedRun, scope: Scope, storyFile: string, kept: KeptVersion) {
    this.run = run;
    this.scope = scope;
    this.storyFile = storyFile;
    this.kept = kept;
    this.handledBefore = handledIn(run.state(), scope.iteration);
  }

  /** @returns `undefined` if there is nothing to hold, or people want no guard */
  static async hold(run: GuardedRun, scope: Scope): Promise<StoriesInChecks | undefined> {
    const { storyFile } = scope.place;
    const kept =
      storyFile === undefined || run.config.guard === 'off'
        ? undefined
        : await readVersion(storyFile);
    return storyFile === undefined || kept === undefined
      ? undefined
      : new StoriesInChecks(run, scope, storyFile, kept);
  }

  /** Undoes what this check has changed. */
  async restore(command: string): Promise<void> {
    const now = await readStoryBytes(this.storyFile);
    if (now?.equals(this.kept.bytes) || (await this.isOnOtherBranch())) {
      return;
    }
    const undone = await undoForbidden(this.run, this.scope, {
      kept: this.kept,
      handled: () => this.handledMeanwhile(),
      restores: true,
      wantsWhole: true,
    });
    if (undone !== undefined) {
      this.changedBy.add(command);
      this.problems.push(...undone.problems);
    }
  }

  /** Tells the person, once for all checks. */
  tell(): void {
    const { changedBy, problems, run, scope, storyFile } = this;
    if (changedBy.size === 0) {
      return;
    }
    const file = relativePath(run.files.workspace, storyFile);
    const [first = file] = file.split('/');
    const folder = first === '..' ? path.basename(file) : first;
    const checks = shorten([...changedBy].join(', '), 300);
    warn(
      scope,
      'checkChangedStories',
      problems.length === 0
        ? say(
            'The check "{0}" changed the story file {1}, which was restored: what a check does to it does not count. Let the check leave it alone, for example with "git clean -e {2}", or commit the story file.',
            checks,
            file,
            folder,
          )
        : sentences([
            say(
              'The check "{0}" changed the story file {1}, which could not be restored.',
              checks,
              file,
            ),
            ...problems,
          ]),
    );
  }

  /** Then the file is that of the other branch, and written there it would keep git from going back. */
  private async isOnOtherBranch(): Promise<boolean> {
    const { run, scope } = this;
    return scope.lane === undefined && (await scope.place.git.branch()) !== run.branch;
  }

  private handledMeanwhile(): ReadonlyMap<string, boolean> {
    const { handledBefore, run, scope } = this;
    const now = handledIn(run.state(), scope.iteration);
    return new Map([...now].filter(([id, done]) => handledBefore.get(id) !== done));
  }
}
