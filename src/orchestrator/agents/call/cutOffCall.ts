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

/** The calls that were interrupted by the loop's end, at most one of each iteration. Pure. */
export function callsCutOff(events: readonly RunEvent[]): CutOffCall[] {
  const started = new Map<number, Started>();
  for (const event of events) {
    switch (event.type) {
      case 'agent.started':
        started.set(event.iteration, event);
        break;
      case 'agent.ended':
      case 'iteration.ended':
        started.delete(event.iteration);
        break;
      case 'run.started':
      case 'run.ended':
        started.clear();
        break;
    }
  }
  const last = Date.parse(events.at(-1)?.at ?? '');
  return [...started.values()].map(event => {
    const durationMs = last - Date.parse(event.at);
    return {
      started: event,
      durationMs: Number.isFinite(durationMs) ? Math.max(0, durationMs) : 0,
    };
  });
}

/** The usage of that call from its recorded stream: the cost of its result, otherwise an estimate. */
export async function costOfCutOff(
  files: RunFiles,
  runId: string,
  agent: string | undefined,
  { started }: CutOffCall,
): Promise<CallCost> {
  const file = streamOf(files, runId, agent, started);
  if (file === undefined) {
    return {};
  }
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

/** The final answer of a call from its recorded stream, if it got that far. */
export async function answerOfCutOff(
  files: RunFiles,
  runId: string,
  agent: string | undefined,
  started: Started,
): Promise<string | undefined> {
  const file = streamOf(files, runId, agent, started);
  let answer: string | undefined;
  const decoder = new StreamJsonDecoder();
  for await (const line of file === undefined ? [] : linesOf(file)) {
    for (const event of decoder.decode(line)) {
      if (event.type === 'result') {
        answer = event.isError ? undefined : event.text;
      }
    }
  }
  return answer;
}

/** The recorded stream of a call; `undefined` if its agent prints another one. */
function streamOf(
  files: RunFiles,
  runId: string,
  agent: string | undefined,
  { iteration, purpose = 'story', stream = purpose === 'story' ? 'stream.jsonl' : '' }: Started,
): string | undefined {
  return !TELL_USAGE.has(agent ?? '') || stream === '' || path.basename(stream) !== stream
    ? undefined
    : path.join(files.iterationDir(runId, iteration), stream);
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
