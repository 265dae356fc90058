import { saidOf } from '../../base/messageOf.ts';
import { say } from '../../base/say.ts';
import { isAncestor } from '../git/isAncestor.ts';
import { runGit, writeGit } from '../git/runGit.ts';
import type { KeptWork } from '../journal/currentIteration.ts';
import { storyNotes } from '../journal/runState.ts';
import type { PlaceStart } from '../places/clonePlaces.ts';
import type { Run } from '../run/run.ts';
import type { ConflictNote } from '../run/scope.ts';
import { warn } from '../run/warn.ts';
import type { Story } from '../stories/story.ts';
import { readRefs } from '../workspace/refs.ts';
import { SETTLED, workRef } from '../workspace/workRefs.ts';
import { makeCandidate } from './candidate.ts';
import { type Conflict, describeConflict } from './conflict.ts';
import { sharedPaths } from './sharedFiles.ts';
import { mergeSharing } from './sharedMerge.ts';
import type { Target } from './target.ts';

/** Length of each diff of a conflict in the next agent's prompt, in characters. */
const MAX_DIFF = 5_000;
const SHORT_HASH = 7;

/** What earlier agents of a story have left that has not landed, and what the next one gets of it. */
export class EarlierWork {
  private readonly run: Run;
  private readonly target: Target;

  constructor(run: Run, target: Target) {
    this.run = run;
    this.target = target;
  }

  /** What the story's next agent starts from: its own earlier work on top of what has landed. */
  async startOf(story: Story, iteration: number): Promise<Pick<PlaceStart, 'commit' | 'changes'>> {
    const { target } = this;
    const onto = (await target.look()).tip;
    const kept = await this.keptOf(story);
    if (kept === undefined) {
      return { commit: onto };
    }
    const { base, uncommitted } = kept;
    const join = (work: string) =>
      joinEarlierWork(target, { onto, kept: { base, head: work }, storyId: story.id });
    // If all of it fits, a part of it can only conflict where the rest had solved that; then all are changes.
    const committed = kept.head === base ? undefined : await join(kept.head);
    const commit = committed?.kind === 'joined' ? committed.commit : onto;
    const joined = uncommitted === undefined ? committed : await join(uncommitted);
    if (joined?.kind !== 'conflict') {
      return { commit, changes: uncommitted === undefined ? undefined : joined?.commit };
    }
    const head = uncommitted ?? kept.head;
    this.run.journal.append({
      ...{ type: 'landing.returned', iteration: kept.iteration, storyId: story.id },
      ...{ reason: 'conflict', base, head, onto, files: [...joined.files] },
    });
    warn(
      this.run.journal,
      'workNotContinued',
      // The command first: a long list is cut.
      say(
        'git log {0} shows it. In conflict: {1}',
        `${base.slice(0, SHORT_HASH)}..${head.slice(0, SHORT_HASH)}`,
        joined.files.join(', '),
      ),
      iteration,
    );
    return { commit: onto };
  }

  /** For the agent that does a story again. */
  async conflictOf({ id }: Story): Promise<ConflictNote | undefined> {
    const { root, sharedFiles } = this.target;
    const { conflict } = storyNotes(this.run.state(), id);
    if (conflict === undefined) {
      return undefined;
    }
    const { base, files, head, iteration, onto } = conflict;
    try {
      const diffs = await describeConflict(
        root,
        { target: onto, work: head, base, files, except: sharedPaths(sharedFiles) },
        { own: MAX_DIFF, others: MAX_DIFF },
      );
      return { iteration, files, ...diffs };
    } catch (error) {
      // The commits may be gone; the agent can do the story without them.
      warn(this.run.journal, 'conflictNotDescribed', saidOf(error), iteration);
      return { iteration, files, own: '', others: '' };
    }
  }

  /**
   * The commit of the branch that the work of a story comes after. If it continues earlier work, that had been joined
   * with what the branch had then.
   * @param start the commit at which the newest agent began
   * @throws git's message
   */
  async baseOf({ id }: Story, start: string | undefined): Promise<string | undefined> {
    if (start === undefined) {
      return undefined;
    }
    const args = ['--no-optional-locks', 'log', '-1', '--no-show-signature', '--format=%P%n%B'];
    const [parents = '', ...message] = (await runGit(this.target.root, ...args, start)).split('\n');
    const isJoin = message.join('\n').trim() === joinMessage(id).trim();
    return isJoin ? parents.trim().split(' ').at(-1) || start : start;
  }

  /** The story's earlier work that has not landed, unless a person has discarded it. */
  private async keptOf({ id }: Story): Promise<KeptWork | undefined> {
    const { kept } = storyNotes(this.run.state(), id);
    return kept !== undefined && (await this.isStillKept(id, kept)) ? kept : undefined;
  }

  /** Whether its commits are still held; a person may have discarded them. */
  async isStillKept(
    storyId: string,
    { head, iteration }: KeptWork,
    isSettled = false,
  ): Promise<boolean> {
    const ref = this.refOf(iteration, storyId) + (isSettled ? SETTLED : '');
    // Of an agent, what it had not committed may land, which is held by another ref.
    return (await readRefs(this.target.root, ref)).some(
      ({ commit, name }) => name === ref && (!isSettled || commit === head),
    );
  }

  /** The ref that holds what the agent of an iteration has left. */
  refOf(iteration: number, storyId = ''): string {
    const { files, id: runId } = this.run;
    return workRef(files.workspace, { runId, storyId, iteration });
  }
}

/**
 * The commit that a story's next agent starts from: its earlier work, which has not landed, together with what has
 * landed meanwhile. Only creates git objects.
 * @param onto full hash of what has landed
 * @throws git's message
 */
async function joinEarlierWork(
  { root, sharedFiles }: Target,
  {
    kept,
    onto,
    storyId,
  }: {
    readonly onto: string;
    readonly kept: Pick<KeptWork, 'base' | 'head'>;
    readonly storyId: string;
  },
): Promise<{ readonly kind: 'joined'; readonly commit: string } | Conflict> {
  const work = await presentWork(root, { kept, onto, sharedFiles });
  if (typeof work !== 'string') {
    return work;
  }
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
    input: joinMessage(storyId),
  });
  return { kind: 'joined', commit: commit.trim() };
}

function joinMessage(storyId: string): string {
  return `Merge what has landed into the work on ${storyId}\n`;
}

/**
 * The earlier work without commits that a person has removed from the branch since it began: then it is one commit on
 * top of the branch.
 */
async function presentWork(
  root: string,
  {
    kept: { base, head },
    onto,
    sharedFiles,
  }: {
    readonly kept: Pick<KeptWork, 'base' | 'head'>;
    readonly onto: string;
    readonly sharedFiles: Target['sharedFiles'];
  },
): Promise<string | Conflict> {
  if (await isAncestor(root, base, onto)) {
    return head;
  }
  const made = await makeCandidate({
    ...{ ...sharedFiles, root, base, target: onto, work: head },
    ...{ landAs: 'squash', progressText: '', trailers: {} },
  });
  return made.kind === 'conflict' ? made : made.kind === 'nothing' ? onto : made.commit;
}
