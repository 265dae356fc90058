import { Argument, type Command, Option } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { shorten } from '../base/text.ts';
import { UsageError } from '../base/usageError.ts';
import { MAX_LANES } from '../orchestrator/journal/eventCodes.ts';
import {
  openQuestions,
  questionOf,
  type RunState,
  storyNotes,
  storyRecord,
  waitingOf,
} from '../orchestrator/journal/runState.ts';
import { resumeCommand } from '../orchestrator/loop/resume.ts';
import { MAX_TEXT, type RunRequest } from '../orchestrator/workspace/inbox.ts';
import { requireOwnHints } from '../orchestrator/workspace/ownHints.ts';
import { type Delivered, deliverRequest } from '../orchestrator/workspace/requests.ts';
import { newestRunId, RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { stillPaused } from '../presentation/storyLines.ts';
import { english } from '../presentation/translate.ts';
import { pausedPartsWords } from '../presentation/waitingWords.ts';
import { cwdOption, type Flags } from './arguments.ts';
import { howToContinue, livingLoop, noLoop, readRun } from './loopEnd.ts';
import { takesOneText } from './oneText.ts';
import { forPeople } from './people.ts';
import { print } from './print.ts';
import { fileOption, findStory } from './storyFiles.ts';
import { typedId } from './typedIds.ts';

/** Maximum number of characters of a question that are shown. */
const MAX_QUESTION = 200;

interface ControlFlags extends Flags {
  readonly lane?: number;
  readonly story?: string;
  readonly undo?: true;
}

/** `ralph-fresh pause`, `resume`, `skip`, `hint`, `answer`: requests of a person to a run. */
export function addControlCommands(program: Command): void {
  forPeople(program.command('pause'))
    .description('pause the run after this iteration')
    .argument('[id]', 'start no further agent for this story; the run continues with the others')
    .addOption(laneOption('start no further agent in this lane'))
    .addOption(cwdOption())
    .addOption(fileOption())
    .action((id: string | undefined, flags: ControlFlags) =>
      isOfPart(id, flags) ? pausePart(id, flags, true) : pause(new RunFiles(flags.cwd)),
    );
  forPeople(program.command('resume'))
    .description('continue a run that is paused, or that waits for an answer or a usage limit')
    .argument('[id]', 'continue with a story that is paused or stopped')
    .addOption(laneOption('start agents in this lane again'))
    .addOption(cwdOption())
    .addOption(fileOption())
    .action((id: string | undefined, flags: ControlFlags) =>
      isOfPart(id, flags) ? pausePart(id, flags, false) : resume(new RunFiles(flags.cwd)),
    );
  forPeople(program.command('lanes'))
    .description('let more or fewer agents work at once in the active run')
    .addArgument(new Argument('<n>', `how many, from 1 to ${MAX_LANES}`).argParser(laneNumber))
    .addOption(cwdOption())
    .action((lanes: number, flags: ControlFlags) => setLanes(lanes, new RunFiles(flags.cwd)));
  forPeople(program.command('skip'))
    .description('let the run skip a story')
    .argument('[id]', 'id of the story; default: the one that is worked on')
    .option('--undo', 'give a skipped, failed or blocked story another chance')
    .addOption(cwdOption())
    .addOption(fileOption())
    .action((id: string | undefined, flags: ControlFlags) =>
      flags.undo ? reset(id, flags) : skip(id, flags),
    );
  takesOneText(forPeople(program.command('hint')))
    .description('give the next agents a hint')
    .addArgument(new Argument('<text>', 'text, in one pair of quotes').argParser(words))
    .option('--story <id>', 'only for the agents of this story')
    .addOption(cwdOption())
    .addOption(fileOption())
    .action(hint);
  takesOneText(forPeople(program.command('answer')))
    .description("answer the agent's question")
    .addArgument(new Argument('<text>', 'text, in one pair of quotes').argParser(words))
    .option('--story <id>', 'the question of this story; needed if several are open')
    .addOption(cwdOption())
    .action(answer);
}

function words(value: string): string {
  const text = value.trim();
  if (text === '') {
    throw new UsageError('The text is empty. Write it in one pair of quotes after the command.');
  }
  return text;
}

/** Checked here, since commander would repeat the whole text in its message. */
function requireShort(text: string): void {
  if (text.length > MAX_TEXT) {
    throw new UsageError(
      `The text has ${text.length} characters, and agents get at most ${MAX_TEXT}. Write the long part to a file of the project and name it in the text.`,
    );
  }
}

async function pause(files: RunFiles): Promise<void> {
  const loop = await livingLoop(files);
  const pause = loop && (await readRun(files, loop.runId)).pause;
  if (pause !== undefined) {
    print('The run is already paused. "ralph-fresh resume" continues it.');
    return;
  }
  const delivered = await deliverRequest(files, { type: 'pause' });
  if (delivered.kind !== 'taken') {
    throw await noLoop(files, loop?.runId);
  }
  const running = loop === undefined ? [] : (await readRun(files, loop.runId)).running;
  print(
    running.length > 1
      ? 'The run will pause when the agents at work have finished. "ralph-fresh resume" continues it.'
      : 'The run will pause after this iteration. "ralph-fresh resume" continues it.',
  );
}

async function resume(files: RunFiles): Promise<void> {
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
  const delivered = await deliverRequest(files, { type: 'resume' });
  if (delivered.kind !== 'taken') {
    throw await noLoop(files, loop?.runId);
  }
  print(
    delivered.event.type === 'limit.ended'
      ? 'The run tries again now.'
      : waiting === undefined
        ? 'The run will not pause after this iteration.'
        : 'The run continues.',
  );
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

function isOfPart(id: string | undefined, { lane }: ControlFlags): boolean {
  if (id !== undefined && lane !== undefined) {
    throw new UsageError('Name a story or a lane, not both.');
  }
  return id !== undefined || lane !== undefined;
}

/** Pauses or continues one story, or one lane. */
async function pausePart(
  typed: string | undefined,
  { cwd, file, lane }: ControlFlags,
  paused: boolean,
): Promise<void> {
  const files = new RunFiles(cwd);
  const storyId = typed === undefined ? undefined : (await findStory(files, typed, file)).story.id;
  if (storyId === undefined) {
    await requireLanes(files);
  }
  const loop = await livingLoop(files);
  const state = loop && (await readRun(files, loop.runId));
  const what = storyId === undefined ? `Lane ${lane}` : named(storyId);
  const again = storyId === undefined ? `--lane ${lane}` : named(storyId);
  if (state && lane !== undefined && lane > state.lanes) {
    throw new UsageError(
      `This run has ${state.lanes === 1 ? '1 lane' : `${state.lanes} lanes`}. To have more: ralph-fresh lanes ${lane}`,
    );
  }
  if (state && !paused && !isPaused(state, { lane, storyId })) {
    print(`${what} is not paused.`);
    return;
  }
  const request: RunRequest = { type: paused ? 'pause' : 'resume', storyId, lane };
  const delivered = await deliverRequest(files, request);
  if (delivered.kind !== 'taken') {
    throw await noLoop(files, loop?.runId);
  }
  print(
    paused
      ? `${what} pauses as soon as its agent has finished. "ralph-fresh resume ${again}" continues.`
      : `${what} continues.`,
  );
}

function isPaused(
  state: RunState,
  { lane, storyId }: { readonly lane?: number; readonly storyId?: string },
): boolean {
  return storyId === undefined
    ? state.pausedLanes?.some(paused => paused === lane) === true
    : storyRecord(state, storyId).paused === true;
}

async function setLanes(lanes: number, files: RunFiles): Promise<void> {
  const loop = await requireLanes(files, `--lanes ${Math.max(2, lanes)}`);
  const delivered = await deliverRequest(files, { type: 'lanes', lanes });
  if (delivered.kind !== 'taken') {
    throw await noLoop(files, loop);
  }
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

async function skip(typed: string | undefined, { cwd, file }: Flags): Promise<void> {
  const files = new RunFiles(cwd);
  const story = typed === undefined ? undefined : (await findStory(files, typed, file)).story;
  const storyId = story?.id ?? (await currentStory(files));
  if (story !== undefined) {
    if (story.done && !(await isBeingJudged(files, storyId))) {
      print(`${named(storyId)} is done; there is nothing to skip.`);
      return;
    }
  }
  const state = await requireUnfinished(files, 'skip a story in');
  const delivered = await deliverRequest(files, { type: 'skip', storyId });
  if (delivered.kind === 'already') {
    print(`${named(storyId)} is skipped already.`);
    return;
  }
  print(`The run skips ${named(storyId)}. ${later(delivered, state)}`.trimEnd());
}

/** Its agent has marked it as done, and the checks or the reviewer have not decided yet. */
async function isBeingJudged(files: RunFiles, storyId: string): Promise<boolean> {
  const loop = await livingLoop(files);
  const state = loop && (await readRun(files, loop.runId));
  return state?.running.some(current => current.storyId === storyId) === true;
}

async function currentStory(files: RunFiles): Promise<string> {
  const loop = await livingLoop(files);
  if (loop === undefined) {
    throw new HumanError(
      'No run is active here, so no story is being worked on. Name one: ralph-fresh skip ID.',
    );
  }
  const { running } = await readRun(files, loop.runId);
  const [storyId, ...others] = new Set(running.flatMap(({ storyId: id }) => id ?? []));
  if (storyId === undefined) {
    throw new HumanError(
      'The run is not working on a story at the moment. Name one: ralph-fresh skip ID.',
    );
  }
  if (others.length > 0) {
    throw new UsageError(
      `Several stories are being worked on: ${[storyId, ...others].sort().map(named).join(', ')}. Name one: ralph-fresh skip ID.`,
    );
  }
  return storyId;
}

async function reset(typed: string | undefined, { cwd, file }: Flags): Promise<void> {
  const files = new RunFiles(cwd);
  const id = typed === undefined ? undefined : (await findStory(files, typed, file)).story.id;
  const state = await requireUnfinished(files, 'undo it in');
  const storyId = id ?? onlySkipped(state);
  const delivered = await deliverRequest(files, { type: 'reset', storyId });
  print(`${named(storyId)} gets another chance. ${later(delivered, state)}`.trimEnd());
}

function onlySkipped({ storyRecords }: RunState): string {
  const skipped = [...storyRecords].flatMap(([id, record]) => (record.skipped ? [id] : []));
  const [first, ...others] = skipped;
  if (first === undefined) {
    throw new UsageError('The run has skipped no story. Name one: ralph-fresh skip ID --undo.');
  }
  if (others.length > 0) {
    throw new UsageError(
      `The run has skipped ${skipped.map(named).join(', ')}. Name one: ralph-fresh skip ID --undo.`,
    );
  }
  return first;
}

async function hint(text: string, { cwd, file, story: typed }: ControlFlags): Promise<void> {
  requireShort(text);
  const files = new RunFiles(cwd);
  const storyId = typed === undefined ? undefined : (await findStory(files, typed, file)).story.id;
  await requireOwnHints(files);
  const delivered = await deliverRequest(files, {
    type: 'hint',
    text,
    storyId,
  });
  if (delivered.kind === 'kept') {
    const next = storyId === undefined ? 'The next agent' : `The next agent of ${named(storyId)}`;
    print(`${next} will get it, in whichever run. No run is active now.`);
    return;
  }
  const whom = storyId === undefined ? 'All later agents' : `The next agent of ${named(storyId)}`;
  print(`${whom} will get it.`);
}

async function answer(text: string, { cwd, story: typed }: ControlFlags): Promise<void> {
  requireShort(text);
  const files = new RunFiles(cwd);
  const state = await requireRun(files, 'answer');
  const asked = openQuestions(state).flatMap(({ storyId: id }) => id ?? []);
  const storyId = typed && (await typedId(files, typed, asked));
  if (storyId === undefined && asked.length > 1) {
    throw new UsageError(
      [
        'Several stories have an open question. Name one with --story:',
        ...openQuestions(state).map(
          ({ message, storyId: id = '' }) => `  ${named(id)}: ${shorten(message, MAX_QUESTION)}`,
        ),
      ].join('\n'),
    );
  }
  const question = storyId === undefined ? questionOf(state) : storyNotes(state, storyId).question;
  if (question === undefined) {
    throw new HumanError(
      storyId !== undefined && asked.length > 0
        ? `${named(storyId)} has no open question. These have one: ${asked.map(named).join(', ')}.`
        : 'The run has no open question. Give its agents a hint with: ralph-fresh hint "…".',
    );
  }
  const request: RunRequest = { type: 'answer', text, storyId: question.storyId };
  const delivered = await deliverRequest(files, request);
  print(`Answered: ${shorten(question.message, MAX_QUESTION)}`);
  print(delivered.kind === 'taken' ? 'The run continues.' : later(delivered, state));
}

/** The newest run. If any run is alive, it is this one. */
async function requireRun(files: RunFiles, purpose: string): Promise<RunState> {
  const runId = (await livingLoop(files))?.runId ?? (await newestRunId(files));
  const state = runId === undefined ? undefined : await readRun(files, runId);
  if (state === undefined || state.phase === 'idle') {
    throw new HumanError(
      `There is no run in this folder yet to ${purpose}. Start one with "ralph-fresh run".`,
    );
  }
  return state;
}

/** Like {@link requireRun}, for a run that can continue: a request to a completed run would never take effect. */
async function requireUnfinished(files: RunFiles, purpose: string): Promise<RunState> {
  const state = await requireRun(files, purpose);
  if (resumeCommand(state) === undefined) {
    throw new HumanError(
      'The last run is complete, so nothing can be changed in it. Start a new one with "ralph-fresh run --detach", then try again.',
    );
  }
  return state;
}

/** Says when the request takes effect. */
function later({ kind }: Delivered, state: RunState): string {
  return kind === 'taken'
    ? ''
    : `No run is active now: this takes effect when the run continues. ${howToContinue(state)}`;
}

function named(storyId: string): string {
  return shorten(storyId, 80);
}
