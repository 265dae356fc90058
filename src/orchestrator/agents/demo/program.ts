/**
 * The demo agent's own program: reads a prompt from standard input, works in the current folder and prints what
 * `claude -p --output-format stream-json` would print. The work itself is prepared; see `work/`.
 */

import { existsSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { messageOf } from '../../../base/messageOf.ts';
import { ChildProcesses } from './childProcesses.ts';
import { NeedsHuman, PlaybackFailed } from './endings.ts';
import { Playback } from './playback.ts';
import { PreparedWork } from './preparedWork.ts';
import { Transcript, TurnLimitReached } from './transcript.ts';

const DEFAULT_PACE_MS = 250;

async function main(signal: AbortSignal): Promise<number> {
  const { values } = parseArgs({ options: { 'max-turns': { type: 'string' } }, strict: false });
  const maxTurns = Number(values['max-turns']) || Number.POSITIVE_INFINITY;
  const pace = Number(process.env['RALPH_FRESH_DEMO_PACE_MS'] ?? DEFAULT_PACE_MS);
  const hold = process.env['RALPH_FRESH_DEMO_HOLD'];
  const cwd = process.cwd();
  const transcript = new Transcript(cwd, maxTurns, line => process.stdout.write(`${line}\n`));
  transcript.init();
  try {
    const playback = new Playback({
      cwd,
      prompt: process.stdin.isTTY ? '' : await text(process.stdin),
      work: await PreparedWork.load(workFolder()),
      transcript,
      children: new ChildProcesses(cwd, process.env, signal),
      signal,
      paceMs: pace >= 0 ? pace : DEFAULT_PACE_MS,
      hold: hold || undefined,
    });
    transcript.result(await playback.run());
    return 0;
  } catch (error) {
    // Like the CLI: an interrupted session has no result.
    signal.throwIfAborted();
    if (error instanceof NeedsHuman) {
      transcript.result(`<promise>NEEDS_HUMAN: ${error.message}</promise>`);
      return 0;
    }
    if (error instanceof TurnLimitReached) {
      transcript.turnLimit();
      return 1;
    }
    const message = messageOf(error);
    transcript.failure(
      error instanceof PlaybackFailed ? message : `The demo agent itself failed: ${message}`,
    );
    return 1;
  }
}

/** Next to the bundle, the folder has the agent's name; in the source tree it does not need one. */
function workFolder(): string {
  const bundled = path.join(import.meta.dirname, 'demo-work');
  return existsSync(bundled) ? bundled : path.join(import.meta.dirname, './work');
}

const interrupt = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => {
    interrupt.abort();
    process.stdin.destroy();
  });
}
// Nobody reads the output any more, so nobody waits for a result.
process.stdout.on('error', () => interrupt.abort());

try {
  process.exitCode = await main(interrupt.signal);
} catch (error) {
  if (!interrupt.signal.aborted) {
    throw error;
  }
  process.exitCode = 143;
}
