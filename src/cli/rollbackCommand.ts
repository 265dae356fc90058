import path from 'node:path';
import { Argument, type Command } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { englishOf } from '../base/say.ts';
import { shellWord } from '../base/shellWord.ts';
import { bringInCommand } from '../orchestrator/git/bringInCommand.ts';
import { GitRepository } from '../orchestrator/git/git.ts';
import { runGit } from '../orchestrator/git/runGit.ts';
import { changedPaths, namedFiles } from '../orchestrator/git/treeCommit.ts';
import { readRunState } from '../orchestrator/journal/foldJournal.ts';
import { JournalWriter, readDecisions } from '../orchestrator/journal/journal.ts';
import type { RunState } from '../orchestrator/journal/runState.ts';
import { exclusively } from '../orchestrator/loop/exclusiveWork.ts';
import { fileBelow } from '../orchestrator/loop/resume.ts';
import { ownFilesOf } from '../orchestrator/revert/ownFiles.ts';
import { storiesOpenIn } from '../orchestrator/revert/workRevert.ts';
import { readStoryList } from '../orchestrator/stories/storyFile.ts';
import { heldTip } from '../orchestrator/workspace/heldTip.ts';
import { RunHistory } from '../orchestrator/workspace/history.ts';
import { type RollBack, rollBack } from '../orchestrator/workspace/restorePoints.ts';
import {
  type RollbackTicks,
  restoredCommitLists,
  rollbackTicks,
  rolledBackStories,
} from '../orchestrator/workspace/rolledBackStories.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { newestRunId } from '../orchestrator/workspace/runIds.ts';
import { cannotWriteTo } from '../orchestrator/workspace/takeFileLock.ts';
import { countArgument, cwdOption, type Flags } from './arguments.ts';
import { forPeople } from './people.ts';
import { print, printJson } from './print.ts';
import { type Begin, beginOf } from './rollbackBegin.ts';
import {
  effectOf,
  otherCommits,
  tellOfGoneBefore,
  tellOfLandings,
  tellOfOtherCommits,
  tellOfRestored,
} from './rollbackEffect.ts';
import { type SettledTicks, settleTicks, tellOfSettledTicks } from './rollbackTicks.ts';
import { type ChosenRun, requireRun, runOption, tellPassedOver } from './runs.ts';
import { storyFileOf } from './storyFiles.ts';

/** `ralph-fresh rollback`: returns to the state before an iteration, with a new commit. */
export function addRollbackCommand(program: Command): void {
  forPeople(program.command('rollback'))
    .description('go back to the state before an iteration, by a new commit; the history stays')
    .addArgument(
      new Argument('<iteration>', 'number of the iteration').argParser(
        countArgument('an iteration', 'rollback'),
      ),
    )
    .addOption(cwdOption())
    .addOption(runOption())
    .option('--dry-run', 'only show what would be taken back')
    .option(
      '--json',
      'as data: commit, files, kept, to, stories, restored, reopened, stillDone, lost, otherCommits (docs/json-output.md)',
    )
    .action(rollback);
}

interface RollbackFlags extends Flags {
  readonly dryRun?: true;
}

async function rollback(
  iteration: number,
  { cwd, dryRun, json, run }: RollbackFlags,
): Promise<void> {
  const isDryRun = dryRun === true;
  const files = new RunFiles(cwd);
  const chosen = await requireRun(files, run);
  const begin = await beginOf(files, chosen, iteration);
  const { to } = begin;
  const allStates = await new RunHistory(files).read();
  // This run and all later ones, whose work it takes back.
  const states = allStates.filter(({ runId: id = '' }) => id >= chosen.runId);
  const asked = { begin, iteration, states };
  const { ticks, ...result } = await (isDryRun
    ? tryRollBack(files, chosen, asked)
    : rollBackRun(files, chosen, asked));
  const changed = result.kind === 'nothingToDo' ? [] : result.files;
  const kept = result.kind === 'nothingToDo' ? [] : result.kept;
  const commit = result.kind === 'rolledBack' ? result.commit : null;
  const head = commit === null ? 'HEAD' : `${commit.slice(0, 7)}~1`;
  const effect =
    changed.length === 0 ? undefined : await effectOf(files.workspace, allStates, begin, head);
  // Going to a later state than the current one takes nothing back.
  const isBack = effect && (effect.restored.length === 0 || effect.takenBack.length > 0);
  const others = isBack
    ? await otherCommits(files, allStates, begin, { before: effect.before, head })
    : [];
  tellPassedOver(chosen, json === true);
  if (json) {
    const { landings = [], restored = [] } = effect ?? {};
    printJson({
      ...{ commit, files: changed.length, kept, to, stories: landings, restored, ...ticks },
      otherCommits: others,
    });
  } else if (effect === undefined) {
    print(`Nothing to do: the files are as they were before iteration ${iteration}.`);
  } else {
    const where = `back to ${to.slice(0, 7)}, before iteration ${iteration}: ${isDryRun ? changed.join(', ') : englishOf(namedFiles(changed))}.`;
    const what = changed.length === 1 ? '1 file' : `${changed.length} files`;
    // Going to a later state than the current one is no way back for all of them.
    const [take, takes] = effect.restored.length > 0 ? ['bring', 'brings'] : ['take', 'takes'];
    print(
      commit === null
        ? `Would ${take} ${what} ${where}`
        : `Commit ${commit.slice(0, 7)} ${takes} ${what} ${where} To undo this: git revert ${commit.slice(0, 7)}`,
    );
    if (kept.length > 0) {
      const not = isDryRun ? 'Would not be taken back' : 'Not taken back';
      print(`${not} (not committed when the run began): ${englishOf(namedFiles(kept))}.`);
    }
    tellOfSettledTicks(ticks, isDryRun);
    tellOfRestored(begin, effect, isDryRun);
    tellOfLandings(begin, effect, iteration, isDryRun);
    tellOfGoneBefore(effect);
    if (isBack) {
      tellOfOwnChanges(states, changed, `${to.slice(0, 7)} ${head}`);
    }
    tellOfOtherCommits(others, isDryRun);
    await tellOfTicks(files, isDryRun);
  }
}

/** What a rollback is about. */
interface Asked {
  readonly begin: Begin;
  readonly iteration: number;
  /** Of the runs whose work it takes back. */
  readonly states: readonly RunState[];
}

/** Changes nothing, so it may be done while a loop works. */
async function tryRollBack(
  files: RunFiles,
  { runId }: ChosenRun,
  asked: Asked,
): Promise<RolledBack> {
  await requireBranchOfRun(files, runId);
  const storyIds = await storiesTakenBack(files, runId, asked);
  const options = await optionsOf(files, runId, asked, storyIds);
  const uncommitted = await ticksOf(files, runId, asked, { ...options, storyIds });
  const result = await rollBackOrFinish(files, asked, { ...options, isDryRun: true });
  const ticks = await settleTicks(uncommitted, result, options.storyFile, true);
  return { ...result, ticks };
}

type RolledBack = RollBack & { readonly ticks: SettledTicks };

/** A run on another story file says nothing about this one. */
async function ticksOf(
  files: RunFiles,
  runId: string,
  asked: Asked,
  { storyFile, storyIds }: { readonly storyFile?: string; readonly storyIds: readonly string[] },
): Promise<RollbackTicks | undefined> {
  const { states } = asked;
  const own = states.find(state => state.runId === runId)?.storyFile;
  const others = new Set(
    states.flatMap(state => (state.storyFile === own ? [] : (state.runId ?? []))),
  );
  const takenBack =
    others.size === 0
      ? storyIds
      : await storiesTakenBack(files, runId, asked, id => !others.has(id));
  return storyFile === undefined
    ? undefined
    : rollbackTicks(files.workspace, storyFile, { takenBack, to: asked.begin.to });
}

function storiesTakenBack(
  files: RunFiles,
  runId: string,
  { begin: { gone, isIsolated }, iteration }: Asked,
  isAsked?: (runId: string) => boolean,
): Promise<string[]> {
  const landed = isIsolated ? gone : undefined;
  return rolledBackStories(files, runId, { iteration, landed }, isAsked);
}

/** Changes of a person that an agent has committed are among its own. @param range two commits, for `git diff` */
function tellOfOwnChanges(
  states: readonly RunState[],
  changed: readonly string[],
  range: string,
): void {
  const before = new Set(states.flatMap(({ uncommittedBefore = [] }) => uncommittedBefore));
  const own = changed.filter(file => before.has(file));
  const [first] = own;
  if (first !== undefined) {
    print(
      `Taken back with it are changes that were not committed when the run began: ${englishOf(namedFiles(own))}. To see them: git diff ${range} -- ${shellWord(first)}`,
    );
  }
}

/** The stories that the run worked on, or those that a run would find now. @returns absolute path */
async function storyFileOfRun(
  files: RunFiles,
  [run]: readonly RunState[],
): Promise<string | undefined> {
  const ofRun = run?.storyFile === undefined ? undefined : fileBelow(files, run.storyFile);
  return ofRun ?? storyFileOf(files, undefined);
}

/** What is not the agents' work stays if the earlier commit does not have it; its stories are open again. */
async function optionsOf(
  files: RunFiles,
  runId: string,
  { begin: { to }, iteration, states }: Asked,
  storyIds: readonly string[],
) {
  const storyFile = await storyFileOfRun(files, states);
  const { stories: place, wasThere } = await ownFilesOf(files, storyFile);
  const edits = async () => {
    const list = storyFile === undefined ? undefined : await readStoryList(storyFile);
    const back = list?.stories.filter(({ id }) => storyIds.includes(id)) ?? [];
    return back.length === 0 ? undefined : storiesOpenIn(files.workspace, place, back);
  };
  const keepAdded = (file: string) => states.some(state => wasThere(file, state));
  const restored =
    storyFile === undefined
      ? undefined
      : await restoredCommitLists(files.workspace, storyFile, { takenBack: storyIds, to });
  const message = messageOf(runId, to, iteration);
  return { to, message, storyFile, keepAdded, edits, ...(restored && { restored }) };
}

function rollBackRun(files: RunFiles, { runId }: ChosenRun, asked: Asked): Promise<RolledBack> {
  return exclusively(files, async () => {
    await requireBranchOfRun(files, runId);
    const newest = (await newestRunId(files)) ?? runId;
    const storyIds = await storiesTakenBack(files, runId, asked);
    // Opened first: a journal that is not writable must not hide a commit from the person.
    const journal = await JournalWriter.open(files.journalFile(newest)).catch((error: unknown) => {
      throw cannotWriteTo(files.runDir(newest), error);
    });
    try {
      const options = await optionsOf(files, runId, asked, storyIds);
      const { storyFile } = options;
      const uncommitted = await ticksOf(files, runId, asked, { storyFile, storyIds });
      const done = await rollBackOrFinish(files, asked, options);
      const ticks = await settleTicks(uncommitted, done, storyFile);
      if (done.kind === 'rolledBack') {
        const { commit } = done;
        const of = newest === runId ? {} : { of: runId };
        const { iteration } = asked;
        journal.append({ type: 'run.rolledBack', iteration, commit, ...of, storyIds });
        journal.sync();
      }
      return { ...done, ticks };
    } finally {
      journal.close();
    }
  });
}

/**
 * If the same rollback was killed after its commit, there is nothing to do for git, but all else is still to be done:
 * the record in the journal is its last step.
 */
async function rollBackOrFinish(
  files: RunFiles,
  { states }: Asked,
  options: Parameters<typeof rollBack>[1],
): Promise<RollBack> {
  const { workspace } = files;
  const done = await rollBack(workspace, options);
  if (done.kind !== 'nothingToDo') {
    return done;
  }
  const last = await runGit(workspace, 'log', '-1', '--no-show-signature', '--format=%H%n%B');
  const [commit = '', ...words] = last.split('\n');
  if (words.join('\n').trim() !== options.message) {
    return done;
  }
  for (const { runId } of states) {
    const events = runId === undefined ? [] : await readDecisions(files.journalFile(runId));
    if (events.some(event => event.type === 'run.rolledBack' && event.commit === commit)) {
      return done;
    }
  }
  const changed = await changedPaths(workspace, `${commit}~1`, commit);
  return { kind: 'rolledBack', commit, files: changed, kept: [] };
}

function messageOf(runId: string, to: string, iteration: number): string {
  return `Go back to before iteration ${iteration}\n\nOf run ${runId}, at ${to}.`;
}

/**
 * The new commit belongs on the branch of the run, as long as that exists.
 * @throws {HumanError} if HEAD is somewhere else
 */
async function requireBranchOfRun(files: RunFiles, runId: string): Promise<void> {
  const { isolated, workBranch } = await readRunState(files.journalFile(runId));
  const branch = await new GitRepository(files.workspace).branch();
  if (workBranch === undefined || workBranch === '') {
    return;
  }
  if (workBranch === branch) {
    const tip = isolated ? await heldTip(files.workspace, branch) : undefined;
    if (tip !== undefined) {
      throw new HumanError(
        `The branch ${branch} does not have everything yet that has landed, so nothing was changed. "ralph-fresh status" says what is in the way; "ralph-fresh run --isolate" brings it in. By hand: ${bringInCommand(tip)}`,
      );
    }
    return;
  }
  const ref = `refs/heads/${workBranch}`;
  if ((await runGit(files.workspace, 'rev-parse', '--verify', '--quiet', ref)) !== '') {
    throw new HumanError(
      `The run worked on the branch ${workBranch}, but HEAD is on ${branch || 'no branch'}. Switch to it first: git switch --no-overwrite-ignore ${isolated ? '--merge ' : ''}${shellWord(workBranch)}`,
    );
  }
}

/** Reports it if the stories could not be reset together with the files. */
async function tellOfTicks(files: RunFiles, isDryRun: boolean): Promise<void> {
  const file = await storyFileOf(files, undefined);
  if (file === undefined || (await runGit(files.workspace, 'ls-files', '--', file)) !== '') {
    return;
  }
  const list = await readStoryList(file);
  if (list?.stories.some(({ done }) => done)) {
    const name = path.basename(file);
    print(
      isDryRun
        ? `${name} is not in git, so it would stay as it is: stories that were done since then would still be marked as done.`
        : `${name} is not in git, so it was not rolled back: stories that were done since then are still marked as done. Mark them as not done with "ralph-fresh untick ID" to have them done again.`,
    );
  }
}
