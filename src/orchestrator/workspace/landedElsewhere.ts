import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { shellWord } from '../../base/shellWord.ts';
import { shorten } from '../../base/text.ts';
import { GitRepository, HEADS } from '../git/git.ts';
import { isContained } from '../git/isAncestor.ts';
import type { Story, StoryList } from '../stories/story.ts';
import { committedList } from './committedStories.ts';
import { readRun } from './runCheckpoint.ts';
import type { RunFiles } from './runFiles.ts';
import { runIds } from './runIds.ts';
import { branchOfWork, type LandedWork } from './workNow.ts';

/**
 * The branch that has work of lanes, if it is not checked out and HEAD lacks the work. What follows on this work, such
 * as a revert of it or the next story of its list, belongs to that branch.
 * @param dir absolute path of the workspace
 */
export async function landedElsewhere(dir: string, work: LandedWork): Promise<string | undefined> {
  const branch = await branchOfWork(dir, work);
  const last = work.commits.at(-1)?.hash ?? '';
  // The branch need not have it: what has landed may be held, or somebody has reset the branch.
  return branch !== undefined && (await isContained(dir, last, HEADS + branch))
    ? branch
    : undefined;
}

/**
 * The branch that has the newest work on a list of stories, as {@link landedElsewhere}, if a story is done there that the
 * list of HEAD has as not done. What was squashed here by a person has brought its marks.
 * @param storyFile absolute path
 */
export async function listElsewhere(
  files: RunFiles,
  storyFile: string,
): Promise<string | undefined> {
  const { workspace } = files;
  for (const runId of (await runIds(files)).toReversed()) {
    const { storyFile: named = '', ...run } = await readRun(files, runId);
    if (run.commits.length > 0 && path.resolve(workspace, named) === storyFile) {
      // If git cannot tell, as without its folder, no other list is known.
      const branch = await landedElsewhere(workspace, run).catch(() => undefined);
      return branch !== undefined && (await hasMoreDone(storyFile, branch)) ? branch : undefined;
    }
  }
  return undefined;
}

/** Whether a story is done on a branch, and not done in HEAD. @param storyFile absolute path */
async function hasMoreDone(storyFile: string, branch: string): Promise<boolean> {
  const there = await listOn(storyFile, HEADS + branch).catch(() => undefined);
  const here = await listOn(storyFile, 'HEAD').catch(() => undefined);
  const left = new Set(here?.stories.flatMap(({ done, id }) => (done ? [] : [id])));
  return there?.stories.some(({ done, id }) => done && left.has(id)) === true;
}

/**
 * Whether the list goes on in a branch in which a story has another state than the person has just given it here. When they go
 * there later, git merges two lists, and does not know what a mark means.
 * @param storyFile absolute path
 * @returns the way to that branch, and its command
 */
export async function markElsewhere(
  files: RunFiles,
  storyFile: string,
  { done, id }: Pick<Story, 'done' | 'id'>,
): Promise<{ readonly way: HumanError; readonly command: string } | undefined> {
  const branch = await listElsewhere(files, storyFile);
  if (branch === undefined) {
    return undefined;
  }
  // If git cannot tell, as while its files are locked, the mark is made all the same.
  const list = await listOn(storyFile, HEADS + branch).catch(() => undefined);
  const there = list?.stories.find(story => story.id === id);
  return there && there.done !== done
    ? { way: await goToWork(files.workspace, branch), command: switchTo(branch) }
    : undefined;
}

/** @param commit its name */
async function listOn(storyFile: string, commit: string): Promise<StoryList | undefined> {
  const root = await new GitRepository(path.dirname(storyFile)).root();
  return (root && (await committedList(root, commit, storyFile))) || undefined;
}

/** The git command that goes to a branch that has work. */
function switchTo(branch: string): string {
  return `git switch --no-overwrite-ignore --merge ${shellWord(branch)}`;
}

/** The way to the branch that has work. */
export async function goToWork(dir: string, branch: string): Promise<HumanError> {
  return new HumanError(
    say(
      'This work has landed on the branch {0}, and {1} is checked out. Go there with "{2}", then try again.',
      shorten(branch, 200),
      (await new GitRepository(dir).branch()) || say('a detached HEAD'),
      switchTo(branch),
    ),
  );
}
