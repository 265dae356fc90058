import { type Entry, isEntry, ownId } from './prdEntry.ts';
import { isDoneWord, isParkedWord } from './prdKeys.ts';

/**
 * Which issues of Beads are work that can begin, by the rules of `bd ready` (its `ready_work.go` and `blocked_state.go`
 * in 2026): what an issue waits for, and what is never work.
 */
export interface BeadsReadiness {
  /** Ids of the issues that must be closed first. */
  readonly waitsFor: readonly string[];
  /** The issue that it is a part of. */
  readonly parent?: string;
  /** It is not listed as ready, whatever it waits for. */
  readonly parked: boolean;
}

// Deferred, kept as a note, deleted, set to blocked by hand, or claimed by somebody's worker.
const PARKED_STATUS = new Set(['pinned', 'blocked', 'hooked']);
// Records of what agents do and say to each other, not work.
const PARKED_TYPES = new Set([
  'agent',
  'event',
  'gate',
  'merge-request',
  'message',
  'molecule',
  'rig',
  'role',
]);
/** `conditional-blocks` is for work after a failure; like `bd ready`, it counts as blocking until then. */
const BLOCKING = new Set(['blocks', 'conditional-blocks']);
/** It waits for the parts of the other issue. */
const WAITS_FOR = 'waits-for';
/** Real files have three levels; a damaged one could have a chain of any length. */
const MAX_LEVELS = 20;

interface Link {
  readonly type: string;
  readonly to: string;
  /** Of `waits-for`: one closed child is enough. */
  readonly isAny: boolean;
}

/** By position. Pure. @param now in ms */
export function beadsReadiness(entries: readonly Entry[], now: number): readonly BeadsReadiness[] {
  const graph = new BeadsGraph(entries, now);
  return entries.map(entry => graph.readinessOf(entry));
}

class BeadsGraph {
  private readonly byId = new Map<string, Entry>();
  private readonly links = new Map<Entry, readonly Link[]>();
  private readonly children = new Map<string, string[]>();
  private readonly now: number;

  constructor(entries: readonly Entry[], now: number) {
    this.now = now;
    for (const entry of entries) {
      const id = ownId(entry);
      const links = linksOf(entry);
      this.links.set(entry, links);
      if (id !== undefined) {
        this.byId.set(id, entry);
        for (const { to, type } of links) {
          if (type === 'parent-child') {
            const known = this.children.get(to);
            if (known === undefined) {
              this.children.set(to, [id]);
            } else {
              known.push(id);
            }
          }
        }
      }
    }
  }

  readinessOf(entry: Entry): BeadsReadiness {
    const id = ownId(entry);
    const parents = this.parentsOf(entry);
    const waitsFor = new Set(this.blockersOf(entry));
    for (const ancestor of this.blockedAncestors(entry)) {
      const name = ownId(ancestor) ?? '';
      for (const blocker of this.blockersOf(ancestor)) {
        // An epic that waits for its own parts does not hold them back: nothing could ever begin.
        if (blocker !== id && !this.isPartOf(blocker, name)) {
          waitsFor.add(blocker);
        }
      }
    }
    return {
      waitsFor: [...waitsFor],
      parent: parents[0],
      parked: this.isParked(entry, parents),
    };
  }

  private parentsOf(entry: Entry): string[] {
    return (this.links.get(entry) ?? []).flatMap(({ to, type }) =>
      type === 'parent-child' ? [to] : [],
    );
  }

  /** All issues above, as long as they are open: a part waits for what the whole waits for. */
  private blockedAncestors(entry: Entry): ReadonlySet<Entry> {
    const found = new Set<Entry>();
    let level: readonly Entry[] = [entry];
    for (let depth = 0; depth < MAX_LEVELS && level.length > 0; depth++) {
      const next: Entry[] = [];
      for (const parent of level.flatMap(one => this.parentsOf(one))) {
        const above = this.byId.get(parent);
        if (above !== undefined && above !== entry && !found.has(above) && isOpen(above)) {
          found.add(above);
          next.push(above);
        }
      }
      level = next;
    }
    return found;
  }

  private isPartOf(id: string, whole: string): boolean {
    const seen = new Set<string>();
    let level = [id];
    for (let depth = 0; depth < MAX_LEVELS && level.length > 0; depth++) {
      const next: string[] = [];
      for (const parent of level.flatMap(one => {
        const entry = this.byId.get(one);
        return entry === undefined ? [] : this.parentsOf(entry);
      })) {
        if (parent === whole) {
          return true;
        }
        if (!seen.has(parent)) {
          seen.add(parent);
          next.push(parent);
        }
      }
      level = next;
    }
    return false;
  }

  /** What its own dependencies name. An id that is not in the file stays, so that it is reported. */
  private blockersOf(entry: Entry): string[] {
    return (this.links.get(entry) ?? []).flatMap(link => {
      if (BLOCKING.has(link.type)) {
        const target = this.byId.get(link.to);
        // Another tracker's issue cannot be looked up.
        const isOutside = target === undefined && link.to.startsWith('external:');
        return isOutside || (target !== undefined && isNoHindrance(target)) ? [] : [link.to];
      }
      return link.type === WAITS_FOR ? this.partsToWaitFor(link) : [];
    });
  }

  private partsToWaitFor({ isAny, to }: Link): string[] {
    const parts = (this.children.get(to) ?? [])
      .map(id => this.byId.get(id))
      .filter(part => part !== undefined);
    const isOver = isAny && parts.some(({ status }) => isDoneWord(status));
    return isOver
      ? []
      : parts.filter(part => !isNoHindrance(part)).flatMap(part => ownId(part) ?? []);
  }

  private isParked(entry: Entry, parents: readonly string[]): boolean {
    const { ephemeral, is_template: isTemplate, issue_type: type, pinned, status } = entry;
    return (
      !isDoneWord(status) &&
      (isParkedWord(status) ||
        PARKED_STATUS.has(String(status)) ||
        PARKED_TYPES.has(String(type)) ||
        pinned === true ||
        ephemeral === true ||
        isTemplate === true ||
        this.isDeferred(entry) ||
        parents.some(parent => {
          const above = this.byId.get(parent);
          return above !== undefined && this.isDeferred(above);
        }))
    );
  }

  private isDeferred({ defer_until: until }: Entry): boolean {
    // An unreadable date is NaN, which is not later than anything.
    return typeof until === 'string' && Date.parse(until) > this.now;
  }
}

function isOpen({ pinned, status }: Entry): boolean {
  return !isDoneWord(status) && !PARKED_FOR_GOOD.has(String(status)) && pinned !== true;
}

const PARKED_FOR_GOOD = new Set(['tombstone', 'pinned']);

/** Nobody waits for an issue that is deleted, or that stays open for ever. */
function isNoHindrance({ status }: Entry): boolean {
  return PARKED_FOR_GOOD.has(String(status));
}

/** The issues that an issue names as dependencies, with the type of the relation. */
function linksOf(entry: Entry): Link[] {
  const list = entry['dependencies'];
  return (Array.isArray(list) ? list : []).flatMap(value => linkIn(value, entry) ?? []);
}

/** The relation that a dependency of an issue is; `undefined` if it is none. */
export function linkIn(link: unknown, entry: Entry | undefined): Link | undefined {
  if (!isEntry(link)) {
    return undefined;
  }
  const to = link['depends_on_id'];
  const from = link['issue_id'];
  const isOwn = from === undefined || from === entry?.['id'];
  // `bd` treats a dependency without a type as a blocking one.
  const type = typeof link['type'] === 'string' ? link['type'] : 'blocks';
  return typeof to === 'string' && isOwn ? { type, to, isAny: isAnyChild(link) } : undefined;
}

/** The issue that another one waits for by one of its dependencies, if that relation alone makes it wait. */
export function blockerIn(dependency: unknown, issue: Entry | undefined): string | undefined {
  const link = linkIn(dependency, issue);
  return link !== undefined && BLOCKING.has(link.type) ? link.to : undefined;
}

/** Whether an issue says, as `bd` writes it, that it waits for others. */
export function hasBlockers(issue: Entry): boolean {
  return linksOf(issue).some(({ type }) => BLOCKING.has(type) || type === WAITS_FOR);
}

/** Whether something in the place of the dependencies of an issue is none, so that it keeps nothing waiting. */
export function hasOddDependencies(issue: Entry): boolean {
  const { dependencies } = issue;
  const isOne = (link: unknown) => linkIn(link, issue) !== undefined;
  return (
    !isDoneWord(issue.status) &&
    dependencies !== undefined &&
    dependencies !== null &&
    !(Array.isArray(dependencies) && dependencies.every(isOne))
  );
}

/** `metadata` is an object, or its text. */
function isAnyChild({ metadata }: Entry): boolean {
  return typeof metadata === 'string'
    ? /"gate"\s*:\s*"any-children"/.test(metadata)
    : isEntry(metadata) && metadata['gate'] === 'any-children';
}
