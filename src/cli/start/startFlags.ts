import { type Command, Option } from 'commander';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { UsageError } from '../../base/usageError.ts';
import type { OnLastWindow } from '../../orchestrator/workspace/openWindows.ts';
import { isRunId } from '../../orchestrator/workspace/runFiles.ts';

/** Flags of every command that starts a run. */
export interface StartFlags {
  readonly cwd: string;
  readonly resume?: string | true;
  readonly new?: true;
  readonly dryRun?: true;
  readonly detach?: true;
  readonly quiet?: true;
}

/** What a run is started with, apart from its settings. */
export interface RunFlags extends StartFlags {
  readonly file?: string;
  readonly prd?: true;
  readonly tasks?: readonly string[];
  readonly github?: string;
  readonly label?: readonly string[];
  readonly milestone?: string;
  readonly story?: readonly string[];
  readonly onLastWindow?: OnLastWindow;
  readonly runId?: string;
  readonly planDir?: string;
  readonly secretsOnStdin?: true;
}

/** A start as requested on the command line. */
export interface StartRequest {
  readonly task: string | undefined;
  readonly flags: RunFlags;
  /** The called command, for the settings it was given. */
  readonly command: Command;
}

/** Adds the flags that all commands which start a run share. */
export function addStartFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--resume [runId]',
        'continue the last run, however it ended, unless it is complete',
      ).conflicts('new'),
    )
    .option('--new', 'start a new run, even if the last one is unfinished')
    .addOption(
      new Option('--dry-run', 'print what would run and the first prompt; start nothing').conflicts(
        'detach',
      ),
    )
    .option('--detach', 'start in the background and return; the run outlives this terminal')
    .option(
      '--quiet',
      'print nothing but why the run did not start, waits for you or is not complete',
    );
}

/** @throws {HumanError} if a given run id is not valid */
export function requireRunIds({ resume, runId }: RunFlags): void {
  if (runId !== undefined && !isRunId(runId)) {
    throw new HumanError(say('"{0}" is not a run id. Leave out --run-id.', runId));
  }
  if (typeof resume === 'string' && !isRunId(resume)) {
    throw new UsageError(
      say(
        '"{0}" is not a run id. Leave it out for the last run; put a task before --resume.',
        resume,
      ),
    );
  }
}
