import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type BranchFacts, branchRule } from '../../src/orchestrator/git/branchRule.ts';

const onBranch: BranchFacts = {
  repository: 'same',
  wanted: 'main',
  found: 'main',
  hasHead: true,
  hadHead: true,
  tip: 'same',
  comesFromStart: true,
  isOnlyNew: true,
  isMissingWork: false,
  isOwnPlace: false,
  isRebasing: false,
};
const onSide: Partial<BranchFacts> = { found: 'side', tip: 'behind' };

const rules: readonly (readonly [string, Partial<BranchFacts>, string])[] = [
  ['HEAD is on the branch', {}, 'stay'],
  ['the first commit of all', { hadHead: false }, 'stay'],
  ['no commit yet', { hadHead: false, hasHead: false, tip: 'gone' }, 'stay'],
  ['the repository is gone', { repository: 'gone' }, 'end repositoryGone'],
  ['another repository', { repository: 'other' }, 'end repositoryOther'],
  ['git cannot read the repository', { repository: 'unreadable' }, 'end repositoryUnreadable'],
  [
    'git cannot read the place of one of several agents',
    { repository: 'unreadable', isOwnPlace: true },
    'stay',
  ],
  ['commits on a new branch', onSide, 'fastForward'],
  ['commits on a detached HEAD', { ...onSide, found: '' }, 'fastForward'],
  ['a new branch without commits', { ...onSide, tip: 'same' }, 'fastForward'],
  ['an older commit', { ...onSide, tip: 'ahead' }, 'switch'],
  [
    'an older commit, where commits were left elsewhere before',
    { ...onSide, tip: 'ahead', isMissingWork: true },
    'end notMerged',
  ],
  ['commits on both branches', { ...onSide, tip: 'apart' }, 'end branchesApart'],
  [
    'an orphan branch without commits',
    { ...onSide, tip: 'apart', hasHead: false, comesFromStart: false },
    'switch',
  ],
  ['a rebase of the branch', { ...onSide, found: '', isRebasing: true }, 'end rebasing'],
  ["commits of somebody else's", { ...onSide, isOnlyNew: false }, 'end foreignCommits'],
  ['the branch was renamed', { ...onSide, tip: 'gone' }, 'create'],
  [
    "the branch was removed, and HEAD has somebody else's commits",
    { ...onSide, tip: 'gone', isOnlyNew: false },
    'end foreignCommits',
  ],
  [
    'the branch was removed, and HEAD does not come from it',
    { ...onSide, tip: 'gone', comesFromStart: false },
    'end branchGone',
  ],
  [
    'the branch was removed while HEAD was on it',
    { hasHead: false, tip: 'gone', comesFromStart: false },
    'end branchGone',
  ],
  ['back on the branch without the work', { isMissingWork: true }, 'end notMerged'],
  ['a run on a detached HEAD', { wanted: '', found: '' }, 'stay'],
  ['a run on a detached HEAD, now on a branch', { wanted: '', found: 'side' }, 'stay'],
];

describe('handling of work that an agent left elsewhere', () => {
  for (const [what, facts, expected] of rules) {
    test(`${what}: ${expected}`, () => {
      const rule = branchRule({ ...onBranch, ...facts });
      assert.equal(rule.kind === 'end' ? `end ${rule.reason}` : rule.kind, expected);
    });
  }
});
