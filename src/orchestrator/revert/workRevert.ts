import path from 'node:path';
import { HumanError, requireHuman } from '../../base/humanError.ts';
import { type Message, say, sentences } from '../../base/say.ts';
import { titleAfterId } from '../../base/storyTitle.ts';
import { shorten } from '../../base/text.ts';
import { bringInCommand } from '../git/bringInCommand.ts';
import { type Commit, changedTrackedFiles, GitRepository } from '../git/git.ts';
import { isContained } from '../git/isAncestor.ts';
import { applyRevert, planRevert, type RevertPlan } from '../git/revert.ts';
import { ONLY_REOPENS } from '../git/takenBack.ts';
import { type RecordedCommit, type RunState, storyNotes } from '../journal/runState.ts';
import { exclusively } from '../loop/exclusiveWork.ts';
import { recordTick, requireRecordable } from '../loop/tickStory.ts';
import { editStoryDone, setStoryDone } from '../stories/edit/edit.ts';
import type { TickUndo } from '../stories/edit/tickUndo.ts';
import { changedIn, isFolderText } from '../stories/formats/folderText.ts';
import type { Story, StoryList } from '../stories/story.ts';
import { problemOfFile, problemWords, readStoryFile } from '../stories/storyFile.ts';
import { requireBd, type TrackerAccess, tellBeads } from '../trackers/beads/beadsAccess.ts';
import { beadsDatabase } from '../trackers/beads/beadsDatabase.ts';
import { committedStories } from '../workspace/committedStories.ts';
import { heldTip } from '../workspace/heldTip.ts';
import { goToWork, landedElsewhere } from '../workspace/landedElsewhere.ts';
import type { RunFiles } from '../workspace/runFiles.ts';
import { requireOwnCommits } from './mixedCommits.ts';
import { ownFilesOf } from './ownFiles.ts';
import { commitsOfWork, type Revertible, storiesDoneBy } from './recordedWork.ts';

/** The effects of reverting a story or an iteration, for the person to decide. */
export interface WorkRevert {
  readonly of: Revertible;
  readonly plan: RevertPlan;
  /** The commits to revert, newest first. */
  readonly commits: readonly Commit[];
  /** Stories that will be open again. */
  readonly reopens: readonly Story[];
  /** Absolute; absent without a story file. */
  readonly storyFile?: string;
  /** The story file is part of the new commit; otherwise it is edited like a person's tick. */
  readonly isStoryFileCommitted: boolean;
}

export interface WorkRevertOptions {
  readonly of: Revertible;
  /** Of all runs of the folder, oldest first. */
  readonly states: readonly RunState[];
  /** Absolute path of the story file. */
  readonly storyFile?: string | undefined;
}

/**
 * Determines the effects of reverting a story or an iteration; changes nothing.
 *
 * The story file and the progress log stay unchanged, except for the ticks: later iterations wrote to the same
 * files, and what agents learned is still true. What a person had not committed when a run began stays as well.
 *
 * @throws {HumanError} if it cannot be reverted, with the next step
 */
export async function planWorkRevert(
  files: RunFiles,
  { of, states, storyFile }: WorkRevertOptions,
): Promise<WorkRevert> {
  const list = storyFile === undefined ? undefined : await storiesOf(storyFile);
  const recorded = await commitsOfWork(files, { of, states, list });
  const git = new GitRepository(files.workspace);
  if ((await git.root()) === undefined) {
    throw new HumanError(
      say(
        'This folder is not in a git repository, so there is nothing to revert. Go to the folder that the run worked in.',
      ),
    );
  }
  if (recorded.length === 0) {
    throw new HumanError(nothingCommitted(of, states));
  }
  await requireLandedHere(files.workspace, recorded, states);
  await requireOwnCommits(files, recorded, states);
  const reopens = (await storiesDoneBy(files, of, list)).filter(({ done }) => done);
  const own = await ownFilesOf(files, storyFile);
  const runOf = new Map(
    states.flatMap(state => state.commits.map(({ hash }) => [hash, state] as const)),
  );
  const edited =
    own.stories === '' || reopens.length === 0
      ? undefined
      : await reopened(files.workspace, own.stories, reopens);
  const plan = await planRevert(files.workspace, {
    hashes: recorded.map(({ hash }) => hash),
    merges: new Set(recorded.flatMap(({ hash, landed }) => (landed ? [hash] : []))),
    keep: own.notes,
    keepAdded: (file, hash) => {
      const run = runOf.get(hash);
      return run !== undefined && own.wasThere(file, run);
    },
    edits: edited,
  });
  return {
    of,
    plan,
    commits: await commitsOf(git, plan.commits),
    reopens,
    storyFile,
    isStoryFileCommitted: edited !== undefined,
  };
}

/**
 * The stories that a revert may have to open again.
 * @throws {HumanError} if the file cannot be read: the story would stay done without its work
 */
async function storiesOf(storyFile: string): Promise<StoryList | undefined> {
  const file = await readStoryFile(storyFile);
  if (file?.kind === 'invalid') {
    throw new HumanError(problemOfFile(storyFile, problemWords(file.problems[0])));
  }
  return file;
}

/**
 * Does the revert: one new commit, and the stories are open again.
 *
 * @param message of the new commit
 * @param onWarning gets what could not be said to the database of Beads; the revert is done nevertheless
 * @returns the new commit's full hash; `undefined` if there was nothing to commit
 * @throws {AlreadyRunningError} while a run is active in the folder
 * @throws {HumanError} if it cannot be reverted (any more), with the next step
 */
export async function revertWork(
  files: RunFiles,
  { isStoryFileCommitted, plan, reopens, storyFile }: WorkRevert,
  message: string,
  onWarning: (warning: Message) => void,
): Promise<string | undefined> {
  await requireRecordable(files);
  const undos = new Map<string, TickUndo | undefined>();
  const access = { mayRun: true, env: process.env };
  const inBeads =
    storyFile !== undefined && (await beadsDatabase(storyFile)) !== undefined
      ? storyFile
      : undefined;
  if (inBeads !== undefined) {
    // Before anything is changed.
    await requireBd(inBeads, access);
  }
  let commit: string | undefined;
  try {
    commit = await exclusively(files, async () => {
      const made =
        plan.files.length === 0 ? undefined : await applyRevert(files.workspace, plan, message);
      for (const { id, position } of reopens) {
        if (isStoryFileCommitted || storyFile === undefined) {
          undos.set(id, undefined);
        } else {
          const { undo } = await setStoryDone(storyFile, { id, position }, false);
          undos.set(id, undo);
        }
      }
      return made;
    });
  } finally {
    // What is open in the file is recorded, also if another edit has failed, and before a program can hang.
    for (const [id, undo] of undos) {
      const { epic, title = id } = reopens.find(story => story.id === id) ?? {};
      await recordTick(files, { id, epic, title }, false, undo);
    }
  }
  if (inBeads !== undefined) {
    await reopenInBeads(inBeads, reopens, access, onWarning);
  }
  return commit;
}

/** A commit cannot be taken back because a database was busy. */
async function reopenInBeads(
  storyFile: string,
  reopens: readonly Story[],
  access: TrackerAccess,
  onWarning: (warning: Message) => void,
): Promise<void> {
  for (const { id } of reopens) {
    try {
      await tellBeads(storyFile, id, false, access);
    } catch (error) {
      requireHuman(error);
      onWarning(
        sentences([
          say('{0} could not be changed in the database of Beads.', id),
          error.said,
          say('Reopen it there: bd reopen {0}', id),
        ]),
      );
    }
  }
}

/** The message of the reverting commit. */
export function revertMessage({ commits, of }: WorkRevert, title: string | undefined): string {
  const count = commits.length === 1 ? '1 commit' : `${commits.length} commits`;
  const named =
    of.kind === 'story'
      ? `${of.storyId}${titleAfterId(of.storyId, title ?? '')}`
      : `iteration ${of.iteration}`;
  const lines = commits.map(({ hash, subject }) => `${hash} ${shorten(subject, 200)}`);
  if (commits.length === 0) {
    // Its commits were taken back before, without the story file.
    return `Reopen ${shorten(named, 200)}\n\n${ONLY_REOPENS}`;
  }
  return `Revert ${shorten(named, 200)} (${count})\n\nThis takes back:\n${lines.join('\n')}`;
}

/**
 * The work of lanes lands on a branch that need not be checked out.
 * @throws {HumanError} if none of it is in what is checked out, but on that branch, or on its way there
 */
async function requireLandedHere(
  dir: string,
  recorded: readonly RecordedCommit[],
  states: readonly RunState[],
): Promise<void> {
  const landed = recorded.filter(commit => commit.landed);
  const last = landed.at(-1);
  if (last === undefined || landed.length < recorded.length) {
    return;
  }
  for (const { hash } of landed) {
    if (await isContained(dir, hash, 'HEAD')) {
      return;
    }
  }
  const branch = states.findLast(({ commits }) => commits.includes(last))?.branch ?? '';
  const elsewhere = await landedElsewhere(dir, { branch, commits: landed, isolated: true });
  if (elsewhere !== undefined) {
    throw await goToWork(dir, elsewhere);
  }
  const tip = branch === '' ? undefined : await heldTip(dir, branch);
  if (tip !== undefined && (await isContained(dir, last.hash, tip))) {
    throw new HumanError(
      say(
        'This work has landed, but the branch {0} does not have it yet. "ralph-fresh status" says what is in the way; "ralph-fresh run --isolate" brings it in. By hand: {1}',
        shorten(branch, 200),
        bringInCommand(tip),
      ),
    );
  }
}

function nothingCommitted(of: Revertible, states: readonly RunState[]): Message {
  if (of.kind === 'story' && states.some(state => hasKeptWork(state, of.storyId))) {
    return say(
      'Nothing of {0} has landed. "ralph-fresh places" lists the work on it.',
      shorten(of.storyId, 80),
    );
  }
  return of.kind === 'story'
    ? say(
        'No run has committed anything for {0}, so there is nothing to revert. To reopen it, untick it; "git status" shows uncommitted changes.',
        shorten(of.storyId, 80),
      )
    : say(
        'Iteration {0} made no commit, so there is nothing to revert. "ralph-fresh receipt" shows which iterations did; "git status" shows uncommitted changes.',
        of.iteration,
      );
}

/** An agent in a place of its own has worked on it. */
function hasKeptWork(state: RunState, storyId: string): boolean {
  const { conflict, kept } = storyNotes(state, storyId);
  return state.isolated === true && (kept !== undefined || conflict !== undefined);
}

/**
 * The story file in HEAD with these stories open; of a folder of stories, the files that differ then.
 * @returns `undefined` if the file is not in HEAD, or differs from it
 */
async function reopened(
  dir: string,
  file: string,
  stories: readonly Story[],
): Promise<ReadonlyMap<string, Buffer> | undefined> {
  const changed = await changedTrackedFiles(dir);
  return changed.some(one => one === file || one.startsWith(`${file}/`))
    ? undefined
    : storiesOpenIn(dir, file, stories);
}

/** Like {@link reopened}, whatever is in the work tree. */
export async function storiesOpenIn(
  dir: string,
  file: string,
  stories: readonly Story[],
): Promise<ReadonlyMap<string, Buffer> | undefined> {
  let text: string;
  try {
    const bytes = await committedStories(dir, 'HEAD', file);
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Not in git, or not UTF-8: editing the file itself handles both.
    return undefined;
  }
  if (text === '') {
    // There is no such file in HEAD, and no folder of stories either.
    return undefined;
  }
  const edited = stories.reduce(
    (before, { id, position }) => editStoryDone(before, { id, position }, false, file),
    text,
  );
  const after = Buffer.from(edited);
  return isFolderText(text)
    ? new Map(
        [...changedIn(Buffer.from(text), after)].map(
          ([name, content]) => [path.posix.join(file, name), content] as const,
        ),
      )
    : new Map([[file, after]]);
}

async function commitsOf(git: GitRepository, hashes: readonly string[]): Promise<Commit[]> {
  const found = await Promise.all(hashes.map(at => git.commits({ limit: 1, at })));
  return found.flat();
}
