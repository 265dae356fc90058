import path from 'node:path';
import { LineSplitter } from '../../../base/lineSplitter.ts';
import { openPlainFile } from '../../../base/plainFile.ts';
import type { RunEvent } from '../../journal/events.ts';
import type { RunFiles } from '../../workspace/runFiles.ts';
import type { ResultEvent } from '../agent.ts';
import { CostEstimate } from '../claude/costEstimate.ts';
import { StreamJsonDecoder } from '../claude/streamJson.ts';
import { type CallCost, callCost } from './callCost.ts';

/** Longest line that is read, in UTF-16 units; lines with a cost are far shorter. */
const MAX_LINE = 8 * 1024 * 1024;
/** Agents whose stream contains their usage. */
const TELL_USAGE: ReadonlySet<string> = new Set(['claude', 'sdk']);

type Started = Extract<RunEvent, { type: 'agent.started' }>;

/** A call whose loop was killed before it could record the call's end. */
export interface CutOffCall {
  readonly started: Started;
  /** Until the last event of the journal, in ms. */
  readonly durationMs: number;
}

/** The call that was interrupted by the loop's end; `undefined` if none was running. Pure. */
export function callCutOff(events: readonly RunEvent[]): CutOffCall | undefined {
  let started: Started | undefined;
  for (const event of events) {
    switch (event.type) {
      case 'agent.started':
        started = event;
        break;
      case 'agent.ended':
      case 'iteration.ended':
      case 'run.started':
      case 'run.ended':
        started = undefined;
        break;
    }
  }
  const last = events.at(-1);
  if (started === undefined || last === undefined) {
    return undefined;
  }
  const durationMs = Date.parse(last.at) - Date.parse(started.at);
  return { started, durationMs: Number.isFinite(durationMs) ? Math.max(0, durationMs) : 0 };
}

/** The usage of that call from its recorded stream: the cost of its result, otherwise an estimate. */
export async function costOfCutOff(
  files: RunFiles,
  runId: string,
  agent: string | undefined,
  { started }: CutOffCall,
): Promise<CallCost> {
  const {
    iteration,
    purpose = 'story',
    stream = purpose === 'story' ? 'stream.jsonl' : '',
  } = started;
  if (!TELL_USAGE.has(agent ?? '') || stream === '' || path.basename(stream) !== stream) {
    return {};
  }
  const file = path.join(files.iterationDir(runId, iteration), stream);
  const estimate = new CostEstimate();
  let result: ResultEvent | undefined;
  const decoder = new StreamJsonDecoder();
  for await (const line of linesOf(file)) {
    for (const event of decoder.decode(line)) {
      estimate.take(event);
      if (event.type === 'result') {
        result = event.costUsd === undefined ? (result ?? event) : event;
      }
    }
  }
  return callCost(result, estimate);
}

async function* linesOf(file: string): AsyncGenerator<string> {
  const handle = await openPlainFile(file);
  if (handle === undefined) {
    return;
  }
  const splitter = new LineSplitter(MAX_LINE);
  // Closes the file at its end.
  for await (const chunk of handle.createReadStream()) {
    for (const { dropped, text } of splitter.push(chunk)) {
      if (dropped === 0) {
        yield text;
      }
    }
  }
}
