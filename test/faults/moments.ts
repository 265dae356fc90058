import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import type { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { runIdsNow } from './journalTail.ts';
import type { Random } from './random.ts';

/** The moment of a kill, after its turn has come. */
export type Moment =
  | { readonly kind: 'delay'; readonly ms: number }
  /** Right after the next event of one of these types is in the journal, or after an additional delay. */
  | {
      readonly kind: 'event';
      readonly types: readonly RunEvent['type'][];
      readonly thenMs?: number;
    }
  /** Right after this file has appeared or changed. */
  | { readonly kind: 'file'; readonly file: WatchedFile };

const WORKING_FILES = [
  'state',
  'handoff',
  'prompt',
  'journal',
  'stories-before',
  'restore-point',
  'git-index',
  'story-file',
] as const;
const STARTING_FILES = ['lock', 'state', 'journal', 'handoff'] as const;
type WatchedFile =
  | (typeof WORKING_FILES)[number]
  | (typeof STARTING_FILES)[number]
  | (typeof LANE_FILES)[number];

const AGENT_EVENTS = ['agent.started', 'agent.init', 'agent.text', 'agent.tool'] as const;
const EVENTS = [
  'iteration.started',
  'agent.started',
  'agent.init',
  'agent.text',
  'agent.tool',
  'agent.ended',
  'commit.recorded',
  'story.changed',
  'iteration.ended',
] as const;
const GATE_EVENTS = ['gate.started', 'check.started', 'check.ended', 'gate.ended'] as const;

const LANE_EVENTS = [
  ...['run.resumed', 'iteration.started', 'agent.started', 'agent.tool', 'agent.ended'],
  ...['work.kept', 'story.changed', 'landing.queued', 'landing.candidate', 'gate.started'],
  ...['check.started', 'check.ended', 'gate.ended', 'landing.landed', 'landing.returned'],
  ...['commit.recorded', 'iteration.ended'],
] as [RunEvent['type'], ...RunEvent['type'][]];
const LANE_FILES = ['journal', 'state', 'git-index', 'story-file', 'refs', 'places'] as const;

/** While several agents work, and their work lands. */
export function laneMoment(random: Random): Moment {
  const kind = random.next();
  if (kind < 0.25) {
    return { kind: 'delay', ms: random.next() * 3_000 };
  }
  if (kind < 0.4) {
    return { kind: 'file', file: random.pick(LANE_FILES) };
  }
  const types = [random.pick(LANE_EVENTS)];
  return { kind: 'event', types, ...(random.chance(0.5) && { thenMs: random.next() * 300 }) };
}

/** While a check works. */
export function checkMoment(random: Random, checkMs: number): Moment {
  return { kind: 'event', types: ['check.started'], thenMs: random.next() * checkMs };
}

/** While a loop starts: recovery of the last one, its first files and events. */
export function startingMoment(random: Random, startMs: number): Moment {
  const kind = random.next();
  if (kind < 0.4) {
    return { kind: 'delay', ms: random.next() * startMs };
  }
  return kind < 0.7
    ? { kind: 'file', file: random.pick(STARTING_FILES) }
    : {
        kind: 'event',
        types: random.chance(0.5) ? ['run.started', 'run.resumed'] : ['iteration.started'],
      };
}

/** While a loop works. @param iterationMs approximate duration of an iteration */
export function workingMoment(random: Random, iterationMs: number, hasGate: boolean): Moment {
  const kind = random.next();
  if (kind < 0.4) {
    return { kind: 'delay', ms: random.next() * iterationMs };
  }
  if (kind < 0.6) {
    return { kind: 'file', file: random.pick(WORKING_FILES) };
  }
  const type = hasGate && random.chance(0.5) ? random.pick(GATE_EVENTS) : random.pick(EVENTS);
  return { kind: 'event', types: [type] };
}

/** While an agent works. @param agentMs its approximate duration */
export function agentMoment(random: Random, agentMs: number): Moment {
  const types = [random.pick(AGENT_EVENTS)];
  return { kind: 'event', types, ...(random.chance(0.7) && { thenMs: random.next() * agentMs }) };
}

/** Detects when a moment has come, counted from the construction. */
export class MomentWatch {
  private readonly moment: Moment;
  private readonly files: RunFiles;
  private readonly since = performance.now();
  private readonly before: string;
  private eventAt: number | undefined;

  constructor(moment: Moment, files: RunFiles) {
    this.moment = moment;
    this.files = files;
    this.before = moment.kind === 'file' ? this.stamp(moment.file) : '';
  }

  /** @param events new events of the journal since the last call */
  hasCome(events: readonly RunEvent[]): boolean {
    const { moment } = this;
    switch (moment.kind) {
      case 'delay':
        return performance.now() - this.since >= moment.ms;
      case 'event':
        if (events.some(({ type }) => moment.types.includes(type))) {
          this.eventAt ??= performance.now();
        }
        return (
          this.eventAt !== undefined && performance.now() - this.eventAt >= (moment.thenMs ?? 0)
        );
      case 'file': {
        const now = this.stamp(moment.file);
        return now !== this.before && now !== '';
      }
    }
  }

  /** Changes whenever the file changes. */
  private stamp(file: WatchedFile): string {
    const { files } = this;
    switch (file) {
      case 'lock':
        return contentOf(files.lockFile);
      case 'state':
        return stampOf(files.stateFile);
      case 'handoff':
        return stampOf(files.handoffFile);
      case 'prompt':
        return stampOf(files.promptFile);
      case 'journal':
        return runIdsNow(files)
          .slice(-1)
          .map(runId => stampOf(files.journalFile(runId)))
          .join();
      case 'stories-before':
        return runIdsNow(files)
          .slice(-1)
          .flatMap(runId => lastIn(path.join(files.runDir(runId), 'iterations')))
          .map(dir => stampOf(path.join(dir, 'stories-before.json')))
          .join();
      case 'restore-point':
        return lastIn(path.join(files.workspace, '.git', 'refs', 'ralph-fresh'))
          .map(stampOf)
          .join();
      case 'git-index':
        return stampOf(path.join(files.workspace, '.git', 'index.lock'));
      case 'refs':
        return stampsBelow(path.join(files.workspace, '.git', 'refs'));
      case 'places':
        return stampsBelow(path.join(files.workspace, '..', 'home', '.cache'), 4);
      case 'story-file':
        return stampOf(path.join(files.workspace, '.omc', 'prd.json'));
    }
  }
}

export function describeMoment(moment: Moment): string {
  switch (moment.kind) {
    case 'delay':
      return `${moment.ms.toFixed(0)} ms`;
    case 'event':
      return `${moment.types.join(' or ')}${moment.thenMs === undefined ? '' : ` + ${moment.thenMs.toFixed(0)} ms`}`;
    case 'file':
      return `file ${moment.file}`;
  }
}

function stampOf(file: string): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino} ${stat.mtimeNs} ${stat.size}`;
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Changes whenever an entry of a folder, or of those below it, appears or changes. */
function stampsBelow(dir: string, depth = 6): string {
  try {
    return readdirSync(dir, { withFileTypes: true })
      .map(entry => {
        const file = path.join(dir, entry.name);
        const below = entry.isDirectory() && depth > 0 ? stampsBelow(file, depth - 1) : '';
        return stampOf(file) + below;
      })
      .join();
  } catch {
    // It is not there yet, or has just gone.
    return '';
  }
}

/** The entry with the highest number. */
function lastIn(dir: string): string[] {
  try {
    return readdirSync(dir)
      .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
      .slice(-1)
      .map(name => path.join(dir, name));
  } catch {
    return [];
  }
}
