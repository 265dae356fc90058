import path from 'node:path';
import { Argument, type Command } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { englishOf } from '../base/say.ts';
import { shellWord } from '../base/shellWord.ts';
import { UsageError } from '../base/usageError.ts';
import { GitRepository } from '../orchestrator/git/git.ts';
import { runGit } from '../orchestrator/git/runGit.ts';
import { namedFiles } from '../orchestrator/git/treeCommit.ts';
import { readRunState } from '../orchestrator/journal/foldJournal.ts';
import { JournalWriter, readDecisions } from '../orchestrator/journal/journal.ts';
import { alone } from '../orchestrator/loop/exclusiveWork.ts';
import { readStoryList } from '../orchestrator/stories/storyFile.ts';
import { restorePoints, rollBack } from '../orchestrator/workspace/restorePoints.ts';
import { newestRunId, RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { cannotWriteTo } from '../orchestrator/workspace/takeFileLock.ts';
import { countArgument, cwdOption, type Flags } from './arguments.ts';
import { forPeople } from './people.ts';
import { print, printJson } from './print.ts';
import { type ChosenRun, noIteration, requireRun, runOption, tellPassedOver } from './runs.ts';
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
    .option('--json', 'as data: commit, files, to (docs/json-output.md)')
    .action(rollback);
}

async function rollback(iteration: number, { cwd, json, run }: Flags): Promise<void> {
  const files = new RunFiles(cwd);
  const chosen = await requireRun(files, run);
  const { runId } = chosen;
  const to = await beginOf(files, chosen, iteration);
  const result = await alone(files, async () => {
    await requireBranchOfRun(files, runId);
    const newest = (await newestRunId(files)) ?? runId;
    // Opened first: a journal that is not writable must not hide a commit from the person.
    const journal = await JournalWriter.open(files.journalFile(newest)).catch((error: unknown) => {
      throw cannotWriteTo(files.runDir(newest), error);
    });
    try {
      const done = await rollBack(files.workspace, {
        to,
        storyFile: await storyFileOf(files, undefined),
        message: `Go back to before iteration ${iteration}\n\nOf run ${runId}, at ${to}.`,
      });
      if (done.kind === 'rolledBack') {
        const { commit } = done;
        const of = newest === runId ? {} : { of: runId };
        journal.append({ type: 'run.rolledBack', iteration, commit, ...of });
        journal.sync();
      }
      return done;
    } finally {
      journal.close();
    }
  });
  const { commit, files: changed } =
    result.kind === 'rolledBack' ? result : { commit: null, files: [] };
  tellPassedOver(chosen, json === true);
  if (json) {
    printJson({ commit, files: changed.length, to });
  } else if (commit === null) {
    print(`Nothing to do: the files are as they were before iteration ${iteration}.`);
  } else {
    print(
      `Commit ${commit.slice(0, 7)} takes ${changed.length === 1 ? '1 file' : `${changed.length} files`} back to ${to.slice(0, 7)}, before iteration ${iteration}: ${englishOf(namedFiles(changed))}. To undo this: git revert ${commit.slice(0, 7)}`,
    );
    await tellOfTicks(files);
  }
}

/**
 * The new commit belongs on the branch of the run, as long as that exists.
 * @throws {HumanError} if HEAD is somewhere else
 */
async function requireBranchOfRun(files: RunFiles, runId: string): Promise<void> {
  const { workBranch } = await readRunState(files.journalFile(runId));
  const branch = await new GitRepository(files.workspace).branch();
  if (workBranch === undefined || workBranch === '' || workBranch === branch) {
    return;
  }
  const ref = `refs/heads/${workBranch}`;
  if ((await runGit(files.workspace, 'rev-parse', '--verify', '--quiet', ref)) !== '') {
    throw new HumanError(
      `The run worked on the branch ${workBranch}, but HEAD is on ${branch || 'no branch'}. Switch to it first: git switch ${shellWord(workBranch)}`,
    );
  }
}

/** Reports it if the stories could not be reset together with the files. */
async function tellOfTicks(files: RunFiles): Promise<void> {
  const file = await storyFileOf(files, undefined);
  if (file === undefined || (await runGit(files.workspace, 'ls-files', '--', file)) !== '') {
    return;
  }
  const list = await readStoryList(file);
  if (list?.stories.some(({ done }) => done)) {
    print(
      `${path.basename(file)} is not in git, so it was not rolled back: stories that were done since then are still marked as done. Mark them as not done with "ralph-fresh untick ID" to have them done again.`,
    );
  }
}

/**
 * The start of an iteration: its restore point, or, if git no longer has one, the commit that the journal names.
 * @throws {UsageError} naming the iterations that can be rolled back to
 */
async function beginOf(files: RunFiles, chosen: ChosenRun, iteration: number): Promise<string> {
  const { runId } = chosen;
  const commits = new Map<number, string>();
  let hadNoCommit = false;
  for (const event of await readDecisions(files.journalFile(runId))) {
    if (event.type === 'iteration.started' && event.startCommit !== undefined) {
      commits.set(event.iteration, event.startCommit);
    } else if (event.type === 'iteration.started') {
      hadNoCommit ||= event.iteration === iteration;
    }
  }
  for (const point of await restorePoints(files.workspace, runId)) {
    commits.set(point.iteration, point.commit);
  }
  const commit = commits.get(iteration);
  if (commit === undefined && hadNoCommit) {
    throw new UsageError(
      `Iteration ${iteration} of run ${runId} began before the first commit, so there is nothing to go back to.`,
    );
  }
  if (commit === undefined) {
    throw noIteration(
      iteration,
      chosen,
      [...commits.keys()].sort((a, b) => a - b),
    );
  }
  return commit;
}
