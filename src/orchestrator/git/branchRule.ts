/** What git says once an agent is done, compared with what the iteration started from. */
export interface BranchFacts {
  /** `other`: it lacks the commit that the iteration started from, or is in another place. `unreadable`: git gives no answer now. */
  readonly repository: 'same' | 'gone' | 'other' | 'unreadable';
  /** The branch that the run works on; '' when it began on a detached HEAD. */
  readonly wanted: string;
  /** The branch that HEAD is on; '' when it is detached. */
  readonly found: string;
  /** HEAD names a commit; and so it did when the iteration started. */
  readonly hasHead: boolean;
  readonly hadHead: boolean;
  /** Where the run's branch is, seen from HEAD. `behind`: HEAD comes from it. `ahead`: it comes from HEAD. */
  readonly tip: 'gone' | 'same' | 'behind' | 'ahead' | 'apart';
  /** HEAD comes from the commit that the iteration started from. */
  readonly comesFromStart: boolean;
  /** All that HEAD has and the run's branch has not was committed during the iteration. */
  readonly isOnlyNew: boolean;
  /** HEAD lacks commits that this iteration is known to have left elsewhere. */
  readonly isMissingWork: boolean;
  /** The run would be complete after this iteration. */
  readonly isLast: boolean;
}

/** Why the work of an iteration is not on the run's branch, and cannot be brought there. */
export type AstrayReason =
  | 'repositoryGone'
  | 'repositoryOther'
  | 'repositoryUnreadable'
  | 'branchGone'
  | 'branchesApart'
  | 'foreignCommits'
  | 'notMerged'
  /** git refused to bring it back. */
  | 'refused';

export type BranchRule =
  | { readonly kind: 'stay' }
  /** Go back to the branch; nothing was committed elsewhere. */
  | { readonly kind: 'switch' }
  /** Move the branch forward to HEAD, then go back to it. */
  | { readonly kind: 'fastForward' }
  /** Make the branch again, at HEAD. */
  | { readonly kind: 'create' }
  | { readonly kind: 'end'; readonly reason: AstrayReason };

const STAY: BranchRule = { kind: 'stay' };

/**
 * Decides what becomes of work that an agent left elsewhere than on the run's branch. What git can bring back without
 * touching a file or anybody else's commit is brought back; all else ends the run. Pure.
 */
export function branchRule(facts: BranchFacts): BranchRule {
  switch (facts.repository) {
    case 'gone':
      return end('repositoryGone');
    case 'other':
      return end('repositoryOther');
    case 'unreadable':
      // It may be readable again in a moment; but nothing is complete that nobody has seen.
      return facts.isLast ? end('repositoryUnreadable') : STAY;
    case 'same':
      return ruleOf(facts);
  }
}

function ruleOf(facts: BranchFacts): BranchRule {
  const { comesFromStart, found, hadHead, hasHead, isMissingWork, isOnlyNew, tip, wanted } = facts;
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
