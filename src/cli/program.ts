import { Command, CommanderError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { editDistance } from '../base/editDistance.ts';
import { errorOutput, takeAsksForData } from '../base/errorOutput.ts';
import { HumanError } from '../base/humanError.ts';
import { type Message, say, type Words } from '../base/say.ts';
import { shellWord } from '../base/shellWord.ts';
import { diskFullCode, systemRefusal } from '../base/systemRefusal.ts';
import { shorten, withoutControls } from '../base/text.ts';
import { UsageError } from '../base/usageError.ts';
import { ownOutsideLinks, ownOutsiderTexts } from '../orchestrator/settings/ownSettingsFile.ts';
import { askForOutsideLinks } from '../orchestrator/stories/outsideLinks.ts';
import { askForOutsiderTexts } from '../orchestrator/stories/outsiderTexts.ts';
import { EXIT_FAILURE, EXIT_USAGE } from './exitCodes.ts';

/** Adds a command, or several related ones. */
type AddCommand = (program: Command) => void;

/** In the order of `--help`. Only the called command is loaded; an unknown name loads all of them. */
const COMMANDS: readonly (readonly [string, () => Promise<AddCommand>])[] = [
  ['run', async () => (await import('./runCommand.ts')).addRunCommand],
  ['go', async () => (await import('./goCommand.ts')).addGoCommand],
  ['plan', async () => (await import('./planCommand.ts')).addPlanCommand],
  ['split', async () => (await import('./splitCommand.ts')).addSplitCommand],
  ['status', async () => (await import('./statusCommand.ts')).addStatusCommand],
  ['convert', async () => (await import('./convertCommand.ts')).addConvertCommand],
  ['stories next tick untick', async () => (await import('./storyCommands.ts')).addStoryCommands],
  ['pause resume lanes', async () => (await import('./pauseCommands.ts')).addPauseCommands],
  ['skip hint answer', async () => (await import('./controlCommands.ts')).addControlCommands],
  ['stop', async () => (await import('./stopCommand.ts')).addStopCommand],
  ['cancel', async () => (await import('./cancelCommand.ts')).addCancelCommand],
  ['places', async () => (await import('./placesCommand.ts')).addPlacesCommand],
  ['land', async () => (await import('./settleCommand.ts')).addLandCommand],
  ['logs', async () => (await import('./logsCommand.ts')).addLogsCommand],
  ['receipt', async () => (await import('./receiptCommand.ts')).addReceiptCommand],
  ['revert', async () => (await import('./revertCommand.ts')).addRevertCommand],
  ['rollback', async () => (await import('./rollbackCommand.ts')).addRollbackCommand],
  ['compact', async () => (await import('./compactCommand.ts')).addCompactCommand],
  ['discovered', async () => (await import('./discoveredCommand.ts')).addDiscoveredCommand],
  ['tasks', async () => (await import('./tasksCommand.ts')).addTasksCommand],
  ['context', async () => (await import('./contextCommand.ts')).addContextCommand],
  ['pin', async () => (await import('./pinCommand.ts')).addPinCommand],
  ['metrics', async () => (await import('./metricsCommand.ts')).addMetricsCommand],
  ['eval', async () => (await import('./evalCommand.ts')).addEvalCommand],
  ['github', async () => (await import('./githubCommand.ts')).addGithubCommand],
  ['doctor', async () => (await import('./doctorCommand.ts')).addDoctorCommand],
];
/** Commands that read few and small files, and are called often by people and programs. */
const BRIEF_COMMANDS: readonly string[] = ['status', 'stories', 'next'];
/** Commands whose output the journal has, too. */
const LOOPS: readonly string[] = ['run', 'go'];
/** Maximum length of a message of commander, which repeats its input. */
const MAX_MESSAGE = 1_000;

/** Whether a program of ours reads the error. */
const asData = takeAsksForData(process.env);

/** Runs the command line that this process was given; sets the exit code. */
export async function main(): Promise<void> {
  const program = new Command('ralph-fresh')
    .description('Finishes a list of stories with a fresh agent for each iteration.')
    .version(packageJson.version)
    // Otherwise a command would take the options of its own subcommands.
    .enablePositionalOptions()
    .exitOverride()
    .hook('preAction', (_, action) => {
      expectTask(action);
      expectSubcommand(action);
    })
    .configureOutput({
      outputError: (text, write) => write(oneLine(text, helpedBy(program, argv))),
    });
  askForOutsideLinks(() => ownOutsideLinks(process.env, process.platform));
  askForOutsiderTexts(() => ownOutsiderTexts(process.env, process.platform));
  let argv: readonly string[];
  try {
    argv = askedFor(commandFirst(process.argv));
  } catch (error) {
    process.exitCode = tell(error);
    return;
  }
  const [, , called = ''] = argv;
  if (BRIEF_COMMANDS.includes(called)) {
    // zod compiles a program for each kind of object, which takes longer than to check a few of them without it. It
    // reads this when it is loaded, which few of these calls need.
    Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
  }
  const own = COMMANDS.filter(([names]) => names.split(' ').includes(called));
  for (const [, load] of own.length === 0 ? COMMANDS : own) {
    const addCommand = await load();
    addCommand(program);
  }
  for (const group of program.commands.filter(isGroup)) {
    group.allowExcessArguments();
  }
  // A closed pipe (`| head`) or terminal must not end the loop: the journal has its output too.
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', error => {
    // What was cut off on a full disk must not pass for the whole.
    if (diskFullCode(error) !== undefined && !LOOPS.includes(called) && !process.exitCode) {
      process.exitCode = tell(error);
    }
  });
  // Unhandled errors are reported like all others.
  process.on('uncaughtException', error => {
    process.exitCode = tell(error);
    process.exit();
  });

  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = tell(error);
  }
}

/** Reports an error in one line. @returns the exit code */
function tell(error: unknown): number {
  if (error instanceof CommanderError) {
    // Commander has printed its own message; help and version are not errors.
    return error.exitCode === 0 ? 0 : EXIT_USAGE;
  }
  if (error instanceof HumanError) {
    writeError(error.said);
    return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILURE;
  }
  writeError(systemRefusal(error) ?? unexpected(error));
  return EXIT_FAILURE;
}

function writeError(words: Words): void {
  process.stderr.write(errorOutput(words, { asData, clean: withoutControls }));
}

function unexpected(error: unknown): Message {
  const details = String(error instanceof Error ? error.stack : error);
  return say('unexpected error, please report it: {0}', details);
}

/**
 * For `help` of an unknown command, commander shows the general help. If the command is called instead, it suggests a
 * similar one.
 */
function askedFor(argv: readonly string[]): readonly string[] {
  const [node = '', file = '', called = '', about = ''] = argv;
  if (called === 'help' && about === 'help') {
    return [node, file, '--help'];
  }
  const name = called === 'help' ? about : called;
  const known = ['help', ...NAMES];
  return name === '' || name.startsWith('-') || known.includes(name) ? argv : [node, file, name];
}

/** @throws {UsageError} if the task for an agent is the name of a command, which was probably meant */
function expectTask(action: Command): void {
  const [task = '', ...others] = action.args;
  if (TAKE_TASK.includes(action.name()) && NAMES.includes(task) && others.length === 0) {
    throw new UsageError(
      say(
        '"{0}" would be the task of an agent here. For the command, run: ralph-fresh {0}. Describe a task in a sentence, in quotation marks.',
        task,
      ),
    );
  }
}

/** Commander itself names an unknown subcommand only if the command does nothing without one. */
function expectSubcommand(action: Command): void {
  const [name] = action.args;
  if (name !== undefined && isGroup(action)) {
    const near = action.commands
      .map(known => known.name())
      .find(known => editDistance(name, known) <= MAX_TYPOS);
    action.error(
      `unknown command '${name}'${near === undefined ? '' : ` (Did you mean ${near}?)`}`,
    );
  }
}

/** Whether all that may follow the name of a command is a subcommand. */
function isGroup({ commands, registeredArguments }: Command): boolean {
  return commands.length > 0 && registeredArguments.length === 0;
}

/** Letters in which a subcommand may differ from the one that is suggested. */
const MAX_TYPOS = 2;
/** Commands whose first word is a task in free text. */
const TAKE_TASK: readonly string[] = ['run', 'plan'];
const NAMES: readonly string[] = COMMANDS.flatMap(([names]) => names.split(' '));
/** Options of the program itself. */
const OWN_OPTIONS: readonly string[] = ['-h', '--help', '-V', '--version'];

/**
 * Accepts `--cwd` before the command as well, like git's `-C`. For any other option there, it is unknown whether the
 * next word is its value or the command.
 * @throws {UsageError} with the command line that was probably intended
 */
function commandFirst([node = '', file = '', ...words]: readonly string[]): readonly string[] {
  const before: string[] = [];
  let after = words;
  while (after[0] === '--cwd' || after[0]?.startsWith('--cwd=')) {
    const count = after[0] === '--cwd' ? 2 : 1;
    before.push(...after.slice(0, count));
    after = after.slice(count);
  }
  const [next = ''] = after;
  if (before.length > 0 && next === '') {
    throw new UsageError(
      say('Name a command, such as: ralph-fresh status {0}', before.map(shellWord).join(' ')),
    );
  }
  if (!next.startsWith('-') || (before.length === 0 && OWN_OPTIONS.includes(next))) {
    return before.length === 0
      ? [node, file, ...after]
      : [node, file, next, ...before, ...after.slice(1)];
  }
  const at = after.findIndex(word => NAMES.includes(word));
  if (at === -1) {
    return [node, file, ...after];
  }
  const meant = [after[at] ?? '', ...before, ...after.slice(0, at), ...after.slice(at + 1)];
  throw new UsageError(
    say(
      'The command comes before its options: ralph-fresh {0}',
      shorten(meant.map(shellWord).join(' '), MAX_MESSAGE),
    ),
  );
}

/** The command that was called, or its subcommand, each with a space behind it; '' if there is none. */
function helpedBy(program: Command, [, , called, ...words]: readonly string[]): string {
  const command = program.commands.find(one => one.name() === called);
  const sub = command?.commands.find(one => words.includes(one.name()));
  return [command, sub].map(one => (one === undefined ? '' : `${one.name()} `)).join('');
}

/**
 * One line with the next step: commander's message, and the help of the command in question if the message names
 * none.
 */
function oneLine(text: string, command: string): string {
  const message = shorten(text.replace(/^error: /, ''), MAX_MESSAGE);
  const hint = /^(unknown|too many|missing)|argument missing$|cannot be used with/.test(message)
    ? `${message.endsWith('.') ? '' : '.'} See "ralph-fresh ${command}--help".`
    : '';
  return `ralph-fresh: ${message}${hint}\n`;
}
