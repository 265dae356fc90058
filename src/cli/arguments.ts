import { statSync } from 'node:fs';
import path from 'node:path';
import { InvalidArgumentError, Option } from 'commander';

/** `--cwd <dir>`: an existing folder, as an absolute path. */
export function cwdOption(): Option {
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

/** A whole number from 1. */
export function count(value: string): number {
  const parsed = Number(value);
  if (!/^\d+$/.test(value) || parsed < 1 || !Number.isSafeInteger(parsed)) {
    throw new InvalidArgumentError('Give a whole number from 1.');
  }
  return parsed;
}
