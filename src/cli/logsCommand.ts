import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { type Command, Option } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { openPlainFile } from '../base/plainFile.ts';
import { shorten, withoutControls } from '../base/text.ts';
import { UsageError } from '../base/usageError.ts';
import type { RunEvent } from '../orchestrator/journal/events.ts';
import { applyEvent } from '../orchestrator/journal/foldRun.ts';
import { ofIteration, ofStory } from '../orchestrator/journal/iterationEvents.ts';
import { JournalReader } from '../orchestrator/journal/journal.ts';
import { INITIAL_RUN_STATE, type RunState } from '../orchestrator/journal/runState.ts';
import { isItsLoopRunning } from '../orchestrator/workspace/livingRun.ts';
import { readRun } from '../orchestrator/workspace/runCheckpoint.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { livingLockOwner } from '../orchestrator/workspace/runLock.ts';
import { count, cwdOption, type Flags } from './arguments.ts';
import { eventPrinter, printJson } from './print.ts';
import { type ChosenRun, noIteration, requireRun, runOption, tellPassedOver } from './runs.ts';
import { typedId } from './typedIds.ts';

const LOOK_MS = 200;
const CHUNK_BYTES = 1 << 16;
/** Maximum number of stories in a message. */
const MAX_NAMED = 8;

interface LogsFlags extends Flags {
  readonly iteration?: number;
  readonly story?: string;
  readonly follow?: true;
  readonly raw?: true;
}

/** `ralph-fresh logs`: what a run did, from its journal. */
export function addLogsCommand(program: Command): void {
  program
    .command('logs')
    .description('show what the newest run did, as its terminal showed it')
    .addOption(cwdOption())
    .addOption(runOption())
    .option('--iteration <n>', 'only this iteration', count)
    .addOption(
      new Option('--story <id>', 'only the iterations of this story').conflicts([
        'iteration',
        'raw',
      ]),
    )
    .option('--follow', 'continue until the run, or the iteration, ends')
    .addOption(
      new Option(
        '--raw',
        'what the agent of the iteration printed, byte for byte; default: the newest iteration',
      ).conflicts('json'),
    )
    .option('--json', 'the events, one object per line (docs/journal.md)')
    .action(logs);
}

async function logs(flags: LogsFlags): Promise<void> {
  const files = new RunFiles(flags.cwd);
  const follower = new RunFollower(files, await requireRun(files, flags.run));
  if (flags.raw) {
    await printRaw(files, follower, flags);
  } else {
    await printEvents(follower, flags, files);
  }
}

/** Reads the journal of one run as it grows. */
class RunFollower {
  readonly chosen: ChosenRun;
  readonly runId: string;
  state: RunState = INITIAL_RUN_STATE;
  readonly iterations = new Set<number>();
  readonly ended = new Set<number>();
  /** Ids of the stories that it has worked on. */
  readonly stories = new Set<string>();
  private readonly files: RunFiles;
  private readonly journal: JournalReader;

  constructor(files: RunFiles, chosen: ChosenRun) {
    this.files = files;
    this.chosen = chosen;
    this.runId = chosen.runId;
    this.journal = new JournalReader(files.journalFile(this.runId));
  }

  /** Passes on the new events. @returns whether more can follow */
  async look(onEvent: (event: RunEvent) => void = () => undefined): Promise<boolean> {
    // Checked first, so that everything the loop wrote before it ended is read.
    const mayGrow =
      (await livingLockOwner(this.files))?.runId === this.runId ||
      (await isItsLoopRunning(this.state));
    await this.journal.readNew(event => {
      this.state = applyEvent(this.state, event);
      if (event.type === 'iteration.started') {
        this.iterations.add(event.iteration);
        if (event.storyId !== undefined) {
          this.stories.add(event.storyId);
        }
      } else if (event.type === 'iteration.ended') {
        this.ended.add(event.iteration);
      }
      onEvent(event);
    });
    return mayGrow;
  }

  /** @throws {UsageError} if the run has no such iteration */
  require(iteration: number): void {
    if (!this.iterations.has(iteration)) {
      throw noIteration(iteration, this.chosen, [...this.iterations]);
    }
  }
}

async function printEvents(
  follower: RunFollower,
  flags: LogsFlags,
  files: RunFiles,
): Promise<void> {
  const { follow, iteration, json } = flags;
  const story = flags.story && (await storyIn(files, follower.runId, flags.story));
  const isAsked =
    story !== undefined
      ? ofStory(story)
      : iteration === undefined
        ? () => true
        : ofIteration(iteration);
  const isOfOneStory = story !== undefined || iteration !== undefined;
  let isTold = false;
  /** Checked before the first line is printed, so that an unknown iteration is rejected in one line. */
  const isShown = (event: RunEvent) => {
    const shown = isAsked(event);
    if (shown && !isTold) {
      isTold = true;
      tellPassedOver(follower.chosen, json === true);
    }
    return shown;
  };
  const printEvent = json
    ? (event: RunEvent) => {
        if (isShown(event)) {
          printJson(event, 0);
        }
      }
    : eventPrinter({ isShown, isOfOneStory });
  for (;;) {
    const mayGrow = await follower.look(printEvent);
    const isOver = iteration !== undefined && follower.ended.has(iteration);
    if (!follow || !mayGrow || isOver) {
      break;
    }
    await new Promise(resolve => setTimeout(resolve, LOOK_MS));
  }
  if (iteration !== undefined) {
    follower.require(iteration);
  }
  if (story !== undefined && !isTold) {
    throw noWorkOn(story, follower);
  }
}

/** As people type it, among the stories of the run. */
async function storyIn(files: RunFiles, runId: string, typed: string): Promise<string> {
  const { storyRecords } = await readRun(files, runId);
  return typedId(files, typed, storyRecords.keys());
}

function noWorkOn(story: string, { chosen: { runId }, stories }: RunFollower): UsageError {
  const id = shorten(withoutControls(story), 80);
  const known = [...stories].slice(0, MAX_NAMED).map(other => shorten(other, 40));
  const more = stories.size - known.length;
  const named = `${known.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return new UsageError(
    known.length === 0
      ? `Run ${runId} has not worked on ${id}, nor on any other story.`
      : `Run ${runId} has not worked on ${id}, but on ${named}.`,
  );
}

async function printRaw(files: RunFiles, follower: RunFollower, flags: LogsFlags): Promise<void> {
  const stream = new RawStream(files, follower);
  let chosen = flags.iteration;
  for (;;) {
    const mayGrow = await follower.look();
    // The newest iteration at the start, even if the next one starts meanwhile.
    chosen ??= [...follower.iterations].at(-1);
    const iteration = chosen ?? 1;
    const isOver = follower.ended.has(iteration);
    if (follower.iterations.has(iteration)) {
      await stream.printNew(iteration);
    }
    if (!flags.follow || !mayGrow || isOver) {
      follower.require(iteration);
      if (!stream.isThere) {
        throw new HumanError(
          `The raw stream of iteration ${iteration} is gone; "ralph-fresh logs --iteration ${iteration}" shows what the journal kept of it.`,
        );
      }
      tellPassedOver(follower.chosen, true);
      return;
    }
    await new Promise(resolve => setTimeout(resolve, LOOK_MS));
  }
}

/** The raw streams of an iteration's story calls, one file per call, as they grow. */
class RawStream {
  isThere = false;
  private readonly files: RunFiles;
  private readonly runId: string;
  private readonly offsets = new Map<string, number>();

  constructor(files: RunFiles, { runId }: RunFollower) {
    this.files = files;
    this.runId = runId;
  }

  async printNew(iteration: number): Promise<void> {
    const dir = this.files.iterationDir(this.runId, iteration);
    for (const name of await streamNames(dir)) {
      await this.printFile(path.join(dir, name));
    }
  }

  private async printFile(file: string): Promise<void> {
    const handle = await openPlainFile(file);
    if (handle === undefined) {
      return;
    }
    this.isThere = true;
    try {
      const buffer = Buffer.alloc(CHUNK_BYTES);
      for (;;) {
        const offset = this.offsets.get(file) ?? 0;
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset);
        if (bytesRead === 0) {
          return;
        }
        this.offsets.set(file, offset + bytesRead);
        await write(buffer.subarray(0, bytesRead));
      }
    } finally {
      await handle.close();
    }
  }
}

/** `stream.jsonl`, and `stream-2.jsonl`, … of retried calls. */
async function streamNames(dir: string): Promise<string[]> {
  const names = await readdir(dir).catch(() => []);
  return names
    .flatMap(name => {
      const call = /^stream(?:-(\d+))?\.jsonl$/.exec(name);
      return call ? [{ name, call: Number(call[1] ?? 1) }] : [];
    })
    .sort((a, b) => a.call - b.call)
    .map(({ name }) => name);
}

/** Writes the bytes unchanged to a file or a pipe. For a terminal, control sequences are removed. */
function write(bytes: Buffer): Promise<void> {
  const data = process.stdout.isTTY ? withoutControls(bytes.toString('utf8')) : Buffer.from(bytes);
  // If the reader is gone (`| head`), the error handler reports it; the remaining output is discarded.
  return new Promise(resolve => process.stdout.write(data, () => resolve()));
}
