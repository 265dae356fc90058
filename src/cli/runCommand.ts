import { realpathSync } from 'node:fs';
import path from 'node:path';
import { type Command, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import type { Agent } from '../orchestrator/agents/agent.ts';
import { claudeAgent } from '../orchestrator/agents/claude.ts';
import { demoAgent } from '../orchestrator/agents/demo/demoAgent.ts';
import { DEFAULT_CONFIG, type RunConfig } from '../orchestrator/config.ts';
import { HumanError } from '../orchestrator/humanError.ts';
import { runLoop } from '../orchestrator/loop.ts';
import { launchRun } from '../orchestrator/run/launch.ts';
import { isRunId, newRunId, RunFiles } from '../orchestrator/run/runFiles.ts';
import { StopSwitch } from '../orchestrator/stopSwitch.ts';
import { findStoryFile } from '../orchestrator/stories/storyFile.ts';
import { count, cwdOption, minutes } from './arguments.ts';
import { EXIT_FAILURE } from './exitCodes.ts';
import { print, printEvent } from './print.ts';

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

/** `ralph-fresh run`: the loop in this terminal, or detached. */
export function addRunCommand(program: Command): void {
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
      new Option('--agent <name>', 'who does the work')
        .choices(['claude', 'demo'])
        .default('claude'),
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
}

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
      ...option('--claude-path', absoluteProgram(flags.claudePath)),
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

/** A path is meant from here, where the loop will not be; a bare name is looked up on the PATH. */
function absoluteProgram(program: string | undefined): string | undefined {
  return program !== undefined && /[\\/]/.test(program) ? path.resolve(program) : program;
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
