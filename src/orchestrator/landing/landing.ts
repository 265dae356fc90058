import { type Message, say } from '../../base/say.ts';
import type { AgentCallResult } from '../agents/call/agentCall.ts';
import type { GitRepository } from '../git/git.ts';
import {
  type DuplicateSearch,
  recordDuplicates,
  searchDuplicates,
} from '../iteration/duplicateSearch.ts';
import type { ReturnReason } from '../journal/eventCodes.ts';
import { handledIn, runningIteration, storyRecord } from '../journal/runState.ts';
import type { Place } from '../places/place.ts';
import { readStories, type Snapshot } from '../places/snapshot.ts';
import { type ClaimsJudgement, judgeClaims } from '../proof/claims.ts';
import { judge } from '../proof/judge.ts';
import type { Run } from '../run/run.ts';
import { isSkipped, type Scope } from '../run/scope.ts';
import type { Verdict } from '../run/verdict.ts';
import { warn } from '../run/warn.ts';
import type { Story } from '../stories/story.ts';
import { storyNow } from '../stories/storyNow.ts';
import { makeCandidate } from './candidate.ts';
import { recordOutcome } from './land.ts';
import { listStoryCommits } from './listedCommits.ts';
import type { Target } from './target.ts';
import type { Tip } from './tip.ts';
import { bringToFolder, isTickedInFolder } from './userFolder.ts';

/** Work of an agent that says that its story is done. */
export interface Landable {
  /** With the agent's place, and the files at its start. */
  readonly scope: Scope & { readonly story: Story };
  /** Where the agent began. */
  readonly base: string;
  /** Its last commit. */
  readonly head: string;
  /** What it has added to the progress log. */
  readonly progressText: string;
  /** Absent if the loop was killed before the call ended. */
  readonly result?: AgentCallResult;
  /** A person has thrown it away while no loop was active. */
  readonly isDiscarded?: boolean;
  /** A person has settled it, and no ref holds the result. */
  readonly isGone?: boolean;
}

/** Files of a conflict that the journal names. */
const MAX_FILES = 50;
/** Candidates that are made for one landing while somebody else moves the branch. */
const MAX_ROUNDS = 10;

export interface LandingHands {
  readonly target: Target;
  /** The queue's own place, with the files of this commit. */
  readonly placeAt: (commit: string) => Promise<Place>;
  /** The user's repository. */
  readonly git: GitRepository;
}

/**
 * How the work of one agent lands on the branch: candidate, checks, reviewer, branch, tick. Whatever is decided is in the
 * journal, so that each step can be repeated after a kill.
 */
export class Landing {
  private readonly run: Run;
  private readonly tip: Tip;
  private readonly hands: LandingHands;

  constructor(run: Run, tip: Tip, hands: LandingHands) {
    this.run = run;
    this.tip = tip;
    this.hands = hands;
  }

  /** @returns what ends the run, if anything; then the work stays queued */
  async land(work: Landable): Promise<Verdict | undefined> {
    const { run } = this;
    for (let round = 1; ; round += 1) {
      const landed = await this.landedBefore(work);
      if (landed !== undefined) {
        await this.finish(work, landed);
        return undefined;
      }
      if (this.isTakenBack(work)) {
        const reason = work.isGone ? 'gone' : 'person';
        await this.giveBack(work, { reason, onto: work.base });
        return undefined;
      }
      const onto = await this.tip.commit();
      const made = await this.candidateOf(work, onto);
      if (made.kind === 'conflict') {
        await this.giveBack(work, { reason: 'conflict', onto, files: made.files });
        return undefined;
      }
      const commit = made.kind === 'candidate' ? made.commit : onto;
      await this.tip.hold(commit);
      const { iteration, story } = work.scope;
      work.scope.append({ type: 'landing.candidate', iteration, storyId: story.id, commit, onto });
      const search = this.search(onto, commit);
      const judged = await this.judge(work, { commit, onto });
      if (judged.kind === 'cutOff') {
        return judged.verdict;
      }
      if (judged.kind !== 'passed') {
        await this.giveBack(work, { reason: this.reasonOf(work, judged), onto });
        return undefined;
      }
      if (this.isTakenBack(work)) {
        // A person was faster than the end of the checks.
        continue;
      }
      run.journal.sync();
      if (commit === onto || (await this.tip.advance(onto, commit))) {
        const { notTicked } = made;
        const landed = commit === onto ? undefined : commit;
        await this.finish(work, { commit: landed, onto, notTicked, search });
        return undefined;
      }
      // Somebody has committed to the branch meanwhile; what was checked is not what would be there.
      if (round === MAX_ROUNDS) {
        return { kind: 'fatal', message: this.neverStill(story) };
      }
    }
  }

  private neverStill({ id }: Story): Message {
    return say(
      '{0} got new commits during each of {1} attempts to land {2}. Look for a check or another program that commits there. The work is kept, and lands when the run continues.',
      this.hands.target.branch,
      MAX_ROUNDS,
      id,
    );
  }

  /** Its candidate, if the loop was killed after the branch had got it, or while git was bringing it there. */
  async landedBefore({ scope: { iteration } }: Landable) {
    const known = runningIteration(this.run.state(), iteration)?.candidate;
    // One that is the branch itself had nothing to bring, and its checks may not have ended.
    const isNew = known !== undefined && known.commit !== known.onto;
    return isNew && (await this.hands.target.isLanded(known.commit)) ? known : undefined;
  }

  /** In parallel with the checks: both only read. */
  search(from: string, to: string | undefined): DuplicateSearch {
    return searchDuplicates(this.run.code, this.hands.target.root, { from, to });
  }

  candidateOf({ base, head, progressText, scope }: Landable, onto: string) {
    const { config, id } = this.run;
    const { iteration, story } = scope;
    return makeCandidate({
      ...this.hands.target.sharedFiles,
      root: this.hands.target.root,
      target: onto,
      work: head,
      base,
      story: { id: story.id, title: story.title, position: story.position },
      progressText,
      landAs: config.landAs,
      trailers: {
        'Ralph-Story': story.id,
        'Ralph-Run': id,
        'Ralph-Iteration': `${iteration}`,
      },
    });
  }

  /** Checks and reviewer look at exactly what is to land, in the queue's own place. */
  private async judge(
    { scope }: Landable,
    { commit, onto }: { readonly commit: string; readonly onto: string },
  ): Promise<ClaimsJudgement> {
    const { config } = this.run;
    if (config.verify.length === 0 && !config.reviewer) {
      return { kind: 'passed' };
    }
    const place = await this.hands.placeAt(commit);
    const { before, story } = scope;
    const after: Snapshot = {
      stories: withDone(before, story),
      head: commit,
      branch: this.hands.target.branch,
    };
    return judgeClaims(this.run, {
      scope: { ...scope, place, before: { ...before, head: onto } },
      after,
      stories: [story.id],
      isWholeTask: false,
      // What the checks change in the queue's place does not land.
      afterChecks: async () => ({ after }),
    });
  }

  /** A person has skipped the story, set it to not done, or discarded its work, since its agent began; or its commits are gone. */
  isTakenBack(work: Landable): boolean {
    const { iteration, skip, story } = work.scope;
    return (
      work.isDiscarded ||
      work.isGone ||
      isSkipped({ skip }) ||
      // Also while no loop was active.
      storyRecord(this.run.state(), story.id).skipped === 'person' ||
      handledIn(this.run.state(), iteration).get(story.id) === false
    );
  }

  private reasonOf({ scope }: Landable, judged: ClaimsJudgement): ReturnReason {
    const { iteration } = scope;
    return judged.kind === 'skipped' || this.isTakenBack({ scope } as Landable)
      ? 'person'
      : this.run.state().storyNotes.get(scope.story?.id ?? '')?.failedCheck?.iteration === iteration
        ? 'checks'
        : 'review';
  }

  private async giveBack(
    { base, head, result, scope }: Landable,
    {
      files,
      onto,
      reason,
    }: { readonly reason: ReturnReason; readonly onto: string; readonly files?: readonly string[] },
  ): Promise<void> {
    const { iteration, story } = scope;
    scope.append({
      ...{ type: 'landing.returned', iteration, storyId: story.id, reason },
      ...{ base, head, onto, files: files?.slice(0, MAX_FILES) },
    });
    await this.record({ scope, result }, { isRefused: reason !== 'person', commits: 0 });
  }

  /**
   * The branch has it: the rest can be repeated after a kill.
   * @param landed.wasTicked see {@link bringToFolder}; looked at now if absent
   */
  async finish(
    { progressText, result, scope }: Landable,
    {
      commit,
      notTicked,
      onto,
      search,
      wasTicked: ticked,
    }: {
      readonly commit?: string;
      readonly onto: string;
      readonly notTicked?: Message;
      readonly search?: DuplicateSearch;
      readonly wasTicked?: boolean;
    },
  ): Promise<void> {
    const { run } = this;
    const { iteration, story } = scope;
    const storyId = story.id;
    const isNew = storyRecord(run.state(), storyId).landed !== true;
    // Before anybody hears of it: from then on, a person may take the tick back.
    const wasTicked = isNew && (ticked ?? (await this.isTicked(story)));
    if (isNew) {
      scope.append({ type: 'landing.landed', iteration, storyId, commit, onto });
    }
    if (commit !== undefined && !run.state().commits.some(({ hash }) => hash === commit)) {
      const [landed] = await this.hands.git.commits({ at: commit, limit: 1 });
      scope.append({
        ...{ type: 'commit.recorded', iteration, storyId, hash: commit },
        subject: (landed?.subject ?? '').slice(0, 500),
        author: landed?.author.slice(0, 200),
      });
    }
    run.journal.sync();
    if ((await bringToFolder(run, scope, { progressText, wasTicked })) && notTicked !== undefined) {
      // The file in the folder is another version.
      warn(scope, 'tickNotCommitted', notTicked);
    }
    await listStoryCommits(run, scope);
    await recordDuplicates(scope, search ?? this.search(onto, commit));
    await this.record(
      { scope, result },
      { isRefused: false, commits: commit ? 1 : 0, isDone: true },
    );
  }

  /** Whether a story is ticked in the user's folder. */
  isTicked(story: Story): Promise<boolean> {
    return isTickedInFolder(this.run, story);
  }

  private async record(
    { result, scope }: Pick<Landable, 'result' | 'scope'>,
    {
      commits,
      isDone = false,
      isRefused,
    }: { readonly commits: number; readonly isDone?: boolean; readonly isRefused: boolean },
  ): Promise<void> {
    const { run } = this;
    const { before, iteration, story } = scope;
    const storiesBefore = before.stories?.stories ?? [];
    const judgement = judge({
      story,
      storiesBefore,
      storiesAfter: isDone ? (withDone(before, story)?.stories ?? []) : storiesBefore,
      commits,
      result,
      completionPromise: run.config.completionPromise,
      handled: handledIn(run.state(), iteration),
      stopped: false,
      skipped: !isRefused && !isDone,
      refused: isRefused,
    });
    const after = { ...before, ...(await readStories(run.storyFile, before)) };
    await recordOutcome(run, { scope, result, after }, { ...judgement, commits });
  }
}

/** The list with the story done; one without an id may have another number there. */
function withDone({ stories: list }: Snapshot, story: Story): Snapshot['stories'] {
  const own = list && storyNow(list.stories, story);
  const isOwn = (one: Story) => (own === undefined ? one.id === story.id : one === own);
  return (
    list && {
      ...list,
      stories: list.stories.map(one => (isOwn(one) ? { ...one, done: true } : one)),
    }
  );
}
