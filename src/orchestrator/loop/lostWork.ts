import { messageOf } from '../../base/messageOf.ts';
import { say } from '../../base/say.ts';
import { shellWord } from '../../base/shellWord.ts';
import { shorten } from '../../base/text.ts';
import { lostCommits } from '../git/lostCommits.ts';
import { ownPlaces } from '../iteration/briefing.ts';
import { ownFiles } from '../iteration/prompt/uncommitted.ts';
import type { LostCommit, RunState } from '../journal/runState.ts';
import type { Story } from '../stories/story.ts';
import { keepLostCommits } from '../workspace/restorePoints.ts';
import type { Verdict } from './policy.ts';
import type { RunContext } from './runContext.ts';

/** So many of the commits that are missing are named. */
const MAX_NAMED = 5;
const SHORT_HASH = 10;

/**
 * Commits that must not get lost: those of stories that were done, and proven, before the history was rewritten. What an
 * earlier try of an open story has committed may be taken back by the next one. Pure.
 * @param stories as they were before
 */
export function commitsToKeep(
  state: Pick<RunState, 'commits' | 'storyRecords'>,
  stories: readonly Story[],
): LostCommit[] {
  const done = new Set(stories.filter(story => story.done).map(({ id }) => id));
  return state.commits.flatMap(({ hash, storyId, subject }) =>
    storyId !== undefined && done.has(storyId) && !state.storyRecords.get(storyId)?.refused
      ? [{ hash, storyId, subject }]
      : [],
  );
}

/**
 * Looks whether the history was rewritten since the last look, keeps what is no longer in it, and records the commits of done
 * stories that are there in no form any more.
 * @param stories as they were before
 */
export async function lookForLostCommits(
  context: RunContext,
  stories: readonly Story[],
): Promise<void> {
  const { snapshot, state } = context;
  const now = snapshot.head;
  const before = context.seenHead ?? state.current?.startCommit ?? state.commits.at(-1)?.hash;
  if (snapshot.gitProblem !== undefined || now === undefined) {
    return;
  }
  context.seenHead = now;
  if (before === undefined || before === now) {
    return;
  }
  const gone = await context.git.commits({ since: now, at: before }).catch(() => []);
  if (gone.length === 0) {
    return;
  }
  await keep(context, [before]);
  warnOfRewrite(context, gone.length, before);
  const known = state.lostCommits ?? [];
  const wanted = commitsToKeep(state, stories).filter(
    ({ hash }) => !known.some(commit => commit.hash === hash),
  );
  const lost = await missing(context, wanted, before);
  if (lost.length > 0) {
    record(context, [...lost, ...known]);
  }
}

/**
 * Nothing is complete while a commit of a done story is on no branch of the run. Looks again at those that were missing: a
 * person may have brought them back.
 * @returns what ends the run, when one is still missing
 */
export async function missingWork(context: RunContext): Promise<Verdict | undefined> {
  const { snapshot, state } = context;
  const known = state.lostCommits ?? [];
  if (known.length === 0 || snapshot.gitProblem !== undefined) {
    return undefined;
  }
  const isDone = new Set(snapshot.stories?.stories.filter(({ done }) => done).map(({ id }) => id));
  const left: LostCommit[] = [];
  for (const commit of known.filter(({ storyId }) => isDone.has(storyId))) {
    left.push(...(await missing(context, [commit], commit.hash)));
  }
  if (left.length !== known.length) {
    record(context, left);
  }
  return left.length === 0 ? undefined : { kind: 'astray', message: sentenceOf(context, left) };
}

/** Those of some commits that HEAD has in no form; all of them when git cannot tell. */
async function missing(
  context: RunContext,
  commits: readonly LostCommit[],
  before: string,
): Promise<readonly LostCommit[]> {
  const now = context.snapshot.head;
  if (commits.length === 0 || now === undefined) {
    return commits;
  }
  try {
    const lost = await lostCommits(context.options.files.workspace, {
      ...{ before, now },
      hashes: commits.map(({ hash }) => hash),
      isOwn: ownFiles(ownPlaces(context)),
    });
    return lost.flatMap(hash => commits.find(commit => commit.hash === hash) ?? []);
  } catch (error) {
    context.warn('gitUnreadable', messageOf(error), context.state.iteration);
    return commits;
  }
}

async function keep(context: RunContext, hashes: readonly string[]): Promise<void> {
  const { files, runId } = context.options;
  try {
    await keepLostCommits(files.workspace, runId, hashes);
  } catch (error) {
    context.warn('restorePointNotKept', messageOf(error), context.state.iteration);
  }
}

function record(context: RunContext, commits: readonly LostCommit[]): void {
  context.append({
    type: 'commits.lost',
    iteration: context.state.iteration,
    branch: context.branch ?? '',
    commits: commits.map(({ hash, storyId, subject }) => ({
      ...{ hash, storyId },
      subject: subject.slice(0, 500),
    })),
  });
}

/** Also where nothing is lost: an agent that resets, amends or rebases may surprise who works on the same branch. */
function warnOfRewrite(context: RunContext, count: number, before: string): void {
  const hash = before.slice(0, SHORT_HASH);
  context.warn(
    'historyRewritten',
    count === 1
      ? say(
          '1 earlier commit is no longer on the branch; git keeps what was there: git log {0}',
          hash,
        )
      : say(
          '{0} earlier commits are no longer on the branch; git keeps what was there: git log {1}',
          count,
          hash,
        ),
    context.state.iteration,
  );
}

function sentenceOf({ branch = '' }: RunContext, lost: readonly LostCommit[]): string {
  const named = lost
    .slice(0, MAX_NAMED)
    .map(
      ({ hash, storyId, subject }) =>
        `${hash.slice(0, SHORT_HASH)} (${shorten(storyId, 80)}: ${shorten(subject, 100)})`,
    )
    .join(', ');
  const more = lost.length - MAX_NAMED;
  return say(
    'Commits of stories that are done are no longer on {0}: {1}. git keeps them for now. Bring them back (git merge {2}), or, if their work is there in another form, tell git so (git merge --strategy=ours {2}); then run again to continue. To keep them for later and continue without, give them a name (git branch rescued {2}) and start a new run with --new.',
    branch === '' ? say('a detached HEAD') : shellWord(branch),
    more > 0 ? say('{0} and {1} more', named, more) : named,
    lost[0]?.hash.slice(0, SHORT_HASH) ?? '',
  );
}
