#!/usr/bin/env node
import './cli/smallHeap.ts';
import './orchestrator/node20.ts';
import { Command, CommanderError } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { addCancelCommand } from './cli/cancelCommand.ts';
import { addControlCommands } from './cli/controlCommands.ts';
import { addDoctorCommand } from './cli/doctorCommand.ts';
import { EXIT_FAILURE, EXIT_USAGE } from './cli/exitCodes.ts';
import { addGoCommand } from './cli/goCommand.ts';
import { addLogsCommand } from './cli/logsCommand.ts';
import { addReceiptCommand } from './cli/receiptCommand.ts';
import { addRollbackCommand } from './cli/rollbackCommand.ts';
import { addRunCommand } from './cli/runCommand.ts';
import { addStatusCommand } from './cli/statusCommand.ts';
import { addStopCommand } from './cli/stopCommand.ts';
import { addStoryCommands } from './cli/storyCommands.ts';
import { UsageError } from './cli/usageError.ts';
import { HumanError } from './orchestrator/humanError.ts';
import { shorten, withoutControls } from './orchestrator/text.ts';

/** In the order of `--help`. */
const COMMANDS = [
  addRunCommand,
  addGoCommand,
  addStatusCommand,
  addStoryCommands,
  addControlCommands,
  addStopCommand,
  addCancelCommand,
  addLogsCommand,
  addReceiptCommand,
  addRollbackCommand,
  addDoctorCommand,
];
/** Longest message of commander, which repeats what it was given. */
const MAX_MESSAGE = 1_000;

const program = new Command('ralph-fresh')
  .description('Finishes a list of stories with a fresh agent for each iteration.')
  .version(packageJson.version)
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(oneLine(text)) });
for (const addCommand of COMMANDS) {
  addCommand(program);
}

/** One line with the mend: commander's own message, and where to look when it names none. */
function oneLine(text: string): string {
  const message = shorten(text.replace(/^error: /, ''), MAX_MESSAGE);
  const hint = /^(unknown|too many|missing)/.test(message)
    ? `${message.endsWith('.') ? '' : '.'} See "ralph-fresh --help".`
    : '';
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
    process.stderr.write(`ralph-fresh: ${withoutControls(error.message)}\n`);
    process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAILURE;
  } else {
    const details = withoutControls(String(error instanceof Error ? error.stack : error));
    process.stderr.write(`ralph-fresh: unexpected error, please report it: ${details}\n`);
    process.exitCode = EXIT_FAILURE;
  }
}
