import * as z from 'zod';
import { once } from '../../base/once.ts';

/** Identifies a story for a command. `folder`: absolute path of the workspace folder. */
export interface StoryRef {
  readonly folder: string;
  readonly storyId: string;
  /** Index among the file's stories, from 0; distinguishes two with the same id. */
  readonly position?: number | undefined;
  /** What the person saw of it when they chose it. */
  readonly seen?: { readonly title: string; readonly epic?: string } | undefined;
}

/** Identifies work that an agent found, for a command. */
export interface DiscoveryRef {
  readonly folder: string;
  readonly discovery: string;
}

/** Identifies an iteration of a run for a command. */
export interface IterationRef {
  readonly folder: string;
  readonly runId: string;
  /** From 1, in its run. */
  readonly iteration: number;
}

/** Identifies a run for a command. */
export interface RunRef {
  readonly folder: string;
  readonly runId: string;
}

/** Identifies a commit for a command. */
export interface CommitRef {
  readonly folder: string;
  /** Full or abbreviated. */
  readonly hash: string;
}

/**
 * The target of a command: a ref, or a line of a view, which has its own as `ref`. Commands get whatever a menu, a
 * link or another extension passes.
 * @returns parses an argument; `undefined` if it identifies none, for example from the palette
 */
function refParser<T>(schemaOf: () => z.ZodType<T>): (argument: unknown) => T | undefined {
  const schema = once(() => {
    const own = schemaOf();
    return own.or(z.looseObject({ ref: own }).transform(({ ref }) => ref));
  });
  return argument => schema().safeParse(argument).data;
}

export const parseStoryRef = refParser<StoryRef>(() =>
  z.looseObject({
    folder: z.string(),
    storyId: z.string(),
    position: z.number().int().nonnegative().optional(),
  }),
);
export const parseDiscoveryRef = refParser<DiscoveryRef>(() =>
  z.looseObject({ folder: z.string(), discovery: z.string() }),
);
export const parseIterationRef = refParser<IterationRef>(() =>
  z.looseObject({
    folder: z.string(),
    runId: z.string(),
    iteration: z.number().int().positive(),
  }),
);
export const parseRunRef = refParser<RunRef>(() =>
  z.looseObject({ folder: z.string(), runId: z.string() }),
);
export const parseCommitRef = refParser<CommitRef>(() =>
  z.looseObject({ folder: z.string(), hash: z.string() }),
);
