import { lstatSync } from 'node:fs';
import path from 'node:path';
import { readPlainFile, writePlainFile } from '../../base/plainFile.ts';
import { say } from '../../base/say.ts';
import type { Scope } from '../run/scope.ts';
import { warn } from '../run/warn.ts';
import { outsideProblem, realPlace } from '../stories/outsideLinks.ts';

/** The progress log as an agent found it in its place, in the iteration's folder. */
const PROGRESS_BEFORE = 'progress-before.txt';
/** What the agent has added to it. */
const PROGRESS_NEW = 'progress-new.txt';
/** In bytes; of a longer one, nothing is taken over. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Keeps the progress log of a place, so that what the agent has added can be determined later. */
export async function keepProgress(dir: string, progressFile: string): Promise<void> {
  await writePlainFile(path.join(dir, PROGRESS_BEFORE), (await readText(progressFile)) ?? '');
}

/**
 * What the agent has added to the progress log of its place; '' with a warning if it is not known. Kept in the
 * iteration's folder as well.
 */
export async function progressSince(
  scope: Pick<Scope, 'append' | 'dir'>,
  progressFile: string,
): Promise<string> {
  const text = await newProgress(scope.dir, progressFile);
  if (text === undefined) {
    const problem = say('{0} is not a file. Put a text file there, or remove it.', progressFile);
    warn(scope, 'progressNotWritten', outsideProblem(progressFile) ?? problem);
  }
  await writePlainFile(path.join(scope.dir, PROGRESS_NEW), text ?? '');
  return text ?? '';
}

/** The result of {@link progressSince}, from the iteration's folder. */
export async function keptProgress(dir: string): Promise<string> {
  return (await readPlainFile(path.join(dir, PROGRESS_NEW), MAX_BYTES))?.toString('utf8') ?? '';
}

async function newProgress(dir: string, progressFile: string): Promise<string | undefined> {
  const before = await readPlainFile(path.join(dir, PROGRESS_BEFORE), MAX_BYTES);
  const after = await readText(progressFile);
  if (after === undefined) {
    return undefined;
  }
  // Without a copy of it, the loop was killed before the agent began.
  return before === undefined ? '' : added(before.toString('utf8'), after);
}

/**
 * The new text of a log. Usually it was appended; if the agent also changed what was there (it may add patterns at the
 * top), the lines that the log did not have. Pure.
 */
export function added(before: string, after: string): string {
  const old = before.replaceAll('\r\n', '\n');
  const now = after.replaceAll('\r\n', '\n');
  if (now.startsWith(old)) {
    return now.slice(old.length);
  }
  const known = new Set(old.split('\n'));
  const lines = now.split('\n').filter(line => line.trim() === '' || !known.has(line));
  const text = lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
  return text === '' ? '' : `\n${text}\n`;
}

/** A missing log is an empty one, and it may be a link within the repository. @returns `undefined` if it is no file */
async function readText(file: string): Promise<string | undefined> {
  const real = outsideProblem(file) === undefined ? realPlace(file) : undefined;
  if (real === undefined) {
    return undefined;
  }
  try {
    const content = await readPlainFile(real, MAX_BYTES);
    const isMissing = lstatSync(real, { throwIfNoEntry: false }) === undefined;
    return content?.toString('utf8') ?? (isMissing ? '' : undefined);
  } catch {
    // An agent has put something else there.
    return undefined;
  }
}
