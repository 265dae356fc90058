import { saidOf } from '../../base/messageOf.ts';
import { type Message, say, type Words } from '../../base/say.ts';
import { shellWord } from '../../base/shellWord.ts';
import { shorten } from '../../base/text.ts';
import { lostCommits } from '../git/lostCommits.ts';
import { currentOf, type LostCommit, type RunState } from '../journal/runState.ts';
import type { Place } from '../places/place.ts';
import type { Snapshot } from '../places/snapshot.ts';
import type { Run } from '../run/run.ts';
import type { Verdict } from '../run/verdict.ts';
import { warn } from '../run/warn.ts';
import type { Story } from '../stories/story.ts';
import { keepLostCommits } from '../workspace/restorePoints.ts';
import { ownPlaces } from './ownPlaces.ts';
import { ownFiles } from './prompt/uncommitted.ts';

/** Maximum number of listed missing commits. */
const MAX_NAMED = 5;
const SHORT_HASH = 10;

/**
 * Commits that must not get lost: those of stories that were done, and verified, before the history was rewritten.
 * Commits of an earlier attempt at an open story may be undone by the next one. Pure.
 * @param stories their previous state
 */
function commitsToKeep(
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

/** The repository, and its current files. */
interface History {
  readonly place: Place;
  readonly now: Snapshot;
}

/**
 * Checks whether the history was rewritten since the last check, keeps the commits that are no longer in it, and
 * records commits of done stories that are missing in any form.
 * @param stories their previous state
 */
export async function lookForLostCommits(
  run: Run,
  history: History,
  stories: readonly Story[],
): Promise<void> {
  const { gitProblem, head } = history.now;
  const state = run.state();
  // In a place of its own, an agent may start from work that has not landed.
  const began = state.isolated ? undefined : currentOf(state)?.startCommit;
  const before = run.seenHead ?? began ?? state.commits.at(-1)?.hash;
  if (gitProblem !== undefined || head === undefined) {
    return;
  }
  run.seenHead = head;
  if (before === undefined || before === head) {
    return;
  }
  const { gone } = await history.place.git.difference(before, head).catch(() => ({ gone: [] }));
  if (gone.length === 0) {
    return;
  }
  await keep(run, [before]);
  warnOfRewrite(run, gone.length, before);
  const known = state.lostCommits ?? [];
  const wanted = commitsToKeep(state, stories).filter(
    ({ hash }) => !known.some(commit => commit.hash === hash),
  );
  const lost = await missing(run, history, wanted, before);
  if (lost.length > 0) {
    record(run, [...lost, ...known]);
  }
}

/**
 * A run is not complete while a commit of a done story is missing from its branch. Checks the missing ones again: a
 * person may have restored them.
 * @returns what ends the run, if one is still missing
 */
export async function missingWork(run: Run, history: History): Promise<Verdict | undefined> {
  const { gitProblem, stories } = history.now;
  const known = run.state().lostCommits ?? [];
  if (known.length === 0 || gitProblem !== undefined) {
    return undefined;
  }
  const isDone = new Set(stories?.stories.filter(({ done }) => done).map(({ id }) => id));
  const left: LostCommit[] = [];
  for (const commit of known.filter(({ storyId }) => isDone.has(storyId))) {
    left.push(...(await missing(run, history, [commit], commit.hash)));
  }
  if (left.length !== known.length) {
    record(run, left);
  }
  return left.length === 0 ? undefined : { kind: 'astray', message: sentenceOf(run, left) };
}

/** The commits that HEAD does not contain in any form; all of them if git cannot tell. */
async function missing(
  run: Run,
  { now: { head }, place }: History,
  commits: readonly LostCommit[],
  before: string,
): Promise<readonly LostCommit[]> {
  if (commits.length === 0 || head === undefined) {
    return commits;
  }
  try {
    const lost = await lostCommits(place.dir, {
      ...{ before, now: head },
      hashes: commits.map(({ hash }) => hash),
      isOwn: ownFiles(ownPlaces(run)),
    });
    return lost.flatMap(hash => commits.find(commit => commit.hash === hash) ?? []);
  } catch (error) {
    warnOf(run, 'gitUnreadable', saidOf(error));
    return commits;
  }
}

async function keep(run: Run, hashes: readonly string[]): Promise<void> {
  try {
    await keepLostCommits(run.files.workspace, run.id, hashes);
  } catch (error) {
    warnOf(run, 'restorePointNotKept', saidOf(error));
  }
}

function warnOf({ journal, state }: Run, code: string, detail: Words): void {
  warn(journal, code, detail, state().iteration);
}

function record({ branch = '', journal, state }: Run, commits: readonly LostCommit[]): void {
  journal.append({
    type: 'commits.lost',
    iteration: state().iteration,
    branch,
    commits: commits.map(({ hash, storyId, subject }) => ({
      ...{ hash, storyId },
      subject: subject.slice(0, 500),
    })),
  });
}

/**
 * Even if nothing is lost: an agent that resets, amends or rebases may surprise people who work on the same branch.
 */
function warnOfRewrite(run: Run, count: number, before: string): void {
  const hash = before.slice(0, SHORT_HASH);
  warnOf(
    run,
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
  );
}

function sentenceOf({ branch = '' }: Run, lost: readonly LostCommit[]): Message {
  const named = lost
    .slice(0, MAX_NAMED)
    .map(
      ({ hash, storyId, subject }) =>
        `${hash.slice(0, SHORT_HASH)} (${shorten(storyId, 80)}: ${shorten(subject, 100)})`,
    )
    .join(', ');
  const more = lost.length - MAX_NAMED;
  return say(
    'Commits of stories that are done are no longer on {0}: {1}. git keeps them for now. Bring them back (git merge {2}), or, if their work is there in another form, tell git so (git merge --strategy=ours {2}); then run again to continue. To keep them for later and continue without them, give them a name (git branch rescued {2}) and start a new run with --new.',
    branch === '' ? say('a detached HEAD') : shellWord(branch),
    more > 0 ? say('{0} and {1} more', named, more) : named,
    lost[0]?.hash.slice(0, SHORT_HASH) ?? '',
  );
}
