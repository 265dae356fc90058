import { createHash } from 'node:crypto';
import type { RunEvent } from './events.ts';

/** Longest title, in UTF-16 units. */
export const MAX_TITLE = 120;
/** Kept of one run; a flood must not fill the memory. */
const MAX_DISCOVERIES = 1_000;

/** What became of work that an agent found: not decided, to become a story, a story, or not wanted. */
export type DiscoveryState = 'open' | 'accepted' | 'added' | 'dropped';

/** Work that an agent found, as far as one journal, or all of them, know it. */
export interface Discovery {
  readonly id: string;
  /** Absent if the report is in another journal. */
  readonly title?: string;
  readonly why?: string;
  /** The story during which it was found. */
  readonly from?: string;
  readonly iteration?: number;
  /** Absent: as other journals say. */
  readonly state?: DiscoveryState;
  /** Its id in the story file. */
  readonly storyId?: string;
  /** That story file, relative to the workspace. */
  readonly storyFile?: string;
}

/** One that is known as a whole. */
export interface KnownDiscovery extends Discovery {
  readonly title: string;
  readonly state: DiscoveryState;
}

type DiscoveryEvent = Extract<RunEvent, { type: `discovery.${string}` }>;

/** What a run knows of it. */
interface Found {
  readonly discoveries?: readonly Discovery[];
}

/** Folds an event about discovered work. */
export function discoveryState<S extends Found>(state: S, event: DiscoveryEvent): S {
  const before = state.discoveries ?? [];
  const known = before.find(({ id }) => id === event.id) ?? { id: event.id };
  const after = { ...known, ...factsOf(event, known) };
  const discoveries = before.some(({ id }) => id === event.id)
    ? before.map(other => (other.id === event.id ? after : other))
    : [...before, after].slice(-MAX_DISCOVERIES);
  return { ...state, discoveries };
}

function factsOf(event: DiscoveryEvent, known: Discovery): Partial<Discovery> {
  switch (event.type) {
    case 'discovery.reported':
      return {
        title: known.title ?? event.title,
        why: event.why,
        from: event.storyId,
        iteration: event.iteration,
        state: known.state ?? 'open',
      };
    case 'discovery.edited':
      return { title: event.title };
    case 'discovery.accepted':
      return {
        title: event.title ?? known.title,
        why: event.why ?? known.why,
        from: event.storyId ?? known.from,
        state: known.state === 'added' ? 'added' : 'accepted',
      };
    case 'discovery.added':
      return { state: 'added', storyId: event.storyId, storyFile: event.storyFile };
    case 'discovery.refused':
      return { state: 'open' };
    case 'discovery.dropped':
      // It is a story already, where nobody has removed it.
      return { state: known.state === 'added' ? 'added' : 'dropped' };
  }
}

/**
 * What all journals of a workspace know; a later one overrides earlier ones. Pure.
 * @param states of the runs, the oldest first
 */
export function discoveriesOf(states: readonly Found[]): readonly KnownDiscovery[] {
  const all = new Map<string, Discovery>();
  for (const discovery of states.flatMap(({ discoveries = [] }) => discoveries)) {
    const known = Object.entries(discovery).filter(([, value]) => value !== undefined);
    const before = all.get(discovery.id);
    all.set(discovery.id, {
      ...before,
      ...Object.fromEntries(known),
      id: discovery.id,
      ...(before?.state === 'added' && { state: 'added' as const }),
    });
  }
  return [...all.values()].flatMap(discovery => {
    const { state = 'open', title } = discovery;
    return title === undefined ? [] : [{ ...discovery, state, title }];
  });
}

/**
 * Those that wait for a person, or for their place in the story file.
 * @param storyIds of the story file: what is there needs no decision, also if nobody could record that it was added
 */
export function waitingDiscoveries(
  discoveries: readonly KnownDiscovery[],
  storyIds: ReadonlySet<string>,
): readonly KnownDiscovery[] {
  return discoveries.filter(
    ({ id, state }) => (state === 'open' || state === 'accepted') && !storyIds.has(id),
  );
}

/**
 * An id that no story has by chance, and the same each time the same report is read. It only consists of a word and
 * numbers, so that every format recognizes it.
 */
export function discoveryId(runId: string, iteration: number, count: number): string {
  const digest = createHash('sha256').update(runId).digest();
  const run = String(digest.readUInt32BE(0) % 100_000_000).padStart(8, '0');
  return `DISC-${run}-${iteration}-${count}`;
}
