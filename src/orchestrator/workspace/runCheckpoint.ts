import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { HumanError } from '../../base/humanError.ts';
import { once } from '../../base/once.ts';
import { openPlainFile, readPlainFile, writeDerivedFile } from '../../base/plainFile.ts';
import { type FoldedJournal, foldJournal } from '../journal/foldJournal.ts';
import type { RunState } from '../journal/runState.ts';
import { fromStored, runStateSchema, toStored } from '../journal/runStateSchema.ts';
import type { RunFiles } from './runFiles.ts';

/** Raised when the same journal folds to something else than before; a test tells when. */
export const FOLD_VERSION = 2;
/** A state of thousands of stories stays far below. */
const MAX_BYTES = 16 * 1024 * 1024;
/** So much is folded again each time rather than kept anew, in bytes. */
const WORTH_KEEPING = 16 * 1024;
/** At the beginning of the journal and before the place of the checkpoint, in bytes. */
const SAMPLE_BYTES = 4096;

const checkpointSchema = once(() =>
  z.object({
    fold: z.literal(FOLD_VERSION),
    /** The journal that it was made of, when it was made. */
    journal: z.object({
      file: z.string(),
      size: z.number().int().nonnegative(),
      changed: z.string(),
      offset: z.number().int().nonnegative(),
      sample: z.string(),
    }),
    state: runStateSchema(),
  }),
);

/**
 * The run as its journal tells it now: from the checkpoint next to the journal and what was appended since. For what
 * people are shown. What decides asks the journal alone (`readRunState`): an agent may have written the checkpoint.
 */
export async function readRun(files: RunFiles, runId: string): Promise<RunState> {
  const file = files.journalFile(runId);
  const checkpoint = await readCheckpoint(files, runId);
  const folded = await foldJournal(file, checkpoint);
  // Only where git ignores it; a repository may have come with a journal, and is only looked at.
  if (
    folded.offset - (checkpoint?.offset ?? 0) >= WORTH_KEEPING &&
    existsSync(path.join(files.stateDir, '.gitignore'))
  ) {
    await writeCheckpoint(files, runId, folded);
  }
  return folded.state;
}

/**
 * Keeps a run's state for later readers of its journal. Best done by who has it at hand; others make it when they need it.
 * @param state the fold of all that is in the journal
 */
export async function keepRunState(files: RunFiles, runId: string, state: RunState): Promise<void> {
  const journal = await openPlainFile(files.journalFile(runId));
  if (journal === undefined) {
    return;
  }
  try {
    await writeCheckpoint(files, runId, { state, offset: (await journal.stat()).size });
  } finally {
    await journal.close();
  }
}

/** @returns `undefined` where there is none that fits the journal */
async function readCheckpoint(files: RunFiles, runId: string): Promise<FoldedJournal | undefined> {
  const bytes = await readPlainFile(files.checkpointFile(runId), MAX_BYTES);
  const parsed = bytes && checkpointSchema().safeParse(jsonOf(bytes.toString('utf8')));
  if (!parsed?.success) {
    return undefined;
  }
  const { journal, state } = parsed.data;
  const now = await lookAt(files.journalFile(runId), journal.offset);
  const fits =
    now !== undefined &&
    now.file === journal.file &&
    now.sample === journal.sample &&
    // Nobody but a writer of ours touches it, and those append.
    (now.size !== journal.size || now.changed === journal.changed);
  return fits ? { state: fromStored(state), offset: journal.offset } : undefined;
}

async function writeCheckpoint(
  files: RunFiles,
  runId: string,
  { offset, state }: FoldedJournal,
): Promise<void> {
  const journal = await lookAt(files.journalFile(runId), offset);
  if (journal === undefined) {
    return;
  }
  const text = JSON.stringify({
    fold: FOLD_VERSION,
    journal: { ...journal, offset },
    state: toStored(state),
  });
  if (Buffer.byteLength(text) > MAX_BYTES) {
    return;
  }
  try {
    await writeDerivedFile(files.checkpointFile(runId), text);
  } catch (error) {
    // A folder that is not ours to write, a full disk, a link: without it the journal is read again.
    if (!(error instanceof HumanError) && (error as NodeJS.ErrnoException).code === undefined) {
      throw error;
    }
  }
}

/** What tells this journal from another one, and from itself when it was changed other than by appending. */
interface JournalLook {
  readonly file: string;
  readonly size: number;
  readonly changed: string;
  readonly sample: string;
}

/** @param offset of the place up to which it is known */
async function lookAt(file: string, offset: number): Promise<JournalLook | undefined> {
  const handle = await openPlainFile(file);
  if (handle === undefined) {
    return undefined;
  }
  try {
    const stat = await handle.stat({ bigint: true });
    const size = Number(stat.size);
    return size < offset
      ? undefined
      : {
          file: `${stat.dev}:${stat.ino}`,
          size,
          changed: String(stat.ctimeNs),
          sample: await sampleOf(handle, offset),
        };
  } finally {
    await handle.close();
  }
}

async function sampleOf(handle: FileHandle, offset: number): Promise<string> {
  const hash = createHash('sha256');
  const length = Math.min(SAMPLE_BYTES, offset);
  for (const from of [0, offset - length]) {
    const bytes = Buffer.alloc(length);
    const { bytesRead } = await handle.read(bytes, 0, length, from);
    hash.update(bytes.subarray(0, bytesRead));
  }
  return hash.digest('hex');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Half written by a machine that went down; it is made anew.
    return undefined;
  }
}
