import { type Command, Option } from 'commander';
import { englishOf } from '../base/say.ts';
import { shorten } from '../base/text.ts';
import { UsageError } from '../base/usageError.ts';
import { namedFiles } from '../orchestrator/git/treeCommit.ts';
import type { RecordedCommit, RunState } from '../orchestrator/journal/runState.ts';
import type { Revertible } from '../orchestrator/revert/recordedWork.ts';
import { planWorkRevert, revertMessage, revertWork } from '../orchestrator/revert/workRevert.ts';
import { readStoryList } from '../orchestrator/stories/storyFile.ts';
import { RunHistory } from '../orchestrator/workspace/history.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { count, cwdOption, type Flags } from './arguments.ts';
import { forPeople } from './people.ts';
import { print, printJson, tellWarning } from './print.ts';
import { type ChosenRun, noIteration, requireRun, runOption, tellPassedOver } from './runs.ts';
import { fileOption, findStory, storyFileOf } from './storyFiles.ts';
import { typedId } from './typedIds.ts';

interface RevertFlags extends Flags {
  readonly iteration?: number;
  readonly dryRun?: true;
}

/** `ralph-fresh revert`: reverts a story or an iteration, and keeps what came after it. */
export function addRevertCommand(program: Command): void {
  forPeople(program.command('revert'))
    .description('revert one story by a new commit; later work stays')
    .argument('[story]', 'id of the story')
    .addOption(
      new Option('--iteration <n>', 'revert an iteration instead of a story').argParser(count),
    )
    .addOption(cwdOption())
    .addOption(runOption())
    .addOption(fileOption())
    .option('--dry-run', 'only show what would be reverted')
    .option(
      '--json',
      'as data: commit, commits, files, kept, reopened, takenBack (docs/json-output.md)',
    )
    .action(revert);
}

async function revert(typed: string | undefined, flags: RevertFlags): Promise<void> {
  const files = new RunFiles(flags.cwd);
  const states = await new RunHistory(files).read();
  const worked = states.flatMap(({ commits }) => commits.flatMap(({ storyId: id }) => id ?? []));
  const storyId = typed && (await typedId(files, typed, worked, flags.file));
  const { chosen, of } = await revertibleOf(files, storyId, flags);
  const storyFile = await storyFileOf(files, flags.file);
  requireIteration(of, chosen, states);
  if (of.kind === 'story' && !states.some(({ commits }) => commits.some(isOf(of.storyId)))) {
    // The commits of a story can be reverted even if the file no longer contains the story.
    await findStory(files, of.storyId, flags.file);
  }
  const planned = await planWorkRevert(files, { of, states, storyFile });
  const { commits, plan, reopens } = planned;
  const commit =
    flags.dryRun === true
      ? undefined
      : await revertWork(
          files,
          planned,
          revertMessage(planned, await titleOf(of, storyFile)),
          tellWarning,
        );
  if (chosen !== undefined) {
    tellPassedOver(chosen, flags.json === true);
  }
  if (flags.json) {
    printJson({
      commit: commit ?? null,
      commits: commits.map(({ hash }) => hash),
      elsewhere: plan.elsewhere,
      takenBack: plan.takenBack,
      files: plan.files,
      kept: plan.kept,
      reopened: reopens.map(({ id }) => id),
    });
    return;
  }
  const listed = commits.map(({ hash, subject }) => `${hash.slice(0, 7)} ${shorten(subject, 100)}`);
  const ids = reopens.map(({ id }) => shorten(id, 80)).join(', ');
  if (plan.files.length === 0 && reopens.length === 0) {
    print('Nothing to do: nothing is left to revert.');
  } else if (flags.dryRun) {
    if (commits.length > 0) {
      print(`Would revert, in ${fileCount(plan.fileCount)}:\n${listed.join('\n')}`);
    }
    if (ids !== '') {
      print(`Would reopen: ${ids}`);
    }
  } else {
    if (commit !== undefined && commits.length > 0) {
      const hash = commit.slice(0, 7);
      print(
        `Commit ${hash} reverts, in ${fileCount(plan.fileCount)}:\n${listed.join('\n')}\nTo undo this: git revert ${hash}`,
      );
    }
    if (ids !== '') {
      print(`Reopened: ${ids}`);
    }
  }
  if (plan.kept.length > 0) {
    const not = flags.dryRun ? 'Would not be taken back' : 'Not taken back';
    print(`${not} (not committed when a run began): ${englishOf(namedFiles(plan.kept))}.`);
  }
  if (plan.takenBack.length > 0) {
    print(`Taken back already, and left out: ${shortHashes(plan.takenBack)}`);
  }
  if (plan.elsewhere.length > 0) {
    print(`Not in the history of this branch, and left out: ${shortHashes(plan.elsewhere)}`);
  }
}

function shortHashes(hashes: readonly string[]): string {
  return hashes.map(hash => shorten(hash, 64).slice(0, 7)).join(', ');
}

async function revertibleOf(
  files: RunFiles,
  storyId: string | undefined,
  { iteration, run }: RevertFlags,
): Promise<{ readonly of: Revertible; readonly chosen?: ChosenRun }> {
  if ((storyId === undefined) === (iteration === undefined)) {
    throw new UsageError('Name one story, or one iteration with --iteration N.');
  }
  if (iteration !== undefined) {
    const chosen = await requireRun(files, run);
    return { of: { kind: 'iteration', runId: chosen.runId, iteration }, chosen };
  }
  if (run !== undefined) {
    throw new UsageError('A story is reverted as a whole, so --run requires --iteration.');
  }
  return { of: { kind: 'story', storyId: storyId ?? '' } };
}

function isOf(id: string): (commit: RecordedCommit) => boolean {
  return ({ storyId }) => storyId === id;
}

/** @throws {UsageError} naming the iterations that the run has */
function requireIteration(
  of: Revertible,
  chosen: ChosenRun | undefined,
  states: readonly RunState[],
): void {
  if (of.kind !== 'iteration' || chosen === undefined) {
    return;
  }
  const last = states.find(({ runId }) => runId === of.runId)?.iteration ?? 0;
  if (of.iteration > last) {
    throw noIteration(
      of.iteration,
      chosen,
      Array.from({ length: last }, (_, index) => index + 1),
    );
  }
}

async function titleOf(of: Revertible, storyFile: string | undefined): Promise<string | undefined> {
  if (of.kind !== 'story' || storyFile === undefined) {
    return undefined;
  }
  const list = await readStoryList(storyFile);
  return list?.stories.find(({ id }) => id === of.storyId)?.title;
}

function fileCount(files: number): string {
  return files === 1 ? '1 file' : `${files} files`;
}
