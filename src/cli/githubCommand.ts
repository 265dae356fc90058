import path from 'node:path';
import { type Command, Option } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { say } from '../base/say.ts';
import { readRunState } from '../orchestrator/journal/foldJournal.ts';
import { INITIAL_RUN_STATE } from '../orchestrator/journal/runState.ts';
import { AlreadyRunningError } from '../orchestrator/loop/exclusiveWork.ts';
import { settledStories } from '../orchestrator/loop/settledStories.ts';
import { givenSettings } from '../orchestrator/settings/settings.ts';
import { chooseOutsiderTexts } from '../orchestrator/stories/outsiderTexts.ts';
import { readStoryFileOrThrow } from '../orchestrator/stories/storyFile.ts';
import { repositoryOf } from '../orchestrator/trackers/github/githubSource.ts';
import { isMirror } from '../orchestrator/trackers/github/issueStories.ts';
import { readRun } from '../orchestrator/workspace/runCheckpoint.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { newestRunId } from '../orchestrator/workspace/runIds.ts';
import { SECRETS_FLAG, takeSecrets } from '../orchestrator/workspace/startSecrets.ts';
import { cwdOption } from './arguments.ts';
import { EXIT_FAILURE } from './exitCodes.ts';
import { livingLoop } from './loopEnd.ts';
import { forPeople } from './people.ts';
import { print } from './print.ts';
import { labelOption } from './runCommand.ts';
import { settingOptions, settingsOf } from './settingFlags.ts';
import { beginGithub, type GithubFlags, namedSource, tellNotes } from './start/githubStart.ts';
import { requireReadable } from './storyFiles.ts';

/** `ralph-fresh github sync` and `github forget`. */
export function addGithubCommand(program: Command): void {
  const github = program
    .command('github')
    .description('issues on GitHub as stories: bring their copy up to date, or end that');
  const sync = forPeople(github.command('sync'))
    .description('bring the copy of the issues up to date, and say on GitHub what is done')
    .addOption(cwdOption())
    .addOption(
      new Option(
        '--github <owner/repo>',
        'the repository; default: the one that you have named before in this folder',
      ).argParser(repositoryOf),
    )
    .addOption(labelOption())
    .option('--milestone <title>', 'only issues of this milestone');
  for (const option of settingOptions(['githubUrl', 'githubWhenDone', 'githubOutsiders'])) {
    sync.addOption(option);
  }
  sync.addOption(new Option(SECRETS_FLAG).hideHelp());
  sync.action((flags: SyncFlags) => syncNow(flags, sync));
  forPeople(github.command('forget'))
    .description('do not ask GitHub for this folder any more; the copy stays')
    .addOption(cwdOption())
    .action(({ cwd }: { readonly cwd: string }) => forget(cwd));
}

interface SyncFlags extends GithubFlags {
  readonly cwd: string;
  readonly secretsOnStdin?: boolean;
}

async function syncNow(flags: SyncFlags, command: Command): Promise<void> {
  if (flags.secretsOnStdin) {
    Object.assign(process.env, await takeSecrets(process.stdin));
  }
  const files = new RunFiles(flags.cwd);
  const given = settingsOf(command);
  chooseOutsiderTexts(given.githubOutsiders);
  const settings = await givenSettings({
    flags: given,
    workspace: files.workspace,
  });
  const loop = await livingLoop(files);
  if (loop !== undefined && (await worksOnIssues(files, loop.runId))) {
    if (flags.github !== undefined) {
      throw new AlreadyRunningError(loop);
    }
    print(
      'A run is active on these issues. It brings their copy up to date itself, between two agents.',
    );
    return;
  }
  const tracker = await beginGithub(files, namedSource(flags), settings, false);
  if (tracker === undefined) {
    throw new HumanError(
      say(
        'You have not named a repository in this folder yet. Name it: ralph-fresh github sync --github owner/name',
      ),
    );
  }
  const read = async () => requireReadable(await readStoryFileOrThrow(tracker.file));
  if (loop === undefined) {
    // What a run has claimed and nobody has judged yet is not said. An agent could write a checkpoint.
    const newest = await newestRunId(files);
    const state =
      newest === undefined ? INITIAL_RUN_STATE : await readRunState(files.journalFile(newest));
    const notes = await tracker.tellDone(settledStories((await read()).stories, state));
    tellNotes(notes);
    if (notes.some(({ code }) => code !== 'githubTooMany')) {
      process.exitCode = EXIT_FAILURE;
    }
  }
  const { stories } = await read();
  const count = (isCounted: (story: (typeof stories)[number]) => boolean) =>
    stories.filter(isCounted).length;
  print(
    `${tracker.file}: ${stories.length} issues, ${count(({ done }) => done)} done, ${count(({ parked }) => parked === true)} put aside.`,
  );
}

async function worksOnIssues(files: RunFiles, runId: string): Promise<boolean> {
  const { storyFile } = await readRun(files, runId);
  return (
    storyFile !== undefined && isMirror(files.workspace, path.resolve(files.workspace, storyFile))
  );
}

async function forget(cwd: string): Promise<void> {
  const files = new RunFiles(cwd);
  const { readGrant, writeGrant } = await import('../orchestrator/trackers/github/githubGrants.ts');
  const known = await readGrant(process.env, files.workspace);
  await writeGrant(process.env, files.workspace, undefined);
  print(
    known === undefined
      ? 'This folder uses no issues on GitHub.'
      : `GitHub is not asked about ${known.source.repository} for this folder any more.`,
  );
}
