import { createHash } from 'node:crypto';
import { type BigIntStats, existsSync, lstatSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { openPlainFile, readPlainFile, writeDerivedFile } from '../../base/plainFile.ts';
import { type FoldedJournal, foldJournal } from '../journal/foldJournal.ts';
import type { RunState } from '../journal/runState.ts';
import { fromStored, type StoredRunState, toStored } from '../journal/storedRunState.ts';
import type { RunFiles } from './runFiles.ts';
import { newestRunId } from './runIds.ts';

/** Increase it when the same journal folds to another state than before; a test detects that. */
export const FOLD_VERSION = 22;
/** In bytes; the state of thousands of stories is much smaller. */
const MAX_BYTES = 16 * 1024 * 1024;
/** In bytes; up to this size, folding again is cheaper than writing a new checkpoint. */
const WORTH_KEEPING = 16 * 1024;
/** Bytes to compare at the start of the journal and before the offset of the checkpoint. */
const SAMPLE_BYTES = 4096;
/** At the start of the text, of everything after it. */
const DIGEST = /^\{"digest":"([\da-f]{64})",/;

/** What the file says, after the digest of its text. */
interface Checkpoint {
  readonly fold: number;
  /** The journal at the time of the checkpoint. */
  readonly journal: JournalLook & { readonly offset: number };
  readonly state: StoredRunState;
}

/**
 * The current state of a run, from the checkpoint next to the journal and the events appended since. Only for
 * display. Decisions use the journal alone (`readRunState`), because an agent may have written the checkpoint.
 */
export async function readRun(files: RunFiles, runId: string): Promise<RunState> {
  const file = files.journalFile(runId);
  const checkpoint = await readCheckpoint(files, runId);
  if (checkpoint?.isWhole) {
    return checkpoint.state;
  }
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

/** Like {@link readRun}, of the newest run; `undefined` before the first journal. */
export async function readNewestRun(files: RunFiles): Promise<RunState | undefined> {
  const runId = await newestRunId(files);
  return runId === undefined ? undefined : readRun(files, runId);
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

/** A checkpoint that matches the journal. */
interface Fitting extends FoldedJournal {
  /** Whether nothing was appended to the journal since. */
  readonly isWhole: boolean;
}

/** @returns `undefined` if there is none that matches the journal */
async function readCheckpoint(files: RunFiles, runId: string): Promise<Fitting | undefined> {
  const bytes = await readPlainFile(files.checkpointFile(runId), MAX_BYTES);
  const checkpoint = bytes && parsed(bytes.toString('utf8'));
  if (checkpoint === undefined) {
    return undefined;
  }
  const { journal, state } = checkpoint;
  const { changed, file: known, offset, sample, size } = journal;
  const file = files.journalFile(runId);
  const stat = lstatSync(file, { bigint: true, throwIfNoEntry: false });
  if (stat?.isFile() && known === identityOf(stat) && changed === String(stat.ctimeNs)) {
    return { state, offset, isWhole: size === offset };
  }
  const now = await lookAt(file, offset);
  // Only our writers touch the file, and they append.
  const fits =
    now !== undefined && now.file === known && now.sample === sample && now.size !== size;
  return fits ? { state, offset, isWhole: now.size === offset } : undefined;
}

/**
 * The digest shows that all of the text is there and nobody has edited it, so its fields are not looked at one by one:
 * that took longer than everything else that a short command does.
 */
function parsed(text: string): { journal: Checkpoint['journal']; state: RunState } | undefined {
  const [head, digest = ''] = DIGEST.exec(text) ?? [''];
  const rest = text.slice(head.length);
  if (digest !== digestOf(rest)) {
    return undefined;
  }
  try {
    const { fold, journal, state } = JSON.parse(`{${rest}`) as Checkpoint;
    const isOurs = fold === FOLD_VERSION && Number.isSafeInteger(journal.offset);
    return isOurs ? { journal, state: fromStored(state) } : undefined;
  } catch {
    // Somebody else has written it, with the digest.
    return undefined;
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
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
  const checkpoint: Checkpoint = {
    fold: FOLD_VERSION,
    journal: { ...journal, offset },
    state: toStored(state),
  };
  const rest = JSON.stringify(checkpoint).slice(1);
  const text = `{"digest":"${digestOf(rest)}",${rest}`;
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
          file: identityOf(stat),
          size,
          changed: String(stat.ctimeNs),
          sample: await sampleOf(handle, offset),
        };
  } finally {
    await handle.close();
  }
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
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
