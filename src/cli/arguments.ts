import { statSync } from 'node:fs';
import path from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { say } from '../base/say.ts';
import { shorten } from '../base/text.ts';
import { UsageError } from '../base/usageError.ts';

/** Flags of many commands. */
export interface Flags {
  readonly cwd: string;
  readonly file?: string;
  readonly run?: string;
  readonly json?: true;
}

/** `--cwd <dir>`: an existing folder, as an absolute path. */
export function cwdOption(): Option {
  return new Option('--cwd <dir>', 'the workspace')
    .default(process.cwd(), 'this folder')
    .argParser(value => existingFolder(value, '--cwd'));
}

/** The absolute path of the folder that an option names. */
export function existingFolder(value: string, option: '--cwd' | '--repo'): string {
  const dir = path.resolve(value);
  if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(
      option === '--cwd'
        ? say('There is no folder {0}. Name an existing one with --cwd.', dir)
        : say('There is no folder {0}. Name an existing one with --repo.', dir),
    );
  }
  return dir;
}

/** Parses an option's value as a whole number, at least 1. */
export function count(value: string): number {
  const parsed = wholeFrom1(value);
  if (parsed === undefined) {
    throw new InvalidArgumentError('Give a whole number from 1.');
  }
  return parsed;
}

/**
 * Like {@link count}, for a command's argument: commander's own message for those does not help.
 * @param of what the number identifies, with its article
 */
export function countArgument(of: string, command: string): (value: string) => number {
  return value => {
    const parsed = wholeFrom1(value);
    if (parsed === undefined) {
      throw new UsageError(
        `"${shorten(value, 100)}" is not ${of} number. Give a whole number from 1, such as "ralph-fresh ${command} 1".`,
      );
    }
    return parsed;
  };
}

function wholeFrom1(value: string): number | undefined {
  const parsed = Number(value);
  return /^\d+$/.test(value) && parsed >= 1 && Number.isSafeInteger(parsed) ? parsed : undefined;
}
