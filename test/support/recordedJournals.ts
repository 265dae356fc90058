import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseRunEvent, type RunEvent } from '../../src/orchestrator/journal/events.ts';
import { foldRun } from '../../src/orchestrator/journal/foldRun.ts';
import type { WatchedRun } from '../../src/orchestrator/workspace/runWatcher.ts';

/** Created by npm run journals. */
export const JOURNALS = path.resolve(import.meta.dirname, '../fixtures/journals');
/** Of runs that are too long to look at each of their moments; created by npm run journals, if they are named. */
export const LONG_JOURNALS = path.resolve(import.meta.dirname, '../fixtures/longJournals');
/** Time of the first event of a recorded journal; each one after it is a second later. */
const BEGIN = Date.parse('2026-01-01T10:00:00.000Z');
const HASH = /\b[0-9a-f]{40}\b/g;
/** Names the workspace in refs. */
const PLACE_HASH = /^(refs\/ralph-fresh\/[a-z]+\/)[0-9a-f]{12}\//;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Values that depend on time or paths, with fixed replacements. */
const FIXED: Readonly<Record<string, unknown>> = {
  durationMs: 1_000,
  version: '0.0.0',
  promptBytes: 2_000,
  handoffBytes: 1_000,
  tokens: 100,
  remainingMs: 3_600_000,
  // No view needs it.
  storyFileHash: undefined,
};

/** Names of the runs whose journals are recorded. */
export function recordedNames(): string[] {
  return readdirSync(JOURNALS).map(file => path.basename(file, '.jsonl'));
}

/** A pattern for an event: its type, and fields with these values. */
export type EventMatch = {
  [T in RunEvent['type']]: { readonly type: T } & Partial<Extract<RunEvent, { type: T }>>;
}[RunEvent['type']];

/** A run as a window observes it, with its journal. */
export interface RecordedRun extends WatchedRun {
  readonly runId: string;
  readonly events: readonly RunEvent[];
}

/**
 * A journal that a real run has written, see scenarios.ts.
 * @param until the first matching event is the last one returned; without it, the whole journal
 */
export function recorded(name: string, until?: EventMatch): readonly RunEvent[] {
  const events = eventsOf(path.join(JOURNALS, `${name}.jsonl`));
  return until === undefined ? events : events.slice(0, indexOf(events, until) + 1);
}

/** The journal of a long run, without what agents have said. */
export function recordedLong(name: string): readonly RunEvent[] {
  return eventsOf(path.join(LONG_JOURNALS, `${name}.jsonl`));
}

function eventsOf(file: string): readonly RunEvent[] {
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => {
      const event = parseRunEvent(line);
      if (event === undefined) {
        throw new Error(`No event: ${line}`);
      }
      return event;
    });
}

/** A recorded run whose loop is alive, after the first matching event. */
export function living(name: string, until: EventMatch): RecordedRun {
  return watched(recorded(name, until), true);
}

/** One whose loop has ended, or was killed after the first matching event. */
export function over(name: string, until?: EventMatch): RecordedRun {
  return watched(recorded(name, until), false);
}

/** These events as a window observes them. */
export function watched(events: readonly RunEvent[], alive: boolean): RecordedRun {
  return { runId: 'r1', alive, state: foldRun(events), events };
}

/**
 * A run that is too long to be recorded: the first iteration of a recorded one, repeated, without an end.
 * @param change what differs from one iteration to the next
 */
export function longRun(
  name: string,
  iterations: number,
  change: (event: RunEvent, iteration: number) => RunEvent = event => event,
): readonly RunEvent[] {
  const events = recorded(name, { type: 'iteration.ended', iteration: 1 });
  const begin = indexOf(events, { type: 'iteration.started', iteration: 1 });
  const again = Array.from({ length: iterations }, (_, at) =>
    events
      .slice(begin)
      .map(event => change('iteration' in event ? { ...event, iteration: at + 1 } : event, at + 1)),
  ).flat();
  return [...events.slice(0, begin), ...again].map((event, at) => ({ ...event, seq: at + 1 }));
}

function indexOf(events: readonly RunEvent[], match: EventMatch): number {
  const wanted = Object.entries(match);
  const found = events.findIndex(event =>
    wanted.every(([key, value]) => (event as Readonly<Record<string, unknown>>)[key] === value),
  );
  if (found === -1) {
    throw new Error(`There is no such event: ${JSON.stringify(match)}`);
  }
  return found;
}

/**
 * Makes a journal reproducible: times, processes, commits and paths are replaced by fixed names.
 * @param places absolute paths and their names
 */
export function neutralJournal(
  events: readonly RunEvent[],
  places: readonly (readonly [string, string])[],
): string {
  const runId =
    events.flatMap(event => (event.type === 'run.started' ? [event.runId] : []))[0] ?? '';
  const hashes = new Map<string, string>();
  const ids = new Map<string, string>();
  const pids = new Map<number, number>();
  const pidOf = (pid: number) => {
    const known = pids.get(pid) ?? 1_001 + pids.size;
    pids.set(pid, known);
    return known;
  };
  const textOf = (text: string): string => {
    if (UUID.test(text)) {
      const known = ids.get(text) ?? `id-${ids.size + 1}`;
      ids.set(text, known);
      return known;
    }
    const placed = [[runId, 'r1'] as const, ...places].reduce(
      (before, [from, to]) => before.replaceAll(from, to),
      text,
    );
    return placed
      .replace(/^fake-(\d+)$/, (_all, pid: string) => `fake-${pidOf(Number(pid))}`)
      .replace(PLACE_HASH, '$1place/')
      .replace(HASH, hash => {
        const known =
          hashes.get(hash) ??
          String(hashes.size + 1)
            .padStart(7, '0')
            .padEnd(40, 'a');
        hashes.set(hash, known);
        return known;
      });
  };
  const neutral = (value: unknown, key = ''): unknown => {
    if (key in FIXED && value !== undefined) {
      return FIXED[key];
    }
    if (key === 'startId') {
      return 'start';
    }
    if (key === 'pid' && typeof value === 'number') {
      return pidOf(value);
    }
    if (typeof value === 'string') {
      return textOf(value);
    }
    if (Array.isArray(value)) {
      return value.map(item => neutral(item));
    }
    if (typeof value !== 'object' || value === null) {
      return value;
    }
    // Cgroups are not available on every system.
    const everywhere = Object.entries(value).filter(([name]) => name !== 'cgroup');
    return Object.fromEntries(everywhere.map(([name, item]) => [name, neutral(item, name)]));
  };
  return events
    .map((event, index) => {
      const at = new Date(BEGIN + index * 1_000).toISOString();
      const { at: _at, seq, type, ...body } = event;
      const until = new Date(BEGIN + index * 1_000 + 3_600_000).toISOString();
      return `${JSON.stringify({
        ...{ seq, at, type, ...(neutral(body) as object) },
        until: 'until' in body ? until : undefined,
        // A check may have ended before its start time could be read.
        startId: 'pid' in body ? 'start' : undefined,
      })}\n`;
    })
    .join('');
}
