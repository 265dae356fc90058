import { saidOf } from '../../base/messageOf.ts';
import { type Message, say, type Words, withTexts } from '../../base/say.ts';
import { shellWord } from '../../base/shellWord.ts';
import { shorten } from '../../base/text.ts';
import { type AstrayReason, type BranchFacts, branchRule } from '../git/branchRule.ts';
import { commitsElsewhere, mergeAll, type Tip } from '../git/commitsElsewhere.ts';
import type { Commit } from '../git/git.ts';
import { unfinishedOperation } from '../git/operations.ts';
import { changedPaths } from '../git/treeCommit.ts';
import {
  bringBack,
  commitsOfDeleted,
  type HeadNow,
  lookAtWork,
  type WorkPlace,
} from '../git/workBranch.ts';
import type { Scope } from '../run/scope.ts';
import type { Verdict } from '../run/verdict.ts';

/** Maximum number of listed commits that were left elsewhere. */
const MAX_NAMED = 50;
export const SHORT_HASH = 10;

/**
 * Checks whether an iteration's work is on the run's branch, and brings it back there if git can do so without
 * losing anything. Work on another branch does not count as done.
 *
 * @param now where HEAD is
 * @returns what ends the run, if the work remains elsewhere
 */
export async function keepToBranch(
  scope: Scope,
  place: Omit<WorkPlace, 'gitDir'>,
  now: HeadNow,
): Promise<Verdict | undefined> {
  const { iteration } = scope;
  const { dir: workspace, git, gitDir } = scope.place;
  const found = await lookAtWork(workspace, { ...place, gitDir: gitDir || undefined }, git, now);
  const { facts } = found;
  const isOwnPlace = scope.lane !== undefined;
  const isRebasing =
    !isOwnPlace &&
    gitDir !== undefined &&
    facts.found === '' &&
    unfinishedOperation(gitDir) === 'rebase';
  const rule = branchRule({ ...facts, isOwnPlace, isRebasing });
  if (rule.kind === 'stay') {
    return undefined;
  }
  const about = { start: place.head, missing: found.missing, iteration, workspace };
  if (rule.kind === 'end') {
    const message = sentenceOf(rule.reason, facts, { ...about, detail: now.problem });
    // The commits of a rebase are copies; once it is aborted, nothing of the branch is missing.
    const elsewhere = isRebasing ? { ...found, commits: [] } : found;
    record(scope, elsewhere, { broughtBack: false, reason: rule.reason });
    return { kind: 'astray', message };
  }
  try {
    await bringBack(workspace, facts.wanted, rule.kind);
  } catch (error) {
    const detail = withTexts(saidOf(error), text => shorten(text, 600));
    record(scope, found, { broughtBack: false, reason: 'refused', detail });
    return { kind: 'astray', message: sentenceOf('refused', facts, { ...about, detail }) };
  }
  // What is left in a place of an agent is not in the person's repository.
  const isDeleted = facts.tip === 'gone' && scope.lane === undefined;
  const onNoBranch = isDeleted
    ? await commitsOfDeleted(workspace, { ...place, branch: facts.wanted }).catch(() => [])
    : [];
  record(scope, found, { broughtBack: true, onNoBranch });
  return undefined;
}

/** A story that an iteration leaves, as far as its place is concerned. */
export interface Leaving {
  /** Its agent says that it is done. */
  readonly isClaimed: boolean;
  /** What the last iteration of the story made elsewhere. */
  readonly earlier: readonly Pick<Tip, 'branch' | 'hash'>[];
}

/**
 * An iteration may have committed elsewhere and returned to the run's branch, which got nothing but notes from it. In a
 * place of its own, the commits are brought back if git can do that. In a person's tree, they are named, and if the
 * agent says that its story is done, they end the run. An iteration whose work is on the branch may have left an attempt
 * elsewhere.
 *
 * @param now HEAD, on the run's branch
 * @returns what ends the run, if the work remains elsewhere
 */
export async function keepReturned(
  scope: Scope,
  place: Omit<WorkPlace, 'gitDir'>,
  now: { readonly branch: string; readonly head: string },
  { earlier, isClaimed }: Leaving,
): Promise<Verdict | undefined> {
  const { iteration, lane } = scope;
  const { dir: workspace, gitDir } = scope.place;
  // An unfinished operation may be about to merge them.
  if (!gitDir || unfinishedOperation(gitDir) !== undefined) {
    return undefined;
  }
  const { isOwn } = place;
  const tips = await commitsElsewhere(
    workspace,
    place.startedAt,
    { ...now, gitDir, isOwn },
    earlier,
  );
  const [newest] = tips;
  if (newest === undefined) {
    return undefined;
  }
  const isOnlyNotes =
    place.head === now.head ||
    (place.head !== undefined &&
      (await changedPaths(workspace, place.head, now.head)).every(isOwn));
  if (!isOnlyNotes) {
    return undefined;
  }
  const facts = { found: newest.branch, wanted: place.branch };
  const found = { facts, commits: tips };
  if (lane !== undefined && (await mergeAll(workspace, now.head, tips))) {
    record(scope, found, { broughtBack: true });
    return undefined;
  }
  record(scope, found, { broughtBack: false, reason: isClaimed ? 'notMerged' : 'notClaimed' });
  const about = { iteration, workspace, missing: newest.hash };
  return isClaimed ? { kind: 'astray', message: sentenceOf('notMerged', facts, about) } : undefined;
}

function record(
  scope: Scope,
  {
    commits,
    facts,
  }: { readonly commits: readonly NamedCommit[] } & {
    readonly facts: Pick<BranchFacts, 'found' | 'wanted'>;
  },
  end: {
    readonly broughtBack: boolean;
    readonly reason?: AstrayReason | 'notClaimed';
    readonly detail?: Words;
    readonly onNoBranch?: readonly Commit[];
  },
): void {
  const { onNoBranch = [], ...others } = end;
  scope.append({
    type: 'branch.left',
    iteration: scope.iteration,
    branch: facts.wanted,
    found: facts.found,
    commits: named(commits),
    onNoBranch: onNoBranch.length === 0 ? undefined : named(onNoBranch),
    ...others,
  });
}

type NamedCommit = Pick<Commit, 'hash' | 'subject'>;

function named(commits: readonly NamedCommit[]): { hash: string; subject: string }[] {
  return commits
    .slice(0, MAX_NAMED)
    .map(({ hash, subject }) => ({ hash, subject: subject.slice(0, 500) }));
}

function sentenceOf(
  reason: AstrayReason,
  { found, wanted }: Pick<BranchFacts, 'found' | 'wanted'>,
  about: {
    readonly iteration: number;
    readonly workspace: string;
    /** The commit at which the iteration started. */
    readonly start?: string | undefined;
    /** The commit that must be merged. */
    readonly missing?: string | undefined;
    readonly detail?: Words | undefined;
  },
): Message {
  const { detail = '', iteration, workspace } = about;
  const start = about.start?.slice(0, SHORT_HASH) ?? 'HEAD';
  const left = about.missing?.slice(0, SHORT_HASH);
  const branch = nameOf(wanted);
  const other = nameOf(found);
  // A switch abandons a detached HEAD, so it must get a name first.
  const merge = found === '' ? 'git branch rescued; ' : '';
  const source = found === '' ? 'rescued' : shellWord(found);
  const sentences: Readonly<Record<AstrayReason, Message>> = {
    repositoryGone: say(
      'The git repository of {0} has been missing since iteration {1}, and the restore points with it. Nothing further was started, and nothing of that iteration counts as done. Restore the folder .git, from a backup or from a clone of the same repository, then run again to continue.',
      workspace,
      iteration,
    ),
    repositoryOther: say(
      'The git repository of {0} has been a different one since iteration {1}: it lacks commit {2}, at which the iteration started. Nothing further was started, and nothing of that iteration counts as done. Restore the old folder .git, then run again to continue; or start a new run here with --new.',
      workspace,
      iteration,
      start,
    ),
    repositoryUnreadable:
      detail === ''
        ? say(
            'git has not been able to read the repository of {0} since iteration {1}, so it is unknown whether its work is there. Fix what "git status" reports, then run again to continue.',
            ...[workspace, iteration],
          )
        : say(
            'git has not been able to read the repository of {0} since iteration {1}, so it is unknown whether its work is there. Run again to continue once this is fixed: {2}',
            ...[workspace, iteration, detail],
          ),
    branchGone: say(
      'The branch {0} of the run has been missing since iteration {1}, and HEAD does not descend from it. Create it again where it was (git update-ref refs/heads/{0} {2}; git switch {0}), use "git reflog" to find later work, then run again to continue.',
      branch,
      iteration,
      start,
    ),
    notMerged: say(
      'What iteration {0} committed elsewhere is not on {1} yet: {2}. Merge it (git merge {2}), then run again to continue; or abandon it and start a new run with --new.',
      iteration,
      branch,
      left ?? start,
    ),
    branchesApart: say(
      'Iteration {0} left its work on {1} instead of {2}, and {2} has commits that are not there. Merge them ({3}git switch {2}; git merge {4}), then run again to continue.',
      ...[iteration, other, branch, merge, source],
    ),
    foreignCommits: say(
      'Iteration {0} switched from {2} to {1}, which has commits that are older than the iteration. If {2} should have them, merge them ({3}git switch {2}; git merge {4}); otherwise switch back (git switch {2}). Then run again to continue.',
      ...[iteration, other, branch, merge, source],
    ),
    rebasing: say(
      'Iteration {0} ended in the middle of a "git rebase". Finish it with "git rebase --continue", or abort it with "git rebase --abort", then run again to continue.',
      iteration,
    ),
    refused: say(
      'Iteration {0} left its work on {1} instead of {2}, and git could not bring it back: {5} Fix that, then bring it back ({3}git switch {2}; git merge {4}), then run again to continue.',
      ...[iteration, other, branch, merge, source, detail],
    ),
  };
  return sentences[reason];
}

/** Quoted so that it can be pasted into a shell: an agent may have chosen the name. */
export function nameOf(branch: string): Words {
  return branch === '' ? say('a detached HEAD') : shellWord(branch);
}
