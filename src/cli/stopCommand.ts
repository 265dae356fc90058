import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { shorten } from '../base/text.ts';
import { UsageError } from '../base/usageError.ts';
import type { CurrentIteration } from '../orchestrator/journal/currentIteration.ts';
import type { StopMode } from '../orchestrator/journal/eventCodes.ts';
import { runningIn } from '../orchestrator/journal/runState.ts';
import { closeRunFoundDead } from '../orchestrator/loop/recovery.ts';
import { deliverRequest } from '../orchestrator/workspace/delivery.ts';
import { postRequest } from '../orchestrator/workspace/request.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { cwdOption, type Flags } from './arguments.ts';
import {
  activeRun,
  loopToEnd,
  noLoop,
  reportEnd,
  reportNoLoop,
  tellIfSuspended,
} from './loopEnd.ts';
import { requireOpen } from './pauseCommands.ts';
import { forPeople } from './people.ts';
import { print } from './print.ts';
import { fileOption, findStory } from './storyFiles.ts';
import { requireIdInRun } from './typedIds.ts';

interface StopFlags extends Flags {
  readonly now?: true;
  readonly afterIteration?: true;
}

/** `ralph-fresh stop`: ends the run here and waits until all its processes are gone. */
export function addStopCommand(program: Command): void {
  forPeople(program.command('stop'))
    .description('stop the run in this folder and wait until its processes have ended')
    .argument('[id]', 'stop only the agent of this story; the run continues with the others')
    .addOption(cwdOption())
    .addOption(
      new Option('--now', 'do not give the agent time to exit').conflicts('afterIteration'),
    )
    .option('--after-iteration', 'let the agent finish its iteration first')
    .addOption(fileOption())
    .action(async (id: string | undefined, flags: StopFlags) => {
      if (id !== undefined) {
        if (flags.now || flags.afterIteration) {
          throw new UsageError(
            '--now and --after-iteration are for the whole run. To let the agent of a story finish: ralph-fresh pause ID.',
          );
        }
        await stopStory(id, flags);
        return;
      }
      await stop(flags.cwd, flags.now ? 'kill' : flags.afterIteration ? 'afterIteration' : 'end');
    });
}

async function stopStory(typed: string, { cwd, file }: StopFlags): Promise<void> {
  const files = new RunFiles(cwd);
  const { story } = await findStory(files, typed, file);
  const storyId = story.id;
  const state = await activeRun(files);
  const known = await requireIdInRun(files, state, story);
  if (state !== undefined) {
    requireOpen(story, known, state);
  }
  const current = state && runningIn(state, known);
  await tellIfSuspended(files);
  const delivered = await deliverRequest(files, { type: 'stop', mode: 'end', storyId }, story);
  if (delivered.kind !== 'taken') {
    // Like "pause ID", but a killed loop is cleaned up.
    await closeRunFoundDead(files);
    throw await noLoop(files, undefined);
  }
  print(stoppedWords(shorten(storyId, 80), current));
}

/** @param current what was being done for the story */
function stoppedWords(name: string, current: CurrentIteration | undefined): string {
  const again = `"ralph-fresh resume ${name}"`;
  if (current === undefined) {
    return `No agent is working on ${name}, and none starts until ${again}.`;
  }
  return current.queued || current.step !== 'agent'
    ? `The agent of ${name} has already finished, so its work is still checked and can land. To take it back: "ralph-fresh skip ${name}". No other agent starts until ${again}.`
    : `The agent of ${name} ends, and what it has done is kept. ${again} continues.`;
}

async function stop(cwd: string, mode: StopMode): Promise<void> {
  const files = new RunFiles(cwd);
  const loop = await loopToEnd(files);
  if (loop === undefined) {
    await reportNoLoop(files);
    return;
  }
  const { runId } = loop;
  const ask = () => postRequest(files, runId, { type: 'stop', mode });
  ask();
  if (mode === 'afterIteration') {
    print('The run will end after this iteration. Ctrl-C only ends this command.');
  }
  await tellIfSuspended(files);
  await reportEnd(files, loop, async () => {
    // The agent may have removed the state (`git clean -fdx`) before the loop has read this. Repeating it is
    // harmless.
    if (existsSync(files.journalFile(runId)) && !existsSync(files.inboxFile(runId))) {
      ask();
    }
  });
}
