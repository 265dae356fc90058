import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { decodeText } from '../../base/decodeText.ts';
import { HumanError } from '../../base/humanError.ts';
import { saidOf } from '../../base/messageOf.ts';
import { readPlainFile } from '../../base/plainFile.ts';
import { say } from '../../base/say.ts';
import {
  type Compaction,
  type CompactionOptions,
  compactLog,
  type OldEntry,
  oldEntriesOf,
} from '../context/compaction.ts';
import { relative, requireArchive, withArchive } from '../planner/placeStories.ts';
import type { Run } from '../run/run.ts';
import { progressFileOf, relativePath } from '../run/runWork.ts';
import { warn } from '../run/warn.ts';
import { DEFAULT_CONFIG, type RunConfig } from '../settings/config.ts';
import { replaceUnchanged } from '../stories/edit/fileEdit.ts';
import { outsideProblem, requireInside } from '../stories/outsideLinks.ts';
import type { RunFiles } from '../workspace/runFiles.ts';

/** Part of `compactAt` that must be saved: otherwise a log whose patterns alone are long is rewritten every time. */
const MIN_SAVED = 0.25;
/** A log that is larger cannot have been written for people. */
const MAX_BYTES = 32 * 1024 * 1024;

/** A compaction that is not written yet. */
export interface PlannedCompaction extends Compaction {
  /** The file as it was read. */
  readonly before: Buffer;
  /** What it condenses. */
  readonly entries: readonly OldEntry[];
}

type Limits = Pick<CompactionOptions, 'compactAt' | 'maxLines' | 'summaries'>;

/** The limits for a person who asks for it: with 0, which only keeps runs from it, the default counts. */
export function compactionLimits({
  compactAt,
  progressMaxLines,
}: Pick<RunConfig, 'compactAt' | 'progressMaxLines'>): Limits {
  return { compactAt: compactAt || DEFAULT_CONFIG.compactAt, maxLines: progressMaxLines };
}

/**
 * Checks that a log can be condensed at all; a missing one is no problem.
 * @throws {HumanError} if it is no plain file, or too large
 */
export async function requireReadableLog(file: string): Promise<void> {
  const found = await lstat(file).catch(() => undefined);
  if (found?.isSymbolicLink()) {
    throw new HumanError(
      say('{0} is a link, so it is left as it is. Put a plain file in its place.', file),
    );
  }
  if (found?.isDirectory()) {
    throw new HumanError(
      say('{0} is a folder, so it is left as it is. Put a plain file in its place.', file),
    );
  }
  if (found !== undefined && !found.isFile()) {
    throw new HumanError(
      say(
        '{0} is a pipe or a device, so it is left as it is. Put a plain file in its place.',
        file,
      ),
    );
  }
  if (found !== undefined && found.size > MAX_BYTES) {
    throw new HumanError(
      say(
        '{0} is larger than {1} MB, so it is left as it is. Move older entries to another file.',
        file,
        MAX_BYTES / 1024 / 1024,
      ),
    );
  }
}

/**
 * Reads a progress log and condenses it; writes nothing. The archive has no name yet.
 * @param file absolute path
 * @returns `undefined` if nothing can be condensed, or there is no log
 * @throws {HumanError} if it is not a plain UTF-8 file in the repository
 */
export async function planCompaction(
  files: RunFiles,
  file: string,
  now: Date,
  limits: Limits,
): Promise<PlannedCompaction | undefined> {
  requireInside(file);
  requireArchive(files);
  const before = await readPlainFile(file, MAX_BYTES);
  if (before === undefined) {
    return undefined;
  }
  const text = textOf(file, before);
  const made = compactLog(text, { ...limits, now, archive: '`.omc/archive`' });
  return made && { ...made, before, entries: oldEntriesOf(text, limits) };
}

/**
 * Archives a progress log, then replaces it, if it is still the one that was read. No agent may be at work here.
 * @returns the archived file, relative to the workspace, with forward slashes
 * @throws {HumanError} if it has changed; then it stays as it is, and there is no copy in the archive
 */
export async function writeCompaction(
  files: RunFiles,
  file: string,
  { before }: Pick<PlannedCompaction, 'before'>,
  now: Date,
  limits: Limits,
): Promise<{ readonly archive: string; readonly made: Compaction }> {
  return withArchive(files, now, 'progress', new Map([[file, before]]), async dir => {
    const archive = relative(files, path.join(dir, path.basename(file)));
    const options = { ...limits, now, archive: `\`${archive}\`` };
    const made = compactLog(textOf(file, before), options);
    const changed = say(
      '{0} was changed by another program meanwhile, so it was left as it is. Try again.',
      file,
    );
    if (made === undefined) {
      throw new HumanError(changed);
    }
    await replaceUnchanged(file, { before, after: Buffer.from(made.text), changed });
    return { archive, made };
  });
}

/**
 * Condenses the log of a run if it has become long, and records it; a problem is only a warning. No agent of the run
 * may be at work.
 * @returns whether it could be looked at
 */
export async function keepProgressShort(run: Run): Promise<boolean> {
  const { config, files } = run;
  const limits = { compactAt: config.compactAt, maxLines: config.progressMaxLines };
  const file = progressFileOf(run);
  const now = new Date();
  if (outsideProblem(file) !== undefined) {
    // It is not read, so nobody knows how long it is; each prompt that goes without it says why.
    return true;
  }
  try {
    const planned = await planCompaction(files, file, now, limits);
    if (
      planned === undefined ||
      planned.linesBefore < limits.compactAt ||
      planned.linesBefore - planned.linesAfter < limits.compactAt * MIN_SAVED
    ) {
      return true;
    }
    const { archive, made } = await writeCompaction(files, file, planned, now, limits);
    run.journal.append({
      type: 'progress.compacted',
      file: relativePath(files.workspace, file),
      linesBefore: made.linesBefore,
      linesAfter: made.linesAfter,
      entries: made.condensedEntries,
      archive,
    });
    return true;
  } catch (error) {
    warn(run.journal, 'progressNotCompacted', saidOf(error));
    return false;
  }
}

/** @throws {HumanError} naming the file and the line that is not UTF-8 */
function textOf(file: string, content: Buffer): string {
  const { bom, problem, text } = decodeText(content);
  if (problem !== undefined) {
    const line = text.slice(0, problem.offset).split(/\r\n?|\n/).length;
    throw new HumanError(say('{0}: {1}', file, say('Line {0}: {1}', line, problem.message)));
  }
  return bom + text;
}
