import { writeGit } from '../git/runGit.ts';
import type { Conflict } from './conflict.ts';
import { mergeSharing } from './sharedMerge.ts';
import type { Target } from './target.ts';

/**
 * The commit that a story's next agent starts from: its earlier work, which has not landed, together with what has
 * landed meanwhile. Only creates git objects.
 * @param at full hashes: `onto`, what has landed; `work`, the last commit of the earlier agent
 * @throws git's message
 */
export async function joinEarlierWork(
  { root, sharedFiles }: Target,
  {
    onto,
    storyId,
    work,
  }: { readonly onto: string; readonly work: string; readonly storyId: string },
): Promise<{ readonly kind: 'joined'; readonly commit: string } | Conflict> {
  const merged = await mergeSharing(root, {
    target: onto,
    work,
    shared: sharedFiles,
    // The ones that count are copied into the place.
    contents: () => new Map(),
  });
  if (merged.kind === 'conflict') {
    return merged;
  }
  const commit = await writeGit(root, ['commit-tree', merged.tree, '-p', work, '-p', onto], {
    input: `Merge what has landed into the work on ${storyId}\n`,
  });
  return { kind: 'joined', commit: commit.trim() };
}
