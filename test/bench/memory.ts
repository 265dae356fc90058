import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { benchStories, benchWorkspace } from './benchWorkspace.ts';
import { CLI, NODE_FLAGS } from './product.ts';
import { median, type Row } from './row.ts';

const LOOK_MS = 50;
const MEGABYTE = 1e6;
const MAX_MB = 160;
/** Maximum growth of memory for ten times the output. */
const MAX_GROWTH = 1.15;

/** Memory of the loop while an agent prints 100 MB and 1 GB. */
export function memory(): Promise<Row[]> {
  return memoryRows('memory of the loop while an agent prints 1 GB, highest', 1);
}

/** The same with several agents that print at once; together, they print as much. */
export function memoryOfLanes(lanes: number): Promise<Row[]> {
  return memoryRows(`memory of the loop while ${lanes} lanes print 1 GB, highest`, lanes);
}

/** Read from /proc, so Linux only. */
async function memoryRows(what: string, lanes: number): Promise<Row[]> {
  if (process.platform !== 'linux') {
    return [];
  }
  const small = await memoryWhileReading(100 * MEGABYTE, lanes);
  const large = await memoryWhileReading(1_000 * MEGABYTE, lanes);
  const growth = large.peak / small.peak;
  return [
    {
      what,
      budget: `≤ ${MAX_MB} MB`,
      value: `${large.peak.toFixed(0)} MB (median ${large.usual.toFixed(0)}, in ${large.seconds.toFixed(0)} s)`,
      isWithin: large.peak <= MAX_MB,
      decides: false,
    },
    {
      what: 'the same, against 100 MB',
      budget: `≤ ${MAX_GROWTH.toFixed(2)}`,
      value: `${large.peak.toFixed(0)} MB (${small.peak.toFixed(0)})`,
      ratio: growth.toFixed(2),
      isWithin: growth <= MAX_GROWTH,
      decides: true,
    },
  ];
}

interface Memory {
  /** In MB. */
  readonly peak: number;
  readonly usual: number;
  readonly seconds: number;
}

/** @param bytes of all agents together, one for each lane */
async function memoryWhileReading(bytes: number, lanes: number): Promise<Memory> {
  await using workspace = await benchWorkspace(benchStories(lanes));
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    [
      ...NODE_FLAGS,
      ...[CLI, 'run', '--quiet', '--agent', 'claude'],
      ...['--claude-path', path.join(import.meta.dirname, './agents', 'floods.mjs')],
      ...['--lanes', String(lanes)],
    ],
    {
      cwd: workspace.folder,
      env: { ...workspace.env, BENCH_BYTES: String(bytes / lanes) },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const closed = once(child, 'close');
  const samples: number[] = [];
  let peak = 0;
  while (child.exitCode === null && child.signalCode === null) {
    const status = statusOf(child.pid ?? 0);
    const resident = megabytes(status, 'VmRSS');
    if (resident > 0) {
      samples.push(resident);
      // The system records the peak, so none is missed between two reads.
      peak = Math.max(peak, megabytes(status, 'VmHWM'));
    }
    await delay(LOOK_MS);
  }
  const [code] = await closed;
  if (code !== 0) {
    throw new Error(`The loop ended with ${code}`);
  }
  return { peak, usual: median(samples), seconds: (performance.now() - startedAt) / 1_000 };
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    // It has just ended.
    return '';
  }
}

function megabytes(status: string, name: string): number {
  const [, kibibytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
  return (Number(kibibytes ?? 0) * 1_024) / MEGABYTE;
}
