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

/** Increase it when the same journal folds to another state than before; a test detects that. */
export const FOLD_VERSION = 12;
/** In bytes; the state of thousands of stories is much smaller. */
const MAX_BYTES = 16 * 1024 * 1024;
/** In bytes; up to this size, folding again is cheaper than writing a new checkpoint. */
const WORTH_KEEPING = 16 * 1024;
/** Bytes to compare at the start of the journal and before the offset of the checkpoint. */
const SAMPLE_BYTES = 4096;

const checkpointSchema = once(() =>
  z.object({
    fold: z.literal(FOLD_VERSION),
    /** The journal at the time of the checkpoint. */
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
 * The current state of a run, from the checkpoint next to the journal and the events appended since. Only for
 * display. Decisions use the journal alone (`readRunState`), because an agent may have written the checkpoint.
 */
export async function readRun(files: RunFiles, runId: string): Promise<RunState> {
  const file = files.journalFile(runId);
  const checkpoint = await readCheckpoint(files, runId);
  const folded = await foldJournal(file, checkpoint);
  // Only if git ignores it: a repository may contain a journal, and nothing must be written then.
  if (
    folded.offset - (checkpoint?.offset ?? 0) >= WORTH_KEEPING &&
    existsSync(path.join(files.stateDir, '.gitignore'))
  ) {
    await writeCheckpoint(files, runId, folded);
  }
  return folded.state;
}

/**
 * Writes a checkpoint for later readers of the journal. Call it if the state is at hand; other readers create it on
 * demand.
 * @param state the fold of the whole journal
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

/** @returns `undefined` if there is none that matches the journal */
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
    // Only our writers touch the file, and they append.
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
    // No permission, a full disk, a link: without a checkpoint, the journal is read again.
    if (!(error instanceof HumanError) && (error as NodeJS.ErrnoException).code === undefined) {
      throw error;
    }
  }
}

/** Distinguishes this journal from another one, and detects changes other than appends. */
interface JournalLook {
  readonly file: string;
  readonly size: number;
  readonly changed: string;
  readonly sample: string;
}

/** @param offset the end of the part to compare */
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
    // Half written before a power failure; it is created again.
    return undefined;
  }
}
