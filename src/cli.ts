#!/usr/bin/env node
import './orchestrator/node20.ts';
import { Command, CommanderError } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { EXIT_FAILURE, EXIT_USAGE } from './cli/exitCodes.ts';
import { addRunCommand } from './cli/runCommand.ts';
import { addStatusCommand } from './cli/statusCommand.ts';
import { addStopCommand } from './cli/stopCommand.ts';
import { HumanError } from './orchestrator/humanError.ts';

const program = new Command('ralph-fresh')
  .description('Finishes a list of stories with a fresh agent for each iteration.')
  .version(packageJson.version)
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(oneLine(text)) });
addRunCommand(program);
addStatusCommand(program);
addStopCommand(program);

/** One line with the mend: commander's own message, and where to look when it names none. */
function oneLine(text: string): string {
  const message = text
    .replace(/^error: /, '')
    .replaceAll(/\s*\n\s*/g, ' ')
    .trim();
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
    process.stderr.write(`ralph-fresh: ${error.message}\n`);
    process.exitCode = EXIT_FAILURE;
  } else {
    process.stderr.write(
      `ralph-fresh: unexpected error, please report it: ${error instanceof Error ? error.stack : error}\n`,
    );
    process.exitCode = EXIT_FAILURE;
  }
}
