import { shorten } from '../../../base/text.ts';
import type { Subagent } from '../agent.ts';

/** Tools that start one; the second name is that of older versions. */
const STARTING_TOOLS: ReadonlySet<string> = new Set(['Agent', 'Task']);
/** Longest name, in UTF-16 units: it stands before each line. */
const MAX_NAME = 32;
/** Number of subagents, and of tool calls of subagents, that are remembered; then the oldest are forgotten. */
const MAX_KNOWN = 1_000;

interface Known {
  readonly subagent: Subagent;
  /** The subagent that has started this one. */
  readonly parent: Subagent | undefined;
  hasEnded: boolean;
}

/** The subagents of one call: who they are, and which tool calls are theirs. */
export class Subagents {
  private readonly known = new Map<string, Known>();
  private readonly names = new Map<string, number>();
  /** Tool calls of subagents that have no result yet. */
  private readonly callers = new Map<string, Subagent>();

  /** A tool is called, possibly one that starts a subagent. */
  called(call: { id: string; name: string; gist: string; parent: Subagent | undefined }): void {
    const { gist, id, name, parent } = call;
    if (parent !== undefined) {
      remember(this.callers, id, parent);
    }
    if (STARTING_TOOLS.has(name)) {
      this.add(id, gist, parent);
    }
  }

  /** The tool call has a result. */
  returned(id: string): void {
    this.callers.delete(id);
  }

  /** The subagent that has made a tool call; `undefined` if it was the agent itself. */
  callerOf(toolCall: string | undefined): Subagent | undefined {
    return toolCall === undefined ? undefined : this.callers.get(toolCall);
  }

  has(id: string): boolean {
    return this.known.has(id);
  }

  /** @param name its name, if it was not known before */
  find(id: string, name: string): Subagent {
    return (this.known.get(id) ?? this.add(id, name, undefined)).subagent;
  }

  /** @returns the subagent, the first time; and the one that has started it */
  end(id: string): { readonly subagent: Subagent; readonly parent?: Subagent } | undefined {
    const found = this.known.get(id);
    if (found === undefined || found.hasEnded) {
      return undefined;
    }
    found.hasEnded = true;
    return { subagent: found.subagent, parent: found.parent };
  }

  private add(id: string, gist: string, parent: Subagent | undefined): Known {
    const wanted = shorten(gist, MAX_NAME) || 'agent';
    const count = (this.names.get(wanted) ?? 0) + 1;
    remember(this.names, wanted, count);
    // Several work at once, so that equal names would mix what they do.
    const name = count === 1 ? wanted : `${wanted} (${count})`;
    const known = { subagent: { id, name }, parent, hasEnded: false };
    remember(this.known, id, known);
    return known;
  }
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MAX_KNOWN && oldest !== undefined) {
    map.delete(oldest);
  }
}
