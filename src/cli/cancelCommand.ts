import type { Command } from 'commander';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { cwdOption } from './arguments.ts';
import { loopToEnd, reportEnd, reportNoLoop, tellIfSuspended } from './loopEnd.ts';
import { forPeople } from './people.ts';
import { print } from './print.ts';
import { deactivate } from './stateFile.ts';

/** `ralph-fresh cancel`: does what `/oh-my-claudecode:cancel` does, through the state file. */
export function addCancelCommand(program: Command): void {
  forPeople(program.command('cancel'))
    .description(
      'like stop, but through the state file (as /oh-my-claudecode:cancel does); clears a stale one',
    )
    .addOption(cwdOption())
    .action(async (flags: { cwd: string }) => cancel(new RunFiles(flags.cwd)));
}

async function cancel(files: RunFiles): Promise<void> {
  const loop = await loopToEnd(files);
  const wasActive = await deactivate(files);
  if (loop) {
    await tellIfSuspended(files);
    // Repeated, because a loop between two iterations may be writing "active" at this moment.
    await reportEnd(files, loop, async () => void (await deactivate(files)));
    return;
  }
  await reportNoLoop(files);
  if (wasActive) {
    print('The state file still said that one is active; it is inactive now.');
  }
}
