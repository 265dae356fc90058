import * as z from 'zod';
import { once } from '../../base/once.ts';

/** Names a story to a command. `folder`: absolute path of the workspace folder. */
export interface StoryRef {
  readonly folder: string;
  readonly storyId: string;
  /** Where it stands among the file's stories, from 0; tells apart two with the same id. */
  readonly position?: number | undefined;
}

/** Names an iteration of a run to a command. */
export interface IterationRef {
  readonly folder: string;
  readonly runId: string;
  /** From 1, in its run. */
  readonly iteration: number;
}

/** Names a run to a command. */
export interface RunRef {
  readonly folder: string;
  readonly runId: string;
}

/** Names a commit to a command. */
export interface CommitRef {
  readonly folder: string;
  /** Whole or abbreviated. */
  readonly hash: string;
}

const storySchema = once(() =>
  refSchema(
    z.looseObject({
      folder: z.string(),
      storyId: z.string(),
      position: z.number().int().nonnegative().optional(),
    }),
  ),
);
const iterationSchema = once(() =>
  refSchema(
    z.looseObject({
      folder: z.string(),
      runId: z.string(),
      iteration: z.number().int().positive(),
    }),
  ),
);
const runSchema = once(() => refSchema(z.looseObject({ folder: z.string(), runId: z.string() })));
const commitSchema = once(() => refSchema(z.looseObject({ folder: z.string(), hash: z.string() })));

/**
 * What a command was called on: a ref, or a line of a view, which carries its own as `ref`. Commands get
 * whatever a menu, a link or another extension passes.
 */
function refSchema<T>(schema: z.ZodType<T>): z.ZodType<T> {
  return schema.or(z.looseObject({ ref: schema }).transform(({ ref }) => ref));
}

/** @returns `undefined` when the argument names none, as from the palette */
export const parseStoryRef = (argument: unknown): StoryRef | undefined =>
  storySchema().safeParse(argument).data;
/** As {@link parseStoryRef}, of an iteration. */
export const parseIterationRef = (argument: unknown): IterationRef | undefined =>
  iterationSchema().safeParse(argument).data;
/** As {@link parseStoryRef}, of a run. */
export const parseRunRef = (argument: unknown): RunRef | undefined =>
  runSchema().safeParse(argument).data;
/** As {@link parseStoryRef}, of a commit. */
export const parseCommitRef = (argument: unknown): CommitRef | undefined =>
  commitSchema().safeParse(argument).data;
