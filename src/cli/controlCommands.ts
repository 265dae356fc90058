import { Argument, type Command } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { shellWord } from '../base/shellWord.ts';
import { shorten } from '../base/text.ts';
import { UsageError } from '../base/usageError.ts';
import {
  openQuestions,
  questionOf,
  type RunState,
  storyNotes,
} from '../orchestrator/journal/runState.ts';
import { resumeCommand } from '../orchestrator/loop/resume.ts';
import type { Story } from '../orchestrator/stories/story.ts';
import { type Delivered, deliverRequest } from '../orchestrator/workspace/delivery.ts';
import { requireOwnHints } from '../orchestrator/workspace/ownHints.ts';
import { MAX_TEXT, type RunRequest } from '../orchestrator/workspace/request.ts';
import { readRun } from '../orchestrator/workspace/runCheckpoint.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { newestRunId } from '../orchestrator/workspace/runIds.ts';
import { stillAsking } from '../presentation/statusFacts.ts';
import { cwdOption, type Flags } from './arguments.ts';
import { activeRun, howToContinue, livingLoop, tellIfSuspended } from './loopEnd.ts';
import { takesOneText } from './oneText.ts';
import { forPeople } from './people.ts';
import { print } from './print.ts';
import { requireRunsHere } from './runs.ts';
import { fileOption, findStory } from './storyFiles.ts';
import { idInRun, named, requireIdInRun, storiesAsShown, typedId } from './typedIds.ts';

/** Maximum number of characters of a question that are shown. */
const MAX_QUESTION = 200;

interface ControlFlags extends Flags {
  readonly story?: string;
  readonly undo?: true;
}

/** `ralph-fresh skip`, `hint`, `answer`: what a person tells a run about its stories. */
export function addControlCommands(program: Command): void {
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

async function skip(typed: string | undefined, { cwd, file }: Flags): Promise<void> {
  const files = new RunFiles(cwd);
  const story = typed === undefined ? undefined : (await findStory(files, typed, file)).story;
  const storyId = story?.id ?? (await currentStory(files));
  if (story !== undefined) {
    if (story.done && !(await isBeingJudged(files, story))) {
      print(`${named(storyId)} is done; there is nothing to skip.`);
      return;
    }
  }
  const state = await requireUnfinished(files, 'skip a story in');
  await tellIfSuspended(files);
  const delivered = await deliverRequest(files, { type: 'skip', storyId }, story);
  if (delivered.kind === 'already') {
    print(`${named(storyId)} is skipped already.`);
    return;
  }
  print(`The run skips ${named(storyId)}. ${later(delivered, state)}`.trimEnd());
}

/** Its agent has marked it as done, and the checks or the reviewer have not decided yet. */
async function isBeingJudged(files: RunFiles, story: Story): Promise<boolean> {
  const state = await activeRun(files);
  const id = await idInRun(files, state, story);
  return state?.running.some(({ storyId }) => storyId === id) === true;
}

async function currentStory(files: RunFiles): Promise<string> {
  const state = await activeRun(files);
  if (state === undefined) {
    throw new HumanError(
      'No run is active here, so no story is being worked on. Name one: ralph-fresh skip ID.',
    );
  }
  const [storyId, ...others] = new Set(state.running.flatMap(({ storyId: id }) => id ?? []));
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
  const story = typed === undefined ? undefined : (await findStory(files, typed, file)).story;
  if (story?.done && !(await isBeingJudged(files, story))) {
    print(
      `${named(story.id)} is done; there is nothing to undo. To have it done again: ralph-fresh untick ${shellWord(story.id)}`,
    );
    return;
  }
  const state = await requireUnfinished(files, 'undo it in');
  const storyId = story?.id ?? onlySkipped(state);
  await tellIfSuspended(files);
  const delivered = await deliverRequest(files, { type: 'reset', storyId }, story);
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
  await requireRunsHere(files);
  const story = typed === undefined ? undefined : (await findStory(files, typed, file)).story;
  const storyId = story?.id;
  await requireOwnHints(files);
  await tellIfSuspended(files);
  const delivered = await deliverRequest(files, { type: 'hint', text, storyId }, story);
  if (story?.done) {
    print(
      `${named(story.id)} is done. If you reopen it (ralph-fresh untick ${shellWord(story.id)}), its next agent will get the hint.`,
    );
    return;
  }
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
  const run = await requireRun(files, 'answer');
  const state = (await livingLoop(files)) === undefined ? await stillAsking(files, run) : run;
  const asked = openQuestions(state).flatMap(({ storyId: id }) => id ?? []);
  const shown = await storiesAsShown(files, state);
  const nameOf = (id: string) => named(shown.nameOf(id));
  const story = typed === undefined ? undefined : shown.meant(typed);
  const storyId = story
    ? await requireIdInRun(files, state, story)
    : typed && (await typedId(files, typed, asked));
  if (typed === undefined && asked.length > 1) {
    throw new UsageError(
      [
        'Several stories have an open question. Name one with --story:',
        ...openQuestions(state).map(
          ({ message, storyId: id = '' }) => `  ${nameOf(id)}: ${shorten(message, MAX_QUESTION)}`,
        ),
      ].join('\n'),
    );
  }
  const question = storyId === undefined ? questionOf(state) : storyNotes(state, storyId).question;
  if (question === undefined) {
    throw new HumanError(
      typed !== undefined && asked.length > 0
        ? `${named(story?.id ?? typed)} has no open question. These have one: ${asked.map(nameOf).join(', ')}.`
        : 'The run has no open question. Give its agents a hint with: ralph-fresh hint "…".',
    );
  }
  const request: RunRequest = { type: 'answer', text, storyId: story?.id ?? question.storyId };
  await tellIfSuspended(files);
  const delivered = await deliverRequest(files, request, story);
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
