import { appendFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { STOP_MODES, type StopMode } from './events.ts';
import { readPlainFile, requirePlainState } from './plainFile.ts';
import type { RunFiles } from './runFiles.ts';

/** A larger one was not written by people. */
const MAX_INBOX_BYTES = 16 * 1024 * 1024;

/** What a watcher may ask of the loop; one line of JSON each, appended by anybody, read by the loop. */
const requestSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('stop'), mode: z.enum(STOP_MODES) }),
  /** A person has ticked (or unticked) the story in its file; the loop writes it into the journal. */
  z.looseObject({ type: z.literal('tick'), storyId: z.string(), done: z.boolean() }),
]);

export type RunRequest =
  | { readonly type: 'stop'; readonly mode: StopMode }
  | { readonly type: 'tick'; readonly storyId: string; readonly done: boolean };

/** Puts a request into the run's inbox. A single small append, so that two writers do not mix. */
export async function postRequest(
  files: RunFiles,
  runId: string,
  request: RunRequest,
): Promise<void> {
  requirePlainState(files, runId);
  const file = files.inboxFile(runId);
  await mkdir(path.dirname(file), { recursive: true });
  await appendFile(file, `${JSON.stringify({ ...request, at: new Date().toISOString() })}\n`);
}

/** Reads the requests in the order they came; each is given out once. */
export class InboxReader {
  private readonly file: string;
  private taken = 0;

  constructor(file: string) {
    this.file = file;
  }

  /** @returns whole new lines that are requests; others are dropped, they are not ours */
  async takeNew(): Promise<RunRequest[]> {
    const bytes = await readPlainFile(this.file, MAX_INBOX_BYTES);
    if (bytes === undefined) {
      return [];
    }
    const end = bytes.lastIndexOf(0x0a) + 1;
    if (end <= this.taken) {
      return [];
    }
    const lines = bytes.subarray(this.taken, end).toString('utf8').split('\n');
    this.taken = end;
    return lines.flatMap(line => {
      try {
        return [requestSchema.parse(JSON.parse(line))];
      } catch {
        return [];
      }
    });
  }
}
