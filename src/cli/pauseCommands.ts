import { Argument, type Command, Option } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { shellWord } from '../base/shellWord.ts';
import { shorten } from '../base/text.ts';
import { UsageError } from '../base/usageError.ts';
import { MAX_LANES } from '../orchestrator/journal/eventCodes.ts';
import {
  INITIAL_RUN_STATE,
  type RunState,
  storyRecord,
  waitingOf,
} from '../orchestrator/journal/runState.ts';
import type { Story } from '../orchestrator/stories/story.ts';
import { type Delivered, deliverRequest } from '../orchestrator/workspace/delivery.ts';
import type { RunRequest } from '../orchestrator/workspace/request.ts';
import { readRun } from '../orchestrator/workspace/runCheckpoint.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { stillPaused } from '../presentation/storyLines.ts';
import { english } from '../presentation/translate.ts';
import { pausedPartsWords, waitingSentence } from '../presentation/waitingWords.ts';
import { cwdOption, type Flags } from './arguments.ts';
import { livingLoop, noLoop, tellIfSuspended } from './loopEnd.ts';
import { forPeople } from './people.ts';
import { print } from './print.ts';
import { fileOption, findStory } from './storyFiles.ts';
import { named, requireIdInRun } from './typedIds.ts';

interface PauseFlags extends Flags {
  readonly lane?: number;
}

/** `ralph-fresh pause`, `resume`, `lanes`: how many agents of a run work, and which ones wait. */
export function addPauseCommands(program: Command): void {
  forPeople(program.command('pause'))
    .description('pause the run after this iteration')
    .argument('[id]', 'start no further agent for this story; the run continues with the others')
    .addOption(laneOption('start no further agent in this lane'))
    .addOption(cwdOption())
    .addOption(fileOption())
    .action((id: string | undefined, flags: PauseFlags) =>
      isOfPart(id, flags) ? pausePart(id, flags, true) : pause(new RunFiles(flags.cwd)),
    );
  forPeople(program.command('resume'))
    .description('continue a run that is paused, or that waits for an answer or a usage limit')
    .argument('[id]', 'continue with a story that is paused or stopped')
    .addOption(laneOption('start agents in this lane again'))
    .addOption(cwdOption())
    .addOption(fileOption())
    .action((id: string | undefined, flags: PauseFlags) =>
      isOfPart(id, flags) ? pausePart(id, flags, false) : resume(new RunFiles(flags.cwd)),
    );
  forPeople(program.command('lanes'))
    .description('let more or fewer agents work at once in the active run')
    .addArgument(new Argument('<n>', `how many, from 1 to ${MAX_LANES}`).argParser(laneNumber))
    .addOption(cwdOption())
    .action((lanes: number, flags: PauseFlags) => setLanes(lanes, new RunFiles(flags.cwd)));
}

async function pause(files: RunFiles): Promise<void> {
  await tellIfSuspended(files);
  const loop = await livingLoop(files);
  const pause = loop && (await readRun(files, loop.runId)).pause;
  if (pause !== undefined) {
    print(
      pause.reason === 'person'
        ? 'The run is already paused. "ralph-fresh resume" continues it.'
        : `The run waits already. ${waitingSentence(pause, english, { now: Date.now() })}`,
    );
    return;
  }
  await deliver(files, { type: 'pause' }, loop?.runId);
  const running = loop === undefined ? [] : (await readRun(files, loop.runId)).running;
  print(
    running.length > 1
      ? 'The run will pause when the agents at work have finished. "ralph-fresh resume" continues it.'
      : 'The run will pause after this iteration. "ralph-fresh resume" continues it.',
  );
}

async function resume(files: RunFiles): Promise<void> {
  await tellIfSuspended(files);
  const loop = await livingLoop(files);
  const state = loop && (await readRun(files, loop.runId));
  const waiting = state && waitingOf(state);
  const parts = waiting?.kind === 'pause' ? pausedPartsWords(waiting, english) : '';
  if (parts !== '') {
    // It would pause again at once.
    throw new HumanError(parts);
  }
  if (state && waiting === undefined && !state.pauseRequested) {
    const paused = stillPaused(state, english, 'terminal');
    print(
      paused.length === 0
        ? 'The run is active; it is not waiting for anything.'
        : ['The run is active.', ...paused].join('\n'),
    );
    return;
  }
  const delivered = await deliver(files, { type: 'resume' }, loop?.runId);
  print(
    delivered.event.type === 'limit.ended'
      ? 'The run tries again now.'
      : waiting === undefined
        ? 'The run will not pause after this iteration.'
        : 'The run continues.',
  );
}

/**
 * @param runId the run that was active before
 * @param story that the request is about
 * @throws {HumanError} if its loop does not take the request
 */
async function deliver(
  files: RunFiles,
  request: RunRequest,
  runId: string | undefined,
  story?: Story,
): Promise<Extract<Delivered, { kind: 'taken' }>> {
  const delivered = await deliverRequest(files, request, story);
  if (delivered.kind !== 'taken') {
    throw await noLoop(files, runId);
  }
  return delivered;
}

function laneOption(description: string): Option {
  return new Option('--lane <n>', description).argParser(laneNumber);
}

function laneNumber(text: string): number {
  const lane = Number(text);
  if (!/^\d+$/.test(text) || lane < 1 || lane > MAX_LANES) {
    throw new UsageError(`"${shorten(text, 20)}" is not a number from 1 to ${MAX_LANES}.`);
  }
  return lane;
}

function isOfPart(id: string | undefined, { lane }: PauseFlags): boolean {
  if (id !== undefined && lane !== undefined) {
    throw new UsageError('Name a story or a lane, not both.');
  }
  return id !== undefined || lane !== undefined;
}

/** Pauses or continues one story, or one lane. */
async function pausePart(
  typed: string | undefined,
  { cwd, file, lane }: PauseFlags,
  paused: boolean,
): Promise<void> {
  const files = new RunFiles(cwd);
  const story = typed === undefined ? undefined : (await findStory(files, typed, file)).story;
  const storyId = story?.id;
  if (storyId === undefined) {
    await requireLanes(files);
  }
  const loop = await livingLoop(files);
  const state = loop && (await readRun(files, loop.runId));
  await tellIfSuspended(files);
  const what = storyId === undefined ? `Lane ${lane}` : named(storyId);
  const where = storyId === undefined ? `in lane ${lane}` : `for ${named(storyId)}`;
  const again = storyId === undefined ? `--lane ${lane}` : named(storyId);
  if (state && lane !== undefined && lane > state.lanes) {
    throw new UsageError(
      `This run has ${state.lanes === 1 ? '1 lane' : `${state.lanes} lanes`}. To have more: ralph-fresh lanes ${lane}`,
    );
  }
  const known = story && (await requireIdInRun(files, state, story));
  if (state && !paused && !isPaused(state, { lane, storyId: known })) {
    print(`${what} is not paused.`);
    return;
  }
  if (paused && story !== undefined) {
    requireOpen(story, known ?? story.id, state);
  }
  const request: RunRequest = { type: paused ? 'pause' : 'resume', storyId, lane };
  await deliver(files, request, loop?.runId, story);
  print(
    paused
      ? `No further agent starts ${where}; one at work finishes first. "ralph-fresh resume ${again}" continues.`
      : `${what} continues.`,
  );
}

/**
 * @param known the id by which the run knows the story
 * @param state of the active run
 * @throws {HumanError} if the story is done, and nothing of it is left to judge or to land
 */
export function requireOpen(
  { done, id }: Story,
  known: string,
  state: RunState = INITIAL_RUN_STATE,
): void {
  const isAtWork = state.running.some(({ storyId }) => storyId === known);
  if (!isAtWork && (done || storyRecord(state, known).landed === true)) {
    throw new HumanError(
      `${named(id)} is done, so no agent starts for it. To have it done again: ralph-fresh untick ${shellWord(id)}`,
    );
  }
}

function isPaused(
  state: RunState,
  { lane, storyId }: { readonly lane: number | undefined; readonly storyId: string | undefined },
): boolean {
  return lane === undefined
    ? storyId !== undefined && storyRecord(state, storyId).paused === true
    : state.pausedLanes?.some(paused => paused === lane) === true;
}

async function setLanes(lanes: number, files: RunFiles): Promise<void> {
  await tellIfSuspended(files);
  const loop = await requireLanes(files, lanes === 1 ? '--lanes 1 --isolate' : `--lanes ${lanes}`);
  await deliver(files, { type: 'lanes', lanes }, loop);
  print(
    lanes === 1
      ? 'One agent works at once from now on. Others finish what they have.'
      : `Up to ${lanes} agents work at once from now on.`,
  );
}

/**
 * @param flags for the run that is suggested if none is active
 * @returns the id of the active run, if its agents work in places of their own
 */
async function requireLanes(files: RunFiles, flags = '--lanes 2'): Promise<string> {
  const loop = await livingLoop(files);
  if (loop === undefined) {
    throw await noLoop(files, undefined, flags);
  }
  if (!(await readRun(files, loop.runId)).isolated) {
    throw new HumanError(
      'The agent of this run works in your own work tree, so there can be only one. Start the next run with --lanes 2.',
    );
  }
  return loop.runId;
}
