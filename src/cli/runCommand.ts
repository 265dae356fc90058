import path from 'node:path';
import { type Command, Option } from 'commander';
import { say } from '../base/say.ts';
import { UsageError } from '../base/usageError.ts';
import { repositoryOf } from '../orchestrator/trackers/github/githubSource.ts';
import { ON_LAST_WINDOW } from '../orchestrator/workspace/openWindows.ts';
import { SECRETS_FLAG } from '../orchestrator/workspace/startSecrets.ts';
import { cwdOption } from './arguments.ts';
import { takesOneText } from './oneText.ts';
import { forPeople } from './people.ts';
import { addSettingFlags } from './settingFlags.ts';
import { addStartFlags, type RunFlags } from './start/startFlags.ts';
import { startRun } from './start/startRun.ts';

/** `ralph-fresh run`: the loop in this terminal, or detached. */
export function addRunCommand(program: Command): void {
  const command = takesOneText(forPeople(program.command('run')))
    .description('start the loop here; Ctrl-C stops it, and the same command continues it')
    .argument('[task]', 'what to do if there are no stories; otherwise background for every agent')
    .addOption(cwdOption())
    .option('--file <path>', 'story file; default: prd.json in .omc/ and the other usual places')
    .addOption(new Option('--prd', 'plan the task into stories first').conflicts('tasks'))
    .addOption(new Option('--tasks <list>', 'one story for each: "a|b|c"').argParser(taskList))
    .addOption(
      new Option('--github <owner/repo>', 'work on the issues of a repository on GitHub')
        .argParser(repositoryOf)
        .conflicts(['file', 'prd', 'tasks']),
    )
    .addOption(labelOption())
    .option('--milestone <title>', 'only issues of this milestone')
    .addOption(
      new Option('--story <id>', 'work only on this story; can be given several times')
        .argParser(storyIds)
        .conflicts(['prd', 'tasks']),
    );
  addStartFlags(command)
    .addOption(new Option('--run-id <id>').hideHelp())
    .addOption(new Option(SECRETS_FLAG).hideHelp())
    .addOption(new Option('--on-last-window <action>').choices(ON_LAST_WINDOW).hideHelp())
    .addOption(new Option('--plan-dir <dir>').argParser(dir => path.resolve(dir)).hideHelp());
  addSettingFlags(command).action(async (task: string | undefined, flags: RunFlags) => {
    requireGithub(flags);
    process.exitCode = await startRun({ task, flags, command });
  });
}

/** `a|b|c`; repeated flags add to the list. */
function taskList(text: string, before: readonly string[] = []): readonly string[] {
  const tasks = text
    .split('|')
    .map(task => task.trim())
    .filter(task => task !== '');
  if (tasks.length === 0) {
    throw new UsageError(say('Name at least one task: --tasks "first task|second task".'));
  }
  return [...before, ...tasks];
}

/** @throws {UsageError} if issues are chosen, but no repository */
function requireGithub({ github, label, milestone }: RunFlags): void {
  if (github === undefined && (label !== undefined || milestone !== undefined)) {
    throw new UsageError(
      say(
        '--label and --milestone choose issues on GitHub. Name the repository: --github owner/name',
      ),
    );
  }
}

export function labelOption(): Option {
  return new Option(
    '--label <name>',
    'only issues with this label; can be given several times',
  ).argParser(labels);
}

/** Values of a repeatable flag. GitHub separates them by commas, which no label can contain. */
function labels(text: string, before: readonly string[] = []): readonly string[] {
  const named = text
    .split(',')
    .map(label => label.trim())
    .filter(label => label !== '' && !before.includes(label));
  return [...before, ...new Set(named)];
}

/** Values of a repeatable flag, without duplicates. */
function storyIds(text: string, before: readonly string[] = []): readonly string[] {
  const id = text.trim();
  if (id === '') {
    throw new UsageError(say('Name a story by its id: --story US-003.'));
  }
  return before.includes(id) ? before : [...before, id];
}
