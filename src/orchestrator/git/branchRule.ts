/** The state of the repository after an agent, compared with the start of the iteration. */
export interface BranchFacts {
  /**
   * `other`: it lacks the iteration's start commit, or is at another path. `unreadable`: git does not answer now.
   */
  readonly repository: 'same' | 'gone' | 'other' | 'unreadable';
  /** The run's branch; '' if the run started on a detached HEAD. */
  readonly wanted: string;
  /** The current branch; '' if HEAD is detached. */
  readonly found: string;
  /** HEAD points to a commit, and did so at the start of the iteration. */
  readonly hasHead: boolean;
  readonly hadHead: boolean;
  /**
   * The relation of the run's branch to HEAD. `behind`: it is an ancestor of HEAD. `ahead`: it is a descendant of
   * HEAD.
   */
  readonly tip: 'gone' | 'same' | 'behind' | 'ahead' | 'apart';
  /** HEAD is a descendant of the iteration's start commit. */
  readonly comesFromStart: boolean;
  /** All commits that HEAD has and the run's branch lacks were made during the iteration. */
  readonly isOnlyNew: boolean;
  /** HEAD lacks commits that this iteration is known to have left on another branch. */
  readonly isMissingWork: boolean;
  /** The agent worked in a place of its own. */
  readonly isOwnPlace: boolean;
  /** HEAD is detached because a rebase is not finished. */
  readonly isRebasing: boolean;
}

/** Why the work of an iteration is not on the run's branch and cannot be moved there. */
export type AstrayReason =
  | 'repositoryGone'
  | 'repositoryOther'
  | 'repositoryUnreadable'
  | 'branchGone'
  | 'branchesApart'
  | 'foreignCommits'
  | 'notMerged'
  | 'rebasing'
  /** Git refused to bring it back. */
  | 'refused';

export type BranchRule =
  | { readonly kind: 'stay' }
  /** Return to the branch; nothing was committed elsewhere. */
  | { readonly kind: 'switch' }
  /** Move the branch forward to HEAD, then return to it. */
  | { readonly kind: 'fastForward' }
  /** Create the branch again, at HEAD. */
  | { readonly kind: 'create' }
  | { readonly kind: 'end'; readonly reason: AstrayReason };

const STAY: BranchRule = { kind: 'stay' };

/**
 * Decides how to handle work that an agent left on another branch. It is brought back if git can do so without
 * changing a file or anybody else's commits; otherwise the run ends. Pure.
 */
export function branchRule(facts: BranchFacts): BranchRule {
  switch (facts.repository) {
    case 'gone':
      return end('repositoryGone');
    case 'other':
      return end('repositoryOther');
    case 'unreadable':
      // Further agents could not commit. What one has left in a place of its own does not harm the others.
      return facts.isOwnPlace ? STAY : end('repositoryUnreadable');
    case 'same':
      return ruleOf(facts);
  }
}

function ruleOf(facts: BranchFacts): BranchRule {
  const { comesFromStart, found, hadHead, hasHead, isMissingWork, isOnlyNew, tip, wanted } = facts;
  if (facts.isRebasing) {
    return end('rebasing');
  }
  if (hadHead && !hasHead && (found === wanted || tip === 'gone')) {
    return end('branchGone');
  }
  if (wanted === '' || found === wanted) {
    return isMissingWork ? end('notMerged') : STAY;
  }
  switch (tip) {
    case 'apart':
      return hasHead ? end('branchesApart') : { kind: 'switch' };
    case 'ahead':
      return isMissingWork ? end('notMerged') : { kind: 'switch' };
    case 'gone':
      return !comesFromStart
        ? end('branchGone')
        : isOnlyNew
          ? { kind: 'create' }
          : end('foreignCommits');
    case 'same':
    case 'behind':
      return isOnlyNew ? { kind: 'fastForward' } : end('foreignCommits');
  }
}

function end(reason: AstrayReason): BranchRule {
  return { kind: 'end', reason };
}
