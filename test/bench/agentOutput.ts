import { LineSplitter } from '../../src/base/lineSplitter.ts';
import { StreamJsonDecoder } from '../../src/orchestrator/agents/claude/streamJson.ts';
import { medianMs, type Row } from './row.ts';
import { streamOf } from './streamLines.ts';

/** The chunk size of a pipe. */
const CHUNK = 64 * 1024;
/** The limit of agentProcess.ts. */
const MAX_LINE = 8 * 1024 * 1024;
const MEGABYTE = 1e6;
const MIN_SPEED = 100;

/** Converts an agent's bytes into events, compared with just JSON.parse of the same lines. */
export function agentOutput(): Row[] {
  const stream = streamOf(64 * MEGABYTE);
  const lines = stream.toString('utf8').split('\n').slice(0, -1);
  const readMs = medianMs(() => void countEvents(stream), 7);
  const parseMs = medianMs(() => {
    for (const line of lines) {
      JSON.parse(line);
    }
  }, 7);
  const speed = stream.length / MEGABYTE / (readMs / 1_000);
  const bare = stream.length / MEGABYTE / (parseMs / 1_000);
  const long = Buffer.concat([
    Buffer.from('{"type":"assistant","message":{"content":[{"type":"text","text":"'),
    Buffer.alloc(50 * MEGABYTE, 'x'),
    Buffer.from(
      '"}]}}\n{"type":"assistant","message":{"content":[{"type":"text","text":"after it"}]}}\n',
    ),
  ]);
  const after = countEvents(long);
  return [
    {
      what: `reading agent output (JSON.parse alone: ${bare.toFixed(0)} MB/s)`,
      budget: `≥ ${MIN_SPEED} MB/s`,
      value: `${speed.toFixed(0)} MB/s`,
      ratio: (readMs / parseMs).toFixed(2),
      isWithin: speed >= MIN_SPEED,
      decides: false,
    },
    {
      what: 'a line of 50 MB',
      budget: 'survived',
      value: after.text === 'after it' ? 'survived' : 'lost what follows',
      isWithin: after.text === 'after it',
      decides: true,
    },
  ];
}

/** @returns the number of events, and the last text */
function countEvents(stream: Buffer): { events: number; text: string } {
  const splitter = new LineSplitter(MAX_LINE);
  const decoder = new StreamJsonDecoder();
  let events = 0;
  let text = '';
  for (let at = 0; at < stream.length; at += CHUNK) {
    for (const line of splitter.push(stream.subarray(at, at + CHUNK))) {
      for (const event of line.dropped > 0 ? [] : decoder.decode(line.text)) {
        events += 1;
        text = event.type === 'text' ? event.text : text;
      }
    }
  }
  return { events, text };
}
