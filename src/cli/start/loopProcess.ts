import { realpathSync } from 'node:fs';
import type { Command } from 'commander';
import { sentence, shorten } from '../../base/text.ts';
import type { RunEvent } from '../../orchestrator/journal/events.ts';
import type { RunState } from '../../orchestrator/journal/runState.ts';
import { runLoop } from '../../orchestrator/loop/run.ts';
import type { RunOptions } from '../../orchestrator/loop/runOptions.ts';
import { requireWritableState } from '../../orchestrator/preconditions/state.ts';
import { asideCount } from '../../orchestrator/stories/asideReason.ts';
import { readStoryList } from '../../orchestrator/stories/storyFile.ts';
import { launchRun } from '../../orchestrator/workspace/launch.ts';
import { readNewestRun } from '../../orchestrator/workspace/runCheckpoint.ts';
import type { RunFiles } from '../../orchestrator/workspace/runFiles.ts';
import type { StopSwitch } from '../../orchestrator/workspace/stopSwitch.ts';
import { heldSentence } from '../../presentation/heldWords.ts';
import { runEnd } from '../../presentation/runEnd.ts';
import { outcomeSentence } from '../../presentation/sentences.ts';
import { workElsewhere } from '../../presentation/statusText.ts';
import { nothingToDo } from '../../presentation/storyListText.ts';
import { english, iterationCount } from '../../presentation/translate.ts';
import { waitingSentence } from '../../presentation/waitingWords.ts';
import { EXIT_FAILURE } from '../exitCodes.ts';
import { print, tell, tellWarning } from '../print.ts';
import { givenFlags } from '../settingFlags.ts';
import { keepHeapSmall } from '../smallHeap.ts';
import { storyFileOf } from '../storyFiles.ts';
import type { RunFlags, StartRequest } from './startFlags.ts';

/** Passed to the detached loop in another form, or not meant for it. */
const NOT_PASSED_ON = ['cwd', 'detach', 'quiet', 'runId'];

/** Runs the loop in this process. A signal ends it; a second one ends it at once. @returns the exit code */
export async function loopHere(
  options: RunOptions,
  stop: StopSwitch,
  flags: RunFlags,
): Promise<number> {
  let letHeapGrow: (() => void) | undefined;
  let interrupts = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    interrupts += 1;
    stop.request(interrupts === 1 ? 'end' : 'kill', 'signal', signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) {
    process.on(signal, onSignal);
  }
  try {
    const state = await runLoop({
      ...options,
      onEvent: event => {
        if (event.type === 'agent.started') {
          letHeapGrow ??= keepHeapSmall();
        }
        if (flags.quiet && event.type === 'pause.started') {
          tellPause(event);
        }
        options.onEvent?.(event);
      },
      onBroughtIn: (branch, commit) => {
        if (!flags.quiet) {
          print(`${branch} now has what had landed (${commit.slice(0, 7)}).`);
        }
      },
    });
    if (state === undefined) {
      await tellNothingToDo(options.storyFile, flags);
      return 0;
    }
    if (flags.quiet) {
      // Its events, which say it too, are not printed.
      return tellEnd(state, flags);
    }
    await tellElsewhere(options.files, state);
    return state.exitCode ?? EXIT_FAILURE;
  } finally {
    letHeapGrow?.();
    for (const signal of signals) {
      process.off(signal, onSignal);
    }
  }
}

/** After a run whose work has landed on a branch that is not checked out: where it is. */
async function tellElsewhere({ workspace }: RunFiles, state: RunState): Promise<void> {
  if (!state.isolated) {
    return;
  }
  // Loaded on demand: runs with one lane do not need it.
  const { branchOfWork } = await import('../../orchestrator/workspace/workNow.ts');
  const elsewhere = await branchOfWork(workspace, state);
  if (elsewhere !== undefined) {
    print(workElsewhere(elsewhere));
  }
}

/** Runs the loop in its own process, which outlives this one. @returns the exit code */
export async function loopDetached(
  files: RunFiles,
  { command, flags, task }: StartRequest,
): Promise<number> {
  const before = await readNewestRun(files);
  await requireWritableState(files);
  const launch = await launchRun({
    files,
    program: realpathSync(process.argv[1] ?? ''),
    args: [
      ...givenFlags(command, NOT_PASSED_ON),
      ...(flags.planDir === undefined || isGiven(command, 'planDir')
        ? []
        : [`--plan-dir=${flags.planDir}`]),
      // After this, no text is parsed as an option.
      ...(task === undefined ? [] : ['--', task]),
    ],
    env: process.env,
  });
  if (launch.kind === 'nothingToDo') {
    await tellNothingToDo(await storyFileOf(files, flags.file), flags);
    return 0;
  }
  if (launch.kind === 'ended') {
    return tellEnd(launch.state, flags);
  }
  if (!flags.quiet) {
    const { runId } = launch;
    const begun =
      before?.runId === runId
        ? `Run ${runId} continues after ${iterationCount(before.iteration, english)}.`
        : `Started run ${runId}.`;
    print(
      [
        begun,
        ...(launch.kind === 'waits'
          ? [sentence(waitingSentence(launch.waiting, english, { now: Date.now() }))]
          : launch.kind === 'begins'
            ? ['Its first agent has not started within a minute.']
            : []),
        'Watch it with "ralph-fresh status --watch", stop it with "ralph-fresh stop".',
      ].join(' '),
    );
  }
  return 0;
}

/** A quiet run that waits for a person would otherwise look as if it worked on. */
function tellPause(event: Extract<RunEvent, { type: 'pause.started' }>): void {
  tellWarning(waitingSentence({ ...event, kind: 'pause' }, english, { now: Date.parse(event.at) }));
}

/** How the run ended; on standard error if it is not complete. @returns the exit code of the run */
function tellEnd(state: RunState, { quiet }: RunFlags): number {
  const { good, text } = outcomeSentence(runEnd(state, state.outcome ?? 'error'), english);
  if (!good) {
    const held = heldSentence(state, false, english);
    const told = held === undefined ? text : `${sentence(text)} ${held}`;
    tell(told);
  } else if (!quiet) {
    print(text);
  }
  return state.exitCode ?? EXIT_FAILURE;
}

async function tellNothingToDo(
  storyFile: string | undefined,
  { file, quiet, story }: RunFlags,
): Promise<void> {
  if (!quiet) {
    const list = storyFile === undefined ? undefined : await readStoryList(storyFile);
    const aside = story === undefined ? asideCount(list?.stories ?? []) : 0;
    const what =
      story === undefined
        ? 'All stories are'
        : `${shorten(story.join(', '), 200)} ${story.length === 1 ? 'is' : 'are'}`;
    print(nothingToDo(what, aside, { list: story === undefined ? list : undefined, file }));
  }
}

function isGiven(command: Command, key: string): boolean {
  return command.getOptionValueSource(key) === 'cli';
}
