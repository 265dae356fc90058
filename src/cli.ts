#!/usr/bin/env node
import './orchestrator/node20.ts';
import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { styleText } from 'node:util';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import type { Agent } from './orchestrator/agents/agent.ts';
import { claudeAgent } from './orchestrator/agents/claude.ts';
import { demoAgent } from './orchestrator/agents/demo/demoAgent.ts';
import { DEFAULT_CONFIG, type RunConfig } from './orchestrator/config.ts';
import { HumanError } from './orchestrator/humanError.ts';
import { runLoop } from './orchestrator/loop.ts';
import { EXIT_CODES, type RunEvent, type StopMode } from './orchestrator/run/events.ts';
import { postRequest } from './orchestrator/run/inbox.ts';
import { readJournal } from './orchestrator/run/journal.ts';
import { launchRun } from './orchestrator/run/launch.ts';
import { isRunId, newRunId, RunFiles } from './orchestrator/run/runFiles.ts';
import { livingLockOwner } from './orchestrator/run/runLock.ts';
import { RunWatcher } from './orchestrator/run/runWatcher.ts';
import { StopSwitch } from './orchestrator/stopSwitch.ts';
import { findStoryFile } from './orchestrator/stories/storyFile.ts';
import { english, outcomeSentence } from './presentation/sentences.ts';
import { statusData, statusText } from './presentation/status.ts';
import { describeEvent, type Style } from './presentation/transcript.ts';

/** Wrong arguments (EX_USAGE of sysexits.h). */
const EXIT_USAGE = 64;
const EXIT_FAILURE = 1;

const program = new Command('ralph-fresh')
  .description('Finishes a list of stories with a fresh agent for each iteration.')
  .version(packageJson.version)
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(oneLine(text)) });

interface RunFlags {
  readonly cwd: string;
  readonly file?: string;
  readonly agent: Agent['id'];
  readonly claudePath?: string;
  readonly model?: string;
  readonly maxIterations: number;
  readonly maxTurns: number;
  readonly stuckThreshold: number;
  readonly failThreshold: number;
  readonly timeLimit: number;
  readonly idleLimit: number;
  readonly completionPromise: string;
  readonly detach?: true;
  readonly quiet?: true;
  readonly runId?: string;
}

program
  .command('run')
  .description('start the loop here; Ctrl-C ends it, and a later run goes on')
  .argument('[task]', 'what to do, when there are no stories; else background for every agent')
  .addOption(cwdOption())
  .option(
    '--file <path>',
    'story file; else prd.json in .omc/, here, scripts/ralph/, tasks/, .ralph/ or plans/',
  )
  .addOption(
    new Option('--agent <name>', 'who does the work').choices(['claude', 'demo']).default('claude'),
  )
  .option(
    '--claude-path <path>',
    'the claude executable; else found on PATH and in the usual places',
  )
  .option('--model <name>', 'model of the agent; else its own default')
  .option(
    '--max-iterations <n>',
    'iterations before the run ends',
    count,
    DEFAULT_CONFIG.maxIterations,
  )
  .option('--max-turns <n>', 'turns of one agent', count, DEFAULT_CONFIG.maxTurnsPerIteration)
  .option(
    '--stuck-threshold <n>',
    'iterations without progress before the agent is warned',
    count,
    DEFAULT_CONFIG.stuckThreshold,
  )
  .option(
    '--fail-threshold <n>',
    'failed calls in a row before a story is left alone',
    count,
    DEFAULT_CONFIG.failThreshold,
  )
  .option(
    '--time-limit <minutes>',
    'longest time of one agent',
    minutes,
    DEFAULT_CONFIG.limits.hardMs / 60_000,
  )
  .option(
    '--idle-limit <minutes>',
    'longest silence of one agent',
    minutes,
    DEFAULT_CONFIG.limits.idleMs / 60_000,
  )
  .option(
    '--completion-promise <phrase>',
    'the agent says this in <promise> tags when all is done',
    DEFAULT_CONFIG.completionPromise,
  )
  .option('--detach', 'start in the background and return; it outlives this terminal')
  .option('--quiet', 'print nothing but errors')
  .addOption(new Option('--run-id <id>').hideHelp())
  .action(async (task: string | undefined, flags: RunFlags) => {
    process.exitCode = await run(task, flags);
  });

program
  .command('status')
  .description('tell how the run here stands')
  .addOption(cwdOption())
  .option('--json', 'as data: run, outcome, iteration, stories, cost (docs/json-output.md)')
  .option('--watch', 'follow the run until it ends')
  .action(async (flags: { cwd: string; json?: true; watch?: true }) => {
    process.exitCode = await status(flags);
  });

program
  .command('stop')
  .description('end the run here and wait until nothing of it is left')
  .addOption(cwdOption())
  .addOption(
    new Option('--now', 'do not give the agent time to end itself').conflicts('afterIteration'),
  )
  .option('--after-iteration', 'let the agent finish its iteration first')
  .action(async (flags: { cwd: string; now?: true; afterIteration?: true }) => {
    const mode = flags.now ? 'kill' : flags.afterIteration ? 'afterIteration' : 'end';
    process.exitCode = await stop(flags.cwd, mode);
  });

async function run(task: string | undefined, flags: RunFlags): Promise<number> {
  const files = new RunFiles(flags.cwd);
  const storyFile =
    flags.file === undefined
      ? await findStoryFile(files.workspace)
      : path.resolve(flags.cwd, flags.file);
  if (storyFile === undefined && !task?.trim()) {
    throw new HumanError(
      `No prd.json was found in ${files.workspace} (looked in .omc/, the folder itself, scripts/ralph/, tasks/, .ralph/ and plans/). Write one, name it with --file, or give a task: ralph-fresh run "your task".`,
    );
  }
  if (flags.detach) {
    return detach(files, task, storyFile, flags);
  }
  const runId = flags.runId ?? newRunId();
  if (!isRunId(runId)) {
    throw new HumanError(`"${runId}" is not a run's id. Leave --run-id out.`);
  }
  const stop = new StopSwitch();
  let interrupts = 0;
  const onSignal = () => {
    interrupts += 1;
    stop.request(interrupts === 1 ? 'end' : 'kill', 'signal');
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) {
    process.on(signal, onSignal);
  }
  try {
    const state = await runLoop({
      files,
      runId,
      agent: agentOf(flags),
      config: configOf(flags),
      ...(storyFile === undefined ? {} : { storyFile }),
      ...(task === undefined ? {} : { task }),
      env: process.env,
      version: packageJson.version,
      stop,
      ...(flags.quiet ? {} : { onEvent: printEvent }),
    });
    return state.exitCode ?? EXIT_FAILURE;
  } finally {
    for (const signal of signals) {
      process.off(signal, onSignal);
    }
  }
}

async function detach(
  files: RunFiles,
  task: string | undefined,
  storyFile: string | undefined,
  flags: RunFlags,
): Promise<number> {
  const runId = await launchRun({
    files,
    program: realpathSync(process.argv[1] ?? ''),
    args: [
      ...option('--file', storyFile),
      ...option('--agent', flags.agent),
      ...option('--claude-path', flags.claudePath),
      ...option('--model', flags.model),
      ...option('--max-iterations', flags.maxIterations),
      ...option('--max-turns', flags.maxTurns),
      ...option('--stuck-threshold', flags.stuckThreshold),
      ...option('--fail-threshold', flags.failThreshold),
      ...option('--time-limit', flags.timeLimit),
      ...option('--idle-limit', flags.idleLimit),
      ...option('--completion-promise', flags.completionPromise),
      // Behind this no text is taken for an option.
      ...(task === undefined ? [] : ['--', task]),
    ],
    env: process.env,
  });
  if (!flags.quiet) {
    print(
      `Started run ${runId}. Watch it with "ralph-fresh status --watch", end it with "ralph-fresh stop".`,
    );
  }
  return 0;
}

function option(name: string, value: string | number | undefined): string[] {
  return value === undefined ? [] : [`${name}=${value}`];
}

function agentOf(flags: RunFlags): Agent {
  return flags.agent === 'demo'
    ? demoAgent({})
    : claudeAgent(flags.claudePath === undefined ? {} : { claudePath: flags.claudePath });
}

function configOf(flags: RunFlags): RunConfig {
  return {
    maxIterations: flags.maxIterations,
    maxTurnsPerIteration: flags.maxTurns,
    completionPromise: flags.completionPromise,
    stuckThreshold: flags.stuckThreshold,
    failThreshold: flags.failThreshold,
    ...(flags.model === undefined ? {} : { model: flags.model }),
    limits: {
      ...DEFAULT_CONFIG.limits,
      hardMs: flags.timeLimit * 60_000,
      idleMs: flags.idleLimit * 60_000,
    },
  };
}

async function status(flags: { cwd: string; json?: true; watch?: true }): Promise<number> {
  const files = new RunFiles(flags.cwd);
  const watcher = new RunWatcher(files);
  try {
    if (!flags.watch) {
      await watcher.start();
      print(
        flags.json
          ? JSON.stringify(await statusData(files, watcher.current), null, 2)
          : statusText(watcher.current),
      );
      return 0;
    }
    return await watchUntilEnd(watcher, flags.json === true);
  } finally {
    watcher.dispose();
  }
}

/** Follows the newest run until it ends. @returns the run's exit code; 0 when there is none */
async function watchUntilEnd(watcher: RunWatcher, json: boolean): Promise<number> {
  const ended = new Promise<number>(resolve => {
    watcher.onDidReadEvents(({ events }) => {
      for (const event of events) {
        if (json) {
          print(JSON.stringify(event));
        } else {
          printEvent(event);
        }
      }
    });
    watcher.onDidChange(({ runId, state, alive }) => {
      if (runId === undefined) {
        print(json ? 'null' : 'No run in this folder yet. Start one with "ralph-fresh run".');
        resolve(0);
      } else if (state.phase === 'ended') {
        resolve(state.exitCode ?? EXIT_FAILURE);
      } else if (!alive) {
        if (!json) {
          print(statusText(watcher.current));
        }
        resolve(EXIT_CODES.interrupted);
      }
    });
  });
  await watcher.start();
  return ended;
}

async function stop(cwd: string, mode: StopMode): Promise<number> {
  const files = new RunFiles(cwd);
  const owner = await livingLockOwner(files);
  if (owner?.runId === undefined || !isRunId(owner.runId)) {
    print('No run is going on in this folder.');
    return 0;
  }
  const { runId } = owner;
  await postRequest(files, runId, { type: 'stop', mode });
  if (mode === 'afterIteration') {
    print('The run will end after this iteration.');
    return 0;
  }
  await lockReleased(files, runId);
  const last = (await readJournal(files.journalFile(runId))).at(-1);
  if (last?.type !== 'run.ended') {
    throw new HumanError(
      'The run ended without saying why. "ralph-fresh status" tells how far it came.',
    );
  }
  print(outcomeSentence(last, english).text);
  return 0;
}

/** Waits until the run's loop has given back its lock, or is dead. */
async function lockReleased(files: RunFiles, runId: string): Promise<void> {
  while ((await livingLockOwner(files))?.runId === runId) {
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

const ANSI: Readonly<Record<Style, Parameters<typeof styleText>[0] | undefined>> = {
  plain: undefined,
  heading: 'bold',
  dim: 'dim',
  tool: 'cyan',
  success: 'green',
  warning: 'yellow',
  error: 'red',
};

function printEvent(event: RunEvent): void {
  for (const { style, text } of describeEvent(event, english)) {
    const format = ANSI[style];
    print(
      format === undefined || text === ''
        ? text
        : styleText(format, text, { stream: process.stdout }),
    );
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function cwdOption(): Option {
  return new Option('--cwd <dir>', 'the workspace')
    .default(process.cwd(), 'this folder')
    .argParser(directory);
}

function directory(value: string): string {
  const dir = path.resolve(value);
  if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory()) {
    throw new InvalidArgumentError(`There is no folder ${dir}.`);
  }
  return dir;
}

function count(value: string): number {
  const parsed = Number(value);
  if (!/^\d+$/.test(value) || parsed < 1 || !Number.isSafeInteger(parsed)) {
    throw new InvalidArgumentError('Give a whole number from 1.');
  }
  return parsed;
}

function minutes(value: string): number {
  const parsed = Number(value);
  // A timer holds at most 2^31-1 ms, about 35,000 minutes.
  if (!/^\d+(\.\d+)?$/.test(value) || parsed <= 0 || parsed > 35_000) {
    throw new InvalidArgumentError('Give a number of minutes above 0, at most 35000.');
  }
  return parsed;
}

/** One line with the mend: commander's own message, and where to look when it names none. */
function oneLine(text: string): string {
  const message = text
    .replace(/^error: /, '')
    .replaceAll(/\s*\n\s*/g, ' ')
    .trim();
  const hint = /^(unknown|too many|missing)/.test(message) ? '. See "ralph-fresh --help".' : '';
  return `ralph-fresh: ${message}${hint}\n`;
}

// A closed pipe (`| head`) or terminal must not end the loop: its words are in the journal too.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', () => undefined);
}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has printed its own message; help and version are no errors.
    process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE;
  } else if (error instanceof HumanError) {
    process.stderr.write(`ralph-fresh: ${error.message}\n`);
    process.exitCode = EXIT_FAILURE;
  } else {
    process.stderr.write(
      `ralph-fresh: unexpected error, please report it: ${error instanceof Error ? error.stack : error}\n`,
    );
    process.exitCode = EXIT_FAILURE;
  }
}
