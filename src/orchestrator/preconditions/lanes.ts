import { isWithin } from '../../base/isWithin.ts';
import { type Message, say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { adviceOnWorktree, worktreeWith } from '../git/worktrees.ts';
import { problemWithPlaces } from '../places/clonePlaces.ts';
import type { BranchMode } from '../settings/config.ts';
import { plainText } from '../stories/formats/plainText.ts';
import { realPlace } from '../stories/outsideLinks.ts';
import { readyStories } from '../stories/select.ts';
import type { Story, StoryList } from '../stories/story.ts';
import { repeatedId } from '../stories/storyNow.ts';
import type { Ground, Judgement, Precondition } from './precondition.ts';

/** Why agents cannot work in places of their own, with the next step. */
interface LanesProblem {
  readonly message: Message;
  readonly next?: Message;
}

/** Agents can work in places of their own, if the run asks for it. */
export const lanes: Precondition = {
  id: 'lanes',
  needsGit: true,
  async judge(ground) {
    const { canHaveLanes = true, isIsolated = false, isPrepared, settings } = ground;
    if (!canHaveLanes) {
      return settings.lanes > 1 || settings.isolate
        ? {
            level: 'warns',
            message: say(
              'Only runs with stories have lanes, so one agent works in your work tree, and nothing else.',
            ),
            next: say('To use lanes, write stories: ralph-fresh plan "your task" --write.'),
          }
        : { level: 'holds', message: 'One agent works, in your work tree.' };
    }
    if (!isIsolated) {
      return { level: 'holds', message: 'One agent works, in your work tree.' };
    }
    if (isPrepared) {
      return { level: 'holds', message: 'The plan names the branch on which the work lands.' };
    }
    return (
      (await refusal(ground)) ??
      withoutOrder(ground) ?? { level: 'holds', message: await lanesWords(ground) }
    );
  },
};

/** The branch on which the work of agents with places of their own lands; '' if there is none. */
export function landsOn(
  mode: BranchMode,
  stories: Pick<StoryList, 'branchName'> | undefined,
  current: string | undefined,
): string {
  const named = mode === 'stay' ? '' : (stories?.branchName ?? '');
  return named === '' ? (current ?? '') : named;
}

/**
 * Why agents cannot work in places of their own in a repository; `undefined` if they can.
 * @param root its top folder
 * @param head full hash of HEAD
 * @param branch as {@link landsOn} returns it
 * @throws {HumanError} if git is missing, or cannot read the repository
 */
export async function problemWithLanes({
  branch,
  head,
  root,
  stories,
  storyFile,
}: {
  readonly root: string;
  readonly head: string | undefined;
  readonly branch: string;
  /** Absolute path. */
  readonly storyFile?: string | undefined;
  readonly stories?: Pick<StoryList, 'stories'> | undefined;
}): Promise<LanesProblem | undefined> {
  if (head === undefined) {
    return {
      message: say(
        'Lanes need a git repository with at least one commit. Make one, or use one lane.',
      ),
    };
  }
  if (branch === '') {
    return {
      message: say(
        'HEAD is detached, so there is no branch that the work could land on. Check out a branch (git switch), or name one in the story file ("branchName").',
      ),
    };
  }
  const message = await problemWithPlaces(root, head);
  if (message !== undefined) {
    return { message };
  }
  if (
    storyFile !== undefined &&
    !isWithin(realPlace(root) ?? root, realPlace(storyFile) ?? storyFile)
  ) {
    return {
      message: say(
        'The story file {0} is not in the repository {1}, so agents with places of their own would all change the same file.',
        storyFile,
        root,
      ),
      next: say('Move it into the repository, or work with one lane.'),
    };
  }
  return stories && problemWithIds(stories.stories);
}

/** Parallel agents need stories that can be distinguished. @returns the problem with the next step */
export function problemWithIds(
  stories: readonly Pick<Story, 'id'>[],
): (LanesProblem & { readonly next: Message }) | undefined {
  const id = repeatedId(stories);
  return id === undefined
    ? undefined
    : {
        message: say(
          'Several stories have the id {0}, so it cannot be said which of them an agent has done.',
          plainText(id),
        ),
        next: say('Give each an id of its own, or work with one lane.'),
      };
}

async function refusal({
  files: { workspace },
  folder,
  head: headNow,
  isContinued,
  settings,
  stories,
  storyFile,
}: Ground): Promise<Judgement | undefined> {
  const [{ root = workspace }, { branch: current, head }] = await Promise.all([
    folder(),
    headNow(),
  ]);
  const branch = landsOn(settings.branch, stories, current);
  const problem = await problemWithLanes({ root, head, branch, storyFile, stories });
  if (problem !== undefined) {
    return { level: 'refuses', ...problem };
  }
  const elsewhere = await worktreeWith(workspace, `refs/heads/${branch}`);
  return elsewhere === undefined
    ? undefined
    : {
        // What has landed already must be able to continue; it is kept until the branch can follow.
        level: isContinued ? 'warns' : 'refuses',
        message: say(
          'The work would land on the branch {0}, which is checked out in {1}, so it could not follow.',
          shorten(branch, 200),
          elsewhere,
        ),
        next: adviceOnWorktree(elsewhere),
      };
}

/** People write plans in the order of the work, but agents start together on what does not wait for anything. */
function withoutOrder({ settings, stories }: Ground): Judgement | undefined {
  const atOnce = stories?.format === 'plan' ? readyStories(stories.stories) : [];
  return settings.lanes > 1 && atOnce.length > 1
    ? {
        level: 'warns',
        message: say(
          'Up to {0} agents start on the items of this plan at once: a plan does not say which item needs another one first.',
          settings.lanes,
        ),
        next: say(
          'If they build on each other, use one agent, or write them in another format, with "dependsOn": ralph-fresh convert FILE --to prd.',
        ),
      }
    : undefined;
}

async function lanesWords({ head, settings, stories }: Ground): Promise<string> {
  const { branch: current } = await head();
  const branch = landsOn(settings.branch, stories, current);
  return settings.lanes > 1
    ? `Up to ${settings.lanes} agents work at once, each in a clone of its own. Their work lands on the branch ${branch}.`
    : `One agent works, in a clone of its own. Its work lands on the branch ${branch}.`;
}
